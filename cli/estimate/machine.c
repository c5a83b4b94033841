/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured constants of GPUs (machine.h). An H200 at 1.98 GHz, driver 580.159, PCIe gen5 x16, host with 16 cores; a program with
 * two threads a queue, bursts of 1,024, every reply seen. Beside each figure is the handler of tests/estimate/handlers that it was
 * derived from; handlers of other folders took no part, except `atomic` and `failing_group_ns`, which are from
 * tests/kernels/histogram and lookup, `failing_actor_ns`, and `turn`: those handlers ask for more than kernels of
 * tests/kernels do. An H100 has the same
 * multiprocessors at the same clock, so it has the same constants; it was not measured for this table.
 */
#include "cli/estimate/machine.h"

#include <math.h>
#include <string.h>

#define HOPPER                                                                                               \
    .architecture = "sm_90", .clock_ghz = 1.98, .units = 132, .schedulers = 4, .block_lanes = 512,           \
    .bus_gbytes = 39, .first_cache = 128 * 1024, .second_cache = 50e6,                                       \
    .chain = 3,                            /* tiles, block_sum, banks */                                     \
        .actor_chain = 4.5,                /* actor_chain, actor_divide_64 */                                \
        .issue = 1.5,                      /* chain, chains, rounds, divide_64 */                            \
        .turn = 5,                         /* collatz, actor_search */                                       \
        .actor_near = 36,                  /* actor_search, actor_table */                                   \
        .near = 33, .middle = 270,         /* actor_table; gather */                                         \
        .far = 400,                        /* gather, with a table of 64 MiB */                              \
        .sector = 0.75, .far_sector = 1.3, /* rows, columns; gather */                                       \
        .local = 40, .even = 3,            /* local_table */                                                 \
        .barrier = 260, .conflict = 2,     /* barriers, block_sums; banks */                                 \
        .function_barriers = 3,            /* block_sums, block_most_f64 */                                  \
        .function_alone = -0.5,            /* by its code: it waits once; not measured alone */              \
        .failing_block_ns = 2000,          /* block_fails, block_parts */                                    \
        .failing_actor_ns = 1000,          /* tests/kernels/order_book, most of whose messages fail */       \
        .atomic = 2, .further_read = 2, .several_touches = 2, .more_blocks = 0.15, .blocks_call_ns = 2700,   \
    .failing_group_ns = 20, .lane = {{16, 23, 2080},  {96, 23, 2660},    {200, 31, 4240},                    \
                                     {512, 45, 4900}, {2048, 150, 4900}, {8192, 640, 6500}},                 \
    .block = {{96, 701, 4750}, {2048, 890, 5000}, {8192, 2077, 6800}},                                       \
    .actor = {{24, 140, 4300}, {8192, 2077, 6800}}

static const machine machines[] = {
    {.name = "h100", .title = "NVIDIA H100 SXM", HOPPER},
    {.name = "h200", .title = "NVIDIA H200 SXM", HOPPER},
};

const machine *machine_find(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const char *const *machine_names(size_t *count)
{
    static const char *const names[] = {"h100", "h200", NULL};
    *count = sizeof names / sizeof names[0] - 1;
    return names;
}

static double between(double low, double high, double part)
{
    return exp(log(low) + (log(high) - log(low)) * part);
}

machine_ring machine_ring_at(const machine_ring *rings, double bytes)
{
    size_t last = 0;
    while (last + 1 < MACHINE_RINGS && rings[last + 1].bytes > 0)
        last++;
    if (bytes <= rings[0].bytes)
        return rings[0];
    for (size_t i = 1; i <= last; i++) {
        const double part = log(bytes / rings[i - 1].bytes) / log(rings[i].bytes / rings[i - 1].bytes);
        if (bytes <= rings[i].bytes)
            return (machine_ring){bytes, between(rings[i - 1].message_ns, rings[i].message_ns, part),
                                  between(rings[i - 1].call_ns, rings[i].call_ns, part)};
    }
    const double more = bytes / rings[last].bytes; /* the bus is what counts there */
    return (machine_ring){bytes, rings[last].message_ns * more, rings[last].call_ns * more};
}
