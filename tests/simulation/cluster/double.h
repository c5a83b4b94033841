/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of the simulation: a double behind the calls that core/cluster makes of a keyed actor (launch, send, receive, its table), linked in
 * their place by --wrap. A real kernel answers from threads of its own, which no seed decides about. A handler takes virtual time, in which its
 * process may die.
 */
#ifndef GYRE_TESTS_CLUSTER_DOUBLE_H
#define GYRE_TESTS_CLUSTER_DOUBLE_H

#include <stdbool.h>

#include "gyre/message.h"

#define SIM_REQUEST(FIELD) FIELD(u64, account) FIELD(u64, amount) FIELD(u64, more)
GYRE_MESSAGE(sim_request, SIM_REQUEST)
#define SIM_STATE(FIELD) FIELD(u64, count) FIELD(u64, trace)
GYRE_MESSAGE(sim_state, SIM_STATE)
#define SIM_REPLY(FIELD) FIELD(u64, amount) FIELD(u64, count) FIELD(u64, trace)
GYRE_MESSAGE(sim_reply, SIM_REPLY)

/* The table of keys has two pieces of a checkpoint; no state lies in both. */
enum { SIM_ACCOUNTS = 24, SIM_STRIDE = 3072, SIM_TABLE = SIM_ACCOUNTS * SIM_STRIDE, SIM_REFUSED_CODE = 7 };

/** What the handler does, in the upper bits of an amount; below them is a number that one request of a run has. */
enum sim_kind {
    SIM_PLAIN = 0,
    SIM_REFUSED = 1,
    SIM_POISON = 2,
    SIM_TARDY = 3,
    SIM_SHORT = 4,
    SIM_SILENT = 5
};
#define SIM_AMOUNT(kind, serial) ((uint64_t)(kind) << 56 | (serial))
#define SIM_KIND(amount)         ((enum sim_kind)((amount) >> 56))
#define SIM_SERIAL(amount)       ((amount)&UINT64_C(0xffffffff))

static inline void sim_handle(sim_state *state, uint64_t amount)
{
    state->count++;
    state->trace = (state->trace ^ amount) * UINT64_C(0xff51afd7ed558ccd);
    state->trace ^= state->trace >> 33;
}

/** How a process's kernels fare; a process's `user` points to one. */
struct sim_health {
    bool cannot_launch, cannot_restore, cannot_activate, cannot_send; /* the kernels of shards */
    uint64_t launches;                                                /* of them */
    uint64_t handler_ns, tardy_ns; /* most of the time that a handler takes */
    bool is_helped;                /* a shard's thread handles its requests itself */
};

#endif
