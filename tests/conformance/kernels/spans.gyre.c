/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that read spans and cannot tell whether these lie in the message or in a device buffer. */
#include <gyre/kernel.h>
#include "spans.h"

GYRE_HELPER u64 sum_samples(const GYRE_GLOBAL u64 *words, u32 first, u32 step, u32 count)
{
    u64 sum = 0;
    for (u32 i = first; i < count; i += step)
        sum += words[i];
    return sum;
}

/* By pointer, and the last item by its index; `beyond` asks for one that is not there. */
GYRE_KERNEL(lane_samples, samples, samples_seen)
{
    const u32 count = request->words.count;
    reply->count = count;
    reply->sum = sum_samples(gyre_items(u64, request, request->words), 0, 1, count);
    reply->last = count ? gyre_get(gyre, u64, request, request->words, count - 1 + request->beyond) : 0;
    reply->halves = 0;
    for (u32 i = 0; i < request->halves.count; i++)
        reply->halves += gyre_get(gyre, f32, request, request->halves, i);
    reply->title = gyre_copy(gyre, u8, reply, request, request->title);
    reply->copied = gyre_copy(gyre, u64, reply, request, request->few);
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(block_samples, samples, samples_seen, gyre_none)
{
    const u32 lane = gyre_lane(gyre), count = request->words.count;
    const u64 sum = gyre_block_sum_u64(
        gyre, sum_samples(gyre_items(u64, request, request->words), lane, gyre_lane_count(gyre), count));
    if (lane == 0) {
        reply->count = count;
        reply->sum = sum;
        reply->last = count ? gyre_get(gyre, u64, request, request->words, count - 1) : 0;
        reply->title = gyre_copy(gyre, u8, reply, request, request->title);
    }
    return GYRE_REPLY;
}

GYRE_KERNEL_OF(either_samples, EITHER_SAMPLES)

GYRE_HANDLER(either_samples, samples_of_words, words_sum)
{
    reply->sum = sum_samples(gyre_items(u64, request, request->words), 0, 1, request->words.count);
    return GYRE_REPLY;
}

GYRE_HANDLER(either_samples, samples_of_one, words_sum_of_one)
{
    reply->sum = request->word;
    return GYRE_REPLY;
}

/* The same reply from either place: the last one is written through the reply's part. */
GYRE_KERNEL(lane_squares, squares_wanted, squares)
{
    u64 there = request->count;
    GYRE_GLOBAL u64 *room = 0;
    if (request->room.id)
        room = gyre_open(gyre, u64, &request->room, &there);
    reply->title = gyre_new_text(gyre, reply, "squares");
    if (room)
        reply->squares =
            gyre_new_in(gyre, u64, reply, &request->room, request->first, request->count + request->beyond);
    else
        reply->squares = gyre_new(gyre, u64, reply, request->count);
    GYRE_GLOBAL u64 *squares = gyre_writable(u64, reply, reply->squares);
    reply->sum = 0;
    for (u32 i = 0; i < reply->squares.count; i++) {
        const u64 number = request->first + i;
        if (i + 1 == reply->squares.count)
            gyre_set(gyre, u64, reply, reply->squares, i, number * number);
        else
            squares[i] = number * number;
        reply->sum += number * number;
    }
    return GYRE_REPLY;
}

/* A handler learns only while it writes how much it has to say. */
GYRE_KERNEL(lane_cut, cut_wanted, cut_numbers)
{
    if (request->room.id)
        reply->numbers = gyre_new_in(gyre, u64, reply, &request->room, 0, request->count);
    else
        reply->numbers = gyre_new(gyre, u64, reply, request->count);
    for (u32 i = 0; i < reply->numbers.count; i++)
        gyre_set(gyre, u64, reply, reply->numbers, i, 100 + i);
    gyre_part dropped = gyre_new_text(gyre, reply, "notes");
    if (request->way == CUT_BESIDE)
        reply->numbers.offset += 8;
    if (request->way == CUT_AS_ANOTHER_TYPE)
        gyre_cut(gyre, u32, reply, reply->numbers, request->keep);
    else
        gyre_cut(gyre, u64, reply, reply->numbers, request->keep);
    if (request->way == CUT_WHAT_WAS_DROPPED)
        gyre_cut(gyre, u8, reply, dropped, 1);
    reply->title = gyre_new_text(gyre, reply, "kept");
    return GYRE_REPLY;
}
