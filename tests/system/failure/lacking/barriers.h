/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BARRIERS_H
#define BARRIERS_H

#include <gyre/message.h>

#define BARRIERS(FIELD)                                                                                      \
    FIELD(u32, n)                                                                                            \
    FIELD(i32, v[40])                                                                                        \
    FIELD(u32, w[7])                                                                                         \
    FIELD(u64, q)
GYRE_MESSAGE(barriers_message, BARRIERS)

#endif
