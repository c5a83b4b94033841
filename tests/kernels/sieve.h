/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_SIEVE_H
#define GYRE_KERNELS_SIEVE_H

#include <gyre/message.h>

#define SIEVE_WORDS          32
#define SIEVE_REQUEST(FIELD) FIELD(u32, limit)
GYRE_MESSAGE(sieve_request, SIEVE_REQUEST)
#define SIEVE_REPLY(FIELD) FIELD(u32, count) FIELD(u32, largest) FIELD(u64, sum)
GYRE_MESSAGE(sieve_reply, SIEVE_REPLY)
#define SIEVE_SCRATCH(FIELD)                                                                                 \
    FIELD(u32, composite[SIEVE_WORDS]) FIELD(u32, count) FIELD(u32, largest) FIELD(u64, sum)
GYRE_MESSAGE(sieve_scratch, SIEVE_SCRATCH)

#endif
