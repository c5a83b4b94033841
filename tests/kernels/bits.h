/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_BITS_H
#define GYRE_KERNELS_BITS_H

#include <gyre/message.h>

#define BITS_REQUEST(FIELD) FIELD(u32, word) FIELD(u64, wide) FIELD(u32, shift)
GYRE_MESSAGE(bits_request, BITS_REQUEST)
#define BITS_REPLY(FIELD)                                                                                    \
    FIELD(u32, popcount)                                                                                     \
    FIELD(u32, popcount_wide)                                                                                \
    FIELD(u32, clz)                                                                                          \
    FIELD(u32, clz_wide)                                                                                     \
    FIELD(u32, ctz)                                                                                          \
    FIELD(u32, ctz_wide)                                                                                     \
    FIELD(u32, rotated)                                                                                      \
    FIELD(u64, rotated_wide)                                                                                 \
    FIELD(u32, reversed)                                                                                     \
    FIELD(u32, gray) FIELD(u64, morton) FIELD(u32, next_power) FIELD(u32, swapped) FIELD(u8, parity)
GYRE_MESSAGE(bits_reply, BITS_REPLY)

#endif
