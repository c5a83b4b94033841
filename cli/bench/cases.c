/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cases, in the order in which they run. Targets are those of the CPU backend on two cores. */
#include "cli/bench/bench.h"

/* How a stream is run: window and bursts. Large messages get fewer slots, so that rings stay in the caches.
 */
#define STREAM_48                                                                                            \
    {                                                                                                        \
        BENCH_48, 1024, 1024, 256, 1                                                                         \
    }
#define STREAM_1024                                                                                          \
    {                                                                                                        \
        BENCH_1024, 1024, 256, 32, 1                                                                         \
    }
#define STREAM_65536                                                                                         \
    {                                                                                                        \
        BENCH_65536, 64, 16, 4, 1                                                                            \
    }
#define ONE_48                                                                                               \
    {                                                                                                        \
        BENCH_48, 1024, 1, 1, 1                                                                              \
    }

const bench_case bench_cases[] = {
    {"floor/line", bench_run_floor, bench_floor_line, .shape = ONE_48},
    {"floor/park", bench_run_floor, bench_floor_park, .shape = ONE_48},
    {"floor/ping_pong/48", bench_run_floor, bench_floor_slots_ping_pong, .shape = ONE_48},
    {"floor/one_way/48", bench_run_floor, bench_floor_slots_one_way, .shape = STREAM_48},
    {"floor/slots/48", bench_run_floor, bench_floor_slots_there_and_back, .shape = STREAM_48},
    {"floor/indices/48", bench_run_floor, bench_floor_indices_there_and_back, .shape = STREAM_48},
};
const size_t bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
