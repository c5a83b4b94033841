/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the error of a case while the case cleans up. */
#ifndef GYRE_CLI_BENCH_STORY_H
#define GYRE_CLI_BENCH_STORY_H

#include "cli/bench/bench.h"

/** A failure that is kept during a clean-up, because the clean-up sets errors of its own. */
typedef struct bench_story {
    gyre_status status;
    char text[1024];
} bench_story;
void bench_story_take(bench_story *story, gyre_status status);
/** Sets the error again, with the case's name before it, and returns its status. */
gyre_status bench_story_tell(const bench_story *story, const bench_case *self);

#endif
