/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the error about a backend's name that no backend has (unknown.c). */
#ifndef GYRE_CORE_REGISTRY_UNKNOWN_H
#define GYRE_CORE_REGISTRY_UNKNOWN_H

#include <stddef.h>

#include "gyre/status.h"

struct gyre_config;

/**
 * Returns NOT_FOUND with a sentence: `name` is none of `names`, of which there are some, and which the user may mean. These are the
 * backends whose setting `drives` has the word `name`, else the backend with the nearest name.
 */
gyre_status gyre_backend_unknown(const struct gyre_config *config, const char *name, const char *const *names,
                                 size_t count);

#endif
