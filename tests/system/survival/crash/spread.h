/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the kernel on two devices of which one dies (test_spread.c). */
#ifndef SPREAD_H
#define SPREAD_H

#include <gyre/message.h>

#define DEPOSIT(FIELD) FIELD(u64, account) FIELD(u64, cents) FIELD(u64, crashes)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(u64, account) FIELD(u64, cents)
GYRE_MESSAGE(balance, BALANCE)

#endif
