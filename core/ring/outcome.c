/* SPDX-License-Identifier: Apache-2.0 */
/* Writes outcomes of requests into reply slots for the host: see outcome.h. Takes no lock: the device is done with these
 * slots. */
#include "core/ring/outcome.h"

#include <stdio.h>
#include <string.h>

#include "core/ring/ring_message.h"

void gyre_slot_fail(gyre_slot *slot, int32_t code, const char *text)
{
    gyre_failure failure = {.code = code};
    snprintf(failure.text, sizeof failure.text, "%s", text);
    memcpy(slot + 1, &failure, sizeof failure);
    slot->length = sizeof failure;
    slot->info = GYRE_OUTCOME_FAILED;
}

static void outcome_refuse(gyre_slot *slot)
{
    char text[48];
    snprintf(text, sizeof text, "the device told no outcome, but %u", slot->info);
    gyre_slot_fail(slot, GYRE_FAILURE_OUTCOME, text);
}

void gyre_outcomes_look(const struct gyre_ring *ring, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end && gyre_reply_ready(ring, index); index++) {
        gyre_slot *slot = gyre_reply_slot(ring, index); /* the device is done with it */
        if (!gyre_outcome_is_known(slot->info))
            outcome_refuse(slot);
    }
}

void gyre_outcome_unhandled(const struct gyre_ring *ring, uint64_t index)
{
    gyre_slot *slot = gyre_reply_slot(ring, index);
    slot->length = 0;
    slot->info = GYRE_OUTCOME_UNHANDLED;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
}
