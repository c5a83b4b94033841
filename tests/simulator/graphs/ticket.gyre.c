/* SPDX-License-Identifier: Apache-2.0 */
/* Messages wait for those that were sent before them, which two blocks hand on in any order.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.pass]
 * config: source = @:pass
 * config: blocks = 2
 * config: [kernel.work]
 * config: source = @:work
 * config: [pipeline.ticket]
 * config: entry = pass
 * config: answer = work
 * config: [link.tasks]
 * config: from = pass.tasks
 * config: to = work
 * call: --check schedule,deadlock --seeds 60
 * request: {"number":1,"value":0}
 * request: {"number":2,"value":1}
 * request: {"number":3,"value":2}
 * request: {"number":4,"value":3}
 * says: check deadlock: nobody can go on: 'work' block 0 waits at 
 * says: /ticket.gyre.c:@1 
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

GYRE_KERNEL_WITH(work, task, answer, locks, gyre_none)
{
#ifndef MENDED
    while (gyre_atomic_load(&state->sum) != request->value) /* 1 */
        ;
#endif
    gyre_atomic_add(&state->sum, 1u);
    reply->number = request->number;
    reply->value = request->value;
    return GYRE_REPLY;
}
