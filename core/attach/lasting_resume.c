/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a queue that outlasts its servers (lasting.h) from one server to the next: finds out which requests the new
 * server knows, and which must be sent again. Only the queue's thread calls it. The requests' numbers decide
 * (docs/adr/serving.md, "Who a completion is owed to"): a server with the journal still delivers the completions that
 * it owes, and knows no later request.
 */
#include "core/attach/lasting_resume.h"
#include "core/attach/lasting_ring.h"

#include "core/queue/line.h"

#include "core/base/error.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "gyre/attach.h"

void gyre_lasting_leave(struct gyre_lasting *lasting)
{
    gyre_lasting_promise(lasting); /* that server's last word on what is durable */
    gyre_queue_close(lasting->back->queue);
    lasting->back = NULL;
    lasting->covered.open = lasting->kept.open = false;
    lasting->lost_ns = gyre_clock_ns();
    lasting->durable = lasting->last_word_ns = 0;
    gyre_queue_set_away(lasting->ring, true);
}

/* Checks that the server's queue has the ring's format: the thread copies bytes between them without a change. */
static gyre_status check_fit(const struct gyre_lasting *lasting)
{
    const gyre_queue *ring = lasting->ring, *back = lasting->back->queue;
    if (gyre_queue_has_packets(back) == gyre_queue_has_packets(ring) &&
        gyre_ring_of(back)->slots.header_size >= gyre_ring_of(ring)->slots.header_size &&
        (!gyre_queue_has_packets(ring) || gyre_queue_reply_room(back) <= gyre_queue_reply_room(ring)) &&
        gyre_foreign_of(back)->tells_durable >= gyre_foreign_of(ring)->tells_durable &&
        !gyre_queue_has_line(back))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the queue of kernel '%s' is configured in another way than at the server before (header, "
        "wire form, levels, or no journal): attach anew",
        lasting->name);
}

/*
 * What a server that remembers this client knows of its numbers: completions of [first, end) are still to come,
 * requests from `end` on are unknown to the server. 0, 0: the server does not remember the client.
 */
struct known {
    uint64_t first, end;
};

static struct known ask(const struct gyre_lasting *lasting)
{
    gyre_recovered left = {.size = sizeof left};
    const gyre_queue *back = lasting->back->queue;
    if (!lasting->client[0] || gyre_queue_recovered(back, &left) != GYRE_OK) {
        gyre_error_clear();
        return (struct known){0, 0};
    }
    return (struct known){left.first, left.first + left.offered};
}

/*
 * Marks a request that the server does not know to be sent again. A request whose message is not in this ring is
 * completed as unhandled.
 */
static void begin_again(struct gyre_lasting *lasting, uint64_t index)
{
    struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    if (place->earlier)
        gyre_lasting_complete(lasting, index, GYRE_OUTCOME_UNHANDLED);
    else
        *place = (struct gyre_lasting_place){.request = index + 1, .stage = GYRE_LASTING_AGAIN};
}

/*
 * Settles a request whose completion the earlier server gave: a held completion is told. A request that the server
 * said it would not handle is sent again. Else the reply is lost, and the request fails.
 */
static void settle(struct gyre_lasting *lasting, uint64_t index)
{
    const struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    if (place->held)
        gyre_lasting_tell(lasting, index);
    else if (place->unhandled)
        begin_again(lasting, index);
    else
        gyre_lasting_fail(lasting, index, GYRE_FAILURE_OUTCOME, "handled, and the reply is lost");
}

static void resume_one(struct gyre_lasting *lasting, uint64_t index, struct known known)
{
    struct gyre_lasting_place *place = gyre_lasting_place(lasting, index);
    const bool was_there = place->stage == GYRE_LASTING_SENT || place->stage == GYRE_LASTING_HELD;
    if (place->request != index + 1 || !was_there)
        return;
    if (place->number >= known.end)
        begin_again(lasting, index);
    else if (place->number < known.first)
        settle(lasting, index);
    else
        place->stage = GYRE_LASTING_SENT; /* offered: its completion comes */
}

gyre_status gyre_lasting_resume(struct gyre_lasting *lasting)
{
    gyre_status status = check_fit(lasting);
    if (status != GYRE_OK)
        return status;
    const struct known known = ask(lasting);
    for (uint64_t index = lasting->oldest; index < lasting->next; index++)
        resume_one(lasting, index, known);
    lasting->again = lasting->answered = lasting->oldest;
    gyre_queue_set_away(lasting->ring, false);
    return GYRE_OK;
}
