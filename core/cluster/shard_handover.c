/* SPDX-License-Identifier: Apache-2.0 */
/* See shard_handover.h. */
#include "core/cluster/shard_handover.h"

#include <string.h>

#include "core/base/error.h"
#include "core/cluster/offer.h"

#define LIGHT_NS UINT64_C(2000000) /* requests that take so long are handled again rather than checkpointed */
#define LOOK_NS  UINT64_C(3000000)

/* A member that died is known to be dead by then, and is not awaited any more. */
enum { LATE_LEASES = 2 };

enum next { NEXT_WAIT, NEXT_GIVE, NEXT_LEAVE };

/* A member of before says nothing of what it loaded, and has what it read when it offered. */
static bool has_loaded(const struct gyre_shard *shard, const struct gyre_cluster_offer *offer)
{
    return !offer->loaded || offer->loaded == (uint32_t)shard->kept.checkpoint;
}

/* What the awaiting member says. A look that fails says nothing, and the next one follows soon. */
static enum next look(const struct gyre_shard *shard, bool is_late)
{
    struct gyre_cluster_offer offer;
    uint64_t revision;
    gyre_error_hold();
    const gyre_status status = gyre_offer_read(shard->site->transport, shard->number, &offer, &revision);
    gyre_error_let_go();
    if (status != GYRE_OK)
        return NEXT_WAIT;
    if (offer.state != GYRE_OFFER_READY || offer.epoch != shard->place.epoch)
        return NEXT_LEAVE;
    return is_late || has_loaded(shard, &offer) ? NEXT_GIVE : NEXT_WAIT;
}

/* Another checkpoint pays while it leaves less to be handled again than the one before did: it takes the less the sooner it follows. */
static bool pays(const struct gyre_shard *shard)
{
    const struct gyre_handover *handover = &shard->handover;
    return shard->busy_ns > LIGHT_NS && (!handover->left_ns || shard->busy_ns < handover->left_ns / 2);
}

static void leave(struct gyre_shard *shard)
{
    shard->handover = (struct gyre_handover){0};
    gyre_shard_set_hands_over(shard, false);
}

/* To a member that says it is there, also when it did not load the states in time. Unless the member's thread asked for more meanwhile. */
static void give(struct gyre_shard *shard)
{
    uint32_t none = 0;
    __atomic_compare_exchange_n(&shard->stop, &none, GYRE_SHARD_HAND_OVER, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

gyre_status gyre_shard_hand_over(struct gyre_shard *shard)
{
    struct gyre_handover *handover = &shard->handover;
    const uint64_t now = gyre_clock_ns();
    if (!gyre_shard_hands_over(shard)) {
        *handover = (struct gyre_handover){0};
        return GYRE_OK;
    }
    handover->begin_ns = handover->begin_ns ? handover->begin_ns : now;
    if (shard->kept.writing.is_open || now - handover->look_ns < LOOK_NS)
        return GYRE_OK;
    handover->look_ns = now;
    const bool is_late = now - handover->begin_ns > LATE_LEASES * shard->site->lease_ns;
    const enum next next = look(shard, is_late);
    if (next == NEXT_LEAVE)
        leave(shard);
    else if (next == NEXT_GIVE && !is_late && pays(shard)) {
        handover->left_ns = shard->busy_ns;
        return gyre_shard_begin_checkpoint(shard);
    } else if (next == NEXT_GIVE)
        give(shard);
    return GYRE_OK;
}
