/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of flows, for the messages of an epoch (opencl_flow_memory.h). Takes no lock. */
#include "backends/opencl/links/opencl_flow_memory.h"
#include "backends/device/device_admission.h"
#include "backends/opencl/links/opencl_link_ring.h"

#include <stdlib.h>
#include <string.h>

/* Where a flow's memory is. Places count from 1: 0 says that nothing is here. */
struct opencl_flow_home {
    gyre_u64 flow; /* the bits of its origin that name it */
    uint32_t place;
};

static gyre_u64 whole_lines(gyre_u64 bytes)
{
    return (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

void opencl_flow_memory_shape(const gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    links->memory.size = resident->kernel->record.flow_size;
    links->memory.stride = (uint32_t)whole_lines(resident->kernel->flow_most);
    links->told.memory_size = links->memory.size;
}

bool opencl_flow_memory_create(struct opencl_links *links, uint32_t cells)
{
    if (!links->memory.stride)
        return true;
    links->memory.home_count = 1;
    while (links->memory.home_count < 2 * cells)
        links->memory.home_count *= 2;
    links->memory.homes = calloc(links->memory.home_count, sizeof *links->memory.homes);
    return links->memory.homes != NULL;
}

void opencl_flow_memory_destroy(struct opencl_links *links)
{
    free(links->memory.homes);
}

static gyre_u64 begin_of(const struct opencl_links *links, uint32_t cells)
{
    return whole_lines((gyre_u64)cells * links->reply_cell);
}

size_t opencl_flow_memory_end(const struct opencl_links *links, uint32_t cells, uint32_t count)
{
    if (!links->memory.stride || !count)
        return (size_t)cells * links->reply_cell;
    return (size_t)(begin_of(links, cells) + (gyre_u64)count * links->memory.stride);
}

bool opencl_flow_memory_is_own(const struct opencl_message *message)
{
    return !message->in_flow || message->origin & GYRE_ORIGIN_TAP;
}

static gyre_cell_flow *flow_cell(const gyre_resident *resident, uint32_t i)
{
    return (gyre_cell_flow *)(void *)(link_request_cell(resident, i) + resident->links->told.flow_offset);
}

unsigned char *opencl_flow_memory_of(const gyre_resident *resident, uint32_t i)
{
    return resident->epochs[0].out.host + (gyre_u64)flow_cell(resident, i)->reserved[GYRE_CELL_MEMORY] * 16;
}

/* The host's memory of the flow at this kernel. */
static unsigned char *memory_at_home(const struct opencl_links *links, gyre_u64 origin)
{
    const gyre_link_entry *entry = &links->table->entries[GYRE_ORIGIN_TABLE(origin)];
    const gyre_flow_head *head = device_flow_head(entry);
    return (unsigned char *)link_at(head->memory) + (gyre_u64)GYRE_ORIGIN_PLACE(origin) * head->memory_size +
           entry->memory;
}

/* Finds the place of a message's flow in this epoch. *is_new: it has had none, and has one now. */
static uint32_t find_place(struct opencl_links *links, const struct opencl_message *message, bool *is_new)
{
    const gyre_u64 flow =
        GYRE_ORIGIN_OF((gyre_u64)GYRE_ORIGIN_TABLE(message->origin), GYRE_ORIGIN_PLACE(message->origin));
    const uint32_t mask = links->memory.home_count - 1;
    uint32_t at = (uint32_t)(flow * 0x9e3779b97f4a7c15u >> 32) & mask;
    *is_new = true;
    if (opencl_flow_memory_is_own(message))
        return links->memory.count++;
    while (links->memory.homes[at].place && links->memory.homes[at].flow != flow)
        at = (at + 1) & mask;
    *is_new = !links->memory.homes[at].place;
    if (*is_new)
        links->memory.homes[at] = (struct opencl_flow_home){flow, ++links->memory.count};
    return links->memory.homes[at].place - 1;
}

static void fill_one(gyre_resident *resident, uint32_t i)
{
    struct opencl_links *links = resident->links;
    const struct opencl_message *message = &links->messages[i];
    bool is_new;
    const gyre_u64 at =
        links->memory.at + (gyre_u64)find_place(links, message, &is_new) * links->memory.stride;
    unsigned char *bytes = resident->epochs[0].out.host + at;
    flow_cell(resident, i)->reserved[GYRE_CELL_MEMORY] = (gyre_u32)(at / 16);
    if (!is_new)
        return;
    memset(bytes, 0, links->memory.stride);
    if (message->memory)
        memcpy(bytes, message->memory, links->memory.stride);
    else if (!opencl_flow_memory_is_own(message) && links->memory.size)
        memcpy(bytes, memory_at_home(links, message->origin), links->memory.size);
}

void opencl_flow_memory_fill(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    links->memory.count = 0;
    if (!links->memory.stride)
        return;
    links->memory.at = begin_of(links, links->count);
    memset(links->memory.homes, 0, links->memory.home_count * sizeof *links->memory.homes);
    for (uint32_t i = 0; i < links->count; i++)
        if (!links->messages[i].lost)
            fill_one(resident, i);
}

void opencl_flow_memory_give_back(gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    for (uint32_t i = links->settled; i < links->count && links->memory.size; i++)
        if (!links->messages[i].lost && !opencl_flow_memory_is_own(&links->messages[i]))
            memcpy(memory_at_home(links, links->messages[i].origin), opencl_flow_memory_of(resident, i),
                   links->memory.size);
}
