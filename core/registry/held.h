/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the verdicts (whether a backend can start) of the backends that this process has opened a device of, until
 * the process ends (held.c). A loaded driver stays as it is, but a new probe in a child process may see another
 * state: one driver sets a variable of the environment, and children with this variable do not find the devices of
 * another driver. Threads: any.
 */
#ifndef GYRE_CORE_REGISTRY_HELD_H
#define GYRE_CORE_REGISTRY_HELD_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

/** Keeps the verdict, unless this plugin with these parameters has one already. Without memory it keeps nothing. */
void gyre_held_add(const char *library, const gyre_parameter *parameters, size_t count,
                   const struct gyre_verdict *verdict);
bool gyre_held_find(const char *library, const gyre_parameter *parameters, size_t count,
                    struct gyre_verdict *verdict);

#endif
