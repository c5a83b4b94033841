/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs of gathered messages: requests are packed into a stage, and replies handed out of one, by the pump.
 * Small messages go this way where kernels reach the stage: an epoch is one command then, and each reply goes
 * out as soon as its mark shows. So do queues whose messages are stored back to back, on any device that does
 * not work in them: a request's bytes lie behind all slots, and each reply has a place of the largest size.
 *
 * No locks: the pump's thread alone, but for replies while the courier has them. Must not wait. A client may be
 * another program: what its slots say is read once, and never trusted to fit.
 */
#include "opencl_courier.h"
#include "opencl_epoch.h"
#include "opencl_stage.h"
#include "opencl_wait.h"

#include <string.h>

#include "gyre/waiting.h"

enum {
    STAGE_BYTES = 8 << 20, /* of an epoch's messages, if one is not larger */
    SMALL_STRIDE = 256,    /* slots that the pump copies faster than a command does */
    SMALL_EPOCH = 65536,   /* bytes of slots, likewise */
    AHEAD = 8,             /* replies whose slots are asked for before they are written */
    CHUNK = 128,           /* replies that are handed out at once */
    LOOKS = 4096           /* without a reply, before the kernel is asked whether it ended */
};

/* ---- where what lies ---- */

static const gyre_bridge *bridge_of(const struct opencl_epoch *epoch)
{
    return &epoch->queue->bridge;
}

static size_t round_up(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static size_t headers_at(const struct opencl_epoch *epoch)
{
    return opencl_slots_size(epoch);
}

static size_t seals_at(const struct opencl_epoch *epoch)
{
    return headers_at(epoch) + opencl_headers_size(epoch);
}

/* The bytes of requests that do not lie in their slots. */
static size_t bodies_at(const struct opencl_epoch *epoch)
{
    return round_up(seals_at(epoch) + opencl_seals_size(epoch));
}

static size_t reply_seals_at(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.reply_stride;
}

static size_t answers_at(const struct opencl_epoch *epoch)
{
    return round_up(reply_seals_at(epoch) + opencl_seals_size(epoch));
}

/* From one reply's place to the next; 0: replies lie in their slots. */
static size_t answer_stride(const gyre_resident *resident, const struct opencl_queue *queue)
{
    return queue->bridge.reply_bytes ? GYRE_BRIDGE_UNITS(resident->kernel->record.reply->size) : 0;
}

static size_t out_size(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    return answers_at(epoch) + epoch->count * answer_stride(resident, epoch->queue);
}

void opencl_gather_describe(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    const size_t stride = answer_stride(resident, epoch->queue);
    told->mark = epoch->mark;
    told->fenced = resident->device->create_reachable != NULL;
    told->headers_offset = slots->header_size ? headers_at(epoch) : 0;
    told->seals_offset = slots->sealed ? seals_at(epoch) : 0;
    told->reply_seals_offset = reply_seals_at(epoch);
    told->bridge = (gyre_bridge){.request_bytes = bridge_of(epoch)->request_bytes,
                                 .reply_offset = answers_at(epoch),
                                 .reply_bytes = (uint32_t)stride,
                                 .reply_stride = (uint32_t)stride};
}

/* ---- what goes this way ---- */

bool opencl_gathers(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count)
{
    const gyre_queue_slots *slots = &queue->slots;
    if (queue->bridge.words_offset)
        return true;
    return resident->device->create_reachable && slots->request_stride <= SMALL_STRIDE &&
           slots->reply_stride <= SMALL_STRIDE && (uint64_t)count * slots->request_stride <= SMALL_EPOCH;
}

static bool is_elsewhere(const struct opencl_queue *queue, uint32_t length)
{
    return queue->bridge.request_bytes && length > GYRE_SLOT_SMALL_PAYLOAD;
}

/* What a request of that length takes behind the slots; one that is too long is refused and takes nothing. */
static size_t body_size(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t length)
{
    const bool there =
        is_elsewhere(queue, length) && length <= (uint64_t)resident->kernel->record.request->size;
    return there ? GYRE_BRIDGE_UNITS(length) : 0;
}

uint32_t opencl_gather_fit(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count)
{
    const size_t stride = answer_stride(resident, queue);
    size_t bodies = 0;
    if (stride)
        count = opencl_least(STAGE_BYTES / stride ? STAGE_BYTES / stride : 1, count);
    for (uint32_t i = 0; i < count && queue->bridge.request_bytes; i++) {
        bodies += body_size(resident, queue, opencl_request_length(queue, queue->next + i));
        if (bodies > STAGE_BYTES && i > 0)
            return i;
    }
    return count;
}

/* ---- there ---- */

/* Copies what lies at `from`, `stride` bytes a message, from the epoch's first place on, around the ring's end. */
static void gather_row(const struct opencl_epoch *epoch, unsigned char *to, const unsigned char *from,
                       size_t stride)
{
    const gyre_u64 capacity = epoch->queue->slots.capacity, place = epoch->first & (capacity - 1);
    const size_t head = opencl_least(capacity - place, epoch->count);
    memcpy(to, from + place * stride, head * stride);
    memcpy(to + head * stride, from, (epoch->count - head) * stride);
}

static void gather_slots(const struct opencl_epoch *epoch)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    const unsigned char *region = (const unsigned char *)epoch->queue->memory->region;
    gather_row(epoch, epoch->in.host, region + slots->request_offset, slots->request_stride);
    if (slots->header_size)
        gather_row(epoch, epoch->in.host + headers_at(epoch), region + slots->headers_offset,
                   slots->header_size);
    if (slots->sealed)
        gather_row(epoch, epoch->in.host + seals_at(epoch), region + GYRE_SEALS_OFFSET(slots),
                   sizeof(gyre_u32));
}

static size_t bodies_size(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    size_t size = 0;
    for (uint32_t i = 0; i < epoch->count && bridge_of(epoch)->request_bytes; i++)
        size += body_size(resident, epoch->queue, opencl_request_length(epoch->queue, epoch->first + i));
    return size;
}

/*
 * The slots were copied: from here on only the copies count. A slot whose client made it longer meanwhile
 * does not fit, and is refused like every wrong length. Returns the stage's bytes in use.
 */
static size_t gather_bodies(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const gyre_bridge *bridge = bridge_of(epoch);
    const unsigned char *ring = (const unsigned char *)epoch->queue->memory->region + bridge->request_offset;
    size_t at = bodies_at(epoch);
    for (uint32_t i = 0; i < epoch->count && bridge->request_bytes; i++) {
        gyre_slot *slot =
            (gyre_slot *)(void *)(epoch->in.host + (size_t)i * epoch->queue->slots.request_stride);
        gyre_place *place = (gyre_place *)(void *)(slot + 1);
        if (!is_elsewhere(epoch->queue, slot->length))
            continue;
        const size_t size = body_size(resident, epoch->queue, slot->length);
        if (size == 0 || at + size > epoch->in.size) {
            slot->length = 0; /* the kernel fails it: no type is of no bytes */
            continue;
        }
        memcpy(epoch->in.host + at, ring + GYRE_BRIDGE_AT(place->position, bridge->request_bytes),
               slot->length);
        place->position = at;
        at += size;
    }
    return at;
}

static gyre_status prepare(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const gyre_device *device = resident->device;
    gyre_status status = opencl_copy_handles(resident);
    if (status != GYRE_OK)
        return status;
    const cl_mem in = epoch->in.memory, out = epoch->out.memory;
    cl_int code = opencl_stage_grow(device, resident->compute, &epoch->in,
                                    bodies_at(epoch) + bodies_size(resident, epoch));
    if (code == CL_SUCCESS)
        code = opencl_stage_grow(device, resident->compute, &epoch->out, out_size(resident, epoch));
    if (epoch->in.memory != in || epoch->out.memory != out)
        resident->bound_queue = NULL; /* an address may come again */
    return opencl_commanded(resident, code, "making room for messages");
}

static gyre_status upload(const gyre_resident *resident, const struct opencl_epoch *epoch, size_t size)
{
    if (resident->device->create_reachable)
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueWriteBuffer(epoch->commands, epoch->in.memory,
                                                                       CL_FALSE, 0, size, epoch->in.host, 0,
                                                                       NULL, NULL),
                            "clEnqueueWriteBuffer");
}

static gyre_status download(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    if (resident->device->create_reachable)
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueReadBuffer(epoch->commands, epoch->out.memory,
                                                                      CL_FALSE, 0, out_size(resident, epoch),
                                                                      epoch->out.host, 0, NULL, &epoch->done),
                            "clEnqueueReadBuffer");
}

gyre_status opencl_gather_submit(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const bool reaches = resident->device->create_reachable != NULL;
    cl_event *const ran = opencl_tells_run(resident) ? reaches ? &epoch->done : &epoch->ran : NULL;
    const cl_event former = opencl_former(resident);
    epoch->handed_out = epoch->failed = epoch->looks = 0;
    /* relaxed: the courier may look; there is nothing yet that it could find */
    __atomic_store_n(&epoch->carried, OPENCL_CARRY_NOT, __ATOMIC_RELAXED);
    epoch->ended = false;
    gyre_status status = prepare(resident, epoch);
    if (status != GYRE_OK)
        return status;
    gather_slots(epoch);
    const size_t size = gather_bodies(resident, epoch);
    opencl_turn_blocks(resident, epoch);
    status = upload(resident, epoch, size);
    if (status == GYRE_OK)
        status = opencl_set_slots(resident, epoch->in.memory, epoch->out.memory);
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, epoch, former, ran);
    if (status == GYRE_OK)
        status = download(resident, epoch);
    if (status == GYRE_OK)
        status = opencl_commanded(resident, resident->device->cl->clFlush(epoch->commands), "clFlush");
    if (status == GYRE_OK && reaches)
        opencl_courier_give(resident, epoch);
    return status;
}

/* ---- back ---- */

static const gyre_slot *staged_reply(const struct opencl_epoch *epoch, uint32_t i)
{
    return (const gyre_slot *)(const void *)(epoch->out.host + (size_t)i * epoch->queue->slots.reply_stride);
}

/*
 * A reply of the place's own length, which the ring has room for: it was promised. How long it is says the stage;
 * the slot is the client's as well.
 */
static void store_elsewhere(const gyre_resident *resident, const struct opencl_epoch *epoch, uint32_t i,
                            gyre_slot *slot)
{
    const gyre_bridge *bridge = bridge_of(epoch);
    const uint32_t length = staged_reply(epoch, i)->length;
    unsigned char *region = (unsigned char *)epoch->queue->memory->region;
    gyre_bridge_words *words = (gyre_bridge_words *)(void *)(region + bridge->words_offset);
    gyre_bridge_track *track = (gyre_bridge_track *)(words + 1);
    const gyre_u64 head = track->head;
    const unsigned char *from =
        epoch->out.host + answers_at(epoch) + i * answer_stride(resident, epoch->queue);
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

/* Release: the client's acquire of the sequence finds everything else there. */
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
               epoch->out.host + reply_seals_at(epoch) + i * sizeof(gyre_u32), sizeof(gyre_u32));
    epoch->failed += from->info == GYRE_OUTCOME_FAILED;
    __atomic_store_n(&slot->sequence, epoch->first + i + 1, __ATOMIC_RELEASE);
}

/* The end of the replies that are there, from `first` on. Acquire: pairs with the kernel's fence before the
 * mark. */
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
 * From the last to the first, because the client looks at the first: its line goes back and forth once only.
 * What is allotted in a ring of bytes is so in the order of requests. Returns whether there was any.
 */
bool opencl_gather_hand_out(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    const uint32_t first = epoch->handed_out, end = end_of_ready(epoch, first);
    const uint64_t now_ns = epoch->queue->slots.stamps_offset && end > first ? gyre_clock_ns() : 0;
    const bool forwards = epoch->queue->bridge.reply_bytes != 0;
    for (uint32_t i = first; i < end && now_ns; i++)
        opencl_stamp(epoch, i, now_ns);
    for (uint32_t k = 0; k < end - first; k++) {
        const uint32_t i = forwards ? first + k : end - 1 - k;
        opencl_want_line(opencl_reply_slot(epoch->queue, epoch->first + (forwards ? i + AHEAD : i - AHEAD)));
        hand_out(resident, epoch, i);
    }
    epoch->handed_out = end;
    return end > first;
}

/* An epoch of which nobody asked for the event gets one behind it. */
static bool has_ended(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    const struct opencl_loader *cl = resident->device->cl;
    cl_int code = CL_SUCCESS;
    if (!epoch->done)
        code = cl->clEnqueueMarkerWithWaitList(epoch->commands, 0, NULL, &epoch->done);
    if (code == CL_SUCCESS)
        code = cl->clFlush(epoch->commands);
    return opencl_commanded(resident, code, "clEnqueueMarkerWithWaitList") != GYRE_OK ||
           opencl_is_over(resident->device, epoch->done);
}

bool opencl_gather_advance(gyre_resident *resident, struct opencl_epoch *epoch)
{
    if (!resident->device->create_reachable)
        return opencl_is_over(resident->device, epoch->done);
    epoch->looks++;
    if (!opencl_courier_has(epoch)) {
        while (opencl_gather_hand_out(resident, epoch))
            epoch->looks = 0;
        if (epoch->handed_out == epoch->count)
            return true;
    }
    if (epoch->looks % LOOKS == LOOKS - 1)
        epoch->ended = has_ended(resident, epoch);
    return epoch->ended;
}

gyre_status opencl_gather_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed)
{
    opencl_courier_recall(epoch);
    while (opencl_gather_hand_out(resident, epoch))
        ;
    *failed = epoch->failed;
    if (epoch->handed_out == epoch->count)
        return GYRE_OK;
    return opencl_lose(resident->device, CL_INVALID_VALUE, "completing a message");
}
