/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients that a shard knows, and the number of each one's last request. Part of the shard's state: it is in every checkpoint, and
 * changes by the blocks of in.SHARD alone, so that each owner of the shard passes over the same requests. One thread.
 */
#ifndef GYRE_CORE_CLUSTER_CALLERS_H
#define GYRE_CORE_CLUSTER_CALLERS_H

#include "core/cluster/format.h"

/* When more clients come, the one whose last block is the oldest is forgotten: a request of it that comes again is handled again. */
enum { GYRE_CALLERS_MAX = 4096 };

struct gyre_callers {
    struct gyre_cluster_caller *list; /* room for GYRE_CALLERS_MAX */
    size_t count;
};

/** EXHAUSTED. */
gyre_status gyre_callers_init(struct gyre_callers *callers);
void gyre_callers_finish(struct gyre_callers *callers);
/** The client, made with number 0 if it is not known; its position becomes `position`. Valid until the next call. */
struct gyre_cluster_caller *gyre_callers_note(struct gyre_callers *callers,
                                              const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                              uint64_t position);

#endif
