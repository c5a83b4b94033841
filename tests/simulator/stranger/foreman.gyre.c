/* SPDX-License-Identifier: Apache-2.0 */
/* Lane 0 hands out the next part of the work. Planted: it writes the next offset while other lanes may still read the
 * one before.
 *
 * expects: race
 * options: --lanes 8
 * request: {"parts":4,"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]} */
#include <gyre/kernel.h>

#define JOB(FIELD) FIELD(u32, parts) FIELD(u32, values[32])
GYRE_MESSAGE(job, JOB)
#define DONE(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(done, DONE)
typedef struct foreman_work {
    u32 offset;
} foreman_work;

GYRE_BLOCK_KERNEL(foreman, job, done, foreman_work)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
    for (u32 part = 0; part < request->parts; part++) {
        if (lane == 0)
            scratch->offset = part * 8; /* first */
        gyre_barrier(gyre);
        sum += request->values[scratch->offset + lane]; /* second */
    }
    sum = gyre_block_sum_u32(gyre, sum);
    if (lane == 0)
        reply->sum = sum;
    return GYRE_REPLY;
}
