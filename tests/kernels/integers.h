/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_INTEGERS_H
#define GYRE_KERNELS_INTEGERS_H

#include <gyre/message.h>

#define INTEGERS_REQUEST(FIELD)                                                                              \
    FIELD(i8, a8)                                                                                            \
    FIELD(i8, b8)                                                                                            \
    FIELD(i16, a16)                                                                                          \
    FIELD(i16, b16)                                                                                          \
    FIELD(i32, a32)                                                                                          \
    FIELD(i32, b32)                                                                                          \
    FIELD(i64, a64)                                                                                          \
    FIELD(i64, b64)                                                                                          \
    FIELD(u8, ua8)                                                                                           \
    FIELD(u8, ub8)                                                                                           \
    FIELD(u16, ua16) FIELD(u16, ub16) FIELD(u32, ua32) FIELD(u32, ub32) FIELD(u64, ua64) FIELD(u64, ub64)
GYRE_MESSAGE(integers_request, INTEGERS_REQUEST)
#define INTEGERS_REPLY(FIELD)                                                                                \
    FIELD(i8, sum8)                                                                                          \
    FIELD(i16, sum16)                                                                                        \
    FIELD(i32, sum32)                                                                                        \
    FIELD(i64, sum64)                                                                                        \
    FIELD(u8, product8)                                                                                      \
    FIELD(u16, product16)                                                                                    \
    FIELD(u32, product32)                                                                                    \
    FIELD(u64, product64)                                                                                    \
    FIELD(u64, high64)                                                                                       \
    FIELD(i32, quotient)                                                                                     \
    FIELD(i32, rest)                                                                                         \
    FIELD(i64, quotient64)                                                                                   \
    FIELD(u64, rest64)                                                                                       \
    FIELD(i32, shifted) FIELD(u32, less) FIELD(i64, widened) FIELD(i8, narrowed) FIELD(u32, saturated)
GYRE_MESSAGE(integers_reply, INTEGERS_REPLY)

#endif
