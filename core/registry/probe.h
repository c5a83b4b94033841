/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes a plugin (finds out whether its backend can start) in a child process (probe.c). The child runs the helper
 * program gyre-probe (probe_main.c).
 *
 * The helper writes a verdict in text form to its standard output. What the plugin prints goes to standard error.
 */
#ifndef GYRE_CORE_REGISTRY_PROBE_H
#define GYRE_CORE_REGISTRY_PROBE_H

#include "core/registry/verdict.h"
#include "gyre/backend.h"

#define GYRE_PROBE_PROGRAM "gyre-probe"

/**
 * Lets the helper load and probe a plugin. An answer, a crash, a hang (after timeout_ns) and a nonsense answer all
 * become a verdict. A verdict whose cause may pass expires: a crash, a hang, nonsense, and an answer of EXHAUSTED,
 * AGAIN, TIMEOUT or LOST. False: the helper could not be run. *verdict says so then, and must not be remembered,
 * because it tells nothing about the plugin. Blocks up to timeout_ns. Threads: any.
 */
bool gyre_probe_run(const char *library, const gyre_parameter *parameters, size_t parameter_count,
                    uint64_t timeout_ns, struct gyre_verdict *verdict);

#endif
