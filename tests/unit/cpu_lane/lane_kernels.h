/* SPDX-License-Identifier: Apache-2.0 */
/* Block kernels for the lane tests and the lane benchmark, and one way to run a message of them. */
#ifndef GYRE_TESTS_LANE_KERNELS_H
#define GYRE_TESTS_LANE_KERNELS_H

#include "backends/cpu/lanes/cpu_lane.h"
#include "gyre/kernel.h"

#define COUNT_REQUEST(FIELD) FIELD(u32, a) FIELD(u32, b)
GYRE_MESSAGE(count_request, COUNT_REQUEST)
#define COUNT_REPLY(FIELD) FIELD(u64, value) FIELD(u64, other)
GYRE_MESSAGE(count_reply, COUNT_REPLY)
#define LANE_SCRATCH(FIELD) FIELD(u32, turns) FIELD(u32, order[1024]) FIELD(u64, cell[1024])
GYRE_MESSAGE(lane_scratch, LANE_SCRATCH)

static inline void lane_log(gyre_context *context, const char *text, gyre_i64 value)
{
    (void)context;
    (void)text;
    (void)value;
}

static inline gyre_u64 lane_time(void)
{
    return 0;
}

static const gyre_cpu_services lane_services = {
    .barrier = cpu_lanes_barrier, .cells = cpu_lanes_cells, .log = lane_log, .time_ns = lane_time};

/* Runs one message with scratch memory that starts as zero. */
static inline int run_message(struct cpu_lanes *lanes, gyre_cpu_handle handle, count_request request,
                              count_reply *reply, lane_scratch *scratch, gyre_context *context)
{
    *context = (gyre_context){.block_count = 1, .services = &lane_services};
    memset(scratch, 0, sizeof *scratch);
    return cpu_lanes_run(lanes,
                         &(struct cpu_lanes_message){
                             .handle = handle, .request = &request, .reply = reply, .scratch = scratch},
                         context);
}

#endif
