/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a shard (shard.h), from the place to the place. */
#include "core/cluster/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/cluster/offer.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/helper.h"
#include "core/kernel/keyed_table.h"
#include "core/plan/build_options.h"
#include "gyre/thread.h"

enum {
    UNDER_WAY_MAX = 256,
    AT_ONCE_BYTES = 1 << 20,
    AWAIT_LEASES = 4,
    AWAIT_NAP_NS = 3000000,
    LOOKS_AHEAD = 8
};

#define LONG_NS UINT64_C(100000000)

static gyre_status take_place(struct gyre_shard *shard)
{
    struct gyre_site *site = shard->site;
    memcpy(shard->place.owner, site->name, sizeof shard->place.owner);
    shard->place.incarnation = site->incarnation;
    gyre_trial_count_death(&shard->place);
    shard->place.epoch++;
    shard->place.pause_ns = 0;
    shard->place.works = false;
    shard->place.handled = 0;
    shard->place.closing_ns = shard->awaits ? shard->place.closing_ns : 0;
    gyre_status status = gyre_place_write(site->transport, shard->number, &shard->place);
    if (status == GYRE_AGAIN)
        return gyre_error_set(GYRE_LOST, "shard %u: another member was first", shard->number);
    return status;
}

static gyre_status launch(struct gyre_shard *shard)
{
    struct gyre_site *site = shard->site;
    char name[GYRE_KERNEL_NAME_MAX];
    snprintf(name, sizeof name, "%.50s#%u", site->app.kernel, shard->number);
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = site->source,
                                   .kernel = site->app.kernel,
                                   .name = name,
                                   .backend = site->backend,
                                   .start_inactive = 1};
    gyre_status status = gyre_launch_helped(site->runtime, &desc, &shard->kernel);
    if (status != GYRE_OK)
        return status;
    shard->queue = gyre_kernel_queue(shard->kernel);
    struct gyre_keyed_about about;
    status = gyre_keyed_about_get(shard->kernel, &about);
    if (status != GYRE_OK)
        return status;
    shard->request_size = about.request->size;
    shard->reply_size = about.reply->size;
    shard->table_size = about.table_size;
    gyre_queue_stats stats = {.size = sizeof stats};
    status = gyre_queue_stats_get(shard->queue, &stats);
    shard->under_way = stats.capacity < UNDER_WAY_MAX ? stats.capacity : UNDER_WAY_MAX;
    return status;
}

/* As many as there may be under way twice, so that the kernel works while the others are sent. */
static uint64_t choose_at_once(const struct gyre_shard *shard)
{
    const uint64_t size = shard->request_size + shard->reply_size, fit = AT_ONCE_BYTES / size,
                   half = shard->under_way / 2,
                   count = half < GYRE_SHARD_AT_ONCE_MAX ? half : GYRE_SHARD_AT_ONCE_MAX,
                   least = count < fit ? count : fit;
    return least ? least : 1;
}

static gyre_status make_room(struct gyre_shard *shard)
{
    shard->at_once = choose_at_once(shard);
    shard->requests = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    shard->replies = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    shard->reply = malloc(shard->at_once * shard->reply_size + 1);
    shard->chunk = malloc(shard->at_once * shard->request_size + 1);
    shard->replies_at = sizeof(struct gyre_cluster_replies);
    return shard->requests && shard->replies && shard->reply && shard->chunk
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory for shard %u", shard->number);
}

/* The log of requests has to reach as far as the checkpoint: else the transport has lost what it acknowledged. */
static gyre_status check_log(struct gyre_shard *shard)
{
    uint64_t last;
    const gyre_status status = gyre_transport_last(shard->site->transport, shard->log, &last);
    if (status != GYRE_OK || last >= shard->position)
        return status;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the cluster's log '%s' ends with block %llu, and a checkpoint has the effect of block %llu: the "
        "transport lost what it had acknowledged; put back a copy of what it keeps",
        shard->log, (unsigned long long)last, (unsigned long long)shard->position);
}

/* A place that says that there was a checkpoint does not begin with an empty table. */
static gyre_status check_kept(const struct gyre_shard *shard)
{
    if (shard->kept.checkpoint || !shard->place.is_kept)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the cluster's log '%s' has no whole checkpoint, and one was kept: the transport lost what it had "
        "acknowledged; put back a copy of what it keeps, or begin another app",
        shard->kept.log);
}

/* The place says so from the first checkpoint on, also when its owner died before it could write that. */
static gyre_status note_kept(struct gyre_shard *shard)
{
    if (shard->place.is_kept)
        return GYRE_OK;
    shard->place.is_kept = true;
    return gyre_shard_write_place(shard);
}

/* Puts the table of the last checkpoint into the kernel, unless that has it. */
static gyre_status load_table(struct gyre_shard *shard)
{
    if (shard->loaded == shard->kept.checkpoint)
        return GYRE_OK;
    const gyre_status status = gyre_keyed_table_write(shard->kernel, shard->kept.table, shard->table_size);
    shard->loaded = status == GYRE_OK ? shard->kept.checkpoint : 0;
    return status;
}

/* The system gives memory page by page when it is used first, which would make the first checkpoint long. */
static gyre_status make_kept(struct gyre_shard *shard)
{
    struct gyre_kept *kept = &shard->kept;
    const gyre_status status = gyre_kept_init(kept, shard->site->transport, shard->number, shard->table_size);
    if (status == GYRE_OK)
        memset(kept->coming, 0, shard->table_size);
    return status;
}

/* The owner kept a checkpoint after the one from which this member followed it: that one counts, and the kernel begins with it. */
static gyre_status begin_anew(struct gyre_shard *shard)
{
    gyre_kernel_release(shard->kernel);
    shard->kernel = NULL;
    shard->follows = false;
    shard->loaded = 0;
    return launch(shard);
}

/*
 * Awaiting: reads what the owner keeps, so that little is left to do when the shard comes. A failure says nothing yet: the shard is read as a
 * whole once it is this member's.
 */
static void load_ahead(struct gyre_shard *shard)
{
    struct gyre_kept *kept = &shard->kept;
    gyre_error_hold();
    gyre_status status = kept->table ? GYRE_OK : make_kept(shard);
    if (status == GYRE_OK)
        status = gyre_kept_read_ahead(kept);
    if (status == GYRE_OK && kept->checkpoint && !shard->follows)
        status = load_table(shard);
    if (status != GYRE_OK && !shard->follows) {
        gyre_kept_drop(kept);
        gyre_kept_finish(kept);
        shard->loaded = 0;
    }
    gyre_error_let_go();
}

/* Who follows has to begin anew where the owner kept another checkpoint after all, as when it did not hand the shard over for a moment. */
static gyre_status read_ahead(struct gyre_shard *shard)
{
    const struct gyre_kept *kept = &shard->kept;
    load_ahead(shard);
    if (!shard->follows || (kept->applied == shard->followed_from && kept->checkpoint == shard->loaded))
        return GYRE_OK;
    const gyre_status status = begin_anew(shard);
    if (status == GYRE_OK)
        load_ahead(shard);
    return status;
}

static gyre_status activate(struct gyre_shard *shard)
{
    return gyre_kernel_activate(shard->kernel, gyre_clock_ns() + shard->site->reach_ns);
}

/* Awaiting: handles what the owner says that it has handled, so that few requests are left when the shard comes. */
static gyre_status follow(struct gyre_shard *shard, uint64_t handled)
{
    const struct gyre_kept *kept = &shard->kept;
    if (!handled || !shard->loaded || shard->loaded != kept->checkpoint)
        return GYRE_OK;
    gyre_status status = shard->follows ? GYRE_OK : activate(shard);
    if (status == GYRE_OK && !shard->follows) {
        shard->follows = true;
        shard->followed_from = kept->applied;
        shard->position = kept->position;
    }
    if (status == GYRE_OK)
        status = gyre_shard_follow(shard, handled);
    if (status == GYRE_OK)
        return status;
    if (gyre_shard_is_stopping(shard) || !gyre_shard_has_lease(shard))
        return GYRE_OK; /* it awaits no more */
    return gyre_error_add(status == GYRE_LOST ? GYRE_UNAVAILABLE : status, "following its owner");
}

/* With a first checkpoint of a new table every owner has its secret, and so does the same with the same requests. */
static gyre_status restore(struct gyre_shard *shard)
{
    struct gyre_site *site = shard->site;
    struct gyre_kept *kept = &shard->kept;
    const uint64_t size = shard->table_size;
    gyre_status status = kept->table ? GYRE_OK : gyre_kept_init(kept, site->transport, shard->number, size);
    kept->epoch = shard->place.epoch;
    kept->incarnation = shard->place.incarnation;
    memcpy(kept->owner, shard->place.owner, sizeof kept->owner);
    if (status == GYRE_OK)
        status = gyre_kept_begin(kept, gyre_clock_ns() + site->reach_ns);
    if (status == GYRE_OK)
        status = check_kept(shard);
    if (status == GYRE_OK && shard->follows && kept->applied != shard->followed_from)
        status = begin_anew(shard);
    shard->position = shard->follows ? shard->position : kept->position;
    if (status == GYRE_OK)
        status = check_log(shard);
    if (status == GYRE_OK && kept->checkpoint)
        status = shard->follows ? GYRE_OK : load_table(shard);
    else if (status == GYRE_OK)
        status = gyre_shard_checkpoint(shard);
    if (status == GYRE_OK)
        status = note_kept(shard);
    if (status == GYRE_OK)
        status = gyre_trial_begin(shard);
    shard->checkpoint_ns = gyre_clock_ns();
    if (status == GYRE_OK && !shard->follows)
        status = activate(shard);
    shard->follows = false;
    return status;
}

/*
 * Whether the next owner gets further by handling the requests since the last checkpoint again, as after a death: it has read that checkpoint, and
 * another one would take longer than they took.
 */
static bool is_caught_up(const struct gyre_shard *shard)
{
    const bool is_handed_over = __atomic_load_n(&shard->stop, __ATOMIC_RELAXED) == GYRE_SHARD_HAND_OVER;
    return shard->position == shard->kept.position || (is_handed_over && shard->handover.is_followed) ||
           (is_handed_over && shard->busy_ns < shard->checkpoint_cost_ns);
}

/* The next owner goes on from the checkpoint in any case, so a failure here loses time alone. */
static gyre_status give_back(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_status status = is_caught_up(shard) ? GYRE_OK : gyre_shard_checkpoint(shard);
    if (status != GYRE_OK)
        return status;
    memset(shard->place.owner, 0, sizeof shard->place.owner);
    shard->place.incarnation = 0;
    shard->place.pause_ns = 0;
    shard->place.works = false;
    shard->place.handled = shard->place.handled ? shard->position : 0;
    shard->place.closing_ns = gyre_clock_ns() - begin_ns;
    return gyre_shard_write_place(shard);
}

/* Says that this member could not take the shard, so that another one may try; see place_shard of member_tick.c. */
static void leave_place(struct gyre_shard *shard)
{
    gyre_error_hold();
    memset(shard->place.owner, 0, sizeof shard->place.owner);
    shard->place.works = false;
    gyre_place_write(shard->site->transport, shard->number, &shard->place);
    gyre_error_let_go();
}

/* Says how this member fares with the shard. A failure to say so is made up for by the next try. */
static void offer(struct gyre_shard *shard, enum gyre_offer_state state)
{
    const struct gyre_site *site = shard->site;
    struct gyre_cluster_offer its = {.epoch = shard->place.epoch,
                                     .incarnation = site->incarnation,
                                     .state = state,
                                     .loaded = shard->loaded ? (uint32_t)shard->loaded : UINT32_MAX};
    memcpy(its.member, site->name, sizeof its.member);
    if (state == GYRE_OFFER_FAILED)
        snprintf(its.why, sizeof its.why, "%s", gyre_error_text());
    shard->told = shard->loaded;
    shard->told_position = shard->follows ? shard->position : 0;
    its.followed = shard->told_position;
    gyre_error_hold();
    gyre_offer_write(site->transport, shard->number, &its, gyre_clock_ns() + site->lease_ns);
    gyre_error_let_go();
}

static gyre_status prepare(struct gyre_shard *shard)
{
    const gyre_status status = launch(shard);
    return status == GYRE_OK ? make_room(shard) : status;
}

static gyre_status take(struct gyre_shard *shard)
{
    gyre_status status = shard->kernel ? GYRE_OK : prepare(shard);
    if (status == GYRE_OK)
        status = restore(shard);
    if (status != GYRE_OK && status != GYRE_LOST)
        leave_place(shard);
    return status;
}

/* Nothing took this owner down: the place says so, and the next owner counts no death. Another owner's place stays as it is. */
static void leave_unfinished(struct gyre_shard *shard)
{
    shard->place.incarnation = 0;
    leave_place(shard);
}

/* Whether the owner whose place this was gave it back in order; *is_over: it did not, and another way will be found to take it. */
static bool was_given(const struct gyre_shard_place *before, const struct gyre_shard_place *now,
                      bool *is_over)
{
    const bool is_same = now->epoch == before->epoch;
    const bool given = is_same && !now->owner[0] && !now->incarnation;
    *is_over = !given && (!is_same || !now->owner[0]);
    return given;
}

static bool is_behind(const struct gyre_shard *shard)
{
    return shard->follows && shard->position < shard->place.handled;
}

/* Whether the offer does not say yet what the owner waits for. */
static bool has_news(const struct gyre_shard *shard)
{
    const bool came_so_far = shard->follows && !is_behind(shard);
    return shard->told != shard->loaded || (came_so_far && shard->told_position != shard->position);
}

/* Waits until the owner gives the shard back, with a kernel that is launched. Not *was_given_back: it did not do so in time, or in order. */
static gyre_status await_place(struct gyre_shard *shard, bool *was_given_back)
{
    const uint64_t until = gyre_clock_ns() + AWAIT_LEASES * shard->site->lease_ns;
    bool given = false, is_over = false;
    gyre_status status = GYRE_OK;
    for (unsigned look = 1; status == GYRE_OK && !given && !is_over && gyre_clock_ns() < until &&
                            gyre_shard_has_lease(shard) && !gyre_shard_is_stopping(shard);
         look++) {
        struct gyre_shard_place now;
        if (look % LOOKS_AHEAD == 0)
            status = read_ahead(shard);
        if (status == GYRE_OK && has_news(shard))
            offer(shard, GYRE_OFFER_READY);
        const uint64_t look_ns = gyre_clock_ns();
        if (status == GYRE_OK && gyre_place_read(shard->site->transport, shard->number, &now) == GYRE_OK) {
            given = was_given(&shard->place, &now, &is_over);
            status = given || is_over ? GYRE_OK : follow(shard, now.handled);
            shard->place = given ? now : shard->place;
            shard->owned_ns = given ? shard->owned_ns : look_ns;
        }
        if (status == GYRE_OK && !given && !is_behind(shard))
            nanosleep(&(struct timespec){.tv_nsec = AWAIT_NAP_NS}, NULL);
    }
    *was_given_back = given;
    if (status == GYRE_OK)
        gyre_error_clear();
    return status;
}

/* OK, and nothing taken, when it awaited in vain. */
static gyre_status take_in_order(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    bool is_given = false;
    if (shard->awaits) {
        shard->owned_ns = gyre_clock_ns();
        status = prepare(shard);
        if (status != GYRE_OK)
            return status;
        load_ahead(shard);
        offer(shard, GYRE_OFFER_READY);
        status = await_place(shard, &is_given);
        if (status != GYRE_OK)
            return status;
        if (!is_given) {
            offer(shard, GYRE_OFFER_WITHDRAWN);
            return status;
        }
        __atomic_store_n(&shard->step, GYRE_SHARD_TAKING, __ATOMIC_RELEASE);
    }
    status = take_place(shard);
    if (status == GYRE_OK)
        status = take(shard);
    shard->was_taken = status == GYRE_OK;
    if (shard->was_taken && shard->awaits)
        shard->place.pause_ns = shard->place.closing_ns + gyre_clock_ns() - shard->owned_ns;
    shard->place.works = shard->tells_work = shard->was_taken;
    return status;
}

static gyre_status live(struct gyre_shard *shard)
{
    gyre_status status = take_in_order(shard);
    if (status != GYRE_OK && status != GYRE_LOST)
        offer(shard, GYRE_OFFER_FAILED);
    if (status != GYRE_OK)
        return gyre_error_add(status, "taking shard %u", shard->number);
    if (!shard->was_taken)
        return status;
    gyre_site_count(shard->site, &shard->site->info.taken, 1);
    __atomic_store_n(&shard->step, GYRE_SHARD_WORKING, __ATOMIC_RELEASE);
    status = gyre_shard_work(shard);
    if (status == GYRE_LOST && !shard->has_crashed)
        leave_unfinished(shard);
    return status == GYRE_OK ? give_back(shard) : status;
}

static void finish(struct gyre_shard *shard, gyre_status status)
{
    shard->status = status;
    if (status != GYRE_OK)
        snprintf(shard->why, sizeof shard->why, "shard %u: %s", shard->number, gyre_error_text());
    gyre_kernel_release(shard->kernel);
    gyre_kept_finish(&shard->kept);
    gyre_trial_finish(shard);
    while (shard->window.count) /* the next owner handles their requests again */
        gyre_window_pass(&shard->window, shard->site->transport);
    free(shard->requests);
    free(shard->replies);
    free(shard->reply);
    free(shard->chunk);
    __atomic_store_n(&shard->step, GYRE_SHARD_ENDED, __ATOMIC_RELEASE);
}

static void *run(void *argument)
{
    struct gyre_shard *const shard = argument;
    struct gyre_shard_helper *const helper = shard->helper;
    if (setjmp(helper->home) == 0) {
        gyre_error_clear();
        finish(shard, live(shard));
    } else {
        free(helper); /* this thread was left (helper.h): the shard is the ender's, or gone */
    }
    return NULL;
}

/* The ender (helper.h): leaves the helper in its handler, and ends the shard in its place. */
static void *run_ender(void *argument)
{
    struct gyre_shard *shard = argument;
    gyre_error_clear();
    if (!gyre_shard_leave_thread(shard)) {
        __atomic_store_n(&shard->ends_in_vain, true, __ATOMIC_RELEASE);
        return NULL;
    }
    const gyre_status status =
        gyre_shard_has_lease(shard) ? gyre_shard_no_return(shard) : gyre_shard_lost_lease(shard);
    leave_unfinished(shard);
    finish(shard, status);
    return NULL;
}

static bool is_to_be_given_up(struct gyre_shard *shard)
{
    const uint64_t now = gyre_clock_ns();
    if (!gyre_shard_has_lease(shard))
        return true;
    if (!gyre_shard_is_stopping(shard))
        return false;
    shard->give_up_ns = shard->give_up_ns ? shard->give_up_ns : now + shard->site->reach_ns;
    return now > shard->give_up_ns;
}

void gyre_shard_look_after(struct gyre_shard *shard)
{
    if (shard->has_ender && !__atomic_load_n(&shard->ends_in_vain, __ATOMIC_ACQUIRE))
        return;
    if (shard->has_ender)
        pthread_join(shard->ender, NULL);
    shard->has_ender = shard->ends_in_vain = false;
    const uint64_t since_ns = gyre_shard_helps_since(shard);
    if (since_ns && gyre_clock_ns() - since_ns >= LONG_NS && is_to_be_given_up(shard))
        shard->has_ender =
            gyre_thread_start(&shard->ender, NULL, run_ender, shard) == 0; /* or at the next look */
}

gyre_status gyre_shard_start(struct gyre_site *site, uint32_t number, const struct gyre_shard_place *place,
                             bool awaits, struct gyre_shard **out)
{
    struct gyre_shard *shard = calloc(1, sizeof *shard);
    struct gyre_shard_helper *helper = calloc(1, sizeof *helper);
    *out = NULL;
    if (!shard || !helper) {
        free(shard);
        free(helper);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for shard %u", number);
    }
    shard->helper = helper;
    shard->site = site;
    shard->number = number;
    shard->place = *place;
    shard->awaits = awaits;
    shard->step = awaits ? GYRE_SHARD_AWAITING : GYRE_SHARD_TAKING;
    shard->taken_ns = gyre_clock_ns();
    shard->lapses = __atomic_load_n(&site->lapses, __ATOMIC_ACQUIRE);
    gyre_cluster_shard_name(shard->log, "in", number);
    shard->reading.logs = site->app.shards;
    const gyre_status status = gyre_thread_need(&shard->thread, run, shard, "for shard %u", number);
    if (status != GYRE_OK) {
        free(helper);
        free(shard);
        return status;
    }
    *out = shard;
    return GYRE_OK;
}

void gyre_shard_stop(struct gyre_shard *shard, enum gyre_shard_stop_way way)
{
    __atomic_store_n(&shard->stop, (uint32_t)way, __ATOMIC_RELAXED);
}

void gyre_shard_join(struct gyre_shard *shard)
{
    if (shard->has_ender)
        pthread_join(shard->ender, NULL);
    if (shard->helper)
        pthread_join(shard->thread, NULL);
    free(shard->helper);
    free(shard);
}
