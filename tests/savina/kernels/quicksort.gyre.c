/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savina's quicksort: the numbers are in a buffer, and a message is a range of them, which is parted, or sorted where it is short.
 * number: the first one. left: how many. What is in its place is told to the actor `add` of streams.gyre.c.
 */
#include <gyre/kernel.h>

#include "../savina.h"

#define SORT_PORTS(PORT) PORT(task, more, 2) PORT(task, leaves, 1)
GYRE_PORTS(sort_ports, SORT_PORTS)

#define SORT_BUFFERS(IN, INOUT) INOUT(u64, numbers)
GYRE_BUFFERS(sort_buffers, SORT_BUFFERS)

GYRE_HELPER void swap_numbers(GYRE_GLOBAL u64 *numbers, u64 a, u64 b)
{
    const u64 number = numbers[a];
    numbers[a] = numbers[b];
    numbers[b] = number;
}

GYRE_HELPER void sift_down(GYRE_GLOBAL u64 *numbers, u64 root, u64 count)
{
    for (u64 child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && numbers[child] < numbers[child + 1])
            child++;
        if (numbers[root] >= numbers[child])
            return;
        swap_numbers(numbers, root, child);
        root = child;
    }
}

GYRE_HELPER void heap_sort(GYRE_GLOBAL u64 *numbers, u64 count)
{
    for (u64 i = count / 2; i > 0; i--)
        sift_down(numbers, i - 1, count);
    for (u64 i = count; i > 1; i--) {
        swap_numbers(numbers, 0, i - 1);
        sift_down(numbers, 0, i - 1);
    }
}

GYRE_HELPER u64 middle_of(u64 a, u64 b, u64 c)
{
    if (a > b)
        return b > c ? b : a > c ? c : a;
    return a > c ? a : b > c ? c : b;
}

/* A part that has numbers goes on. */
GYRE_HELPER void fill_range(GYRE_GLOBAL task *out, u64 first, u64 count)
{
    out->number = first;
    out->left = count;
}

GYRE_KERNEL_TO_WITH(quicksort, task, gyre_none, sort_ports, gyre_none, sort_buffers)
{
    const u64 count = request->left;
    if (!gyre_assert(gyre, request->number <= buffers->numbers_count &&
                               count <= buffers->numbers_count - request->number))
        return GYRE_FAILED;
    GYRE_GLOBAL u64 *const numbers = buffers->numbers + request->number;
    u64 below = 0,
        above = count; /* numbers below the pivot are before `below`, larger ones from `above` on */
    if (count <= SORT_AT_ONCE) {
        heap_sort(numbers, count);
    } else {
        const u64 pivot = middle_of(numbers[0], numbers[count / 2], numbers[count - 1]);
        for (u64 i = 0; i < above;)
            if (numbers[i] < pivot)
                swap_numbers(numbers, i++, below++);
            else if (numbers[i] > pivot)
                swap_numbers(numbers, i, --above);
            else
                i++;
        if (below > 0)
            fill_range(gyre_emit(gyre, more), request->number, below);
        if (above < count)
            fill_range(gyre_emit(gyre, more), request->number + above, count - above);
    }
    GYRE_GLOBAL task *leaf = gyre_emit(gyre, leaves);
    leaf->what = SAVINA_PUT;
    leaf->number = above - below;
    leaf->value = 0;
    return GYRE_NO_REPLY;
}
