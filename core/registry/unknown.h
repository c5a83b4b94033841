/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence for a backend that there is not. */
#ifndef GYRE_CORE_REGISTRY_UNKNOWN_H
#define GYRE_CORE_REGISTRY_UNKNOWN_H

#include <stddef.h>

#include "gyre/status.h"

struct gyre_config;

/**
 * NOT_FOUND: that `name` is none of `names`, and which of them is meant: those whose setting `drives` has that word, else the one
 * with the nearest name.
 */
gyre_status gyre_backend_unknown(const struct gyre_config *config, const char *name, const char *const *names,
                                 size_t count);

#endif
