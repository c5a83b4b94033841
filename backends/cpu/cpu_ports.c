/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's own end of links: its rings, and what a call emits into them (cpu_ports.h). */
#include "cpu_ports.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_link_ring.h"
#include "cpu_seat.h"

/* ---- room ---- */

/* Returns `tail`, moved over the sections that were fetched whole in the meantime, as far as `most` messages need it. */
static gyre_u64 find_tail(const gyre_link_ring *ring, uint32_t most)
{
    const gyre_u64 section = ring->capacity / GYRE_LINK_SECTIONS, head = ring->head;
    gyre_u64 tail = ring->tail;
    while (head + most - tail > ring->capacity) {
        const gyre_u64 laps = tail / ring->capacity + 1;
        /* pairs with the release of the block that handled the section's last message */
        if (__atomic_load_n(&ring->fetched[section_of(ring, tail)], __ATOMIC_ACQUIRE) < laps * section)
            break;
        tail += section;
    }
    return tail;
}

static bool ring_has_room(const gyre_link_ring *ring, uint32_t most)
{
    return ring->head + most - find_tail(ring, most) <= ring->capacity;
}

gyre_link_ring *cpu_port_ring(const struct cpu_worker *worker, uint32_t port)
{
    return worker->links.rings[port];
}
/* ---- the worker's view ---- */

uint32_t cpu_port_stride(const gyre_cpu_port_type *port)
{
    return (uint32_t)((GYRE_SLOT_HEADER_SIZE + port->type->size + 15) / 16 * 16);
}

gyre_u64 cpu_port_places(gyre_u64 least)
{
    gyre_u64 power = 1;
    while (power < least)
        power *= 2;
    return power;
}

bool cpu_ports_init(struct cpu_worker *worker)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    size_t thrown = 0;
    for (uint32_t i = 0; i < kernel->port_count; i++) {
        const size_t bytes = cpu_port_places(kernel->ports[i].most) * cpu_port_stride(&kernel->ports[i]);
        thrown = bytes > thrown ? bytes : thrown;
    }
    worker->context.ports = worker->links.ports;
    worker->links.cost_ns = CPU_SEAT_COST_MAX_NS + 1; /* not known */
    worker->links.reply = calloc(1, kernel->sizes.reply + GYRE_LINE_SIZE);
    if (thrown)
        worker->links.thrown = calloc(1, thrown);
    return worker->links.reply && (worker->links.thrown || !thrown);
}

void cpu_ports_finish(struct cpu_worker *worker)
{
    free(worker->links.reply);
    free(worker->links.thrown);
}

void cpu_port_open(struct cpu_worker *worker, uint32_t number)
{
    const gyre_cpu_port_type *type = &worker->resident->kernel->ports[number];
    const gyre_link_table *table = worker->links.table;
    gyre_cpu_port *port = &worker->links.ports[number];
    const bool linked = table && number < table->port_count && table->ports[number].use != GYRE_PORT_UNWIRED;
    gyre_link_ring *ring = linked ? (gyre_link_ring *)at(table->ports[number].rings) + worker->block : NULL;
    worker->links.rings[number] = ring;
    if (ring)
        *port = (gyre_cpu_port){.slots = at(ring->slots), .mask = ring->capacity - 1, .stride = ring->stride};
    else
        *port = (gyre_cpu_port){.slots = worker->links.thrown,
                                .mask = cpu_port_places(type->most) - 1,
                                .stride = cpu_port_stride(type)};
    port->most = type->most;
}

static const gyre_link_entry *find_entry(const gyre_link_table *table, uint32_t number, gyre_u64 serial)
{
    for (uint32_t i = 0; table && i < table->entry_count; i++)
        if (table->entries[i].flows && table->entries[i].queue == number &&
            table->entries[i].serial == serial)
            return &table->entries[i];
    return NULL;
}

void cpu_ports_read(struct cpu_worker *worker)
{
    const gyre_control_command *command = &worker->resident->control->command;
    worker->links.table = at(__atomic_load_n(&command->links, __ATOMIC_ACQUIRE));
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        cpu_port_open(worker, i);
    for (uint32_t i = 0; i < worker->queue_count && i < GYRE_QUEUES_MAX; i++)
        worker->queues[i].entry = find_entry(worker->links.table, i, worker->queues[i].serial);
}

bool cpu_ports_have_room(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const gyre_link_ring *ring = cpu_port_ring(worker, i);
        if (ring && !ring_has_room(ring, worker->links.ports[i].most))
            return false;
    }
    return true;
}

void cpu_ports_tell_starved(const struct cpu_worker *worker, bool starved)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        if (ring)
            __atomic_store_n(&ring->starved, starved && !ring_has_room(ring, worker->links.ports[i].most),
                             __ATOMIC_SEQ_CST);
    }
}

bool cpu_ports_untell_starved(const struct cpu_worker *worker)
{
    bool told = false;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        if (!ring || !__atomic_load_n(&ring->starved, __ATOMIC_RELAXED) ||
            !ring_has_room(ring, worker->links.ports[i].most))
            continue;
        __atomic_store_n(&ring->starved, 0, __ATOMIC_RELAXED);
        told = true;
    }
    return told;
}

bool cpu_ports_have_untold(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const gyre_link_ring *ring = cpu_port_ring(worker, i);
        if (ring && !__atomic_load_n(&ring->starved, __ATOMIC_RELAXED) &&
            !ring_has_room(ring, worker->links.ports[i].most))
            return true;
    }
    return false;
}

/* ---- emitting ---- */

bool cpu_ports_make_room(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_cpu_port *port = &worker->links.ports[i];
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        port->emitted = 0;
        if (!ring)
            continue;
        if (ring->head + port->most - ring->tail > ring->capacity) {
            __atomic_store_n(&ring->tail, find_tail(ring, port->most), __ATOMIC_RELAXED);
            if (ring->head + port->most - ring->tail > ring->capacity)
                return false;
        }
        port->next = ring->head;
    }
    return true;
}

uint32_t cpu_ports_count(const struct cpu_worker *worker, const char **astray)
{
    const gyre_link_table *table = worker->links.table;
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const uint32_t emitted = worker->links.ports[i].emitted;
        if (!emitted)
            continue;
        if (!cpu_port_ring(worker, i))
            *astray = worker->resident->kernel->ports[i].name;
        else if (table->ports[i].use == GYRE_PORT_LINKED)
            count += emitted;
    }
    return count;
}

static void publish_port(struct cpu_worker *worker, uint32_t number, gyre_u64 origin)
{
    const gyre_cpu_port *port = &worker->links.ports[number];
    const gyre_cpu_port_type *type = &worker->resident->kernel->ports[number];
    gyre_link_ring *ring = cpu_port_ring(worker, number);
    const gyre_u64 head = ring->head, end = head + port->emitted;
    for (gyre_u64 index = head; index != end; index++) {
        gyre_link_slot *slot = slot_of(ring, index);
        const gyre_u32 said = *(const gyre_u32 *)(const void *)(slot + 1);
        slot->origin = origin;
        slot->length = GYRE_REPLY_LENGTH_(type->least, (gyre_u32)type->type->size, said);
        /* pairs with the acquire of the target's worker */
        __atomic_store_n(&slot->sequence, (gyre_u32)(index + 1), __ATOMIC_RELEASE);
    }
    __atomic_store_n(&ring->head, end, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    worker->links.sent |= 1u << number;
}

void cpu_ports_publish(struct cpu_worker *worker, gyre_u64 origin)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        const uint32_t emitted = worker->links.ports[i].emitted;
        if (!emitted || !ring)
            continue;
        if (worker->links.table->ports[i].use == GYRE_PORT_LINKED) {
            publish_port(worker, i, origin);
        } else { /* thrown away: nobody fetches it */
            __atomic_store_n(&ring->head, ring->head + emitted, __ATOMIC_RELAXED);
            __atomic_store_n(&ring->tail, ring->head, __ATOMIC_RELAXED);
        }
    }
}

void cpu_ports_take_back(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        worker->links.ports[i].emitted = 0;
}
