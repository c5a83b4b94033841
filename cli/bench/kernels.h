/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark's kernels and files. */
#ifndef GYRE_CLI_BENCH_KERNELS_H
#define GYRE_CLI_BENCH_KERNELS_H

#include "cli/bench/work.h"
#include "gyre/status.h"

/** Path of a file that was installed for the benchmark, or NOT_FOUND. */
gyre_status bench_file(const char *name, char *path, size_t size);

/** "words_48": also the name that [kernel.NAME] and [queue.NAME] configure it by. */
const char *bench_kernel_name(enum bench_kind kind);
/** The file that it is in, or NOT_FOUND. */
gyre_status bench_kernel_file(enum bench_kind kind, char *path, size_t size);

#endif
