/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeaters: queues of a pipeline's own, one at each node that clients enter by. After the death of a worker process, requests of clients
 * are handled again by way of a repeater. Two cases need one: stages with checkpoints (kept.h), and devices that do not pass over requests
 * which have a completion already (can_skip).
 *
 * The second case: flows end out of turn, so some requests of a queue have a completion behind one that has none. Such a device would begin the
 * flows of these once more, and write a second completion over one that a client may be reading. So each request without a completion that
 * others have overtaken goes through the repeater, one at a time, and its completion is handed over. The device sees the clients' queue when
 * none of them is left. So it is with the queue of another program, too, which may write what it likes there meanwhile: its request is copied once,
 * and the repeater lies in memory that no client sees. Its completion holds nothing of what others sent before, as that of any queue of another
 * program (link_memory.c). A queue that is being taken back is left as it is: who had it is gone.
 */
#ifndef GYRE_CORE_LINKS_REPEATERS_H
#define GYRE_CORE_LINKS_REPEATERS_H

#include "core/links/pipeline.h"

/** Opens one at each node that clients enter by. `most`: requests that go by one of them at once, at least 1. Nobody has the pipeline yet. */
gyre_status gyre_repeaters_open(gyre_pipeline *pipeline, uint64_t most);
/** The one of a node; NULL: there is none. */
gyre_queue *gyre_repeaters_find(const gyre_pipeline *pipeline, int node);

/** Whether the pipeline needs them for what others overtake. */
bool gyre_repeaters_are_needed(const gyre_pipeline *pipeline);
/** All entries of a pipeline that needs them are open: opens them. No effect on another one. */
gyre_status gyre_repeaters_begin(gyre_pipeline *pipeline);
/** One more entry, which nobody has yet, has the repeater of its node from here on. INVALID: its headers have another size. */
gyre_status gyre_repeaters_add_entry(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry);
/**
 * All stages are in another worker process, and none has its links yet. Whether some requests were overtaken: then the entries are shown when
 * gyre_repeaters_repeat is through. Under pipeline->lock.
 */
bool gyre_repeaters_prepare(const gyre_pipeline *pipeline);
/** Has these handled. `watch`: as in gyre_node_repeat. LOST when the worker died. Under pipeline->lock. */
gyre_status gyre_repeaters_repeat(gyre_pipeline *pipeline,
                                  bool (*watch)(void *context, uint64_t deadline_ns));
/** Shows the entries. */
void gyre_repeaters_end(const gyre_pipeline *pipeline);

#endif
