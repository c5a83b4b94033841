/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the benchmark's kernels, and paths of their files. */
#ifndef GYRE_CLI_BENCH_KERNELS_H
#define GYRE_CLI_BENCH_KERNELS_H

#include "cli/bench/work.h"
#include "gyre/status.h"

/** Writes the path of a file that was installed for the benchmark. NOT_FOUND. */
gyre_status bench_file(const char *name, char *path, size_t size);

/** The name of the kernel for a kind of messages, for example "words_48". [kernel.NAME] and [queue.NAME] configure that
 * kernel. */
const char *bench_kernel_name(enum bench_kind kind);
/** Writes the path of the file that holds the kernel for a kind of messages. NOT_FOUND. */
gyre_status bench_kernel_file(enum bench_kind kind, char *path, size_t size);

#endif
