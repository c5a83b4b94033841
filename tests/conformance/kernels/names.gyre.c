/* SPDX-License-Identifier: Apache-2.0 */
/* A number and one more, by types of all sorts of names. */
#include <gyre/kernel.h>
#include "names.h"

#define NEXT(kernel_, request_, reply_)                                                                      \
    GYRE_KERNEL(kernel_, request_, reply_)                                                                   \
    {                                                                                                        \
        reply->number = request->number + 1;                                                                 \
        return GYRE_REPLY;                                                                                   \
    }
NEXT(names_1, asked, answer)
NEXT(names_2, in, out)
NEXT(names_3, requests, replies)
NEXT(names_4, batch, epoch)
NEXT(names_5, head, queue)
NEXT(names_7, handle, form)
NEXT(names_8, serve, scratch_size)
NEXT(names_9, length, result)
NEXT(arguments, in_, out_)
NEXT(at_, length_, handle_)
NEXT(shape, epoch_, control_)
NEXT(called_off_, from_, state_size_)
GYRE_BLOCK_KERNEL(names_10, failed, length, shared)
{
    if (gyre_lane(gyre) == 0)
        scratch->number = request->number;
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0)
        reply->number = scratch->number + 1;
    return GYRE_REPLY;
}
GYRE_ACTOR(names_6, control, answer, state)
{
    state->number += request->number;
    reply->number = state->number + 1;
    return GYRE_REPLY;
}
