/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands replies of copied and gathered epochs to their clients: moves gathered replies from the stage into
 * their slots, and notes the times of both kinds. Takes no lock: only the pump's thread calls it. Never waits. A
 * client may be another program: what its slots say is not trusted.
 */
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_gathered.h"
#include "backends/opencl/epochs/opencl_replies.h"

#include <string.h>

#include "gyre/waiting.h"

enum {
    AHEAD = 8,  /* the cache line of the slot this many replies ahead is fetched early */
    CHUNK = 128 /* most replies that are handed out at once */
};

void opencl_stamp(const gyre_resident *resident, const struct opencl_epoch *epoch, uint32_t first,
                  uint32_t end, uint64_t now_ns)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    const gyre_u64 timed = resident->control->absences.timed, every = timed ? timed : 1;
    gyre_stamp *stamps =
        (gyre_stamp *)(void *)((unsigned char *)epoch->queue->memory->region + slots->stamps_offset);
    for (gyre_u64 index = (epoch->first + first + every - 1) & ~(every - 1); index < epoch->first + end;
         index += every)
        stamps[index & (slots->capacity - 1)] = (gyre_stamp){.sequence = index + 1,
                                                             .started_ns = epoch->start_ns,
                                                             .finished_ns = now_ns,
                                                             .sequence_again = index + 1};
}

/* ---- gathered ---- */

static const gyre_slot *staged_reply(const struct opencl_epoch *epoch, uint32_t i)
{
    return (const gyre_slot *)(const void *)(epoch->out.host + (size_t)i * epoch->queue->slots.reply_stride);
}

/*
 * Stores a reply back to back in the queue's bytes, where its room was reserved before. The length comes from
 * the stage, because the client can write the slot as well.
 */
static void store_elsewhere(const gyre_resident *resident, const struct opencl_epoch *epoch, uint32_t i,
                            gyre_slot *slot)
{
    const gyre_bridge *bridge = &epoch->queue->bridge;
    const uint32_t length = staged_reply(epoch, i)->length;
    unsigned char *region = (unsigned char *)epoch->queue->memory->region;
    gyre_bridge_words *words = (gyre_bridge_words *)(void *)(region + bridge->words_offset);
    gyre_bridge_track *track = (gyre_bridge_track *)(words + 1);
    const gyre_u64 head = track->head;
    const unsigned char *from =
        epoch->out.host + gathered_answers_at(epoch) + i * gathered_answer_stride(resident, epoch->queue);
    gyre_place place = {.position = head, .track = epoch->spare ? GYRE_TRACK_SPARE : 0};
    if (length <= GYRE_SLOT_SMALL_PAYLOAD) {
        memcpy(slot + 1, from, length);
        return;
    }
    memcpy(region + (epoch->spare ? bridge->spare_offset
                                  : bridge->reply_offset + GYRE_BRIDGE_AT(head, bridge->reply_bytes)),
           from, length);
    memcpy(slot + 1, &place, sizeof place);
    if (!epoch->spare)
        track->head = head + GYRE_BRIDGE_UNITS(length);
}

/*
 * Hands out reply number i of the epoch. Release: a client that acquires the sequence sees the whole reply.
 */
static void hand_out(const gyre_resident *resident, struct opencl_epoch *epoch, uint32_t i)
{
    const gyre_slot *from = staged_reply(epoch, i);
    const struct opencl_queue *queue = epoch->queue;
    const gyre_queue_slots *slots = &queue->slots;
    gyre_slot *slot = opencl_reply_slot(queue, epoch->first + i);
    unsigned char *region = (unsigned char *)queue->memory->region;
    if (slots->reply_stride == GYRE_LINE_SIZE)
        memcpy(&slot->length, &from->length, GYRE_LINE_SIZE - sizeof slot->sequence);
    else
        memcpy(&slot->length, &from->length, slots->reply_stride - sizeof slot->sequence);
    if (queue->bridge.reply_bytes && from->info == GYRE_OUTCOME_REPLY)
        store_elsewhere(resident, epoch, i, slot);
    if (slots->sealed)
        memcpy(region + GYRE_SEALS_OFFSET(slots) +
                   (GYRE_SEALS_ROUND(slots->capacity) + ((epoch->first + i) & (slots->capacity - 1))) *
                       sizeof(gyre_u32),
               epoch->out.host + gathered_reply_seals_at(epoch) + i * sizeof(gyre_u32), sizeof(gyre_u32));
    epoch->failed += from->info == GYRE_OUTCOME_FAILED;
    __atomic_store_n(&slot->sequence, epoch->first + i + 1, __ATOMIC_RELEASE);
}

bool opencl_is_staged(const struct opencl_epoch *epoch, uint32_t i)
{
    return staged_reply(epoch, i)->sequence == epoch->first + i + 1;
}

/*
 * Hands out the replies of an epoch in the stages of a direct device. A reply without an outcome means that
 * the device passed over a request which was answered before: its slot lacks at most the sequence.
 */
void opencl_deliver(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    const uint64_t now_ns = epoch->queue->slots.stamps_offset ? gyre_clock_ns() : 0;
    for (uint32_t i = 0; i < epoch->count; i++) {
        if (!opencl_is_staged(epoch, i))
            continue;
        if (staged_reply(epoch, i)->info == 0) {
            __atomic_store_n(&opencl_reply_slot(epoch->queue, epoch->first + i)->sequence,
                             epoch->first + i + 1, __ATOMIC_RELEASE); /* as in hand_out */
            continue;
        }
        if (now_ns)
            opencl_stamp(resident, epoch, i, i + 1, now_ns);
        hand_out(resident, epoch, i);
    }
}

/*
 * Returns the end of the replies that are there, from `first` on. Acquire: pairs with the kernel's fence
 * before the mark.
 */
static uint32_t end_of_ready(const struct opencl_epoch *epoch, uint32_t first)
{
    const uint32_t most = first + opencl_least(CHUNK, epoch->count - first);
    uint32_t end = first;
    while (end < most &&
           __atomic_load_n(&staged_reply(epoch, end)->sequence, __ATOMIC_ACQUIRE) == epoch->mark)
        end++;
    return end;
}

/*
 * Hands out the replies that are there, at most CHUNK. Goes from the last to the first, because the client
 * polls the first, whose cache line so moves only once. Replies stored back to back go forwards, because
 * their bytes are allotted in the order of requests. Returns whether there was any reply.
 */
bool opencl_hand_out(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    const uint32_t first = epoch->handed_out, end = end_of_ready(epoch, first);
    const uint64_t now_ns = epoch->queue->slots.stamps_offset && end > first ? gyre_clock_ns() : 0;
    const bool forwards = epoch->queue->bridge.reply_bytes != 0;
    if (now_ns)
        opencl_stamp(resident, epoch, first, end, now_ns);
    for (uint32_t k = 0; k < end - first; k++) {
        const uint32_t i = forwards ? first + k : end - 1 - k;
        opencl_want_line(opencl_reply_slot(epoch->queue, epoch->first + (forwards ? i + AHEAD : i - AHEAD)));
        hand_out(resident, epoch, i);
    }
    epoch->handed_out = end;
    return end > first;
}
