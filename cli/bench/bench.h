/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of `gyre bench`: cases, and the rows that they fill. A case and its floor (work_shape.h) run in turns, in
 * rounds (rounds.h), because the speed of the machine changes from second to second.
 *
 * Cases use the public API alone. A case is single-threaded except for the threads that it starts itself.
 */
#ifndef GYRE_CLI_BENCH_BENCH_H
#define GYRE_CLI_BENCH_BENCH_H

#include "cli/bench/work_shape.h"
#include "cli/cli.h"
#include "gyre/gyre.h"

/** A limit for a figure of a row. `limit` and `found` are in `unit`; "x" is a multiple of the floor. */
typedef struct bench_target {
    const char *what; /* "p50 / floor" */
    const char *unit; /* "x", "msg/s", "ns", "cores", "bytes" */
    bool at_least;    /* true: `found` has to be at least `limit`; false: at most */
    double limit, found;
} bench_target;

enum { BENCH_TARGETS_MAX = 3 };

/** One line of the report. A figure that was not measured is absent from the JSON row, or null where every row has it. */
typedef struct bench_row {
    const char *name;
    char backend[32], device[128];
    uint64_t message_bytes;
    bool has_rate, has_latency; /* whether `value` and `floor` have a rate, and latencies */
    bench_sample value;         /* medians of the rounds */
    bench_span rounds[BENCH_ROUNDS_MAX];
    size_t round_count;     /* 0: the case has no rounds that could be told */
    const char *floor_name; /* NULL: the case has no floor */
    bench_sample floor;
    double ratio, ratio_p99;      /* medians of the rounds' own ratios; ratio_p99 only with has_latency */
    double ratio_low, ratio_high; /* bounds of the median ratio, with 96.5 % confidence; 0: unknown */
    double above_floor;           /* ns: median of the differences; life-cycle cases only */
    double line_p50, line_p99;    /* raw cache-line ping-pong in the same rounds, ns; 0: not measured */
    uint64_t resident_bytes;      /* case `memory` */
    bench_target targets[BENCH_TARGETS_MAX];
    size_t target_count;
} bench_row;

/** The options of `gyre bench`. */
typedef struct bench_options {
    const cli_context *cli;
    double seconds;   /* for each case, its floor included */
    bool here;        /* the case `memory` measures this process instead of a fresh one */
    uint64_t rest_ms; /* between two rounds */
    bool attached;    /* sessions attach to a kernel of another process */
} bench_options;

typedef struct bench_case bench_case;
struct bench_case {
    const char *name;
    gyre_status (*run)(const bench_case *self, const bench_options *options, bench_row *row);
    bench_floor floor; /* NULL: no floor, or the case runs a floor itself */
    const char *floor_name;
    bench_shape shape;
    const char *const *settings; /* settings besides the user's; NULL: none */
    bench_target targets[BENCH_TARGETS_MAX];
};

/** All cases, in the order in which they run. */
extern const bench_case bench_cases[];
extern const size_t bench_case_count;

/** How long a case waits for one reply before it calls the kernel stuck. */
enum { BENCH_PATIENCE_MS = 20000 };

#endif
