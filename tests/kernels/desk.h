/* SPDX-License-Identifier: Apache-2.0 */
/* A bank's desk takes four types of messages: a fixed one, one with a tail, one without a reply, and one with
 * a field that has the name by which types are told apart. */
#ifndef GYRE_KERNELS_DESK_H
#define GYRE_KERNELS_DESK_H

#include <gyre/message.h>

#define DEPOSIT(FIELD) FIELD(u32, account) FIELD(i64, cents)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(i64, cents) FIELD(u32, deposits)
GYRE_MESSAGE(balance, BALANCE)

#define MEMO(FIELD) FIELD(utf8, text) FIELD(span_u32, accounts)
GYRE_MESSAGE_TAIL(memo, MEMO, 200)
#define MEMO_SEEN(FIELD) FIELD(span_i64, cents) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(memo_seen, MEMO_SEEN, 160)

#define BELL(FIELD) FIELD(u64, time)
GYRE_MESSAGE(bell, BELL)

#define CARD(FIELD) FIELD(u8, type) FIELD(u8, digits[16])
GYRE_MESSAGE(card, CARD)
#define CARD_CHECK(FIELD) FIELD(u8, type) FIELD(u32, valid) FIELD(u64, bells)
GYRE_MESSAGE(card_check, CARD_CHECK)

#define DESK(TAKES)                                                                                          \
    TAKES(deposit, balance) TAKES(memo, memo_seen) TAKES(bell, gyre_none) TAKES(card, card_check)
GYRE_PROTOCOL(desk, DESK)

#define DESK_LEDGER(FIELD) FIELD(i64, cents[4]) FIELD(u32, deposits[4]) FIELD(u64, bells)
GYRE_MESSAGE(ledger, DESK_LEDGER)

#endif
