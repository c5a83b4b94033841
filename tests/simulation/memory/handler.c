/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of the queue's case (queue.c), as the CPU backend compiles one: with the loop that serves a ring. */
#include <gyre/kernel.h>

#include "handler.h"

GYRE_KERNEL(doubled, numbers, numbers)
{
    reply->number = request->number * 2;
    for (u32 i = 0; i < 9; i++)
        reply->again[i] = request->again[i] == request->number + i ? reply->number + i : 0;
    return GYRE_REPLY;
}

GYRE_EXPORT_KERNELS_
