/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues a pipeline with checkpoints may have, and what leads them (kept.h). Lock: pipeline->lock. */
#include "core/links/kept.h"

#include "core/base/error.h"
#include "core/kernel/node_keep.h"
#include "core/links/pipeline.h"
#include "core/links/repeaters.h"

/* The flows of an entry, where they say when its requests were taken; NULL: they do not. */
static const gyre_flow *find_times(const struct gyre_pipeline_entry *entry)
{
    const unsigned char *host = (const unsigned char *)entry->flows.host;
    return host && gyre_node_entry_is_timed(entry->queue)
               ? (const gyre_flow *)(const void *)(host + sizeof(gyre_flow_head))
               : NULL;
}

gyre_status gyre_keep_check_entry(const gyre_pipeline *pipeline, int node, const struct gyre_entry_wish *wish)
{
    if (!pipeline->keep.leader)
        return GYRE_OK;
    if (wish->lent)
        return gyre_error_set(
            GYRE_INVALID,
            "pipeline '%s' has checkpoints, and takes no other programs: what one of them sent could not be handled again "
            "when it has left",
            pipeline->name);
    if (pipeline->keep.journal)
        return gyre_error_set(
            GYRE_INVALID,
            "pipeline '%s' has a journal, and one queue: in which order it took requests of several could not be "
            "repeated by a later run",
            pipeline->name);
    const gyre_kernel *kernel = pipeline->nodes[node].kernel;
    const bool is_first_timed = find_times(&pipeline->entries[0]) != NULL;
    if (is_first_timed && gyre_node_is_timed(kernel))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "pipeline '%s' has checkpoints, and has several queues only where it is known in which order it took their "
        "requests, so that it can be repeated: set timing = true for kernel '%s'",
        pipeline->name, pipeline->nodes[is_first_timed ? node : pipeline->entries[0].node].facts.name);
}

gyre_status gyre_keep_add_entry(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    const struct gyre_pipeline_keep *keep = &pipeline->keep;
    if (!keep->leader)
        return gyre_repeaters_add_entry(pipeline, entry);
    const gyre_status status = gyre_node_lead(keep->leader, entry->queue,
                                              gyre_repeaters_find(pipeline, entry->node), find_times(entry));
    entry->is_led = status == GYRE_OK;
    if (entry->is_led && keep->holds)
        gyre_node_hold_entry(entry->queue);
    return status;
}
