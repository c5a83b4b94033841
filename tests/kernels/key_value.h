/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_KEY_VALUE_H
#define GYRE_KERNELS_KEY_VALUE_H

#include <gyre/message.h>

#define STORE_REQUEST(FIELD) FIELD(u8, action) FIELD(u64, key) FIELD(u64, value)
GYRE_MESSAGE(store_request, STORE_REQUEST)
#define STORE_REPLY(FIELD) FIELD(u8, found) FIELD(u64, value) FIELD(u32, used)
GYRE_MESSAGE(store_reply, STORE_REPLY)
#define STORE_STATE(FIELD) FIELD(u32, used)
GYRE_MESSAGE(store_state, STORE_STATE)
#define STORE_ENTRY(FIELD) FIELD(u64, key) FIELD(u64, value) FIELD(u8, taken)
GYRE_MESSAGE(store_entry, STORE_ENTRY)
#define STORE_BUFFERS(IN, INOUT) INOUT(store_entry, entries) IN(u64, seed)

#endif
