/* SPDX-License-Identifier: Apache-2.0 */
/* See stories.h. */
#include "stories.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/offer.h"
#include "core/cluster/orders.h"
#include "core/cluster/place.h"

enum { PATIENCE_LEASES = 60 };
#define LONGEST_NAP_NS                                                                                       \
    (200 *                                                                                                   \
     FIBERS_MS) /* of the thread of a shard whose log is silent (reading.h); it is not woken to hand the shard over */

static void must(gyre_status status, const char *what)
{
    if (status != GYRE_OK)
        violation("progress", "%s: %s", what, gyre_error_text());
}

static uint64_t leases(const struct stage *stage, uint64_t count)
{
    return fibers_now_ns() + count * stage->lease_ns;
}

static void rest(const struct stage *stage, uint64_t most_ns)
{
    stage->tend_members();
    fiber_sleep(NULL, fibers_now_ns() + 1 + fibers_draw(most_ns));
}

/* Waits until the member works on the shard, until then at most. */
static bool await_owner(const struct stage *stage, const struct member *member, uint64_t until_ns)
{
    for (;;) {
        struct gyre_shard_place place;
        must(gyre_place_read(stage->transport, 0, &place), "a place is read");
        if (strcmp(place.owner, member->name) == 0 && place.works)
            return true;
        if (fibers_now_ns() > until_ns)
            return false;
        rest(stage, FIBERS_MS);
    }
}

static void await_offer(const struct stage *stage, enum gyre_offer_state state,
                        struct gyre_cluster_offer *offer)
{
    const uint64_t until_ns = leases(stage, PATIENCE_LEASES);
    uint64_t revision;
    do {
        if (fibers_now_ns() > until_ns)
            violation("progress", "a member does not say how it fares with a shard");
        rest(stage, FIBERS_MS / 4);
        must(gyre_offer_read(stage->transport, 0, offer, &revision), "an offer is read");
    } while (offer->state != state);
}

static void require_stays(const struct stage *stage, uint64_t count)
{
    const uint64_t until_ns = leases(stage, count);
    while (fibers_now_ns() < until_ns) {
        if (!await_owner(stage, stage->owner, 0))
            violation("offer", "member '%s' gives a shard to one that cannot take it", stage->owner->name);
        rest(stage, stage->lease_ns / 8);
    }
}

/* The owner learns that it died while it waits for it to follow. */
static void let_die(const struct stage *stage)
{
    struct gyre_cluster_offer offer;
    await_offer(stage, GYRE_OFFER_READY, &offer);
    stage->other->start_ns = FIBERS_NEVER;
    process_kill(stage->other->process);
    require_stays(stage, 8);
}

/* It says why it cannot follow, tries again after 3 leases, 6, 12, and takes the shard once it is mended. */
static void let_fail(const struct stage *stage)
{
    struct gyre_cluster_offer offer;
    struct sim_health *health = &stage->other->health;
    await_offer(stage, GYRE_OFFER_FAILED, &offer);
    if (!strstr(offer.why, "the test lets no"))
        violation("offer", "a member cannot take a shard, because: %s", offer.why);
    require_stays(stage, 20);
    if (health->launches > 5)
        violation("offer", "a member that cannot take a shard tries %" PRIu64 " times in 20 leases",
                  health->launches);
    health->cannot_activate = health->cannot_send = false;
    if (!await_owner(stage, stage->other, leases(stage, PATIENCE_LEASES)))
        violation("progress", "a member that was mended does not take a shard");
}

static void let_take_at_once(const struct stage *stage)
{
    struct gyre_cluster_offer offer;
    await_offer(stage, GYRE_OFFER_READY, &offer);
    if (!await_owner(stage, stage->other, leases(stage, 1) + LONGEST_NAP_NS))
        violation("offer", "a shard that had no requests is given late");
}

/* The owner does not hand it over for a moment, in which it keeps a checkpoint: the other one loads that, and follows from there. */
static void let_interrupt(const struct stage *stage)
{
    const uint64_t until_ns = leases(stage, PATIENCE_LEASES);
    struct gyre_member *const *its = &stage->other->its;
    while (!*its || !(*its)->shards[0] || !(*its)->shards[0]->follows) {
        if (fibers_now_ns() > until_ns)
            violation("progress", "a member does not follow");
        rest(stage, FIBERS_MS / 10);
    }
    stage->owner->its->site.checkpoint_ns = 1;
    gyre_shard_set_hands_over(stage->owner->its->shards[0], false);
    if (!await_owner(stage, stage->other, leases(stage, 1) + LONGEST_NAP_NS))
        violation("offer", "a shard whose hand-over was interrupted is given late");
}

/* Waits until the owner works on the shard with that epoch; returns when that was. */
static uint64_t await_epoch(const struct stage *stage, uint64_t epoch)
{
    const uint64_t until_ns = leases(stage, PATIENCE_LEASES);
    for (;;) {
        struct gyre_shard_place place;
        must(gyre_place_read(stage->transport, 0, &place), "a place is read");
        if (place.works && strcmp(place.owner, stage->owner->name) != 0)
            violation("offer", "a member works on a shard that it cannot restore");
        if (place.works && place.epoch == epoch)
            return fibers_now_ns();
        if (place.epoch > epoch || fibers_now_ns() > until_ns)
            violation("progress", "a shard that a member cannot restore does not come back");
        rest(stage, FIBERS_MS);
    }
}

/* Each time that the other one cannot restore it the shard comes back, with two epochs more, and stays twice as long: 10 leases, 20. */
static void let_come_back(const struct stage *stage)
{
    enum { STAYS_LEASES = 10 };
    struct gyre_shard_place first;
    must(gyre_place_read(stage->transport, 0, &first), "a place is read");
    uint64_t back_ns = await_epoch(stage, first.epoch + 2);
    for (uint64_t times = 1; times <= 2; times++) {
        const uint64_t before_ns = back_ns;
        back_ns = await_epoch(stage, first.epoch + 2 + 2 * times);
        if (back_ns - before_ns < times * STAYS_LEASES * stage->lease_ns)
            violation("offer", "a shard that came back is tried again too soon");
    }
    stage->other->health.cannot_restore = false;
    must(gyre_orders_set_member(stage->transport, 0, stage->other->name, FIBERS_NEVER), "a shard is ordered");
    if (!await_owner(stage, stage->other, leases(stage, 4) + LONGEST_NAP_NS))
        violation("progress", "an order that is given anew is not tried at once");
}

static void order_something(const struct stage *stage)
{
    if (stage->story == STORY_COMES_BACK)
        must(gyre_orders_set_member(stage->transport, 0, stage->other->name, FIBERS_NEVER),
             "a shard is ordered");
    else
        must(gyre_orders_set_drain(stage->transport, stage->owner->name, true, FIBERS_NEVER),
             "a member is drained");
}

void story_tell(const struct stage *stage)
{
    struct member *other = stage->other;
    if (stage->story == STORY_LOGS_ARE_AWAY) /* its clients were answered, each request */
        return;
    if (!await_owner(stage, stage->owner, leases(stage, PATIENCE_LEASES)))
        violation("progress", "a member does not take a shard");
    order_something(stage);
    fiber_sleep(NULL, leases(stage, 2)); /* they have read that by then */
    other->health.cannot_activate = stage->story == STORY_CANNOT_ACTIVATE;
    other->health.cannot_send = stage->story == STORY_CANNOT_SEND;
    other->health.cannot_restore = stage->story == STORY_COMES_BACK;
    other->start_ns = fibers_now_ns();
    if (stage->story == STORY_DIES)
        let_die(stage);
    else if (stage->story == STORY_NOTHING_WAS_SENT)
        let_take_at_once(stage);
    else if (stage->story == STORY_IS_INTERRUPTED)
        let_interrupt(stage);
    else if (stage->story == STORY_COMES_BACK)
        let_come_back(stage);
    else
        let_fail(stage);
}
