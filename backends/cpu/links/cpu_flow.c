/* SPDX-License-Identifier: Apache-2.0 */
/* A message of a flow from its handler to its end (cpu_flow.h). */
#include "backends/cpu/links/cpu_flow.h"

#include <string.h>

#include "backends/device/device_admission.h"
#include "backends/cpu/handling/cpu_handle.h"
#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/handling/cpu_times.h"
#include "backends/cpu/handling/cpu_trace.h"
#include "backends/cpu/check/cpu_turns.h"
#include "gyre/checksum.h"
#include "gyre/kernel.h"

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

/* Stores when the request was taken, and when its flow is settled, for the client's statistics. */
static void stamp(const struct cpu_worker *worker, const struct message *message)
{
    const gyre_queue_slots *slots = &message->entry->slots;
    gyre_stamp *stamps = at(message->entry->region + slots->stamps_offset);
    gyre_stamp *stamp = stamps + GYRE_ORIGIN_PLACE(message->origin);
    const gyre_u64 sequence = message->flow->index + 1;
    __atomic_store_n(&stamp->started_ns, message->flow->started_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->finished_ns, worker->context.services->time_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence_again, sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence, sequence, __ATOMIC_RELEASE); /* pairs with the client's acquire */
}

/*
 * Publishes the completion, which is in its slot. Pairs with the client's acquire of the sequence. The flow is settled before
 * that: the client may fill the slot of its request again right afterwards.
 */
static void complete(struct cpu_worker *worker, const struct message *message, gyre_u32 outcome,
                     gyre_u32 length)
{
    const gyre_u64 index = message->flow->index;
    if (message->entry->slots.stamps_offset)
        stamp(worker, message);
    if (message->entry->slots.foreign)
        __atomic_store_n(&message->flow->busy, 0, __ATOMIC_RELEASE); /* pairs with cpu_flow_begin */
    message->out->length = length;
    message->out->info = outcome;
    device_admission_give(message->entry); /* before: who has all completions finds no flow under way */
    __atomic_store_n(&message->out->sequence, index + 1, __ATOMIC_RELEASE);
    worker->links.completed |= (uint64_t)1 << (message->entry - worker->links.table->entries);
}

static void complete_failed(struct cpu_worker *worker, const struct message *message, gyre_i32 code,
                            const char *text)
{
    gyre_write_failure_(message->out, code, text);
    complete(worker, message, GYRE_OUTCOME_FAILED, sizeof(gyre_failure));
}

/* Stores the checksum of a reply, as it was before it was copied. */
static void seal_reply(const struct message *message, const void *reply, gyre_u32 length)
{
    const gyre_queue_slots *slots = &message->entry->slots;
    gyre_u32 *seals = at(message->entry->region + GYRE_SEALS_OFFSET(slots));
    seals[GYRE_SEALS_ROUND(slots->capacity) + GYRE_ORIGIN_PLACE(message->origin)] =
        gyre_seal_of(NULL, 0, reply, length);
}

/* Copies the worker's reply to the completion. Returns its length. */
static gyre_u32 give_reply(const struct cpu_worker *worker, const struct message *message)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    const gyre_u32 said = *(const gyre_u32 *)(const void *)worker->links.reply;
    const gyre_u32 length = GYRE_REPLY_LENGTH_(sizes->reply_least, sizes->reply, said);
    memcpy(message->out + 1, worker->links.reply, length);
    if (message->entry->slots.sealed)
        seal_reply(message, worker->links.reply, length);
    return length;
}

/* How many asks of the flow were not answered; below 0: so many answers too many came. */
static gyre_i32 count_asking(const struct message *message)
{
    return device_flow_head(message->entry)->asks ? __atomic_load_n(&message->flow->asking, __ATOMIC_RELAXED)
                                                  : 0;
}

/*
 * Begins another round of a flow all of whose messages were handled. False when it has none: the pipeline has no rounds, or nothing was
 * emitted in the last one.
 */
static bool begin_round(struct cpu_worker *worker, const struct message *message)
{
    gyre_flow *flow = message->flow;
    if (!worker->links.rounds || !__atomic_load_n(&flow->stirred, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&flow->stirred, 0, __ATOMIC_RELAXED); /* the flow is this block's until it sends */
    cpu_ports_begin_round(worker, GYRE_ORIGIN_NEXT(message->origin) | GYRE_ORIGIN_SOLE, ++flow->rounds);
    return true;
}

/* Notes that something was emitted in this round. Whoever ends the round sees it: `alive`, or the links, order them. */
static void note_sent(const struct cpu_worker *worker, const struct message *message, uint32_t sent)
{
    if (__builtin_expect(worker->links.rounds && sent, 0))
        __atomic_store_n(&message->flow->stirred, 1, __ATOMIC_RELAXED);
}

/* Ends a flow, or a round of it, in which no handler failed or replied. What waited for an answer most likely would have replied. */
static void end_silent(struct cpu_worker *worker, const struct message *message)
{
    if (count_asking(message) > 0)
        complete_failed(worker, message, GYRE_FAILURE_ASK, "a kernel was asked, and did not reply");
    else if (!begin_round(worker, message))
        complete(worker, message, GYRE_OUTCOME_NO_REPLY, 0);
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
    else if (count_asking(message) < 0)
        complete_failed(worker, message, GYRE_FAILURE_REPLIES, "two handlers replied to one ask");
    else if (answers)
        complete(worker, message, GYRE_OUTCOME_REPLY, flow->length);
    else
        end_silent(worker, message);
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
    uint32_t sent;    /* messages that it emitted to links, its answer included */
    gyre_i32 asking;  /* of these, asks less answers */
    bool replied;     /* to the client */
    bool again;       /* and wants to be called again with it */
};

/* ---- quotas ---- */

#define OVER_TEXT "more messages alive than the quota allows"

static gyre_u32 quota_of(const struct message *message)
{
    const gyre_u32 quota = device_flow_head(message->entry)->quota;
    return quota ? quota : UINT32_MAX;
}

/* Whether the flow exceeded its quota: its messages are handled no more, so that it ends whatever its handlers would do. */
static bool is_over(const struct message *message)
{
    return !(message->origin & GYRE_ORIGIN_SOLE) &&
           __atomic_load_n(&message->flow->over, __ATOMIC_RELAXED); /* a message more or less is no matter */
}

/* Counts so many messages more of a flow that is counted. False, and they are not counted, when they exceed the quota. */
static bool count_alive(const struct message *message, uint32_t more)
{
    gyre_flow *flow = message->flow;
    if (!more || __atomic_add_fetch(&flow->alive, more, __ATOMIC_RELAXED) <= quota_of(message))
        return true;
    __atomic_store_n(&flow->over, 1, __ATOMIC_RELAXED);
    note_failure(message, GYRE_FAILURE_QUOTA, OVER_TEXT);
    __atomic_fetch_sub(&flow->alive, more, __ATOMIC_RELAXED);
    return false;
}

/* ---- settling ---- */

/* Counts asks and answers, before they are published. */
static void count_talk(const struct message *message, const struct outcome *did)
{
    if (did->asking) /* relaxed: `alive`, or the links, order this before the end of the flow */
        __atomic_fetch_add(&message->flow->asking, did->asking, __ATOMIC_RELAXED);
}

/* The only message of its flow: as long as it stays alone, nothing is counted. */
static void settle_sole(struct cpu_worker *worker, struct message *message, struct outcome *did)
{
    gyre_flow *flow = message->flow;
    const gyre_u64 next = GYRE_ORIGIN_NEXT(message->origin);
    const uint32_t alive = did->sent + did->again;
    note_sent(worker, message, did->sent);
    if (alive == 1 && !did->replied) {
        count_talk(message, did);
        cpu_ports_publish(worker, next | GYRE_ORIGIN_SOLE);
        return;
    }
    if (alive > quota_of(message)) {
        cpu_ports_take_back(worker);
        did->again = false;
        complete_failed(worker, message, GYRE_FAILURE_QUOTA, OVER_TEXT);
        return;
    }
    if (alive) {
        message->origin &= ~GYRE_ORIGIN_SOLE;
        flow->answers = flow->failures = flow->over = 0;
        __atomic_store_n(&flow->alive, alive, __ATOMIC_RELAXED);
        if (did->replied)
            note_reply(worker, message);
        count_talk(message, did);
        cpu_ports_publish(worker, next);
        return;
    }
    cpu_ports_publish(worker, next); /* what is thrown away */
    if (did->text)
        complete_failed(worker, message, did->code, did->text);
    else if (did->replied)
        complete(worker, message, GYRE_OUTCOME_REPLY, give_reply(worker, message));
    else
        end_silent(worker, message);
}

/* One message of several. Accounts for what it emitted before that is published, so that the flow cannot end too early. */
static void settle_counted(struct cpu_worker *worker, const struct message *message, struct outcome *did)
{
    gyre_flow *flow = message->flow;
    if (did->text)
        note_failure(message, did->code, did->text);
    else if (did->replied)
        note_reply(worker, message);
    uint32_t alive = did->sent + did->again;
    note_sent(worker, message, did->sent);
    if (alive > 1 && !count_alive(message, alive - 1)) {
        cpu_ports_take_back(worker);
        did->again = false;
        alive = 0;
    } else {
        count_talk(message, did);
    }
    cpu_ports_publish(worker, GYRE_ORIGIN_NEXT(message->origin));
    /* release: what was noted above; acquire: what others noted */
    if (alive == 0 && __atomic_sub_fetch(&flow->alive, 1, __ATOMIC_ACQ_REL) == 0)
        end_flow(worker, message);
}

/* ---- handling ---- */

static void fail(struct outcome *did, gyre_i32 code, const char *text)
{
    *did = (struct outcome){.code = code, .text = text};
}

#define TOO_DEEP "more asks wait for each other than " GYRE_TEXT_(GYRE_ASKS_DEEP)

/* What the call asked, and, when the current message was asked, its reply, which goes to the asker. */
static void note_talk(struct cpu_worker *worker, struct outcome *did, bool replied)
{
    const uint32_t asks = worker->links.asks ? cpu_ports_count_asks(worker) : 0;
    const gyre_u32 depth = worker->links.ask.depth;
    if (asks && depth == GYRE_ASKS_DEEP) {
        fail(did, GYRE_FAILURE_ASK, TOO_DEEP);
    } else if (replied && !cpu_ports_answer(worker)) {
        fail(did, GYRE_FAILURE_ANSWER, "replied to an ask, and no link leads back to the asker");
    } else {
        did->sent += replied;
        did->asking = (gyre_i32)asks - replied;
    }
}

/*
 * `in_flow`: a reply is one of the flow; else it is thrown away. `did` is empty before. It is no result: a copy of it as a whole,
 * right after its members were stored one by one, waits for all of them.
 */
static void call_handler(struct cpu_worker *worker, const void *request, gyre_u32 length, bool in_flow,
                         struct outcome *did)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    const gyre_cpu_sizes *sizes = &kernel->sizes;
    gyre_context *context = &worker->context;
    const gyre_u32 said = *(const gyre_u32 *)request;
    const char *astray = NULL;
    if (GYRE_LENGTH_WRONG_(length, sizes->request_least, sizes->request, said)) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* as in gyre_complete_ */
        fail(did, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return;
    }
    const gyre_u64 started_ns = cpu_times_begin(worker);
    const int result = cpu_handle(request, worker->links.reply, worker->resident->state, worker->scratch,
                                  worker->resident->bindings, context);
    cpu_times_end(worker, started_ns);
    did->sent = context->failed ? 0 : cpu_ports_count(worker, &astray);
    did->again = kernel->port_count && worker->links.ports[0].again;
    const bool replied = in_flow && result == GYRE_OUTCOME_REPLY && sizes->reply;
    const bool was_asked = worker->links.ask.depth > 0;
    did->replied = replied && !was_asked;
    if (context->failed)
        fail(did, context->fail_code, context->fail_text);
    else if (astray)
        fail(did, GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
    else
        note_talk(worker, did, replied && was_asked);
    if (!did->text && did->replied && !(worker->links.table->answers & GYRE_TABLE_ANSWERS))
        fail(did, GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    context->failed = 0;
    if (did->text) {
        cpu_ports_take_back(worker);
        did->again = false;
    }
}

#define FLOW_INDEX (((gyre_u64)1 << 56) - 1)

unsigned char *cpu_flow_header(const gyre_link_entry *entry, gyre_u32 place)
{
    unsigned char *copies = (unsigned char *)((gyre_flow *)at(entry->flows) + entry->slots.capacity);
    return copies + (gyre_u64)place * entry->slots.header_size;
}

static const unsigned char *header_of(const gyre_link_entry *entry, gyre_u32 place)
{
    const gyre_queue_slots *slots = &entry->slots;
    if (!slots->headers_offset)
        return NULL;
    if (slots->foreign & GYRE_FOREIGN_RING)
        return cpu_flow_header(entry, place);
    return (const unsigned char *)at(entry->region) + slots->headers_offset +
           (gyre_u64)place * slots->header_size;
}

void cpu_flow_forget(struct cpu_worker *worker)
{
    worker->context.origin = worker->context.flow = 0;
    worker->context.token = 0;
}

/* Keeps the message for another call of its handler, or forgets the one that was kept. */
static void keep(struct cpu_worker *worker, gyre_u64 origin, const void *request, gyre_u32 length, bool again)
{
    struct cpu_kept *kept = &worker->links.kept;
    if (!again && !kept->waits)
        return;
    kept->turns = again ? kept->turns + 1 : 0;
    if (again && request != kept->bytes)
        memcpy(kept->bytes, request, length);
    kept->waits = again;
    kept->origin = origin;
    kept->ask = worker->links.ask;
    kept->length = length;
}

/* Where the flow's memory is at this kernel. */
static void *memory_of(const struct cpu_worker *worker, const struct message *message)
{
    if (!worker->context.memory_size)
        return NULL;
    const gyre_flow_head *head = device_flow_head(message->entry);
    return (unsigned char *)at(head->memory) +
           (gyre_u64)GYRE_ORIGIN_PLACE(message->origin) * head->memory_size + message->entry->memory;
}

void cpu_flow_alone(struct cpu_worker *worker, unsigned char *memory)
{
    worker->context.memory = memory;
    if (memory && !worker->context.turn)
        memset(memory, 0, worker->context.memory_size);
}

/*
 * In a worker process: says which message the handler is at (NULL: at none of a flow), for the watchdog, and for who wonders when the
 * process died. Elsewhere it would cost a line that others look at.
 */
__attribute__((noinline)) static void tell_working(struct cpu_worker *worker, const struct message *message)
{
    const uint32_t count = ++worker->links.calls;
    const gyre_u64 working =
        message ? GYRE_WORKING_FLOW(GYRE_ORIGIN_TABLE(message->origin), count, message->flow->index) : count;
    __atomic_store_n(&worker->line->working, working, __ATOMIC_RELAXED);
}

/* A message of no flow: nothing is looked up by its origin, whose flow, queue and header may be another client's by now. */
__attribute__((noinline)) static bool handle_tapped(struct cpu_worker *worker, gyre_u64 origin,
                                                    const void *request, gyre_u32 length)
{
    worker->context.header = NULL;
    worker->context.header_size = 0;
    worker->context.foreign = 1; /* what its places held may be of any program: they are cleared */
    worker->context.origin = origin;
    worker->context.flow = 0;
    cpu_flow_alone(worker, worker->links.memory);
    if (worker->traced.ring)
        cpu_trace_begin(worker, NULL, 0, NULL, 0, GYRE_ORIGIN_HOPS(origin));
    struct outcome did = {.text = NULL};
    if (__builtin_expect(worker->links.table->answers & GYRE_TABLE_TELLS, 0))
        tell_working(worker, NULL);
    call_handler(worker, request, length, false, &did);
    cpu_ports_publish(worker, GYRE_ORIGIN_NEXT(origin));
    keep(worker, origin, request, length, did.again);
    return did.text != NULL;
}

static bool handle_in_flow(struct cpu_worker *worker, gyre_u64 origin, const void *request, gyre_u32 length)
{
    struct message message = message_of(worker, origin);
    worker->context.header_size = message.entry->slots.header_size;
    worker->context.header = header_of(message.entry, GYRE_ORIGIN_PLACE(origin));
    worker->context.foreign = message.entry->slots.foreign || worker->links.heard;
    if (message.entry->slots.foreign) /* what the last handler wrote may be of another program */
        memset(worker->links.reply, 0, worker->resident->kernel->sizes.reply);
    worker->context.origin = origin;
    worker->context.flow =
        ((gyre_u64)GYRE_ORIGIN_TABLE(origin) + 1) << 56 | (message.flow->index & FLOW_INDEX);
    worker->context.memory = memory_of(worker, &message);
    struct outcome did = {.text = NULL};
    if (__builtin_expect(worker->traced.ring != NULL, 0))
        cpu_trace_begin(worker, at(message.entry->region), message.flow->index, worker->context.header,
                        worker->context.header_size, GYRE_ORIGIN_HOPS(origin));
    cpu_turns_note(worker, GYRE_ORIGIN_TABLE(origin), message.flow->index, GYRE_ORIGIN_HOPS(origin));
    const bool tells = __builtin_expect(worker->links.table->answers & GYRE_TABLE_TELLS, 0);
    if (tells)
        tell_working(worker, &message);
    if (is_over(&message))
        cpu_ports_take_back(worker);
    else
        call_handler(worker, request, length, true, &did);
    if (tells)
        tell_working(worker, NULL);
    if (origin & GYRE_ORIGIN_SOLE)
        settle_sole(worker, &message, &did);
    else
        settle_counted(worker, &message, &did);
    keep(worker, message.origin, request, length, did.again);
    return did.text != NULL;
}

/* Notes what the message asks or answers, and shows the handler its token. */
static void take_ask(struct cpu_worker *worker, const gyre_link_ask *ask)
{
    if (ask)
        worker->links.ask = *ask;
    else
        worker->links.ask.depth = worker->links.ask.token = 0;
    worker->context.token = worker->links.ask.token;
}

bool cpu_flow_handle(struct cpu_worker *worker, gyre_u64 origin, const gyre_link_ask *ask,
                     const void *request, gyre_u32 length)
{
    take_ask(worker, ask);
    const bool failed = __builtin_expect((origin & GYRE_ORIGIN_TAP) != 0, 0)
                            ? handle_tapped(worker, origin, request, length)
                            : handle_in_flow(worker, origin, request, length);
    if (__builtin_expect(worker->traced.ring != NULL, 0))
        cpu_trace_end(worker, failed);
    return failed;
}

bool cpu_flow_handle_again(struct cpu_worker *worker)
{
    const struct cpu_kept *kept = &worker->links.kept;
    const gyre_link_ask ask = kept->ask;
    worker->context.turn = kept->turns;
    const bool failed = cpu_flow_handle(worker, kept->origin, &ask, kept->bytes, kept->length);
    worker->context.turn = 0;
    return failed;
}

void cpu_flow_refuse(struct cpu_worker *worker, gyre_u64 origin, gyre_i32 code, const char *text)
{
    const struct message message = message_of(worker, origin);
    complete_failed(worker, &message, code, text);
}

bool cpu_flow_begin(const struct cpu_worker *worker, const gyre_link_entry *entry, gyre_flow *flow,
                    gyre_u64 index)
{
    if (entry->slots.foreign && __atomic_exchange_n(&flow->busy, 1, __ATOMIC_ACQUIRE))
        return false;
    const bool is_timed = entry->slots.stamps_offset != 0;
    if (is_timed) { /* whoever finds out what a dead worker took never finds the time of the last flow beside this index */
        __atomic_store_n(&flow->started_ns, 0, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
    }
    /* relaxed: other blocks of a keyed actor look at it (fail_orphans in cpu_keyed.c) */
    __atomic_store_n(&flow->index, index, __ATOMIC_RELAXED);
    const gyre_flow_head *head = device_flow_head(entry);
    if (head->memory_size) /* whoever gets a message of the flow sees it: the links order it */
        memset((unsigned char *)at(head->memory) +
                   (gyre_u64)(flow - (const gyre_flow *)at(entry->flows)) * head->memory_size,
               0, head->memory_size);
    if (head->asks)
        flow->asking = 0;
    if (worker->links.rounds)
        flow->rounds = flow->stirred = 0;
    if (is_timed)
        __atomic_store_n(&flow->started_ns, worker->context.services->time_ns(), __ATOMIC_RELAXED);
    return true;
}
