/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues through which clients use a pipeline: those of this program, which stay until its end, and those of other programs,
 * which come and go (lend.h). Lock: pipeline->lock.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/links/kept.h"
#include "core/links/lend.h"
#include "core/links/pipeline.h"
#include "core/queue/end.h"

/* ---- opening ---- */

int gyre_entries_first(const gyre_pipeline *pipeline)
{
    int node = 0;
    while (!pipeline->nodes[node].enters)
        node++;
    return node;
}

static gyre_status find_entry(const gyre_pipeline *pipeline, const char *name, int *node)
{
    *node = gyre_entries_first(pipeline);
    if (!name)
        return GYRE_OK;
    for (*node = 0; *node < pipeline->node_count; (*node)++)
        if (pipeline->nodes[*node].enters && strcmp(pipeline->nodes[*node].facts.name, name) == 0)
            return GYRE_OK;
    return gyre_error_set(GYRE_NOT_FOUND, "kernel '%s' is no entry of pipeline '%s'; '%s' is one", name,
                          pipeline->name, pipeline->nodes[gyre_entries_first(pipeline)].facts.name);
}

/* A free place for an entry, or NULL. */
static struct gyre_pipeline_entry *find_place(gyre_pipeline *pipeline)
{
    int number = 0;
    while (number < pipeline->entry_count && pipeline->entries[number].queue)
        number++;
    return number < GYRE_ENTRIES_MAX ? &pipeline->entries[number] : NULL;
}

static void count_in(gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry)
{
    const int number = (int)(entry - pipeline->entries);
    pipeline->entry_count = number < pipeline->entry_count ? pipeline->entry_count : number + 1;
}

/* Frees an entry that no block knows. */
static void free_entry(struct gyre_pipeline_entry *entry)
{
    gyre_node_close_entry(entry->queue);
    gyre_link_store_release(&entry->flows);
    *entry = (struct gyre_pipeline_entry){.queue = NULL};
}

/* ---- taking back ---- */

/* Keeps blocks from taking more requests of the entry, once they obey. */
static void hide_entry(const gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    gyre_queue_close_sends(entry->queue);
    gyre_node_hide_entry(entry->queue);
    entry->command = gyre_node_tell(pipeline->nodes[entry->node].kernel);
    entry->hidden = true;
}

/* Gives all nodes tables without the entry. TIMEOUT is no failure: gyre_link_memory_let_go says when the old ones are gone. */
static gyre_status drop_entry(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    entry->dropped = true;
    gyre_status status = gyre_link_memory_distribute(pipeline);
    entry->turn = pipeline->turn;
    entry->dropped = status == GYRE_OK || status == GYRE_TIMEOUT;
    entry->stuck =
        !entry->dropped && status != GYRE_EXHAUSTED; /* without memory: the next call tries again */
    if (entry->stuck)
        gyre_runtime_log(pipeline->runtime, GYRE_LOG_ERROR,
                         "%s; the memory of a client's queue stays until pipeline '%s' is closed",
                         gyre_error_text(), pipeline->name);
    return entry->dropped ? GYRE_OK : status;
}

/* One step after the other, as far as blocks and flows have come. Never waits for a handler whose entry is hidden already. */
static enum gyre_taken_back take_back(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    bool settled = false;
    gyre_kernel *kernel = pipeline->nodes[entry->node].kernel;
    if (pipeline->closing || entry->stuck)
        return GYRE_BACK_LEFT;
    if (!entry->hidden) {
        hide_entry(pipeline, entry);
        gyre_node_await(kernel);
    }
    if (!gyre_node_obeyed(kernel, entry->command))
        return GYRE_BACK_BUSY;
    if (!entry->dropped) {
        if (gyre_link_memory_settled(pipeline, entry, &settled) != GYRE_OK || !settled)
            return GYRE_BACK_WAITS;
        if (drop_entry(pipeline, entry) != GYRE_OK)
            return entry->stuck ? GYRE_BACK_LEFT : GYRE_BACK_WAITS;
    }
    if (!gyre_link_memory_let_go(pipeline, entry->turn))
        return GYRE_BACK_BUSY;
    free_entry(entry);
    return GYRE_BACK_FREED;
}

/* Frees what was kept for handlers that have returned since. Returns whether an entry that nobody got is left. */
static bool take_orphans_back(gyre_pipeline *pipeline)
{
    bool left = false;
    gyre_link_memory_let_go(pipeline, pipeline->turn);
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue && pipeline->entries[i].orphaned)
            left |= take_back(pipeline, &pipeline->entries[i]) != GYRE_BACK_FREED;
    return left;
}

/* ---- opening, with all blocks told ---- */

gyre_status gyre_entries_open(gyre_pipeline *pipeline, int node, const struct gyre_entry_wish *wish,
                              gyre_queue **out)
{
    if (pipeline->shut)
        return gyre_error_set(GYRE_CLOSED, "pipeline '%s' takes no more requests", pipeline->name);
    if (take_orphans_back(pipeline)) /* one at most: who asks again and again takes no more memory */
        return gyre_error_set(
            GYRE_TIMEOUT,
            "a handler of pipeline '%s' has not returned since the last queue was asked for: "
            "queues are opened again when it has",
            pipeline->name);
    struct gyre_pipeline_entry *entry = find_place(pipeline);
    if (!entry)
        return gyre_error_set(GYRE_EXHAUSTED, "pipeline '%s' has %d queues, which is the most",
                              pipeline->name, GYRE_ENTRIES_MAX);
    gyre_status status = gyre_keep_check_entry(pipeline, node, wish);
    if (status != GYRE_OK)
        return status;
    *entry = (struct gyre_pipeline_entry){.node = node};
    struct gyre_kernel_face face = pipeline->faces[node];
    face.kept = wish->kept;
    face.repeats = wish->repeats;
    status = gyre_node_open_entry(pipeline->nodes[node].kernel, &face, wish->desc, wish->section, wish->lent,
                                  &entry->queue);
    if (status != GYRE_OK)
        return status;
    count_in(pipeline, entry);
    gyre_node_number_entry(entry->queue, (uint32_t)(entry - pipeline->entries));
    status = gyre_link_memory_flows(pipeline, entry);
    if (status == GYRE_OK)
        status = gyre_link_memory_distribute(pipeline);
    bool is_known = status == GYRE_OK || status == GYRE_TIMEOUT; /* a block may have a table that names it */
    if (status == GYRE_OK)
        status = gyre_keep_add_entry(pipeline, entry);
    if (status == GYRE_OK) {
        if (!wish->is_first)
            gyre_node_show_entry(entry->queue);
        *out = entry->queue;
    } else if (is_known) {
        gyre_error_hold();
        hide_entry(pipeline, entry);
        gyre_error_let_go();
        entry->orphaned = true;
    } else {
        free_entry(entry);
    }
    return status;
}

gyre_status gyre_pipeline_queue_open(gyre_pipeline *pipeline, const char *entry, const gyre_queue_desc *desc,
                                     gyre_queue **out)
{
    gyre_queue_desc given = {.size = sizeof given};
    int node;
    if (!pipeline || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_pipeline_queue_open", {"pipeline", pipeline}, {"out", out},
                              GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_status status = gyre_runtime_check_own(pipeline->runtime, "gyre_pipeline_queue_open");
    if (status == GYRE_OK)
        status = find_entry(pipeline, entry, &node);
    if (status != GYRE_OK)
        return status;
    const struct gyre_entry_wish wish = {.desc = &given, .section = given.name ? given.name : ""};
    pthread_mutex_lock(&pipeline->lock);
    status = gyre_entries_open(pipeline, node, &wish, out);
    pthread_mutex_unlock(&pipeline->lock);
    return status == GYRE_OK ? status : gyre_error_add(status, "pipeline '%s'", pipeline->name);
}

gyre_queue *gyre_pipeline_queue(gyre_pipeline *pipeline)
{
    return pipeline ? pipeline->entries[0].queue : NULL; /* nobody has a pipeline before this queue is open */
}

/* ---- lending ---- */

gyre_status gyre_pipeline_lend(gyre_pipeline *pipeline, const char *entry, const gyre_queue_desc *desc,
                               struct gyre_queue_options *options, gyre_kernel **kernel, gyre_queue **out)
{
    int node;
    *out = NULL;
    gyre_status status = find_entry(pipeline, entry, &node);
    if (status != GYRE_OK)
        return status;
    const struct gyre_entry_wish wish = {.desc = desc, .section = pipeline->name, .lent = options};
    pthread_mutex_lock(&pipeline->lock);
    *kernel = pipeline->nodes[node].kernel;
    status = gyre_entries_open(pipeline, node, &wish, out);
    if (status == GYRE_OK)
        gyre_node_hold(*kernel);
    pthread_mutex_unlock(&pipeline->lock);
    return status;
}

gyre_status gyre_pipeline_check_lent(gyre_pipeline *pipeline)
{
    struct gyre_queue_options options = {0};
    const struct gyre_entry_wish wish = {.section = pipeline->name, .lent = &options};
    pthread_mutex_lock(&pipeline->lock);
    const gyre_status status = gyre_keep_check_entry(pipeline, gyre_entries_first(pipeline), &wish);
    pthread_mutex_unlock(&pipeline->lock);
    return status;
}

static struct gyre_pipeline_entry *entry_of(gyre_pipeline *pipeline, const gyre_queue *queue)
{
    struct gyre_pipeline_entry *entry = pipeline->entries;
    while (entry->queue != queue)
        entry++;
    return entry;
}

enum gyre_taken_back gyre_pipeline_take_back(gyre_pipeline *pipeline, gyre_queue *queue)
{
    pthread_mutex_lock(&pipeline->lock);
    const enum gyre_taken_back how = take_back(pipeline, entry_of(pipeline, queue));
    pthread_mutex_unlock(&pipeline->lock);
    return how;
}
