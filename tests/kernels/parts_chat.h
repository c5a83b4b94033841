/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PARTS_CHAT_H
#define GYRE_KERNELS_PARTS_CHAT_H

#include <gyre/message.h>

#define CHAT_LINE(FIELD)                                                                                     \
    FIELD(id128, id) FIELD(u8, level) FIELD(utf8, author) FIELD(utf8, text) FIELD(optional_utf8, room)
GYRE_MESSAGE_TAIL(chat_line, CHAT_LINE, 200)
#define CHAT_ANSWER(FIELD)                                                                                   \
    FIELD(id128, id) FIELD(u32, words) FIELD(utf8, text) FIELD(span_utf8, to) FIELD(optional_u32, room_hash)
GYRE_MESSAGE_TAIL(chat_answer, CHAT_ANSWER, 160)

#endif
