/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a chain: pass_48 passes a message on as it is; last_48 replies as words_48 does, word * 3 + i for word i. many_48 makes 32
 * messages of a request, each of which check_48 checks.
 */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define PASS_PORTS(PORT) PORT(words_48, next, 1)
GYRE_PORTS(pass_ports, PASS_PORTS)

GYRE_KERNEL_TO(pass_48, words_48, gyre_none, pass_ports)
{
    *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(last_48, words_48, words_48)
{
    for (u32 i = 0; i < 6; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}

#define MANY_PORTS(PORT) PORT(words_48, out, 32)
GYRE_PORTS(many_ports, MANY_PORTS)

GYRE_KERNEL_TO(many_48, words_48, gyre_none, many_ports)
{
    const words_48 mine = *request; /* what is emitted could overlap it, as far as the compiler knows */
    for (u32 number = 0; number < 32; number++) {
        GYRE_GLOBAL words_48 *message = gyre_emit(gyre, out);
        for (u32 i = 0; i < 6; i++)
            message->word[i] = mine.word[i] * number + i;
    }
    return GYRE_NO_REPLY;
}

/* The words of a request follow each other, so those of its messages are a series, too. */
GYRE_KERNEL(check_48, words_48, gyre_none)
{
    const u64 step = request->word[1] - request->word[0];
    for (u32 i = 2; i < 6; i++)
        if (request->word[i] - request->word[i - 1] != step)
            return gyre_fail(gyre, 1, "a word of a message is not what was sent");
    return GYRE_NO_REPLY;
}
