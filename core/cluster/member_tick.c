/* SPDX-License-Identifier: Apache-2.0 */
/* What a member's thread does (member.h): keeps its record alive, looks at the others, starts and ends shards. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/member.h"
#include "core/cluster/offer.h"
#include "gyre/waiting.h"

enum { STARTS_A_LOOK = 8, GIVES_A_LOOK = 4, SECOND_LEASES = 10, RETRY_LEASES = 3, DOUBLINGS_MAX = 4 };

gyre_status gyre_member_beat(struct gyre_member *member, enum gyre_member_state state)
{
    const uint64_t before_ns = gyre_clock_ns();
    member->record.state = state;
    member->record.beats++;
    const gyre_status status = gyre_roster_write(member->site.transport, &member->record, &member->revision);
    if (status != GYRE_OK)
        return status;
    if (gyre_clock_ns() >= member->site.lease_until_ns)
        __atomic_add_fetch(&member->site.lapses, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&member->site.lease_until_ns, before_ns + member->site.lease_ns, __ATOMIC_RELEASE);
    return GYRE_OK;
}

/* Tells a failure of the thread's look, once as long as it is the same one. */
static void tell_trouble(struct gyre_member *member)
{
    const char *text = gyre_error_text();
    if (strncmp(member->told, text, sizeof member->told - 1) == 0)
        return;
    snprintf(member->told, sizeof member->told, "%s", text);
    gyre_runtime_log(member->site.runtime, GYRE_LOG_WARNING, "member '%s': %s", member->record.name, text);
}

/*
 * A write that was not acknowledged may have changed the revision: the record is read, and is still this member's if it has its incarnation.
 */
static void beat(struct gyre_member *member)
{
    struct gyre_cluster_member its;
    uint64_t revision;
    const bool drained = gyre_orders_drains(&member->orders, member->record.name);
    gyre_status status = gyre_member_beat(member, drained ? GYRE_MEMBER_DRAINED : GYRE_MEMBER_HERE);
    if (status == GYRE_OK)
        return;
    if (status != GYRE_AGAIN)
        tell_trouble(member);
    if (status == GYRE_UNAVAILABLE)
        return;
    status = gyre_roster_read(member->site.transport, member->record.name, &its, &revision);
    if (status == GYRE_OK && its.incarnation == member->record.incarnation)
        member->revision = revision;
    else if (status == GYRE_OK && member->revision) {
        gyre_runtime_log(
            member->site.runtime, GYRE_LOG_ERROR,
            "another process took the name of member '%s': this one gives its shards up; start it again "
            "with another `member`",
            member->record.name);
        member->revision = 0; /* no write succeeds any more, and the lease runs out */
    }
}

/* ---- shards that ended ---- */

static void tell_end(struct gyre_member *member, const struct gyre_shard *shard)
{
    pthread_mutex_lock(&member->site.lock);
    if (shard->status == GYRE_OK)
        member->site.info.given += shard->was_taken;
    else {
        member->site.info.lost++;
        snprintf(member->site.info.trouble, sizeof member->site.info.trouble, "%s", shard->why);
    }
    pthread_mutex_unlock(&member->site.lock);
    if (shard->status != GYRE_OK)
        gyre_runtime_log(member->site.runtime, shard->status == GYRE_LOST ? GYRE_LOG_WARNING : GYRE_LOG_ERROR,
                         "%s", shard->why);
}

/* So many leases; twice as many each time that the shard could not be taken again. */
static uint64_t leases_ns(const struct gyre_member *member, uint32_t number, uint64_t leases)
{
    const uint32_t again = member->vain[number] ? member->vain[number] - 1 : 0;
    return (leases * member->site.lease_ns) << (again < DOUBLINGS_MAX ? again : DOUBLINGS_MAX);
}

/*
 * A shard that this member could not take is left to the second choice for a while, which looks once a lease. One that it awaited has an owner
 * that serves it, so each try is later than the one before.
 */
static uint64_t retry_after(const struct gyre_member *member, const struct gyre_shard *shard)
{
    const uint64_t lease_ns = member->site.lease_ns;
    const bool has_second =
        gyre_roster_choose(member->roster, shard->number, member->record.name, gyre_clock_ns()) != NULL;
    if (shard->status == GYRE_LOST)
        return lease_ns / 4;
    if (shard->awaits)
        return leases_ns(member, shard->number, RETRY_LEASES);
    return has_second ? RETRY_LEASES * lease_ns : lease_ns;
}

static void join_shard(struct gyre_member *member, uint32_t number)
{
    struct gyre_shard *shard = member->shards[number];
    tell_end(member, shard);
    member->vain[number] += shard->awaits && shard->status != GYRE_OK && shard->status != GYRE_LOST;
    member->retry_ns[number] = shard->status == GYRE_OK ? 0 : gyre_clock_ns() + retry_after(member, shard);
    member->crashed[number] = shard->has_crashed;
    member->unfinished[number] = shard->status != GYRE_OK;
    pthread_mutex_lock(&member->site.lock);
    member->shards[number] = NULL;
    pthread_mutex_unlock(&member->site.lock);
    gyre_shard_join(shard);
}

static void join_ended(struct gyre_member *member)
{
    member->record.owned = 0;
    for (uint32_t i = 0; i < member->site.app.shards; i++) {
        if (!member->shards[i])
            continue;
        gyre_shard_look_after(member->shards[i]);
        if (gyre_shard_step_of(member->shards[i]) == GYRE_SHARD_ENDED)
            join_shard(member, i);
        else if (gyre_shard_step_of(member->shards[i]) != GYRE_SHARD_AWAITING)
            member->record.owned++;
    }
}

/* ---- placing ---- */

struct look {
    struct gyre_member *member;
    uint64_t now_ns;
    uint32_t starts;
    bool gave;      /* one shard a look goes to another member */
    uint32_t given; /* and some by order */
};

static bool is_me(const struct gyre_member *member, const char *name)
{
    return name && strcmp(name, member->record.name) == 0;
}

/* Whether the place names this process of the member. */
static bool is_mine(const struct gyre_member *member, const struct gyre_shard_place *place)
{
    return is_me(member, place->owner) && place->incarnation == member->record.incarnation;
}

/*
 * Whether the owner that a place names, and that was silent in the look at the members, said something since. The place may be later than the look, as where
 * this process stood still in between: its owner may have come, or come back, meanwhile.
 */
static bool shows_life(const struct gyre_member *member, const struct gyre_shard_place *place)
{
    struct gyre_cluster_member its;
    uint64_t revision = 0;
    const gyre_status status = gyre_roster_read(member->site.transport, place->owner, &its, &revision);
    if (status == GYRE_OK && (its.incarnation != place->incarnation || its.state == GYRE_MEMBER_GONE))
        return false;
    if (status == GYRE_OK || (status == GYRE_INCOMPATIBLE && revision))
        return revision != gyre_roster_revision(member->roster, place->owner);
    return status != GYRE_NOT_FOUND;
}

/* Whether nobody alive owns the shard; for the second choice: whether another member could not take it. */
static bool is_free(const struct look *look, const struct gyre_shard_place *place, bool as_second)
{
    const struct gyre_member *member = look->member;
    if (as_second)
        return !place->owner[0] && place->incarnation && place->incarnation != member->record.incarnation;
    return !place->owner[0] || is_mine(member, place) ||
           (!gyre_roster_is_alive(member->roster, place->owner, place->incarnation, look->now_ns) &&
            !shows_life(member, place));
}

/* Whether the owner that the place names ended without giving the shard back; this member itself knows whether by a request. */
static bool has_died(const struct gyre_member *member, uint32_t number, const struct gyre_shard_place *place)
{
    return place->owner[0] && (!is_mine(member, place) || member->crashed[number]);
}

/* The member that should own the shard: the one that it was ordered to, as long as that one takes shards, or the one that the roster chooses. */
static const char *choose(const struct look *look, uint32_t number, const char *without)
{
    const struct gyre_member *member = look->member;
    const char *ordered = gyre_orders_member_of(&member->orders, number);
    if (ordered && gyre_roster_takes(member->roster, ordered, look->now_ns) &&
        (!without || strcmp(ordered, without) != 0))
        return ordered;
    return gyre_roster_choose(member->roster, number, without, look->now_ns);
}

/* Whether the owner of a shard that this member should have is about to give it back: it leaves, is drained, or the shard was ordered here. */
static bool is_coming(const struct look *look, uint32_t number, const struct gyre_shard_place *place)
{
    const struct gyre_member *member = look->member;
    return is_me(member, gyre_orders_member_of(&member->orders, number)) ||
           gyre_roster_gives(member->roster, place->owner, place->incarnation, look->now_ns);
}

/* Whether another member said that it cannot take the shard from its owner, who still has it. */
static bool was_refused(const struct look *look, uint32_t number, const struct gyre_shard_place *place)
{
    const struct gyre_member *member = look->member;
    struct gyre_cluster_offer offer;
    uint64_t revision;
    return gyre_offer_read(member->site.transport, number, &offer, &revision) == GYRE_OK &&
           offer.state == GYRE_OFFER_FAILED && offer.epoch == place->epoch &&
           offer.incarnation != member->record.incarnation;
}

static void start_shard(struct look *look, uint32_t number, bool as_second)
{
    struct gyre_member *member = look->member;
    struct gyre_shard_place place;
    struct gyre_shard *shard = NULL;
    if (look->now_ns < member->retry_ns[number])
        return;
    gyre_status status = gyre_place_read(member->site.transport, number, &place);
    const bool is_owned = status == GYRE_OK && !is_free(look, &place, as_second);
    if (is_owned && (!is_coming(look, number, &place) || (as_second && !was_refused(look, number, &place))))
        return;
    place.has_died = status == GYRE_OK && !is_owned && has_died(member, number, &place);
    if (status == GYRE_OK)
        status = gyre_shard_start(&member->site, number, &place, is_owned, &shard);
    if (status != GYRE_OK) {
        tell_trouble(member);
        return;
    }
    shard->is_second = as_second;
    member->vain[number] += as_second && !is_owned;
    look->starts++;
    pthread_mutex_lock(&member->site.lock);
    member->shards[number] = shard;
    pthread_mutex_unlock(&member->site.lock);
}

/* A shard that the member that should own it could not take stays for some leases, and longer each time. */
static uint64_t second_ns(const struct gyre_member *member, const struct gyre_shard *shard)
{
    return shard->is_second ? leases_ns(member, shard->number, SECOND_LEASES) : 0;
}

/* How long a shard stays when another member should own it, and no order says so. */
static uint64_t hold_ns(const struct gyre_member *member, const struct gyre_shard *shard)
{
    const uint64_t least = second_ns(member, shard);
    return member->site.settle_ns > least ? member->site.settle_ns : least;
}

/*
 * Whether a member that this one may give the shard to says that it launched the kernel and waits: the one that it was ordered to, or any where
 * this member is drained. The epoch of a shard that works does not change.
 */
static bool is_awaited(const struct look *look, struct gyre_shard *shard, const char *first)
{
    const struct gyre_member *member = look->member;
    struct gyre_cluster_offer offer;
    uint64_t revision;
    if (gyre_shard_step_of(shard) != GYRE_SHARD_WORKING ||
        gyre_offer_read(member->site.transport, shard->number, &offer, &revision) != GYRE_OK ||
        offer.state != GYRE_OFFER_READY || offer.epoch != shard->place.epoch)
        return false;
    return (member->record.state == GYRE_MEMBER_DRAINED || strcmp(offer.member, first) == 0) &&
           gyre_roster_is_alive(member->roster, offer.member, offer.incarnation, look->now_ns);
}

/*
 * Gives a shard that another member should own. One that goes by order is served here until the other one has launched its kernel, and then
 * until it has the states (shard_handover.h), so that requests wait for a short time only, and none waits for a member that cannot launch it.
 */
static void give_shard(struct look *look, struct gyre_shard *shard, const char *first, bool by_order)
{
    struct gyre_member *member = look->member;
    const uint64_t since_ns = look->now_ns - shard->taken_ns;
    const bool is_bound = since_ns < second_ns(member, shard) && member->record.state != GYRE_MEMBER_DRAINED;
    const bool hands_over = gyre_shard_hands_over(shard);
    if (gyre_shard_is_stopping(shard))
        return;
    if (hands_over && !(by_order && is_awaited(look, shard, first))) {
        gyre_shard_set_hands_over(shard, false);
        return;
    }
    if (gyre_shard_step_of(shard) == GYRE_SHARD_AWAITING && !shard->is_second)
        gyre_shard_stop(shard, GYRE_SHARD_STOP); /* the order that it was awaited by is over */
    else if (by_order && !hands_over && look->given < GIVES_A_LOOK && !is_bound &&
             is_awaited(look, shard, first)) {
        gyre_shard_set_hands_over(shard, true);
        look->given++;
    } else if (!by_order && !hands_over && !look->gave && since_ns >= hold_ns(member, shard)) {
        gyre_shard_stop(shard, GYRE_SHARD_STOP);
        look->gave = true;
    }
}

/*
 * A shard that did not end in order may have a place that still names this member, as where the transport did not take the last checkpoint. Nobody
 * else takes it then, also not the member that should own it: this one has to go on.
 */
static void resume_shard(struct look *look, uint32_t number)
{
    struct gyre_member *member = look->member;
    struct gyre_shard_place place;
    if (look->now_ns < member->retry_ns[number] ||
        gyre_place_read(member->site.transport, number, &place) != GYRE_OK)
        return;
    if (is_mine(member, &place))
        start_shard(look, number, false);
    else
        member->unfinished[number] = false;
}

static void place_shard(struct look *look, uint32_t number)
{
    struct gyre_member *member = look->member;
    struct gyre_shard *shard = member->shards[number];
    const char *first = choose(look, number, NULL), *ordered = gyre_orders_member_of(&member->orders, number);
    const bool wanted = is_me(member, first);
    const bool by_order = member->record.state == GYRE_MEMBER_DRAINED || (ordered && ordered == first);
    if (shard && wanted && gyre_shard_step_of(shard) == GYRE_SHARD_WORKING)
        member->vain[number] = 0;
    if (!shard && wanted && look->starts < STARTS_A_LOOK)
        start_shard(look, number, false);
    if (!shard && !wanted && member->unfinished[number] && look->starts < STARTS_A_LOOK)
        resume_shard(look, number);
    else if (!shard && !wanted && look->starts < STARTS_A_LOOK && look->now_ns >= member->second_ns[number] &&
             is_me(member, choose(look, number, first))) {
        member->second_ns[number] = look->now_ns + member->site.lease_ns;
        start_shard(look, number, true);
    }
    if (shard && (wanted || !first)) /* also when the one that awaited it is gone, and nobody else is there */
        gyre_shard_set_hands_over(shard, false);
    if (shard && !wanted && first) /* without another member it stays */
        give_shard(look, shard, first, by_order);
}

/* An order that is given anew is tried at once, however often it could not be carried out before. */
static void forget_vain(struct gyre_member *member)
{
    for (uint32_t i = 0; i < member->site.app.shards; i++) {
        if (!gyre_orders_member_of(&member->orders, i))
            continue;
        member->retry_ns[i] = member->vain[i] = 0;
        if (member->shards[i])
            member->shards[i]->is_second = false;
    }
}

/* Orders that cannot be read, or are damaged, leave those of before. */
static void look_at_orders(struct gyre_member *member)
{
    struct gyre_orders orders;
    if (gyre_orders_read(member->site.transport, &orders) != GYRE_OK) {
        tell_trouble(member);
        return;
    }
    const bool has_changed = orders.revision != member->orders.revision;
    member->orders = orders;
    if (has_changed)
        forget_vain(member);
}

void gyre_member_tick(struct gyre_member *member)
{
    struct look look = {.member = member};
    gyre_error_clear();
    join_ended(member);
    beat(member);
    look.now_ns = gyre_clock_ns();
    if (!gyre_site_has_lease(&member->site, look.now_ns))
        return;
    if (gyre_roster_look(member->roster, member->site.transport) != GYRE_OK) {
        tell_trouble(member);
        return;
    }
    look_at_orders(member);
    for (uint32_t i = 0; i < member->site.app.shards; i++)
        place_shard(&look, i);
}

/* ---- the end ---- */

void gyre_member_end_shards(struct gyre_member *member)
{
    bool left = true;
    uint64_t beat_ns = 0;
    for (uint32_t i = 0; i < member->site.app.shards; i++)
        if (member->shards[i])
            gyre_shard_stop(member->shards[i], GYRE_SHARD_STOP);
    while (left) {
        left = false;
        if (member->revision && gyre_clock_ns() >= beat_ns) {
            gyre_member_beat(member, GYRE_MEMBER_LEAVING);
            beat_ns = gyre_clock_ns() + member->site.lease_ns / 8;
        }
        for (uint32_t i = 0; i < member->site.app.shards; i++) {
            if (member->shards[i])
                gyre_shard_look_after(member->shards[i]);
            if (member->shards[i] && gyre_shard_step_of(member->shards[i]) == GYRE_SHARD_ENDED)
                join_shard(member, i);
            left = left || member->shards[i];
        }
        if (left)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    member->record.owned = 0;
    if (member->revision)
        gyre_member_beat(member, GYRE_MEMBER_GONE);
}
