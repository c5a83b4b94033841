/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes with the settings of a case, and the benchmark's kernels launched in them. */
#ifndef GYRE_CLI_BENCH_RUNTIME_H
#define GYRE_CLI_BENCH_RUNTIME_H

#include "cli/bench/bench.h"

enum { BENCH_SETTINGS_MAX = 64 };
/** The case's settings and the user's, and `extra` (NULL-terminated, or NULL), as gyre_open_desc wants them; `pin`
 * holds one of them. */
gyre_status bench_settings(const bench_case *self, const bench_options *options, const char *const *extra,
                           char pin[64], const char *settings[BENCH_SETTINGS_MAX + 1]);

/** A runtime with the user's settings, the case's,
 * and `extra` (NULL-terminated, or NULL); nothing launched. */
gyre_status bench_runtime_open(const bench_case *self, const bench_options *options, const char *const *extra,
                               gyre_runtime **out);
gyre_status bench_launch(gyre_runtime *runtime, enum bench_kind kind, gyre_kernel **out);
/** A backend that does not exist is to the command a device that is not there: UNAVAILABLE for NOT_FOUND. */
gyre_status bench_device_status(gyre_runtime *runtime, gyre_status status);
void bench_note_kernel(const gyre_kernel *kernel, bench_row *row);
/** Runs another case without its settings where the backend is the processor: they ask for many blocks. */
gyre_status bench_run_widely(const bench_case *self, const bench_options *options, bench_row *row,
                             gyre_status (*run)(const bench_case *self, const bench_options *options,
                                                bench_row *row));

#endif
