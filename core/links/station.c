/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a station (station.h). */
#include "core/links/station.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/dispatch/dispatch.h"
#include "core/links/settle.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/outcome.h"
#include "core/ring/ready.h"
#include "gyre/waiting.h"

enum {
    BATCH = 32,
    LOOK_MS = 20 /* between two looks whether the pipeline ends, while requests are under way */
};

/* ---- sleeping ---- */

static bool is_stopping(const struct gyre_pipeline_part *part)
{
    return __atomic_load_n(&part->stopping, __ATOMIC_ACQUIRE) != 0;
}

static void ring_part(struct gyre_pipeline_part *part)
{
    gyre_bell_ring(&part->control->doorbell.bell, INT_MAX);
}

/* Wakes who sleeps at a control region, and got something. The fence pairs with that of who is about to sleep. */
static void wake(gyre_control_region *control)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->device.parked, __ATOMIC_RELAXED))
        gyre_bell_ring(&control->doorbell.bell, INT_MAX);
}

/* Sleeps until the part's bell rings, unless `look` finds something. `seen`: the bell before the look that found nothing. */
static void park(struct gyre_pipeline_part *part, uint32_t seen, bool (*look)(void *context), void *context)
{
    __atomic_fetch_add(&part->control->device.parked, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!look(context) && !is_stopping(part))
        gyre_futex_wait(&part->control->doorbell.bell, seen, UINT64_MAX);
    __atomic_fetch_sub(&part->control->device.parked, 1, __ATOMIC_SEQ_CST);
}

static uint32_t bell_of(const struct gyre_pipeline_part *part)
{
    return __atomic_load_n(&part->control->doorbell.bell, __ATOMIC_ACQUIRE);
}

/* ---- sending on ---- */

static gyre_link_slot *slot_of(const gyre_link_ring *ring, uint64_t index)
{
    return (gyre_link_slot *)(uintptr_t)(ring->slots + (index & (ring->capacity - 1)) * ring->stride);
}

/* Whether one message more fits, once room of sections that were fetched whole is taken back. */
static bool has_room(void *context)
{
    gyre_link_ring *ring = context;
    const uint64_t section = ring->capacity / GYRE_LINK_SECTIONS;
    uint64_t tail = ring->tail;
    while (tail + section <= ring->head) {
        const uint64_t laps = tail / ring->capacity + 1;
        const gyre_u64 *fetched = &ring->fetched[(tail & (ring->capacity - 1)) / section];
        /* pairs with the release of whoever fetched the section's last message */
        if (__atomic_load_n(fetched, __ATOMIC_ACQUIRE) < laps * section)
            break;
        tail += section;
    }
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    return ring->head - tail < ring->capacity;
}

/* False: the pipeline ends. */
static bool await_room(struct gyre_pipeline_part *part, gyre_link_ring *ring)
{
    while (!has_room(ring)) {
        const uint32_t seen = bell_of(part);
        if (is_stopping(part))
            return false;
        __atomic_store_n(&ring->starved, 1, __ATOMIC_SEQ_CST);
        park(part, seen, has_room, ring);
        __atomic_store_n(&ring->starved, 0, __ATOMIC_SEQ_CST);
    }
    return true;
}

/* Sends a message along one link. False: the pipeline ends. */
static bool send_along(struct gyre_station *station, const struct gyre_link *link,
                       const struct gyre_carried *carried, uint64_t origin)
{
    const gyre_pipeline *whole = station->part->whole;
    gyre_link_ring *ring =
        (gyre_link_ring *)(uintptr_t)(whole->wires.address + link->rings) + station->number;
    if (!await_room(station->part, ring))
        return false;
    gyre_link_slot *slot = slot_of(ring, ring->head);
    memcpy(slot + 1, carried->bytes, carried->length);
    slot->origin = origin;
    slot->length = carried->length;
    /* pairs with the acquire of who takes it */
    __atomic_store_n(&slot->sequence, (gyre_u32)(ring->head + 1), __ATOMIC_RELEASE);
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELAXED);
    wake((gyre_control_region *)(uintptr_t)whole->nodes[link->to].facts.control);
    return true;
}

static uint32_t count_sent(const struct gyre_pipeline_part *part, const struct gyre_carried *carried)
{
    uint32_t count = 0;
    for (; carried; carried = carried->next)
        count += part->ways[carried->outlet].count;
    return count;
}

/* Settles the message that a request was, and sends on what that caused. */
static void settle(struct gyre_station *station, struct gyre_station_place *place, struct gyre_settled *did)
{
    struct gyre_pipeline_part *part = station->part;
    bool goes_on = true;
    pthread_mutex_lock(&part->lock); /* from here on nothing comes for this place */
    struct gyre_carried *first = place->first;
    place->first = NULL;
    place->last = NULL;
    pthread_mutex_unlock(&part->lock);
    did->sent = count_sent(part, first);
    const uint64_t next = gyre_settle_begin(part->whole, place->origin, did);
    while (first) {
        struct gyre_carried *carried = first;
        const struct gyre_way *way = &part->ways[carried->outlet];
        for (uint32_t i = 0; i < way->count && goes_on; i++)
            goes_on = send_along(station, &part->whole->links[way->links[i]], carried, next);
        first = carried->next;
        free(carried);
    }
    gyre_settle_end(part->whole, place->origin, did);
}

static void fail(struct gyre_settled *did, const char *text)
{
    did->failed = true;
    did->failure = (gyre_failure){.code = GYRE_FAILURE_ELSEWHERE};
    snprintf(did->failure.text, sizeof did->failure.text, "%s", text);
}

/* ---- the feeder ---- */

static bool is_filled(const struct gyre_station_inlet *inlet)
{
    return __atomic_load_n(&slot_of(inlet->ring, inlet->next)->sequence, __ATOMIC_ACQUIRE) ==
           (gyre_u32)(inlet->next + 1); /* pairs with the sender's release */
}

static bool has_window(const struct gyre_station *station)
{
    return station->sent - __atomic_load_n(&station->returned, __ATOMIC_ACQUIRE) < station->window;
}

static bool can_feed(void *context)
{
    const struct gyre_station *station = context;
    for (uint32_t i = 0; i < station->inlet_count && has_window(station); i++)
        if (is_filled(&station->inlets[i]))
            return true;
    return false;
}

/* Counts the message as fetched. Room comes back in whole sections. */
static void give_back(struct gyre_station_inlet *inlet)
{
    gyre_link_ring *ring = inlet->ring;
    const uint64_t section = ring->capacity / GYRE_LINK_SECTIONS;
    gyre_u64 *fetched = &ring->fetched[(inlet->next & (ring->capacity - 1)) / section];
    inlet->next++;
    __atomic_store_n(fetched, *fetched + 1, __ATOMIC_RELEASE); /* pairs with the sender's acquire */
    if (inlet->next % section != 0)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* between the count of what was fetched, and who waits for it */
    if (__atomic_load_n(&ring->starved, __ATOMIC_RELAXED))
        gyre_bell_ring(&inlet->sender->doorbell.bell, INT_MAX);
}

static void count_sent_request(struct gyre_station *station)
{
    pthread_mutex_lock(&station->lock);
    station->sent++;
    pthread_cond_signal(&station->fed);
    pthread_mutex_unlock(&station->lock);
}

/* Opens the place of the next request, which the device may handle before the send is over. */
static void begin_request(struct gyre_station *station, uint64_t origin)
{
    struct gyre_station_place *place = &station->places[station->sent & (station->capacity - 1)];
    *place = (struct gyre_station_place){.origin = origin, .last = &place->first};
    pthread_mutex_lock(&station->lock);
    station->begun = station->sent + 1;
    pthread_mutex_unlock(&station->lock);
}

/* Takes back what begin_request did, because the queue refused the request. */
static struct gyre_station_place *take_request_back(struct gyre_station *station)
{
    pthread_mutex_lock(&station->lock);
    station->begun = station->sent;
    pthread_mutex_unlock(&station->lock);
    return &station->places[station->sent & (station->capacity - 1)];
}

/* Makes a message a request of the kernel's queue. */
static void feed_one(struct gyre_station *station, struct gyre_station_inlet *inlet)
{
    const gyre_link_slot *slot = slot_of(inlet->ring, inlet->next);
    begin_request(station, slot->origin);
    /* there is room: the window is no larger than the queue */
    const gyre_status status =
        __atomic_load_n(&station->broken, __ATOMIC_ACQUIRE)
            ? GYRE_LOST
            : gyre_send(station->queue, slot + 1, slot->length, NULL, gyre_in_ms(1000));
    give_back(inlet);
    if (status == GYRE_OK) {
        count_sent_request(station);
        return;
    }
    struct gyre_settled did = {.sent = 0};
    fail(&did, "its kernel's device takes no messages");
    settle(station, take_request_back(station), &did);
}

/* Takes some messages from each ring, and goes on behind the last one: none waits for a ring that is never empty. */
static bool feed_some(struct gyre_station *station)
{
    bool moved = false;
    for (uint32_t looks = 0; looks < station->inlet_count; looks++) {
        struct gyre_station_inlet *inlet = &station->inlets[station->turn];
        for (int i = 0; i < BATCH && has_window(station) && is_filled(inlet); i++) {
            feed_one(station, inlet);
            moved = true;
        }
        if (!has_window(station) && !moved)
            break; /* this ring's turn is not over */
        station->turn = (station->turn + 1) % station->inlet_count;
        if (!has_window(station))
            break;
    }
    return moved;
}

static void *feed(void *context)
{
    struct gyre_station *station = context;
    while (!is_stopping(station->part)) {
        const uint32_t seen = bell_of(station->part);
        if (!feed_some(station))
            park(station->part, seen, can_feed, station);
    }
    return NULL;
}

/* ---- the returner ---- */

/*
 * The request that a message is of, while it is under way; NULL: there is none, since the origin is one that a worker process wrote. Under
 * part->lock.
 */
static struct gyre_station_place *find_place(struct gyre_pipeline_part *part, uint64_t origin)
{
    const bool repeated = part->repeating && GYRE_ORIGIN_TABLE(origin) == part->repeating_number;
    if (!repeated && GYRE_ORIGIN_TABLE(origin) >= part->station_count)
        return NULL;
    struct gyre_station *station = repeated ? part->repeating : &part->stations[GYRE_ORIGIN_TABLE(origin)];
    const uint64_t index = repeated ? part->repeating_index : GYRE_ORIGIN_PLACE(origin);
    const uint64_t number = index & (station->capacity - 1);
    pthread_mutex_lock(&station->lock);
    const bool is_under_way =
        ((number - station->returned) & (station->capacity - 1)) < station->begun - station->returned;
    pthread_mutex_unlock(&station->lock);
    struct gyre_station_place *place = &station->places[number];
    return is_under_way && place->last ? place : NULL;
}

/* Gives what kernels of the part sent elsewhere to the request that caused it. Under part->lock. */
static void take(void *context, const struct gyre_outlet *outlet, const gyre_link_slot *slot)
{
    struct gyre_pipeline_part *part = context;
    const uint32_t room = outlet->stride - (uint32_t)sizeof *slot;
    const uint32_t length = slot->length < room ? slot->length : room;
    struct gyre_station_place *place = find_place(part, slot->origin);
    struct gyre_carried *carried = place ? malloc(sizeof *carried + length) : NULL;
    if (!carried) {
        part->inner->outlets->lost++;
        return;
    }
    *carried =
        (struct gyre_carried){.outlet = (uint32_t)(outlet - part->inner->outlets->each), .length = length};
    memcpy(carried->bytes, slot + 1, length);
    *place->last = carried;
    place->last = &carried->next;
}

/* False: the requests may have sent more than is here. */
static bool read_outlets(struct gyre_station *station)
{
    struct gyre_pipeline_part *part = station->part;
    struct gyre_outlets *outlets = part->inner->outlets;
    gyre_error_hold();
    pthread_mutex_lock(&part->lock);
    const gyre_status status = gyre_outlets_read(outlets, take, part);
    const uint64_t missed = outlets->missed + outlets->lost;
    pthread_mutex_unlock(&part->lock);
    gyre_error_let_go();
    if (missed != station->missed) {
        pthread_mutex_lock(&station->lock);
        station->doubtful = station->sent; /* any of those that are under way may have missed it */
        pthread_mutex_unlock(&station->lock);
        station->missed = missed;
    }
    return status == GYRE_OK;
}

static struct gyre_settled settled_as(const struct gyre_completion *completion, const void *reply)
{
    struct gyre_settled did = {
        .replied = completion->outcome == GYRE_REPLIED, .reply = reply, .length = completion->length};
    if (completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == GYRE_FAILURE_REPLIES) {
        did.twice = true;
    } else if (completion->outcome == GYRE_HANDLER_FAILED) {
        did.failed = true;
        did.failure = (gyre_failure){.code = completion->failure_code};
        snprintf(did.failure.text, sizeof did.failure.text, "%s", completion->failure_text);
    } else if (!did.replied && completion->outcome != GYRE_NOT_REPLIED) {
        fail(&did, "its kernel's device did not handle it");
    }
    return did;
}

static void count_returned(struct gyre_station *station)
{
    pthread_mutex_lock(&station->lock);
    __atomic_store_n(&station->returned, station->returned + 1, __ATOMIC_RELEASE); /* pairs with has_window */
    pthread_mutex_unlock(&station->lock);
}

static void return_one(struct gyre_station *station, struct gyre_settled *did, bool whole)
{
    struct gyre_station_place *place = &station->places[station->returned & (station->capacity - 1)];
    if (!whole || station->returned < station->doubtful)
        fail(did, "what it sent elsewhere is incomplete");
    settle(station, place, did);
    count_returned(station);
}

static void return_batch(struct gyre_station *station, const gyre_completion *completions, size_t count)
{
    const bool whole = read_outlets(station);
    for (size_t i = 0; i < count && !is_stopping(station->part); i++) {
        struct gyre_settled did = settled_as(&completions[i], station->replies + i * station->reply_size);
        return_one(station, &did, whole);
    }
    wake(station->part->control); /* the feeder may wait for its window */
}

/*
 * The next completion has a length or a place that no completion can have: a handler in a worker process may have written over it. This side
 * writes a failure over it, so that its request alone fails. The log has the error's sentence. False: the slot was damaged a second time.
 */
static bool refuse_completion(struct gyre_station *station)
{
    const gyre_pipeline *whole = station->part->whole;
    const struct gyre_node_facts *facts = &whole->nodes[station->node].facts;
    const struct gyre_ring *ring = gyre_ring_of(station->queue);
    const uint64_t index = gyre_received(station->queue);
    if (!gyre_reply_ready(ring, index) || station->refused == index + 1)
        return false;
    station->refused = index + 1;
    gyre_runtime_log(whole->runtime, GYRE_LOG_ERROR,
                     "a request of kernel '%s' on backend '%s', which is of pipeline '%s', fails: %s",
                     facts->name, gyre_dispatch_backend(facts->device), whole->name, gyre_error_text());
    gyre_slot_fail(gyre_reply_slot(ring, index), GYRE_FAILURE_OUTCOME,
                   "its kernel's device told what is no completion");
    return true;
}

/* The queue is of no use any more: what is under way ends here. */
static void return_broken(struct gyre_station *station)
{
    __atomic_store_n(&station->broken, 1, __ATOMIC_RELEASE);
    read_outlets(station);
    struct gyre_settled did = {.sent = 0};
    fail(&did, "its kernel's device was lost");
    return_one(station, &did, true);
    wake(station->part->control);
}

/* Sleeps until a request is under way. False: the pipeline ends. */
static bool await_requests(struct gyre_station *station)
{
    pthread_mutex_lock(&station->lock);
    while (station->sent == station->returned && !is_stopping(station->part))
        pthread_cond_wait(&station->fed, &station->lock);
    pthread_mutex_unlock(&station->lock);
    return !is_stopping(station->part);
}

static void *bring_back(void *context)
{
    struct gyre_station *station = context;
    gyre_completion completions[BATCH];
    while (await_requests(station)) {
        size_t count = 0;
        const gyre_status status = gyre_receive_batch(station->queue, station->replies, station->reply_size,
                                                      BATCH, completions, &count, gyre_in_ms(LOOK_MS));
        if (count)
            return_batch(station, completions, count);
        else if ((status == GYRE_INTERNAL || status == GYRE_INVALID) && refuse_completion(station))
            continue;
        else if (status != GYRE_OK && status != GYRE_TIMEOUT && status != GYRE_AGAIN)
            return_broken(station);
    }
    return NULL;
}

/* ---- another worker process ---- */

/* Whether the device has completed the request, and does not handle it again. */
static bool is_completed(const gyre_queue *queue, uint64_t index)
{
    return index < gyre_received(queue) || gyre_reply_ready(gyre_ring_of(queue), index);
}

/* Under part->lock. */
static void drop_carried(struct gyre_station_place *place)
{
    while (place->first) {
        struct gyre_carried *carried = place->first;
        place->first = carried->next;
        free(carried);
    }
    place->last = &place->first;
}

/* Under part->lock. No device has the queue. */
static void drop_unanswered(struct gyre_station *station)
{
    pthread_mutex_lock(&station->lock);
    const uint64_t first = station->returned, end = station->begun;
    pthread_mutex_unlock(&station->lock);
    for (uint64_t i = first; i != end; i++)
        if (!is_completed(station->queue, i))
            drop_carried(&station->places[i & (station->capacity - 1)]);
}

static struct gyre_pipeline_part *part_of(const gyre_pipeline *inner)
{
    struct gyre_pipeline_part *part = inner->whole->parts;
    while (part->inner != inner)
        part = part->next;
    return part;
}

gyre_status gyre_stations_renew(const gyre_pipeline *inner)
{
    struct gyre_pipeline_part *part = part_of(inner);
    pthread_mutex_lock(&part->lock);
    gyre_status status = gyre_outlets_read(inner->outlets, take, part);
    for (uint32_t i = 0; i < part->station_count && status == GYRE_OK; i++)
        drop_unanswered(&part->stations[i]);
    if (status == GYRE_OK)
        status = gyre_outlets_renew(inner->outlets);
    part->repeating = NULL;
    pthread_mutex_unlock(&part->lock);
    return status;
}

void gyre_stations_repeat(const gyre_pipeline *inner, const gyre_queue *entry, uint32_t number,
                          uint64_t index)
{
    struct gyre_pipeline_part *part = part_of(inner);
    uint32_t place = 0;
    while (part->stations[place].queue != entry)
        place++;
    pthread_mutex_lock(&part->lock);
    part->repeating = &part->stations[place];
    part->repeating_number = number;
    part->repeating_index = index;
    pthread_mutex_unlock(&part->lock);
}

void gyre_stations_repeated(const gyre_pipeline *inner)
{
    struct gyre_pipeline_part *part = part_of(inner);
    pthread_mutex_lock(&part->lock);
    (void)gyre_outlets_read(inner->outlets, take, part); /* memory of this process: it is always read */
    part->repeating = NULL;
    pthread_mutex_unlock(&part->lock);
}

/* ---- its life ---- */

gyre_status gyre_station_start(struct gyre_station *station)
{
    station->replies = calloc(BATCH, station->reply_size ? station->reply_size : 1);
    station->places = calloc(station->capacity, sizeof *station->places);
    for (uint64_t i = 0; station->places && i < station->capacity; i++)
        station->places[i].last = &station->places[i].first;
    if (!station->replies || !station->places)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for messages of other devices");
    gyre_status status = gyre_thread_need(&station->feeder, feed, station, "for links to other devices");
    if (status != GYRE_OK)
        return status;
    station->threads = 1;
    status = gyre_thread_need(&station->returner, bring_back, station, "for links from other devices");
    if (status != GYRE_OK)
        return status;
    station->threads = 2;
    return GYRE_OK;
}

void gyre_stations_stop(struct gyre_pipeline_part *part)
{
    __atomic_store_n(&part->stopping, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < part->station_count; i++) {
        struct gyre_station *station = &part->stations[i];
        pthread_mutex_lock(&station->lock);
        pthread_cond_broadcast(&station->fed);
        pthread_mutex_unlock(&station->lock);
        ring_part(part);
        if (station->threads >= 1)
            pthread_join(station->feeder, NULL);
        if (station->threads >= 2)
            pthread_join(station->returner, NULL);
        station->threads = 0;
    }
}

void gyre_station_finish(struct gyre_station *station)
{
    for (uint64_t i = 0; station->places && i < station->capacity; i++)
        while (station->places[i].first) {
            struct gyre_carried *carried = station->places[i].first;
            station->places[i].first = carried->next;
            free(carried);
        }
    free(station->places);
    free(station->inlets);
    free(station->replies);
    pthread_cond_destroy(&station->fed);
    pthread_mutex_destroy(&station->lock);
}
