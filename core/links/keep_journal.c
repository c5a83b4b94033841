/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a pipeline that has a journal (kept.h), before anybody has it. The entry is hidden from its blocks while requests of an earlier run come
 * into it; what the stages keep becomes what the journal holds, all at one moment, as with a checkpoint; then requests since that checkpoint
 * are handled again.
 *
 * When a worker process dies meanwhile, recovery lets the stages have their last checkpoints, but does not know the pipeline, which is not listed
 * yet. So once the stages have what the journal holds, a death is no failure: gyre_pipeline_catch_up links them again and has the requests
 * handled, as behind any other death. Before, opening fails, and the journal is as it was.
 */
#include "core/links/keep_journal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/keeper.h"
#include "core/kernel/kernel.h"
#include "core/kernel/node_keep.h"
#include "core/links/joined.h"
#include "core/links/pipeline.h"

/* ---- the stages ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x100000001b3);
}

/* All that decides to whom a message goes, and whether it may be missed. */
static uint64_t hash_link(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const char *const texts[] = {pipeline->nodes[link->from].facts.name,
                                 link->sends.name,
                                 link->to == GYRE_NODE_NOWHERE ? "" : pipeline->nodes[link->to].facts.name,
                                 link->topic,
                                 link->pool,
                                 link->key.path};
    const uint64_t numbers[] = {link->order, link->slow, link->key.wish, link->level, link->choice};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        hash = hash_text(hash, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hash = hash_number(hash, numbers[i]);
    return hash;
}

/* A sum, because the order in which links and answers were named changes nothing. */
static uint64_t hash_wiring(const gyre_pipeline *pipeline)
{
    uint64_t sum = 0;
    for (int i = 0; i < pipeline->link_count; i++)
        sum += hash_link(pipeline, &pipeline->links[i]);
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].answers)
            sum += hash_text(0, pipeline->nodes[i].facts.name);
    return sum;
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(((const struct gyre_kept_stage *)one)->name, ((const struct gyre_kept_stage *)other)->name);
}

const struct gyre_kept_stages *gyre_keep_find_stages(const gyre_pipeline *pipeline,
                                                     struct gyre_kept_stages *stages)
{
    _Static_assert((int)GYRE_KEPT_STAGES_MAX >= (int)GYRE_NODES_MAX, "a place for each stage");
    *stages = (struct gyre_kept_stages){.pipeline = pipeline->name, .wiring = hash_wiring(pipeline)};
    for (int i = 0; i < pipeline->node_count; i++) {
        const struct gyre_node *node = &pipeline->nodes[i];
        if (!node->joined || !node->facts.in_worker)
            return NULL;
        if (!stages->leader && gyre_node_has_checkpoints(node->kernel))
            stages->leader = node->kernel;
        stages->all[stages->count++] = gyre_node_kept_stage(node->kernel);
    }
    qsort(stages->all, stages->count, sizeof stages->all[0], compare_names);
    return stages->leader ? stages : NULL;
}

gyre_status gyre_keep_check_change(const gyre_pipeline *pipeline, const char *call)
{
    if (!pipeline->keep.journal)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "%s: the pipeline has a journal, and requests that are handled again in a later run would go other ways: close "
        "it, and open it with other links",
        call);
}

/* ---- opening ---- */

/* Afterwards no block looks at the entry. */
static gyre_status hide_first(const gyre_pipeline *pipeline)
{
    const struct gyre_pipeline_entry *entry = &pipeline->entries[0];
    gyre_node_hide_entry(entry->queue);
    gyre_node_tell(pipeline->nodes[entry->node].kernel);
    return gyre_node_await(pipeline->nodes[entry->node].kernel);
}

/* The stages keep what the journal holds; or the other way round, at first. */
static gyre_status begin_alike(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    const gyre_status status = gyre_keep_draw(
        pipeline, gyre_node_entry_has_kept(keep->journal) ? GYRE_KEEP_FROM_JOURNAL : GYRE_KEEP_AS_IT_IS,
        deadline_ns);
    if (status == GYRE_OK && !keep->gathered)
        return gyre_error_set(GYRE_AGAIN, "pipeline '%s' was not still when its journal began",
                              pipeline->name);
    keep->gathered = false;
    return status;
}

static gyre_status handle_again(gyre_pipeline *pipeline)
{
    gyre_queue *entry = pipeline->keep.journal;
    if (!gyre_keep_prepare(pipeline)) {
        gyre_node_end_repeats(entry);
        return GYRE_OK;
    }
    pipeline->keep.by_keeper = false;
    gyre_node_begin_repeats(entry);
    const gyre_status status = gyre_keep_repeat(pipeline);
    return status == GYRE_OK || gyre_stages_are_there(pipeline) ? status : GYRE_OK;
}

gyre_status gyre_keep_begin_journal(gyre_pipeline *pipeline)
{
    if (!pipeline->keep.journal)
        return GYRE_OK;
    gyre_status status = hide_first(pipeline);
    if (status == GYRE_OK)
        status = begin_alike(pipeline, gyre_keep_deadline(pipeline));
    if (status == GYRE_OK)
        status = gyre_keep_add_entry(pipeline, &pipeline->entries[0]);
    if (status == GYRE_OK)
        status = gyre_node_begin_entry(pipeline->keep.journal);
    if (status == GYRE_OK)
        status = handle_again(pipeline);
    if (status == GYRE_OK)
        return GYRE_OK;
    gyre_keep_end_leading(pipeline);
    return gyre_error_add(status, "while it was opened with its journal");
}
