/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a handler that several clients use, and that knows what each of them sent. */
#ifndef GYRE_TESTS_TELLER_H
#define GYRE_TESTS_TELLER_H

#include <gyre/message.h>

#define TELLER_CLIENTS 8

/* `number` 0 asks what there is and changes nothing. `fault` 1: the worker crashes, once for this number. */
#define TELLER_REQUEST(FIELD) FIELD(u32, client) FIELD(u32, fault) FIELD(u64, number)
GYRE_MESSAGE(teller_request, TELLER_REQUEST)

/* `wrong` counts what did not follow on the one before. */
#define TELLER_REPLY(FIELD) FIELD(u64, number) FIELD(u64, hash) FIELD(u64, wrong)
GYRE_MESSAGE(teller_reply, TELLER_REPLY)

#define TELLER_STATE(FIELD) FIELD(teller_reply, accounts[TELLER_CLIENTS])
GYRE_MESSAGE(teller_state, TELLER_STATE)

#endif
