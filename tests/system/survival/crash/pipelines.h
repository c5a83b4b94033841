/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a pipeline whose handlers crash when they are told to: `at` says at which of its kernels. */
#ifndef GYRE_TESTS_CRASH_PIPELINES_H
#define GYRE_TESTS_CRASH_PIPELINES_H

#include <gyre/message.h>

#include "crash.h"

enum { STEP_DEAL = 1, STEP_LEFT = 2, STEP_RIGHT = 3, STEP_GATHER = 4, STEP_KEEP = 5 };

/* `parts`: so many messages go to each side; 0: the flow ends without a reply. */
#define CRASH_STEP(FIELD)                                                                                    \
    FIELD(u32, fault) FIELD(u32, always) FIELD(u32, at) FIELD(u32, parts) FIELD(u64, number)
GYRE_MESSAGE(crash_step, CRASH_STEP)

#define CRASH_GATHERED(FIELD) FIELD(u64, sum) FIELD(u64, seen)
GYRE_MESSAGE(crash_gathered, CRASH_GATHERED)

#endif
