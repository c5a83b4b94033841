/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a pipeline (kept.h). */
#include "core/links/kept.h"

#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/node_keep.h"
#include "core/kernel/standing.h"
#include "core/links/joined.h"
#include "core/links/keep_journal.h"
#include "core/links/pipeline.h"
#include "core/links/repeaters.h"
#include "core/plan/shape.h"
#include "core/queue/queue.h"

enum { POLL_NS = 20000, POLL_MOST_NS = 1000000 };

static bool is_kept(const struct gyre_node *node)
{
    return node->joined && gyre_node_has_checkpoints(node->kernel);
}

/* ---- beginning ---- */

/* The first stage that has checkpoints; GYRE_NODE_NOWHERE: none has. */
static int find_leader(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (is_kept(&pipeline->nodes[i]) && pipeline->nodes[i].facts.in_worker)
            return i;
    return GYRE_NODE_NOWHERE;
}

static gyre_status check_stages(const gyre_pipeline *pipeline, const struct gyre_node *leader)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++) {
        const struct gyre_node *node = &pipeline->nodes[i];
        const struct gyre_standing standing = gyre_standing_of(node->kernel);
        if (gyre_record_keeps_something(node->facts.record) && !is_kept(node))
            return gyre_error_set(
                GYRE_INVALID,
                "kernel '%s' has checkpoints and kernel '%s' of the same pipeline keeps something without: what both keep "
                "would be of different moments after a crash; set checkpoints = true for both, or for none",
                leader->facts.name, node->facts.name);
        if (is_kept(node))
            status = gyre_standing_check_journal(&standing, "checkpoints of a pipeline");
        if (status != GYRE_OK && strcmp(node->facts.name, pipeline->name) == 0)
            return gyre_error_set(
                status,
                "it has the name of one of its kernels, which keeps something: the section [queue.%s] is for the queues of "
                "both, and one of them can have a journal; give the pipeline another name",
                pipeline->name);
    }
    return status;
}

uint64_t gyre_keep_deadline(const gyre_pipeline *pipeline)
{
    return gyre_clock_ns() + gyre_config_ns(pipeline->runtime->config, GYRE_SECTION_KERNEL,
                                            gyre_node_facts_of(pipeline->keep.leader).name,
                                            "stop_timeout_ms");
}

void gyre_keep_end_leading(gyre_pipeline *pipeline)
{
    gyre_node_lead_no_more(pipeline->keep.leader);
    pipeline->keep.leader = NULL;
    pipeline->keep.journal = NULL;
    for (int i = 0; i < pipeline->entry_count; i++)
        pipeline->entries[i].is_led = false;
}

gyre_status gyre_keep_begin(gyre_pipeline *pipeline)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    const int leader = find_leader(pipeline);
    if (leader == GYRE_NODE_NOWHERE)
        return gyre_repeaters_begin(pipeline);
    gyre_status status = check_stages(pipeline, &pipeline->nodes[leader]);
    if (status == GYRE_OK)
        status = gyre_repeaters_open(pipeline, gyre_ring_of(pipeline->entries[0].queue)->capacity);
    if (status != GYRE_OK)
        return status;
    const bool in_journal = gyre_node_entry_has_journal(pipeline->entries[0].queue);
    for (int i = 0; i < pipeline->node_count; i++)
        if (is_kept(&pipeline->nodes[i]))
            gyre_node_save_together(pipeline->nodes[i].kernel, in_journal);
    keep->leader = pipeline->nodes[leader].kernel;
    keep->journal = in_journal ? pipeline->entries[0].queue : NULL;
    if (in_journal)
        return GYRE_OK; /* gyre_keep_begin_journal follows */
    status = gyre_keep_add_entry(pipeline, &pipeline->entries[0]);
    if (status != GYRE_OK)
        gyre_keep_end_leading(pipeline);
    return status;
}

/* ---- queues ---- */

/* Under pipeline->lock. */
static void for_led(const gyre_pipeline *pipeline, void (*what)(gyre_queue *queue))
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].is_led)
            what(pipeline->entries[i].queue);
}

static void hold(gyre_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->keep.holds = true;
    for_led(pipeline, gyre_node_hold_entry);
    pthread_mutex_unlock(&pipeline->lock);
}

static void let_go(gyre_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->keep.holds = false;
    for_led(pipeline, gyre_node_let_go_entry);
    pthread_mutex_unlock(&pipeline->lock);
}

/* ---- a moment without flows ---- */

/* The nodes that messages of `node` come to, itself too: a bit for each. */
static uint64_t find_behind(const gyre_pipeline *pipeline, int node)
{
    uint64_t found = UINT64_C(1) << node, before = 0;
    while (found != before) {
        before = found;
        for (int i = 0; i < pipeline->link_count; i++) {
            const struct gyre_link *link = &pipeline->links[i];
            if (!link->dropped && link->to != GYRE_NODE_NOWHERE && found >> link->from & 1)
                found |= UINT64_C(1) << link->to;
        }
    }
    return found;
}

/*
 * Whether messages for a tap can stay where they are: they may wait for ever, as the tap or a stage behind it is paused, and change nothing
 * that a checkpoint holds.
 */
static bool may_wait(const gyre_pipeline *pipeline, int tap)
{
    const uint64_t behind = find_behind(pipeline, tap);
    bool paused = false;
    for (int i = 0; i < pipeline->node_count; i++) {
        if (!(behind >> i & 1))
            continue;
        if (is_kept(&pipeline->nodes[i]))
            return false;
        paused = paused || gyre_node_is_paused(pipeline->nodes[i].kernel);
    }
    return paused;
}

/* Whether no message is left that belongs to no flow, as those for taps. Under pipeline->lock. */
static bool taps_are_empty(const gyre_pipeline *pipeline)
{
    struct gyre_link_counts counts;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->dropped || link->to == GYRE_NODE_NOWHERE || link->slow != GYRE_SLOW_TAP)
            continue;
        if (gyre_link_memory_count(pipeline, link, &counts) == GYRE_OK && counts.waiting &&
            !may_wait(pipeline, link->to))
            return false;
    }
    return true;
}

static bool is_still(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].is_led && !gyre_node_entry_is_settled(pipeline->entries[i].queue))
            return false;
    return taps_are_empty(pipeline);
}

/* The times between looks grow. */
static void pause_between(uint64_t *pause_ns)
{
    nanosleep(&(struct timespec){0, (long)*pause_ns}, NULL);
    *pause_ns = *pause_ns * 2 < POLL_MOST_NS ? *pause_ns * 2 : POLL_MOST_NS;
}

static gyre_status await_still(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    uint64_t pause_ns = POLL_NS;
    for (;;) {
        pthread_mutex_lock(&pipeline->lock);
        const bool closing = pipeline->closing, still = !closing && is_still(pipeline);
        pthread_mutex_unlock(&pipeline->lock);
        if (closing)
            return gyre_error_set(GYRE_CLOSED, "pipeline '%s' is being closed", pipeline->name);
        if (still)
            return GYRE_OK;
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT,
                                  "pipeline '%s' had requests under way until the deadline: no checkpoint of "
                                  "its stages could be taken",
                                  pipeline->name);
        pause_between(&pause_ns);
    }
}

/* ---- copying ---- */

/* Stages that stand. */
struct stand {
    struct gyre_standing standings[GYRE_NODES_MAX];
    struct gyre_standing *all[GYRE_NODES_MAX];
    uint32_t count;
};

static void choose(const gyre_pipeline *pipeline, struct stand *stand)
{
    stand->count = 0;
    for (int i = 0; i < pipeline->node_count; i++) {
        if (!is_kept(&pipeline->nodes[i]))
            continue;
        stand->standings[stand->count] = gyre_standing_of(pipeline->nodes[i].kernel);
        stand->all[stand->count] = &stand->standings[stand->count];
        stand->count++;
    }
}

static gyre_status stand_still(struct stand *stand, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < stand->count && status == GYRE_OK; i++)
        status = gyre_standing_order(stand->all[i], deadline_ns);
    for (uint32_t i = 0; i < stand->count && status == GYRE_OK; i++)
        status = gyre_standing_await(stand->all[i], deadline_ns);
    return status;
}

/* `entry`: its journal says what the checkpoint holds. */
static gyre_status copy(struct stand *stand, const gyre_queue *entry, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < stand->count && status == GYRE_OK; i++)
        status = gyre_standing_draw(stand->all[i], entry, deadline_ns);
    if (status == GYRE_OK)
        status = gyre_standings_count(stand->all, stand->count);
    for (uint32_t i = 0; i < stand->count && status == GYRE_OK && entry; i++)
        status = gyre_standing_restore(stand->all[i]);
    return status;
}

/*
 * For the journal, while the stages stand. It gets no checkpoint in the midst of a flow, as may be at the end of a pipeline: what the flow has
 * changed so far would be changed once more when its request is handled again.
 */
static void gather(gyre_pipeline *pipeline)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    if (!keep->journal || !is_still(pipeline))
        return;
    keep->gathered = gyre_node_gather_entry(keep->journal) == GYRE_OK;
    if (!keep->gathered)
        gyre_runtime_log(pipeline->runtime, GYRE_LOG_ERROR,
                         "pipeline '%s' has a checkpoint that is not in its journal: %s", pipeline->name,
                         gyre_error_text());
}

gyre_status gyre_keep_draw(gyre_pipeline *pipeline, enum gyre_keep_source source, uint64_t deadline_ns)
{
    struct stand stand;
    choose(pipeline, &stand);
    gyre_status status = stand_still(&stand, deadline_ns);
    if (status == GYRE_OK && source == GYRE_KEEP_STILL && !is_still(pipeline))
        status = gyre_error_set(GYRE_AGAIN, "pipeline '%s' was not still any more", pipeline->name);
    if (status == GYRE_OK)
        status = copy(&stand, source == GYRE_KEEP_FROM_JOURNAL ? pipeline->keep.journal : NULL, deadline_ns);
    if (status == GYRE_OK)
        gather(pipeline);
    gyre_error_hold();
    for (uint32_t i = 0; i < stand.count; i++)
        gyre_standing_end(stand.all[i]);
    gyre_error_let_go();
    return status;
}

/* Takes keep->saving, which another checkpoint has until its own deadline. */
static gyre_status begin_saving(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    uint64_t pause_ns = POLL_NS;
    while (pthread_mutex_trylock(&pipeline->keep.saving) != 0) {
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT,
                                  "another checkpoint of pipeline '%s' was being taken until the deadline",
                                  pipeline->name);
        pause_between(&pause_ns);
    }
    return GYRE_OK;
}

/* Under keep->saving alone: a disk may take long. */
static void write_gathered(gyre_pipeline *pipeline, bool last)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    if (keep->gathered)
        gyre_node_write_entry(keep->journal, last);
    keep->gathered = false;
}

gyre_status gyre_keep_save(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    gyre_status status = begin_saving(pipeline, deadline_ns);
    if (status != GYRE_OK)
        return status;
    if (!keep->leader) {
        pthread_mutex_unlock(&keep->saving);
        return gyre_error_set(GYRE_CLOSED, "pipeline '%s' is being closed", pipeline->name);
    }
    hold(pipeline);
    status = await_still(pipeline, deadline_ns);
    if (status == GYRE_OK) {
        pthread_mutex_lock(&pipeline->lock);
        status = pipeline->closing
                     ? gyre_error_set(GYRE_CLOSED, "pipeline '%s' is being closed", pipeline->name)
                     : gyre_keep_draw(pipeline, GYRE_KEEP_STILL, deadline_ns);
        pthread_mutex_unlock(&pipeline->lock);
    }
    let_go(pipeline);
    write_gathered(pipeline, false);
    pthread_mutex_unlock(&keep->saving);
    return status;
}

/* ---- another worker process ---- */

bool gyre_keep_prepare(gyre_pipeline *pipeline)
{
    if (!pipeline->keep.leader)
        return gyre_repeaters_prepare(pipeline);
    const bool repeats = gyre_node_prepare_repeat(pipeline->keep.leader);
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].is_led)
            gyre_node_set_repeats(pipeline->entries[i].queue, repeats);
    return repeats;
}

static void for_stages(const gyre_pipeline *pipeline, void (*what)(gyre_kernel *kernel))
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].joined)
            what(pipeline->nodes[i].kernel);
}

static bool watch(void *context, uint64_t deadline_ns)
{
    const gyre_pipeline *pipeline = context;
    for_stages(pipeline, gyre_node_run_paused);
    if (pipeline->keep.by_keeper)
        return gyre_dispatch_watch(pipeline->device, deadline_ns);
    const uint64_t now = gyre_clock_ns();
    if (now < deadline_ns)
        nanosleep(&(struct timespec){0, (long)(deadline_ns - now)}, NULL);
    return gyre_stages_are_there(pipeline);
}

gyre_status gyre_keep_repeat(gyre_pipeline *pipeline)
{
    const bool led = pipeline->keep.leader != NULL;
    const gyre_status status = led ? gyre_node_repeat(pipeline->keep.leader, watch, pipeline)
                                   : gyre_repeaters_repeat(pipeline, watch);
    for_stages(pipeline, gyre_node_pause_again); /* before they see what came meanwhile */
    if (status == GYRE_OK && led)
        for_led(pipeline, gyre_node_end_repeats);
    else if (status == GYRE_OK)
        gyre_repeaters_end(pipeline);
    return status;
}

void gyre_keep_caught_up(const gyre_pipeline *pipeline)
{
    for_stages(pipeline, gyre_node_caught_up);
}

/* ---- the end ---- */

/* Whether another worker process goes on with the stages, or will. */
static bool is_mended(const gyre_pipeline *pipeline, gyre_status status)
{
    return (status == GYRE_LOST || status == GYRE_AGAIN) &&
           gyre_kernel_get_state(pipeline->keep.leader) != GYRE_KERNEL_LOST;
}

void gyre_keep_drained(gyre_pipeline *pipeline)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    if (!keep->leader)
        return;
    const uint64_t deadline_ns = gyre_keep_deadline(pipeline);
    uint64_t pause_ns = POLL_NS;
    gyre_status status = GYRE_AGAIN;
    gyre_error_hold();
    while (is_mended(pipeline, status) && gyre_clock_ns() < deadline_ns) {
        pthread_mutex_lock(&keep->saving);
        pthread_mutex_lock(&pipeline->lock);
        status = gyre_keep_draw(pipeline, GYRE_KEEP_AS_IT_IS, deadline_ns);
        pthread_mutex_unlock(&pipeline->lock);
        write_gathered(pipeline, false);
        pthread_mutex_unlock(&keep->saving);
        if (status != GYRE_OK)
            pause_between(&pause_ns);
    }
    gyre_error_let_go();
}

void gyre_keep_end(gyre_pipeline *pipeline)
{
    struct gyre_pipeline_keep *keep = &pipeline->keep;
    if (!keep->leader)
        return;
    gyre_error_hold();
    pthread_mutex_lock(&keep->saving);
    pthread_mutex_lock(&pipeline->lock);
    const gyre_status status = gyre_keep_draw(pipeline, GYRE_KEEP_AS_IT_IS, gyre_keep_deadline(pipeline));
    pthread_mutex_unlock(&pipeline->lock);
    write_gathered(pipeline, true);
    if (status != GYRE_OK && status != GYRE_CLOSED && status != GYRE_LOST)
        gyre_runtime_log(
            pipeline->runtime, GYRE_LOG_WARNING,
            "pipeline '%s' is closed without a checkpoint: what its stages did since the last one "
            "cannot be repeated after a crash: %s",
            pipeline->name, gyre_error_text());
    gyre_error_let_go();
    pthread_mutex_lock(&pipeline->lock);
    gyre_keep_end_leading(pipeline);
    pthread_mutex_unlock(&pipeline->lock);
    pthread_mutex_unlock(&keep->saving);
}
