/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a lane and a barrier cost, in ns, for several numbers of lanes. */
#include "lane_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

GYRE_BLOCK_KERNEL(plain, count_request, count_reply, lane_scratch)
{
    scratch->cell[gyre_lane(gyre)] += request->a;
    return GYRE_NO_REPLY;
}

GYRE_BLOCK_KERNEL(barriers, count_request, count_reply, lane_scratch)
{
    for (u32 i = 0; i < request->a; i++)
        gyre_barrier(gyre);
    scratch->cell[gyre_lane(gyre)] += request->a;
    return GYRE_NO_REPLY;
}

GYRE_BLOCK_KERNEL(sums, count_request, count_reply, lane_scratch)
{
    scratch->cell[gyre_lane(gyre)] = gyre_block_sum_u64(gyre, request->a);
    return GYRE_NO_REPLY;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double ns_per_message(struct cpu_lanes *lanes, gyre_cpu_handle handle, u32 a, u32 turns)
{
    static lane_scratch scratch;
    count_request request = {a, 0};
    gyre_context context = {.block_count = 1, .services = &lane_services};
    struct cpu_lanes_message message = {.handle = handle, .request = &request, .scratch = &scratch};
    double start = 0;
    for (u32 i = 0; i < 2 * turns; i++) {
        if (i == turns)
            start = now_ns();
        if (cpu_lanes_run(lanes, &message, &context) != GYRE_OUTCOME_NO_REPLY)
            exit(EXIT_FAILURE);
    }
    return (now_ns() - start) / turns;
}

int main(void)
{
    printf("%6s %14s %14s %18s %14s\n", "lanes", "ns/message", "ns/lane", "ns/lane/barrier", "ns/block sum");
    for (u32 count = 1; count <= CPU_LANES_MAX; count *= 4) {
        struct cpu_lanes *lanes = cpu_lanes_create(count, 0);
        const u32 turns = 400000 / count + 100;
        const double plain = ns_per_message(lanes, gyre_kernel_plain.handle, 1, turns);
        const double ten = ns_per_message(lanes, gyre_kernel_barriers.handle, 10, turns);
        const double sum = ns_per_message(lanes, gyre_kernel_sums.handle, 1, turns);
        printf("%6u %14.1f %14.2f %18.2f %14.1f\n", count, plain, plain / count, (ten - plain) / 10 / count,
               sum);
        cpu_lanes_destroy(lanes);
    }
    return EXIT_SUCCESS;
}
