/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of kernels with several handlers. */
#ifndef GYRE_CONFORMANCE_TYPED_H
#define GYRE_CONFORMANCE_TYPED_H

#include <gyre/message.h>

#include "reports.h"

#define TYPED_SQUARE(FIELD) FIELD(u64, side)
GYRE_MESSAGE(square, TYPED_SQUARE)
#define TYPED_AREA(FIELD) FIELD(u64, area)
GYRE_MESSAGE(area, TYPED_AREA)
#define TYPED_JOIN(FIELD) FIELD(span_utf8, words)
GYRE_MESSAGE_TAIL(join, TYPED_JOIN, 400)
#define TYPED_JOINED(FIELD) FIELD(u32, words) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(joined, TYPED_JOINED, 200)
#define TYPED_COUNT(FIELD) FIELD(u32, by)
GYRE_MESSAGE(count, TYPED_COUNT)
#define TYPED(TAKES) TAKES(square, area) TAKES(join, joined) TAKES(count, gyre_none)
GYRE_PROTOCOL(typed, TYPED)

#endif
