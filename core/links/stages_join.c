/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels become stages of a pipeline (joined.h). */
#include "core/links/joined.h"

#include "core/kernel/protocol.h"
#include "core/kernel/visit.h"
#include "core/links/pipeline.h"

static gyre_status join_nodes(gyre_pipeline *pipeline)
{
    gyre_pipeline *whole = pipeline->whole ? pipeline->whole : pipeline;
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++) {
        if (pipeline->nodes[i].part)
            continue; /* the pipeline of its part joins it */
        status = gyre_node_join(pipeline->nodes[i].kernel, &whole->guest, whole->name);
        pipeline->nodes[i].joined = status == GYRE_OK;
    }
    return status;
}

/* Gives the queues of each entry their types: the entry's requests, the answers' replies. */
static gyre_status make_faces(gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++) {
        struct gyre_kernel_face *face = &pipeline->faces[i];
        if (!pipeline->nodes[i].enters)
            continue;
        *face = (struct gyre_kernel_face){
            .record = &pipeline->records[i], .enters_pipeline = true, .passes_on = pipeline->whole != NULL};
        status = gyre_kernel_types_create(pipeline->name, face->record->request, face->record->reply,
                                          &face->types);
    }
    return status;
}

gyre_status gyre_stages_join(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = make_faces(pipeline);
    if (status == GYRE_OK)
        status = join_nodes(pipeline);
    return status == GYRE_OK ? gyre_link_memory_create(pipeline, wiring) : status;
}

void gyre_stages_leave(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].joined)
            gyre_node_leave(pipeline->nodes[i].kernel);
}

void gyre_stages_leave_used(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].joined)
            gyre_node_leave_used(pipeline->nodes[i].kernel);
}

void gyre_stages_free(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        gyre_kernel_types_destroy(pipeline->faces[i].types);
    gyre_link_memory_destroy(pipeline);
}

bool gyre_stages_are_behind(const gyre_pipeline *pipeline, bool *lost)
{
    bool behind = false;
    for (int i = 0; i < pipeline->node_count; i++) {
        struct gyre_node_facts facts = pipeline->nodes[i].facts;
        if (pipeline->nodes[i].part)
            continue;
        *lost |= gyre_kernel_get_state(pipeline->nodes[i].kernel) == GYRE_KERNEL_LOST;
        behind |= facts.in_worker && gyre_node_find(pipeline->nodes[i].kernel, &facts);
    }
    return behind;
}

bool gyre_stages_are_there(const gyre_pipeline *pipeline)
{
    bool lost = false;
    return !gyre_stages_are_behind(pipeline, &lost) && !lost;
}
