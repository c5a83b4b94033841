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
#include "core/links/asks.h"
#include "core/links/credits.h"
#include "core/links/cycles.h"
#include "core/links/homes.h"
#include "core/links/link_sizes.h"
#include "core/links/link_times.h"
#include "core/links/outlets.h"
#include "core/links/pipeline.h"
#include "core/links/subscriber.h"
#include "core/links/rounds.h"
#include "core/links/station.h"
#include "core/links/work_pool.h"

/* ---- memory ---- */

/* Makes memory of links where `device` finds it at once. */
static gyre_status make_store(const gyre_pipeline *pipeline, struct gyre_dispatch *device, uint64_t bytes,
                              struct gyre_link_store *out)
{
    if (pipeline->nodes[0].facts.in_worker)
        return gyre_link_store_make_shown(device, bytes, out);
    return gyre_link_store_make(device, pipeline->is_mixed || pipeline->nodes[0].facts.in_host, bytes, out);
}

/* ---- rings ---- */

static const struct gyre_link_store *store_of(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->own.address ? &link->own : &pipeline->wires;
}

/* Where the link's rings lie: those of a member of a pool in the memory of the first member, its windows in its own. */
static const struct gyre_link_store *rings_of(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return store_of(pipeline, gyre_work_pool_first(pipeline, link));
}

static uint32_t sender_blocks(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return pipeline->nodes[link->from].facts.movers;
}

static uint32_t target_blocks(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->to == GYRE_NODE_NOWHERE ? 0 : pipeline->nodes[link->to].facts.movers;
}

static gyre_status choose_capacity(const gyre_pipeline *pipeline, struct gyre_link *link, bool tight)
{
    const uint32_t most = link->sends.most;
    const uint64_t least = gyre_link_capacity_least(most);
    const struct gyre_link *first = gyre_work_pool_first(pipeline, link);
    if (first != link) {
        link->stride = first->stride;
        link->capacity = first->capacity;
        return GYRE_OK;
    }
    const uint64_t needed = gyre_cycles_least(pipeline, link, least, GYRE_LINK_CAPACITY_MOST);
    link->stride = gyre_link_stride(gyre_link_payload(pipeline, link));
    if (link->capacity == 0 || tight) {
        link->capacity =
            tight || link->is_own
                ? needed
                : gyre_link_capacity_usual(pipeline->nodes[link->from].facts.device, needed, link->stride);
        return GYRE_OK;
    }
    if (link->capacity >= least && (link->capacity & (link->capacity - 1)) == 0 &&
        link->capacity <= GYRE_LINK_CAPACITY_MOST)
        return GYRE_OK;
    gyre_error_set(
        GYRE_INVALID,
        "link '%s': capacity: expected a power of two of %llu at least (one call of '%s' may emit %u "
        "messages), found %llu",
        link->name, (unsigned long long)least, pipeline->nodes[link->from].facts.name, most,
        (unsigned long long)link->capacity);
    return gyre_wiring_blame(link->place.capacity, GYRE_INVALID);
}

/* The first link of the same subscriber: it has the gate of all of them. */
static const struct gyre_link *first_of_subscriber(const gyre_pipeline *pipeline,
                                                   const struct gyre_link *link)
{
    const struct gyre_link *first = pipeline->links;
    while ((first->retired && first != link) || first->to != link->to ||
           strcmp(first->topic, link->topic) != 0)
        first++;
    return first;
}

/* The members of a pool have windows of their own, and the rings of the first of them. */
static uint64_t place_member(const gyre_pipeline *pipeline, const struct gyre_link *first,
                             struct gyre_link *link, uint64_t offset)
{
    link->rings = first->rings;
    link->slots = first->slots;
    link->windows = offset;
    link->bytes =
        (uint64_t)sender_blocks(pipeline, link) * target_blocks(pipeline, link) * sizeof(gyre_link_window);
    return offset + link->bytes;
}

/* Decides where the link's rings, slots and windows lie in the pipeline's memory, from `offset` on. Returns where they end. */
static uint64_t place_link(const gyre_pipeline *pipeline, struct gyre_link *link, uint64_t offset)
{
    const uint64_t rings = sender_blocks(pipeline, link);
    if (gyre_work_pool_first(pipeline, link) != link)
        return place_member(pipeline, gyre_work_pool_first(pipeline, link), link, offset);
    link->rings = offset;
    link->windows = link->rings + rings * sizeof(gyre_link_ring);
    link->slots = link->windows + rings * target_blocks(pipeline, link) * sizeof(gyre_link_window);
    uint64_t end = link->slots + rings * gyre_link_slots_size(link->capacity, link->stride);
    if (link->slow == GYRE_SLOW_CUT) {
        const struct gyre_link *first = first_of_subscriber(pipeline, link);
        link->gate = first == link ? end : first->gate;
        end += first == link ? sizeof(gyre_link_gate) : 0;
    }
    link->times = end;
    end += rings * gyre_link_times_size(pipeline, link);
    link->bytes = end - offset;
    return end;
}

static gyre_status write_rings(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const uint32_t count = sender_blocks(pipeline, link);
    const uint64_t times = gyre_link_times_size(pipeline, link);
    if (gyre_work_pool_first(pipeline, link) != link)
        return GYRE_OK;
    gyre_link_ring *rings = calloc(count, sizeof *rings);
    if (!rings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the rings of link '%s'", link->name);
    for (uint32_t i = 0; i < count; i++) {
        rings[i].slots = rings_of(pipeline, link)->address + link->slots +
                         i * gyre_link_slots_size(link->capacity, link->stride);
        rings[i].capacity = (uint32_t)link->capacity;
        rings[i].stride = link->stride;
        rings[i].run = gyre_cycles_run(pipeline, link);
        rings[i].talk = link->talk;
        rings[i].level = link->level;
        rings[i].pool = gyre_work_pool_word(pipeline, link);
        rings[i].credit = gyre_link_credits_address(link, i);
        rings[i].back = link->talk == GYRE_TALK_ASKS ? link->back : 0;
        rings[i].choice = link->choice                     ? link->choice
                          : link->talk == GYRE_TALK_ROUNDS ? gyre_rounds_size(pipeline, link)
                                                           : gyre_asks_choice(pipeline, link);
        gyre_link_key_write(&link->key, &rings[i]);
        rings[i].times = rings[i].sent_times =
            times ? rings_of(pipeline, link)->address + link->times + i * times : 0;
    }
    gyre_status status =
        gyre_link_store_write(rings_of(pipeline, link), link->rings, rings, count * sizeof *rings);
    if (status == GYRE_OK)
        status = gyre_link_times_write(pipeline, link, rings_of(pipeline, link), count);
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

/* Decides where the kernels' parts of a flow's memory lie (GYRE_FLOW). */
static void place_memory(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        pipeline->nodes[i].memory = pipeline->memory_size;
        pipeline->memory_size += (uint32_t)gyre_whole_lines(pipeline->nodes[i].facts.record->flow_size);
    }
}

static gyre_status write_admission(const gyre_pipeline *pipeline)
{
    gyre_link_admission admission = {.window = pipeline->window};
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].enters)
            admission.controls[admission.control_count++] = pipeline->nodes[i].facts.control;
    return gyre_link_store_write(&pipeline->wires, pipeline->admission, &admission, sizeof admission);
}

/* Blocks know a pipeline by it: what they kept of an earlier one is forgotten. */
static uint64_t next_serial(void)
{
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* Makes memory of its own for a link. Its target's device has it, also where the first node is on another one. */
static gyre_status make_own(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    return make_store(pipeline, gyre_homes_of_link(pipeline, link), place_link(pipeline, link, 0),
                      &link->own);
}

void gyre_link_memory_release(struct gyre_link *link)
{
    gyre_link_store_release(&link->own);
    gyre_link_store_release(&link->credits);
}

static bool is_elsewhere(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return gyre_homes_of_link(pipeline, link) != pipeline->device;
}

static gyre_status make_wires(gyre_pipeline *pipeline)
{
    gyre_status status = make_store(pipeline, pipeline->device, pipeline->wires_size, &pipeline->wires);
    pipeline->wires_address = pipeline->wires.address;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        if (is_elsewhere(pipeline, &pipeline->links[i]))
            status = make_own(pipeline, &pipeline->links[i]);
        if (status == GYRE_OK)
            status = gyre_link_credits_make(pipeline, &pipeline->links[i]);
    }
    return status;
}

gyre_status gyre_link_memory_create(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    pipeline->serial = next_serial();
    gyre_status status = GYRE_OK;
    uint64_t end = 0;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        status = choose_capacity(pipeline, &pipeline->links[i], wiring->desc.links_tight != 0);
        if (!is_elsewhere(pipeline, &pipeline->links[i]))
            end = place_link(pipeline, &pipeline->links[i], end);
    }
    place_memory(pipeline);
    pipeline->admission = end;
    pipeline->wires_size = end + sizeof(gyre_link_admission);
    if (status == GYRE_OK)
        status = gyre_cycles_admit(pipeline, wiring);
    if (status == GYRE_OK)
        status = make_wires(pipeline);
    if (status == GYRE_EXHAUSTED)
        status = blame_largest(pipeline, status);
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++)
        status = write_rings(pipeline, &pipeline->links[i]);
    return status == GYRE_OK ? write_admission(pipeline) : status;
}

gyre_status gyre_link_memory_add(gyre_pipeline *pipeline, struct gyre_link *link)
{
    gyre_status status = choose_capacity(pipeline, link, false);
    if (status == GYRE_OK)
        status = make_own(pipeline, link);
    if (status == GYRE_OK)
        status = gyre_link_credits_make(pipeline, link);
    return status == GYRE_OK ? write_rings(pipeline, link) : status;
}

static void free_table(struct gyre_node_table *table)
{
    if (table)
        gyre_link_store_release(&table->store);
    free(table);
}

void gyre_link_memory_destroy(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        free_table(pipeline->nodes[i].table);
    while (pipeline->replaced) {
        struct gyre_node_table *table = pipeline->replaced;
        pipeline->replaced = table->next;
        free_table(table);
    }
    for (int i = 0; i < pipeline->entry_count; i++)
        gyre_link_store_release(&pipeline->entries[i].flows);
    for (int i = 0; i < pipeline->link_count; i++)
        gyre_link_memory_release(&pipeline->links[i]);
    gyre_link_store_release(&pipeline->wires);
}

static bool has_asks(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (gyre_asks_lead_to(pipeline, i))
            return true;
    return false;
}

/* Where the memory of an entry's flows begins, behind their counters. */
static uint64_t flows_size(const gyre_link_entry *described)
{
    const bool copies = described->slots.foreign & GYRE_FOREIGN_RING && described->slots.headers_offset;
    const uint64_t place = sizeof(gyre_flow) + (copies ? described->slots.header_size : 0);
    return gyre_whole_lines(sizeof(gyre_flow_head) + described->slots.capacity * place);
}

static gyre_status write_head(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry,
                              uint64_t memory)
{
    const gyre_flow_head head = {.admission =
                                     pipeline->window ? pipeline->wires_address + pipeline->admission : 0,
                                 .quota = pipeline->quota,
                                 .memory_size = pipeline->memory_size,
                                 .memory = entry->flows.address + memory,
                                 .asks = has_asks(pipeline),
                                 .serial = pipeline->serial};
    return gyre_link_store_write(&entry->flows, 0, &head, sizeof head);
}

gyre_status gyre_link_memory_flows(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry)
{
    gyre_link_entry described;
    gyre_node_describe_entry(entry->queue, &described);
    const uint64_t memory = flows_size(&described);
    const gyre_status status =
        make_store(pipeline, pipeline->nodes[entry->node].facts.device,
                   memory + described.slots.capacity * pipeline->memory_size, &entry->flows);
    return status == GYRE_OK ? write_head(pipeline, entry, memory) : status;
}

enum { FLOWS_AT_ONCE = 64 };

/*
 * Whether one of `count` flows from `place` on is under way. Where blocks are threads of this process, they write the rest of a flow
 * meanwhile: one word is read. What a device has in memory of its own costs a journey each time: whole flows are read.
 */
static gyre_status read_busy(const struct gyre_pipeline_entry *entry, uint64_t place, uint64_t count,
                             bool *busy)
{
    gyre_flow flows[FLOWS_AT_ONCE] = {{.busy = 0}};
    const uint64_t first = sizeof(gyre_flow_head) + place * sizeof(gyre_flow);
    gyre_status status;
    if (count > 1)
        status = gyre_link_store_read(&entry->flows, first, (uint64_t *)(void *)flows, count * sizeof *flows);
    else
        status = gyre_link_store_read(&entry->flows, first + offsetof(gyre_flow, busy),
                                      (uint64_t *)(void *)&flows->busy, sizeof(uint64_t));
    for (uint64_t i = 0; i < count; i++)
        *busy |= flows[i].busy != 0;
    return status;
}

gyre_status gyre_link_memory_settled(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry,
                                     bool *settled)
{
    gyre_link_entry described;
    gyre_status status = GYRE_OK;
    bool busy = false;
    gyre_node_describe_entry(entry->queue, &described);
    const uint64_t capacity = described.slots.capacity;
    const uint32_t near = GYRE_LINKING_HOST | GYRE_LINKING_CLIENTS;
    const uint64_t most = gyre_dispatch_device_info(pipeline->device)->knows_links & near ? 1 : FLOWS_AT_ONCE;
    for (uint64_t i = 0, count; i < capacity && status == GYRE_OK && !busy; i += count) {
        count = most < capacity - i ? most : capacity - i;
        status = read_busy(entry, i, count, &busy);
    }
    *settled = status == GYRE_OK && !busy;
    return status;
}

/* ---- tables ---- */

static uint32_t count_inlets(const gyre_pipeline *pipeline, int node)
{
    uint32_t count = 0;
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].to == node && !pipeline->links[i].dropped)
            count += sender_blocks(pipeline, &pipeline->links[i]);
    return count;
}

static void write_inlets(const gyre_pipeline *pipeline, const struct gyre_link *link, gyre_link_inlet *inlets)
{
    const uint64_t rings = rings_of(pipeline, link)->address + link->rings,
                   windows = store_of(pipeline, link)->address + link->windows;
    for (uint32_t ring = 0; ring < sender_blocks(pipeline, link); ring++)
        inlets[ring] = (gyre_link_inlet){.ring = rings + ring * sizeof(gyre_link_ring),
                                         .windows = windows + (uint64_t)ring * target_blocks(pipeline, link) *
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
        if (gyre_pipeline_needs_care(pipeline, &pipeline->entries[i]))
            entry->slots.foreign |= GYRE_FOREIGN_REPLIES;
        entry->flows = pipeline->entries[i].flows.address + sizeof(gyre_flow_head);
        entry->memory = pipeline->nodes[node].memory;
    }
}

/* ---- topics and pools ---- */

static bool is_branch(const struct gyre_link *link, int node, uint32_t port)
{
    return link->from == node && link->port == port && (link->topic[0] || link->pool[0]) &&
           link->to != GYRE_NODE_NOWHERE && !link->retired;
}

static uint32_t count_branches(const gyre_pipeline *pipeline, int node, uint32_t port)
{
    uint32_t count = 0;
    for (int i = 0; i < pipeline->link_count; i++)
        count += is_branch(&pipeline->links[i], node, port);
    return count + gyre_subscribers_count(pipeline, node, port) + gyre_outlets_count(pipeline, node, port);
}

/* Bytes of the topics and pools that the ports of a node lead to. */
static uint64_t topics_size(const gyre_pipeline *pipeline, int node)
{
    uint64_t size = 0;
    for (uint32_t port = 0; port < pipeline->nodes[node].facts.record->port_count; port++) {
        const uint32_t count = count_branches(pipeline, node, port);
        size += count ? sizeof(gyre_link_topic) + count * sizeof(gyre_link_branch) : 0;
    }
    return size;
}

/* The address of the gate of a subscriber that may be cut off; 0 for others. */
static uint64_t gate_of(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->slow == GYRE_SLOW_CUT
               ? store_of(pipeline, first_of_subscriber(pipeline, link))->address + link->gate
               : 0;
}

static gyre_link_branch branch_of(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return (gyre_link_branch){.rings = rings_of(pipeline, link)->address + link->rings,
                              .control = pipeline->nodes[link->to].facts.control,
                              .gate = gate_of(pipeline, link),
                              .slow = (gyre_u32)link->slow};
}

/* Where a port with branches leads. Only threads of a process wake members of a pool: blocks of a device see its rings as links. */
static gyre_u32 use_of(const gyre_pipeline *pipeline, int node, uint32_t port)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (is_branch(&pipeline->links[i], node, port) && pipeline->links[i].pool[0])
            return pipeline->nodes[node].facts.by_threads ? GYRE_PORT_POOL : GYRE_PORT_LINKED;
    return GYRE_PORT_TOPIC;
}

/* Writes the topic or pool of each port that leads to one, from byte `offset` of the table on. */
static void write_topics(const gyre_pipeline *pipeline, int node, gyre_link_table *table, uint64_t address,
                         uint64_t offset)
{
    for (uint32_t number = 0; number < table->port_count; number++) {
        gyre_link_topic *topic = (gyre_link_topic *)(void *)((unsigned char *)table + offset);
        gyre_link_branch *branches = (gyre_link_branch *)(void *)(topic + 1);
        if (count_branches(pipeline, node, number) == 0)
            continue;
        for (int i = 0; i < pipeline->link_count; i++)
            if (is_branch(&pipeline->links[i], node, number))
                branches[topic->branch_count++] = branch_of(pipeline, &pipeline->links[i]);
        topic->branch_count += gyre_subscribers_write(pipeline, node, number, branches + topic->branch_count);
        topic->branch_count += gyre_outlets_write(pipeline, node, number, branches + topic->branch_count);
        table->ports[number].use = use_of(pipeline, node, number);
        table->ports[number].control = address + offset;
        offset += sizeof *topic + topic->branch_count * sizeof *branches;
    }
}

/* ---- what a node knows ---- */

/* Whether what is emitted to the link's port lies in the link's own rings: of several, in those of the first that is waited for. */
static bool is_ports_own(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (link->slow != GYRE_SLOW_WAIT || link->retired)
        return false;
    for (const struct gyre_link *other = pipeline->links; other != link; other++)
        if (other->from == link->from && other->port == link->port && other->slow == GYRE_SLOW_WAIT &&
            !other->retired)
            return false;
    return true;
}

static void write_links(const gyre_pipeline *pipeline, int node, gyre_link_table *table)
{
    gyre_link_inlet *inlets = (gyre_link_inlet *)(void *)(table + 1);
    table->port_count = gyre_asks_port_count(pipeline, node);
    table->answers = (pipeline->nodes[node].answers ? GYRE_TABLE_ANSWERS : 0) |
                     (pipeline->nodes[node].facts.in_worker ? GYRE_TABLE_TELLS : 0) |
                     (pipeline->is_far || gyre_pipeline_is_across_bus(pipeline) ? GYRE_TABLE_FAR : 0);
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->to == node && !link->dropped) {
            write_inlets(pipeline, link, inlets + table->inlet_count);
            table->inlet_count += sender_blocks(pipeline, link);
        }
        if (link->from != node || !is_ports_own(pipeline, link))
            continue;
        gyre_link_port *port = &table->ports[link->port];
        port->rings = rings_of(pipeline, link)->address + link->rings;
        port->most = link->sends.most;
        port->use = link->to == GYRE_NODE_NOWHERE ? GYRE_PORT_NOWHERE : GYRE_PORT_LINKED;
        if (link->to != GYRE_NODE_NOWHERE)
            port->control = pipeline->nodes[link->to].facts.control;
    }
}

static gyre_status fill_table(const gyre_pipeline *pipeline, int node, struct gyre_link_store *out)
{
    const uint64_t topics = GYRE_LINK_TABLE_SIZE(count_inlets(pipeline, node));
    const uint64_t size = topics + topics_size(pipeline, node);
    gyre_link_table *table = calloc(1, size);
    if (!table)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the links of kernel '%s'",
                              pipeline->nodes[node].facts.name);
    write_links(pipeline, node, table);
    write_entries(pipeline, node, table);
    gyre_status status = make_store(pipeline, pipeline->nodes[node].facts.device, size, out);
    if (status == GYRE_OK) {
        write_topics(pipeline, node, table, out->address, topics);
        status = gyre_link_store_write(out, 0, table, size);
    }
    free(table);
    return status;
}

static gyre_status make_table(const gyre_pipeline *pipeline, int node, struct gyre_node_table **out)
{
    struct gyre_node_table *table = calloc(1, sizeof *table);
    *out = table;
    if (!table)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the links of kernel '%s'",
                              pipeline->nodes[node].facts.name);
    table->node = node;
    return fill_table(pipeline, node, &table->store);
}

/* Names the tables (NULL: none). commands: which command of each node its blocks obey. */
static void name_tables(const gyre_pipeline *pipeline, struct gyre_node_table *const *tables,
                        uint64_t *commands)
{
    for (int i = 0; i < pipeline->node_count; i++)
        commands[i] = pipeline->nodes[i].joined
                          ? gyre_node_wire(pipeline->nodes[i].kernel, &pipeline->nodes[i].facts,
                                           tables ? tables[i]->store.address : 0)
                          : 0;
}

/* Waits until all blocks of all nodes obeyed. */
static gyre_status await_nodes(const gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (pipeline->nodes[i].joined)
            status = gyre_node_await(pipeline->nodes[i].kernel);
    return status;
}

static void replace_table(gyre_pipeline *pipeline, int node, struct gyre_node_table *table, uint64_t command)
{
    struct gyre_node_table *old = pipeline->nodes[node].table;
    pipeline->nodes[node].table = table;
    if (!old)
        return;
    old->command = command;
    old->turn = pipeline->turn;
    old->next = pipeline->replaced;
    pipeline->replaced = old;
}

static gyre_status make_tables(const gyre_pipeline *pipeline, struct gyre_node_table *tables[GYRE_NODES_MAX])
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (!pipeline->nodes[i].part)
            status = make_table(pipeline, i, &tables[i]);
    for (int i = 0; i < pipeline->node_count && status != GYRE_OK; i++)
        free_table(tables[i]);
    return status;
}

gyre_status gyre_link_memory_distribute(gyre_pipeline *pipeline)
{
    struct gyre_node_table *tables[GYRE_NODES_MAX] = {NULL};
    uint64_t commands[GYRE_NODES_MAX];
    gyre_status status = make_tables(pipeline, tables);
    if (status != GYRE_OK)
        return status;
    pipeline->turn++;
    name_tables(pipeline, tables, commands);
    for (int i = 0; i < pipeline->node_count; i++)
        replace_table(pipeline, i, tables[i], commands[i]);
    status = await_nodes(pipeline);
    gyre_error_hold();
    gyre_link_memory_let_go(pipeline, pipeline->turn);
    gyre_error_let_go();
    return status;
}

/* ---- another worker process ---- */

/* Clears the memory, and writes what it has at first, with the addresses of the present worker. */
static gyre_status write_anew(gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    gyre_link_store_renew(&pipeline->wires);
    pipeline->wires_address = pipeline->wires.address;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        gyre_link_store_renew(&pipeline->links[i].own);
        if (!pipeline->links[i].dropped)
            status = write_rings(pipeline, &pipeline->links[i]);
    }
    if (status == GYRE_OK)
        status = write_admission(pipeline);
    for (int i = 0; i < pipeline->entry_count && status == GYRE_OK; i++) {
        gyre_link_entry described;
        struct gyre_pipeline_entry *entry = &pipeline->entries[i];
        if (!entry->queue || !entry->flows.address)
            continue;
        gyre_node_describe_entry(entry->queue, &described);
        gyre_link_store_renew(&entry->flows);
        status = write_head(pipeline, entry, flows_size(&described));
    }
    gyre_subscribers_renew(pipeline);
    return status == GYRE_OK && pipeline->outlets ? gyre_stations_renew(pipeline) : status;
}

/* Shows all nodes their new tables. LOST when the worker that these are for has died. */
static gyre_status show_tables(gyre_pipeline *pipeline, struct gyre_node_table *const *tables)
{
    bool there = true;
    pipeline->turn++;
    for (int i = 0; i < pipeline->node_count; i++) {
        struct gyre_node *node = &pipeline->nodes[i];
        const bool named =
            node->joined && gyre_node_wire_again(node->kernel, &node->facts, tables[i]->store.address);
        there &= named || !node->joined;
        replace_table(pipeline, i, tables[i], 0);
    }
    return there ? GYRE_OK
                 : gyre_error_set(GYRE_LOST, "the worker process of pipeline '%s' died", pipeline->name);
}

gyre_status gyre_link_memory_renew(gyre_pipeline *pipeline)
{
    struct gyre_node_table *tables[GYRE_NODES_MAX] = {NULL};
    for (int i = 0; i < pipeline->node_count; i++) {
        gyre_node_find(pipeline->nodes[i].kernel, &pipeline->nodes[i].facts);
        if (!pipeline->nodes[i].facts.control)
            return gyre_error_set(GYRE_LOST, "kernel '%s' of pipeline '%s' does not run",
                                  pipeline->nodes[i].facts.name, pipeline->name);
    }
    gyre_status status = write_anew(pipeline);
    if (status == GYRE_OK)
        status = make_tables(pipeline, tables);
    return status == GYRE_OK ? show_tables(pipeline, tables) : status;
}

bool gyre_link_memory_let_go(gyre_pipeline *pipeline, uint64_t turn)
{
    bool all = true;
    struct gyre_node_table **link = &pipeline->replaced;
    while (*link) {
        struct gyre_node_table *table = *link;
        if (gyre_node_obeyed(pipeline->nodes[table->node].kernel, table->command)) {
            *link = table->next;
            free_table(table);
            continue;
        }
        all = all && table->turn > turn;
        link = &table->next;
    }
    return all;
}

gyre_status gyre_link_memory_withdraw(gyre_pipeline *pipeline)
{
    if (!pipeline->nodes[0].table)
        return GYRE_OK; /* none was announced */
    uint64_t commands[GYRE_NODES_MAX];
    name_tables(pipeline, NULL, commands);
    return await_nodes(pipeline);
}

/* ---- counting ---- */

uint32_t gyre_link_memory_under_way(const gyre_pipeline *pipeline)
{
    _Alignas(uint64_t) gyre_u32 under_way[2] = {0}; /* is read by whole words */
    if (pipeline->window)
        gyre_link_store_read(&pipeline->wires, pipeline->admission, (uint64_t *)(void *)under_way,
                             sizeof under_way);
    return under_way[0];
}

static void count_ring(const struct gyre_link *link, const gyre_link_ring *ring,
                       struct gyre_link_counts *counts)
{
    uint64_t fetched = 0;
    for (uint32_t section = 0; section < GYRE_LINK_SECTIONS; section++)
        fetched += ring->fetched[section];
    counts->sent += ring->head;
    counts->missed += ring->missed;
    if (link->to == GYRE_NODE_NOWHERE || ring->head <= fetched)
        return;
    /* no more than fit: the words were not read at one time, and a worker process may have written anything */
    const uint64_t waiting = ring->head - fetched;
    counts->waiting += waiting < link->capacity ? waiting : link->capacity;
}

/* Of a member of a pool: what its blocks took. */
static gyre_status count_taken(gyre_link_read *read, const gyre_pipeline *pipeline,
                               const struct gyre_link *link, struct gyre_link_counts *counts)
{
    const uint64_t count = (uint64_t)sender_blocks(pipeline, link) * target_blocks(pipeline, link);
    gyre_link_window *windows = calloc(count, sizeof *windows);
    if (!windows)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read link '%s'", link->name);
    const gyre_status status =
        read(store_of(pipeline, link), link->windows, (uint64_t *)(void *)windows, count * sizeof *windows);
    counts->takers = gyre_work_pool_takers(pipeline, link);
    counts->sent = counts->stolen = 0;
    for (uint64_t i = 0; i < count; i++) {
        counts->sent += windows[i].taken;
        counts->stolen += windows[i].stolen;
    }
    free(windows);
    return status;
}

static gyre_status count_by(gyre_link_read *read, const gyre_pipeline *pipeline, const struct gyre_link *link,
                            struct gyre_link_counts *counts)
{
    _Alignas(uint64_t) gyre_link_gate gate = {.cut = 0}; /* is read by whole words */
    const uint32_t count = sender_blocks(pipeline, link);
    gyre_link_ring *rings = calloc(count, sizeof *rings);
    const struct gyre_cycle_room room = gyre_cycles_room(pipeline, link);
    *counts = (struct gyre_link_counts){.room = room.messages,
                                        .section = room.section,
                                        .held = room.held,
                                        .address = rings_of(pipeline, link)->address + link->rings};
    if (!rings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read link '%s'", link->name);
    gyre_status status =
        read(rings_of(pipeline, link), link->rings, (uint64_t *)(void *)rings, count * sizeof *rings);
    if (status == GYRE_OK)
        status = gyre_link_credits_read(read, link, rings, count);
    if (status == GYRE_OK && link->slow == GYRE_SLOW_CUT &&
        !link->retired) /* else who has the gate may be freed */
        status = read(store_of(pipeline, first_of_subscriber(pipeline, link)), link->gate,
                      (uint64_t *)(void *)&gate, sizeof gate);
    for (uint32_t i = 0; i < count; i++)
        count_ring(link, &rings[i], counts);
    counts->is_cut = gate.cut != 0;
    free(rings);
    return status == GYRE_OK && link->pool[0] ? count_taken(read, pipeline, link, counts) : status;
}

gyre_status gyre_link_memory_count(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                   struct gyre_link_counts *counts)
{
    return count_by(gyre_link_store_read, pipeline, link, counts);
}

gyre_status gyre_link_memory_peek(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                  struct gyre_link_counts *counts)
{
    return count_by(gyre_link_store_peek, pipeline, link, counts);
}

gyre_status gyre_link_memory_times(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                   gyre_observe_histogram *out)
{
    const struct gyre_link *first = gyre_work_pool_first(pipeline, link);
    if (first != link)
        return GYRE_OK; /* the rings are the first member's */
    return gyre_link_times_peek(pipeline, link, rings_of(pipeline, link), sender_blocks(pipeline, link), out);
}
