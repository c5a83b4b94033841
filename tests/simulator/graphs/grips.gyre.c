/* SPDX-License-Identifier: Apache-2.0 */
/* As circle, by blocks of lanes: lane 0 takes both locks, and the other lanes wait for it at a barrier.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.pass]
 * config: source = @:pass
 * config: [kernel.work]
 * config: source = @:work
 * config: blocks = 2
 * config: lanes = 4
 * config: [pipeline.grips]
 * config: entry = pass
 * config: answer = work
 * config: [link.tasks]
 * config: from = pass.tasks
 * config: to = work
 * call: --check schedule,deadlock --seeds 60
 * request: {"number":1,"value":0}
 * request: {"number":2,"value":1}
 * request: {"number":3,"value":0}
 * request: {"number":4,"value":1}
 * request: {"number":5,"value":0}
 * request: {"number":6,"value":1}
 * says: check deadlock: nobody can go on: 'work' block 0 waits at 
 * says: /grips.gyre.c:@1 
 * says: 'work' block 1 waits at 
 * says: for another value of state->locks[
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(pass, task, gyre_none, tasks_ports)
{
    *gyre_emit(gyre, tasks) = *request;
    return GYRE_NO_REPLY;
}

#define LOCKS(FIELD) FIELD(u32, locks[2]) FIELD(u32, sum)
GYRE_MESSAGE(locks, LOCKS)

GYRE_BLOCK_KERNEL_WITH(work, task, answer, gyre_none, locks, gyre_none)
{
#ifdef MENDED
    const u32 first = 0;
#else
    const u32 first = request->value & 1;
#endif
    for (u32 i = 0; i < 2 && gyre_lane(gyre) == 0; i++)
        while (gyre_atomic_exchange(&state->locks[first ^ i], 1u) != 0) /* 1 */
            ;
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0) {
        gyre_atomic_add(&state->sum, 1u);
        gyre_atomic_store(&state->locks[first], 0u);
        gyre_atomic_store(&state->locks[first ^ 1], 0u);
        reply->number = request->number;
        reply->value = request->value;
    }
    return GYRE_REPLY;
}
