/* SPDX-License-Identifier: Apache-2.0 */
/* One message as it was and as it grew, and others that did not grow at their end. */
#ifndef GYRE_GROWN_H
#define GYRE_GROWN_H

#include <gyre/message.h>

#define READING_OLD(FIELD) FIELD(u32, a) FIELD(u32, b)
GYRE_MESSAGE(reading_old, READING_OLD)
#define READING_NEW(FIELD) FIELD(u32, a) FIELD(u32, b) FIELD(u64, c)
GYRE_MESSAGE(reading_new, READING_NEW)

#define READING_OTHER(FIELD) FIELD(u32, a) FIELD(u32, c) FIELD(u64, b)
GYRE_MESSAGE(reading_other, READING_OTHER)

#define LETTER_OLD(FIELD) FIELD(u32, a) FIELD(utf8, words)
GYRE_MESSAGE_TAIL(letter_old, LETTER_OLD, 64)
#define LETTER_NEW(FIELD) FIELD(u32, a) FIELD(utf8, words) FIELD(u32, b)
GYRE_MESSAGE_TAIL(letter_new, LETTER_NEW, 64)

#endif
