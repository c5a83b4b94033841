/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For handlers that do nothing wrong: each gives back what it was asked, item by item. The clock is looked at between two
 * items, because a compiler then reads the part anew for each.
 */
#ifndef GYRE_TESTS_FOREIGN_BACK_H
#define GYRE_TESTS_FOREIGN_BACK_H

#include <gyre/kernel.h>
#include "foreign.h"

GYRE_HELPER void give_word(const GYRE_GLOBAL foreign_ask *request, GYRE_GLOBAL foreign_told *reply, u32 i,
                           gyre_context *gyre)
{
    const u64 word = gyre_get(gyre, u64, request, request->words, i), now = gyre_time_ns(gyre);
    gyre_set(gyre, u64, reply, reply->words, i, now == 1 ? now : word);
}

GYRE_HELPER void give_back(const GYRE_GLOBAL foreign_ask *request, GYRE_GLOBAL foreign_told *reply,
                           gyre_context *gyre)
{
    const u32 count = request->words.count;
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, count);
    for (u32 i = 0; i < count; i++)
        give_word(request, reply, i, gyre);
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
}

#endif
