/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories of a cluster: two members and one shard, nothing goes wrong but one thing, and what has to come of it is known. A drained member has the
 * shard, and the other one comes; or the shard is ordered to that one.
 */
#ifndef GYRE_TESTS_CLUSTER_STORIES_H
#define GYRE_TESTS_CLUSTER_STORIES_H

#include "core/cluster/member.h"
#include "core/device/runtime.h"
#include "double.h"
#include "fibers.h"
#include "memory_transport.h"

struct member {
    struct process *process;
    struct gyre_member *its; /* valid while the process is alive; NULL: it does not work yet */
    struct gyre_runtime runtime;
    struct sim_health health;
    struct link_cut cut;
    char name[8];
    bool is_to_stop;
    uint64_t start_ns; /* when it is started, unless it is there */
    uint64_t well_ns;  /* until when its health is as it is */
};

/** What is with the member that comes, or with the shard. */
enum story {
    NO_STORY,
    STORY_DIES,
    STORY_CANNOT_ACTIVATE,
    STORY_CANNOT_SEND,
    STORY_NOTHING_WAS_SENT,
    STORY_IS_INTERRUPTED,
    STORY_COMES_BACK, /* the member that comes cannot restore the shard */
    STORIES_OF_SHARDS = STORY_COMES_BACK,
    STORY_LOGS_ARE_AWAY /* no log takes a block for longer than replies are tried, while the lease is renewed; no member comes */
};

struct stage {
    enum story story;
    uint64_t lease_ns;
    struct gyre_transport *transport; /* the operator's */
    struct member *owner, *other;     /* the other one is not there yet */
    void (*tend_members)(void);       /* starts members whose time has come */
};

/** Requests were handled before, or none ever was sent. A violation when it ends otherwise than it has to. */
void story_tell(const struct stage *stage);

#endif
