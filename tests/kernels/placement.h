/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PLACEMENT_H
#define GYRE_KERNELS_PLACEMENT_H

#include <gyre/message.h>

#define PLACEMENT_REQUEST(FIELD) FIELD(u32, nothing)
GYRE_MESSAGE(placement_request, PLACEMENT_REQUEST)
#define PLACEMENT_REPLY(FIELD)                                                                               \
    FIELD(u32, lanes) FIELD(u32, blocks) FIELD(u32, block_is_one) FIELD(u32, order[64])
GYRE_MESSAGE(placement_reply, PLACEMENT_REPLY)
#define PLACEMENT_SCRATCH(FIELD) FIELD(u32, seen[64])
GYRE_MESSAGE(placement_scratch, PLACEMENT_SCRATCH)

#endif
