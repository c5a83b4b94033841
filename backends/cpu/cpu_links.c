/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links between kernels: see cpu_links.h. A message goes through these steps: there is room for all that its handler may
 * emit (make_room); the handler runs (call_handler); its outcome is noted in the flow, and the flow ends or goes on
 * (settle); what was emitted is published (publish).
 */
#include "cpu_links.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_handle.h"
#include "cpu_resident.h"
/* as cpu_worker.c: for queues of a kernel with ports that enter no pipeline */
#define GYRE_TIMED  1
#define GYRE_HEADED 1
#define GYRE_SEALED 1
#include "gyre/kernel.h"
#include "gyre/waiting.h"

enum {
    RUN_MAX = 64,          /* messages that a worker claims at once from a ring */
    RING_AGAIN_NS = 100000 /* before one who was woken, and still sleeps, is woken again */
};

/* ---- rings ---- */

static void *at(gyre_u64 address)
{
    return (void *)(uintptr_t)address;
}

static gyre_link_slot *slot_of(const gyre_link_ring *ring, gyre_u64 index)
{
    return (gyre_link_slot *)(void *)((unsigned char *)at(ring->slots) +
                                      (index & (ring->capacity - 1)) * ring->stride);
}

/* Whether the message is there. The acquire pairs with the sender's release of the sequence. */
static bool is_filled(const gyre_link_ring *ring, gyre_u64 index)
{
    return __atomic_load_n(&slot_of(ring, index)->sequence, __ATOMIC_ACQUIRE) == (gyre_u32)(index + 1);
}

static uint32_t section_of(const gyre_link_ring *ring, gyre_u64 index)
{
    return (uint32_t)((index & (ring->capacity - 1)) / (ring->capacity / GYRE_LINK_SECTIONS));
}

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

/* The worker's own ring of a port; NULL: the port has no link. */
static gyre_link_ring *ring_of(const struct cpu_worker *worker, uint32_t port)
{
    return worker->links.rings[port];
}

static const gyre_link_inlet *inlets_of(const gyre_link_table *table)
{
    return (const gyre_link_inlet *)(const void *)(table + 1);
}

static gyre_link_window *window_of(const struct cpu_worker *worker, const gyre_link_inlet *inlet)
{
    return (gyre_link_window *)at(inlet->windows) + worker->block;
}

/* ---- the worker's view ---- */

static uint32_t stride_of(const gyre_cpu_port_type *port)
{
    return (uint32_t)((GYRE_SLOT_HEADER_SIZE + port->type->size + 15) / 16 * 16);
}

static gyre_u64 power_of_two(gyre_u64 least)
{
    gyre_u64 power = 1;
    while (power < least)
        power *= 2;
    return power;
}

bool cpu_links_init(struct cpu_worker *worker)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    size_t thrown = 0;
    for (uint32_t i = 0; i < kernel->port_count; i++) {
        const size_t bytes = power_of_two(kernel->ports[i].most) * stride_of(&kernel->ports[i]);
        thrown = bytes > thrown ? bytes : thrown;
    }
    worker->context.ports = worker->links.ports;
    worker->links.reply = calloc(1, kernel->sizes.reply + GYRE_LINE_SIZE);
    if (thrown)
        worker->links.thrown = calloc(1, thrown);
    return worker->links.reply && (worker->links.thrown || !thrown);
}

void cpu_links_finish(struct cpu_worker *worker)
{
    free(worker->links.reply);
    free(worker->links.thrown);
}

/* Points a port to the worker's ring, or to memory of the worker's own. The place of the next message follows (aim). */
static void open_port(struct cpu_worker *worker, uint32_t number)
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
        *port = (gyre_cpu_port){
            .slots = worker->links.thrown, .mask = power_of_two(type->most) - 1, .stride = stride_of(type)};
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

void cpu_links_read(struct cpu_worker *worker)
{
    const gyre_control_command *command = &worker->resident->control->command;
    worker->links.table = at(__atomic_load_n(&command->links, __ATOMIC_ACQUIRE));
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        open_port(worker, i);
    for (uint32_t i = 0; i < worker->queue_count && i < GYRE_QUEUES_MAX; i++)
        worker->queues[i].entry = find_entry(worker->links.table, i, worker->queues[i].serial);
}

bool cpu_links_have_room(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const gyre_link_ring *ring = ring_of(worker, i);
        if (ring && !ring_has_room(ring, worker->links.ports[i].most))
            return false;
    }
    return true;
}

bool cpu_links_have_messages(const struct cpu_worker *worker)
{
    const gyre_link_table *table = worker->links.table;
    for (uint32_t i = 0; table && i < table->inlet_count; i++) {
        const gyre_link_inlet *inlet = &inlets_of(table)[i];
        const gyre_link_window *window = window_of(worker, inlet);
        const gyre_link_ring *ring = at(inlet->ring);
        if (window->next != window->end || is_filled(ring, __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED)))
            return true;
    }
    return false;
}

void cpu_links_tell_starved(const struct cpu_worker *worker, bool starved)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_link_ring *ring = ring_of(worker, i);
        if (ring)
            __atomic_store_n(&ring->starved, starved && !ring_has_room(ring, worker->links.ports[i].most),
                             __ATOMIC_SEQ_CST);
    }
}

/* ---- emitting ---- */

/*
 * Finds room for all that one call may emit, and aims the ports at the places of the first messages. False when there is
 * no room.
 */
static bool make_room(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_cpu_port *port = &worker->links.ports[i];
        gyre_link_ring *ring = ring_of(worker, i);
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

/* Returns how many messages the call emitted to links. *astray: a port without a link got one. */
static uint32_t count_emitted(const struct cpu_worker *worker, const char **astray)
{
    const gyre_link_table *table = worker->links.table;
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        const uint32_t emitted = worker->links.ports[i].emitted;
        if (!emitted)
            continue;
        if (!ring_of(worker, i))
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
    gyre_link_ring *ring = ring_of(worker, number);
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

/* Sends what the call emitted on its way. */
static void publish(struct cpu_worker *worker, gyre_u64 origin)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_link_ring *ring = ring_of(worker, i);
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

/* ---- flows ---- */

/* A message that is being handled: its flow, and where the completion of the flow goes. */
struct message {
    gyre_u64 origin;
    const gyre_link_entry *entry;
    gyre_flow *flow;
    gyre_slot *out;
};

static struct message message_of(const struct cpu_worker *worker, gyre_u64 origin)
{
    const gyre_link_entry *entry = &worker->links.table->entries[GYRE_ORIGIN_TABLE(origin)];
    const gyre_u32 place = GYRE_ORIGIN_PLACE(origin);
    unsigned char *replies = (unsigned char *)at(entry->region) + entry->slots.reply_offset;
    return (struct message){.origin = origin,
                            .entry = entry,
                            .flow = (gyre_flow *)at(entry->flows) + place,
                            .out =
                                (gyre_slot *)(void *)(replies + (gyre_u64)place * entry->slots.reply_stride)};
}

/* Publishes the completion, which is in its slot. Pairs with the client's acquire of the sequence. */
static void complete(struct cpu_worker *worker, const struct message *message, gyre_u32 outcome,
                     gyre_u32 length)
{
    message->out->length = length;
    message->out->info = outcome;
    __atomic_store_n(&message->out->sequence, message->flow->index + 1, __ATOMIC_RELEASE);
    worker->links.completed |= (uint64_t)1 << (message->entry - worker->links.table->entries);
}

static void complete_failed(struct cpu_worker *worker, const struct message *message, gyre_i32 code,
                            const char *text)
{
    gyre_write_failure_(message->out, code, text);
    complete(worker, message, GYRE_OUTCOME_FAILED, sizeof(gyre_failure));
}

/* Copies the worker's reply to the completion. Returns its length. */
static gyre_u32 give_reply(const struct cpu_worker *worker, const struct message *message)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    const gyre_u32 said = *(const gyre_u32 *)(const void *)worker->links.reply;
    const gyre_u32 length = GYRE_REPLY_LENGTH_(sizes->reply_least, sizes->reply, said);
    memcpy(message->out + 1, worker->links.reply, length);
    return length;
}

/* Ends a flow whose messages were counted, with its last message. */
static void end_flow(struct cpu_worker *worker, const struct message *message)
{
    const gyre_flow *flow = message->flow;
    const gyre_u32 answers = __atomic_load_n(&flow->answers, __ATOMIC_RELAXED);
    if (__atomic_load_n(&flow->failures, __ATOMIC_RELAXED))
        complete_failed(worker, message, flow->failure.code, flow->failure.text);
    else if (answers > 1)
        complete_failed(worker, message, GYRE_FAILURE_REPLIES, "two handlers replied to one request");
    else
        complete(worker, message, answers ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY,
                 answers ? flow->length : 0);
}

/* Notes the reply of a handler, unless another handler replied before. */
static void note_reply(const struct cpu_worker *worker, const struct message *message)
{
    /* the counter `alive` orders this before the end of the flow */
    if (__atomic_fetch_add(&message->flow->answers, 1, __ATOMIC_RELAXED) == 0)
        message->flow->length = give_reply(worker, message);
}

/* Notes the failure of a handler, unless another handler failed before. */
static void note_failure(const struct message *message, gyre_i32 code, const char *text)
{
    gyre_failure failure = {code, {0}};
    if (__atomic_fetch_add(&message->flow->failures, 1, __ATOMIC_RELAXED) != 0)
        return;
    for (uint32_t i = 0; i < sizeof failure.text - 1 && text[i]; i++)
        failure.text[i] = text[i];
    message->flow->failure = failure;
}

/* What a handler did with a message. */
struct outcome {
    gyre_i32 code;    /* of the failure */
    const char *text; /* NULL: it did not fail */
    uint32_t sent;    /* messages that it emitted to links */
    bool replied;
};

/* The only message of its flow: as long as it stays alone, nothing is counted. */
static void settle_sole(struct cpu_worker *worker, const struct message *message, const struct outcome *did)
{
    gyre_flow *flow = message->flow;
    const gyre_u64 next = GYRE_ORIGIN_NEXT(message->origin);
    if (did->sent == 1 && !did->replied) {
        publish(worker, next | GYRE_ORIGIN_SOLE);
        return;
    }
    if (did->sent) {
        flow->answers = flow->failures = 0;
        __atomic_store_n(&flow->alive, did->sent, __ATOMIC_RELAXED);
        if (did->replied)
            note_reply(worker, message);
        publish(worker, next);
        return;
    }
    publish(worker, next); /* what is thrown away */
    if (did->text)
        complete_failed(worker, message, did->code, did->text);
    else if (did->replied)
        complete(worker, message, GYRE_OUTCOME_REPLY, give_reply(worker, message));
    else
        complete(worker, message, GYRE_OUTCOME_NO_REPLY, 0);
}

/* One message of several. Accounts for what it emitted before that is published, so that the flow cannot end too early. */
static void settle_counted(struct cpu_worker *worker, const struct message *message,
                           const struct outcome *did)
{
    gyre_flow *flow = message->flow;
    if (did->text)
        note_failure(message, did->code, did->text);
    else if (did->replied)
        note_reply(worker, message);
    if (did->sent > 1)
        __atomic_fetch_add(&flow->alive, did->sent - 1, __ATOMIC_RELAXED);
    publish(worker, GYRE_ORIGIN_NEXT(message->origin));
    /* release: what was noted above; acquire: what others noted */
    if (did->sent == 0 && __atomic_sub_fetch(&flow->alive, 1, __ATOMIC_ACQ_REL) == 0)
        end_flow(worker, message);
}

/* ---- handling ---- */

static void fail(struct outcome *did, gyre_i32 code, const char *text)
{
    *did = (struct outcome){.code = code, .text = text};
}

/* Forgets what the call emitted: a handler that fails has emitted nothing. */
static void take_back(struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        worker->links.ports[i].emitted = 0;
}

static struct outcome call_handler(struct cpu_worker *worker, const void *request, gyre_u32 length)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    const gyre_cpu_sizes *sizes = &kernel->sizes;
    gyre_context *context = &worker->context;
    const gyre_u32 said = *(const gyre_u32 *)request;
    const char *astray = NULL;
    struct outcome did = {.text = NULL};
    if (GYRE_LENGTH_WRONG_(length, sizes->request_least, sizes->request, said)) {
        fail(&did, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return did;
    }
    const int result = cpu_handle(request, worker->links.reply, worker->resident->state, worker->scratch,
                                  worker->resident->bindings, context);
    did.sent = count_emitted(worker, &astray);
    did.replied = result == GYRE_OUTCOME_REPLY && sizes->reply;
    if (context->failed)
        fail(&did, context->fail_code, context->fail_text);
    else if (astray)
        fail(&did, GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
    else if (did.replied && !worker->links.table->answers)
        fail(&did, GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    context->failed = 0;
    if (did.text)
        take_back(worker);
    return did;
}

#define FLOW_INDEX (((gyre_u64)1 << 56) - 1)

/* The next message may be one of a queue that enters no pipeline. */
static void forget_flow(struct cpu_worker *worker)
{
    worker->context.origin = worker->context.flow = 0;
}

/* Handles a message for which there is room. Returns whether its handler failed it. */
static bool handle_message(struct cpu_worker *worker, gyre_u64 origin, const void *request, gyre_u32 length)
{
    const struct message message = message_of(worker, origin);
    const gyre_queue_slots *slots = &message.entry->slots;
    worker->context.header_size = slots->header_size;
    worker->context.header = slots->headers_offset
                                 ? (const unsigned char *)at(message.entry->region) + slots->headers_offset +
                                       (gyre_u64)GYRE_ORIGIN_PLACE(origin) * slots->header_size
                                 : NULL;
    worker->context.foreign = 0;
    worker->context.origin = origin;
    worker->context.flow =
        ((gyre_u64)GYRE_ORIGIN_TABLE(origin) + 1) << 56 | (message.flow->index & FLOW_INDEX);
    const struct outcome did = call_handler(worker, request, length);
    if (origin & GYRE_ORIGIN_SOLE)
        settle_sole(worker, &message, &did);
    else
        settle_counted(worker, &message, &did);
    return did.text != NULL;
}

/* ---- bells ---- */

static bool is_parked(const gyre_control_region *control)
{
    return __atomic_load_n(&control->device.parked, __ATOMIC_RELAXED) != 0;
}

static bool client_waits(const gyre_link_entry *entry)
{
    const gyre_queue_region *region = at(entry->region);
    return __atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED) != 0;
}

static void wake_target(const gyre_link_port *port)
{
    gyre_control_region *control = at(port->control);
    if (is_parked(control))
        gyre_bell_ring(&control->doorbell.bell, INT_MAX);
}

static void wake_client(const gyre_link_entry *entry)
{
    gyre_queue_region *region = at(entry->region);
    if (client_waits(entry))
        gyre_bell_ring(&region->device.bell, INT_MAX);
}

/* Whether who was woken before in this run, and still says that it sleeps, is woken again: after a while it does sleep. */
static bool is_due(struct cpu_links *links, bool was_rung)
{
    const uint64_t now = gyre_clock_ns();
    if (was_rung && now - links->rung_ns < RING_AGAIN_NS)
        return false;
    links->rung_ns = now;
    return true;
}

/*
 * Wakes those who sleep and got something, while the run goes on. One who was woken says that it sleeps until it runs, so it is
 * woken again after a while only. Without a barrier: ring_bells finds whom this look misses.
 */
static void ring_early(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    for (uint32_t i = 0; links->sent >> i; i++) {
        const gyre_link_port *port = &links->table->ports[i];
        if (!(links->sent >> i & 1) || !is_parked(at(port->control)) ||
            !is_due(links, links->rung_ports >> i & 1))
            continue;
        wake_target(port);
        links->rung_ports |= 1u << i;
    }
    for (uint64_t left = links->completed; left; left &= left - 1) {
        const uint32_t number = (uint32_t)__builtin_ctzll(left);
        const gyre_link_entry *entry = &links->table->entries[number];
        if (!client_waits(entry) || !is_due(links, links->rung_entries >> number & 1))
            continue;
        wake_client(entry);
        links->rung_entries |= (uint64_t)1 << number;
    }
}

/*
 * Wakes the workers and clients that sleep and got something in this run. Each barrier pairs with the heavy barrier of those who
 * are about to sleep; who parks without one gets a fence.
 */
static void ring_bells(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    const int light = worker->resident->light_barriers;
    for (uint32_t i = 0; links->sent >> i; i++) {
        if (!(links->sent >> i & 1))
            continue;
        const gyre_control_region *control = at(links->table->ports[i].control);
        gyre_barrier_light(light && !control->command.parks);
        wake_target(&links->table->ports[i]);
    }
    for (uint64_t left = links->completed; left; left &= left - 1) {
        const gyre_link_entry *entry = &links->table->entries[__builtin_ctzll(left)];
        const gyre_queue_region *region = at(entry->region);
        gyre_barrier_light(light && !region->host.parks);
        wake_client(entry);
    }
    links->sent = links->rung_ports = 0;
    links->completed = links->rung_entries = 0;
}

/* ---- links ---- */

/* Takes a run of messages from a ring. False when none is there. */
static bool claim_run(const struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window)
{
    const uint32_t blocks = worker->resident->blocks;
    const gyre_u64 wanted = (gyre_u64)blocks * RUN_MAX;
    gyre_u64 first = __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED), ready = 0;
    while (ready < wanted && is_filled(ring, first + ready))
        ready++;
    if (!ready)
        return false;
    /* a share only, so that slow handlers spread over the blocks */
    const gyre_u64 end = first + (ready + blocks - 1) / blocks, next = first;
    if (blocks == 1)
        __atomic_store_n(&ring->claimed, end, __ATOMIC_RELAXED);
    else if (!__atomic_compare_exchange_n(&ring->claimed, &first, end, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED))
        return false; /* another block was quicker */
    window->next = next;
    window->end = end;
    return true;
}

/* Counts messages [first, end) of one ring as fetched: their places may be written again. */
static void give_back(const struct cpu_worker *worker, gyre_link_ring *ring, gyre_u64 first, gyre_u64 end)
{
    const gyre_u64 section = ring->capacity / GYRE_LINK_SECTIONS;
    while (first != end) {
        const gyre_u64 border = (first / section + 1) * section;
        const gyre_u64 stop = border < end ? border : end;
        gyre_u64 *fetched = &ring->fetched[section_of(ring, first)];
        if (worker->resident->blocks == 1) /* pairs with the acquire in find_tail */
            __atomic_store_n(fetched, *fetched + (stop - first), __ATOMIC_RELEASE);
        else
            __atomic_fetch_add(fetched, stop - first, __ATOMIC_RELEASE);
        first = stop;
    }
}

/* Wakes the sender if it sleeps until there is room. */
static void wake_sender(const struct cpu_worker *worker, const gyre_link_inlet *inlet)
{
    const gyre_link_ring *ring = at(inlet->ring);
    gyre_control_region *sender = at(inlet->control);
    gyre_barrier_light(worker->resident->light_barriers && !sender->command.parks);
    if (__atomic_load_n(&ring->starved, __ATOMIC_RELAXED))
        gyre_bell_ring(&sender->doorbell.bell, INT_MAX);
}

static void count_messages(struct cpu_worker *worker, gyre_u64 handled, gyre_u64 failed)
{
    gyre_control_block *line = worker->line;
    /* relaxed: statistics, written by this worker alone */
    __atomic_store_n(&line->handled, line->handled + handled, __ATOMIC_RELAXED);
    __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/* Whether the run ends here, because there is another command. */
static bool is_interrupted(const struct cpu_worker *worker, gyre_u64 command)
{
    return __atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command;
}

static gyre_u64 serve_inlet(struct cpu_worker *worker, const gyre_link_inlet *inlet, gyre_u64 command)
{
    gyre_link_ring *ring = at(inlet->ring);
    gyre_link_window *window = window_of(worker, inlet);
    gyre_u64 failed = 0;
    /* room first: a block without room leaves the messages to others */
    if (window->next == window->end && (!cpu_links_have_room(worker) || !claim_run(worker, ring, window)))
        return 0;
    const gyre_u64 first = window->next;
    __atomic_store_n(&worker->line->working, worker->line->heartbeat + 1, __ATOMIC_RELAXED);
    while (window->next != window->end && make_room(worker)) {
        const gyre_link_slot *slot = slot_of(ring, window->next);
        failed += handle_message(worker, slot->origin, slot + 1, slot->length);
        window->next++;
        ring_early(worker);
        if (is_interrupted(worker, command))
            break;
    }
    __atomic_store_n(&worker->line->working, 0, __ATOMIC_RELAXED);
    forget_flow(worker);
    const gyre_u64 handled = window->next - first;
    if (!handled)
        return 0;
    give_back(worker, ring, first, window->next);
    wake_sender(worker, inlet);
    ring_bells(worker);
    count_messages(worker, handled, failed);
    return handled;
}

uint64_t cpu_links_serve(struct cpu_worker *worker, uint64_t command)
{
    const gyre_link_table *table = worker->links.table;
    uint64_t handled = 0;
    for (uint32_t i = 0; i < table->inlet_count; i++) {
        if (__atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command)
            break;
        handled += serve_inlet(worker, &inlets_of(table)[i], command);
    }
    return handled;
}

/* ---- queues ---- */

static void drop(gyre_slot *out, gyre_u64 index)
{
    out->length = 0;
    out->info = GYRE_OUTCOME_DROPPED;
    __atomic_store_n(&out->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the client's acquire */
}

uint64_t cpu_links_run(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run)
{
    const gyre_u64 end = run->first + run->limit;
    const uint32_t table = (uint32_t)(queue->entry - worker->links.table->entries);
    gyre_flow *const flows = at(queue->entry->flows);
    gyre_u64 index = run->first;
    while (index != end) {
        const gyre_u32 place = (gyre_u32)(index & run->mask);
        const gyre_slot *in =
            (const gyre_slot *)(const void *)(run->requests + (gyre_u64)place * run->request_stride);
        /* pairs with the client's release of the request's sequence */
        if (__atomic_load_n(&in->sequence, __ATOMIC_ACQUIRE) != index + 1 || !make_room(worker))
            break;
        if (index < __atomic_load_n(&run->host->drop_before, __ATOMIC_RELAXED)) {
            drop((gyre_slot *)(void *)(run->replies + (gyre_u64)place * run->reply_stride), index);
        } else {
            flows[place].index = index;
            run->failed += handle_message(worker, GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(table, place), in + 1,
                                          __atomic_load_n(&in->length, __ATOMIC_RELAXED));
        }
        index++;
        ring_early(worker);
        if (is_interrupted(worker, run->expected))
            break;
    }
    forget_flow(worker);
    ring_bells(worker);
    return index - run->first;
}

/* Handles a message of a queue that is no entry: what it emits has nowhere to go. */
static int handle_alone(const void *request, void *reply, void *state, void *scratch,
                        const gyre_binding *buffers, gyre_context *context)
{
    struct cpu_worker *worker = context->owner;
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    take_back(worker);
    (void)scratch;
    const int result = cpu_handle(request, reply, state, worker->scratch, buffers, context);
    for (uint32_t i = 0; i < kernel->port_count && !context->failed; i++)
        if (worker->links.ports[i].emitted) {
            context->failed = 1;
            context->fail_code = GYRE_FAILURE_PORT;
            context->fail_text = "emitted, and the queue enters no pipeline";
        }
    return result;
}

uint64_t cpu_links_run_alone(struct cpu_worker *worker, gyre_cpu_run *run)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_cpu_port *port = &worker->links.ports[i];
        port->slots = worker->links.thrown;
        port->mask = power_of_two(port->most) - 1;
        port->stride = stride_of(&worker->resident->kernel->ports[i]);
    }
    const uint64_t handled =
        run->bridge ? gyre_run_bridged_(run, sizes, handle_alone) : gyre_run_(run, sizes, handle_alone);
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        open_port(worker, i);
    return handled;
}
