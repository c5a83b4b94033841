/* SPDX-License-Identifier: Apache-2.0 */
/* Building a kernel as configured: its name, its source, its backend, the compiler's options. No state. */
#ifndef GYRE_CORE_PLAN_BUILD_OPTIONS_H
#define GYRE_CORE_PLAN_BUILD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/config/config.h"

enum { GYRE_KERNEL_NAME_MAX = 64, GYRE_KERNEL_OPTIONS_SIZE = 4096 };

/** The name under which a kernel is configured before its file was compiled: behind the source's colon, of the
 * only kernel that its text seems to declare, or the file's. */
void gyre_kernel_guess_name(const char *source, char *name, size_t size);
/** What the kernel that is configured as NAME is launched from, borrowed from the configuration. INVALID when its
 * section has no source. */
gyre_status gyre_kernel_source(const struct gyre_config *config, const char *name, const char **source);
/** The backend that a kernel of that name is launched on: `given` unless that is NULL, else as its section says; "": as
 * [gyre] says. */
const char *gyre_kernel_backend(const struct gyre_config *config, const char *name, const char *given);
/** What a launch of that kernel gives the compiler: its own options, and what its settings and those of queues
 * add. */
void gyre_kernel_options(const struct gyre_config *config, const char *name, char *text, size_t size);
/** Whether that is the same for two names. */
bool gyre_kernel_same_options(const struct gyre_config *config, const char *one, const char *other);

#endif
