/* SPDX-License-Identifier: Apache-2.0 */
/* Names the benchmark's kernels, and finds the files that hold them. No state. */
#include "cli/bench/kernels.h"
#include "cli/bench/bench.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/places.h"

gyre_status bench_file(const char *name, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/bench/%s", gyre_place_home(), name);
    if (length < 0 || (size_t)length >= size || access(path, R_OK) != 0)
        return gyre_error_set(
            GYRE_NOT_FOUND, "the benchmark's file %s is missing: expected it in %s/bench; install Gyre again",
            name, gyre_place_home());
    return GYRE_OK;
}

const char *bench_kernel_name(enum bench_kind kind)
{
    static const char *const names[] = {[BENCH_48] = "words_48",
                                        [BENCH_1024] = "words_1024",
                                        [BENCH_BLOCK_1024] = "words_1024_block",
                                        [BENCH_4096] = "words_4096",
                                        [BENCH_65536] = "words_65536",
                                        [BENCH_BLOCK_65536] = "words_65536_block",
                                        [BENCH_VECTOR_ADD] = "vector_add",
                                        [BENCH_CHAIN] = "chain",
                                        [BENCH_BLOCK_CHAIN] = "chain_block",
                                        [BENCH_PLAIN] = "plain_add",
                                        [BENCH_DOTNET] = "dotnet_add",
                                        [BENCH_BRIDGED_512] = "bridged_512",
                                        [BENCH_BRIDGED_65536] = "bridged_65536",
                                        [BENCH_KEEP] = "keep_sum",
                                        [BENCH_KEEP_48] = "keep_words_48",
                                        [BENCH_LINKED_48] = "pass_48",
                                        [BENCH_KEYED_48] = "keyed_48",
                                        [BENCH_KEYED_HOT] = "keyed_48",
                                        [BENCH_KEYED_RINGS] = "keyed_48"};
    return names[kind];
}

gyre_status bench_kernel_file(enum bench_kind kind, char *path, size_t size)
{
    const char *file = kind == BENCH_VECTOR_ADD                                ? "vector_add.gyre.c"
                       : kind == BENCH_CHAIN                                   ? "chain.gyre.c"
                       : kind == BENCH_BLOCK_CHAIN                             ? "chain_block.gyre.c"
                       : kind == BENCH_BLOCK_1024 || kind == BENCH_BLOCK_65536 ? "words_block.gyre.c"
                       : kind == BENCH_PLAIN                                   ? "plain_add.gyre.c"
                       : kind == BENCH_DOTNET                                  ? "dotnet_add.gyre.c"
                       : kind == BENCH_KEEP || kind == BENCH_KEEP_48           ? "keeping.gyre.c"
                       : kind == BENCH_LINKED_48                               ? "links.gyre.c"
                       : bench_is_keyed(kind)                                  ? "keyed.gyre.c"
                       : kind >= BENCH_BRIDGED_512                             ? "bridged.gyre.c"
                                                                               : "words.gyre.c";
    return bench_file(file, path, size);
}
