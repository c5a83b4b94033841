/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_TEXTS_H
#define GYRE_KERNELS_TEXTS_H

#include <gyre/message.h>

#define TWO_TEXTS(FIELD)                                                                                     \
    FIELD(u8, name[8])                                                                                       \
    FIELD(utf8, one) FIELD(utf8, other) FIELD(i64, number) FIELD(f64, price) FIELD(u32, decimals)
GYRE_MESSAGE_TAIL(two_texts, TWO_TEXTS, 120)
#define TEXTS_TOLD(FIELD)                                                                                    \
    FIELD(i32, order)                                                                                        \
    FIELD(u32, found)                                                                                        \
    FIELD(u32, blank)                                                                                        \
    FIELD(u32, equal)                                                                                        \
    FIELD(u32, is_ada) FIELD(u32, begins) FIELD(u32, stored) FIELD(u8, copy[6]) FIELD(utf8, line)
GYRE_MESSAGE_TAIL(texts_told, TEXTS_TOLD, 120)

#endif
