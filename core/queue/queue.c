/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues: made and freed, and what is counted of them. How they end is in end.c, the paths of messages in
 * send.c, receive.c and call.c.
 */
#include "core/queue/queue_inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/info.h"
#include "core/stages/behaviours.h"
#include "core/base/lines.h"
#include "core/queue/lent.h"
#include "core/stages/log.h"
#include "core/stages/spans.h"

enum {
    LABEL_SIZE = 96,
    CHUNK_SIZE = 16384, /* bytes of a batch that a worker waits for; a part of a first-level cache */
};

static const char *label_of(const char *name, char *text, size_t size)
{
    snprintf(text, size, name[0] ? "queue '%s'" : "the queue%s", name);
    return text;
}

const char *gyre_queue_label(const gyre_queue *queue, char *text, size_t size)
{
    return label_of(queue->name, text, size);
}

gyre_status gyre_queue_tell_refused(const gyre_queue *queue)
{
    char label[LABEL_SIZE];
    if (queue->state.misused)
        return gyre_error_set(
            GYRE_INVALID,
            "two threads used one side of %s at the same time, and it is configured with "
            "threads = one: configure threads = many, or give each thread a queue of its own",
            gyre_queue_label(queue, label, sizeof label));
    return gyre_error_set(GYRE_CLOSED, "%s belongs to the process that forked this one; open a runtime here",
                          gyre_queue_label(queue, label, sizeof label));
}

const char *gyre_control_why_lost(const gyre_control_region *control, char *text, size_t size)
{
    char why[sizeof control->device.lost_why + 1] = "";
    if (__atomic_load_n(&control->device.lost, __ATOMIC_ACQUIRE))
        memcpy(why, control->device.lost_why, sizeof control->device.lost_why); /* once: it may change */
    for (char *at = why; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    snprintf(text, size, why[0] ? " (%s)" : "%s", why);
    return text;
}

gyre_status gyre_queue_tell_lost(const gyre_queue *queue)
{
    char label[LABEL_SIZE], why[64];
    gyre_queue_label(queue, label, sizeof label);
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE) && queue->state.lost_why)
        return gyre_error_set(GYRE_LOST, "%s is lost: %s", label, queue->state.lost_why);
    if (__atomic_load_n(&queue->state.orphaned, __ATOMIC_ACQUIRE))
        return gyre_error_set(GYRE_LOST, "the program that served %s ended; attach again when it is back",
                              label);
    return gyre_error_set(GYRE_LOST,
                          "the device behind %s died%s, and its kernel with it; launch the kernel again",
                          label, gyre_control_why_lost(queue->control, why, sizeof why));
}

static gyre_status check_options(const struct gyre_queue_options *options)
{
    char label[LABEL_SIZE];
    uint64_t capacity = options->capacity;
    label_of(options->name, label, sizeof label);
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

/* What messages may measure, and which of the ways through a queue that leaves to them. */
static void adopt_sizes(gyre_queue *queue, const struct gyre_queue_options *options)
{
    queue->request_size = options->request_size;
    queue->reply_size = options->reply_size;
    queue->request_least = options->request_least;
    queue->caller_request_size = options->caller_request_size;
    queue->caller_reply_size = options->caller_reply_size;
    queue->packets = options->wire != 0;
    queue->reply_room = options->wire ? options->reply_room : options->reply_size;
    queue->quick_reply_size =
        options->wire || options->reply_growth.callers || options->sealed ? 0 : options->reply_size;
    queue->detour = options->levels > 1 || options->dedup;
    queue->fixed_size = options->request_least ? 0 : options->request_size;
    queue->direct_size = queue->detour ? 0 : queue->fixed_size;
}

static void adopt_options(gyre_queue *queue, const struct gyre_queue_options *options)
{
    char label[96];
    snprintf(queue->name, sizeof queue->name, "%s", options->name);
    snprintf(queue->full_text, sizeof queue->full_text,
             "%s is full: %llu message%s under way; receive replies, or use a larger capacity",
             gyre_queue_label(queue, label, sizeof label), (unsigned long long)options->capacity,
             options->capacity == 1 ? " is" : "s are");
    queue->control = options->control;
    queue->capacity = options->capacity;
    queue->mask = options->capacity - 1;
    adopt_sizes(queue, options);
    queue->any_order = options->any_order;
    queue->policy = options->policy;
    queue->idle = options->idle;
    queue->spin_turns = options->idle != GYRE_WAIT_PARK ? options->spin_turns
                        : options->device_wakes         ? 0
                                                        : GYRE_LOOKS_BEFORE_NAPS;
    queue->many_threads = options->many_threads;
    queue->device_wakes = options->device_wakes;
    queue->device_returns = options->device_returns;
    int light = gyre_barrier_register();
    gyre_lock_init(&queue->producer.lock, light);
    gyre_lock_init(&queue->consumer.lock, light);
    queue->light_sends = light && !options->device_parks;
    queue->light_waits = light && options->idle != GYRE_WAIT_PARK;
    queue->gate = UINT64_MAX;
    queue->doorbell = -1;
    queue->first_sequence = options->first_sequence;
    queue->tells_covered = options->tells_covered;
    queue->tells_durable = options->tells_durable;
    queue->left = options->left;
    queue->producer.sent = options->first_sequence + options->left;
    queue->producer.received_seen = options->first_sequence;
    queue->producer.drop_before = options->first_sequence;
    queue->consumer.received = options->first_sequence;
}

/* A new region's lines. */
static void write_region(gyre_queue_region *shared, const gyre_queue *queue, const gyre_queue_shape *shape)
{
    shared->shape = *shape;
    shared->host.drop_before = queue->first_sequence;
    shared->host.parks = queue->idle == GYRE_WAIT_PARK;
    shared->claim.next = queue->first_sequence;
}

static void adopt_region(gyre_queue *queue, const gyre_queue_slots *slots,
                         const struct gyre_queue_options *options)
{
    unsigned char *base = queue->region.address;
    queue->shared = queue->region.address;
    queue->slots = *slots;
    queue->requests = base + slots->request_offset;
    queue->replies = base + slots->reply_offset;
    queue->request_stride = slots->request_stride;
    queue->reply_stride = slots->reply_stride;
    queue->chunk = queue->request_stride < CHUNK_SIZE ? CHUNK_SIZE / queue->request_stride : 1;
    if (options->express)
        queue->express = (gyre_express_line *)(void *)queue->requests - slots->express_requests;
    if (options->express_replies)
        queue->express_replies = queue->express - slots->express_replies;
    queue->header_size = slots->header_size;
    if (slots->header_size)
        queue->headers = base + slots->headers_offset;
    if (slots->sealed)
        queue->seals = (gyre_u32 *)(void *)(base + GYRE_SEALS_OFFSET(slots));
    queue->annotated = options->timed || options->header_size;
}

/* Deadlines are for queues whose headers hold one, whether the configuration gives it or a sender. */
static gyre_status create_behaviours(gyre_queue *queue, const struct gyre_queue_options *options)
{
    const bool deadlines = options->header_size > offsetof(gyre_header, deadline_ns);
    queue->ttl_ns = options->ttl_ns;
    queue->request_type = options->request_type;
    /* the attendant is one more */
    queue->many_threads = queue->many_threads || deadlines || options->levels > 1;
    gyre_status status = gyre_queue_letters_create(queue, options->dead_letters);
    if (status == GYRE_OK && deadlines)
        status = gyre_queue_expiry_create(queue, options->ttl_ns);
    if (status == GYRE_OK && options->dedup)
        status = gyre_queue_known_create(queue, options->dedup);
    if (status == GYRE_OK && options->levels > 1)
        status = gyre_queue_levels_create(queue, options);
    if (status == GYRE_OK && (deadlines || options->levels > 1))
        status = gyre_queue_attendant_create(queue);
    return status;
}

/* The memory that both sides have. `descriptor`: of a region that is there already; -1: a new one. */
static gyre_status create_region(gyre_queue *queue, const struct gyre_queue_options *options, int descriptor,
                                 gyre_bridge *bridge)
{
    gyre_queue_shape shape;
    gyre_queue_slots slots;
    char label[LABEL_SIZE];
    label_of(options->name, label, sizeof label);
    if (options->capacity > SIZE_MAX / (2 * (GYRE_PAYLOAD_MAX + (uint64_t)GYRE_LINE_SIZE)))
        return gyre_error_set(GYRE_EXHAUSTED, "%s: a capacity of %llu slots is more than any machine holds",
                              label, (unsigned long long)options->capacity);
    gyre_queue_lay_out(options, &shape, &slots);
    gyre_bridge_plan(options, &shape, bridge);
    gyre_status status = descriptor < 0
                             ? gyre_region_create(label, shape.region_size, &queue->region)
                             : gyre_region_open(label, descriptor, shape.region_size, &queue->region);
    if (status != GYRE_OK)
        return status;
    if (descriptor < 0)
        write_region(queue->region.address, queue, &shape);
    adopt_region(queue, &slots, options);
    return GYRE_OK;
}

/* What this side alone has. */
static gyre_status create_own(gyre_queue *queue, const struct gyre_queue_options *options,
                              const gyre_bridge *bridge)
{
    gyre_status status = GYRE_OK;
    char label[LABEL_SIZE];
    queue->marks = gyre_lines_alloc(options->capacity);
    if (!queue->marks)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %s",
                              label_of(options->name, label, sizeof label));
    if (options->timed)
        status = gyre_queue_timing_create(queue);
    if (status == GYRE_OK && bridge->words_offset)
        status = gyre_bridge_create(queue, bridge);
    if (status != GYRE_OK)
        return status;
    return options->lent ? gyre_lent_create(queue) : create_behaviours(queue, options); /* the client's */
}

static gyre_status create(const struct gyre_queue_options *options, int descriptor, gyre_queue **out)
{
    gyre_bridge bridge;
    char label[LABEL_SIZE];
    *out = NULL;
    gyre_status status = check_options(options);
    if (status != GYRE_OK)
        return status;
    gyre_queue *queue = aligned_alloc(GYRE_PAIR_SIZE, sizeof *queue);
    if (!queue)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %s",
                              label_of(options->name, label, sizeof label));
    memset(queue, 0, sizeof *queue);
    queue->region = GYRE_REGION_NONE;
    adopt_options(queue, options);
    status = create_region(queue, options, descriptor, &bridge);
    if (status == GYRE_OK)
        status = create_own(queue, options, &bridge);
    if (status != GYRE_OK) {
        gyre_queue_destroy(queue);
        return status;
    }
    queue->request_growth = options->request_growth; /* now, so that a failure leaves them to the caller */
    queue->reply_growth = options->reply_growth;
    *out = queue;
    return GYRE_OK;
}

gyre_status gyre_queue_create(const struct gyre_queue_options *options, gyre_queue **out)
{
    return create(options, -1, out);
}

gyre_status gyre_queue_create_at(const struct gyre_queue_options *options, int descriptor, gyre_queue **out)
{
    return create(options, descriptor, out);
}

void gyre_queue_destroy(gyre_queue *queue)
{
    if (!queue)
        return;
    if (queue->region.address) {
        gyre_queue_close_sends(queue);
        gyre_queue_complete_unhandled(queue); /* or who waits for a reply would never leave */
        /* ... nor would who waits for a message that finds no room in the ring any more */
        __atomic_store_n(&queue->state.abandoned, 1, __ATOMIC_SEQ_CST);
    }
    gyre_queue_leave_sets(queue);
    gyre_queue_watch_destroy(queue);
    gyre_queue_attendant_destroy(queue);
    gyre_queue_letters_close(queue);
    while (__atomic_load_n(&queue->state.inside, __ATOMIC_ACQUIRE)) {
        gyre_bell_ring(&queue->shared->device.bell, INT_MAX);
        gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
        sched_yield();
    }
    gyre_queue_timing_destroy(queue);
    gyre_lent_destroy(queue);
    if (queue->doorbell >= 0)
        close(queue->doorbell);
    gyre_queue_log_destroy(queue);
    gyre_bridge_destroy(queue->bridge);
    gyre_queue_letters_destroy(queue);
    gyre_queue_expiry_destroy(queue);
    gyre_queue_known_destroy(queue);
    gyre_queue_levels_destroy(queue);
    gyre_queue_spans_destroy(queue);
    free(queue->origins);
    gyre_names_release(&queue->names);
    gyre_region_destroy(&queue->region);
    gyre_queue_growth_finish(&queue->request_growth);
    gyre_queue_growth_finish(&queue->reply_growth);
    free(queue->marks);
    free(queue);
}

uint64_t gyre_queue_next_index(const gyre_queue *queue)
{
    if (queue->lent)
        gyre_lent_look(queue->lent);
    return __atomic_load_n(&queue->producer.sent, __ATOMIC_ACQUIRE);
}

uint64_t gyre_queue_outstanding(const gyre_queue *queue)
{
    uint64_t count = 0, end = gyre_queue_next_index(queue);
    for (uint64_t index = gyre_received(queue); index < end; index++)
        count += !gyre_reply_ready(queue, index);
    return queue->levels ? count + gyre_queue_levels_outstanding(queue) : count;
}

gyre_status gyre_queue_stats_get(const gyre_queue *queue, gyre_queue_stats *stats)
{
    gyre_queue_stats now = {0};
    if (!queue || !stats || stats->size < sizeof stats->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_queue_stats_get needs a queue and stats with their size set");
    now.capacity = queue->capacity;
    now.request_size = queue->request_size;
    now.reply_size = queue->reply_size;
    now.region_size = queue->region.size;
    now.sent = gyre_queue_next_index(queue) - queue->first_sequence;
    now.rejected = __atomic_load_n(&queue->producer.rejected, __ATOMIC_RELAXED);
    /* before the cursor, which moved before they grew (release): the difference is never below 0 */
    now.abandoned = __atomic_load_n(&queue->consumer.abandoned, __ATOMIC_ACQUIRE);
    uint64_t dropped_unread = __atomic_load_n(&queue->consumer.dropped, __ATOMIC_ACQUIRE);
    now.received = gyre_received(queue) - queue->first_sequence;
    now.dropped = __atomic_load_n(&queue->producer.dropped, __ATOMIC_RELAXED) + dropped_unread;
    now.received -= dropped_unread + now.abandoned;
    now.high_water = __atomic_load_n(&queue->producer.high_water, __ATOMIC_RELAXED);
    now.send_waits = __atomic_load_n(&queue->producer.waits, __ATOMIC_RELAXED);
    now.receive_waits = __atomic_load_n(&queue->consumer.waits, __ATOMIC_RELAXED);
    if (queue->timing)
        gyre_queue_timing_stats(queue, &now);
    gyre_queue_letters_stats(queue, &now);
    gyre_queue_spans_stats(queue, &now);
    now.duplicates = __atomic_load_n(&queue->producer.duplicates, __ATOMIC_RELAXED);
    if (queue->levels) {
        now.waiting = gyre_queue_waiting(queue);
        now.sent = gyre_queue_levels_sent(queue) - queue->first_sequence;
    }
    gyre_info_give(stats, &now, sizeof now);
    return GYRE_OK;
}
