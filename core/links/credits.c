/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of what another device has fetched (credits.h). */
#include "core/links/credits.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/links/homes.h"

enum { SIZE = sizeof((gyre_link_ring *)0)->fetched };

gyre_status gyre_link_credits_make(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    const struct gyre_node_facts *sender = &pipeline->nodes[link->from].facts;
    if (!pipeline->is_far || gyre_homes_of_link(pipeline, link) == sender->device)
        return GYRE_OK;
    return gyre_link_store_make(sender->device, sender->in_host, (uint64_t)sender->movers * SIZE,
                                &link->credits);
}

uint64_t gyre_link_credits_address(const struct gyre_link *link, uint32_t number)
{
    return link->credits.address ? link->credits.address + (uint64_t)number * SIZE : 0;
}

gyre_status gyre_link_credits_read(gyre_link_read *read, const struct gyre_link *link, gyre_link_ring *rings,
                                   uint32_t count)
{
    if (!link->credits.address)
        return GYRE_OK;
    uint64_t *fetched = malloc((size_t)count * SIZE);
    if (!fetched)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read link '%s'", link->name);
    const gyre_status status = read(&link->credits, 0, fetched, (uint64_t)count * SIZE);
    for (uint32_t i = 0; i < count && status == GYRE_OK; i++)
        memcpy(rings[i].fetched, fetched + (size_t)i * GYRE_LINK_SECTIONS, SIZE);
    free(fetched);
    return status;
}
