/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that ask: asker_48 asks asked_48, again and again, one ask behind the other; word 5 says how often. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define ASKER_PORTS(PORT, ASK) ASK(words_48, words_48, about, 1)
GYRE_PORTS_WITH_ASKS(asker_ports, ASKER_PORTS)

/* A request, or an answer: it goes on with either. */
GYRE_KERNEL_TO(asker_48, words_48, words_48, asker_ports)
{
    if (request->word[5] == 0) {
        *reply = *request;
        return GYRE_REPLY;
    }
    *gyre_ask(gyre, about, 1) = *request;
    return GYRE_NO_REPLY;
}

/* What comes of word 0 shows how often it was asked. */
GYRE_KERNEL(asked_48, words_48, words_48)
{
    *reply = *request;
    reply->word[0] = request->word[0] * 3 + 1;
    reply->word[5] = request->word[5] - 1;
    return GYRE_REPLY;
}
