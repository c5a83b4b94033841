/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and ends relays (relay.h), and runs a relay's thread. The thread takes turns over all rings while there is
 * anything to do, goes on looking for a moment, and then sleeps at the bell of the kernel's queue. The device, the
 * journal, checkpoints and the sessions ring this bell. Locks: relay.h.
 */
#include "core/attach/relay_back.h"
#include "core/attach/relay_lent.h"
#include "core/attach/relay_ring.h"
#include "core/attach/relay_run.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attach/carry_wait.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/threads.h"
#include "core/durability/relayed.h"
#include "core/journal/record.h"
#include "core/queue/consumer.h"
#include "core/queue/convert.h"
#include "core/queue/end.h"
#include "core/queue/life.h"
#include "core/queue/mark.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/queue/wait.h"
#include "core/ring/region.h"
#include "core/stages/log.h"
#include "gyre/waiting.h"

enum { THREADS = 3 /* that carry a message: the client's, the relay's, the device's */ };
#define LAST_WORD_NS UINT64_C(1000000000) /* how long the end of a relay waits for the journal */
#define LOOK_NS      UINT64_C(50000000) /* the longest sleep with requests under way: a bell may be missed once */

/* ---- the end; under the lock ---- */

static bool is_stopped(const struct gyre_relay *relay)
{
    return __atomic_load_n(&relay->stop, __ATOMIC_ACQUIRE) != 0;
}

/* Whether the client was not told yet that all its taken requests are durable. False without a journal. */
static bool owes_a_word(const struct gyre_relay_ring *ring)
{
    return gyre_foreign_of(ring->queue)->tells_durable && ring->durable.told < ring->taken;
}

/*
 * Whether the end still waits for the journal: a client that is not told what is durable sends answered requests
 * again. The wait is short, because a disk may be full.
 */
static bool waits_for_journal(struct gyre_relay *relay)
{
    bool owes = false;
    for (const struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next)
        owes = owes || owes_a_word(ring);
    if (owes && !relay->last_word_ns)
        relay->last_word_ns = gyre_clock_ns() + LAST_WORD_NS;
    return owes && gyre_clock_ns() < relay->last_word_ns;
}

/*
 * Leads the clients to the end: closes their sends at first, and their rings when all taken requests are completed.
 * True then.
 */
static bool comes_to_an_end(struct gyre_relay *relay)
{
    (void)GYRE_FAULT_POINT(RELAY_END);
    bool abandoned = gyre_queue_abandoned(relay->target) || gyre_queue_lost(relay->target);
    /* carries completions that were written before the queue was given up, perhaps after the last turn */
    if (abandoned)
        gyre_relay_carry_back(relay, true);
    for (struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next) {
        if (!ring->shut)
            gyre_queue_close_sends(ring->queue);
        ring->shut = true;
    }
    if (!abandoned && (gyre_relay_under_way(relay) || waits_for_journal(relay)))
        return false;
    for (struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next) {
        if (ring->under_way)
            gyre_queue_abandon(ring->queue);
        else
            gyre_queue_complete_unhandled(ring->queue);
    }
    return true;
}

/*
 * Gives slots up because this relay carries no more completions. Requests of clients with names stay in their slots:
 * the next relay of this queue, or the server's next life, delivers their completions. The queue steps over the other
 * slots.
 */
static void give_up_places(struct gyre_relay *relay)
{
    uint64_t end = gyre_queue_next_index(relay->target);
    gyre_consumer_take(relay->target);
    for (uint64_t index = relay->oldest; index < end; index++)
        if (gyre_relay_is_in_use(relay, index) &&
            !(gyre_relay_place(relay, index)->origin.client & GYRE_ORIGIN_NAMED))
            gyre_mark_set_locked(relay->target, index, GYRE_MARK_ABANDONED);
    gyre_consumer_give(relay->target);
}

static void end(struct gyre_relay *relay)
{
    give_up_places(relay);
    relay->ended = true;
    pthread_cond_broadcast(&relay->changed);
    gyre_queue_leave(relay->target, true);
}

/* ---- the thread ---- */

/* Whether the kernel's queue accepts no more requests, or its device died and answers none. */
static bool is_over(const gyre_queue *target)
{
    return gyre_queue_closed(target) || gyre_queue_lost(target);
}

/* Takes one turn. *waits: a request is under way, so the thread waits for the device; else it waits for a client. */
static bool look(struct gyre_relay *relay, bool *waits, bool *ended)
{
    pthread_mutex_lock(&relay->lock);
    bool worked = gyre_relay_turn(relay);
    const uint64_t under_way = gyre_relay_under_way(relay);
    *waits = under_way != 0;
    relay->loan.calm = under_way > 1 ? 0 : relay->loan.calm + worked;
    *ended = is_stopped(relay) || (is_over(relay->target) && comes_to_an_end(relay));
    if (*ended)
        end(relay);
    pthread_mutex_unlock(&relay->lock);
    return worked;
}

/*
 * Takes one turn before the thread sleeps. True: it must not sleep. *deadline: until when it may sleep; *rung:
 * whether the bell will ring. `held`: the thread has announced that it waits for room in the kernel's queue.
 */
static bool look_again(struct gyre_relay *relay, bool held, uint64_t *deadline, bool *rung)
{
    pthread_mutex_lock(&relay->lock);
    bool worked = gyre_relay_turn(relay) || is_stopped(relay) || (relay->held && !held);
    bool waits = gyre_relay_under_way(relay) != 0, busy = waits || relay->absent || is_over(relay->target);
    for (const struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next)
        busy = busy || ring->covered.open || ring->durable.open;
    *deadline = busy ? gyre_clock_ns() + LOOK_NS : GYRE_FOREVER;
    *rung = gyre_ways_of(relay->target)->device_wakes || !waits;
    pthread_mutex_unlock(&relay->lock);
    return worked;
}

/*
 * Tells all sides that this thread sleeps (`by` 1), or sleeps no more (`by` UINT32_MAX, which subtracts 1 by
 * wrapping). `held`: 1 if it also waits for room in the kernel's queue.
 */
static void announce(struct gyre_relay *relay, uint32_t held, uint32_t by)
{
    gyre_queue_announce_waiters(relay->target, held * by);
    __atomic_fetch_add(&relay->control->device.parked, by, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&gyre_ring_of(relay->target)->shared->host.waiting, by, __ATOMIC_SEQ_CST);
}

/*
 * Sleeps at the bell. First announces that it sleeps, looks once more, and a second time (waiting.h) before a long
 * sleep. It also announces that it waits for room, because the program's own receivers make room, too.
 */
static void sleep_at_bell(struct gyre_relay *relay)
{
    const uint32_t *bell = &gyre_ring_of(relay->target)->shared->device.bell, held = relay->held;
    uint64_t deadline = 0, until = 1;
    bool rung = false;
    announce(relay, held, 1);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(1);
    if (held)
        gyre_queue_log_tell_journal(relay->target);
    while (until != deadline) {
        const uint64_t looked_ns = gyre_clock_ns();
        uint32_t seen = __atomic_load_n(bell, __ATOMIC_ACQUIRE); /* before the look */
        if (look_again(relay, held != 0, &deadline, &rung))
            break;
        until = gyre_park_until(parked_ns, looked_ns, deadline);
        if (rung)
            gyre_futex_wait(bell, seen, until);
        else
            gyre_nap(until); /* the device rings no bell */
    }
    announce(relay, held, UINT32_MAX);
}

static void *carry(void *argument)
{
    struct gyre_relay *relay = argument;
    struct gyre_carry_wait wait = {.patience = NULL};
    bool ended = false, waits = false;
    while (!ended) {
        const bool worked = look(relay, &waits, &ended);
        if (worked) {
            gyre_carry_wait_end(&wait);
        } else if (!ended && (relay->loan.streams || gyre_carry_wait_shares(&wait)) &&
                   gyre_relay_lend(relay)) {
            gyre_carry_wait_forget(&wait);
        } else if (!ended &&
                   !gyre_carry_wait_a_moment(&wait, waits, gyre_ways_of(relay->target)->spin_turns)) {
            sleep_at_bell(relay);
            gyre_carry_wait_forget(&wait);
        }
    }
    return NULL;
}

/* ---- making ---- */

/*
 * Finds the requests of clients that are not there, sent in this life of the server or before it. Their completions
 * wait.
 */
static void find_absent(struct gyre_relay *relay)
{
    gyre_queue *target = relay->target;
    uint64_t end = gyre_queue_next_index(target), until = gyre_clock_ns() + relay->return_ns;
    gyre_consumer_take(target);
    relay->oldest = gyre_received(target);
    for (uint64_t index = relay->oldest; index < end; index++) {
        struct gyre_origin origin = gyre_origin_of(target, index);
        enum gyre_mark mark = (enum gyre_mark)gyre_mark_get(target, index);
        if (!origin.client || mark == GYRE_MARK_DONE || mark == GYRE_MARK_ABANDONED)
            continue;
        gyre_mark_set_locked(target, index, GYRE_MARK_CALL);
        *gyre_relay_place(relay, index) =
            (struct gyre_relay_place){.request = index + 1, .origin = origin, .until_ns = until};
        relay->absent++;
    }
    gyre_consumer_give(target);
}

static void destroy(struct gyre_relay *relay)
{
    while (relay->names) {
        struct gyre_relay_name *name = relay->names;
        relay->names = name->next;
        free(name);
    }
    gyre_region_destroy(&relay->region);
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->lock);
    gyre_relay_free_room(relay);
    free(relay->places);
    free(relay);
}

static gyre_status make_memory(struct gyre_relay *relay)
{
    gyre_status status =
        gyre_region_create("the control words of a relay", GYRE_CONTROL_SIZE(1), &relay->region);
    if (status != GYRE_OK)
        return status;
    relay->control = relay->region.address;
    relay->places = calloc((size_t)gyre_ring_of(relay->target)->capacity, sizeof *relay->places);
    if (!relay->places)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to relay the requests of other programs");
    return gyre_relay_make_room(relay);
}

/* The processors that this program may use. More than there are if nobody knows. */
static int count_processors(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : INT_MAX;
}

static gyre_status create(gyre_kernel *kernel, gyre_queue *target, struct gyre_relay **out)
{
    bool inside = false;
    struct gyre_relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to relay the requests of other programs");
    relay->target = target;
    relay->errand = gyre_kernel_errand(kernel);
    relay->loan.streams = count_processors() < THREADS;
    relay->region = GYRE_REGION_NONE;
    relay->return_ns = gyre_config_ns(kernel->runtime->config, GYRE_SECTION_GYRE, NULL, "client_return_ms");
    snprintf(relay->kernel, sizeof relay->kernel, "%s", kernel->name);
    pthread_mutex_init(&relay->lock, NULL);
    gyre_clock_condition(&relay->changed);
    gyre_status status = make_memory(relay);
    if (status != GYRE_OK) {
        destroy(relay);
        return status;
    }
    find_absent(relay);
    gyre_queue_stay(target, GYRE_FOREVER, &inside);
    status = gyre_thread_need(&relay->thread, carry, relay, "to relay the requests of other programs");
    if (status == GYRE_OK) {
        *out = relay;
        return GYRE_OK;
    }
    gyre_error_hold();
    gyre_queue_leave(target, inside);
    destroy(relay);
    gyre_error_let_go();
    return status;
}

/* ---- who has one; under server->relay_lock ---- */

static void remove_ended(struct gyre_server *server)
{
    struct gyre_relay **link = &server->relays;
    while (*link) {
        struct gyre_relay *relay = *link;
        pthread_mutex_lock(&relay->lock);
        bool over = relay->ended && !relay->rings;
        pthread_mutex_unlock(&relay->lock);
        if (!over) {
            link = &relay->next;
            continue;
        }
        *link = relay->next;
        pthread_join(relay->thread, NULL);
        destroy(relay);
    }
}

static gyre_status find_or_create(struct gyre_server *server, gyre_kernel *kernel, gyre_queue *target,
                                  struct gyre_relay **out)
{
    remove_ended(server);
    for (struct gyre_relay *relay = server->relays; relay; relay = relay->next) {
        pthread_mutex_lock(&relay->lock);
        bool fits = !relay->ended && relay->target == target;
        pthread_mutex_unlock(&relay->lock);
        *out = relay;
        if (fits)
            return GYRE_OK;
    }
    gyre_status status = create(kernel, target, out);
    if (status != GYRE_OK)
        return status;
    (*out)->next = server->relays;
    server->relays = *out;
    return GYRE_OK;
}

/* ---- sessions ---- */

/*
 * The number by which relays and journals know a client with a name: the name's hash. Users share no names: where the
 * client's user is not the server's own, the user takes the place of the hash's upper bits, so that no name of a user
 * has the number of another user's client, however it is chosen.
 */
static uint64_t number_of_client(const struct gyre_server *server, const struct gyre_attach_request *request)
{
    const uint64_t low = (UINT64_C(1) << GYRE_ORIGIN_USER_AT) - 1;
    if (!request->client[0])
        return 0;
    const uint64_t hash = gyre_state_hash(request->client, strlen(request->client)) | GYRE_ORIGIN_NAMED;
    return request->user == server->user
               ? hash
               : GYRE_ORIGIN_NAMED | (uint64_t)request->user << GYRE_ORIGIN_USER_AT | (hash & low);
}

static gyre_status enter(struct gyre_relay *relay, struct gyre_queue_options *options,
                         const struct gyre_attach_request *request, uint64_t client,
                         struct gyre_relay_ring **out)
{
    options->control = relay->control;
    pthread_mutex_lock(&relay->lock);
    gyre_status status = relay->ended || gyre_queue_closed(relay->target)
                             ? gyre_error_set(GYRE_CLOSED, "kernel '%s' does not run", relay->kernel)
                             : gyre_relay_ring_create(relay, options, client, request->answered, out);
    pthread_mutex_unlock(&relay->lock);
    return status;
}

static gyre_status join(struct gyre_server *server, gyre_kernel *kernel, gyre_queue *target,
                        const struct gyre_attach_request *request, struct gyre_queue_options *options,
                        struct gyre_relay_ring **out)
{
    struct gyre_relay *relay = NULL;
    pthread_mutex_lock(&server->relay_lock);
    gyre_status status = find_or_create(server, kernel, target, &relay);
    if (status == GYRE_OK)
        status = enter(relay, options, request, number_of_client(server, request), out);
    pthread_mutex_unlock(&server->relay_lock);
    if (status == GYRE_OK)
        return status;
    gyre_queue_growth_finish(&options->request_growth);
    gyre_queue_growth_finish(&options->reply_growth);
    return status;
}

gyre_status gyre_relay_join(struct gyre_server *server, gyre_kernel *kernel, const char *section,
                            const struct gyre_attach_request *request, struct gyre_queue_options *options,
                            struct gyre_relay_ring **out)
{
    gyre_queue *target = NULL;
    gyre_status status = gyre_kernel_relay_target(kernel, section, &target);
    if (status != GYRE_OK)
        return status;
    status = gyre_kernel_plan_relayed(kernel, target, &request->desc, section, options);
    if (status == GYRE_OK)
        status = join(server, kernel, target, request, options, out);
    gyre_queue_leave(target, true); /* its relay stays in it */
    if (status == GYRE_OK)
        gyre_relay_wake(*out);
    return status;
}

void gyre_relay_wake(struct gyre_relay_ring *ring)
{
    struct gyre_relay *relay = ring->relay;
    pthread_mutex_lock(&relay->lock);
    if (!relay->ended)
        gyre_bell_ring(&gyre_ring_of(relay->target)->shared->device.bell, INT_MAX);
    pthread_mutex_unlock(&relay->lock);
}

static void unlink_ring(struct gyre_relay *relay, const struct gyre_relay_ring *ring)
{
    struct gyre_relay_ring **link = &relay->rings;
    while (*link && *link != ring)
        link = &(*link)->next;
    if (*link)
        *link = ring->next;
}

/* Takes the ring away from its requests: their completions wait for the next client of this name, or are for nobody. */
static void make_absent(struct gyre_relay *relay, const struct gyre_relay_ring *ring)
{
    uint64_t last = gyre_queue_next_index(relay->target), until = gyre_clock_ns() + relay->return_ns;
    for (uint64_t index = relay->oldest; index < last; index++) {
        struct gyre_relay_place *place = gyre_relay_place(relay, index);
        if (place->request != index + 1 || place->ring != ring)
            continue;
        place->ring = NULL;
        /* completions that were in this ring already are gone with the ring */
        place->until_ns = place->given ? 0 : until;
        relay->absent++;
    }
}

bool gyre_relay_leave(struct gyre_relay_ring *ring, uint64_t deadline_ns)
{
    struct gyre_relay *relay = ring->relay;
    const struct timespec until = gyre_clock_timespec(deadline_ns);
    pthread_mutex_lock(&relay->lock);
    ring->leaves = true;
    while ((ring->under_way || owes_a_word(ring)) && !relay->ended && gyre_clock_ns() < deadline_ns)
        if (pthread_cond_timedwait(&relay->changed, &relay->lock, &until) == ETIMEDOUT)
            break;
    bool all = !ring->under_way;
    if (!relay->ended)
        make_absent(relay, ring);
    gyre_relay_ring_note_leave(relay, ring);
    unlink_ring(relay, ring);
    pthread_mutex_unlock(&relay->lock);
    if (all)
        gyre_queue_complete_unhandled(ring->queue);
    return all;
}

void gyre_relay_release(struct gyre_relay_ring *ring)
{
    gyre_queue_release(ring->queue);
    free(ring);
}

void gyre_relays_end(struct gyre_server *server)
{
    for (struct gyre_relay *relay = server->relays; relay; relay = relay->next) {
        __atomic_store_n(&relay->stop, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&relay->lock);
        if (!relay->ended)
            gyre_bell_ring(&gyre_ring_of(relay->target)->shared->device.bell, INT_MAX);
        pthread_mutex_unlock(&relay->lock);
    }
    while (server->relays) {
        struct gyre_relay *relay = server->relays;
        server->relays = relay->next;
        pthread_join(relay->thread, NULL);
        destroy(relay);
    }
}
