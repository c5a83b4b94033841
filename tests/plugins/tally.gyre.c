/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that uses every kind of object a backend has: state, a read-only and a read-write buffer. */
#include <gyre/kernel.h>
#include "tally.h"

#define TALLY_BUFFERS(IN, INOUT) IN(u32, weights) INOUT(u32, counts)
GYRE_BUFFERS(tally_buffers, TALLY_BUFFERS)

GYRE_ACTOR_WITH(tally, tally_number, tally_number, tally_number, tally_buffers)
{
    u64 bin = request->value % buffers->counts_count;
    buffers->counts[bin] += buffers->weights[bin];
    state->value += request->value;
    reply->value = state->value;
    return GYRE_REPLY;
}
