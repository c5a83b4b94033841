/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that go round, and what they come to. */
#ifndef GYRE_CONFORMANCE_CYCLES_H
#define GYRE_CONFORMANCE_CYCLES_H

#include <gyre/message.h>

#define WALK(FIELD) FIELD(u64, number) FIELD(u64, sum) FIELD(u32, left) FIELD(u32, what)
GYRE_MESSAGE(walk, WALK)
#define PARTIAL(FIELD) FIELD(u64, sum) FIELD(u64, seen)
GYRE_MESSAGE(partial, PARTIAL)
enum { WALK_ON = 0, WALK_TELL = 1, WALK_FAIL = 2, WALK_ANSWER = 3 };

#endif
