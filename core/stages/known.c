/* SPDX-License-Identifier: Apache-2.0 */
/*
 * De-duplication: keeps the ids of the last `window` messages whose sender gave an id, and finds an id among them. The ids
 * stand in a ring, so the oldest id leaves when a new id comes; a hash table of chains finds an id in the ring.
 *
 * Lock: the producer lock.
 */
#include "core/stages/known.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/queue/line.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/stages/order.h"

#define NOBODY UINT32_MAX

struct gyre_queue_known {
    uint64_t *ids;    /* the ring of ids */
    uint32_t *nexts;  /* for each place in `ids`: the next place in the same chain */
    uint32_t *chains; /* for each chain: its first place in `ids` */
    uint64_t count;   /* ids noted so far */
    uint32_t window, chain_mask;
};

static uint32_t *chain_of(const struct gyre_queue_known *known, uint64_t id)
{
    return &known->chains[((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & known->chain_mask];
}

static bool known_knows(const gyre_queue *queue, uint64_t id)
{
    const struct gyre_queue_known *known = gyre_stage_state(queue, GYRE_STAGE_KNOWN);
    uint32_t place = *chain_of(known, id);
    while (place != NOBODY && known->ids[place] != id)
        place = known->nexts[place];
    return place != NOBODY;
}

static void known_forget(struct gyre_queue_known *known, uint32_t place)
{
    uint32_t *link = chain_of(known, known->ids[place]);
    while (*link != place)
        link = &known->nexts[*link];
    *link = known->nexts[place];
}

static void known_note(gyre_queue *queue, uint64_t id)
{
    struct gyre_queue_known *known = gyre_stage_state(queue, GYRE_STAGE_KNOWN);
    const uint32_t place = (uint32_t)(known->count % known->window);
    if (known->count >= known->window)
        known_forget(known, place);
    uint32_t *chain = chain_of(known, id);
    known->ids[place] = id;
    known->nexts[place] = *chain;
    *chain = place;
    known->count++;
}

static void known_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_known *known = state;
    (void)queue;
    free(known->ids);
    free(known->nexts);
    free(known->chains);
    free(known);
}

gyre_status gyre_known_create(gyre_queue *queue, uint32_t window)
{
    static const struct gyre_queue_stage stage = {.number = GYRE_STAGE_KNOWN, .destroy = known_destroy};
    static const struct gyre_known_ids ids = {known_knows, known_note};
    struct gyre_queue_known *known = calloc(1, sizeof *known);
    uint32_t chains = 1;
    while (chains < window)
        chains *= 2;
    if (known) {
        gyre_stage_add(queue, &stage, known);
        known->window = window;
        known->chain_mask = chains - 1;
        known->ids = gyre_lines_alloc(window * sizeof *known->ids);
        known->nexts = gyre_lines_alloc(window * sizeof *known->nexts);
        known->chains = gyre_lines_alloc(chains * sizeof *known->chains);
    }
    if (!known || !known->ids || !known->nexts || !known->chains)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the last %u ids of a queue", window);
    for (uint32_t i = 0; i < chains; i++)
        known->chains[i] = NOBODY;
    gyre_queue_set_known(queue, &ids);
    return GYRE_OK;
}
