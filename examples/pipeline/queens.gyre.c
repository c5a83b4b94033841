/* SPDX-License-Identifier: Apache-2.0 */
/* In how many ways do queens stand on a board, none of which threatens another one? docs/pipelines.md explains it. */
#include <gyre/kernel.h>

#include "queens.h"

#define BEGIN_PORTS(PORT) PORT(board, empty, 1)
GYRE_PORTS(begin_ports, BEGIN_PORTS)

/* The entry: it begins with an empty board. */
GYRE_KERNEL_TO(begin, puzzle, gyre_none, begin_ports)
{
    if (request->size < 1 || request->size > 16)
        return gyre_fail(gyre, 1, "a board has 1 to 16 rows");
    GYRE_GLOBAL board *first = gyre_emit(gyre, empty);
    first->size = request->size;
    first->row = first->columns = first->left = first->right = 0;
    return GYRE_NO_REPLY;
}

#define PLACE_PORTS(PORT) PORT(board, boards, 16)
GYRE_PORTS(place_ports, PLACE_PORTS)

/* How many boards of a request are to be looked at, from bit OPEN on, and how many solutions there are: one word has both. */
struct search {
    u64 word;
};
enum { OPEN = 40 };
GYRE_FLOW(place, struct search)

/* Puts a queen into the next row, in each way. Whoever looks at the last board of a request answers. */
GYRE_KERNEL_TO(place, board, solutions, place_ports)
{
    const u32 all = (1u << request->size) - 1;
    u64 open = request->row == 0, found = request->row == request->size;
    u32 free = found ? 0 : all & ~(request->columns | request->left | request->right);
    for (; free; free &= free - 1) {
        const u32 queen = free & (~free + 1);
        GYRE_GLOBAL board *next = gyre_emit(gyre, boards);
        next->size = request->size;
        next->row = request->row + 1;
        next->columns = request->columns | queen;
        next->left = ((request->left | queen) << 1) & all;
        next->right = (request->right | queen) >> 1;
        open++;
    }
    const u64 change = ((open - 1) << OPEN) + found; /* this board is done */
    const u64 now = gyre_atomic_add(&gyre_flow(gyre, place)->word, change) + change;
    if (now >> OPEN)
        return GYRE_NO_REPLY;
    reply->count = now;
    return GYRE_REPLY;
}
