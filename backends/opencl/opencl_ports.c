/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own end of links: its rings, and what its handlers emit into them (opencl_ports.h). Takes no lock. */
#include "opencl_link_ring.h"
#include "opencl_ports.h"

#include <limits.h>
#include <string.h>

#include "gyre/waiting.h"

void opencl_ports_aim(struct opencl_links *links)
{
    const gyre_link_table *table = links->table;
    for (uint32_t i = 0; i < links->port_count; i++) {
        struct opencl_port *port = &links->ports[i];
        const gyre_link_port *wired = table && i < table->port_count ? &table->ports[i] : NULL;
        port->wired = wired && wired->use != GYRE_PORT_UNWIRED ? wired : NULL;
        port->ring = port->wired ? link_at(wired->rings) : NULL;
        port->sent = false;
    }
}

/* ---- room ---- */

/* Returns how many messages fit behind `head`, once room of sections that were fetched whole is taken back. */
static gyre_u64 find_room(gyre_link_ring *ring)
{
    const gyre_u64 section = ring->capacity / GYRE_LINK_SECTIONS;
    gyre_u64 tail = ring->tail;
    while (tail + section <= ring->head) {
        const gyre_u64 laps = tail / ring->capacity + 1;
        /* pairs with the release of whoever fetched the section's last message */
        if (__atomic_load_n(&ring->fetched[link_section(ring, tail)], __ATOMIC_ACQUIRE) < laps * section)
            break;
        tail += section;
    }
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    return ring->capacity - (ring->head - tail);
}

uint32_t opencl_ports_room(const struct opencl_links *links, uint32_t most)
{
    for (uint32_t i = 0; i < links->port_count && most; i++) {
        const struct opencl_port *port = &links->ports[i];
        if (port->ring && port->wired->use == GYRE_PORT_LINKED)
            most = opencl_least(find_room(port->ring) / port->most, most);
    }
    return most;
}

void opencl_ports_tell_starved(const gyre_resident *resident, bool starved)
{
    const struct opencl_links *links = resident->links;
    for (uint32_t i = 0; i < links->port_count; i++) {
        const struct opencl_port *port = &links->ports[i];
        if (port->ring)
            __atomic_store_n(&port->ring->starved, starved && find_room(port->ring) < port->most,
                             __ATOMIC_SEQ_CST);
    }
}

/* ---- sending ---- */

static uint32_t emitted_to(const gyre_resident *resident, uint32_t i, uint32_t port)
{
    const struct opencl_links *links = resident->links;
    const gyre_u32 *counts =
        (const gyre_u32 *)(const void *)(link_reply_cell(resident, i) + links->told.counts_offset);
    return opencl_least(counts[port], links->ports[port].most);
}

uint32_t opencl_ports_count(const gyre_resident *resident, uint32_t i, const char **astray)
{
    const struct opencl_links *links = resident->links;
    uint32_t count = 0;
    for (uint32_t number = 0; number < links->port_count; number++) {
        const uint32_t emitted = emitted_to(resident, i, number);
        if (emitted && !links->ports[number].wired)
            *astray = resident->kernel->record.ports[number].name;
        else if (emitted && links->ports[number].wired->use == GYRE_PORT_LINKED)
            count += emitted;
    }
    return count;
}

static void publish(struct opencl_port *port, const unsigned char *place, uint32_t emitted, gyre_u64 origin)
{
    gyre_link_ring *ring = port->ring;
    const gyre_u64 head = ring->head, end = head + emitted;
    for (gyre_u64 index = head; index != end; index++, place += port->stride) {
        gyre_link_slot *slot = link_slot(ring, index);
        const gyre_u32 said = *(const gyre_u32 *)(const void *)place;
        slot->origin = origin;
        slot->length = GYRE_REPLY_LENGTH_(port->least, port->size, said);
        memcpy(slot + 1, place, slot->length);
        /* pairs with the acquire of the target */
        __atomic_store_n(&slot->sequence, (gyre_u32)(index + 1), __ATOMIC_RELEASE);
    }
    __atomic_store_n(&ring->head, end, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    port->sent = true;
}

void opencl_ports_publish(gyre_resident *resident, uint32_t i, gyre_u64 origin)
{
    struct opencl_links *links = resident->links;
    for (uint32_t number = 0; number < links->port_count; number++) {
        struct opencl_port *port = &links->ports[number];
        const uint32_t emitted = emitted_to(resident, i, number);
        if (!emitted || !port->wired)
            continue;
        if (port->wired->use == GYRE_PORT_LINKED) {
            publish(port, link_reply_cell(resident, i) + port->place, emitted, origin);
        } else { /* thrown away: nobody fetches it */
            __atomic_store_n(&port->ring->head, port->ring->head + emitted, __ATOMIC_RELAXED);
            __atomic_store_n(&port->ring->tail, port->ring->head, __ATOMIC_RELAXED);
        }
    }
}

/* Each barrier pairs with the heavy barrier of those who are about to sleep; who parks without one gets a fence. */
void opencl_ports_ring(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    for (uint32_t i = 0; i < links->port_count; i++) {
        struct opencl_port *port = &links->ports[i];
        if (!port->sent)
            continue;
        port->sent = false;
        gyre_control_region *target = link_at(port->wired->control);
        gyre_barrier_light(resident->light_barriers && !target->command.parks);
        if (__atomic_load_n(&target->device.parked, __ATOMIC_RELAXED))
            gyre_bell_ring(&target->doorbell.bell, INT_MAX);
    }
}
