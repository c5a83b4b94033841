/* SPDX-License-Identifier: Apache-2.0 */
/* Messages take two locks, always the one with the smaller number first. What the locks keep is atomic as well.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * options: --lanes 2 --blocks 2
 * request: {"from":0,"to":1,"cents":5}
 * request: {"from":1,"to":0,"cents":7}
 * request: {"from":2,"to":1,"cents":1}
 * request: {"from":1,"to":3,"cents":2} */
#include <gyre/kernel.h>

#define TRANSFER(FIELD) FIELD(u32, from) FIELD(u32, to) FIELD(u32, cents)
GYRE_MESSAGE(transfer, TRANSFER)
#define BANK(FIELD) FIELD(u32, locks[4]) FIELD(u32, cents[4])
GYRE_MESSAGE(bank, BANK)

GYRE_BLOCK_KERNEL_WITH(ordered_locks, transfer, transfer, gyre_none, bank, gyre_none)
{
    const u32 low = request->from < request->to ? request->from : request->to;
    const u32 high = request->from ^ request->to ^ low;
    if (gyre_lane(gyre) != 0)
        return GYRE_REPLY;
    while (gyre_atomic_exchange(&state->locks[low], 1u) != 0)
        ;
    while (gyre_atomic_exchange(&state->locks[high], 1u) != 0)
        ;
    gyre_atomic_sub(&state->cents[request->from], request->cents);
    gyre_atomic_add(&state->cents[request->to], request->cents);
    gyre_atomic_store(&state->locks[high], 0u);
    gyre_atomic_store(&state->locks[low], 0u);
    *reply = *request;
    return GYRE_REPLY;
}
