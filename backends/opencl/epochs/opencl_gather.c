/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs epochs (batches of requests) by gathering: requests are packed into a stage (memory for the device),
 * and replies handed out of another stage. Three kinds of messages go this way:
 * - Small messages where kernels reach the stage. An epoch is then one command, and each reply goes out as soon as its mark shows.
 * - Messages stored back to back, on any device that does not work in the queue itself. The bytes of such a request lie
 *   behind all slots of the stage, and each reply has a place of the largest size.
 * - Messages of other programs, on every device. The bytes that their clients write are copied once, here, and replies go
 *   out of the stage.
 *
 * Takes no lock: only the pump's thread calls it; opencl_replies.c hands out replies. Never waits. A client
 * may be another program, so its slots are read once, and their lengths are checked.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/epochs/opencl_commands.h"
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_gather.h"
#include "backends/opencl/epochs/opencl_gathered.h"
#include "backends/opencl/epochs/opencl_replies.h"
#include "backends/opencl/epochs/opencl_stage.h"
#include "backends/opencl/opencl_wait.h"

#include <string.h>

enum {
    STAGE_BYTES = 8 << 20, /* bytes of an epoch's messages, unless one message is larger */
    SMALL_STRIDE = 256,    /* size of slots that the pump copies faster than a command does */
    SMALL_EPOCH = 65536,   /* bytes of all slots that the pump copies faster */
    LOOKS = 4096           /* looks without a reply before the pump asks whether the kernel ended */
};

static const gyre_bridge *bridge_of(const struct opencl_epoch *epoch)
{
    return &epoch->queue->bridge;
}

/* ---- what goes this way ---- */

bool opencl_gathers(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count)
{
    const gyre_queue_slots *slots = &queue->slots;
    if (queue->bridge.words_offset || slots->foreign)
        return true;
    return resident->device->create_reachable && slots->request_stride <= SMALL_STRIDE &&
           slots->reply_stride <= SMALL_STRIDE && (uint64_t)count * slots->request_stride <= SMALL_EPOCH;
}

static bool is_elsewhere(const struct opencl_queue *queue, uint32_t length)
{
    return queue->bridge.request_bytes && length > GYRE_SLOT_SMALL_PAYLOAD;
}

/*
 * The bytes that a request of that length takes behind the slots. A request that is too long will be refused
 * and takes none.
 */
static size_t body_size(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t length)
{
    const bool there =
        is_elsewhere(queue, length) && length <= (uint64_t)resident->kernel->record.request->size;
    return there ? GYRE_BRIDGE_UNITS(length) : 0;
}

uint32_t opencl_gather_fit(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count)
{
    const size_t stride = gathered_answer_stride(resident, queue);
    const uint32_t slot = queue->slots.request_stride > queue->slots.reply_stride
                              ? queue->slots.request_stride
                              : queue->slots.reply_stride;
    size_t bodies = 0;
    if (queue->slots.foreign) /* messages of any size; each slot is copied whole */
        count = opencl_least(STAGE_BYTES / slot ? STAGE_BYTES / slot : 1, count);
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

/* Copies `stride` bytes for each message of the epoch out of a ring at `from`, around the ring's end. */
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
        gather_row(epoch, epoch->in.host + gathered_headers_at(epoch), region + slots->headers_offset,
                   slots->header_size);
    if (slots->sealed)
        gather_row(epoch, epoch->in.host + gathered_seals_at(epoch), region + GYRE_SEALS_OFFSET(slots),
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
 * Copies the bytes of requests behind the slots, which were copied before: from here on only the copies
 * count. If a client made its request longer meanwhile, the request does not fit and is refused like every
 * wrong length. Returns how many bytes of the stage are in use.
 */
static size_t gather_bodies(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const gyre_bridge *bridge = bridge_of(epoch);
    const unsigned char *ring = (const unsigned char *)epoch->queue->memory->region + bridge->request_offset;
    size_t at = gathered_bodies_at(epoch);
    for (uint32_t i = 0; i < epoch->count && bridge->request_bytes; i++) {
        gyre_slot *slot =
            (gyre_slot *)(void *)(epoch->in.host + (size_t)i * epoch->queue->slots.request_stride);
        gyre_place *place = (gyre_place *)(void *)(slot + 1);
        if (!is_elsewhere(epoch->queue, slot->length))
            continue;
        const size_t size = body_size(resident, epoch->queue, slot->length);
        if (size == 0 || at + size > epoch->in.size) {
            slot->length = 0; /* the kernel fails a request of length 0, which no type has */
            continue;
        }
        memcpy(epoch->in.host + at, ring + GYRE_BRIDGE_AT(place->position, bridge->request_bytes),
               slot->length);
        place->position = at;
        at += size;
    }
    return at;
}

static gyre_status prepare_stages(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const gyre_device *device = resident->device;
    gyre_status status = opencl_copy_handles(resident);
    if (status != GYRE_OK)
        return status;
    const cl_mem in = epoch->in.memory, out = epoch->out.memory;
    cl_int code = opencl_stage_grow(device, resident->compute, &epoch->in,
                                    gathered_bodies_at(epoch) + bodies_size(resident, epoch));
    if (code == CL_SUCCESS)
        code = opencl_stage_grow(device, resident->compute, &epoch->out, gathered_out_size(resident, epoch));
    if (epoch->in.memory != in || epoch->out.memory != out)
        resident->bound_queue = NULL; /* another object may get the same address */
    return opencl_commanded(resident, code, "making room for messages");
}

/* Whether the stages are memory that kernels reach. */
static bool reaches_stages(const gyre_resident *resident)
{
    return resident->device->direct || resident->device->create_reachable;
}

/*
 * Prepares the copied slots for a direct device. The device waits at a request until its sequence is there,
 * so the copy gets the sequence, whatever the client has done to the slot since. The device passes over
 * requests that an epoch had completed before it was called off.
 */
static void set_sequences(struct opencl_epoch *epoch)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    for (uint32_t i = 0; i < epoch->count; i++) {
        const gyre_u64 index = epoch->first + i;
        gyre_slot *in = (gyre_slot *)(void *)(epoch->in.host + (size_t)i * slots->request_stride);
        gyre_slot *out = (gyre_slot *)(void *)(epoch->out.host + (size_t)i * slots->reply_stride);
        in->sequence = index + 1;
        out->sequence =
            index < epoch->queue->redo_end
                ? __atomic_load_n(&opencl_reply_slot(epoch->queue, index)->sequence, __ATOMIC_RELAXED)
                : 0;
        epoch->repeated += out->sequence == index + 1;
    }
}

/*
 * Zeroes the stage of replies that other programs get, because a handler may leave bytes of a reply
 * unwritten.
 */
static gyre_status zero_replies(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const size_t size = gathered_out_size(resident, epoch);
    const cl_uchar zero = 0;
    if (!epoch->queue->slots.foreign)
        return GYRE_OK;
    memset(epoch->out.host, 0, size);
    if (reaches_stages(resident))
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueFillBuffer(epoch->commands, epoch->out.memory,
                                                                      &zero, sizeof zero, 0, size, 0, NULL,
                                                                      NULL),
                            "clEnqueueFillBuffer");
}

static gyre_status upload_requests(const gyre_resident *resident, const struct opencl_epoch *epoch,
                                   size_t size)
{
    if (reaches_stages(resident))
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueWriteBuffer(epoch->commands, epoch->in.memory,
                                                                       CL_FALSE, 0, size, epoch->in.host, 0,
                                                                       NULL, NULL),
                            "clEnqueueWriteBuffer");
}

static gyre_status download_replies(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    if (reaches_stages(resident))
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueReadBuffer(
                                epoch->commands, epoch->out.memory, CL_FALSE, 0,
                                gathered_out_size(resident, epoch), epoch->out.host, 0, NULL, &epoch->done),
                            "clEnqueueReadBuffer");
}

gyre_status opencl_gather_submit(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const bool direct = resident->device->direct;
    cl_event *const tells = reaches_stages(resident) ? &epoch->done : &epoch->ran;
    cl_event *const ran = direct || opencl_tells_run(resident) ? tells : NULL;
    cl_command_queue commands = direct ? resident->compute : epoch->commands;
    const cl_event former = opencl_former(resident);
    epoch->handed_out = epoch->failed = epoch->looks = 0;
    epoch->ended = false;
    gyre_status status = prepare_stages(resident, epoch);
    if (status != GYRE_OK)
        return status;
    gather_slots(epoch);
    const size_t size = gather_bodies(resident, epoch);
    opencl_turn_blocks(resident, epoch);
    status = zero_replies(resident, epoch);
    if (direct)
        set_sequences(epoch);
    if (status == GYRE_OK)
        status = upload_requests(resident, epoch, size);
    if (status == GYRE_OK)
        status = opencl_set_slots(resident, epoch->in.memory, epoch->out.memory);
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, epoch, former, ran);
    if (status == GYRE_OK)
        status = download_replies(resident, epoch);
    if (status == GYRE_OK)
        status = opencl_commanded(resident, resident->device->cl->clFlush(commands), "clFlush");
    return status;
}

/* ---- back ---- */

/* Whether the epoch's commands have ended. An epoch without an event gets a marker behind it. */
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
    while (opencl_hand_out(resident, epoch))
        epoch->looks = 0;
    if (epoch->handed_out == epoch->count)
        return true;
    if (epoch->looks % LOOKS == LOOKS - 1)
        epoch->ended = has_ended(resident, epoch);
    return epoch->ended;
}

gyre_status opencl_gather_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed)
{
    while (opencl_hand_out(resident, epoch))
        ;
    *failed = epoch->failed;
    if (epoch->handed_out == epoch->count)
        return GYRE_OK;
    return opencl_lose(resident->device, CL_INVALID_VALUE, "completing a message");
}
