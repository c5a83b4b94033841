/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the table of services that the core gives to a plugin (gyre_host of backend.h; host.c). */
#ifndef GYRE_CORE_LOADER_HOST_H
#define GYRE_CORE_LOADER_HOST_H

#include "gyre/backend.h"

/** Receives log lines, as in gyre_open_desc. level: a gyre_log_level. */
typedef void gyre_log_function(void *context, int level, const char *text);

/**
 * The table of services for one device, and the function that gets its log lines. The plugin gets a pointer to
 * `table`.
 */
struct gyre_host_services {
    gyre_host table;
    gyre_log_function *log;
    void *log_context;
};

/** Fills *services, which must stay in place as long as a plugin uses it. `log` NULL: log lines are discarded. */
void gyre_host_init(struct gyre_host_services *services, gyre_log_function *log, void *log_context);

#endif
