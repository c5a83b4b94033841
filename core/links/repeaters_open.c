/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the queues of repeaters.h, as entries of the pipeline: entries themselves ask repeaters.c. Lock: pipeline->lock. */
#include "core/base/error.h"
#include "core/kernel/node_keep.h"
#include "core/links/repeaters.h"

enum { SLOTS_MAX = 1024 };

static gyre_status open_one(gyre_pipeline *pipeline, int node, uint64_t most)
{
    gyre_queue *repeater = NULL;
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = 1, .policy = GYRE_FULL_REJECT};
    while (desc.capacity < SLOTS_MAX && desc.capacity < most)
        desc.capacity *= 2;
    const struct gyre_entry_wish wish = {.desc = &desc, .section = pipeline->name, .repeats = true};
    const gyre_status status = gyre_entries_open(pipeline, node, &wish, &repeater);
    if (status != GYRE_OK)
        return gyre_error_add(status, "for requests that are handled again");
    gyre_node_reserve_entry(repeater);
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue == repeater)
            pipeline->entries[i].repeats = true;
    return GYRE_OK;
}

gyre_status gyre_repeaters_open(gyre_pipeline *pipeline, uint64_t most)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (pipeline->nodes[i].enters)
            status = open_one(pipeline, i, most);
    return status;
}

gyre_status gyre_repeaters_begin(gyre_pipeline *pipeline)
{
    gyre_status status = gyre_repeaters_are_needed(pipeline) ? gyre_repeaters_open(pipeline, 1) : GYRE_OK;
    for (int i = 0; i < pipeline->entry_count && status == GYRE_OK; i++)
        status = gyre_repeaters_add_entry(pipeline, &pipeline->entries[i]);
    return status;
}
