/* SPDX-License-Identifier: Apache-2.0 */
/* Two messages add to the same number, and one sum is lost where both do it at once.
 * call: --check races
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * fails: @1: race, two messages
 * says: state->total at
 * says: , and both may run at once
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_WITH(update, ask, answer, kept, gyre_none)
{
#ifdef MENDED
    gyre_atomic_add(&state->total, request->values[0]);
#else
    state->total += request->values[0]; /* 1 */
#endif
    reply->sum = request->values[0];
    return GYRE_REPLY;
}
