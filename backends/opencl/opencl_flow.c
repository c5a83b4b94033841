/* SPDX-License-Identifier: Apache-2.0 */
/* Settles messages of stages (opencl_flow.h). Takes no lock. */
#include "opencl_admission.h"
#include "opencl_flow.h"
#include "opencl_link_ring.h"
#include "opencl_ports.h"

#include <limits.h>
#include <string.h>

#include "gyre/checksum.h"
#include "gyre/waiting.h"

/* ---- where a completion goes ---- */

/* A message that is being settled, and where the completion of its request goes. */
struct settling {
    const struct opencl_message *message;
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

static struct settling settling_of(const gyre_resident *resident, const struct opencl_message *message)
{
    struct settling settling = {.message = message};
    if (message->origin) {
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
        opencl_admission_give(settling->entry);
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

bool opencl_flow_begin(const gyre_link_entry *entry, gyre_u64 index)
{
    gyre_flow *flow = (gyre_flow *)link_at(entry->flows) + (index & (entry->slots.capacity - 1));
    if (entry->slots.foreign && __atomic_exchange_n(&flow->busy, 1, __ATOMIC_ACQUIRE))
        return false;
    flow->index = index;
    if (entry->slots.stamps_offset)
        flow->started_ns = gyre_clock_ns();
    return true;
}

/* What a handler did with a message. */
struct outcome {
    gyre_failure failure;
    bool failed, replied;
    uint32_t sent; /* messages that it emitted to links */
};

/* Ends a flow whose messages were counted, with its last message. */
static void end_flow(gyre_resident *resident, const struct settling *settling)
{
    const gyre_flow *flow = settling->flow;
    const gyre_u32 answers = __atomic_load_n(&flow->answers, __ATOMIC_RELAXED);
    const gyre_failure two = failure_of(GYRE_FAILURE_REPLIES, "two handlers replied to one request");
    if (__atomic_load_n(&flow->failures, __ATOMIC_RELAXED))
        complete_failed(resident, settling, &flow->failure);
    else if (answers > 1)
        complete_failed(resident, settling, &two);
    else
        complete(resident, settling, answers ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY,
                 answers ? flow->length : 0);
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
        complete(resident, settling, GYRE_OUTCOME_NO_REPLY, 0);
}

/* ---- quotas ---- */

#define OVER_TEXT "more messages alive than the quota allows"

static gyre_u32 quota_of(const struct settling *settling)
{
    const gyre_u32 quota = opencl_flow_head(settling->entry)->quota;
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

/* The only message of its flow: as long as it stays alone, nothing is counted. */
static void settle_sole(gyre_resident *resident, const struct settling *settling, uint32_t i,
                        const struct outcome *did)
{
    gyre_flow *flow = settling->flow;
    const gyre_u64 next = GYRE_ORIGIN_NEXT(settling->message->origin);
    const bool passes_on = did->sent == 1 && !did->replied;
    if (did->sent > quota_of(settling)) {
        const gyre_failure over = failure_of(GYRE_FAILURE_QUOTA, OVER_TEXT);
        complete_failed(resident, settling, &over);
        return;
    }
    if (did->sent && !passes_on) {
        flow->answers = flow->failures = flow->over = 0;
        __atomic_store_n(&flow->alive, did->sent, __ATOMIC_RELAXED);
        if (did->replied)
            note_reply(resident, settling);
    }
    if (!did->failed)
        opencl_ports_publish(resident, i, passes_on ? next | GYRE_ORIGIN_SOLE : next);
    if (!did->sent)
        complete_alone(resident, settling, did);
}

/* One message of several. Accounts for what it emitted before that is published, so that the flow cannot end too early. */
static void settle_counted(gyre_resident *resident, const struct settling *settling, uint32_t i,
                           const struct outcome *did)
{
    if (did->failed)
        note_failure(settling->flow, &did->failure);
    else if (did->replied)
        note_reply(resident, settling);
    const bool counted = did->sent < 2 || count_alive(settling, did->sent - 1);
    if (counted && !did->failed)
        opencl_ports_publish(resident, i, GYRE_ORIGIN_NEXT(settling->message->origin));
    if (!counted || did->sent == 0)
        count_out(resident, settling);
}

/* ---- settling ---- */

void opencl_flow_refuse(gyre_resident *resident, const struct opencl_message *message, gyre_i32 code,
                        const char *text)
{
    const struct settling settling = settling_of(resident, message);
    const gyre_failure failure = failure_of(code, text);
    complete_failed(resident, &settling, &failure);
}

void opencl_flow_drop(gyre_resident *resident, const struct opencl_message *message)
{
    const struct settling settling = settling_of(resident, message);
    complete(resident, &settling, GYRE_OUTCOME_DROPPED, 0);
}

void opencl_flow_pass_over(gyre_resident *resident, const struct opencl_message *message)
{
    const struct settling settling = settling_of(resident, message);
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
    for (uint32_t port = 0; port < resident->links->port_count; port++)
        any = any || counts[port];
    return any;
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
    if (!message->origin)
        return emits(resident, i)
                   ? failed_with(GYRE_FAILURE_PORT, "emitted, and the queue enters no pipeline")
                   : did;
    did.sent = opencl_ports_count(resident, i, &astray);
    if (astray)
        return failed_with(GYRE_FAILURE_PORT, "the handler emitted to a port without a link");
    if (message->origin & GYRE_ORIGIN_TAP)
        did.replied = false; /* thrown away: it is of no flow */
    if (did.replied && !resident->links->table->answers)
        return failed_with(GYRE_FAILURE_ANSWER, "replied, and is no answer of its pipeline");
    return did;
}

/* A message of no flow: nothing is counted or completed, and what it emitted goes its way. */
static bool settle_tapped(gyre_resident *resident, const struct opencl_message *message, uint32_t i)
{
    const struct outcome did = judge(resident, i, message);
    if (!did.failed)
        opencl_ports_publish(resident, i, GYRE_ORIGIN_NEXT(message->origin));
    return did.failed;
}

bool opencl_flow_settle(gyre_resident *resident, uint32_t i)
{
    const struct opencl_message *message = &resident->links->messages[i];
    if (message->origin & GYRE_ORIGIN_TAP)
        return settle_tapped(resident, message, i);
    struct settling settling = settling_of(resident, message);
    settling.answer = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    const struct outcome did = judge(resident, i, message);
    if (!message->origin)
        complete_alone(resident, &settling, &did);
    else if (message->origin & GYRE_ORIGIN_SOLE)
        settle_sole(resident, &settling, i, &did);
    else
        settle_counted(resident, &settling, i, &did);
    return did.failed;
}
