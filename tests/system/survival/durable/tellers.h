/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor that adds up what came for each account, so that its state tells which messages it saw and in which order. */
#ifndef GYRE_TESTS_TELLERS_H
#define GYRE_TESTS_TELLERS_H

#include <gyre/message.h>

#define PAYMENT(FIELD) FIELD(u32, account) FIELD(u64, amount)
GYRE_MESSAGE(payment, PAYMENT)
#define TELLER(FIELD) FIELD(u64, count) FIELD(u64, trace)
GYRE_MESSAGE(teller, TELLER)

/* What `watched` keeps: each message and each reminder turns the trace, so it tells in which order they came. */
#define WATCH(FIELD) FIELD(u64, count) FIELD(u64, trace) FIELD(u64, reminded) FIELD(u64, since)
GYRE_MESSAGE(watch, WATCH)
#define REMINDED_AS UINT64_C(0x9e3779b97f4a7c15)

#endif
