/* SPDX-License-Identifier: Apache-2.0 */
/* See shard_handover.h. */
#include "core/cluster/shard_handover.h"

#include "core/base/error.h"
#include "core/cluster/offer.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard_replies.h"

#define LOOK_NS UINT64_C(5000000)
#define NEAR_NS UINT64_C(25000000) /* an awaiting member that follows within this time is near enough */
/* LATE_LEASES: a member that died is known to be dead by then, and is not awaited any more. */
enum { LATE_LEASES = 2, ROUNDS_MAX = 16 };

static gyre_status look(const struct gyre_shard *shard, struct gyre_cluster_offer *offer)
{
    uint64_t revision;
    gyre_error_hold();
    const gyre_status status = gyre_offer_read(shard->site->transport, shard->number, offer, &revision);
    gyre_error_let_go();
    return status;
}

/* A member of before says nothing of what it loaded, and has what it read when it offered. */
static bool has_loaded(const struct gyre_shard *shard, const struct gyre_cluster_offer *offer)
{
    return !offer->loaded || offer->loaded == (uint32_t)shard->kept.checkpoint;
}

/* Who follows knows of no request that was given up. */
static bool may_be_followed(const struct gyre_shard *shard)
{
    return !shard->trial.careful_until && !shard->trial.count && !shard->place.trial.deaths;
}

/* Says which blocks are handled, once their replies are published. */
static gyre_status tell_handled(struct gyre_shard *shard)
{
    struct gyre_handover *handover = &shard->handover;
    gyre_status status = gyre_shard_publish(shard);
    shard->place.handled = handover->told = shard->position;
    if (status == GYRE_OK)
        status = gyre_shard_write_place(shard);
    handover->told_ns = gyre_clock_ns();
    handover->rounds++;
    return status;
}

/* Unless the member's thread asked for more meanwhile. */
static gyre_status give(struct gyre_shard *shard)
{
    uint32_t none = 0;
    __atomic_compare_exchange_n(&shard->stop, &none, GYRE_SHARD_HAND_OVER, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return GYRE_OK;
}

/*
 * The awaiting member has the last checkpoint. It handles what this owner handled since, in rounds: each leaves what was handled meanwhile, so they
 * get shorter as long as it is the faster one.
 */
static gyre_status let_follow(struct gyre_shard *shard, const struct gyre_cluster_offer *offer, uint64_t now)
{
    struct gyre_handover *handover = &shard->handover;
    if (!may_be_followed(shard))
        return give(shard);
    if (!handover->rounds)
        return tell_handled(shard);
    if (offer->followed < handover->told)
        return GYRE_OK;
    handover->is_followed = offer->followed != UINT64_MAX;
    const bool is_near = now - handover->told_ns < NEAR_NS || handover->rounds >= ROUNDS_MAX;
    return !handover->is_followed || is_near || shard->position == handover->told ? give(shard)
                                                                                  : tell_handled(shard);
}

/* It goes to a member that says it is there, also when that one did not come so far in time. */
gyre_status gyre_shard_hand_over(struct gyre_shard *shard)
{
    struct gyre_handover *handover = &shard->handover;
    struct gyre_cluster_offer offer;
    const uint64_t now = gyre_clock_ns();
    if (!gyre_shard_hands_over(shard)) {
        *handover = (struct gyre_handover){0};
        return GYRE_OK;
    }
    handover->begin_ns = handover->begin_ns ? handover->begin_ns : now;
    if (shard->kept.writing.is_open || now - handover->look_ns < LOOK_NS)
        return GYRE_OK;
    handover->look_ns = now;
    if (look(shard, &offer) != GYRE_OK)
        return GYRE_OK;
    if (offer.state != GYRE_OFFER_READY || offer.epoch != shard->place.epoch)
        gyre_shard_set_hands_over(shard, false);
    else if (now - handover->begin_ns > LATE_LEASES * shard->site->lease_ns)
        return give(shard);
    else if (has_loaded(shard, &offer))
        return let_follow(shard, &offer, now);
    return GYRE_OK;
}
