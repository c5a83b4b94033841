/* SPDX-License-Identifier: Apache-2.0 */
/* What test_canary sends. `version` says which handler it was. */
#ifndef GYRE_TESTS_QUOTE_H
#define GYRE_TESTS_QUOTE_H

#include <gyre/message.h>

#define QUOTE_ASKED(FIELD) FIELD(u64, account) FIELD(u64, price)
GYRE_MESSAGE(quote_asked, QUOTE_ASKED)

#define QUOTE_GIVEN(FIELD) FIELD(u64, total) FIELD(u64, count) FIELD(u64, version)
GYRE_MESSAGE(quote_given, QUOTE_GIVEN)

#endif
