/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of an epoch, and the blocks that handle what lies in them (opencl_columns.h). Takes no lock. */
#include "backends/opencl/links/opencl_columns.h"
#include "backends/opencl/links/opencl_link_ring.h"

#include <string.h>

#include "gyre/keyed_layout.h"

bool opencl_columns_are_needed(const gyre_resident *resident)
{
    const gyre_link_table *table = resident->links->table;
    if (!table || resident->blocks == 1 || opencl_is_serial(resident))
        return false;
    for (uint32_t i = 0; i < table->inlet_count; i++) {
        const gyre_link_ring *ring = link_at(link_inlets(table)[i].ring);
        if (ring->share == GYRE_LINK_SHARE_KEY)
            return true;
    }
    return false;
}

uint32_t opencl_columns_begin(const gyre_resident *resident, uint32_t most)
{
    struct opencl_links *links = resident->links;
    const uint32_t blocks = resident->blocks;
    links->taken = links->next = 0;
    links->full = false;
    links->rows = 0;
    if (!opencl_columns_are_needed(resident))
        return most;
    links->rows = most > blocks ? most / blocks : 1;
    memset(links->depths, 0, blocks * sizeof *links->depths);
    return links->rows * blocks;
}

/* The block that owns the message's key. */
static uint32_t owner_of(const gyre_resident *resident, const gyre_link_ring *ring, const void *message)
{
    gyre_u64 key[(GYRE_KEYED_KEY_MAX + 7) / 8] = {0};
    memcpy(key, (const unsigned char *)message + ring->key_offset, ring->key_size);
    return gyre_link_owner(gyre_keyed_hash_bytes(ring->key_seed, key, ring->key_size), resident->blocks);
}

/* The block that has the fewest messages so far. */
static uint32_t idlest(const gyre_resident *resident)
{
    const uint32_t *depths = resident->links->depths;
    uint32_t found = 0;
    for (uint32_t block = 1; block < resident->blocks; block++)
        if (depths[block] < depths[found])
            found = block;
    return found;
}

bool opencl_columns_find(const gyre_resident *resident, const gyre_link_ring *ring, const void *message)
{
    const bool by_key = ring && ring->share == GYRE_LINK_SHARE_KEY;
    if (!resident->links->rows)
        return opencl_columns_find_in(resident, 0);
    return opencl_columns_find_in(resident, by_key ? owner_of(resident, ring, message) : idlest(resident));
}

bool opencl_columns_find_in(const gyre_resident *resident, uint32_t block)
{
    struct opencl_links *links = resident->links;
    links->next = links->taken;
    if (!links->rows)
        return true;
    links->next = links->depths[block] * resident->blocks + block;
    links->full = links->full || links->depths[block] == links->rows;
    return links->depths[block] < links->rows;
}

uint32_t opencl_columns_left(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    return links->rows ? links->rows * resident->blocks - links->taken : UINT32_MAX;
}

void opencl_columns_take(const gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    const uint32_t block = links->next % resident->blocks;
    links->taken++;
    links->messages[links->next].block = block;
    if (links->rows)
        links->depths[block]++;
}

/* Leaves a cell without a message: as one that a worker answered which has died since, it is shown to no handler. */
static void leave_out(const gyre_resident *resident, uint32_t cell)
{
    gyre_slot *slot = (gyre_slot *)(void *)link_request_cell(resident, cell);
    resident->links->messages[cell] = (struct opencl_message){.lost = true};
    slot->sequence = resident->epochs[0].first + cell + 1;
    slot->length = GYRE_LENGTH_ANSWERED;
    slot->info = GYRE_REQUEST_ANSWERED;
}

void opencl_columns_end(const gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    uint32_t deepest = 0;
    links->count = links->taken;
    if (!links->rows)
        return;
    for (uint32_t block = 0; block < resident->blocks; block++)
        deepest = links->depths[block] > deepest ? links->depths[block] : deepest;
    links->count = deepest * resident->blocks;
    for (uint32_t block = 0; block < resident->blocks; block++)
        for (uint32_t row = links->depths[block]; row < deepest; row++)
            leave_out(resident, row * resident->blocks + block);
}
