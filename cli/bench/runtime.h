/* SPDX-License-Identifier: Apache-2.0 */
/* Opens runtimes with the settings of a case, and launches the benchmark's kernels in them. */
#ifndef GYRE_CLI_BENCH_RUNTIME_H
#define GYRE_CLI_BENCH_RUNTIME_H

#include "cli/bench/bench.h"

enum { BENCH_SETTINGS_MAX = 64 };
/** Collects the case's settings, the user's and `extra` (NULL-terminated, or NULL), as gyre_open_desc wants them. `pin` is
 * memory for the text of one setting. */
gyre_status bench_settings(const bench_case *self, const bench_options *options, const char *const *extra,
                           char pin[64], const char *settings[BENCH_SETTINGS_MAX + 1]);

/** Opens a runtime with the user's settings, the case's,
 * and `extra` (NULL-terminated, or NULL). Launches nothing. */
gyre_status bench_runtime_open(const bench_case *self, const bench_options *options, const char *const *extra,
                               gyre_runtime **out);
gyre_status bench_launch(gyre_runtime *runtime, enum bench_kind kind, gyre_kernel **out);
/** Turns NOT_FOUND into UNAVAILABLE, because for the command a backend that does not exist is a missing device. */
gyre_status bench_device_status(gyre_runtime *runtime, gyre_status status);
void bench_note_kernel(const gyre_kernel *kernel, bench_row *row);
/** Runs a case whose settings ask for many blocks; on the CPU backend without these settings but that of keys, because each
 * block is a thread there. */
gyre_status bench_run_widely(const bench_case *self, const bench_options *options, bench_row *row,
                             gyre_status (*run)(const bench_case *self, const bench_options *options,
                                                bench_row *row));

#endif
