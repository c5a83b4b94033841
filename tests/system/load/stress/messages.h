/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the stress kernels. */
#ifndef GYRE_STRESS_MESSAGES_H
#define GYRE_STRESS_MESSAGES_H

#include <gyre/message.h>

/* 48 bytes, the most that shares a line with its sequence. */
#define STAMP(FIELD) FIELD(u64, producer) FIELD(u64, number) FIELD(u64, words[4])
GYRE_MESSAGE(stamp, STAMP)

#define BLOCK_1(FIELD)    FIELD(u64, w[1])
#define BLOCK_7(FIELD)    FIELD(u64, w[7])
#define BLOCK_128(FIELD)  FIELD(u64, w[128])
#define BLOCK_8192(FIELD) FIELD(u64, w[8192])
GYRE_MESSAGE(block_1, BLOCK_1)
GYRE_MESSAGE(block_7, BLOCK_7)
GYRE_MESSAGE(block_128, BLOCK_128)
GYRE_MESSAGE(block_8192, BLOCK_8192)

/* Of any length, and stored back to back. */
#define PARCEL(FIELD) FIELD(u64, number) FIELD(u64, lasts_ns) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(parcel, PARCEL, 2000)

#endif
