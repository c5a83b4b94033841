/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savina's benchmarks that grow trees, and Skynet: each node is a message to the kernel itself. The leaves are added by the
 * actor `add` of streams.gyre.c, not up the tree; the end of the flow tells that all were.
 */
#include <gyre/kernel.h>

#include "../savina.h"

enum { SKYNET_CHILDREN = 10, QUEENS_MAX = 16 };

#define TWO_PORTS(PORT) PORT(task, more, 2) PORT(task, leaves, 1)
GYRE_PORTS(two_ports, TWO_PORTS)

/* number: whose Fibonacci number is wanted, as the number of its leaves. */
GYRE_KERNEL_TO(fibonacci, task, gyre_none, two_ports)
{
    if (request->number <= 2) {
        GYRE_GLOBAL task *leaf = gyre_emit(gyre, leaves);
        *leaf = *request;
        leaf->what = SAVINA_PUT;
        leaf->number = 1;
        return GYRE_NO_REPLY;
    }
    for (u32 i = 1; i <= 2; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, more);
        *out = *request;
        out->number = request->number - i;
    }
    return GYRE_NO_REPLY;
}

#define TEN_PORTS(PORT) PORT(task, more, SKYNET_CHILDREN) PORT(task, leaves, 1)
GYRE_PORTS(ten_ports, TEN_PORTS)

/* left: leaves below this node. number: that of the first one. */
GYRE_KERNEL_TO(skynet, task, gyre_none, ten_ports)
{
    if (request->left == 1) {
        GYRE_GLOBAL task *leaf = gyre_emit(gyre, leaves);
        *leaf = *request;
        leaf->what = SAVINA_PUT;
        return GYRE_NO_REPLY;
    }
    for (u32 i = 0; i < SKYNET_CHILDREN; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, more);
        *out = *request;
        out->left = request->left / SKYNET_CHILDREN;
        out->number = request->number + i * out->left;
    }
    return GYRE_NO_REPLY;
}

/* A board: columns and diagonals that are taken, as bits. */
typedef struct {
    u32 columns, down, up;
} board;

GYRE_HELPER board with_queen(board now, u32 queen)
{
    board next;
    next.columns = now.columns | queen;
    next.down = (now.down | queen) << 1;
    next.up = (now.up | queen) >> 1;
    return next;
}

/* How many ways there are to fill `rows` further rows of a board of `size`; by a stack of its own, as devices have no recursion. */
GYRE_HELPER u64 solve(board start, u32 size, u32 rows)
{
    board boards[QUEENS_MAX + 1];
    u32 free[QUEENS_MAX + 1], at = 0;
    const u32 all = (1u << size) - 1;
    u64 found = 0;
    if (rows == 0)
        return 1;
    boards[0] = start;
    free[0] = all & ~(start.columns | start.down | start.up);
    for (;;) {
        if (free[at] == 0) {
            if (at == 0)
                return found;
            at--;
            continue;
        }
        const u32 queen = free[at] & (~free[at] + 1);
        free[at] &= ~queen;
        if (at + 1 == rows) {
            found++;
            continue;
        }
        boards[at + 1] = with_queen(boards[at], queen);
        at++;
        free[at] = all & ~(boards[at].columns | boards[at].down | boards[at].up);
    }
}

#define QUEENS_PORTS(PORT) PORT(task, more, QUEENS_MAX) PORT(task, leaves, 1)
GYRE_PORTS(queens_ports, QUEENS_PORTS)

/* size: of the board. left: rows that are free. who, from, number: columns and diagonals. Four rows are solved at once. */
GYRE_KERNEL_TO(queens, task, gyre_none, queens_ports)
{
    board now;
    now.columns = request->who;
    now.down = request->from;
    now.up = (u32)request->number;
    if (request->size > QUEENS_MAX)
        return gyre_fail(gyre, 1, "a board as large as this is none of ours");
    if (request->left <= 4) {
        GYRE_GLOBAL task *leaf = gyre_emit(gyre, leaves);
        leaf->what = SAVINA_PUT;
        leaf->number = solve(now, request->size, (u32)request->left);
        return GYRE_NO_REPLY;
    }
    u32 free = ((1u << request->size) - 1) & ~(now.columns | now.down | now.up);
    while (free) {
        const u32 queen = free & (~free + 1);
        const board next = with_queen(now, queen);
        free &= ~queen;
        GYRE_GLOBAL task *out = gyre_emit(gyre, more);
        *out = *request;
        out->who = next.columns;
        out->from = next.down;
        out->number = next.up;
        out->left--;
    }
    return GYRE_NO_REPLY;
}
