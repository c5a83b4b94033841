/* SPDX-License-Identifier: Apache-2.0 */
/* Settles messages of stages (opencl_flow.h). Takes no lock. */
#include "backends/device/device_admission.h"
#include "backends/opencl/links/opencl_flow.h"
#include "backends/opencl/links/opencl_link_ring.h"
#include "backends/opencl/links/opencl_ports.h"

#include <limits.h>
#include <string.h>

#include "gyre/checksum.h"
#include "gyre/waiting.h"

/* ---- where a completion goes ---- */

/* A message that is being settled, and where the completion of its request goes. */
struct settling {
    struct opencl_message *message;
    const gyre_slot *answer; /* the reply as its handler left it; NULL: no handler saw the message */
    gyre_queue_region *region;
    const gyre_queue_slots *slots;
    gyre_flow *flow;              /* NULL: it belongs to none */
    const gyre_link_entry *entry; /* of that flow */
    gyre_u64 place;               /* of the request in its queue */
};

static const gyre_link_entry *entry_of(const struct opencl_links *links, gyre_u64 origin)
{
    return &links->table->entries[GYRE_ORIGIN_TABLE(origin)];
}

gyre_flow *opencl_flow_of(const struct opencl_links *links, gyre_u64 origin)
{
    return (gyre_flow *)link_at(entry_of(links, origin)->flows) + GYRE_ORIGIN_PLACE(origin);
}

unsigned char *opencl_flow_header(const gyre_link_entry *entry, gyre_u32 place)
{
    const gyre_queue_slots *slots = &entry->slots;
    if (!slots->headers_offset)
        return NULL;
    unsigned char *first = (unsigned char *)link_region(entry) + slots->headers_offset;
    if (slots->foreign & GYRE_FOREIGN_RING)
        first = (unsigned char *)((gyre_flow *)link_at(entry->flows) + slots->capacity);
    return first + (gyre_u64)place * slots->header_size;
}

static struct settling settling_of(const gyre_resident *resident, struct opencl_message *message)
{
    struct settling settling = {.message = message};
    if (message->in_flow) {
        const gyre_link_entry *entry = settling.entry = entry_of(resident->links, message->origin);
        settling.region = link_region(entry);
        settling.slots = &entry->slots;
        settling.flow = opencl_flow_of(resident->links, message->origin);
        settling.place = GYRE_ORIGIN_PLACE(message->origin);
    } else {
        settling.region = message->queue->memory->region;
        settling.slots = &message->queue->slots;
        settling.place = message->index & (settling.slots->capacity - 1);
    }
    return settling;
}

static gyre_slot *reply_slot(const struct settling *settling)
{
    unsigned char *replies = (unsigned char *)settling->region + settling->slots->reply_offset;
    return (gyre_slot *)(void *)(replies + settling->place * settling->slots->reply_stride);
}

/* ---- completing ---- */

/* Stores when the request was taken, and when it is settled, for the client's statistics. */
static void stamp(const struct settling *settling, gyre_u64 started_ns, gyre_u64 sequence)
{
    gyre_stamp *stamp =
        (gyre_stamp *)(void *)((unsigned char *)settling->region + settling->slots->stamps_offset) +
        settling->place;
    __atomic_store_n(&stamp->started_ns, started_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->finished_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence_again, sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence, sequence, __ATOMIC_RELEASE); /* pairs with the client's acquire */
}

/* Wakes the client of a completion if it sleeps. Pairs with the heavy barrier of a client that parks. */
static void ring_client(const gyre_resident *resident, gyre_queue_region *region)
{
    gyre_barrier_light(resident->light_barriers && !region->host.parks);
    if (__atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&region->device.bell, INT_MAX);
}

/*
 * Publishes the completion, which is in its slot. Pairs with the client's acquire of the sequence. The flow is settled before
 * that: the client may fill the slot of its request again right afterwards.
 */
static void complete(gyre_resident *resident, const struct settling *settling, gyre_u32 outcome,
                     gyre_u32 length)
{
    const gyre_u64 sequence = (settling->flow ? settling->flow->index : settling->message->index) + 1;
    gyre_slot *out = reply_slot(settling);
    if (settling->slots->stamps_offset)
        stamp(settling, settling->flow ? settling->flow->started_ns : resident->epochs[0].start_ns, sequence);
    if (settling->flow && settling->slots->foreign)
        __atomic_store_n(&settling->flow->busy, 0, __ATOMIC_RELEASE); /* pairs with opencl_flow_begin */
    out->length = length;
    out->info = outcome;
    if (settling->flow) /* before: whoever has all completions finds no flow under way */
        device_admission_give(settling->entry);
    __atomic_store_n(&out->sequence, sequence, __ATOMIC_RELEASE);
    ring_client(resident, settling->region);
}

/* Makes a failure of a text of any length, which need not be terminated within a failure's own. */
static gyre_failure failure_of(gyre_i32 code, const char *text)
{
    gyre_failure failure = {code, {0}};
    for (uint32_t i = 0; i < sizeof failure.text - 1 && text[i]; i++)
        failure.text[i] = text[i];
    return failure;
}

static void complete_failed(gyre_resident *resident, const struct settling *settling,
                            const gyre_failure *failure)
{
    memcpy(reply_slot(settling) + 1, failure, sizeof *failure);
    complete(resident, settling, GYRE_OUTCOME_FAILED, sizeof *failure);
}

/* Copies the reply to the slot of the completion. Returns its length. */
static gyre_u32 give_reply(const gyre_resident *resident, const struct settling *settling)
{
    const gyre_queue_slots *slots = settling->slots;
    const gyre_u32 length =
        opencl_least(settling->answer->length, (uint32_t)resident->kernel->record.reply->size);
    memcpy(reply_slot(settling) + 1, settling->answer + 1, length);
    if (!slots->sealed)
        return length;
    gyre_u32 *seals = (gyre_u32 *)(void *)((unsigned char *)settling->region + GYRE_SEALS_OFFSET(slots));
    seals[GYRE_SEALS_ROUND(slots->capacity) + settling->place] =
        gyre_seal_of(NULL, 0, settling->answer + 1, length);
    return length;
}

/* ---- flows ---- */

bool opencl_flow_begin(const struct opencl_links *links, const gyre_link_entry *entry, gyre_u64 index)
{
    gyre_flow *flow = (gyre_flow *)link_at(entry->flows) + (index & (entry->slots.capacity - 1));
    if (entry->slots.foreign && __atomic_exchange_n(&flow->busy, 1, __ATOMIC_ACQUIRE))
        return false;
    flow->index = index;
    const gyre_flow_head *head = device_flow_head(entry);
    if (head->memory_size) /* whichever pump gets a message of the flow sees it: the links order it */
        memset((unsigned char *)link_at(head->memory) +
                   (index & (entry->slots.capacity - 1)) * head->memory_size,
               0, head->memory_size);
    if (head->asks)
        flow->asking = 0;
    if (links->rounds)
        flow->rounds = flow->stirred = 0;
    if (entry->slots.stamps_offset)
        flow->started_ns = gyre_clock_ns();
    return true;
}

/* What a handler did with a message. */
struct outcome {
    gyre_failure failure;
    bool failed;
    bool replied;    /* to the client */
    bool answered;   /* to the ask that the message came by */
    bool again;      /* it wants to be called again */
    uint32_t sent;   /* messages that it emitted to links, its answer included */
    gyre_i32 asking; /* of these, asks less answers */
};

/* How many asks of the flow were not answered; below 0: so many answers too many came. */
static gyre_i32 count_asking(const struct settling *settling)
{
    return settling->flow && device_flow_head(settling->entry)->asks
               ? __atomic_load_n(&settling->flow->asking, __ATOMIC_RELAXED)
               : 0;
}

/*
 * Begins another round of a flow all of whose messages were handled. False when it has none: the pipeline has no rounds, or nothing was
 * emitted in the last one.
 */
static bool begin_round(const gyre_resident *resident, const struct settling *settling)
{
    gyre_flow *flow = settling->flow;
    if (!flow || !resident->links->rounds || !__atomic_load_n(&flow->stirred, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&flow->stirred, 0, __ATOMIC_RELAXED); /* the flow is this pump's until it sends */
    opencl_ports_begin_round(resident->links, GYRE_ORIGIN_NEXT(settling->message->origin) | GYRE_ORIGIN_SOLE,
                             ++flow->rounds);
    return true;
}

/* Notes that something was emitted in this round. Whoever ends the round sees it: `alive`, or the links, order them. */
static void note_sent(const gyre_resident *resident, const struct settling *settling, uint32_t sent)
{
    if (resident->links->rounds && sent)
        __atomic_store_n(&settling->flow->stirred, 1, __ATOMIC_RELAXED);
}

/* Ends a flow, or a round of it, in which no handler failed or replied. What waited for an answer most likely would have replied. */
static void end_silent(gyre_resident *resident, const struct settling *settling)
{
    const gyre_failure silent = failure_of(GYRE_FAILURE_ASK, "a kernel was asked, and did not reply");
    if (count_asking(settling) > 0)
        complete_failed(resident, settling, &silent);
    else if (!begin_round(resident, settling))
        complete(resident, settling, GYRE_OUTCOME_NO_REPLY, 0);
}

/* Ends a flow whose messages were counted, with its last message. */
static void end_flow(gyre_resident *resident, const struct settling *settling)
{
    const gyre_flow *flow = settling->flow;
    const gyre_u32 answers = __atomic_load_n(&flow->answers, __ATOMIC_RELAXED);
    const gyre_failure two = failure_of(GYRE_FAILURE_REPLIES, "two handlers replied to one request");
    const gyre_failure both = failure_of(GYRE_FAILURE_REPLIES, "two handlers replied to one ask");
    if (__atomic_load_n(&flow->failures, __ATOMIC_RELAXED))
        complete_failed(resident, settling, &flow->failure);
    else if (answers > 1)
        complete_failed(resident, settling, &two);
    else if (count_asking(settling) < 0)
        complete_failed(resident, settling, &both);
    else if (answers)
        complete(resident, settling, GYRE_OUTCOME_REPLY, flow->length);
    else
        end_silent(resident, settling);
}

/* Notes the reply of a handler, unless another handler replied before. */
static void note_reply(const gyre_resident *resident, const struct settling *settling)
{
    /* the counter `alive` orders this before the end of the flow */
    if (__atomic_fetch_add(&settling->flow->answers, 1, __ATOMIC_RELAXED) == 0)
        settling->flow->length = give_reply(resident, settling);
}

/* Notes the failure of a handler, unless another handler failed before. */
static void note_failure(gyre_flow *flow, const gyre_failure *failure)
{
    if (__atomic_fetch_add(&flow->failures, 1, __ATOMIC_RELAXED) == 0)
        flow->failure = *failure;
}

/* The completion of a request that nothing follows. */
static void complete_alone(gyre_resident *resident, const struct settling *settling,
                           const struct outcome *did)
{
    if (did->failed)
        complete_failed(resident, settling, &did->failure);
    else if (did->replied)
        complete(resident, settling, GYRE_OUTCOME_REPLY, give_reply(resident, settling));
    else
        end_silent(resident, settling);
}

/* ---- quotas ---- */

#define OVER_TEXT "more messages alive than the quota allows"

static gyre_u32 quota_of(const struct settling *settling)
{
    const gyre_u32 quota = device_flow_head(settling->entry)->quota;
    return quota ? quota : UINT32_MAX;
}

bool opencl_flow_is_over(const struct opencl_links *links, gyre_u64 origin)
{
    return !(origin & GYRE_ORIGIN_SOLE) &&
           __atomic_load_n(&opencl_flow_of(links, origin)->over,
                           __ATOMIC_RELAXED); /* a message more or less is no matter */
}

/* Counts so many messages more of a flow that is counted. False, and they are not counted, when they exceed the quota. */
static bool count_alive(const struct settling *settling, uint32_t more)
{
    gyre_flow *flow = settling->flow;
    if (!more || __atomic_add_fetch(&flow->alive, more, __ATOMIC_RELAXED) <= quota_of(settling))
        return true;
    const gyre_failure over = failure_of(GYRE_FAILURE_QUOTA, OVER_TEXT);
    __atomic_store_n(&flow->over, 1, __ATOMIC_RELAXED);
    note_failure(flow, &over);
    __atomic_fetch_sub(&flow->alive, more, __ATOMIC_RELAXED);
    return false;
}

/* The message is done with, and nothing follows it. Release: what was noted before; acquire: what others noted. */
static void count_out(gyre_resident *resident, const struct settling *settling)
{
    if (__atomic_sub_fetch(&settling->flow->alive, 1, __ATOMIC_ACQ_REL) == 0)
        end_flow(resident, settling);
}

/* ---- by the number of messages ---- */

/* Counts asks and answers, before they are published. */
static void count_talk(const struct settling *settling, const struct outcome *did)
{
    if (did->asking) /* relaxed: `alive`, or the links, order this before the end of the flow */
        __atomic_fetch_add(&settling->flow->asking, did->asking, __ATOMIC_RELAXED);
}

/* Sends what message i emitted, and its answer. */
static void publish(gyre_resident *resident, uint32_t i, const struct outcome *did, gyre_u64 origin)
{
    if (did->failed)
        return;
    opencl_ports_publish(resident, i, origin);
    if (did->answered)
        opencl_ports_answer(resident, i, origin);
}

/* The only message of its flow becomes one of several that are alive, or of one beside a reply. */
static void begin_count(gyre_resident *resident, const struct settling *settling, uint32_t alive,
                        const struct outcome *did)
{
    gyre_flow *flow = settling->flow;
    settling->message->origin &= ~GYRE_ORIGIN_SOLE;
    flow->answers = flow->failures = flow->over = 0;
    __atomic_store_n(&flow->alive, alive, __ATOMIC_RELAXED);
    if (did->replied)
        note_reply(resident, settling);
}

/* The only message of its flow: as long as it stays alone, nothing is counted. */
static void settle_sole(gyre_resident *resident, const struct settling *settling, uint32_t i,
                        struct outcome *did)
{
    const gyre_u64 next = GYRE_ORIGIN_NEXT(settling->message->origin);
    const uint32_t alive = did->sent + did->again;
    const bool stays_alone = alive == 1 && !did->replied;
    note_sent(resident, settling, did->sent);
    if (alive > quota_of(settling)) {
        const gyre_failure over = failure_of(GYRE_FAILURE_QUOTA, OVER_TEXT);
        did->again = false;
        complete_failed(resident, settling, &over);
        return;
    }
    if (alive && !stays_alone)
        begin_count(resident, settling, alive, did);
    count_talk(settling, did);
    publish(resident, i, did, stays_alone ? next | GYRE_ORIGIN_SOLE : next);
    if (!alive)
        complete_alone(resident, settling, did);
}

/* One message of several. Accounts for what it emitted before that is published, so that the flow cannot end too early. */
static void settle_counted(gyre_resident *resident, const struct settling *settling, uint32_t i,
                           struct outcome *did)
{
    const uint32_t alive = did->sent + did->again;
    note_sent(resident, settling, did->sent);
    if (did->failed)
        note_failure(settling->flow, &did->failure);
    else if (did->replied)
        note_reply(resident, settling);
    if (alive > 1 && !count_alive(settling, alive - 1)) {
        did->again = false;
        count_out(resident, settling);
        return;
    }
    count_talk(settling, did);
    publish(resident, i, did, GYRE_ORIGIN_NEXT(settling->message->origin));
    if (!alive)
        count_out(resident, settling);
}

/* ---- settling ---- */

void opencl_flow_refuse(gyre_resident *resident, const struct opencl_message *message, gyre_i32 code,
                        const char *text)
{
    struct opencl_message refused = *message;
    const struct settling settling = settling_of(resident, &refused);
    const gyre_failure failure = failure_of(code, text);
    complete_failed(resident, &settling, &failure);
}

void opencl_flow_drop(gyre_resident *resident, const struct opencl_message *message)
{
    struct opencl_message dropped = *message;
    const struct settling settling = settling_of(resident, &dropped);
    complete(resident, &settling, GYRE_OUTCOME_DROPPED, 0);
}

void opencl_flow_pass_over(gyre_resident *resident, const struct opencl_message *message)
{
    struct opencl_message passed = *message;
    const struct settling settling = settling_of(resident, &passed);
    count_out(resident, &settling);
}

static struct outcome failed_with(gyre_i32 code, const char *text)
{
    return (struct outcome){.failure = failure_of(code, text), .failed = true};
}

/* Whether the handler emitted anything at all, also to a port whose messages are thrown away. */
static bool emits(const gyre_resident *resident, uint32_t i)
{
    const gyre_u32 *counts =
        (const gyre_u32 *)(const void *)(link_reply_cell(resident, i) + resident->links->told.counts_offset);
    bool any = false;
    for (uint32_t port = 0; port < resident->links->declared; port++)
        any = any || counts[port];
    return any;
}

/* A request of a queue that enters no pipeline. */
static struct outcome judge_alone(const gyre_resident *resident, uint32_t i, const struct outcome *did)
{
    if (emits(resident, i))
        return failed_with(GYRE_FAILURE_PORT, "emitted, and the queue enters no pipeline");
    if (opencl_ports_again(resident, i))
        return failed_with(GYRE_FAILURE_PORT, "GYRE_MORE, and the queue enters no pipeline");
    return *did;
}

#define TOO_DEEP "more asks wait for each other than " GYRE_TEXT_(GYRE_ASKS_DEEP)

/* What the call asked, and, when the message was asked, its reply, which goes to the asker. */
static struct outcome judge_talk(const gyre_resident *resident, uint32_t i,
                                 const struct opencl_message *message, struct outcome did)
{
    const uint32_t asks = opencl_ports_count_asks(resident, i);
    const bool replied = did.replied;
    did.answered = replied && message->ask.depth > 0;
    did.replied = replied && !did.answered;
    if (asks && message->ask.depth >= GYRE_ASKS_DEEP)
        return failed_with(GYRE_FAILURE_ASK, TOO_DEEP);
    if (did.answered && !opencl_ports_can_answer(resident->links, message))
        return failed_with(GYRE_FAILURE_ANSWER, "replied to an ask, and no link leads back to the asker");
    did.sent += did.answered;
    did.asking = (gyre_i32)asks - did.answered;
    if (did.replied && !(resident->links->table->answers & GYRE_TABLE_ANSWERS))
        return failed_with(GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    return did;
}

/* Reads what the handler did with message i, and judges whether it may. */
static struct outcome judge(const gyre_resident *resident, uint32_t i, const struct opencl_message *message)
{
    const gyre_slot *answer = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    const char *astray = NULL;
    struct outcome did = {.replied = answer->info == GYRE_OUTCOME_REPLY};
    if (answer->info == GYRE_OUTCOME_FAILED) {
        const gyre_failure *failure = (const gyre_failure *)(const void *)(answer + 1);
        return failed_with(failure->code, failure->text);
    }
    if (!did.replied && answer->info != GYRE_OUTCOME_NO_REPLY)
        return failed_with(GYRE_FAILURE_OUTCOME, "the device completed it with no outcome");
    if (!message->in_flow)
        return judge_alone(resident, i, &did);
    did.sent = opencl_ports_count(resident, i, &astray);
    did.again = opencl_ports_again(resident, i);
    if (astray)
        return failed_with(GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
    if (message->origin & GYRE_ORIGIN_TAP)
        did.replied = false; /* thrown away: it is of no flow */
    return judge_talk(resident, i, message, did);
}

/* A message of no flow: nothing is counted or completed, and what it emitted goes its way. */
static void settle_tapped(gyre_resident *resident, const struct opencl_message *message, uint32_t i,
                          const struct outcome *did)
{
    publish(resident, i, did, GYRE_ORIGIN_NEXT(message->origin));
}

static void settle_in_flow(gyre_resident *resident, struct opencl_message *message, uint32_t i,
                           struct outcome *did)
{
    struct settling settling = settling_of(resident, message);
    settling.answer = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    if (!message->in_flow)
        complete_alone(resident, &settling, did);
    else if (message->origin & GYRE_ORIGIN_SOLE)
        settle_sole(resident, &settling, i, did);
    else
        settle_counted(resident, &settling, i, did);
}

bool opencl_flow_settle(gyre_resident *resident, uint32_t i)
{
    struct opencl_message *message = &resident->links->messages[i];
    struct outcome did = judge(resident, i, message);
    if (message->origin & GYRE_ORIGIN_TAP)
        settle_tapped(resident, message, i, &did);
    else
        settle_in_flow(resident, message, i, &did);
    message->again = did.again;
    return did.failed;
}

bool opencl_flow_has_way(const struct opencl_links *links, const struct opencl_message *message)
{
    if (message->in_flow)
        return links->table != NULL;
    return message->queue->memory && message->queue->serial == message->serial;
}
