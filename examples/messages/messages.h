/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this example say to each other: texts, batches, and records within records. */
#ifndef GYRE_EXAMPLES_MESSAGES_H
#define GYRE_EXAMPLES_MESSAGES_H

#include <gyre/message.h>

#define LINE(FIELD) FIELD(utf8, author) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(line, LINE, 400)
#define ANSWER(FIELD) FIELD(u32, words) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(answer, ANSWER, 400)

#define TICK(FIELD) FIELD(u64, time) FIELD(f64, price) FIELD(u32, size)
GYRE_MESSAGE(tick, TICK)
GYRE_SPAN(tick_list, tick)
#define BATCH(FIELD) FIELD(utf8, symbol) FIELD(tick_list, ticks)
GYRE_MESSAGE_TAIL(batch, BATCH, 30000)
#define SUMMARY(FIELD) FIELD(f64, low) FIELD(f64, high) FIELD(u64, volume) FIELD(utf8, symbol)
GYRE_MESSAGE_TAIL(summary, SUMMARY, 32)

#define ADDRESS(FIELD) FIELD(utf8, street) FIELD(u16, number) FIELD(optional_utf8, door)
GYRE_MESSAGE(address, ADDRESS)
#define ITEM(FIELD) FIELD(u64, article) FIELD(u32, pieces) FIELD(f64, price) FIELD(span_utf8, notes)
GYRE_MESSAGE(item, ITEM)
GYRE_SPAN(items, item)
#define ORDER(FIELD) FIELD(id128, id) FIELD(address, to) FIELD(items, items)
GYRE_MESSAGE_TAIL(order, ORDER, 4000)
#define BILL(FIELD) FIELD(id128, id) FIELD(f64, total) FIELD(u32, notes) FIELD(utf8, label)
GYRE_MESSAGE_TAIL(bill, BILL, 200)

#endif
