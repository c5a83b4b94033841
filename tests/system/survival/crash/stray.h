/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the crash campaign that runs on any device. */
#ifndef GYRE_TESTS_STRAY_H
#define GYRE_TESTS_STRAY_H

#include <gyre/message.h>

enum stray_fault {
    STRAY_NOT = 0,
    STRAY_READ = 1,
    STRAY_WRITE = 2,
    STRAY_LOOP = 3,
    STRAY_READ_BACK = 4,
    STRAY_LAST = 5
};

/* The fault happens while the device's clock is below `until_ns`: once, as a new worker comes later. STRAY_LAST,
 * not of chats, is none: it takes so many nanoseconds. */
#define STRAY_REQUEST(FIELD)                                                                                 \
    FIELD(u32, fault) FIELD(u32, unused) FIELD(u64, number) FIELD(u64, until_ns) FIELD(u64, far)
GYRE_MESSAGE(stray_request, STRAY_REQUEST)

#define STRAY_REPLY(FIELD) FIELD(u64, number) FIELD(u64, check) FIELD(u64, now_ns) FIELD(u64, took_ns)
GYRE_MESSAGE(stray_reply, STRAY_REPLY)

/* A reply that is longer than a slot. */
#define STRAY_CHAT(FIELD) FIELD(u64, number) FIELD(u64, now_ns) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(stray_chat, STRAY_CHAT, 4096)

#define STRAY_STATE(FIELD) FIELD(u64, count) FIELD(u64, hash)
GYRE_MESSAGE(stray_state, STRAY_STATE)

#define STRAY_BUFFERS(IN, INOUT) INOUT(u64, near)

#endif
