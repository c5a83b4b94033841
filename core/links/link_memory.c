/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a pipeline on its device: rings and windows of links, flows of entries, and a table for each node that says
 * where these lie (gyre/link_layout.h). A change makes new tables; the old ones are freed when no block uses them.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/links/pipeline.h"

enum { CAPACITY_MOST = 1 << 24 };
/* of a ring whose capacity Gyre chooses: at most so much; a device may ask for another number of slots (device_info) */
enum { RING_SLOTS = 1024, RING_BYTES = 1 << 20 };

/* ---- memory ---- */

static uint64_t whole_lines(uint64_t bytes)
{
    return (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

/* Where the pipeline's memory of links is. */
static gyre_status make_store(const gyre_pipeline *pipeline, uint64_t bytes, struct gyre_link_store *out)
{
    return gyre_link_store_make(pipeline->device, pipeline->nodes[0].facts.in_host, bytes, out);
}

/* ---- rings ---- */

static const gyre_port_record *port_of(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return &pipeline->nodes[link->from].facts.record->ports[link->port];
}

static uint32_t sender_blocks(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return pipeline->nodes[link->from].facts.movers;
}

static uint32_t target_blocks(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->to == GYRE_NODE_NOWHERE ? 0 : pipeline->nodes[link->to].facts.movers;
}

/*
 * The least capacity with which a sender gets room for `most` messages in the end: room comes back in whole sections, so one
 * section may be used in part for ever.
 */
static uint64_t least_capacity(uint32_t most)
{
    uint64_t capacity = GYRE_LINK_SECTIONS;
    while (capacity - capacity / GYRE_LINK_SECTIONS < most)
        capacity *= 2;
    return capacity;
}

static uint64_t usual_capacity(const gyre_pipeline *pipeline, uint64_t least, uint32_t stride)
{
    const uint64_t asked = gyre_dispatch_device_info(pipeline->device)->link_slots;
    uint64_t capacity = least;
    while (capacity < (asked ? asked : RING_SLOTS) && capacity * 2 * stride <= RING_BYTES)
        capacity *= 2;
    return capacity;
}

/* A slot that fits a line lies in one: a device may write such a slot whole, by one instruction. */
static uint32_t stride_of(uint64_t size)
{
    enum { HALF_LINE = GYRE_LINE_SIZE / 2 };
    const uint64_t bytes = (GYRE_SLOT_HEADER_SIZE + size + 15) / 16 * 16;
    return (uint32_t)(bytes <= 16              ? 16
                      : bytes <= HALF_LINE     ? HALF_LINE
                      : bytes < GYRE_LINE_SIZE ? GYRE_LINE_SIZE
                                               : bytes);
}

static gyre_status choose_capacity(const gyre_pipeline *pipeline, struct gyre_link *link, bool tight)
{
    const gyre_port_record *port = port_of(pipeline, link);
    const uint64_t least = least_capacity(port->most);
    link->stride = stride_of(port->type->size);
    if (link->capacity == 0 || tight) {
        link->capacity = tight ? least : usual_capacity(pipeline, least, link->stride);
        return GYRE_OK;
    }
    if (link->capacity >= least && (link->capacity & (link->capacity - 1)) == 0 &&
        link->capacity <= CAPACITY_MOST)
        return GYRE_OK;
    gyre_error_set(
        GYRE_INVALID,
        "link '%s': capacity: expected a power of two of %llu at least (one call of '%s' may emit %u "
        "messages), found %llu",
        link->name, (unsigned long long)least, pipeline->nodes[link->from].facts.name, port->most,
        (unsigned long long)link->capacity);
    return gyre_wiring_blame(link->place.capacity, GYRE_INVALID);
}

/* Decides where the link's rings, slots and windows lie in the pipeline's memory, from `offset` on. Returns where they end. */
static uint64_t place_link(const gyre_pipeline *pipeline, struct gyre_link *link, uint64_t offset)
{
    const uint64_t rings = sender_blocks(pipeline, link);
    link->rings = offset;
    link->windows = link->rings + rings * sizeof(gyre_link_ring);
    /* a line of padding between the slots of two rings: rings of a size that is a power of two would share cache sets */
    link->slots = link->windows + rings * target_blocks(pipeline, link) * sizeof(gyre_link_window);
    const uint64_t end = link->slots + rings * (whole_lines(link->capacity * link->stride) + GYRE_LINE_SIZE);
    link->bytes = end - offset;
    return end;
}

static gyre_status write_rings(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const uint32_t count = sender_blocks(pipeline, link);
    gyre_link_ring *rings = calloc(count, sizeof *rings);
    if (!rings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the rings of link '%s'", link->name);
    for (uint32_t i = 0; i < count; i++) {
        rings[i].slots = pipeline->wires_address + link->slots +
                         i * (whole_lines(link->capacity * link->stride) + GYRE_LINE_SIZE);
        rings[i].capacity = (uint32_t)link->capacity;
        rings[i].stride = link->stride;
    }
    const gyre_status status =
        gyre_link_store_write(pipeline->device, &pipeline->wires, link->rings, rings, count * sizeof *rings);
    free(rings);
    return status;
}

/* Names the link that takes the most memory, because its capacity is the one to lower. */
static gyre_status blame_largest(const gyre_pipeline *pipeline, gyre_status status)
{
    const struct gyre_link *largest = &pipeline->links[0];
    for (int i = 1; i < pipeline->link_count; i++)
        if (pipeline->links[i].bytes > largest->bytes)
            largest = &pipeline->links[i];
    if (pipeline->link_count)
        gyre_error_add(
            status,
            "the links take %llu bytes, '%s' most of all (%llu, for %u blocks that send %llu messages "
            "each): lower its capacity",
            (unsigned long long)pipeline->wires_size, largest->name, (unsigned long long)largest->bytes,
            sender_blocks(pipeline, largest), (unsigned long long)largest->capacity);
    return gyre_wiring_blame(largest->place.capacity, status);
}

gyre_status gyre_link_memory_create(gyre_pipeline *pipeline, const gyre_pipeline_desc *desc)
{
    gyre_status status = GYRE_OK;
    uint64_t end = 0;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        status = choose_capacity(pipeline, &pipeline->links[i], desc->links_tight != 0);
        end = place_link(pipeline, &pipeline->links[i], end);
    }
    pipeline->wires_size = end ? end : GYRE_LINE_SIZE;
    if (status == GYRE_OK)
        status = make_store(pipeline, pipeline->wires_size, &pipeline->wires);
    pipeline->wires_address = pipeline->wires.address;
    if (status == GYRE_EXHAUSTED)
        status = blame_largest(pipeline, status);
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++)
        status = write_rings(pipeline, &pipeline->links[i]);
    return status;
}

void gyre_link_memory_destroy(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        gyre_link_store_release(pipeline->device, &pipeline->nodes[i].table);
    for (int i = 0; i < pipeline->entry_count; i++)
        gyre_link_store_release(pipeline->device, &pipeline->entries[i].flows);
    gyre_link_store_release(pipeline->device, &pipeline->wires);
}

gyre_status gyre_link_memory_flows(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    gyre_link_entry described;
    gyre_node_describe_entry(entry->queue, &described);
    const bool copies = described.slots.foreign & GYRE_FOREIGN_RING && described.slots.headers_offset;
    const uint64_t place = sizeof(gyre_flow) + (copies ? described.slots.header_size : 0);
    return make_store(pipeline, described.slots.capacity * place, &entry->flows);
}

/* One word at a time: blocks write the rest of a flow meanwhile. */
static gyre_status read_busy(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry,
                             uint64_t place, uint64_t *busy)
{
    return gyre_link_store_read(pipeline->device, &entry->flows,
                                place * sizeof(gyre_flow) + offsetof(gyre_flow, busy), busy, sizeof *busy);
}

gyre_status gyre_link_memory_settled(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry,
                                     bool *settled)
{
    gyre_link_entry described;
    gyre_status status = GYRE_OK;
    uint64_t busy = 0;
    gyre_node_describe_entry(entry->queue, &described);
    for (uint64_t i = 0; i < described.slots.capacity && status == GYRE_OK && !busy; i++)
        status = read_busy(pipeline, entry, i, &busy);
    *settled = status == GYRE_OK && !busy;
    return status;
}

/* ---- tables ---- */

static uint32_t count_inlets(const gyre_pipeline *pipeline, int node)
{
    uint32_t count = 0;
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].to == node)
            count += sender_blocks(pipeline, &pipeline->links[i]);
    return count;
}

static void write_inlets(const gyre_pipeline *pipeline, const struct gyre_link *link, gyre_link_inlet *inlets)
{
    const uint64_t base = pipeline->wires_address;
    for (uint32_t ring = 0; ring < sender_blocks(pipeline, link); ring++)
        inlets[ring] = (gyre_link_inlet){.ring = base + link->rings + ring * sizeof(gyre_link_ring),
                                         .windows = base + link->windows +
                                                    (uint64_t)ring * target_blocks(pipeline, link) *
                                                        sizeof(gyre_link_window),
                                         .control = pipeline->nodes[link->from].facts.control};
}

static void write_entries(const gyre_pipeline *pipeline, int node, gyre_link_table *table)
{
    table->entry_count = (gyre_u32)pipeline->entry_count;
    for (int i = 0; i < pipeline->entry_count; i++) {
        gyre_link_entry *entry = &table->entries[i];
        if (!pipeline->entries[i].queue || pipeline->entries[i].dropped)
            continue;
        gyre_node_describe_entry(pipeline->entries[i].queue, entry);
        if (pipeline->entries[i].node != node)
            entry->serial = 0; /* the number is one of another kernel's table */
        entry->flows = pipeline->entries[i].flows.address;
    }
}

static void write_links(const gyre_pipeline *pipeline, int node, gyre_link_table *table)
{
    gyre_link_inlet *inlets = (gyre_link_inlet *)(void *)(table + 1);
    table->port_count = pipeline->nodes[node].facts.record->port_count;
    table->answers = pipeline->nodes[node].answers;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->to == node) {
            write_inlets(pipeline, link, inlets + table->inlet_count);
            table->inlet_count += sender_blocks(pipeline, link);
        }
        if (link->from != node)
            continue;
        gyre_link_port *port = &table->ports[link->port];
        port->rings = pipeline->wires_address + link->rings;
        port->most = port_of(pipeline, link)->most;
        port->use = link->to == GYRE_NODE_NOWHERE ? GYRE_PORT_NOWHERE : GYRE_PORT_LINKED;
        if (link->to != GYRE_NODE_NOWHERE)
            port->control = pipeline->nodes[link->to].facts.control;
    }
}

static gyre_status make_table(const gyre_pipeline *pipeline, int node, struct gyre_link_store *out)
{
    const uint64_t size = GYRE_LINK_TABLE_SIZE(count_inlets(pipeline, node));
    gyre_link_table *table = calloc(1, size);
    if (!table)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the links of kernel '%s'",
                              pipeline->nodes[node].facts.name);
    write_links(pipeline, node, table);
    write_entries(pipeline, node, table);
    gyre_status status = make_store(pipeline, size, out);
    if (status == GYRE_OK)
        status = gyre_link_store_write(pipeline->device, out, 0, table, size);
    free(table);
    return status;
}

/* Names the tables (NULL: none), and waits until all blocks of all nodes obeyed. */
static gyre_status announce(gyre_pipeline *pipeline, const struct gyre_link_store *tables)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].joined)
            gyre_node_wire(pipeline->nodes[i].kernel, tables ? tables[i].address : 0);
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (pipeline->nodes[i].joined)
            status = gyre_node_await(pipeline->nodes[i].kernel);
    return status;
}

gyre_status gyre_link_memory_distribute(gyre_pipeline *pipeline)
{
    struct gyre_link_store tables[GYRE_NODES_MAX] = {{.memory = NULL}};
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        status = make_table(pipeline, i, &tables[i]);
    if (status != GYRE_OK) {
        for (int i = 0; i < pipeline->node_count; i++)
            gyre_link_store_release(pipeline->device, &tables[i]);
        return status;
    }
    status = announce(pipeline, tables);
    for (int i = 0; i < pipeline->node_count; i++) {
        /* after a TIMEOUT a block may use the old table for ever: its memory stays behind */
        if (status == GYRE_OK)
            gyre_link_store_release(pipeline->device, &pipeline->nodes[i].table);
        pipeline->nodes[i].table = tables[i];
    }
    return status;
}

gyre_status gyre_link_memory_withdraw(gyre_pipeline *pipeline)
{
    if (!pipeline->nodes[0].table.address)
        return GYRE_OK; /* none was announced */
    return announce(pipeline, NULL);
}

gyre_status gyre_link_memory_count(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                   uint64_t *sent, uint64_t *waiting)
{
    const uint32_t count = sender_blocks(pipeline, link);
    gyre_link_ring *rings = calloc(count, sizeof *rings);
    *sent = *waiting = 0;
    if (!rings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read link '%s'", link->name);
    const gyre_status status = gyre_link_store_read(pipeline->device, &pipeline->wires, link->rings,
                                                    (uint64_t *)(void *)rings, count * sizeof *rings);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t fetched = 0;
        for (uint32_t section = 0; section < GYRE_LINK_SECTIONS; section++)
            fetched += rings[i].fetched[section];
        *sent += rings[i].head;
        if (link->to != GYRE_NODE_NOWHERE && rings[i].head > fetched)
            *waiting += rings[i].head - fetched;
    }
    free(rings);
    return status;
}
