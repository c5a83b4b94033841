/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that rings are chosen by: an account, a text. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_KERNEL(orders, order, order_reply)
{
    reply->who = request->who;
    reply->number = request->number;
    reply->total = request->number * 3 + request->who.account;
    return GYRE_REPLY;
}

GYRE_KERNEL(lengths, note_request, words_1)
{
    reply->w[0] = request->name.count;
    return GYRE_REPLY;
}
