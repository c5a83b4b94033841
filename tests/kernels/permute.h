/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PERMUTE_H
#define GYRE_KERNELS_PERMUTE_H

#include <gyre/message.h>

#define PERMUTE_REQUEST(FIELD) FIELD(u8, values[16]) FIELD(u32, words[12]) FIELD(u32, step)
GYRE_MESSAGE(permute_request, PERMUTE_REQUEST)
#define PERMUTE_REPLY(FIELD)                                                                                 \
    FIELD(u8, fifths[16]) FIELD(u8, rows[16]) FIELD(u32, steps[12]) FIELD(u8, sevenths[16])
GYRE_MESSAGE(permute_reply, PERMUTE_REPLY)

#endif
