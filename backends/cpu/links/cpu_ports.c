/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's own end of links: its rings, and what a call emits into them (cpu_ports.h). */
#include "backends/cpu/links/cpu_ports.h"

#include <stdlib.h>
#include <string.h>

#include "backends/device/device_jobs.h"
#include "backends/device/device_link_times.h"
#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/links/cpu_stash.h"
#include "backends/cpu/handling/cpu_trace.h"

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

uint32_t cpu_port_front(const gyre_cpu_port_type *port)
{
    return port->reply ? sizeof(gyre_link_ask) : 0;
}

uint32_t cpu_port_stride(const gyre_cpu_port_type *port)
{
    return (uint32_t)((GYRE_SLOT_HEADER_SIZE + cpu_port_front(port) + port->type->size + 15) / 16 * 16);
}

gyre_u64 cpu_port_places(gyre_u64 least)
{
    gyre_u64 power = 1;
    while (power < least)
        power *= 2;
    return power;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

bool cpu_ports_init(struct cpu_worker *worker)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    size_t thrown = 0;
    for (uint32_t i = 0; i < kernel->port_count; i++) {
        const size_t bytes = cpu_port_places(kernel->ports[i].most) * cpu_port_stride(&kernel->ports[i]);
        thrown = bytes > thrown ? bytes : thrown;
    }
    for (uint32_t i = 0; i < kernel->port_count; i++)
        worker->links.asks |= kernel->ports[i].reply != NULL;
    worker->context.ports = worker->links.ports;
    worker->links.cost_ns = CPU_SEAT_COST_MAX_NS + 1; /* not known */
    worker->links.reply = calloc(1, kernel->sizes.reply + GYRE_LINE_SIZE);
    if (thrown) {
        worker->links.thrown = calloc(1, thrown);
        worker->links.kept.bytes = calloc(1, kernel->sizes.request + GYRE_LINE_SIZE);
    }
    worker->context.memory_size = kernel->flow_size ? *kernel->flow_size : 0;
    if (worker->context.memory_size)
        worker->links.memory = aligned_alloc(GYRE_LINE_SIZE, 2 * whole_lines(worker->context.memory_size));
    if (worker->context.memory_size && !worker->links.memory)
        return false;
    worker->links.outside =
        worker->links.memory ? worker->links.memory + whole_lines(worker->context.memory_size) : NULL;
    return worker->links.reply && (!thrown || (worker->links.thrown && worker->links.kept.bytes));
}

void cpu_ports_finish(struct cpu_worker *worker)
{
    free(worker->links.reply);
    free(worker->links.thrown);
    free(worker->links.memory);
    free(worker->links.kept.bytes);
    cpu_stash_finish(worker);
}

/* A port of the kernel's own, which asks or not. */
static void open_own_port(struct cpu_worker *worker, uint32_t number)
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
    port->slots += cpu_port_front(type);
    port->most = type->most;
}

/* A port that leads answers back. The backend fills its places itself (cpu_ports_answer). */
static void open_answers(struct cpu_worker *worker, uint32_t number)
{
    const gyre_link_port *port = &worker->links.table->ports[number];
    worker->links.rings[number] = (gyre_link_ring *)at(port->rings) + worker->block;
    worker->links.ports[number] = (gyre_cpu_port){.most = port->most};
}

void cpu_port_open(struct cpu_worker *worker, uint32_t number)
{
    if (number < worker->resident->kernel->port_count)
        open_own_port(worker, number);
    else
        open_answers(worker, number);
}

/* Adds the subscribers of the topic, or the members of the pool, that a port leads to. */
static void open_branches(struct cpu_worker *worker, uint32_t number)
{
    const gyre_link_port *port = &worker->links.table->ports[number];
    const gyre_link_topic *topic = at(port->control);
    const gyre_link_branch *branches = (const gyre_link_branch *)(const void *)(topic + 1);
    for (uint32_t i = 0; i < topic->branch_count; i++) {
        worker->links.heard |= branches[i].is_client != 0;
        worker->links.branches[worker->links.branch_count++] =
            (struct cpu_branch){.branch = &branches[i],
                                .ring = (gyre_link_ring *)at(branches[i].rings) + worker->block,
                                .port = number,
                                .in_place = branches[i].rings == port->rings};
    }
}

static const gyre_link_entry *find_entry(const gyre_link_table *table, uint32_t number, gyre_u64 serial)
{
    for (uint32_t i = 0; table && i < table->entry_count; i++)
        if (table->entries[i].flows && table->entries[i].queue == number &&
            table->entries[i].serial == serial)
            return &table->entries[i];
    return NULL;
}

/* Whether the kernel is a member of a pool. */
static bool takes_jobs(const gyre_link_table *table)
{
    for (uint32_t i = 0; table && i < table->inlet_count; i++)
        if (((const gyre_link_ring *)at(inlets_of(table)[i].ring))->pool)
            return true;
    return false;
}

static bool must_drain(const gyre_link_table *table)
{
    for (uint32_t i = 0; table && i < table->inlet_count; i++)
        if (cpu_link_is_drained(at(inlets_of(table)[i].ring)))
            return true;
    return false;
}

/* Finds the port by which rounds begin. */
static gyre_u32 find_rounds(const struct cpu_worker *worker)
{
    for (uint32_t i = worker->resident->kernel->port_count; i < worker->links.port_count; i++) {
        const gyre_link_ring *ring = cpu_port_ring(worker, i);
        if (ring && ring->talk == GYRE_TALK_ROUNDS)
            return 1 + i;
    }
    return 0;
}

/* Finds which levels the inlets have. */
static uint32_t find_levels(const gyre_link_table *table)
{
    uint32_t levels = 0;
    for (uint32_t i = 0; table && i < table->inlet_count; i++)
        levels |= 1u << ((const gyre_link_ring *)at(inlets_of(table)[i].ring))->level;
    return levels & (levels - 1) ? levels : 0;
}

void cpu_ports_read(struct cpu_worker *worker)
{
    const gyre_control_command *command = &worker->resident->control->command;
    worker->links.table = at(__atomic_load_n(&command->links, __ATOMIC_ACQUIRE));
    worker->links.branch_count = 0;
    worker->links.heard = false;
    if (!worker->links.table) { /* their flows went with the pipeline */
        worker->links.kept.waits = false;
        worker->links.stash.count = 0;
    }
    worker->links.port_count = worker->resident->kernel->port_count;
    if (worker->links.table && worker->links.table->port_count > worker->links.port_count)
        worker->links.port_count = worker->links.table->port_count;
    for (uint32_t i = 0; i < worker->links.port_count; i++) {
        cpu_port_open(worker, i);
        if (cpu_port_ring(worker, i) && worker->links.table->ports[i].use >= GYRE_PORT_TOPIC)
            open_branches(worker, i);
    }
    worker->links.pools = takes_jobs(worker->links.table);
    worker->links.drains = must_drain(worker->links.table);
    worker->links.levels = find_levels(worker->links.table);
    worker->links.rounds = find_rounds(worker);
    for (uint32_t i = 0; i < worker->queue_count && i < GYRE_QUEUES_MAX; i++)
        worker->queues[i].entry = find_entry(worker->links.table, i, worker->queues[i].serial);
}

/* A ring in which the worker waits for room: of a port, or of a subscriber of a topic that is waited for. */
struct waited_ring {
    gyre_link_ring *ring;
    uint32_t most; /* messages that one call may emit to it */
};

/* Whether the sender waits for room in the branch's ring, which is not the port's own. */
static bool is_waited_for(const struct cpu_branch *branch)
{
    return branch->branch->slow == GYRE_BRANCH_WAIT && !branch->in_place;
}

/* Finds the next of these rings; *at is 0 at first. False: there are no more. */
static bool next_waited(const struct cpu_worker *worker, uint32_t *at, struct waited_ring *out)
{
    const uint32_t ports = worker->links.port_count;
    while (*at < ports + worker->links.branch_count) {
        const uint32_t i = (*at)++;
        const struct cpu_branch *branch = i < ports ? NULL : &worker->links.branches[i - ports];
        out->ring = !branch ? cpu_port_ring(worker, i) : is_waited_for(branch) ? branch->ring : NULL;
        out->most = worker->links.ports[branch ? branch->port : i].most;
        if (out->ring)
            return true;
    }
    return false;
}

static bool is_full(const struct waited_ring *waited)
{
    return !ring_has_room(waited->ring, waited->most);
}

bool cpu_ports_have_room(const struct cpu_worker *worker)
{
    struct waited_ring waited;
    for (uint32_t at = 0; next_waited(worker, &at, &waited);)
        if (is_full(&waited))
            return false;
    return true;
}

void cpu_ports_tell_starved(const struct cpu_worker *worker, bool starved)
{
    struct waited_ring waited;
    for (uint32_t at = 0; next_waited(worker, &at, &waited);)
        __atomic_store_n(&waited.ring->starved, starved && is_full(&waited), __ATOMIC_SEQ_CST);
}

bool cpu_ports_untell_starved(const struct cpu_worker *worker)
{
    struct waited_ring waited;
    bool told = false;
    for (uint32_t at = 0; next_waited(worker, &at, &waited);) {
        if (!__atomic_load_n(&waited.ring->starved, __ATOMIC_RELAXED) || is_full(&waited))
            continue;
        __atomic_store_n(&waited.ring->starved, 0, __ATOMIC_RELAXED);
        told = true;
    }
    return told;
}

bool cpu_ports_have_untold(const struct cpu_worker *worker)
{
    struct waited_ring waited;
    for (uint32_t at = 0; next_waited(worker, &at, &waited);)
        if (!__atomic_load_n(&waited.ring->starved, __ATOMIC_RELAXED) && is_full(&waited))
            return true;
    return false;
}

/* ---- emitting ---- */

/* Moves the ring's tail as far as it can and `most` messages need. Returns for how many of these there is room. */
static uint32_t make_room(gyre_link_ring *ring, uint32_t most)
{
    if (ring->head + most - ring->tail > ring->capacity) {
        __atomic_store_n(&ring->tail, find_tail(ring, most), __ATOMIC_RELAXED);
        /* before what is written into these places: pairs with the fence of cpu_link_key_find */
        __atomic_thread_fence(__ATOMIC_RELEASE);
    }
    const gyre_u64 room = ring->capacity - (ring->head - ring->tail);
    return room < most ? (uint32_t)room : most;
}

static bool make_room_in_branches(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->links.branch_count; i++) {
        const struct cpu_branch *branch = &worker->links.branches[i];
        const uint32_t most = worker->links.ports[branch->port].most;
        if (is_waited_for(branch) && make_room(branch->ring, most) < most)
            return false;
    }
    return true;
}

bool cpu_ports_make_room(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++) {
        gyre_cpu_port *port = &worker->links.ports[i];
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        port->emitted = port->again = 0;
        if (!ring)
            continue;
        if (make_room(ring, port->most) < port->most)
            return false;
        port->next = ring->head;
    }
    return make_room_in_branches(worker);
}

static bool is_cut(const struct cpu_branch *branch)
{
    const gyre_link_gate *gate = at(branch->branch->gate);
    return gate &&
           __atomic_load_n(&gate->cut, __ATOMIC_RELAXED); /* relaxed: a message more or less is no matter */
}

/* Decides how many of the emitted messages the subscriber gets. */
static uint32_t accept(const struct cpu_branch *branch, uint32_t emitted)
{
    if (branch->branch->slow == GYRE_BRANCH_WAIT)
        return emitted;
    const uint32_t room = is_cut(branch) ? 0 : make_room(branch->ring, emitted);
    return branch->branch->slow == GYRE_BRANCH_CUT && room < emitted ? 0 : room;
}

/* Whether the subscriber's messages belong to no flow. */
static bool is_outside(const struct cpu_branch *branch)
{
    return branch->branch->slow == GYRE_BRANCH_TAP || branch->branch->is_client;
}

/* Whether the branch is a member of a pool, where any of them takes a message, and not a subscriber of a topic. */
static bool is_member(const struct cpu_worker *worker, const struct cpu_branch *branch)
{
    return worker->links.table->ports[branch->port].use == GYRE_PORT_POOL;
}

/* Returns how many messages of the topics the flow has to wait for. */
static uint32_t count_branches(struct cpu_worker *worker)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->links.branch_count; i++) {
        struct cpu_branch *branch = &worker->links.branches[i];
        if (is_member(worker, branch))
            continue;
        branch->accepted = accept(branch, worker->links.ports[branch->port].emitted);
        if (!is_outside(branch))
            count += branch->accepted;
    }
    return count;
}

uint32_t cpu_ports_count(struct cpu_worker *worker, const char **astray)
{
    const gyre_link_table *table = worker->links.table;
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const uint32_t emitted = worker->links.ports[i].emitted;
        if (!emitted)
            continue;
        if (!cpu_port_ring(worker, i))
            *astray = worker->resident->kernel->ports[i].name;
        else if (table->ports[i].use == GYRE_PORT_LINKED || table->ports[i].use == GYRE_PORT_POOL)
            count += emitted;
    }
    return worker->links.branch_count ? count + count_branches(worker) : count;
}

/* Publishes the message that lies in the place of `index`. */
static void publish(gyre_link_ring *ring, gyre_u64 index, gyre_u64 origin, uint32_t length)
{
    gyre_link_slot *slot = slot_of(ring, index);
    slot->origin = origin;
    slot->length = length;
    /* pairs with the acquire of the target's worker */
    __atomic_store_n(&slot->sequence, (gyre_u32)(index + 1), __ATOMIC_RELEASE);
}

static uint32_t length_of(const gyre_cpu_port_type *type, const void *payload)
{
    const gyre_u32 said = *(const gyre_u32 *)payload;
    return GYRE_REPLY_LENGTH_(type->least, (gyre_u32)type->type->size, said);
}

/* ---- asks and answers ---- */

static gyre_link_ask *ask_of(const gyre_link_slot *slot)
{
    return (gyre_link_ask *)(uintptr_t)(slot + 1);
}

uint32_t cpu_ports_count_asks(const struct cpu_worker *worker)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        count += worker->resident->kernel->ports[i].reply && cpu_port_ring(worker, i)
                     ? worker->links.ports[i].emitted
                     : 0;
    return count;
}

bool cpu_ports_answer(struct cpu_worker *worker)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    const gyre_link_ask *asked = &worker->links.ask;
    const uint32_t number = asked->returns[asked->depth - 1].port;
    gyre_link_ring *ring = number < worker->links.port_count ? cpu_port_ring(worker, number) : NULL;
    if (!ring || ring->talk != GYRE_TALK_ANSWERS)
        return false;
    const gyre_u32 said = *(const gyre_u32 *)(const void *)worker->links.reply;
    gyre_u32 length = GYRE_REPLY_LENGTH_(sizes->reply_least, sizes->reply, said);
    gyre_link_slot *slot = slot_of(ring, ring->head);
    unsigned char *payload = (unsigned char *)(ask_of(slot) + 1);
    if (ring->choice) { /* the asker takes several types: as GYRE_PROTOCOL has them */
        const gyre_u32 front[] = {GYRE_CHOICE_FRONT + length, ring->choice};
        memcpy(payload, front, sizeof front);
        payload += GYRE_CHOICE_FRONT;
    }
    memcpy(payload, worker->links.reply, length);
    slot->length = length + (ring->choice ? GYRE_CHOICE_FRONT : 0);
    worker->links.ports[number].emitted = 1;
    return true;
}

/* Writes in front of an emitted message whom its answer goes to, or, of an answer, which ask it answers. */
static void address(const struct cpu_worker *worker, const gyre_link_ring *ring, gyre_link_slot *slot)
{
    gyre_link_ask *ask = ask_of(slot);
    const gyre_u32 token = ask->token;
    *ask = worker->links.ask;
    if (ring->talk == GYRE_TALK_ANSWERS) {
        ask->depth--;
        ask->token = ask->returns[ask->depth].token;
        return;
    }
    ask->token = 0;
    ask->returns[ask->depth].port = ring->back;
    ask->returns[ask->depth].token = token;
    ask->depth++;
}

/* Publishes what the call emitted to a port that asks, or its answer. */
static void publish_talk(struct cpu_worker *worker, uint32_t number, gyre_u64 origin)
{
    const bool asks = number < worker->resident->kernel->port_count;
    const gyre_cpu_port_type *type = asks ? &worker->resident->kernel->ports[number] : NULL;
    gyre_link_ring *ring = cpu_port_ring(worker, number);
    const gyre_u64 head = ring->head, end = head + worker->links.ports[number].emitted;
    if (__builtin_expect(worker->traced.open, 0))
        cpu_trace_emitted(worker, worker->links.table->ports[number].rings, ring, head,
                          (uint32_t)(end - head));
    device_link_times_sent(ring, head, end);
    for (gyre_u64 index = head; index != end; index++) {
        gyre_link_slot *slot = slot_of(ring, index);
        address(worker, ring, slot);
        publish(ring, index, origin, asks ? length_of(type, ask_of(slot) + 1) : slot->length);
    }
    __atomic_store_n(&ring->head, end, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
}

/* ---- publishing ---- */

/* Publishes a message as one of the types that the target takes, as GYRE_PROTOCOL has them: what says so stands in front of it. */
static void publish_chosen(gyre_link_ring *ring, gyre_u64 index, gyre_u64 origin, gyre_u32 length)
{
    unsigned char *payload = (unsigned char *)(slot_of(ring, index) + 1);
    const gyre_u32 front[] = {GYRE_CHOICE_FRONT + length, ring->choice};
    memmove(payload + GYRE_CHOICE_FRONT, payload, length);
    memcpy(payload, front, sizeof front);
    publish(ring, index, origin, GYRE_CHOICE_FRONT + length);
}

/* Publishes what the call emitted, in the ring in which it lies. */
static void publish_in_place(struct cpu_worker *worker, uint32_t number, gyre_u64 origin)
{
    const gyre_cpu_port_type *type = &worker->resident->kernel->ports[number];
    gyre_link_ring *ring = cpu_port_ring(worker, number);
    const gyre_u64 head = ring->head, end = head + worker->links.ports[number].emitted;
    if (__builtin_expect(worker->traced.open, 0))
        cpu_trace_emitted(worker, worker->links.table->ports[number].rings, ring, head,
                          (uint32_t)(end - head));
    device_link_times_sent(ring, head, end);
    for (gyre_u64 index = head; index != end; index++) {
        const gyre_u32 length = length_of(type, slot_of(ring, index) + 1);
        if (__builtin_expect(ring->choice != 0, 0))
            publish_chosen(ring, index, origin, length);
        else
            publish(ring, index, origin, length);
    }
    __atomic_store_n(&ring->head, end, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
}

/* Shows the members of a pool what the call emitted to it. */
static void publish_jobs(struct cpu_worker *worker, uint32_t number, gyre_u64 origin)
{
    publish_in_place(worker, number, origin);
    device_jobs_publish(cpu_port_ring(worker, number), worker->links.ports[number].emitted);
    for (uint32_t i = 0; i < worker->links.branch_count; i++)
        if (worker->links.branches[i].port == number)
            worker->links.sent_branches |= (uint64_t)1 << i;
}

/* Forgets what the call emitted: nobody fetches it. */
static void throw_away(gyre_link_ring *ring, uint32_t emitted)
{
    __atomic_store_n(&ring->head, ring->head + emitted, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->tail, ring->head, __ATOMIC_RELAXED);
}

/* Copies the messages that a subscriber gets from the port's ring into the subscriber's, and publishes them there. */
static void publish_copies(const struct cpu_worker *worker, const struct cpu_branch *branch, gyre_u64 origin)
{
    const gyre_cpu_port_type *type = &worker->resident->kernel->ports[branch->port];
    const gyre_link_ring *from = cpu_port_ring(worker, branch->port);
    gyre_link_ring *to = branch->ring;
    if (__builtin_expect(worker->traced.open, 0))
        cpu_trace_emitted(worker, branch->branch->rings, to, to->head, branch->accepted);
    device_link_times_sent(to, to->head, to->head + branch->accepted);
    for (uint32_t i = 0; i < branch->accepted; i++) {
        const gyre_link_slot *slot = slot_of(from, from->head + i);
        const uint32_t length = length_of(type, slot + 1);
        memcpy(slot_of(to, to->head + i) + 1, slot + 1, length);
        publish(to, to->head + i, origin, length);
    }
    __atomic_store_n(&to->head, to->head + branch->accepted, __ATOMIC_RELAXED);
}

static void note_missed(const struct cpu_branch *branch, uint32_t missed)
{
    gyre_link_gate *gate = at(branch->branch->gate);
    if (missed == 0)
        return;
    __atomic_store_n(&branch->ring->missed, branch->ring->missed + missed, __ATOMIC_RELAXED);
    if (gate)
        __atomic_store_n(&gate->cut, 1, __ATOMIC_RELAXED);
}

/* Gives every subscriber of the topic what it gets. The handler's own places come last: they are read before. */
static void publish_topic(struct cpu_worker *worker, uint32_t number, gyre_u64 origin)
{
    bool in_place = false;
    const uint32_t emitted = worker->links.ports[number].emitted;
    for (uint32_t i = 0; i < worker->links.branch_count; i++) {
        const struct cpu_branch *branch = &worker->links.branches[i];
        if (branch->port != number)
            continue;
        if (branch->accepted)
            worker->links.sent_branches |= (uint64_t)1 << i;
        in_place |= branch->in_place;
        if (branch->in_place)
            continue;
        publish_copies(worker, branch,
                       is_outside(branch) ? (origin & ~GYRE_ORIGIN_SOLE) | GYRE_ORIGIN_TAP : origin);
        note_missed(branch, emitted - branch->accepted);
    }
    if (in_place)
        publish_in_place(worker, number, origin);
    else
        throw_away(cpu_port_ring(worker, number), emitted);
}

void cpu_ports_publish(struct cpu_worker *worker, gyre_u64 origin)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++) {
        gyre_link_ring *ring = cpu_port_ring(worker, i);
        const uint32_t emitted = worker->links.ports[i].emitted;
        if (!emitted || !ring)
            continue;
        const uint32_t use = worker->links.table->ports[i].use;
        if (use == GYRE_PORT_LINKED) {
            if (__builtin_expect(ring->talk != GYRE_TALK_TELLS, 0))
                publish_talk(worker, i, origin);
            else
                publish_in_place(worker, i, origin);
            worker->links.sent |= 1u << i;
        } else if (use == GYRE_PORT_TOPIC) {
            publish_topic(worker, i, origin);
        } else if (use == GYRE_PORT_POOL) {
            publish_jobs(worker, i, origin);
        } else {
            throw_away(ring, emitted);
        }
    }
}

void cpu_ports_begin_round(struct cpu_worker *worker, gyre_u64 origin, gyre_u32 round)
{
    const uint32_t number = worker->links.rounds - 1;
    gyre_link_ring *ring = cpu_port_ring(worker, number);
    const gyre_u64 head = ring->head;
    gyre_link_slot *slot = slot_of(ring, head);
    gyre_link_ask *ask = ask_of(slot);
    ask->token = round;
    ask->depth = 0;
    memset(ask + 1, 0, ring->choice);
    if (__builtin_expect(worker->traced.open, 0))
        cpu_trace_emitted(worker, worker->links.table->ports[number].rings, ring, head, 1);
    device_link_times_sent(ring, head, head + 1);
    publish(ring, head, origin, ring->choice);
    __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    worker->links.sent |= 1u << number;
}

void cpu_ports_take_back(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++)
        worker->links.ports[i].emitted = worker->links.ports[i].again = 0;
}
