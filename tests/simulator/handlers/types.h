/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the handlers with planted mistakes. */
#ifndef GYRE_TESTS_SIMULATOR_TYPES_H
#define GYRE_TESTS_SIMULATOR_TYPES_H

#include <gyre/message.h>

#define ASK(FIELD) FIELD(u32, values[16]) FIELD(u32, which)
GYRE_MESSAGE(ask, ASK)
#define ANSWER(FIELD) FIELD(u32, sum) FIELD(u32, sums[16])
GYRE_MESSAGE(answer, ANSWER)
#define KEPT(FIELD) FIELD(u32, counts[16]) FIELD(u64, total)
GYRE_MESSAGE(kept, KEPT)

#endif
