/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of bank.gyre.c. */
#ifndef BANK_H
#define BANK_H

#include <gyre/message.h>

/* `account` pays `cents` to `payee`, or, if that is 0, gets them. */
#define PAYMENT(FIELD) FIELD(u64, account) FIELD(u64, payee) FIELD(i64, cents)
GYRE_MESSAGE(payment, PAYMENT)

#define ACCOUNT(FIELD) FIELD(i64, cents) FIELD(u64, payments)
GYRE_MESSAGE(account, ACCOUNT)

#endif
