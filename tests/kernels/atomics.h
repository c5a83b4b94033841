/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_ATOMICS_H
#define GYRE_KERNELS_ATOMICS_H

#include <gyre/message.h>

#define ATOMICS_REQUEST(FIELD) FIELD(u32, u) FIELD(i32, i) FIELD(u64, w) FIELD(i64, l) FIELD(f32, f)
GYRE_MESSAGE(atomics_request, ATOMICS_REQUEST)
#define ATOMICS_REPLY(FIELD) FIELD(u32, ok)
GYRE_MESSAGE(atomics_reply, ATOMICS_REPLY)
#define ATOMICS_OF(FIELD, T)                                                                                 \
    FIELD(T, T##_sum)                                                                                        \
    FIELD(T, T##_difference)                                                                                 \
    FIELD(T, T##_least)                                                                                      \
    FIELD(T, T##_most)                                                                                       \
    FIELD(T, T##_and)                                                                                        \
    FIELD(T, T##_or) FIELD(T, T##_xor) FIELD(T, T##_swapped) FIELD(T, T##_cas) FIELD(T, T##_stored)
#define ATOMICS_STATE(FIELD)                                                                                 \
    ATOMICS_OF(FIELD, u32)                                                                                   \
    ATOMICS_OF(FIELD, i32) ATOMICS_OF(FIELD, u64) ATOMICS_OF(FIELD, i64) FIELD(f32, f32_sum)
GYRE_MESSAGE(atomics_state, ATOMICS_STATE)

#endif
