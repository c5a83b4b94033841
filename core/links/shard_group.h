/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind gyre_shards: several queues ("rings") of a kernel behind one name. The kernel's list of shards is under
 * kernel->lock. */
#ifndef GYRE_CORE_LINKS_SHARD_GROUP_H
#define GYRE_CORE_LINKS_SHARD_GROUP_H

#include "core/queue/wait_any.h"
#include "core/types/key.h"
#include "gyre/shards.h"

enum { GYRE_SHARD_THREADS = 4096 }; /* threads that keep a ring of their own, by their first sends */

struct gyre_shards {
    /* constant after opening */
    gyre_kernel *kernel; /* NULL: `joined` */
    bool owns_queues;    /* with `joined`: they are closed with the shards */
    bool joined;         /* over queues of several kernels (shards_join.h), which their owner closes */
    char name[GYRE_QUEUE_NAME_MAX];
    uint32_t count;
    gyre_shard_rule rule;
    struct gyre_message_key key; /* the field that chooses the ring, with GYRE_SHARD_KEY */
    gyre_queue *queues[GYRE_QUEUES_MAX];

    struct gyre_shards *next; /* in the kernel's list; under kernel->lock */

    /* With GYRE_SHARD_PRODUCER: the ring of each thread, plus 1; 0: the thread sent nothing yet. Only that thread writes it. */
    uint8_t ring_of[GYRE_SHARD_THREADS];

    _Alignas(GYRE_LINE_SIZE) uint32_t turn;   /* atomic: rings handed out, to threads or to messages */
    _Alignas(GYRE_LINE_SIZE) uint32_t cursor; /* atomic: the ring that the next receive looks at first */
    uint32_t closing;                         /* atomic: nonzero makes receivers return */
    uint32_t inside;                          /* atomic: threads inside a receive that may wait */
};

#endif
