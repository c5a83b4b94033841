/* SPDX-License-Identifier: Apache-2.0 */
/* What the core gives a plugin: the table of services of backend.h, filled. */
#ifndef GYRE_CORE_LOADER_HOST_H
#define GYRE_CORE_LOADER_HOST_H

#include "gyre/backend.h"

/** Receives log lines, as in gyre_open_desc. level: a gyre_log_level. */
typedef void gyre_log_function(void *context, int level, const char *text);

/** The services, and where the log of one device goes. The plugin gets a pointer to `table`. */
struct gyre_host_services {
    gyre_host table;
    gyre_log_function *log;
    void *log_context;
};

/** Fills *services, which must stay in place as long as a plugin uses it. `log` NULL: lines are discarded. */
void gyre_host_init(struct gyre_host_services *services, gyre_log_function *log, void *log_context);

#endif
