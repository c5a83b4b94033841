/* SPDX-License-Identifier: Apache-2.0 */
/* Counts are in a buffer that checkpoints leave out: after a crash it is as it was given, and the state is not.
 * call: --check crash --seed 6 --seeds 2 --buffer counts=zeros:64 --set kernel.default.checkpoint_buffers=false
 * request: {"which":1}
 * request: {"which":3}
 * request: {"which":1}
 * request: {"which":2}
 * request: {"which":1}
 * says: with seed 7: count: expected
 * says: ended in message 3 of 'buffer', block 0, before /
 * says: /buffer.gyre.c:
 */
#include <gyre/kernel.h>

#define CHOICE(FIELD) FIELD(u32, which)
GYRE_MESSAGE(choice, CHOICE)
#define ANSWER(FIELD) FIELD(u32, count) FIELD(u32, messages)
GYRE_MESSAGE(answer, ANSWER)
#define COUNTS(FIELD) FIELD(u32, messages) FIELD(u32, counts[16])
GYRE_MESSAGE(counts, COUNTS)
#define BUFFERS(IN, INOUT) INOUT(u32, counts)
GYRE_BUFFERS(count_buffers, BUFFERS)

GYRE_ACTOR_WITH(buffer, choice, answer, counts, count_buffers)
{
    const u32 which = request->which % 16u;
    state->messages++;
    state->counts[which]++;
    buffers->counts[which]++;
#ifdef MENDED
    reply->count = state->counts[which];
#else
    reply->count = buffers->counts[which];
#endif
    reply->messages = state->messages;
    return GYRE_REPLY;
}
