/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes, describes and closes pipelines (pipeline.h). What a gyre_pipeline_desc leaves to the configuration is filled in
 * before, by core/api.
 */
#include "core/links/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/keeper.h"
#include "core/kernel/visit.h"
#include "core/links/lend.h"
#include "core/links/apart.h"
#include "core/links/pipeline_make.h"
#include "core/links/joined.h"
#include "core/links/kept.h"
#include "core/observation/observation.h"
#include "core/links/subscriber.h"
#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/types/types.h"

enum { DRAIN_POLL_NS = 20000 };

/* ---- making ---- */

/* Called when the runtime is closed, or a kernel of the pipeline released. */
static void end_pipeline(struct gyre_runtime_guest *guest)
{
    gyre_pipeline_dispose((gyre_pipeline *)(void *)guest);
}

/* As gyre_pipeline_visit: gyre_pipeline_leave follows, at the end of revive_pipeline. */
static void hold_pipeline(struct gyre_runtime_guest *guest)
{
    __atomic_fetch_add(&((gyre_pipeline *)(void *)guest)->visitors, 1, __ATOMIC_RELAXED);
}

static gyre_status revive_pipeline(struct gyre_runtime_guest *guest, const struct gyre_dispatch *device,
                                   bool by_keeper)
{
    gyre_pipeline *pipeline = (gyre_pipeline *)(void *)guest;
    const gyre_status status = gyre_pipeline_renew(pipeline, device, by_keeper);
    gyre_pipeline_leave(pipeline);
    return status;
}

static gyre_status save_pipeline(struct gyre_runtime_guest *guest, uint64_t deadline_ns)
{
    gyre_pipeline *pipeline = (gyre_pipeline *)(void *)guest;
    const gyre_status status = gyre_keep_save(pipeline, deadline_ns);
    gyre_pipeline_leave(pipeline);
    return status;
}

/* Takes the records of a pipeline that is not listed any more out of the observation file (observed.c). */
static void unobserve(gyre_pipeline *pipeline)
{
    struct gyre_observation *observation = gyre_runtime_observation(pipeline->runtime);
    for (int i = 0; i < pipeline->link_count; i++) {
        gyre_observation_leave(observation, pipeline->links[i].observed);
        pipeline->links[i].observed = 0;
    }
    gyre_observation_leave(observation, pipeline->observed);
    pipeline->observed = 0;
}

static void free_pipeline(gyre_pipeline *pipeline)
{
    unobserve(pipeline);
    gyre_parts_free(pipeline);
    gyre_stages_free(pipeline);
    pthread_cond_destroy(&pipeline->left);
    pthread_mutex_destroy(&pipeline->lock);
    pthread_mutex_destroy(&pipeline->keep.saving);
    free(pipeline);
}

/* Makes everything but the pipeline's place among the runtime's guests. */
static gyre_status make(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_queue *queue;
    char name[GYRE_PIPELINE_NAME_MAX + 8];
    gyre_status status = gyre_wiring_resolve(pipeline, wiring);
    if (status == GYRE_OK)
        status = gyre_parts_plan(pipeline, wiring);
    if (status == GYRE_OK)
        status = gyre_stages_join(pipeline, wiring);
    if (status == GYRE_OK)
        status = gyre_parts_make(pipeline, wiring);
    if (status != GYRE_OK)
        return status;
    const int first = gyre_entries_first(pipeline); /* whose own queue has its name */
    const bool is_alike = strcmp(pipeline->nodes[first].facts.name, pipeline->name) == 0;
    snprintf(name, sizeof name, "%s%s", pipeline->name, is_alike ? "/entry" : "");
    const gyre_queue_desc main_queue = {.size = sizeof main_queue, .name = name};
    struct gyre_kept_stages stages;
    const struct gyre_entry_wish wish = {.desc = &main_queue,
                                         .section = pipeline->name,
                                         .kept = gyre_keep_find_stages(pipeline, &stages),
                                         .is_first = true};
    status = gyre_entries_open(pipeline, first, &wish, &queue);
    if (status == GYRE_OK)
        status = gyre_keep_begin(pipeline);
    if (status == GYRE_OK)
        status = gyre_keep_begin_journal(pipeline);
    if (status == GYRE_OK)
        gyre_node_show_entry(queue);
    return status;
}

static gyre_pipeline *find_listed(const gyre_runtime *runtime, const char *name);

/* Lists the pipeline, unless another thread has listed one of its name meanwhile. */
static gyre_status list_pipeline(gyre_pipeline *pipeline)
{
    gyre_runtime *runtime = pipeline->runtime;
    pthread_mutex_lock(&runtime->lock);
    const bool taken = find_listed(runtime, pipeline->name) != NULL;
    if (!taken) {
        pipeline->guest.next = runtime->guests;
        runtime->guests = &pipeline->guest;
    }
    pthread_mutex_unlock(&runtime->lock);
    return taken ? gyre_error_set(GYRE_INVALID, "a pipeline '%s' is open already", pipeline->name) : GYRE_OK;
}

gyre_status gyre_pipeline_make(gyre_runtime *runtime, const struct gyre_wiring_config *wiring,
                               gyre_pipeline **out)
{
    gyre_kernel *kernels[GYRE_NODES_MAX]; /* kept: once it is listed, another thread may end the pipeline */
    gyre_pipeline *pipeline = calloc(1, sizeof *pipeline);
    *out = NULL;
    if (!pipeline)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a pipeline");
    pipeline->runtime = runtime;
    pipeline->guest.end = end_pipeline;
    pipeline->guest.hold = hold_pipeline;
    pipeline->guest.revive = revive_pipeline;
    pipeline->guest.save = save_pipeline;
    snprintf(pipeline->name, sizeof pipeline->name, "%s", wiring->desc.name);
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_mutex_init(&pipeline->keep.saving, NULL);
    pthread_cond_init(&pipeline->left, NULL);
    gyre_status status = make(pipeline, wiring);
    const int count = pipeline->node_count;
    for (int i = 0; i < count; i++)
        kernels[i] = pipeline->nodes[i].kernel;
    if (status == GYRE_OK)
        status = list_pipeline(pipeline);
    if (status == GYRE_OK) {
        gyre_pipeline_catch_up(pipeline);
        *out = pipeline;
    } else {
        gyre_pipeline_dispose(pipeline); /* blocks that have not obeyed yet may still take the tables */
    }
    for (int i = 0; i < count; i++) {
        if (status == GYRE_OK)
            gyre_node_made(kernels[i]);
        gyre_kernel_leave(kernels[i]); /* gyre_wiring_resolve visited it */
    }
    return status;
}

/* ---- closing ---- */

/* Calls `what` for each queue. Under the lock. */
static void for_entries(const gyre_pipeline *pipeline, void (*what)(gyre_queue *queue))
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue)
            what(pipeline->entries[i].queue);
}

/* Clients send no more. What is handled again after a death still is. Under the lock. */
static void close_sends(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue && !pipeline->entries[i].repeats)
            gyre_queue_close_sends(pipeline->entries[i].queue);
}

/* Under the lock: how many requests are not settled. */
static uint64_t count_left(const gyre_pipeline *pipeline)
{
    uint64_t left = 0;
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue)
            left += gyre_queue_outstanding(pipeline->entries[i].queue);
    return left;
}

/* Under the lock, which it gives up while it waits: clients of other programs leave meanwhile. Returns what is left. */
static uint64_t drain(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    uint64_t left;
    while ((left = count_left(pipeline)) != 0 && gyre_clock_ns() < deadline_ns) {
        pthread_mutex_unlock(&pipeline->lock);
        nanosleep(&(struct timespec){0, DRAIN_POLL_NS}, NULL);
        pthread_mutex_lock(&pipeline->lock);
    }
    return left;
}

gyre_status gyre_pipeline_drain(gyre_pipeline *pipeline, uint64_t deadline_ns, uint64_t *left)
{
    if (!pipeline)
        return GYRE_ARGUMENTS("gyre_pipeline_drain", {"pipeline", pipeline});
    gyre_status status = gyre_runtime_check_own(pipeline->runtime, "gyre_pipeline_drain");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&pipeline->lock);
    pipeline->shut = true;
    close_sends(pipeline);
    const uint64_t count = drain(pipeline, deadline_ns);
    pthread_mutex_unlock(&pipeline->lock);
    if (left)
        *left = count;
    if (count == 0)
        return GYRE_OK;
    return gyre_error_set(GYRE_TIMEOUT, "pipeline '%s' has %llu requests that are not settled",
                          pipeline->name, (unsigned long long)count);
}

/* Ends the queues of other programs and the subscriptions, and waits until those who serve these have left. */
static void see_visitors_off(gyre_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    for (int i = 0; i < pipeline->entry_count; i++)
        if (pipeline->entries[i].queue && gyre_foreign_of(pipeline->entries[i].queue)->lent)
            gyre_queue_complete_unhandled(pipeline->entries[i].queue);
    gyre_subscribers_part(pipeline);
    pthread_mutex_unlock(&pipeline->lock);
    pthread_mutex_lock(&pipeline->runtime->lock);
    while (__atomic_load_n(&pipeline->visitors, __ATOMIC_ACQUIRE))
        pthread_cond_wait(&pipeline->left, &pipeline->runtime->lock);
    pthread_mutex_unlock(&pipeline->runtime->lock);
}

/* Tells the log what subscribers of topics missed. */
static void tell_missed(const gyre_pipeline *pipeline)
{
    struct gyre_link_counts counts;
    for (int i = 0; pipeline->wires.address && i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->slow == GYRE_SLOW_WAIT || link->retired ||
            gyre_link_memory_count(pipeline, link, &counts) != GYRE_OK || !counts.missed)
            continue;
        gyre_runtime_log(pipeline->runtime, link->slow == GYRE_SLOW_TAP ? GYRE_LOG_INFO : GYRE_LOG_WARNING,
                         "topic '%s': %s '%s' %s %llu messages of '%s'", link->topic,
                         link->slow == GYRE_SLOW_TAP ? "tap" : "subscriber",
                         pipeline->nodes[link->to].facts.name,
                         counts.is_cut ? "was too slow and was cut off: it missed" : "missed",
                         (unsigned long long)counts.missed, pipeline->nodes[link->from].facts.name);
    }
}

/* From here on a worker process that dies is no matter: nothing is under way any more that it would have to go on with. */
static void end_revivals(gyre_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->runtime->lock);
    pipeline->guest.leaves = false;
    pthread_mutex_unlock(&pipeline->runtime->lock);
}

/* Takes the pipeline apart. TIMEOUT: a handler does not return, and blocks may still use the links. */
static gyre_status take_apart(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->shut = true;
    close_sends(pipeline);
    /* of one that was withdrawn, what is under way does not move any more */
    const bool is_drained = !pipeline->withdrawn && drain(pipeline, deadline_ns) == 0;
    pthread_mutex_unlock(&pipeline->lock);
    if (is_drained)
        gyre_keep_drained(pipeline);
    end_revivals(pipeline);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->closing = true;
    for_entries(pipeline, gyre_node_hide_entry);
    gyre_status status = gyre_link_memory_withdraw(pipeline);
    pipeline->withdrawn = true;
    pthread_mutex_unlock(&pipeline->lock);
    if (status == GYRE_OK)
        gyre_keep_end(pipeline);
    if (status == GYRE_OK)
        status = gyre_parts_end(pipeline);
    if (status != GYRE_OK)
        return gyre_error_add(status, "pipeline '%s' was not taken apart", pipeline->name);
    see_visitors_off(pipeline);
    tell_missed(pipeline);
    for_entries(pipeline, gyre_node_close_entry);
    gyre_stages_leave(pipeline);
    return GYRE_OK;
}

/* Pipelines whose memory stays, so that tools that look for lost memory find it here. */
static struct gyre_runtime_guest *left_behind;

/*
 * Leaves everything to a handler that does not return: its block may use the links, the entries' queues and the control regions
 * of all stages, if it ever does. Clients do not wait for it.
 */
static void leave_behind(gyre_pipeline *pipeline)
{
    gyre_runtime_log(pipeline->runtime, GYRE_LOG_ERROR, "%s; its memory stays behind", gyre_error_text());
    unobserve(pipeline);
    for_entries(pipeline, gyre_node_abandon_entry);
    pthread_mutex_lock(&pipeline->lock);
    gyre_subscribers_abandon(pipeline);
    pthread_mutex_unlock(&pipeline->lock);
    gyre_parts_leave_behind(pipeline);
    gyre_stages_leave_used(pipeline);
    pipeline->guest.next = __atomic_load_n(&left_behind, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&left_behind, &pipeline->guest.next, &pipeline->guest, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

void gyre_pipeline_dispose(gyre_pipeline *pipeline)
{
    gyre_error_hold();
    if (take_apart(pipeline, GYRE_NO_WAIT) == GYRE_OK)
        free_pipeline(pipeline);
    else
        leave_behind(pipeline);
    gyre_error_let_go();
}

/* Lists a pipeline that could not be closed. Its kernels are not freed meanwhile: they are its nodes. */
static void list_again(gyre_pipeline *pipeline)
{
    gyre_kernel *kernels[GYRE_NODES_MAX];
    const int count = pipeline->node_count;
    for (int i = 0; i < count; i++) {
        kernels[i] = pipeline->nodes[i].kernel;
        gyre_node_hold(kernels[i]);
    }
    gyre_runtime_add_guest(pipeline->runtime, &pipeline->guest); /* from here on another thread may end it */
    for (int i = 0; i < count; i++) {
        gyre_node_listed(kernels[i]);
        gyre_kernel_leave(kernels[i]);
    }
}

gyre_status gyre_pipeline_close(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    if (!pipeline)
        return GYRE_OK;
    gyre_status status = gyre_runtime_check_own(pipeline->runtime, "gyre_pipeline_close");
    if (status != GYRE_OK)
        return status;
    if (!gyre_runtime_remove_guest(pipeline->runtime, &pipeline->guest))
        return GYRE_OK; /* another thread is closing it */
    status = take_apart(pipeline, deadline_ns);
    if (status == GYRE_OK)
        free_pipeline(pipeline);
    else
        list_again(pipeline);
    return status;
}

/* ---- telling ---- */

static pthread_mutex_t *lock_of(const gyre_pipeline *pipeline)
{
    return &((gyre_pipeline *)(uintptr_t)pipeline)->lock;
}

static bool is_told(const struct gyre_link *link)
{
    return !link->is_own && !link->retired;
}

/* Under the lock. */
static gyre_status tell_link(const gyre_pipeline *pipeline, const struct gyre_link *link,
                             gyre_link_info *told)
{
    const struct gyre_node_facts *from = &pipeline->nodes[link->from].facts;
    snprintf(told->name, sizeof told->name, "%s", link->name);
    snprintf(told->from, sizeof told->from, "%s", from->name);
    snprintf(told->port, sizeof told->port, "%s", link->sends.name);
    snprintf(told->to, sizeof told->to, "%s",
             link->is_outlet                 ? GYRE_WIRING_HOST
             : link->to == GYRE_NODE_NOWHERE ? GYRE_WIRING_NOWHERE
                                             : pipeline->nodes[link->to].facts.name);
    snprintf(told->type, sizeof told->type, "%s", link->sends.type->name);
    snprintf(told->topic, sizeof told->topic, "%s", link->is_outlet ? "" : link->topic);
    snprintf(told->key, sizeof told->key, "%s", link->key.path);
    snprintf(told->pool, sizeof told->pool, "%s", link->pool);
    told->order = (uint32_t)link->order;
    told->slow = (uint32_t)link->slow;
    told->level = link->level;
    if (link->choice)
        snprintf(told->as, sizeof told->as, "%s", link->sends.type->name);
    told->through_host =
        link->to != GYRE_NODE_NOWHERE && pipeline->nodes[link->to].home != pipeline->nodes[link->from].home;
    told->most = link->sends.most;
    told->rings = from->movers;
    told->talk = (uint32_t)link->talk;
    snprintf(told->answer, sizeof told->answer, "%s", link->answer ? link->answer->name : "");
    told->capacity = link->capacity;
    told->bytes = link->bytes;
    gyre_layout *layout = NULL;
    struct gyre_link_counts counts = {.sent = 0};
    gyre_status status = gyre_layout_create(link->sends.type, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK) {
        told->type_hash = layout->hash;
        const gyre_pipeline *home = gyre_parts_home(pipeline, &link);
        status = gyre_link_memory_count(home, link, &counts);
        told->sent = counts.sent;
        told->waiting = counts.waiting;
        told->missed = counts.missed;
        told->stolen = counts.stolen;
        told->takers = counts.takers;
        told->is_cut = counts.is_cut;
        told->room = counts.room;
        told->section = counts.section;
        told->held = counts.held;
    }
    gyre_layout_destroy(layout);
    return status;
}

/* Link number `index` of those that are told; NULL past the last one. *count: how many these are. Under the lock. */
static const struct gyre_link *find_told(const gyre_pipeline *pipeline, size_t index, size_t *count)
{
    const struct gyre_link *found = NULL;
    *count = 0;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (is_told(link) && (*count)++ == index)
            found = link;
    }
    return found;
}

gyre_status gyre_pipeline_link(const gyre_pipeline *pipeline, size_t index, gyre_link_info *info)
{
    size_t count;
    gyre_link_info told = {.size = sizeof told};
    if (!pipeline || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_pipeline_link", {"pipeline", pipeline}, GYRE_SIZED(info));
    pthread_mutex_lock(lock_of(pipeline));
    const struct gyre_link *link = find_told(pipeline, index, &count);
    const gyre_status status =
        link ? tell_link(pipeline, link, &told)
             : gyre_error_set(GYRE_NOT_FOUND, "pipeline '%s' has %zu links", pipeline->name, count);
    pthread_mutex_unlock(lock_of(pipeline));
    if (!link)
        return status;
    const size_t size = info->size;
    memcpy(info, &told, size < sizeof told ? size : sizeof told);
    info->size = size;
    return status;
}

/* The number of the link in a cycle that has room for the fewest messages; 0 without a cycle. Under the lock. */
static uint32_t find_narrowest(const gyre_pipeline *pipeline)
{
    uint32_t number = 0, found = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        struct gyre_link_counts counts;
        if (!is_told(link))
            continue;
        if (link->is_in_cycle && gyre_link_memory_count(pipeline, link, &counts) == GYRE_OK &&
            counts.room < least) {
            least = counts.room;
            found = number;
        }
        number++;
    }
    return found;
}

gyre_status gyre_pipeline_info_get(const gyre_pipeline *pipeline, gyre_pipeline_info *info)
{
    if (!pipeline || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_pipeline_info_get", {"pipeline", pipeline}, GYRE_SIZED(info));
    pthread_mutex_lock(lock_of(pipeline));
    const gyre_pipeline_info told = {.size = info->size < sizeof told ? info->size : sizeof told,
                                     .window = pipeline->window,
                                     .quota = pipeline->quota,
                                     .under_way = gyre_link_memory_under_way(pipeline),
                                     .narrowest = find_narrowest(pipeline),
                                     .window_most = pipeline->window_most};
    pthread_mutex_unlock(lock_of(pipeline));
    memcpy(info, &told, told.size);
    return GYRE_OK;
}

static gyre_pipeline *find_listed(const gyre_runtime *runtime, const char *name)
{
    for (struct gyre_runtime_guest *guest = runtime->guests; guest; guest = guest->next)
        if (guest->end == end_pipeline && strcmp(((gyre_pipeline *)(void *)guest)->name, name) == 0)
            return (gyre_pipeline *)(void *)guest;
    return NULL;
}

gyre_pipeline *gyre_pipeline_find(gyre_runtime *runtime, const char *name)
{
    if (!runtime || !name)
        return NULL;
    pthread_mutex_lock(&runtime->lock);
    gyre_pipeline *found = find_listed(runtime, name);
    pthread_mutex_unlock(&runtime->lock);
    return found;
}

void gyre_pipelines_each(gyre_runtime *runtime, void (*what)(gyre_pipeline *pipeline))
{
    pthread_mutex_lock(&runtime->lock);
    for (struct gyre_runtime_guest *guest = runtime->guests; guest; guest = guest->next)
        if (guest->end == end_pipeline)
            what((gyre_pipeline *)(void *)guest);
    pthread_mutex_unlock(&runtime->lock);
}

/* ---- visitors ---- */

gyre_pipeline *gyre_pipeline_visit(gyre_runtime *runtime, const char *name)
{
    pthread_mutex_lock(&runtime->lock);
    gyre_pipeline *found = find_listed(runtime, name);
    if (found)
        __atomic_fetch_add(&found->visitors, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&runtime->lock);
    return found;
}

/*
 * Never under pipeline->lock: who has that may wait for a worker, whose keeper is a visitor that leaves (renew.c) before the next
 * worker answers.
 */
void gyre_pipeline_leave(gyre_pipeline *pipeline)
{
    gyre_runtime *runtime = pipeline->runtime;
    pthread_mutex_lock(&runtime->lock);
    __atomic_fetch_sub(&pipeline->visitors, 1, __ATOMIC_RELEASE); /* pairs with see_visitors_off */
    pthread_cond_broadcast(&pipeline->left);
    pthread_mutex_unlock(&runtime->lock);
}

size_t gyre_pipelines_name(gyre_runtime *runtime, char names[][GYRE_PIPELINE_NAME_MAX], size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&runtime->lock);
    for (struct gyre_runtime_guest *guest = runtime->guests; guest && count < room; guest = guest->next)
        if (guest->end == end_pipeline)
            memcpy(names[count++], ((gyre_pipeline *)(void *)guest)->name, GYRE_PIPELINE_NAME_MAX);
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

const char *gyre_pipeline_name(const gyre_pipeline *pipeline)
{
    return pipeline->name;
}
