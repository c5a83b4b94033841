/* SPDX-License-Identifier: Apache-2.0 */
/* One lane waits for the atomic store of another one, which the lanes' turns bring about. Only the number itself goes
 * across.
 *
 * expects: nothing
 * options: --lanes 2
 * request: {"value":41} */
#include <gyre/kernel.h>

#define HANDED(FIELD) FIELD(u32, value)
GYRE_MESSAGE(handed, HANDED)
typedef struct spin_work {
    u32 value;
} spin_work;

GYRE_BLOCK_KERNEL(spin, handed, handed, spin_work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        gyre_atomic_store(&scratch->value, 0u);
    gyre_barrier(gyre);
    if (lane == 1) {
        gyre_atomic_store(&scratch->value, request->value + 1);
    } else if (lane == 0) {
        u32 seen;
        do
            seen = gyre_atomic_load(&scratch->value);
        while (seen == 0);
        reply->value = seen;
    }
    return GYRE_REPLY;
}
