/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of links that lead to one of the types of a kernel. */
#ifndef GYRE_CONFORMANCE_LINK_CHOICES_H
#define GYRE_CONFORMANCE_LINK_CHOICES_H

#include <gyre/message.h>

/* What is to be sent: a message of type `what`, counted from 1, with `length` letters if it is a memo. */
#define SHIPMENT(FIELD) FIELD(u64, number) FIELD(u32, what) FIELD(u32, length)
GYRE_MESSAGE(shipment, SHIPMENT)

#define PING(FIELD) FIELD(u32, number)
GYRE_MESSAGE(ping, PING)
#define MEMO(FIELD) FIELD(u64, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(memo, MEMO, 1000)
#define SHEET(FIELD) FIELD(u64, number) FIELD(u64, w[60])
GYRE_MESSAGE(sheet, SHEET)
enum { SHEET_WORDS = 60, MEMO_MOST = 900 };

/* What was seen: the number, and the sum of all that came with it. */
#define SIGHT(FIELD) FIELD(u64, number) FIELD(u64, sum)
GYRE_MESSAGE(sight, SIGHT)
#define BOOTH(TAKES) TAKES(ping, sight) TAKES(memo, sight) TAKES(sheet, sight)
GYRE_PROTOCOL(booth, BOOTH)

#define SIGHT_LETTER(number, i) ('a' + ((number) + 7 * (i)) % 26)
#define SIGHT_WORD(number, i)   (((number) + 1) * 0x9e3779b97f4a7c15ul * ((i) + 1))

#endif
