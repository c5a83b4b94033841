/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks: which of them handles a message first is another one when messages are handled again.
 * call: --check crash --seeds 8 --blocks 2
 * request: {"amount":1}
 * request: {"amount":2}
 * request: {"amount":3}
 * request: {"amount":4}
 * request: {"amount":5}
 * request: {"amount":6}
 * says: sum: expected
 */
#include <gyre/kernel.h>

#define DEPOSIT(FIELD) FIELD(u32, amount)
GYRE_MESSAGE(deposit, DEPOSIT)
#define TOTAL(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(total, TOTAL)
#define SUMS(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(sums, SUMS)

GYRE_KERNEL_WITH(turns, deposit, total, sums, gyre_none)
{
    const u32 before = gyre_atomic_add(&state->sum, request->amount);
#ifdef MENDED
    reply->sum = request->amount + 0 * before;
#else
    reply->sum = before;
#endif
    return GYRE_REPLY;
}
