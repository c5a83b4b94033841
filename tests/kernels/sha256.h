/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_SHA256_H
#define GYRE_KERNELS_SHA256_H

#include <gyre/message.h>

#define SHA256_REQUEST(FIELD) FIELD(u32, length) FIELD(u8, bytes[119])
GYRE_MESSAGE(sha256_request, SHA256_REQUEST)
#define SHA256_REPLY(FIELD) FIELD(u8, digest[32])
GYRE_MESSAGE(sha256_reply, SHA256_REPLY)

#endif
