/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are handled once more, or later than they were taken (opencl_kept.h). Takes no lock. */
#include "backends/opencl/links/opencl_kept.h"
#include "backends/opencl/links/opencl_columns.h"
#include "backends/opencl/links/opencl_flow.h"
#include "backends/opencl/links/opencl_flow_memory.h"
#include "backends/opencl/links/opencl_link_ring.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a kept message: its cell, and behind it the memory of one that belongs to no flow. */
static size_t stride_of(const struct opencl_links *links)
{
    return (size_t)links->request_cell + links->memory.stride;
}

static unsigned char *bytes_of(const struct opencl_links *links, uint32_t number)
{
    return links->kept.bytes + number * stride_of(links);
}

bool opencl_kept_create(struct opencl_links *links, uint32_t cells)
{
    struct opencl_kept *kept = &links->kept;
    if (!links->declared)
        return true;
    kept->capacity = 2 * cells; /* a pipeline's, and those of queues that enter none */
    kept->bytes = calloc(kept->capacity, stride_of(links));
    kept->messages = calloc(kept->capacity, sizeof *kept->messages);
    return kept->bytes && kept->messages;
}

void opencl_kept_destroy(struct opencl_links *links)
{
    free(links->kept.bytes);
    free(links->kept.messages);
}

bool opencl_kept_has_room(const struct opencl_links *links)
{
    return links->kept.count <= links->kept.capacity / 2;
}

/* Moves the messages to the front of their list. */
static void move_down(struct opencl_links *links)
{
    struct opencl_kept *kept = &links->kept;
    if (kept->first && kept->count) {
        memmove(kept->messages, kept->messages + kept->first, kept->count * sizeof *kept->messages);
        memmove(kept->bytes, bytes_of(links, kept->first), kept->count * stride_of(links));
    }
    kept->first = 0;
}

void opencl_kept_add(gyre_resident *resident, uint32_t i)
{
    struct opencl_links *links = resident->links;
    struct opencl_kept *kept = &links->kept;
    if (kept->count == 0 || kept->first + kept->count == kept->capacity)
        move_down(links);
    const uint32_t number = kept->first + kept->count++;
    struct opencl_message *message = &kept->messages[number];
    *message = links->messages[i];
    message->turn += message->again;
    message->again = false;
    memcpy(bytes_of(links, number), link_request_cell(resident, i), links->request_cell);
    if (opencl_flow_memory_is_own(message) && links->memory.stride)
        memcpy(bytes_of(links, number) + links->request_cell, opencl_flow_memory_of(resident, i),
               links->memory.stride);
}

/* Fills the next cell with the oldest kept message. */
static void fetch_oldest(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    struct opencl_kept *kept = &links->kept;
    unsigned char *cell = link_request_cell(resident, links->next);
    const unsigned char *bytes = bytes_of(links, kept->first);
    gyre_slot *slot = (gyre_slot *)(void *)cell;
    gyre_cell_flow *flow = (gyre_cell_flow *)(void *)(cell + links->told.flow_offset);
    struct opencl_message *message = &links->messages[links->next];
    memcpy(cell, bytes, links->request_cell);
    *message = kept->messages[kept->first];
    slot->sequence = resident->epochs[0].first + links->next + 1; /* a direct lane waits for it */
    flow->origin = message->origin;
    flow->reserved[GYRE_CELL_TURN] = message->turn;
    if (opencl_flow_memory_is_own(message) && links->memory.stride)
        message->memory = bytes + links->request_cell;
    links->foreign = true; /* its places are as an earlier call found them: clear */
    opencl_columns_take(resident);
    kept->first++;
    kept->count--;
}

void opencl_kept_fetch(gyre_resident *resident, uint32_t most)
{
    struct opencl_links *links = resident->links;
    while (links->kept.count && links->taken < most &&
           opencl_columns_find_in(resident, links->kept.messages[links->kept.first].block))
        fetch_oldest(resident);
}

void opencl_kept_forget(struct opencl_links *links)
{
    struct opencl_kept *kept = &links->kept;
    const uint32_t end = kept->first + kept->count;
    uint32_t left = kept->first;
    for (uint32_t i = kept->first; i < end; i++) {
        if (!opencl_flow_has_way(links, &kept->messages[i]))
            continue;
        if (i != left) {
            kept->messages[left] = kept->messages[i];
            memcpy(bytes_of(links, left), bytes_of(links, i), stride_of(links));
        }
        left++;
    }
    kept->count = left - kept->first;
}
