/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probing a plugin in a child process, the helper gyre-probe (probe_main.c).
 *
 * The helper's answer is a verdict in text form on its standard output; what the plugin prints goes
 * elsewhere.
 */
#ifndef GYRE_CORE_REGISTRY_PROBE_H
#define GYRE_CORE_REGISTRY_PROBE_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

#define GYRE_PROBE_PROGRAM "gyre-probe"

/**
 * Lets the helper load and probe a plugin. The answer, a crash, a hang (after timeout_ns) and nonsense all
 * become a verdict; one that expires where the cause may pass: all but the answer, and an answer of EXHAUSTED, AGAIN,
 * TIMEOUT or LOST. Returns false when no verdict about the plugin could be had, because the helper could not
 * be run: *verdict then says so and must not be remembered. Blocks up to timeout_ns. Threads: any.
 */
bool gyre_probe_run(const char *library, const gyre_parameter *parameters, size_t parameter_count,
                    uint64_t timeout_ns, struct gyre_verdict *verdict);

#endif
