/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of a pipeline numbers messages by its state, which begins anew with each worker process.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.pass]
 * config: source = @:pass
 * config: [kernel.book]
 * config: source = @:book
 * config: on_loss = one
 * config: [pipeline.numbers]
 * config: entry = pass
 * config: answer = book
 * config: [link.tasks]
 * config: from = pass.tasks
 * config: to = book
 * call: --check crash --seeds 4
 * request: {"number":1,"value":5}
 * request: {"number":2,"value":7}
 * request: {"number":3,"value":9}
 * request: {"number":4,"value":11}
 * says: number: expected
 * says: kernel 'book' begins anew
 * lost: kernel.book.on_loss=leave
 */
#include <gyre/kernel.h>

#define TASK(FIELD) FIELD(u32, number) FIELD(u32, value)
GYRE_MESSAGE(task, TASK)
#define TASKS(PORT) PORT(task, tasks, 1)
GYRE_PORTS(tasks_ports, TASKS)
#define COUNTED(FIELD) FIELD(u32, count)
GYRE_MESSAGE(counted, COUNTED)

GYRE_KERNEL_TO(pass, task, gyre_none, tasks_ports)
{
    *gyre_emit(gyre, tasks) = *request;
    return GYRE_NO_REPLY;
}

GYRE_ACTOR(book, task, task, counted)
{
    state->count++;
    *reply = *request;
#ifndef MENDED
    reply->number = state->count;
#endif
    return GYRE_REPLY;
}
