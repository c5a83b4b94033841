/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_HASH_H
#define GYRE_KERNELS_HASH_H

#include <gyre/message.h>

#define HASH_REQUEST(FIELD) FIELD(u32, length) FIELD(u32, seed) FIELD(u8, bytes[100])
GYRE_MESSAGE(hash_request, HASH_REQUEST)
#define HASH_REPLY(FIELD) FIELD(u64, fnv) FIELD(u32, murmur) FIELD(u32, crc)
GYRE_MESSAGE(hash_reply, HASH_REPLY)

#endif
