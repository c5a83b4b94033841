/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_TOKENIZER_H
#define GYRE_KERNELS_TOKENIZER_H

#include <gyre/message.h>

#define TOKENIZER_REQUEST(FIELD) FIELD(u32, length) FIELD(u8, text[120])
GYRE_MESSAGE(tokenizer_request, TOKENIZER_REQUEST)
#define TOKEN(FIELD) FIELD(u8, kind) FIELD(u8, start) FIELD(u8, length)
GYRE_MESSAGE(token, TOKEN)
#define TOKENIZER_REPLY(FIELD) FIELD(u32, count) FIELD(u32, bad_at) FIELD(i64, total) FIELD(token, tokens[24])
GYRE_MESSAGE(tokenizer_reply, TOKENIZER_REPLY)

#endif
