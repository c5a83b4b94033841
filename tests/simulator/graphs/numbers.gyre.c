/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of two blocks hands requests on in any order, and the next one numbers them as they come.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.pass]
 * config: source = @:pass
 * config: blocks = 2
 * config: [kernel.book]
 * config: source = @:book
 * config: [pipeline.numbers]
 * config: entry = pass
 * config: answer = book
 * config: [link.tasks]
 * config: from = pass.tasks
 * config: to = book
 * call: --check order --seeds 40
 * request: {"number":1,"value":5}
 * request: {"number":2,"value":7}
 * request: {"number":3,"value":9}
 * says: with seed 
 * says: number: expected 
 * says: 'book' handled messages of the requests
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(pass, task, gyre_none, tasks_ports)
{
    *gyre_emit(gyre, tasks) = *request;
    return GYRE_NO_REPLY;
}

#define COUNTED(FIELD) FIELD(u32, count)
GYRE_MESSAGE(counted, COUNTED)

GYRE_ACTOR(book, task, answer, counted)
{
    state->count++;
#ifdef MENDED
    reply->number = request->number;
#else
    reply->number = state->count;
#endif
    reply->value = request->value;
    return GYRE_REPLY;
}
