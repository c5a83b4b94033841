/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of the ledger and its handler say to each other. */
#ifndef LEDGER_H
#define LEDGER_H

#include <gyre/message.h>

#define LEDGER_ACCOUNTS 16

#define LEDGER_DEPOSIT(FIELD) FIELD(u32, account) FIELD(u32, till) FIELD(i64, cents)
GYRE_MESSAGE(ledger_deposit, LEDGER_DEPOSIT)

#define LEDGER_BALANCE(FIELD) FIELD(i64, cents) FIELD(u64, deposits)
GYRE_MESSAGE(ledger_balance, LEDGER_BALANCE)

#define LEDGER_BOOKS(FIELD) FIELD(ledger_balance, accounts[LEDGER_ACCOUNTS])
GYRE_MESSAGE(ledger_books, LEDGER_BOOKS)

#endif
