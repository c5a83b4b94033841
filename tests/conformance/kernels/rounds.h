/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of pipelines with rounds. */
#ifndef GYRE_CONFORMANCE_ROUNDS_H
#define GYRE_CONFORMANCE_ROUNDS_H

#include <gyre/message.h>

/* `rounds`: how many the request wants; `left`: how many links the message goes round yet; `total`: of a reply. */
#define STEP(FIELD)                                                                                          \
    FIELD(u64, number)                                                                                       \
    FIELD(u64, total) FIELD(u32, rounds) FIELD(u32, left) FIELD(u32, what) FIELD(u32, round)
GYRE_MESSAGE(step, STEP)
enum {
    STEP_ON = 0,
    STEP_BY_TURNS = 1,
    STEP_FAILS = 2,
    STEP_SILENT = 3,
    STEP_TWICE = 4,
    STEP_POLLS = 5,
    STEP_MOST = 8
};

/* How many messages round `round` has; 0: what the request itself causes. */
#define STEP_WIDTH(round) (1 + 5 * (round) % STEP_MOST)

#define STEP_NOTE(FIELD) FIELD(u32, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(step_note, STEP_NOTE, 40)

#endif
