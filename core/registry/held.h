/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts of backends that this process has opened a device of. A driver that is loaded stays as it is until
 * the process ends, and a probe in a child now may see another state of it: one was seen that sets a
 * variable of the environment, by which children no longer find the devices of another. Any thread.
 */
#ifndef GYRE_CORE_REGISTRY_HELD_H
#define GYRE_CORE_REGISTRY_HELD_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

/** Keeps the verdict, if there is none yet for this plugin
 * with these parameters. Without memory it does not. */
void gyre_held_add(const char *library, const gyre_parameter *parameters, size_t count,
                   const struct gyre_verdict *verdict);
bool gyre_held_find(const char *library, const gyre_parameter *parameters, size_t count,
                    struct gyre_verdict *verdict);

#endif
