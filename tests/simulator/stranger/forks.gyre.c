/* SPDX-License-Identifier: Apache-2.0 */
/* Three philosophers: each message takes two forks of three, does its work and gives them back. Planted: each takes its
 * left fork first.
 *
 * expects: circle
 * check: races,deadlock
 * options: --lanes 1 --blocks 3
 * request: {"seat":0}
 * request: {"seat":1}
 * request: {"seat":2}
 * request: {"seat":0}
 * request: {"seat":1}
 * request: {"seat":2} */
#include <gyre/kernel.h>

#define MEAL(FIELD) FIELD(u32, seat)
GYRE_MESSAGE(meal, MEAL)
#define TABLE(FIELD) FIELD(u32, forks[3]) FIELD(u32, meals)
GYRE_MESSAGE(table, TABLE)

GYRE_BLOCK_KERNEL_WITH(forks, meal, meal, gyre_none, table, gyre_none)
{
    const u32 left = request->seat % 3, right = (request->seat + 1) % 3;
    if (gyre_lane(gyre) != 0)
        return GYRE_REPLY;
    while (gyre_atomic_compare_exchange(&state->forks[left], 0u, 1u) != 0) /* first */
        ;
    while (gyre_atomic_compare_exchange(&state->forks[right], 0u, 1u) != 0) /* second */
        ;
    gyre_atomic_add(&state->meals, 1u);
    gyre_atomic_store(&state->forks[right], 0u);
    gyre_atomic_store(&state->forks[left], 0u);
    reply->seat = request->seat;
    return GYRE_REPLY;
}
