/* SPDX-License-Identifier: Apache-2.0 */
/* Types with names that what Gyre puts around handlers might use itself. */
#ifndef GYRE_CONFORMANCE_NAMES_H
#define GYRE_CONFORMANCE_NAMES_H

#include <gyre/message.h>

#define ANY(FIELD) FIELD(u32, number)
GYRE_MESSAGE(answer, ANY)
GYRE_MESSAGE(asked, ANY)
GYRE_MESSAGE(batch, ANY)
GYRE_MESSAGE(control, ANY)
GYRE_MESSAGE(epoch, ANY)
GYRE_MESSAGE(failed, ANY)
GYRE_MESSAGE(form, ANY)
GYRE_MESSAGE(handle, ANY)
GYRE_MESSAGE(in, ANY)
GYRE_MESSAGE(length, ANY)
GYRE_MESSAGE(out, ANY)
GYRE_MESSAGE(requests, ANY)
GYRE_MESSAGE(replies, ANY)
GYRE_MESSAGE(result, ANY)
GYRE_MESSAGE(scratch_size, ANY)
GYRE_MESSAGE(serve, ANY)
GYRE_MESSAGE(shared, ANY)
GYRE_MESSAGE(state, ANY)
GYRE_MESSAGE(control_, ANY)
GYRE_MESSAGE(epoch_, ANY)
GYRE_MESSAGE(from_, ANY)
GYRE_MESSAGE(handle_, ANY)
GYRE_MESSAGE(in_, ANY)
GYRE_MESSAGE(length_, ANY)
GYRE_MESSAGE(out_, ANY)
GYRE_MESSAGE(state_size_, ANY)
GYRE_SPAN(items, answer)
GYRE_SPAN(list, asked)
GYRE_SPAN(message, answer)
GYRE_SPAN(offset, answer)
GYRE_SPAN(size, answer)
GYRE_OPTIONAL(wrong, asked)
GYRE_OPTIONAL(at, asked)
#define REST(FIELD)                                                                                          \
    FIELD(message, wire[2])                                                                                  \
    FIELD(offset, choice[1]) FIELD(size, optional[2]) FIELD(wrong, before) FIELD(at, one)
GYRE_MESSAGE(bounds, REST)
#define HEAD(FIELD) FIELD(u32, number) FIELD(items, room) FIELD(list, slot) FIELD(bounds, rest)
GYRE_MESSAGE_TAIL(head, HEAD, 64)
GYRE_MESSAGE_TAIL(queue, HEAD, 64)

#endif
