/* SPDX-License-Identifier: Apache-2.0 */
/* Queues by which requests are handled again (repeaters.h). Lock: pipeline->lock. */
#include "core/links/repeaters.h"

#include "core/dispatch/dispatch.h"
#include "core/kernel/node_keep.h"
#include "core/kernel/overtaken.h"
#include "core/links/station.h"

gyre_queue *gyre_repeaters_find(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].repeats && pipeline->entries[i].node == node)
            return pipeline->entries[i].queue;
    return NULL;
}

/* ---- requests that were overtaken ---- */

bool gyre_repeaters_are_needed(const gyre_pipeline *pipeline)
{
    const struct gyre_node_facts *first = &pipeline->nodes[0].facts;
    return first->in_worker && !gyre_dispatch_device_info(first->device)->can_skip;
}

/* Whether what comes by the entry goes by its node's repeater when it was overtaken. One that is hidden is being taken back. */
static bool is_repeated(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry)
{
    return entry->queue && !entry->repeats && !entry->hidden &&
           gyre_repeaters_find(pipeline, entry->node) != NULL;
}

gyre_status gyre_repeaters_add_entry(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry)
{
    return gyre_repeaters_are_needed(pipeline) && is_repeated(pipeline, entry)
               ? gyre_node_set_repeater(entry->queue, gyre_repeaters_find(pipeline, entry->node))
               : GYRE_OK;
}

bool gyre_repeaters_prepare(const gyre_pipeline *pipeline)
{
    bool found = false;
    if (!gyre_repeaters_are_needed(pipeline))
        return false;
    for (int i = 0; i < pipeline->entry_count; i++) {
        if (pipeline->entries[i].repeats)
            gyre_node_empty_repeater(pipeline->entries[i].queue);
        else if (is_repeated(pipeline, &pipeline->entries[i]))
            found = found || gyre_node_has_overtaken(pipeline->entries[i].queue);
    }
    for (int i = 0; i < pipeline->entry_count; i++)
        if (is_repeated(pipeline, &pipeline->entries[i]))
            gyre_node_set_repeats(pipeline->entries[i].queue, found);
    return found;
}

/* Of the pipeline of a part, what a request sends elsewhere says that it is of the repeater's. */
static void begins(void *context, const gyre_queue *entry, uint32_t number, uint64_t index)
{
    const gyre_pipeline *pipeline = context;
    if (pipeline->outlets)
        gyre_stations_repeat(pipeline, entry, number, index);
}

static void settled(void *context)
{
    const gyre_pipeline *pipeline = context;
    if (pipeline->outlets)
        gyre_stations_repeated(pipeline);
}

gyre_status gyre_repeaters_repeat(gyre_pipeline *pipeline, bool (*watch)(void *context, uint64_t deadline_ns))
{
    const struct gyre_overtaken_calls calls = {
        .watch = watch, .begins = begins, .settled = settled, .context = pipeline};
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->entry_count && status == GYRE_OK; i++)
        if (is_repeated(pipeline, &pipeline->entries[i]))
            status = gyre_node_repeat_overtaken(pipeline->entries[i].queue, &calls);
    return status;
}

void gyre_repeaters_end(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (is_repeated(pipeline, &pipeline->entries[i]))
            gyre_node_end_repeats(pipeline->entries[i].queue);
}
