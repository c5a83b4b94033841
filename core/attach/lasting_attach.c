/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a queue that outlasts its servers (lasting.h), and runs its thread. The thread carries messages while a
 * server is there (lasting_ring.c), and waits for the next server while none is (lasting_resume.c).
 */
#include "core/attach/lasting_attach.h"
#include "core/attach/lasting_resume.h"
#include "core/attach/lasting_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/attach/carry_wait.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/base/lines.h"
#include "core/kernel/protocol.h"
#include "core/plan/queue_plan.h"
#include "core/queue/end.h"
#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/queue/wait.h"
#include "core/stages/make.h"

enum { FIRST_MS = 5000, KNOCK_MS = 20 };
/* the longest sleep while something is under way, because a bell may be missed once */
#define LOOK_NS          UINT64_C(50000000)
#define LAST_WORD_NS     UINT64_C(1500000000)
#define NAP_FIRST_NS     UINT64_C(2000000)    /* between two attempts, at first ... */
#define NAP_MOST_NS      UINT64_C(200000000)  /* ... and in the end */
#define PATIENCE_NS      UINT64_C(1000000000) /* the time limit of an attempt, at first ... */
#define PATIENCE_MOST_NS UINT64_C(5000000000) /* ... and in the end */
/* how long the client's earlier connection may still hold the client's name */
#define DOUBT_NS UINT64_C(5000000000)

/* ---- a turn ---- */

static bool is_stopped(const struct gyre_lasting *lasting)
{
    return __atomic_load_n(&lasting->stop, __ATOMIC_ACQUIRE) != 0;
}

/*
 * Whether to wait for the last word of a server that ends normally: how far its journal has come (relay_run.c waits for
 * that, too).
 */
static bool awaits_last_word(struct gyre_lasting *lasting)
{
    if (!gyre_lasting_holds(lasting) || gyre_queue_lost(lasting->back->queue))
        return false;
    if (!lasting->last_word_ns)
        lasting->last_word_ns = gyre_clock_ns() + LAST_WORD_NS;
    return gyre_clock_ns() < lasting->last_word_ns;
}

/*
 * Carries messages both ways once. Returns whether anything was carried. *over: the server is gone, and the caller
 * detaches.
 */
static bool carry_some(struct gyre_lasting *lasting, bool *over)
{
    bool worked = false;
    *over = false;
    if (lasting->back) {
        worked = gyre_lasting_give(lasting, over);
        worked = gyre_lasting_take(lasting) || worked;
        worked = gyre_lasting_promise(lasting) || worked;
        *over = *over && !awaits_last_word(lasting);
    } else {
        worked = gyre_lasting_tidy(lasting);
    }
    gyre_lasting_ring_bell(lasting);
    return worked;
}

static bool turn(struct gyre_lasting *lasting)
{
    bool over;
    const bool worked = carry_some(lasting, &over);
    if (over)
        gyre_lasting_leave(lasting);
    gyre_lasting_ring_bell(lasting);
    return worked || over;
}

/* ---- sleep ---- */

/*
 * Tells both sides that this thread sleeps (`by` 1), or sleeps no more (`by` UINT32_MAX, which subtracts 1 by
 * wrapping).
 */
static void announce(const struct gyre_lasting *lasting, gyre_queue_region *theirs, uint32_t by)
{
    __atomic_fetch_add(&lasting->control->device.parked, by, __ATOMIC_SEQ_CST);
    if (theirs)
        __atomic_fetch_add(&theirs->host.waiting, by, __ATOMIC_SEQ_CST);
}

/*
 * Sleeps until a bell has another value than was seen, or until the time; may wake early. `theirs` NULL: only `ours`
 * counts.
 */
static void sleep_on(const uint32_t *ours, uint32_t seen, const uint32_t *theirs, uint32_t seen_theirs,
                     uint64_t until)
{
    if (!theirs) {
        gyre_futex_wait(ours, seen, until);
        return;
    }
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
    const struct timespec end = gyre_clock_timespec(until);
    struct futex_waitv bells[] = {{.val = seen, .uaddr = (uintptr_t)ours, .flags = FUTEX_32},
                                  {.val = seen_theirs, .uaddr = (uintptr_t)theirs, .flags = FUTEX_32}};
    if (syscall(SYS_futex_waitv, bells, 2, 0, &end, CLOCK_MONOTONIC) >= 0 ||
        (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return;
#endif
    gyre_nap(until); /* this Linux has no call that waits for two words */
}

/*
 * Sleeps until a turn did something, or until the deadline: at both bells, or in short naps where the device rings no
 * bell.
 */
static void sleep_at_bells(struct gyre_lasting *lasting, uint64_t deadline_ns)
{
    const uint32_t *ours = &lasting->control->doorbell.bell;
    gyre_queue *back = lasting->back ? lasting->back->queue : NULL;
    gyre_queue_region *shared = back ? gyre_ring_of(back)->shared : NULL;
    announce(lasting, shared, 1);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(1);
    for (;;) {
        const uint64_t looked_ns = gyre_clock_ns();
        /* both bells are read before the look */
        const uint32_t seen = __atomic_load_n(ours, __ATOMIC_ACQUIRE);
        const uint32_t seen_theirs = shared ? __atomic_load_n(&shared->device.bell, __ATOMIC_ACQUIRE) : 0;
        bool over;
        if (looked_ns >= deadline_ns || is_stopped(lasting) || ((carry_some(lasting, &over) || over) && back))
            break;
        const uint64_t until = gyre_park_until(parked_ns, looked_ns, deadline_ns);
        if (back && !gyre_ways_of(back)->device_wakes && gyre_lasting_awaits(lasting))
            gyre_nap(until);
        else
            sleep_on(ours, seen, shared ? &shared->device.bell : NULL, seen_theirs, until);
    }
    announce(lasting, shared, UINT32_MAX);
}

/* ---- from server to server ---- */

/* Whether this user has no right to connect to the server's socket. */
static bool is_denied(const struct gyre_lasting *lasting)
{
    char path[GYRE_PLACE_MAX];
    return gyre_place_find(lasting->desc.path, false, path) == GYRE_OK &&
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 && errno == EACCES;
}

/*
 * Whether a later attempt may succeed. NOT_FOUND from the old server does not count: a server that ends has no kernel
 * any more.
 */
static bool may_heal(const struct gyre_lasting *lasting, gyre_status status, const struct gyre_met *met)
{
    if (met->for_good)
        return false;
    switch (status) {
    case GYRE_UNAVAILABLE:
        return !is_denied(lasting);
    case GYRE_TIMEOUT:
    case GYRE_LOST:
    case GYRE_CLOSED:
    case GYRE_EXHAUSTED:
    case GYRE_AGAIN:
        return true;
    case GYRE_NOT_FOUND:
        return met->server == lasting->server;
    case GYRE_INVALID:
        return gyre_clock_ns() - lasting->lost_ns < DOUBT_NS;
    default:
        return false;
    }
}

/* Keeps the server's sentence of refusal for callers that run into their deadlines meanwhile. */
static void keep_said(struct gyre_lasting *lasting, const struct gyre_met *met)
{
    pthread_mutex_lock(&lasting->said.lock);
    if (met->refused)
        snprintf(lasting->said.text, sizeof lasting->said.text, "%s", gyre_error_text());
    else if (!met->server)
        lasting->said.text[0] = '\0';
    pthread_mutex_unlock(&lasting->said.lock);
}

static void forget_said(struct gyre_lasting *lasting)
{
    keep_said(lasting, &(struct gyre_met){.server = 0});
}

static void tell_said(const gyre_queue *queue, char *text, size_t size)
{
    struct gyre_lasting *lasting = gyre_foreign_of(queue)->attachment;
    pthread_mutex_lock(&lasting->said.lock);
    snprintf(text, size, "%s", lasting->said.text);
    pthread_mutex_unlock(&lasting->said.lock);
}

/* Gives up for good: every caller that waits, now or later, gets the error of the last attempt. */
static void come_to_an_end(struct gyre_lasting *lasting, gyre_status status)
{
    if (lasting->client[0])
        (void)gyre_error_add(status, "client '%s' of kernel '%s'", lasting->client, lasting->name);
    gyre_queue_set_lost_why(lasting->ring, strdup(gyre_error_text()));
    gyre_queue_set_away(lasting->ring, false);
    gyre_queue_orphan(lasting->ring);
}

static gyre_status come_in(struct gyre_lasting *lasting, struct gyre_met *met)
{
    lasting->desc.deadline_ns = gyre_clock_ns() + lasting->patience_ns;
    gyre_status status =
        gyre_attachment_make(lasting->name, &lasting->desc, lasting->told_end, met, &lasting->back);
    if (status != GYRE_OK)
        return status;
    gyre_queue_set_policy(lasting->back->queue, GYRE_FULL_BLOCK); /* the program's policy works at the ring */
    status = gyre_lasting_resume(lasting);
    if (status == GYRE_OK)
        return status;
    gyre_error_hold();
    gyre_queue_close(lasting->back->queue);
    gyre_error_let_go();
    lasting->back = NULL;
    return status;
}

static uint64_t doubled(uint64_t ns, uint64_t most)
{
    return 2 * ns < most ? 2 * ns : most;
}

/*
 * Tries once to attach to the next server, and sleeps a while after a failure. False: no further attempt makes sense.
 */
static bool look_for_server(struct gyre_lasting *lasting)
{
    struct gyre_met met;
    const gyre_status status = come_in(lasting, &met);
    if (status == GYRE_OK) {
        forget_said(lasting);
        lasting->server = met.server;
        lasting->nap_ns = NAP_FIRST_NS;
        lasting->patience_ns = PATIENCE_NS;
        return true;
    }
    if (!may_heal(lasting, status, &met)) {
        come_to_an_end(lasting, status);
        return false;
    }
    keep_said(lasting, &met);
    gyre_error_clear();
    sleep_at_bells(lasting, gyre_clock_ns() + lasting->nap_ns);
    lasting->nap_ns = doubled(lasting->nap_ns, NAP_MOST_NS);
    if (status == GYRE_TIMEOUT)
        lasting->patience_ns = doubled(lasting->patience_ns, PATIENCE_MOST_NS);
    return true;
}

static void *carry(void *argument)
{
    struct gyre_lasting *lasting = argument;
    struct gyre_carry_wait wait = {.patience = NULL};
    while (!is_stopped(lasting) && (lasting->back || look_for_server(lasting))) {
        const bool waits = gyre_lasting_awaits(lasting);
        if (turn(lasting)) {
            gyre_carry_wait_end(&wait);
        } else if (lasting->back &&
                   !gyre_carry_wait_a_moment(&wait, waits, gyre_ways_of(lasting->ring)->spin_turns)) {
            sleep_at_bells(lasting, waits || lasting->held_up ? gyre_clock_ns() + LOOK_NS : GYRE_FOREVER);
            gyre_carry_wait_forget(&wait);
        }
    }
    if (lasting->back)
        gyre_lasting_take(lasting); /* carries the requests that were sent before the queue was closed */
    return NULL;
}

/* ---- the end ---- */

/* Frees the queue, also one that is made only in part. Its thread does not run. */
static void release(struct gyre_lasting *lasting)
{
    if (lasting->back)
        gyre_queue_close(lasting->back->queue);
    gyre_attachment_unlist(&lasting->front);
    const char *why = lasting->ring ? gyre_queue_lost_why(lasting->ring) : NULL;
    gyre_queue_destroy(lasting->ring);
    free((char *)(uintptr_t)why);
    gyre_kernel_types_destroy(lasting->front.sides);
    gyre_kept_release(&lasting->front.types);
    gyre_kept_release(&lasting->types);
    gyre_lasting_free_room(lasting);
    free(lasting->control);
    pthread_mutex_destroy(&lasting->said.lock);
    free(lasting);
}

static void detach(gyre_queue *queue)
{
    struct gyre_lasting *lasting = gyre_foreign_of(queue)->attachment;
    if (lasting->front.foreign)
        return;
    __atomic_store_n(&lasting->stop, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&lasting->control->doorbell.bell, INT_MAX);
    pthread_join(lasting->thread, NULL);
    release(lasting);
}

/* ---- making ---- */

/* Copies a type, so that it lives as long as the queue. */
static gyre_status keep_type(const gyre_type *type, struct gyre_kept_block **blocks, const gyre_type **out)
{
    struct gyre_parcel parcel;
    *out = NULL;
    gyre_status status = type ? gyre_parcel_init(&parcel) : GYRE_OK;
    if (!type || status != GYRE_OK)
        return status;
    gyre_parcel_begin(&parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_type_put(&parcel, type);
    *out = gyre_type_get(&parcel, blocks);
    if (!gyre_parcel_whole(&parcel))
        status =
            gyre_parcel_refuse(&parcel, GYRE_INVALID, "a type that gyre_attach was given makes no sense");
    gyre_parcel_finish(&parcel);
    return status;
}

static gyre_status keep_desc(struct gyre_lasting *lasting, const char *name, const gyre_attach_desc *desc)
{
    lasting->desc = *desc;
    snprintf(lasting->name, sizeof lasting->name, "%s", name);
    snprintf(lasting->client, sizeof lasting->client, "%s", desc->client ? desc->client : "");
    lasting->desc.client = desc->client ? lasting->client : NULL;
    if (desc->path && strlen(desc->path) >= sizeof lasting->path)
        return gyre_place_find(desc->path, false, lasting->path); /* says so */
    snprintf(lasting->path, sizeof lasting->path, "%s", desc->path ? desc->path : "");
    lasting->desc.path = desc->path ? lasting->path : NULL;
    gyre_status status = keep_type(desc->request, &lasting->types, &lasting->desc.request);
    return status == GYRE_OK ? keep_type(desc->reply, &lasting->types, &lasting->desc.reply) : status;
}

/* Tries once to attach to the first server. *again: a later attempt may succeed. */
static gyre_status knock(struct gyre_lasting *lasting, bool *again)
{
    struct gyre_met met;
    const gyre_status status = gyre_attachment_make(lasting->name, &lasting->desc, 0, &met, &lasting->back);
    const bool named_twice = status == GYRE_INVALID && lasting->client[0];
    lasting->server = met.server;
    *again = status == GYRE_INVALID     ? named_twice && may_heal(lasting, status, &met)
             : status == GYRE_NOT_FOUND ? false
                                        : status != GYRE_OK && may_heal(lasting, status, &met);
    if (status == GYRE_TIMEOUT && lasting->said.text[0]) /* the deadline cut the last attempt short */
        return gyre_error_set(status, "%s: the server refused the queue until the deadline: %s",
                              lasting->name, lasting->said.text);
    if (status == GYRE_OK)
        forget_said(lasting);
    else
        keep_said(lasting, &met);
    return status;
}

/* Attaches to the first server, and waits for it where it is not up yet. */
static gyre_status meet_first(struct gyre_lasting *lasting)
{
    const struct timespec nap = {0, KNOCK_MS * 1000000L};
    const uint64_t deadline = lasting->desc.deadline_ns ? lasting->desc.deadline_ns : gyre_in_ms(FIRST_MS);
    lasting->desc.deadline_ns = deadline;
    lasting->lost_ns = gyre_clock_ns(); /* a client that died just now may still hold this name (DOUBT_NS) */
    for (;;) {
        bool again;
        const gyre_status status = knock(lasting, &again);
        const uint64_t now = gyre_clock_ns();
        if (again && now >= deadline && status == GYRE_UNAVAILABLE)
            return gyre_error_add(status, "waited %llu ms for a server",
                                  (unsigned long long)((now - lasting->lost_ns) / 1000000));
        if (!again || now >= deadline)
            return status;
        nanosleep(&nap, NULL);
    }
}

/*
 * Plans the ring: it holds messages in the program's own types, where the program told them. The server's queue
 * converts them.
 */
static gyre_status plan(struct gyre_lasting *lasting, struct gyre_queue_options *options)
{
    gyre_status status = GYRE_OK;
    *options = lasting->back->options;
    options->name = "";
    options->control = lasting->control;
    options->request_growth = options->reply_growth = (struct gyre_queue_growth){NULL, NULL};
    options->caller_request_size = options->caller_reply_size = 0;
    options->express = options->express_replies = options->sealed = options->timed = options->times_told =
        false;
    options->device_wakes = options->device_returns = true;
    options->device_parks = options->device_lies = false;
    if (options->levels > 1)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "gyre_attach to '%s': reconnect is not for a queue with levels; attach without it",
            lasting->name);
    if (options->wire)
        return status;
    if (lasting->desc.request)
        status =
            gyre_queue_plan_measure(lasting->desc.request, &options->request_size, &options->request_least);
    if (status == GYRE_OK && lasting->desc.reply)
        status = gyre_queue_plan_measure(lasting->desc.reply, &options->reply_size, &options->reply_least);
    return status;
}

/*
 * Notes the requests that an earlier client of this name left: they are at the server, and their messages are not in
 * this ring.
 */
static void adopt_leavings(struct gyre_lasting *lasting)
{
    const gyre_queue *ring = lasting->ring;
    lasting->oldest = lasting->answered = gyre_ring_of(ring)->first_sequence;
    lasting->next = lasting->again = gyre_ring_of(ring)->first_sequence + gyre_foreign_of(ring)->left;
    for (uint64_t index = lasting->oldest; index < lasting->next; index++)
        *gyre_lasting_place(lasting, index) = (struct gyre_lasting_place){
            .request = index + 1, .number = index, .stage = GYRE_LASTING_SENT, .earlier = true};
}

/*
 * Takes the kernel's types over from the attachment at the first server, because that attachment goes with its
 * server.
 */
static gyre_status take_types(struct gyre_lasting *lasting)
{
    struct gyre_attachment *front = &lasting->front, *back = lasting->back;
    front->request = back->request;
    front->reply = back->reply;
    front->types = back->types;
    back->types = NULL;
    if (!lasting->desc.request)
        lasting->desc.request = front->request;
    if (!lasting->desc.reply)
        lasting->desc.reply = front->reply;
    return gyre_kernel_types_create(lasting->name, lasting->desc.request, lasting->desc.reply, &front->sides);
}

static gyre_status make_ring(struct gyre_lasting *lasting)
{
    struct gyre_queue_options options;
    lasting->control = gyre_lines_alloc(GYRE_CONTROL_SIZE(1));
    if (!lasting->control)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a queue that outlasts its servers");
    gyre_status status = plan(lasting, &options);
    if (status == GYRE_OK)
        status = gyre_queue_create(&options, &lasting->ring);
    if (status == GYRE_OK)
        status = take_types(lasting);
    if (status == GYRE_OK)
        status = gyre_lasting_make_room(lasting);
    if (status != GYRE_OK)
        return status;
    gyre_queue_set_policy(lasting->back->queue, GYRE_FULL_BLOCK);
    adopt_leavings(lasting);
    gyre_kernel_types_name(lasting->front.sides, lasting->ring);
    gyre_attachment_name(&lasting->front, lasting->ring);
    gyre_foreign_for(lasting->ring)->attachment = lasting;
    gyre_foreign_for(lasting->ring)->detach = detach;
    gyre_foreign_for(lasting->ring)->said = tell_said;
    return GYRE_OK;
}

gyre_status gyre_lasting_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out)
{
    struct gyre_lasting *lasting = calloc(1, sizeof *lasting);
    if (!lasting)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for an attached queue");
    pthread_mutex_init(&lasting->said.lock, NULL);
    lasting->front.socket = -1;
    lasting->nap_ns = NAP_FIRST_NS;
    lasting->patience_ns = PATIENCE_NS;
    gyre_attachment_enlist(&lasting->front);
    gyre_status status = keep_desc(lasting, name, desc);
    if (status == GYRE_OK)
        status = meet_first(lasting);
    if (status == GYRE_OK)
        status = make_ring(lasting);
    if (status == GYRE_OK)
        status = gyre_thread_need(&lasting->thread, carry, lasting, "for an attached queue");
    if (status == GYRE_OK) {
        *out = lasting->ring;
        return status;
    }
    gyre_error_hold();
    release(lasting);
    gyre_error_let_go();
    return status;
}
