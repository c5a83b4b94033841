/* SPDX-License-Identifier: Apache-2.0 */
/* A lock is kept where a handler gives up, so the next message waits for ever.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.pass]
 * config: source = @:pass
 * config: [kernel.work]
 * config: source = @:work
 * config: [pipeline.held]
 * config: entry = pass
 * config: answer = work
 * config: [link.tasks]
 * config: from = pass.tasks
 * config: to = work
 * call: --check schedule,deadlock --seeds 3
 * request: {"number":1,"value":3}
 * request: {"number":2,"value":0}
 * request: {"number":3,"value":4}
 * says: check deadlock: nobody can go on: 'work' block 0 waits at 
 * says: /held.gyre.c:@1 (`
 * says: request:3: expected an answer, found {"failed":{"code":-20,"text":"held.gyre.c:@1: deadlock
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
    while (gyre_atomic_exchange(&state->locks[0], 1u) != 0) /* 1 */
        ;
    reply->number = request->number;
    reply->value = request->value;
#ifndef MENDED
    if (request->value == 0)
        return GYRE_REPLY;
#endif
    gyre_atomic_store(&state->locks[0], 0u);
    return GYRE_REPLY;
}
