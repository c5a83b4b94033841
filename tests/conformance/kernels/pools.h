/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of pools: work that any member takes, and work that makes more of it. */
#ifndef GYRE_CONFORMANCE_POOLS_H
#define GYRE_CONFORMANCE_POOLS_H

#include <gyre/message.h>

/* `left`: how deep the tree below it is; `wide`: its children; `leaves`: of a reply, those of the whole tree. */
#define PREY(FIELD)                                                                                          \
    FIELD(u64, number) FIELD(u64, leaves) FIELD(u32, left) FIELD(u32, wide) FIELD(u32, what) FIELD(u32, sum)
GYRE_MESSAGE(prey, PREY)
enum { PREY_HUNT = 0, PREY_BY_TURNS = 1, PREY_FAILS = 2, PREY_MOST = 3 };

/* What is open of a flow (from bit 40 on), and the leaves that were found: one word, so whoever closes it sees all of them. */
#define HAUL(FIELD) FIELD(u64, word)
GYRE_MESSAGE(haul, HAUL)
enum { HAUL_OPEN = 40 };

#define BULK(FIELD) FIELD(u64, number) FIELD(u32, left) FIELD(u32, good) FIELD(u64, w[2000])
GYRE_MESSAGE(bulk, BULK)

#endif
