/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures when messages were sent, handled and received, for kernels that were compiled to stamp messages.
 *
 * A device has a clock of its own. No message is spent to measure its distance from the host's clock: each timed message
 * bounds that distance, because the handler began after the send and ended before the receipt. Fast messages give the
 * narrowest bounds. The bounds are made anew every WINDOW_NS, so that the clocks drift by less than the bounds are wide.
 *
 * Lock: timing->lock, innermost, for everything but what senders note. Senders take none, because the lock would make each of them wait
 * for receivers. It is taken only where messages are timed.
 */
#include "core/stages/timing.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/lines.h"
#include "core/queue/foreign.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/progress.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/ring_message.h"
#include "core/stages/device_clock.h"
#include "core/stages/order.h"
#include "core/stages/told.h"
#include "gyre/pace.h"
#include "gyre/waiting.h"

#define WINDOW_NS     UINT64_C(20000000) /* age at which bounds are made anew; clocks drift by some 10 ppm */
#define STAMP_WAIT_NS UINT64_C(100000)   /* longest wait for a stamp, which may arrive after its completion */

/* How far the device's clock is ahead: not less than `low`, not more than `high`. */
struct bounds {
    int64_t low, high;
};

/* What a sender notes, one for each slot. Atomic: receivers read it. A slot has its next request when this one was received. */
struct departure {
    uint64_t number; /* index of the slot's request, plus 1; stored last */
    uint64_t sent_ns;
    uint64_t stamp; /* 0: nobody traced the process when the request was sent */
};

struct entry {
    uint64_t number; /* index of the entry's request, which was received, plus 1 */
    uint64_t sent_ns, started_ns, finished_ns, received_ns, error_ns;
    bool stamped;
    bool passed_over; /* its device left the times of this one out (gyre_stamp) */
};

struct gyre_queue_timing {
    pthread_mutex_t lock;
    uint64_t every; /* constant: messages whose index is a multiple of this power of two are timed */
    /* Atomic, written by senders: messages whose index is a multiple of `stride` are noted, and when the last one was. A look at the clock
     * costs as much as two messages of a stream. */
    uint64_t stride, noted_ns;
    const gyre_stamp *stamps;
    struct departure *departures; /* for each slot */
    struct entry *entries;        /* for each slot: the times of the last request that was received there */
    bool silent; /* a handler left no stamp once: receivers do not wait for stamps any more */
    struct bounds now, before;
    uint64_t window_ns;      /* when `now` began */
    uint64_t timed, weight;  /* with those that were passed over; for how many the next one counts */
    uint64_t turn;           /* of those whose turn it was: the index of the first that counts nowhere yet */
    gyre_trace_point traced; /* `record` is the queue's */
    struct gyre_device_clock device; /* for traces alone */
    /* Of a lent queue in its server: what the client tells, which is taken whenever somebody asks for the times. */
    gyre_observe_histogram times[GYRE_OBSERVE_TIMES];
    struct gyre_told_times
        *told; /* constant; in the client: where to tell the times; NULL: nobody wants them */
};

static const struct bounds unbounded = {INT64_MIN, INT64_MAX};

static struct gyre_queue_timing *timing_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_TIMING);
}

static uint64_t stride_of(const struct gyre_queue_timing *timing)
{
    return __atomic_load_n(&timing->stride,
                           __ATOMIC_RELAXED); /* relaxed: whoever sees an old one times more or less */
}

/* The first index from `index` on that is a multiple of the stride. */
static uint64_t next_timed(uint64_t stride, uint64_t index)
{
    return (index + stride - 1) & ~(stride - 1);
}

/* Adapts the stride to how fast messages come, of which `count` are noted now. */
static void adapt_stride(struct gyre_queue_timing *timing, uint64_t stride, uint64_t count, uint64_t now,
                         bool traced)
{
    if (timing->every < GYRE_PACED_FROM)
        return;
    const uint64_t gap = now - __atomic_load_n(&timing->noted_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&timing->noted_ns, now, __ATOMIC_RELAXED);
    __atomic_store_n(&timing->stride,
                     traced ? timing->every : gyre_pace_stride(stride, timing->every, count, gap),
                     __ATOMIC_RELAXED);
}

static void timing_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    struct gyre_queue_timing *timing = timing_of(queue);
    const uint64_t stride = stride_of(timing), first = next_timed(stride, sending->first);
    if (first >= sending->end)
        return;
    gyre_trace *const trace = gyre_trace_wanted(&timing->traced);
    const uint64_t now = gyre_clock_ns(), stamp = trace ? gyre_trace_stamp(trace, now, 0) : 0;
    adapt_stride(timing, stride, 1 + (sending->end - 1 - first) / stride, now, trace != NULL);
    for (uint64_t index = first; index < sending->end; index += stride) {
        struct departure *departure = &timing->departures[index & gyre_ring_of(queue)->mask];
        __atomic_store_n(&departure->sent_ns, now, __ATOMIC_RELAXED);
        __atomic_store_n(&departure->stamp, stamp, __ATOMIC_RELAXED);
        __atomic_store_n(&departure->number, index + 1, __ATOMIC_RELEASE); /* pairs with is_due */
    }
}

/* Whether the request is timed, and was not received before; then *departure says when it was sent. Under the lock. */
static bool is_due(const gyre_queue *queue, const struct gyre_queue_timing *timing, uint64_t index,
                   struct departure *departure)
{
    const uint64_t place = index & gyre_ring_of(queue)->mask;
    const struct departure *noted = &timing->departures[place];
    departure->number = __atomic_load_n(&noted->number, __ATOMIC_ACQUIRE);
    departure->sent_ns = __atomic_load_n(&noted->sent_ns, __ATOMIC_RELAXED);
    departure->stamp = __atomic_load_n(&noted->stamp, __ATOMIC_RELAXED);
    return departure->number == index + 1 && timing->entries[place].number != index + 1;
}

/* ---- comparing clocks ---- */

static struct bounds bounds_meet(struct bounds a, struct bounds b)
{
    return (struct bounds){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* Narrows the distance of the two clocks by the times of one message. */
static void clocks_learn(struct gyre_queue_timing *timing, const struct entry *entry)
{
    const struct bounds told = {(int64_t)(entry->finished_ns - entry->received_ns),
                                (int64_t)(entry->started_ns - entry->sent_ns)};
    if (entry->received_ns - timing->window_ns > WINDOW_NS) {
        timing->before = timing->now;
        timing->now = unbounded;
        timing->window_ns = entry->received_ns;
    }
    timing->now = bounds_meet(timing->now, told);
    if (timing->now.low > timing->now.high) /* a clock was set: forget what earlier messages said */
        timing->now = told, timing->before = unbounded;
}

static struct bounds clocks_bounds(const struct gyre_queue_timing *timing)
{
    const struct bounds bounds = bounds_meet(timing->now, timing->before);
    return bounds.low > bounds.high ? timing->now : bounds;
}

/* The best guess of the clocks' distance: 0 where one clock serves both sides, else the middle of the bounds. */
static int64_t clocks_distance(const struct gyre_queue_timing *timing, uint64_t *error_ns)
{
    const struct bounds bounds = clocks_bounds(timing);
    *error_ns = 0;
    if (bounds.low <= 0 && bounds.high >= 0)
        return 0;
    *error_ns =
        ((uint64_t)bounds.high - (uint64_t)bounds.low) / 2; /* any value, when a device made up its stamps */
    return (int64_t)((uint64_t)bounds.low + *error_ns);     /* wraps if the bounds contradict each other */
}

static uint64_t time_within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Counts a time, also for the messages that were passed over before. */
static void count_time(struct gyre_queue_timing *timing, enum gyre_observe_time time, uint64_t ns)
{
    const uint32_t bucket = gyre_observe_bucket(ns);
    timing->times[time].buckets[bucket] += timing->weight;
    timing->times[time].sum_ns += ns * timing->weight;
    if (timing->told)
        gyre_told_store(timing->told, &timing->times[time], bucket);
}

static void stamps_translate(struct gyre_queue_timing *timing, struct entry *entry)
{
    clocks_learn(timing, entry);
    const int64_t ahead = clocks_distance(timing, &entry->error_ns);
    entry->started_ns = time_within(entry->started_ns - (uint64_t)ahead, entry->sent_ns, entry->received_ns);
    entry->finished_ns =
        time_within(entry->finished_ns - (uint64_t)ahead, entry->started_ns, entry->received_ns);
    timing->timed += timing->weight;
    count_time(timing, GYRE_OBSERVE_WAITED, entry->started_ns - entry->sent_ns);
    count_time(timing, GYRE_OBSERVE_HANDLED, entry->finished_ns - entry->started_ns);
    count_time(timing, GYRE_OBSERVE_RETURNED, entry->received_ns - entry->finished_ns);
    count_time(timing, GYRE_OBSERVE_ROUND_TRIP, entry->received_ns - entry->sent_ns);
    timing->weight = 0;
}

/* ---- stamps ---- */

static bool read_stamp(const gyre_stamp *stamp, uint64_t number, struct entry *entry)
{
    /* acquire: pairs with the device's release of either half's sequence */
    if (__atomic_load_n(&stamp->sequence, __ATOMIC_ACQUIRE) != number ||
        __atomic_load_n(&stamp->sequence_again, __ATOMIC_ACQUIRE) != number)
        return false;
    entry->started_ns = __atomic_load_n(&stamp->started_ns, __ATOMIC_RELAXED);
    entry->finished_ns = __atomic_load_n(&stamp->finished_ns, __ATOMIC_RELAXED);
    return true;
}

/* True when a handler ran for the request. A failed request may have failed before its handler ran, and then has no stamp. */
static bool has_run(const gyre_queue *queue, uint64_t index)
{
    const uint32_t outcome = gyre_reply_slot(gyre_ring_of(queue), index)->info;
    return outcome == GYRE_OUTCOME_REPLY || outcome == GYRE_OUTCOME_NO_REPLY;
}

static bool await_stamp(gyre_queue *queue, uint64_t index, struct entry *entry)
{
    struct gyre_queue_timing *timing = timing_of(queue);
    const gyre_stamp *stamp = timing->stamps + (index & gyre_ring_of(queue)->mask);
    const uint32_t outcome = gyre_reply_slot(gyre_ring_of(queue), index)->info;
    if (outcome == GYRE_OUTCOME_DROPPED || outcome == GYRE_OUTCOME_UNHANDLED)
        return false;
    if (read_stamp(stamp, index + 1, entry))
        return true; /* without a look at the clock, which costs as much as two messages of a stream */
    const uint64_t until = timing->silent ? 0 : gyre_clock_ns() + STAMP_WAIT_NS;
    while (gyre_clock_ns() < until) {
        gyre_spin_pause();
        if (read_stamp(stamp, index + 1, entry))
            return true;
    }
    if (has_run(queue, index))
        timing->silent = true;
    return false;
}

/* The stamp of an event on the device, `time` by its clock, which came after the one with the stamp `after`. */
static uint64_t stamp_on_device(struct gyre_queue_timing *timing, uint64_t time, uint64_t after,
                                const struct entry *entry)
{
    const struct bounds bounds = clocks_bounds(timing);
    const struct gyre_device_event event = {.time = time,
                                            .low = bounds.low,
                                            .high = bounds.high,
                                            .after = after,
                                            .no_later_ns = entry->received_ns};
    return gyre_device_clock_stamp(&timing->device, &event);
}

/* Notes the receipt of a message for those who trace the process. Of `by_device` the times on the device are by its own clock. */
static void trace_message(const gyre_queue *queue, struct gyre_queue_timing *timing, gyre_trace *trace,
                          uint64_t sent_stamp, const struct entry *entry, const struct entry *by_device)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    gyre_observe_span span = {.kind = GYRE_OBSERVE_SPAN_MESSAGE,
                              .record = timing->traced.record,
                              .queue = gyre_trace_key(trace, ring->shared),
                              .index = entry->number - 1,
                              .sent_ns = sent_stamp ? sent_stamp : entry->sent_ns};
    span.started_ns = stamp_on_device(timing, by_device->started_ns, span.sent_ns, entry);
    span.finished_ns = stamp_on_device(timing, by_device->finished_ns, span.started_ns, entry);
    span.received_ns = gyre_trace_stamp(trace, entry->received_ns, span.finished_ns);
    if (ring->slots.header_size == sizeof(gyre_header))
        memcpy(span.trace, gyre_header_at(ring, span.index) + offsetof(gyre_header, trace),
               sizeof span.trace);
    gyre_trace_write(trace, &span);
}

/* The first request of [first, end) that its sender noted; `end`: there is none. Takes no lock. */
static uint64_t first_noted(const gyre_queue *queue, const struct gyre_queue_timing *timing, uint64_t step,
                            uint64_t first, uint64_t end)
{
    for (uint64_t index = next_timed(step, first); index < end; index += step)
        if (__atomic_load_n(&timing->departures[index & gyre_ring_of(queue)->mask].number,
                            __ATOMIC_RELAXED) == index + 1)
            return index;
    return end;
}

/*
 * For how many messages request `index` counts, which was received: itself, and those since the last one whose turn it was and that their
 * sender did not note. One that is taken behind a later one counts for none, since that one counted for it. Under the lock.
 */
static uint64_t take_turns(struct gyre_queue_timing *timing, uint64_t index)
{
    if (timing->every < GYRE_PACED_FROM)
        return 1;
    const uint64_t first = timing->turn;
    if (index < first)
        return 0;
    timing->turn = index + timing->every;
    return (timing->turn - first) / timing->every;
}

static void timing_taken(gyre_queue *queue, uint64_t first, uint64_t end)
{
    struct gyre_queue_timing *timing = timing_of(queue);
    /* half of the stride: it may have grown since the requests were sent */
    const uint64_t stride = stride_of(timing), step = stride > timing->every ? stride / 2 : stride;
    const uint64_t first_timed = first_noted(queue, timing, step, first, end);
    if (first_timed >= end)
        return;
    pthread_mutex_lock(&timing->lock);
    gyre_trace *const trace = gyre_trace_wanted(&timing->traced);
    const uint64_t now = gyre_clock_ns();
    for (uint64_t index = first_timed; index < end; index += step) {
        struct entry *entry = &timing->entries[index & gyre_ring_of(queue)->mask];
        struct departure departure;
        if (!is_due(queue, timing, index, &departure))
            continue;
        *entry = (struct entry){.number = index + 1, .sent_ns = departure.sent_ns, .received_ns = now};
        entry->stamped = await_stamp(queue, index, entry);
        entry->passed_over = entry->stamped && !entry->started_ns;
        entry->stamped = entry->stamped && !entry->passed_over;
        const uint64_t turns = take_turns(timing, index);
        timing->weight += entry->stamped || entry->passed_over ? turns : 0;
        if (!entry->stamped)
            continue;
        const struct entry by_device = *entry;
        stamps_translate(timing, entry);
        if (trace)
            trace_message(queue, timing, trace, departure.stamp, entry, &by_device);
    }
    pthread_mutex_unlock(&timing->lock);
}

/* ---- telling ---- */

/* Takes the times that the client of a lent queue tells, once: under the lock. */
static void take_told(const gyre_queue *queue, struct gyre_queue_timing *timing)
{
    if (!timing->told || !gyre_foreign_of(queue)->lent)
        return;
    gyre_told_take(timing->told, timing->times);
    timing->timed = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        timing->timed += timing->times[GYRE_OBSERVE_ROUND_TRIP].buckets[i];
}

static void timing_count(const gyre_queue *queue, gyre_queue_stats *stats)
{
    struct gyre_queue_timing *timing = timing_of(queue);
    pthread_mutex_lock(&timing->lock);
    take_told(queue, timing);
    stats->timed = timing->timed;
    stats->waited_ns = timing->times[GYRE_OBSERVE_WAITED].sum_ns;
    stats->handled_ns = timing->times[GYRE_OBSERVE_HANDLED].sum_ns;
    stats->returned_ns = timing->times[GYRE_OBSERVE_RETURNED].sum_ns;
    pthread_mutex_unlock(&timing->lock);
}

void gyre_timing_trace(gyre_queue *queue, gyre_trace *trace, uint32_t record)
{
    struct gyre_queue_timing *timing = timing_of(queue);
    if (!timing)
        return;
    pthread_mutex_lock(&timing->lock);
    timing->traced.record = record;
    __atomic_store_n(&timing->traced.trace, trace, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&timing->lock);
}

uint64_t gyre_timing_every(const gyre_queue *queue)
{
    const struct gyre_queue_timing *timing = timing_of(queue);
    return timing ? timing->every : 0;
}

bool gyre_timing_histograms(const gyre_queue *queue, gyre_observe_histogram out[GYRE_OBSERVE_TIMES])
{
    struct gyre_queue_timing *timing = timing_of(queue);
    if (!timing)
        return false;
    pthread_mutex_lock(&timing->lock);
    take_told(queue, timing);
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++) {
        const uint32_t record = out[time].record;
        out[time] = timing->times[time];
        out[time].record = record;
        out[time].time = time;
    }
    pthread_mutex_unlock(&timing->lock);
    return true;
}

static gyre_status timing_refuse(const gyre_queue *queue, const struct gyre_queue_timing *timing,
                                 const struct entry *entry, uint64_t index)
{
    const struct departure *noted = &timing->departures[index & gyre_ring_of(queue)->mask];
    const bool passed_over = entry->number == index + 1
                                 ? entry->passed_over
                                 : timing->every >= GYRE_PACED_FROM && index < gyre_received(queue) &&
                                       __atomic_load_n(&noted->number, __ATOMIC_ACQUIRE) <
                                           index + 1; /* its sender noted nothing */
    if (index % timing->every != 0)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "request %llu is not timed: kernel.NAME.timing_every = %llu times one message of so many, "
            "those whose index it divides",
            (unsigned long long)index, (unsigned long long)timing->every);
    if (entry->number != index + 1 && !passed_over)
        return gyre_error_set(GYRE_AGAIN,
                              "request %llu was not received yet, or its place was taken by a later one",
                              (unsigned long long)index);
    if (passed_over)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "request %llu was not timed: its messages come so fast that a block times one in %u us, "
            "which counts for the others; a smaller kernel.NAME.timing_every than %u times each "
            "message whose turn it is",
            (unsigned long long)index, GYRE_PACE_NS / 1000U, (unsigned)GYRE_PACED_FROM);
    return gyre_error_set(GYRE_UNAVAILABLE, "the handler of request %llu left no time: %s",
                          (unsigned long long)index,
                          timing->silent ? "the kernel was compiled without kernel.NAME.timing, "
                                           "or its backend does not time messages"
                                         : "the request was dropped or refused before it was handled");
}

static void timing_tell(const struct entry *entry, gyre_timing *timing)
{
    timing->sent_ns = entry->sent_ns;
    timing->started_ns = entry->started_ns;
    timing->finished_ns = entry->finished_ns;
    timing->received_ns = entry->received_ns;
    timing->error_ns = entry->error_ns;
}

static struct entry entry_copy(struct gyre_queue_timing *timing, const gyre_queue *queue, uint64_t index)
{
    pthread_mutex_lock(&timing->lock);
    const struct entry entry = timing->entries[index & gyre_ring_of(queue)->mask];
    pthread_mutex_unlock(&timing->lock);
    return entry;
}

static void timing_told(const gyre_queue *queue, uint64_t index, gyre_message_info *info)
{
    const struct entry entry = entry_copy(timing_of(queue), queue, index);
    if (entry.number != index + 1 || !entry.stamped)
        return;
    info->started_ns = entry.started_ns;
    info->finished_ns = entry.finished_ns;
    info->time_error_ns = entry.error_ns;
}

static void timing_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_timing *timing = state;
    (void)queue;
    pthread_mutex_destroy(&timing->lock);
    free(timing->departures);
    free(timing->entries);
    free(timing);
}

gyre_status gyre_timing_create(gyre_queue *queue, uint32_t every)
{
    static const struct gyre_queue_stage stage = {.number = GYRE_STAGE_TIMING,
                                                  .sent = timing_sent,
                                                  .taken = timing_taken,
                                                  .told = timing_told,
                                                  .count = timing_count,
                                                  .destroy = timing_destroy};
    const struct gyre_ring *ring = gyre_ring_of(queue);
    struct gyre_queue_timing *timing = gyre_lines_alloc(sizeof *timing);
    struct departure *departures = gyre_lines_alloc(ring->capacity * sizeof *departures);
    struct entry *entries = gyre_lines_alloc(ring->capacity * sizeof *entries);
    if (!timing || !departures || !entries) {
        free(timing);
        free(departures);
        free(entries);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to time the messages of a queue");
    }
    pthread_mutex_init(&timing->lock, NULL);
    timing->stamps =
        (const gyre_stamp *)(const void *)((const unsigned char *)ring->shared + ring->slots.stamps_offset);
    timing->every = timing->stride = every ? every : 1;
    timing->turn = next_timed(timing->every, gyre_queue_next_index(queue));
    timing->departures = departures;
    timing->entries = entries;
    timing->now = timing->before = unbounded;
    timing->told = ring->told_times;
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        timing->times[time].time = time;
    gyre_stage_add_sparse(queue, &stage, timing, timing->every);
    return GYRE_OK;
}

gyre_status gyre_timing_get(const gyre_queue *queue, uint64_t index, gyre_timing *timing)
{
    gyre_timing now = {0};
    char label[GYRE_LABEL_SIZE];
    if (!queue || !timing || timing->size < sizeof timing->size)
        return GYRE_ARGUMENTS("gyre_timing_get", {"queue", queue}, GYRE_SIZED(timing));
    struct gyre_queue_timing *times = timing_of(queue);
    if (!times)
        return gyre_error_set(GYRE_INVALID,
                              "the messages of %s are not timed: "
                              "set kernel.NAME.timing = true before the kernel is launched",
                              gyre_queue_label(queue, label, sizeof label));
    if (gyre_queue_has_line(queue))
        return gyre_error_set(
            GYRE_INVALID,
            "%s has levels, where an index is no place in the ring; gyre_receive_with tells times",
            gyre_queue_label(queue, label, sizeof label));
    const struct entry entry = entry_copy(times, queue, index);
    gyre_status status =
        entry.number == index + 1 && entry.stamped ? GYRE_OK : timing_refuse(queue, times, &entry, index);
    if (status != GYRE_OK)
        return status;
    timing_tell(&entry, &now);
    gyre_info_give(timing, &now, sizeof now);
    return GYRE_OK;
}
