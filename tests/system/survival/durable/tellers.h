/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor that adds up what came for each account, so that its state tells which messages it saw and in which order. */
#ifndef GYRE_TESTS_TELLERS_H
#define GYRE_TESTS_TELLERS_H

#include <gyre/message.h>

#define PAYMENT(FIELD) FIELD(u32, account) FIELD(u64, amount)
GYRE_MESSAGE(payment, PAYMENT)
#define TELLER(FIELD) FIELD(u64, count) FIELD(u64, trace)
GYRE_MESSAGE(teller, TELLER)

#endif
