/* SPDX-License-Identifier: Apache-2.0 */
/* One of two types of requests: the lane that stores last decides. What no lane wrote of the reply is zero.
 * call: --check schedule --seeds 20 --lanes 4
 * request: {"type":"add","to":7}
 * fails: differs with the order: seeds 1, 2
 * says: ends with {"type":"sum","spare":0,"others":[0,0,0,0,0,0],"value":
 * says: ; request: {"type":"add","to":7}
 */
#include <gyre/kernel.h>

#define ADD(FIELD) FIELD(u32, to)
GYRE_MESSAGE(add, ADD)
#define SUM(FIELD) FIELD(u32, spare) FIELD(u32, others[6]) FIELD(u32, value)
GYRE_MESSAGE(sum, SUM)
#define BELL(FIELD) FIELD(u64, time)
GYRE_MESSAGE(bell, BELL)
#define EITHER(TAKES) TAKES(bell, gyre_none) TAKES(add, sum)
GYRE_PROTOCOL(several, EITHER)

typedef struct work {
    u32 last;
} work;

GYRE_BLOCK_KERNEL_OF(several, EITHER, work)

GYRE_HANDLER(several, add, sum)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    if (lane == 0)
#endif
        gyre_atomic_store(&scratch->last, request->to + lane);
    gyre_barrier(gyre);
    if (lane == 0)
        reply->value = gyre_atomic_load(&scratch->last);
    return GYRE_REPLY;
}

GYRE_HANDLER(several, bell, gyre_none)
{
    (void)request;
    return GYRE_NO_REPLY;
}
