/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own end of links: its rings, and what its handlers emit into them (opencl_ports.h). Takes no lock. */
#include "backends/device/device_jobs.h"
#include "backends/device/device_link_times.h"
#include "backends/opencl/links/opencl_link_ring.h"
#include "backends/opencl/links/opencl_ports.h"

#include <limits.h>
#include <string.h>

#include "gyre/waiting.h"

/* Adds the subscribers of the topic, or the members of the pool, that a port leads to. */
static void aim_branches(struct opencl_links *links, uint32_t number)
{
    const gyre_link_topic *topic = link_at(links->ports[number].wired->control);
    const gyre_link_branch *branches = (const gyre_link_branch *)(const void *)(topic + 1);
    for (uint32_t i = 0; i < topic->branch_count && links->branch_count < GYRE_BRANCHES_MAX; i++) {
        links->heard = links->heard || branches[i].is_client;
        links->branches[links->branch_count++] = (struct opencl_branch){
            .branch = &branches[i], .ring = link_at(branches[i].rings), .port = number};
    }
}

static bool has_levels(const gyre_link_table *table)
{
    gyre_u32 levels = 0;
    for (uint32_t i = 0; table && i < table->inlet_count; i++)
        levels |= 1u << ((const gyre_link_ring *)link_at(link_inlets(table)[i].ring))->level;
    return levels & (levels - 1);
}

void opencl_ports_aim(struct opencl_links *links)
{
    const gyre_link_table *table = links->table;
    links->branch_count = links->rounds = 0;
    links->levels = has_levels(table);
    links->heard = false;
    links->port_count = links->declared;
    for (; table && links->port_count < table->port_count && links->port_count < GYRE_PORTS_MAX;
         links->port_count++)
        links->ports[links->port_count] = (struct opencl_port){.most = table->ports[links->port_count].most};
    for (uint32_t i = 0; i < links->port_count; i++) {
        struct opencl_port *port = &links->ports[i];
        const gyre_link_port *wired = table && i < table->port_count ? &table->ports[i] : NULL;
        port->wired = wired && wired->use != GYRE_PORT_UNWIRED ? wired : NULL;
        port->ring = port->wired ? link_at(wired->rings) : NULL;
        port->sent = false;
        if (port->wired && (wired->use == GYRE_PORT_TOPIC || wired->use == GYRE_PORT_POOL))
            aim_branches(links, i);
        if (i >= links->declared && port->ring && port->ring->talk == GYRE_TALK_ROUNDS)
            links->rounds = 1 + i;
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

/* Whether the messages of a port lie in a ring of its own, which one kernel, or any member of a pool, takes them from. */
static bool has_ring(const struct opencl_port *port)
{
    return port->wired && (port->wired->use == GYRE_PORT_LINKED || port->wired->use == GYRE_PORT_POOL);
}

/* Whether the branch is a member of a pool, where any of them takes a message, and not a subscriber of a topic. */
static bool is_member(const struct opencl_links *links, const struct opencl_branch *branch)
{
    return links->ports[branch->port].wired->use == GYRE_PORT_POOL;
}

/* A ring in which the kernel waits for room: of a link, or of a subscriber of a topic that is waited for. */
struct waited_ring {
    gyre_link_ring *ring;
    uint32_t most; /* messages that one call may emit to it */
};

/* Finds the next of these rings; *at is 0 at first. False: there are no more. */
static bool next_waited(const struct opencl_links *links, uint32_t *at, struct waited_ring *out)
{
    for (; *at < links->port_count; ++*at) {
        const struct opencl_port *port = &links->ports[*at];
        if (!has_ring(port))
            continue;
        *out = (struct waited_ring){port->ring, port->most};
        ++*at;
        return true;
    }
    for (; *at < links->port_count + links->branch_count; ++*at) {
        const struct opencl_branch *branch = &links->branches[*at - links->port_count];
        if (branch->branch->slow != GYRE_BRANCH_WAIT || is_member(links, branch))
            continue;
        *out = (struct waited_ring){branch->ring, links->ports[branch->port].most};
        ++*at;
        return true;
    }
    return false;
}

uint32_t opencl_ports_room(const struct opencl_links *links, uint32_t most)
{
    struct waited_ring waited;
    for (uint32_t at = 0; most && next_waited(links, &at, &waited);)
        most = opencl_least(find_room(waited.ring) / waited.most, most);
    return most;
}

void opencl_ports_tell_starved(const gyre_resident *resident, bool starved)
{
    struct waited_ring waited;
    for (uint32_t at = 0; next_waited(resident->links, &at, &waited);)
        __atomic_store_n(&waited.ring->starved, starved && find_room(waited.ring) < waited.most,
                         __ATOMIC_SEQ_CST);
}

/* ---- sending ---- */

/* What the kernel noted of message i: how much each port emitted, and whether its handler is to be called again. */
static const gyre_u32 *counts_of(const gyre_resident *resident, uint32_t i)
{
    return (const gyre_u32 *)(const void *)(link_reply_cell(resident, i) +
                                            resident->links->told.counts_offset);
}

static uint32_t emitted_to(const gyre_resident *resident, uint32_t i, uint32_t port)
{
    return opencl_least(counts_of(resident, i)[port], resident->links->ports[port].most);
}

bool opencl_ports_again(const gyre_resident *resident, uint32_t i)
{
    const uint32_t declared = resident->links->declared;
    const gyre_slot *answer = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    return declared && answer->info != GYRE_OUTCOME_FAILED && counts_of(resident, i)[declared];
}

static bool is_cut(const struct opencl_branch *branch)
{
    const gyre_link_gate *gate = link_at(branch->branch->gate);
    return gate &&
           __atomic_load_n(&gate->cut, __ATOMIC_RELAXED); /* relaxed: a message more or less is no matter */
}

/* Decides how many of the emitted messages the subscriber gets. */
static uint32_t accept(const struct opencl_branch *branch, uint32_t emitted)
{
    if (branch->branch->slow == GYRE_BRANCH_WAIT)
        return emitted;
    const uint32_t room = is_cut(branch) ? 0 : opencl_least(find_room(branch->ring), emitted);
    return branch->branch->slow == GYRE_BRANCH_CUT && room < emitted ? 0 : room;
}

/* Whether the subscriber's messages belong to no flow. */
static bool is_outside(const struct opencl_branch *branch)
{
    return branch->branch->slow == GYRE_BRANCH_TAP || branch->branch->is_client;
}

/* Returns for how many messages of the topics the flow has to wait. */
static uint32_t count_branches(const gyre_resident *resident, uint32_t i)
{
    struct opencl_links *links = resident->links;
    uint32_t count = 0;
    for (uint32_t number = 0; number < links->branch_count; number++) {
        struct opencl_branch *branch = &links->branches[number];
        if (is_member(links, branch))
            continue;
        branch->accepted = accept(branch, emitted_to(resident, i, branch->port));
        if (!is_outside(branch))
            count += branch->accepted;
    }
    return count;
}

uint32_t opencl_ports_count(const gyre_resident *resident, uint32_t i, const char **astray)
{
    const struct opencl_links *links = resident->links;
    uint32_t count = 0;
    for (uint32_t number = 0; number < links->declared; number++) {
        const uint32_t emitted = emitted_to(resident, i, number);
        if (emitted && !links->ports[number].wired)
            *astray = resident->kernel->record.ports[number].name;
        else if (emitted && has_ring(&links->ports[number]))
            count += emitted;
    }
    return count + count_branches(resident, i);
}

/* ---- asks and answers ---- */

static gyre_link_ask *ask_of(gyre_link_slot *slot)
{
    return (gyre_link_ask *)(void *)(slot + 1);
}

uint32_t opencl_ports_count_asks(const gyre_resident *resident, uint32_t i)
{
    const struct opencl_links *links = resident->links;
    uint32_t count = 0;
    for (uint32_t number = 0; number < links->declared; number++)
        if (links->ports[number].asks && links->ports[number].wired)
            count += emitted_to(resident, i, number);
    return count;
}

/* The port by which an answer to the message's ask goes back; NULL: there is none. */
static struct opencl_port *way_back(struct opencl_links *links, const struct opencl_message *message)
{
    const gyre_link_ask *ask = &message->ask;
    const uint32_t number =
        ask->depth >= 1 && ask->depth <= GYRE_ASKS_DEEP ? ask->returns[ask->depth - 1].port : GYRE_PORTS_MAX;
    if (number >= links->port_count || number < links->declared || !links->ports[number].ring ||
        links->ports[number].ring->talk != GYRE_TALK_ANSWERS)
        return NULL;
    return &links->ports[number];
}

bool opencl_ports_can_answer(const struct opencl_links *links, const struct opencl_message *message)
{
    return way_back((struct opencl_links *)(uintptr_t)links, message) != NULL;
}

void opencl_ports_answer(gyre_resident *resident, uint32_t i, gyre_u64 origin)
{
    const struct opencl_message *message = &resident->links->messages[i];
    const gyre_slot *answer = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    const uint32_t length = opencl_least(answer->length, (uint32_t)resident->kernel->record.reply->size);
    struct opencl_port *port = way_back(resident->links, message);
    gyre_link_ring *ring = port->ring;
    gyre_link_slot *slot = link_slot(ring, ring->head);
    gyre_link_ask *ask = ask_of(slot);
    unsigned char *payload = (unsigned char *)(ask + 1);
    if (ring->choice) { /* the asker takes several types: as GYRE_PROTOCOL has them */
        const gyre_u32 front[] = {GYRE_CHOICE_FRONT + length, ring->choice};
        memcpy(payload, front, sizeof front);
        payload += GYRE_CHOICE_FRONT;
    }
    memcpy(payload, answer + 1, length);
    *ask = message->ask; /* the latest ask comes off */
    ask->depth--;
    ask->token = ask->returns[ask->depth].token;
    slot->origin = origin;
    slot->length = length + (ring->choice ? GYRE_CHOICE_FRONT : 0);
    device_link_times_sent(ring, ring->head, ring->head + 1);
    /* pairs with the acquire of the asker */
    __atomic_store_n(&slot->sequence, (gyre_u32)(ring->head + 1), __ATOMIC_RELEASE);
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELAXED);
    port->sent = true;
}

/* Writes in front of an emitted message whom its answer goes to. The token lies in front of its place. */
static void address(const struct opencl_message *message, const gyre_link_ring *ring,
                    const unsigned char *place, gyre_link_ask *ask)
{
    *ask = message->ask;
    ask->token = 0;
    ask->returns[ask->depth].port = ring->back;
    memcpy(&ask->returns[ask->depth].token, place - GYRE_CELL_ASK, sizeof(gyre_u32));
    ask->depth++;
}

/* ---- publishing ---- */

/* Copies a message into its slot, as one of the types that the target takes where that takes several (GYRE_PROTOCOL). Sets its length. */
static void write_payload(const gyre_link_ring *ring, gyre_link_slot *slot, const unsigned char *place)
{
    unsigned char *payload =
        ring->talk == GYRE_TALK_ASKS ? (unsigned char *)(ask_of(slot) + 1) : (unsigned char *)(slot + 1);
    const gyre_u32 length = slot->length, front[] = {GYRE_CHOICE_FRONT + length, ring->choice};
    if (ring->talk == GYRE_TALK_TELLS && ring->choice) {
        memcpy(payload, front, sizeof front);
        payload += sizeof front;
        slot->length += sizeof front;
    }
    memcpy(payload, place, length);
}

/* Copies `count` messages of a port that message `from` emitted, the first of which lies at `place`, into a ring. */
static void publish(gyre_link_ring *ring, const struct opencl_port *port, const struct opencl_message *from,
                    const unsigned char *place, uint32_t count, gyre_u64 origin)
{
    const gyre_u64 head = ring->head, end = head + count;
    device_link_times_sent(ring, head, end);
    for (gyre_u64 index = head; index != end; index++, place += port->stride) {
        gyre_link_slot *slot = link_slot(ring, index);
        const gyre_u32 said = *(const gyre_u32 *)(const void *)place;
        slot->origin = origin;
        slot->length = GYRE_REPLY_LENGTH_(port->least, port->size, said);
        if (ring->talk == GYRE_TALK_ASKS)
            address(from, ring, place, ask_of(slot));
        write_payload(ring, slot, place);
        /* pairs with the acquire of the target */
        __atomic_store_n(&slot->sequence, (gyre_u32)(index + 1), __ATOMIC_RELEASE);
    }
    __atomic_store_n(&ring->head, end, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
}

static void note_missed(const struct opencl_branch *branch, uint32_t missed)
{
    gyre_link_gate *gate = link_at(branch->branch->gate);
    if (missed == 0)
        return;
    __atomic_store_n(&branch->ring->missed, branch->ring->missed + missed, __ATOMIC_RELAXED);
    if (gate)
        __atomic_store_n(&gate->cut, 1, __ATOMIC_RELAXED);
}

/* Forgets what the call emitted: nobody fetches it. It is counted. */
static void throw_away(gyre_link_ring *ring, uint32_t emitted)
{
    __atomic_store_n(&ring->head, ring->head + emitted, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->tail, ring->head, __ATOMIC_RELAXED);
}

/* Gives every subscriber of the port's topic what it gets. The port's own ring is that of one of them, or nobody's. */
static void publish_topic(struct opencl_links *links, uint32_t number, const struct opencl_message *from,
                          const unsigned char *place, uint32_t emitted, gyre_u64 origin)
{
    gyre_link_ring *own = links->ports[number].ring;
    bool is_own = false;
    for (uint32_t i = 0; i < links->branch_count; i++) {
        struct opencl_branch *branch = &links->branches[i];
        if (branch->port != number)
            continue;
        publish(branch->ring, &links->ports[number], from, place, branch->accepted,
                is_outside(branch) ? (origin & ~GYRE_ORIGIN_SOLE) | GYRE_ORIGIN_TAP : origin);
        note_missed(branch, emitted - branch->accepted);
        branch->sent = branch->sent || branch->accepted;
        is_own = is_own || branch->ring == own;
    }
    if (!is_own)
        throw_away(own, emitted);
}

/* Shows the members of the port's pool what the call emitted to it. */
static void publish_jobs(struct opencl_links *links, uint32_t number, const struct opencl_message *from,
                         const unsigned char *place, uint32_t emitted, gyre_u64 origin)
{
    publish(links->ports[number].ring, &links->ports[number], from, place, emitted, origin);
    device_jobs_publish(links->ports[number].ring, emitted);
    for (uint32_t i = 0; i < links->branch_count; i++)
        links->branches[i].sent = links->branches[i].sent || links->branches[i].port == number;
}

void opencl_ports_publish(gyre_resident *resident, uint32_t i, gyre_u64 origin)
{
    struct opencl_links *links = resident->links;
    const struct opencl_message *from = &links->messages[i];
    for (uint32_t number = 0; number < links->declared; number++) {
        struct opencl_port *port = &links->ports[number];
        const unsigned char *place = link_reply_cell(resident, i) + port->place;
        const uint32_t emitted = emitted_to(resident, i, number);
        if (!emitted || !port->wired)
            continue;
        if (port->wired->use == GYRE_PORT_LINKED) {
            publish(port->ring, port, from, place, emitted, origin);
            port->sent = true;
        } else if (port->wired->use == GYRE_PORT_TOPIC) {
            publish_topic(links, number, from, place, emitted, origin);
        } else if (port->wired->use == GYRE_PORT_POOL) {
            publish_jobs(links, number, from, place, emitted, origin);
        } else {
            throw_away(port->ring, emitted);
        }
    }
}

void opencl_ports_begin_round(struct opencl_links *links, gyre_u64 origin, gyre_u32 round)
{
    struct opencl_port *port = &links->ports[links->rounds - 1];
    gyre_link_ring *ring = port->ring;
    gyre_link_slot *slot = link_slot(ring, ring->head);
    gyre_link_ask *ask = ask_of(slot);
    ask->token = round;
    ask->depth = 0;
    memset(ask + 1, 0, ring->choice);
    slot->origin = origin;
    slot->length = ring->choice;
    device_link_times_sent(ring, ring->head, ring->head + 1);
    /* pairs with the acquire of the target */
    __atomic_store_n(&slot->sequence, (gyre_u32)(ring->head + 1), __ATOMIC_RELEASE);
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELAXED);
    port->sent = true;
}

/* ---- bells ---- */

/* Wakes a target if it sleeps. The barrier pairs with the heavy barrier of a target that is about to sleep; one that parks without
 * it gets a fence. */
static void wake(const gyre_resident *resident, gyre_u64 control)
{
    gyre_control_region *target = link_at(control);
    gyre_barrier_light(resident->light_barriers && !target->command.parks);
    if (__atomic_load_n(&target->device.parked, __ATOMIC_RELAXED))
        gyre_bell_ring(&target->doorbell.bell, INT_MAX);
}

void opencl_ports_ring(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    for (uint32_t i = 0; i < links->port_count; i++)
        if (links->ports[i].sent)
            wake(resident, links->ports[i].wired->control);
    for (uint32_t i = 0; i < links->branch_count; i++)
        if (links->branches[i].sent)
            wake(resident, links->branches[i].branch->control);
    for (uint32_t i = 0; i < links->port_count; i++)
        links->ports[i].sent = false;
    for (uint32_t i = 0; i < links->branch_count; i++)
        links->branches[i].sent = false;
}

static void alarm_target(gyre_u64 control)
{
    gyre_control_region *target = link_at(control);
    gyre_bell_ring(&target->doorbell.bell, INT_MAX);
}

void opencl_ports_alarm(const struct opencl_links *links)
{
    for (uint32_t i = 0; i < links->port_count; i++)
        if (links->ports[i].wired && links->ports[i].wired->use == GYRE_PORT_LINKED)
            alarm_target(links->ports[i].wired->control);
    for (uint32_t i = 0; i < links->branch_count; i++)
        alarm_target(links->branches[i].branch->control);
}
