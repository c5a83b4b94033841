/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_STRING_SCAN_H
#define GYRE_KERNELS_STRING_SCAN_H

#include <gyre/message.h>

#define SCAN_REQUEST(FIELD)                                                                                  \
    FIELD(u32, text_length) FIELD(u32, word_length) FIELD(u8, text[96]) FIELD(u8, word[12])
GYRE_MESSAGE(scan_request, SCAN_REQUEST)
#define SCAN_REPLY(FIELD)                                                                                    \
    FIELD(i32, first) FIELD(u32, count) FIELD(u32, lines) FIELD(u32, longest) FIELD(u8, upper[96])
GYRE_MESSAGE(scan_reply, SCAN_REPLY)

#endif
