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
GYRE_MESSAGE(in, ANY)
GYRE_MESSAGE(out, ANY)
GYRE_MESSAGE(requests, ANY)
GYRE_MESSAGE(replies, ANY)
GYRE_MESSAGE(state, ANY)
GYRE_SPAN(items, answer)
GYRE_SPAN(list, asked)
#define HEAD(FIELD) FIELD(u32, number) FIELD(items, room) FIELD(list, slot)
GYRE_MESSAGE_TAIL(head, HEAD, 64)
GYRE_MESSAGE_TAIL(queue, HEAD, 64)

#endif
