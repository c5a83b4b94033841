/* SPDX-License-Identifier: Apache-2.0 */
/* Shares a full queue among senders that do not wait but ask again and again (a storm). storm_rules.c explains the rules. */
#ifndef GYRE_CORE_QUEUE_STORM_H
#define GYRE_CORE_QUEUE_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

enum { GYRE_STORM_SENDERS = 64 };

struct gyre_storm {
    uintptr_t last; /* the thread that was turned away last; 0: no thread was */
    uint64_t count; /* how often any thread was turned away */
    uint32_t calm;  /* messages since a thread was turned away last */
    struct {
        uintptr_t thread;
        uint64_t count, own; /* the storm's `count` when the thread last sent; its refusals since then */
        bool put_off;        /* the thread was put off since then */
    } senders[GYRE_STORM_SENDERS];
};

#endif
