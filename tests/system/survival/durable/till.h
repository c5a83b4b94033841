/* SPDX-License-Identifier: Apache-2.0 */
/* A till takes amounts, and tells what is in it: a query, of which a journal keeps nothing. */
#ifndef GYRE_TESTS_TILL_H
#define GYRE_TESTS_TILL_H

#include <gyre/message.h>

#define TILL_PUT(FIELD) FIELD(u64, amount) FIELD(u64, mark)
GYRE_MESSAGE(till_put, TILL_PUT)
#define TILL_ASK(FIELD) FIELD(u64, marks[4])
GYRE_MESSAGE(till_ask, TILL_ASK)
#define TILL_SUM(FIELD) FIELD(u64, sum) FIELD(u64, puts)
GYRE_MESSAGE(till_sum, TILL_SUM)

#define TILL(TAKES) TAKES(till_put, till_sum) TAKES(till_ask, till_sum)
GYRE_PROTOCOL(till, TILL)

#endif
