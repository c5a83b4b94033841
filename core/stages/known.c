/* SPDX-License-Identifier: Apache-2.0 */
/*
 * De-duplication: the ids of the last so many messages that were sent with an id of their own. A table of
 * chains over a ring of ids, so that the oldest leaves when a new one comes.
 *
 * Lock: the producer's.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/stages/behaviours.h"

#define NOBODY UINT32_MAX

struct gyre_queue_known {
    uint64_t *ids;    /* a ring */
    uint32_t *nexts;  /* of each id, in its chain */
    uint32_t *chains; /* first of each */
    uint64_t count;   /* of ids ever */
    uint32_t window, chain_mask;
};

gyre_status gyre_queue_known_create(gyre_queue *queue, uint32_t window)
{
    struct gyre_queue_known *known = calloc(1, sizeof *known);
    uint32_t chains = 1;
    while (chains < window)
        chains *= 2;
    queue->known = known;
    if (known) {
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
    return GYRE_OK;
}

void gyre_queue_known_destroy(gyre_queue *queue)
{
    if (!queue->known)
        return;
    free(queue->known->ids);
    free(queue->known->nexts);
    free(queue->known->chains);
    free(queue->known);
    queue->known = NULL;
}

static uint32_t *chain_of(const struct gyre_queue_known *known, uint64_t id)
{
    return &known->chains[((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & known->chain_mask];
}

bool gyre_queue_knows(const gyre_queue *queue, uint64_t id)
{
    const struct gyre_queue_known *known = queue->known;
    uint32_t place = *chain_of(known, id);
    while (place != NOBODY && known->ids[place] != id)
        place = known->nexts[place];
    return place != NOBODY;
}

static void forget(struct gyre_queue_known *known, uint32_t place)
{
    uint32_t *link = chain_of(known, known->ids[place]);
    while (*link != place)
        link = &known->nexts[*link];
    *link = known->nexts[place];
}

void gyre_queue_know(gyre_queue *queue, uint64_t id)
{
    struct gyre_queue_known *known = queue->known;
    const uint32_t place = (uint32_t)(known->count % known->window);
    if (known->count >= known->window)
        forget(known, place);
    uint32_t *chain = chain_of(known, id);
    known->ids[place] = id;
    known->nexts[place] = *chain;
    *chain = place;
    known->count++;
}
