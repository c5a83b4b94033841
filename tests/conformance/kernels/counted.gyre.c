/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that makes many messages of one, and a kernel that has no ports, replies, state or buffers of its own. */
#include <gyre/kernel.h>

#include "counted.h"

#define HERD_PORTS(PORT) PORT(head, heads, HERD_MOST)
GYRE_PORTS(herd_ports, HERD_PORTS)

GYRE_KERNEL_TO(drive, herd, gyre_none, herd_ports)
{
    for (u32 i = 0; i < request->count && i < HERD_MOST; i++) {
        GYRE_GLOBAL head *out = gyre_emit(gyre, heads);
        out->words = request->words;
        out->number = request->first + i;
        out->place = i;
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(count_off, head, gyre_none)
{
    if (request->number == HEAD_FAILS)
        return gyre_fail(gyre, 7, "the head that fails");
    if (request->words.id) {
        u64 count;
        GYRE_GLOBAL u64 *words = gyre_open(gyre, u64, &request->words, &count);
        if (words && request->place < count)
            words[request->place] = request->number;
    }
    return GYRE_NO_REPLY;
}
