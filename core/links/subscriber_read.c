/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages out of a subscriber's rings (subscriber.h), and waits for them. The senders' side is the backend's. A reader that
 * parks says so in `control`, makes a fence and looks once more; senders publish, make a fence and look whether somebody is
 * parked. Who gives a whole section of a ring back wakes the sender if that is starved, in the same way.
 */
#include <limits.h>
#include <sched.h>

#include "core/base/error.h"
#include "core/links/pipeline.h"
#include "core/links/subscriber.h"
#include "core/links/subscriber_copies.h"
#include "gyre/waiting.h"

enum {
    YIELDS = 8,      /* looks before a reader parks */
    LOOK_NS = 20000, /* between two looks at copies, at first */
    LOOKS_LONGER = 6 /* and twice as long so many times */
};

/* ---- one ring ---- */

/* By what this process knows of the ring: a worker process may write all of it. */
static const gyre_link_slot *slot_of(const struct gyre_subscriber *subscriber,
                                     const struct gyre_subscriber_ring *from, uint64_t index)
{
    return (const gyre_link_slot *)(const void *)(from->slots +
                                                  (index & (subscriber->capacity - 1)) * subscriber->stride);
}

/* Whether message number `index` is there. Pairs with the sender's release of its sequence. */
static bool is_there(const struct gyre_subscriber *subscriber, const struct gyre_subscriber_ring *from,
                     uint64_t index)
{
    return __atomic_load_n(&slot_of(subscriber, from, index)->sequence, __ATOMIC_ACQUIRE) ==
           (gyre_u32)(index + 1);
}

static bool is_filled(const struct gyre_subscriber *subscriber, const struct gyre_subscriber_ring *from)
{
    return is_there(subscriber, from, __atomic_load_n(&from->next, __ATOMIC_RELAXED));
}

/* Whether a device fills the rings that wakes nobody, and is woken by nobody. */
static bool is_filled_across_bus(const struct gyre_subscriber *subscriber)
{
    return subscriber->pipeline && !subscriber->copies && gyre_pipeline_is_across_bus(subscriber->pipeline);
}

static void wake_sender(const struct gyre_subscriber *subscriber, const struct gyre_subscriber_ring *from)
{
    if (!subscriber->pipeline || is_filled_across_bus(subscriber))
        return; /* its kernels may be gone, or look by themselves */
    if (subscriber->copies) {
        gyre_error_hold(); /* of a device that is lost the next look tells */
        gyre_subscriber_copies_give_back(subscriber, (uint32_t)(from - subscriber->rings));
        gyre_error_let_go();
        return;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* between the count of what was fetched, and who waits for it */
    if (__atomic_load_n(&from->ring->starved, __ATOMIC_RELAXED))
        gyre_bell_ring(&from->sender->doorbell.bell, INT_MAX);
}

/* Counts the message as fetched: its place may be written again. Room comes back in whole sections. */
static void give_back(const struct gyre_subscriber *subscriber, struct gyre_subscriber_ring *from)
{
    gyre_link_ring *ring = from->ring;
    const uint64_t section = subscriber->capacity / GYRE_LINK_SECTIONS,
                   place = from->next & (subscriber->capacity - 1);
    gyre_u64 *fetched = &ring->fetched[place / section];
    __atomic_store_n(&from->next, from->next + 1, __ATOMIC_RELAXED);
    __atomic_store_n(fetched, *fetched + 1, __ATOMIC_RELEASE); /* pairs with the sender's acquire */
    if (from->next % section == 0)
        wake_sender(subscriber, from);
}

/* ---- all of them ---- */

static bool any_filled(const struct gyre_subscriber *subscriber)
{
    for (uint32_t i = 0; i < subscriber->ring_count; i++)
        if (is_filled(subscriber, &subscriber->rings[i]))
            return true;
    return false;
}

uint64_t gyre_subscriber_missed(const struct gyre_subscriber *subscriber)
{
    uint64_t missed = 0;
    for (uint32_t i = 0; i < subscriber->ring_count; i++)
        missed += __atomic_load_n(&subscriber->rings[i].ring->missed, __ATOMIC_RELAXED);
    return missed;
}

/* Takes a message, if one is there: from each ring in turn. Under the lock. */
static bool take_here(struct gyre_subscriber *subscriber, void *message, gyre_publication *about)
{
    for (uint32_t i = 0; i < subscriber->ring_count; i++) {
        struct gyre_subscriber_ring *from =
            &subscriber->rings[(subscriber->turn_of + i) % subscriber->ring_count];
        if (!is_filled(subscriber, from))
            continue;
        const gyre_link_slot *slot = slot_of(subscriber, from, from->next);
        about->length = __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
        gyre_subscription_copy(subscriber->face.layout, message, slot + 1, about->length);
        give_back(subscriber, from);
        subscriber->turn_of = (subscriber->turn_of + i + 1) % subscriber->ring_count;
        const uint64_t missed = gyre_subscriber_missed(subscriber);
        about->missed = missed - subscriber->missed_told;
        subscriber->missed_told = missed;
        subscriber->received++;
        return true;
    }
    return false;
}

/* The same; *status: why nothing can be seen of what is there. */
static bool take(struct gyre_subscriber *subscriber, void *message, gyre_publication *about,
                 gyre_status *status)
{
    *status = GYRE_OK;
    bool taken = take_here(subscriber, message, about);
    if (!taken && subscriber->copies && subscriber->pipeline) {
        *status = gyre_subscriber_copies_look(subscriber);
        taken = *status == GYRE_OK && take_here(subscriber, message, about);
    }
    subscriber->vain = taken ? 0 : subscriber->vain + 1;
    return taken;
}

static bool is_cut(const struct gyre_subscriber *subscriber)
{
    return __atomic_load_n(&subscriber->gate->cut, __ATOMIC_RELAXED) != 0;
}

/* OK: a message may still come. Under the lock. */
static gyre_status find_end(const struct gyre_subscriber *subscriber)
{
    const char *name = subscriber->face.name;
    if (subscriber->closing)
        return gyre_error_set(GYRE_CLOSED, "the subscription to '%s' was ended", name);
    if (is_cut(subscriber))
        return gyre_error_set(
            GYRE_CLOSED,
            "the subscription to '%s' was too slow and was cut off: it missed %llu messages so "
            "far; subscribe again, with a larger capacity, or with slow = drop",
            name, (unsigned long long)gyre_subscriber_missed(subscriber));
    return subscriber->pipeline
               ? GYRE_OK
               : gyre_error_set(GYRE_CLOSED, "the pipeline of '%s' was closed: no more messages come", name);
}

/* ---- waiting ---- */

static bool has_news(const struct gyre_subscriber *subscriber)
{
    return any_filled(subscriber) || is_cut(subscriber);
}

/*
 * How long to sleep before the next look, where nobody rings a bell: longer as more looks were in vain. Each look at copies costs one from
 * the device.
 */
static void await_look(struct gyre_subscriber *subscriber, uint32_t seen, uint32_t vain, uint64_t deadline_ns)
{
    const uint64_t pause = (uint64_t)LOOK_NS << (vain < LOOKS_LONGER ? vain : LOOKS_LONGER);
    const uint64_t until = gyre_clock_ns() + pause;
    gyre_futex_wait(&subscriber->control->doorbell.bell, seen, until < deadline_ns ? until : deadline_ns);
}

/* Sleeps until there may be news. Without the lock. `seen`: the bell before the look that found nothing. */
static void park(struct gyre_subscriber *subscriber, uint32_t seen, uint64_t deadline_ns)
{
    gyre_control_region *control = subscriber->control;
    for (int i = 0; i < YIELDS && deadline_ns != 0; i++) {
        if (has_news(subscriber))
            return;
        sched_yield();
    }
    __atomic_fetch_add(&control->device.parked, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!has_news(subscriber))
        gyre_futex_wait(&control->doorbell.bell, seen, deadline_ns);
    __atomic_fetch_sub(&control->device.parked, 1, __ATOMIC_SEQ_CST);
}

void gyre_subscriber_wake(struct gyre_subscriber *subscriber)
{
    gyre_bell_ring(&subscriber->control->doorbell.bell, INT_MAX);
}

/* Under the lock, which it gives up while it waits. */
static gyre_status take_or_wait(struct gyre_subscriber *subscriber, void *message, gyre_publication *about,
                                uint64_t deadline_ns)
{
    for (;;) {
        const uint32_t seen = __atomic_load_n(&subscriber->control->doorbell.bell, __ATOMIC_ACQUIRE);
        const bool was_cut = is_cut(subscriber); /* before the look: nothing comes after it */
        gyre_status status = GYRE_OK;
        if (!subscriber->closing && take(subscriber, message, about, &status))
            return GYRE_OK;
        if (status == GYRE_OK && (was_cut || !is_cut(subscriber)))
            status = find_end(subscriber);
        if (status == GYRE_OK)
            status = gyre_subscription_may_wait(deadline_ns);
        if (status != GYRE_OK)
            return status;
        const uint32_t vain = subscriber->vain;
        const bool unheard = subscriber->pipeline && (subscriber->copies || is_filled_across_bus(subscriber));
        pthread_mutex_unlock(&subscriber->lock);
        if (unheard)
            await_look(subscriber, seen, vain, deadline_ns);
        else
            park(subscriber, seen, deadline_ns);
        pthread_mutex_lock(&subscriber->lock);
    }
}

/* ---- another worker process ---- */

/* In a ring that no sender has: message number `index` is not there. */
static void clear_slot(const struct gyre_subscriber *subscriber, const struct gyre_subscriber_ring *from,
                       uint64_t index)
{
    gyre_link_slot *slot = (gyre_link_slot *)(uintptr_t)slot_of(subscriber, from, index);
    __atomic_store_n(&slot->sequence, (gyre_u32)index, __ATOMIC_RELAXED);
}

/* The ring as its next sender finds it: with all messages that were published, and nothing that was begun. */
static void renew_ring(const struct gyre_subscriber *subscriber, const struct gyre_subscriber_ring *from)
{
    gyre_link_ring *ring = from->ring;
    const uint64_t capacity = subscriber->capacity, section = capacity / GYRE_LINK_SECTIONS;
    uint64_t head = from->next;
    while (head - from->next < capacity && is_there(subscriber, from, head))
        head++;
    for (uint64_t i = 0; i < GYRE_LINK_SECTIONS; i++) {
        const uint64_t laps = from->next / capacity * section, place = from->next % capacity;
        const uint64_t part = place <= i * section ? 0 : place - i * section;
        ring->fetched[i] = laps + (part < section ? part : section);
    }
    ring->head = head;
    ring->tail = from->next - from->next % section;
    for (uint64_t i = head; i < from->next + capacity; i++) /* a message behind one that never came */
        clear_slot(subscriber, from, i);
}

void gyre_subscribers_renew(gyre_pipeline *pipeline)
{
    for (struct gyre_subscriber *one = pipeline->subscribers; one; one = one->next) {
        pthread_mutex_lock(&one->lock);
        if (one->store.shown) {
            one->store.address = gyre_dispatch_queue_address(pipeline->device, one->store.shown);
            gyre_subscriber_point_rings(one);
            for (uint32_t i = 0; i < one->ring_count; i++)
                renew_ring(one, &one->rings[i]);
        }
        pthread_mutex_unlock(&one->lock);
    }
}

/* ---- the calls ---- */

gyre_status gyre_subscriber_receive(gyre_subscription *subscription, void *message, gyre_publication *about,
                                    uint64_t deadline_ns)
{
    struct gyre_subscriber *subscriber = (struct gyre_subscriber *)(void *)subscription;
    pthread_mutex_lock(&subscriber->lock);
    subscriber->inside++;
    const gyre_status status = take_or_wait(subscriber, message, about, deadline_ns);
    if (--subscriber->inside == 0)
        pthread_cond_broadcast(&subscriber->left);
    pthread_mutex_unlock(&subscriber->lock);
    return status;
}

void gyre_subscriber_look(gyre_subscription *subscription, gyre_subscription_info *info)
{
    struct gyre_subscriber *subscriber = (struct gyre_subscriber *)(void *)subscription;
    pthread_mutex_lock(&subscriber->lock);
    if (subscriber->pipeline) {
        gyre_error_hold();
        gyre_subscriber_copies_look(subscriber);
        gyre_error_let_go();
    }
    info->received = subscriber->received;
    info->missed = gyre_subscriber_missed(subscriber);
    info->is_cut = is_cut(subscriber);
    pthread_mutex_unlock(&subscriber->lock);
}
