/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and frees queues (life.h), and counts their statistics. end.c ends a queue; send.c, receive.c and call.c have the
 * paths of messages. core/stages/make.c decides which stages (options) a queue has.
 */
#include "core/queue/life.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/lines.h"
#include "core/queue/convert.h"
#include "core/queue/end.h"
#include "core/queue/label.h"
#include "core/queue/lent.h"
#include "core/queue/line.h"
#include "core/queue/progress.h"
#include "core/queue/set.h"
#include "core/queue/stage_list.h"
#include "core/queue/state.h"
#include "core/queue/wait.h"
#include "core/queue/watch.h"
#include "core/ring/ring_make.h"

enum { CHUNK_SIZE = 16384 }; /* bytes published at once from a batch; a part of a first-level cache */

static gyre_status options_check(const struct gyre_queue_options *options)
{
    char label[GYRE_LABEL_SIZE];
    uint64_t capacity = options->capacity;
    gyre_queue_label_of(options->name, label, sizeof label);
    if (capacity == 0 || (capacity & (capacity - 1)))
        return gyre_error_set(GYRE_INVALID,
                              "%s: capacity must be a power of two (1, 2, 4, ..., 1024, ...), found %llu",
                              label, (unsigned long long)capacity);
    if (options->request_size > GYRE_PAYLOAD_MAX || options->reply_size > GYRE_PAYLOAD_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "%s: a message holds at most %d bytes, found %u (request) and %u (reply)",
                              label, GYRE_PAYLOAD_MAX, options->request_size, options->reply_size);
    return GYRE_OK;
}

/* Sets how messages of callers differ from messages in the ring. */
static void forms_adopt(struct gyre_queue_forms *forms, const struct gyre_queue_options *options)
{
    forms->caller_request_size = options->caller_request_size;
    forms->caller_reply_size = options->caller_reply_size;
    forms->packets = options->wire != 0;
    forms->reply_room = options->wire ? options->reply_room : options->reply_size;
}

/* Sets which quick ways messages can take, by their sizes. */
static void sizes_adopt(struct gyre_queue_ways *ways, const struct gyre_queue_options *options)
{
    ways->quick_reply_size =
        options->wire || options->reply_growth.callers || options->sealed ? 0 : options->reply_size;
    ways->detour = options->levels > 1 || options->dedup;
    ways->fixed_size = options->request_least ? 0 : options->request_size;
    ways->direct_size = ways->detour ? 0 : ways->fixed_size;
}

static void ways_adopt(struct gyre_queue_ways *ways, const struct gyre_queue_options *options, int light)
{
    sizes_adopt(ways, options);
    ways->any_order = options->any_order;
    ways->policy = options->policy;
    ways->idle = options->idle;
    ways->spin_turns = options->idle != GYRE_WAIT_PARK ? options->spin_turns
                       : options->device_wakes         ? 0
                                                       : GYRE_LOOKS_BEFORE_NAPS;
    ways->many_threads = options->many_threads;
    ways->device_wakes = options->device_wakes;
    ways->device_returns = options->device_returns;
    ways->device_lies = options->device_lies;
    ways->light_waits = light && options->idle != GYRE_WAIT_PARK;
}

static void sides_begin(gyre_queue *queue, const struct gyre_queue_options *options, int light)
{
    gyre_lock_init(&queue->producer.lock, light);
    gyre_lock_init(&queue->consumer.lock, light);
    queue->producer.sent = queue->producer.sending = options->first_sequence + options->left;
    queue->producer.received_seen = options->first_sequence;
    queue->producer.drop_before = options->first_sequence;
    queue->consumer.received = options->first_sequence;
    queue->consumer.sent_seen = options->device_lies ? options->first_sequence : UINT64_MAX;
}

static void options_adopt(gyre_queue *queue, const struct gyre_queue_options *options)
{
    char label[GYRE_LABEL_SIZE];
    const int light = gyre_barrier_register();
    snprintf(queue->name, sizeof queue->name, "%s", options->name);
    snprintf(queue->full_text, sizeof queue->full_text,
             "%s is full: %llu message%s under way; receive replies, or use a larger capacity",
             gyre_queue_label(queue, label, sizeof label), (unsigned long long)options->capacity,
             options->capacity == 1 ? " is" : "s are");
    forms_adopt(&queue->forms, options);
    ways_adopt(&queue->ways, options, light);
    sides_begin(queue, options, light);
    queue->ring.light_sends = light && !options->device_parks;
    queue->choices.request_type = options->request_type;
    queue->view.gate = UINT64_MAX;
    queue->foreign.doorbell = -1;
    queue->foreign.tells_covered = options->tells_covered;
    queue->foreign.tells_durable = options->tells_durable;
    queue->foreign.left = options->left;
}

/* Makes the ring, and the memory that only this side uses. */
static gyre_status memory_make(gyre_queue *queue, const struct gyre_queue_options *options, int descriptor)
{
    char label[GYRE_LABEL_SIZE];
    gyre_queue_label_of(options->name, label, sizeof label);
    gyre_status status =
        gyre_ring_create(&queue->ring, options, descriptor, label, &queue->consumer.received);
    if (status != GYRE_OK)
        return status;
    queue->stages.noted_mask = UINT64_MAX;
    queue->stages.frees = queue->ring.bytes != NULL;
    queue->ways.chunk =
        queue->ring.slots.request_stride < CHUNK_SIZE ? CHUNK_SIZE / queue->ring.slots.request_stride : 1;
    queue->marks = gyre_lines_alloc(options->capacity);
    if (!queue->marks)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %s", label);
    return options->lent ? gyre_lent_create(queue) : GYRE_OK;
}

gyre_status gyre_queue_make(const struct gyre_queue_options *options, int descriptor, gyre_queue **out)
{
    char label[GYRE_LABEL_SIZE];
    *out = NULL;
    gyre_status status = options_check(options);
    if (status != GYRE_OK)
        return status;
    gyre_queue *queue = aligned_alloc(GYRE_PAIR_SIZE, sizeof *queue);
    if (!queue)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %s",
                              gyre_queue_label_of(options->name, label, sizeof label));
    memset(queue, 0, sizeof *queue);
    queue->ring.region = GYRE_REGION_NONE;
    options_adopt(queue, options);
    status = memory_make(queue, options, descriptor);
    if (status == GYRE_OK)
        *out = queue;
    else
        gyre_queue_destroy(queue);
    return status;
}

void gyre_queue_own_growth(gyre_queue *queue, const struct gyre_queue_options *options)
{
    queue->forms.request_growth = options->request_growth;
    queue->forms.reply_growth = options->reply_growth;
}

/* Ends every wait in the queue, now and later, and ends the queue's own threads. */
static void waits_end(gyre_queue *queue)
{
    if (queue->ring.region.address) {
        gyre_queue_close_sends(queue);
        gyre_queue_complete_unhandled(queue); /* else a thread that waits for a reply would never leave */
        /* a thread may also wait for a message in front of the ring, which finds no room there any more */
        __atomic_store_n(&queue->state.abandoned, 1, __ATOMIC_SEQ_CST);
    }
    gyre_queue_leave_sets(queue);
    if (queue->watch)
        queue->watch->destroy(queue);
    for (size_t i = 0; i < GYRE_STAGES_MAX; i++)
        if (queue->stages.all[i] && queue->stages.all[i]->close)
            queue->stages.all[i]->close(queue);
    while (__atomic_load_n(&queue->state.inside, __ATOMIC_ACQUIRE)) {
        gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
        gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
        sched_yield();
    }
}

void gyre_queue_destroy(gyre_queue *queue)
{
    if (!queue)
        return;
    waits_end(queue);
    for (unsigned number = 0; number < GYRE_STAGES_MAX; number++)
        gyre_stage_remove(queue, number);
    gyre_lent_destroy(queue);
    if (queue->foreign.doorbell >= 0)
        close(queue->foreign.doorbell);
    free(queue->foreign.origins);
    gyre_names_release(&queue->foreign.names);
    gyre_ring_destroy(&queue->ring);
    gyre_queue_growth_finish(&queue->forms.request_growth);
    gyre_queue_growth_finish(&queue->forms.reply_growth);
    free(queue->marks);
    free(queue);
}

void gyre_queue_release(gyre_queue *queue)
{
    /* first, because gyre_queue_destroy would complete the requests in the region */
    gyre_region_destroy(&queue->ring.region);
    gyre_queue_destroy(queue);
}

gyre_status gyre_queue_stats_get(const gyre_queue *queue, gyre_queue_stats *stats)
{
    gyre_queue_stats now = {0};
    if (!queue || !stats || stats->size < sizeof stats->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_queue_stats_get needs a queue and stats with their size set");
    now.capacity = queue->ring.capacity;
    now.request_size = queue->ring.request_size;
    now.reply_size = queue->ring.reply_size;
    now.region_size = queue->ring.region.size;
    now.sent = gyre_queue_next_number(queue) - queue->ring.first_sequence;
    now.rejected = __atomic_load_n(&queue->producer.rejected, __ATOMIC_RELAXED);
    /* read before the cursor, which moved before these counts grew (release): no difference is below 0 */
    now.abandoned = __atomic_load_n(&queue->consumer.abandoned, __ATOMIC_ACQUIRE);
    uint64_t dropped_unread = __atomic_load_n(&queue->consumer.dropped, __ATOMIC_ACQUIRE);
    now.received = gyre_received(queue) - queue->ring.first_sequence;
    now.dropped = __atomic_load_n(&queue->producer.dropped, __ATOMIC_RELAXED) + dropped_unread;
    now.received -= dropped_unread + now.abandoned;
    now.high_water = __atomic_load_n(&queue->producer.high_water, __ATOMIC_RELAXED);
    now.send_waits = __atomic_load_n(&queue->producer.waits, __ATOMIC_RELAXED);
    now.receive_waits = __atomic_load_n(&queue->consumer.waits, __ATOMIC_RELAXED);
    for (size_t i = 0; i < GYRE_STAGES_MAX; i++)
        if (queue->stages.all[i] && queue->stages.all[i]->count)
            queue->stages.all[i]->count(queue, &now);
    now.duplicates = __atomic_load_n(&queue->producer.duplicates, __ATOMIC_RELAXED);
    if (queue->line)
        now.waiting = queue->line->waiting(queue);
    gyre_info_give(stats, &now, sizeof now);
    return GYRE_OK;
}
