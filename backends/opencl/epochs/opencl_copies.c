/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs epochs (batches of requests) by copies. The slots are written to the device and read back into the
 * ring itself. In the device's copies a mark stands in place of the sequences; the sequences are stored here,
 * in order. Every place for an epoch has its own command queue and copies, so one epoch's transfers overlap
 * another epoch's kernel. Takes no lock: only the pump's thread calls it. Never waits, except while the table
 * of handles is copied.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/epochs/opencl_commands.h"
#include "backends/opencl/epochs/opencl_copies.h"
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_replies.h"
#include "backends/opencl/epochs/opencl_stage.h"

#include "gyre/waiting.h"

enum { STAGE_BYTES = 8 << 20 /* bytes of an epoch's copies, unless a slot is larger */ };

/* ---- there ---- */

static gyre_status grow_copy(gyre_resident *resident, cl_mem *memory, size_t *size, size_t wanted)
{
    const struct opencl_loader *cl = resident->device->cl;
    cl_int code;
    if (*size >= wanted)
        return GYRE_OK;
    if (*memory)
        cl->clReleaseMemObject(*memory);
    resident->bound_queue = NULL; /* another object may get the same address */
    *memory = cl->clCreateBuffer(resident->device->context, CL_MEM_READ_WRITE, wanted, NULL, &code);
    *size = code == CL_SUCCESS ? wanted : 0;
    return opencl_commanded(resident, code, "clCreateBuffer");
}

/* Returns how many slots of the ring lie together, up to the ring's end; this may be less than `count`. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count)
{
    const gyre_queue_slots *ring = &queue->slots;
    const uint32_t stride =
        ring->request_stride > ring->reply_stride ? ring->request_stride : ring->reply_stride;
    count = opencl_least(STAGE_BYTES / stride ? STAGE_BYTES / stride : 1, count);
    return opencl_least(ring->capacity - (queue->next & (ring->capacity - 1)), count);
}

static size_t replies_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.reply_stride;
}

/* Returns where the queue has the checksums of the epoch's requests, or of its replies. */
static unsigned char *seals_of(const struct opencl_epoch *epoch, bool of_replies)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    const gyre_u64 place = epoch->first & (slots->capacity - 1);
    const gyre_u64 before = of_replies ? GYRE_SEALS_ROUND(slots->capacity) : 0;
    return (unsigned char *)epoch->queue->memory->region + GYRE_SEALS_OFFSET(slots) +
           (before + place) * sizeof(gyre_u32);
}

/*
 * Enqueues the write of an epoch's requests and, after them, their headers and checksums. `written` (may be
 * NULL) receives the last write's event.
 */
static gyre_status upload_requests(gyre_resident *resident, struct opencl_epoch *epoch, cl_event *written)
{
    const struct opencl_queue *queue = epoch->queue;
    const gyre_u64 place = epoch->first & (queue->slots.capacity - 1);
    const unsigned char *headers = (unsigned char *)queue->memory->region + queue->slots.headers_offset;
    const struct {
        const void *from;
        size_t size;
    } pieces[] = {{opencl_request_slot(queue, epoch->first), opencl_slots_size(epoch)},
                  {headers + place * queue->slots.header_size, opencl_headers_size(epoch)},
                  {queue->slots.sealed ? seals_of(epoch, false) : NULL, opencl_seals_size(epoch)}};
    const size_t last = pieces[2].size ? 2 : pieces[1].size ? 1 : 0;
    size_t offset = 0;
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i <= last && code == CL_SUCCESS; offset += pieces[i++].size)
        if (pieces[i].size)
            code = resident->device->cl->clEnqueueWriteBuffer(epoch->commands, epoch->requests, CL_FALSE,
                                                              offset, pieces[i].size, pieces[i].from, 0, NULL,
                                                              i == last ? written : NULL);
    return opencl_commanded(resident, code, "clEnqueueWriteBuffer");
}

/*
 * Enqueues the read of the checksums of the replies, then of the replies. `done` receives the last read's
 * event.
 */
static gyre_status download_replies(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const struct opencl_loader *cl = resident->device->cl;
    cl_int code = CL_SUCCESS;
    if (opencl_seals_size(epoch))
        code = cl->clEnqueueReadBuffer(epoch->commands, epoch->replies, CL_FALSE, replies_size(epoch),
                                       opencl_seals_size(epoch), seals_of(epoch, true), 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = cl->clEnqueueReadBuffer(epoch->commands, epoch->replies, CL_FALSE, 0, replies_size(epoch),
                                       opencl_reply_slot(epoch->queue, epoch->first), 0, NULL, &epoch->done);
    if (code == CL_SUCCESS)
        code = cl->clFlush(epoch->commands);
    return opencl_commanded(resident, code, "clEnqueueReadBuffer");
}

static gyre_status prepare_copies(gyre_resident *resident, struct opencl_epoch *epoch, size_t in_size,
                                  size_t out_size)
{
    gyre_status status = opencl_copy_handles(resident);
    if (status == GYRE_OK)
        status = grow_copy(resident, &epoch->requests, &epoch->requests_size, opencl_stage_room(in_size));
    if (status == GYRE_OK)
        status = grow_copy(resident, &epoch->replies, &epoch->replies_size, opencl_stage_room(out_size));
    return status == GYRE_OK ? opencl_set_slots(resident, epoch->requests, epoch->replies) : status;
}

gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const struct opencl_loader *cl = resident->device->cl;
    const struct opencl_settings *settings = &resident->device->settings;
    const cl_event former = opencl_former(resident);
    const size_t in_size = opencl_slots_size(epoch) + opencl_headers_size(epoch) + opencl_seals_size(epoch);
    const size_t out_size = replies_size(epoch) + opencl_seals_size(epoch);
    opencl_turn_blocks(resident, epoch);
    gyre_status status = prepare_copies(resident, epoch, in_size, out_size);
    if (status == GYRE_OK)
        status = upload_requests(resident, epoch, settings->profile ? &epoch->written : NULL);
    if (status == GYRE_OK &&
        resident->in_flight == 0) /* a client that waits alone waits less when the device begins now */
        status = opencl_commanded(resident, cl->clFlush(epoch->commands), "clFlush");
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, epoch, former, opencl_tells_run(resident) ? &epoch->ran : NULL);
    return status == GYRE_OK ? download_replies(resident, epoch) : status;
}

/* ---- back ---- */

/*
 * Completes the epoch. The replies are in the ring, except their sequences, which clients wait for: release
 * pairs with the clients' acquire.
 */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed)
{
    const uint64_t now_ns = gyre_clock_ns();
    if (epoch->queue->slots.stamps_offset)
        opencl_stamp(resident, epoch, 0, epoch->count, now_ns);
    for (uint32_t i = 0; i < epoch->count; i++) {
        gyre_slot *out = opencl_reply_slot(epoch->queue, epoch->first + i);
        if (out->sequence != epoch->mark)
            return opencl_lose(resident->device, CL_INVALID_VALUE, "completing a message");
        *failed += out->info == GYRE_OUTCOME_FAILED;
        __atomic_store_n(&out->sequence, epoch->first + i + 1, __ATOMIC_RELEASE);
    }
    return GYRE_OK;
}
