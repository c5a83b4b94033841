/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs: from requests in a queue to completions in it. A direct device works in the queue's slots and
 * stores the sequences itself; for others the slots are written to the device and read back, and the
 * sequences are stored here. No locks: the pump's thread alone. Must not wait but in opencl_collect,
 * opencl_warm_up and for the table of handles.
 */
#include "opencl_resident.h"
#include "opencl_wait.h"

#include <limits.h>
#include <string.h>

#include "gyre/waiting.h"

enum {
    ARGUMENT_EPOCH = 0,
    ARGUMENT_REQUESTS = 1,
    ARGUMENT_REPLIES = 2,
    OVERHEAD_NS = 10000,  /* of an epoch, whatever it holds */
    SHORT_BYTES = 16384,  /* what is not worth commands in several queues */
    STAGE_BYTES = 8 << 20 /* of an epoch's copies, if a slot is not larger */
};

static gyre_slot *slot(const struct opencl_queue *queue, gyre_u64 offset, uint32_t stride, gyre_u64 index)
{
    unsigned char *base = (unsigned char *)queue->memory->region + offset;
    return (gyre_slot *)(void *)(base + (index & (queue->slots.capacity - 1)) * stride);
}

static gyre_slot *request_slot(const struct opencl_queue *queue, gyre_u64 index)
{
    return slot(queue, queue->slots.request_offset, queue->slots.request_stride, index);
}

static gyre_slot *reply_slot(const struct opencl_queue *queue, gyre_u64 index)
{
    return slot(queue, queue->slots.reply_offset, queue->slots.reply_stride, index);
}

/* Pairs with the client's release of the sequence. */
static bool request_ready(const struct opencl_queue *queue, gyre_u64 index)
{
    return __atomic_load_n(&request_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/*
 * Clients fill slots batch by batch, and a batch from its last slot to its first. So one that is there has
 * most of those before it there too, but for the head of a batch that is being published. A direct lane waits
 * at such a slot itself, for moments, and a few looks are enough to find the end; they leave the other lines
 * where the device will want them.
 */
static uint32_t guess_ready(const struct opencl_queue *queue, uint32_t most)
{
    uint32_t there = 1, step = 1;
    if (request_ready(queue, queue->next + most - 1))
        return most;
    while (there + step < most && request_ready(queue, queue->next + there + step - 1)) {
        there += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        while (there + step < most && request_ready(queue, queue->next + there + step - 1))
            there += step;
    return there;
}

/* By a worker that died since: its reply is complete and stays as it is. */
static bool is_answered(const struct opencl_queue *queue, gyre_u64 index)
{
    const gyre_slot *request = request_slot(queue, index);
    return request->length == GYRE_LENGTH_ANSWERED && request->info == GYRE_REQUEST_ANSWERED;
}

/*
 * What is copied has to be there, and so has what the lanes of a block go into together. An epoch of copies
 * reads all its replies back, so what is answered is in none.
 */
static uint32_t count_ready(const struct opencl_queue *queue, uint32_t most)
{
    uint32_t there = 1;
    while (there < most && request_ready(queue, queue->next + there) &&
           !is_answered(queue, queue->next + there))
        there++;
    return there;
}

uint32_t opencl_ready(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most)
{
    const uint64_t capacity = queue->slots.capacity;
    while (!resident->device->direct && request_ready(queue, queue->next) && is_answered(queue, queue->next))
        queue->next++;
    if (!request_ready(queue, queue->next))
        return 0;
    if (most > capacity)
        most = (uint32_t)capacity;
    most = opencl_bridge_fit(resident, queue, most);
    if (most == 0)
        return 0;
    const bool waits = resident->device->direct && resident->kernel->record.form != GYRE_FORM_BLOCK;
    return waits ? guess_ready(queue, most) : count_ready(queue, most);
}

/* Bytes of an epoch's request slots. */
static size_t slots_size(const struct opencl_epoch *epoch)
{
    return (size_t)epoch->count * epoch->queue->slots.request_stride;
}

/* ---- the arguments ---- */

static gyre_epoch describe(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    gyre_epoch told;
    opencl_describe(resident, &told);
    told.first = epoch->first;
    told.command = epoch->command;
    told.count = epoch->count;
    if (!epoch->queue)
        return told;
    gyre_queue_region *region = epoch->queue->memory->region;
    /* relaxed: it says which messages nobody wants any more; when that is seen is of no matter */
    told.drop_before = __atomic_load_n(&region->host.drop_before, __ATOMIC_RELAXED);
    const gyre_queue_slots *slots = &epoch->queue->slots;
    told.request_stride = slots->request_stride;
    told.reply_stride = slots->reply_stride;
    told.header_size = slots->header_size;
    if (resident->device->direct) {
        told.redo_end = epoch->queue->redo_end;
        told.start = epoch->first;
        told.mask = slots->capacity - 1;
        told.request_offset = slots->request_offset;
        told.reply_offset = slots->reply_offset;
        told.stamps_offset = slots->stamps_offset;
        told.headers_offset = slots->headers_offset;
        told.bridge = epoch->queue->bridge;
        told.spare = epoch->spare;
    } else if (told.header_size) {
        told.headers_offset = slots_size(epoch); /* as submit_staged copies them */
    }
    return told;
}

/* ---- commands ---- */

static gyre_status lose(const gyre_resident *resident, cl_int code, const char *call)
{
    return code == CL_SUCCESS ? GYRE_OK : opencl_lose(resident->device, code, call);
}

static gyre_status set_slots(gyre_resident *resident, cl_mem requests, cl_mem replies)
{
    const struct opencl_loader *cl = resident->device->cl;
    if (resident->bound_queue == requests)
        return GYRE_OK;
    cl_int code = cl->clSetKernelArg(resident->entry, ARGUMENT_REQUESTS, sizeof requests, &requests);
    if (code == CL_SUCCESS)
        code = cl->clSetKernelArg(resident->entry, ARGUMENT_REPLIES, sizeof replies, &replies);
    resident->bound_queue = code == CL_SUCCESS ? requests : NULL;
    return lose(resident, code, "clSetKernelArg");
}

/* The kernel itself, after the event `written` if there is one; `ran` receives its event. */
static gyre_status enqueue(gyre_resident *resident, const struct opencl_epoch *epoch, cl_event *ran)
{
    const struct opencl_loader *cl = resident->device->cl;
    size_t global, local;
    gyre_epoch told = describe(resident, epoch);
    opencl_shape(resident, epoch->promised, &told, &global, &local);
    cl_int code = cl->clSetKernelArg(resident->entry, ARGUMENT_EPOCH, sizeof told, &told);
    if (code != CL_SUCCESS)
        return lose(resident, code, "clSetKernelArg");
    code = cl->clEnqueueNDRangeKernel(resident->compute, resident->entry, 1, NULL, &global, &local,
                                      epoch->written ? 1 : 0, epoch->written ? &epoch->written : NULL, ran);
    return lose(resident, code, "clEnqueueNDRangeKernel");
}

static gyre_status grow(gyre_resident *resident, cl_mem *memory, size_t *size, size_t wanted)
{
    const struct opencl_loader *cl = resident->device->cl;
    cl_int code;
    if (*size >= wanted)
        return GYRE_OK;
    if (*memory)
        cl->clReleaseMemObject(*memory);
    resident->bound_queue = NULL; /* an address may come again */
    *memory = cl->clCreateBuffer(resident->device->context, CL_MEM_READ_WRITE, wanted, NULL, &code);
    *size = code == CL_SUCCESS ? wanted : 0;
    return lose(resident, code, "clCreateBuffer");
}

/* Consecutive slots of the ring, as far as its end: less than asked for when it lies between. */
static uint32_t fit_stage(const struct opencl_queue *queue, uint32_t count)
{
    const gyre_queue_slots *ring = &queue->slots;
    const uint32_t stride =
        ring->request_stride > ring->reply_stride ? ring->request_stride : ring->reply_stride;
    count = opencl_least(STAGE_BYTES / stride ? STAGE_BYTES / stride : 1, count);
    return opencl_least(ring->capacity - (queue->next & (ring->capacity - 1)), count);
}

/* Room that serves most epochs, so that it is seldom made anew. */
static size_t stage_size(size_t wanted)
{
    size_t size = 65536;
    while (size < wanted)
        size *= 2;
    return size;
}

/*
 * The core names a buffer in the table before a message can carry the name, and tells nobody. A device that
 * does not see the table gets it anew when it has changed.
 */
static gyre_status copy_handles(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    const gyre_control_handle *table = GYRE_CONTROL_HANDLES(resident->control, resident->blocks);
    const size_t size = GYRE_HANDLES_MAX * sizeof *table;
    if (!resident->handles || memcmp(resident->handles, table, size) == 0)
        return GYRE_OK;
    memcpy(resident->handles, table, size);
    gyre_status status = opencl_name_buffers(device, resident->entry, resident->handles);
    if (status != GYRE_OK)
        return opencl_lose(device, CL_INVALID_VALUE, "clSetKernelExecInfo");
    cl_event event = NULL;
    cl_int code = device->cl->clEnqueueWriteBuffer(resident->compute, resident->control_memory, CL_FALSE, 0,
                                                   size, resident->handles, 0, NULL, &event);
    return lose(resident, opencl_finish(device, resident->compute, code, &event), "clEnqueueWriteBuffer");
}

/* The requests of an epoch and, behind them, their headers;
 * `written` (may be NULL) is the last one's event. */
static gyre_status upload_requests(gyre_resident *resident, struct opencl_epoch *epoch,
                                   cl_command_queue upload, cl_event *written)
{
    const struct opencl_loader *cl = resident->device->cl;
    const struct opencl_queue *queue = epoch->queue;
    const uint32_t size = queue->slots.header_size;
    const gyre_u64 place = epoch->first & (queue->slots.capacity - 1);
    const unsigned char *headers = (unsigned char *)queue->memory->region + queue->slots.headers_offset;
    cl_int code = cl->clEnqueueWriteBuffer(upload, epoch->requests, CL_FALSE, 0, slots_size(epoch),
                                           request_slot(queue, epoch->first), 0, NULL, size ? NULL : written);
    if (code == CL_SUCCESS && size)
        code =
            cl->clEnqueueWriteBuffer(upload, epoch->requests, CL_FALSE, slots_size(epoch),
                                     (size_t)epoch->count * size, headers + place * size, 0, NULL, written);
    return lose(resident, code, "clEnqueueWriteBuffer");
}

/* Write, run, read: in one command queue when it is little, else in three, so that epochs overlap. */
static gyre_status submit_staged(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const struct opencl_loader *cl = resident->device->cl;
    const struct opencl_queue *queue = epoch->queue;
    const size_t in_size = slots_size(epoch) + (size_t)epoch->count * queue->slots.header_size;
    const size_t out_size = (size_t)epoch->count * queue->slots.reply_stride;
    const bool alone = resident->in_flight == 0 && in_size + out_size <= SHORT_BYTES;
    cl_command_queue upload = alone ? resident->compute : resident->upload;
    cl_command_queue download = alone ? resident->compute : resident->download;
    gyre_status status = copy_handles(resident);
    if (status == GYRE_OK)
        status = grow(resident, &epoch->requests, &epoch->requests_size, stage_size(in_size));
    if (status == GYRE_OK)
        status = grow(resident, &epoch->replies, &epoch->replies_size, stage_size(out_size));
    if (status == GYRE_OK)
        status = set_slots(resident, epoch->requests, epoch->replies);
    if (status != GYRE_OK)
        return status;
    cl_event *written = alone && !resident->device->settings.profile ? NULL : &epoch->written;
    cl_event *ran = alone && !resident->device->settings.profile ? NULL : &epoch->ran;
    status = upload_requests(resident, epoch, upload, written);
    if (status == GYRE_OK && !alone)
        status = lose(resident, cl->clFlush(upload), "clFlush");
    if (status == GYRE_OK)
        status = enqueue(resident, epoch, ran);
    if (status != GYRE_OK)
        return status;
    if (!alone)
        cl->clFlush(resident->compute);
    cl_int code = cl->clEnqueueReadBuffer(download, epoch->replies, CL_FALSE, 0, out_size,
                                          reply_slot(queue, epoch->first), epoch->ran ? 1 : 0,
                                          epoch->ran ? &epoch->ran : NULL, &epoch->done);
    if (code == CL_SUCCESS)
        code = cl->clFlush(download);
    return lose(resident, code, "clEnqueueReadBuffer");
}

static gyre_status submit_direct(gyre_resident *resident, struct opencl_epoch *epoch)
{
    cl_mem memory = epoch->queue->memory->memory;
    gyre_status status = set_slots(resident, memory, memory);
    if (status == GYRE_OK)
        status = enqueue(resident, epoch, &epoch->done);
    if (status == GYRE_OK)
        status = lose(resident, resident->device->cl->clFlush(resident->compute), "clFlush");
    return status;
}

/* How many of the epoch's requests an epoch that was called off had completed. */
static uint32_t count_repeated(const struct opencl_epoch *epoch)
{
    uint32_t complete = 0;
    for (uint32_t i = 0; i < epoch->count && epoch->first + i < epoch->queue->redo_end; i++)
        complete += __atomic_load_n(&reply_slot(epoch->queue, epoch->first + i)->sequence,
                                    __ATOMIC_RELAXED) == epoch->first + i + 1;
    return complete;
}

gyre_status opencl_submit(gyre_resident *resident, struct opencl_queue *queue, uint32_t count,
                          gyre_u64 command)
{
    const bool direct = resident->device->direct;
    const uint32_t places = resident->device->settings.epochs;
    struct opencl_epoch *epoch = &resident->epochs[(resident->oldest + resident->in_flight) % places];
    epoch->queue = queue;
    epoch->first = queue->next;
    epoch->command = command;
    epoch->count = direct ? count : fit_stage(queue, count);
    epoch->promised = opencl_least(epoch->count, queue->each);
    epoch->spare = queue->spare;
    epoch->repeated = count_repeated(epoch);
    epoch->start_ns = gyre_clock_ns();
    epoch->written = epoch->ran = epoch->done = NULL;
    gyre_status status = direct ? submit_direct(resident, epoch) : submit_staged(resident, epoch);
    if (status != GYRE_OK)
        return status;
    queue->next += epoch->count;
    queue->promised += epoch->promised;
    resident->in_flight++;
    return GYRE_OK;
}

gyre_status opencl_warm_up(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    const struct opencl_epoch nothing = {.first = 0};
    cl_event ran = NULL;
    gyre_status status = set_slots(resident, resident->log_memory, resident->log_memory);
    if (status == GYRE_OK)
        status = enqueue(resident, &nothing, &ran);
    if (status == GYRE_OK)
        status = lose(resident, opencl_finish(device, resident->compute, CL_SUCCESS, &ran), "clFinish");
    resident->bound_queue = NULL;
    return status;
}

/* ---- completing ---- */

/* An epoch that was called off: what it did not begin is asked for again. Returns how many it completed. */
static uint32_t settle_called_off(struct opencl_epoch *epoch)
{
    struct opencl_queue *queue = epoch->queue;
    uint32_t complete = 0;
    for (uint32_t i = 0; i < epoch->count; i++) {
        const gyre_u64 index = epoch->first + i;
        if (__atomic_load_n(&reply_slot(queue, index)->sequence, __ATOMIC_ACQUIRE) == index + 1)
            complete++;
        else if (queue->next > index)
            queue->next = index;
    }
    if (complete < epoch->count && queue->redo_end < epoch->first + epoch->count)
        queue->redo_end = epoch->first + epoch->count;
    return complete;
}

/* The device of a copy shares no clock with a message's queue: its times are those of its epoch. */
static void stamp(const struct opencl_epoch *epoch, uint64_t now_ns)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    unsigned char *base = (unsigned char *)epoch->queue->memory->region;
    gyre_stamp *stamps = (gyre_stamp *)(void *)(base + slots->stamps_offset);
    for (uint32_t i = 0; i < epoch->count && slots->stamps_offset; i++) {
        const gyre_u64 index = epoch->first + i;
        stamps[index & (slots->capacity - 1)] = (gyre_stamp){.sequence = index + 1,
                                                             .started_ns = epoch->start_ns,
                                                             .finished_ns = now_ns,
                                                             .sequence_again = index + 1};
    }
}

/* The replies are here but for their sequences, which clients wait for: release pairs with their acquire. */
static gyre_status settle_staged(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed)
{
    stamp(epoch, gyre_clock_ns());
    for (uint32_t i = 0; i < epoch->count; i++) {
        gyre_slot *out = reply_slot(epoch->queue, epoch->first + i);
        if (out->sequence != GYRE_EPOCH_DONE)
            return opencl_lose(resident->device, CL_INVALID_VALUE, "completing a message");
        *failed += out->info == GYRE_OUTCOME_FAILED;
        __atomic_store_n(&out->sequence, epoch->first + i + 1, __ATOMIC_RELEASE);
    }
    return GYRE_OK;
}

/* relaxed: statistics, written by the pump alone */
static void count_messages(gyre_resident *resident, uint32_t handled, uint32_t failed)
{
    gyre_control_block *line = (gyre_control_block *)(resident->control + 1);
    __atomic_store_n(&line->handled, line->handled + handled, __ATOMIC_RELAXED);
    if (failed)
        __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/*
 * An epoch grows while it is filled and takes less than half the time that it may, and shrinks when it takes
 * more: by how much tells its own time, but never to less than a quarter, for that may have been a hiccup.
 */
static void adapt(gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const struct opencl_settings *settings = &resident->device->settings;
    const uint64_t now = gyre_clock_ns(), target = (uint64_t)settings->target_us * 1000;
    const uint64_t since =
        epoch->start_ns > resident->last_done_ns ? epoch->start_ns : resident->last_done_ns;
    const uint64_t took = now - since;
    resident->last_done_ns = now;
    resident->message_ns = took > OVERHEAD_NS ? (took - OVERHEAD_NS) / epoch->count : 0;
    if (took > target && epoch->count >= resident->limit / 4) {
        uint64_t wanted = epoch->count * target / took;
        if (wanted < resident->limit / 4)
            wanted = resident->limit / 4;
        resident->limit = wanted > 0 ? (uint32_t)wanted : 1;
    } else if (epoch->count == resident->limit && took < target / 2) {
        resident->limit = opencl_least((uint64_t)resident->limit * 2, settings->batch);
    }
}

static void release_events(const struct opencl_loader *cl, struct opencl_epoch *epoch)
{
    cl_event *const events[] = {&epoch->written, &epoch->ran, &epoch->done};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (*events[i])
            cl->clReleaseEvent(*events[i]);
        *events[i] = NULL;
    }
}

/* A handler that takes long may have something to log meanwhile,
 * which a direct device lets be read at once. */
static gyre_status await(gyre_resident *resident, const struct opencl_epoch *epoch)
{
    const gyre_device *device = resident->device;
    struct opencl_patience patience = {0};
    while (device->direct && !opencl_is_over(device, epoch->done))
        if (opencl_pause(device, &patience))
            opencl_log_drain(resident, false);
    return lose(resident, opencl_await(device, epoch->done), "running a batch of messages");
}

static void ring(const gyre_resident *resident, gyre_queue_region *region)
{
    gyre_barrier_light(resident->light_barriers &&
                       !region->host.parks); /* pairs with the heavy barrier of a client that parks */
    if (__atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&region->device.bell, INT_MAX);
}

gyre_status opencl_collect(gyre_resident *resident)
{
    struct opencl_epoch *epoch = &resident->epochs[resident->oldest];
    gyre_queue_region *region = epoch->queue->memory->region;
    uint32_t complete = epoch->count, failed = 0;
    gyre_status status = await(resident, epoch);
    if (status == GYRE_OK && resident->device->direct) {
        failed = opencl_failed_since(resident);
        if (__atomic_load_n(&reply_slot(epoch->queue, epoch->first + epoch->count - 1)->sequence,
                            __ATOMIC_ACQUIRE) != epoch->first + epoch->count ||
            __atomic_load_n(&resident->control->command.command, __ATOMIC_RELAXED) != epoch->command)
            complete = settle_called_off(epoch);
    } else if (status == GYRE_OK) {
        status = settle_staged(resident, epoch, &failed);
        resident->log_stale = true;
    }
    if (status == GYRE_OK) {
        count_messages(resident, complete - epoch->repeated, failed);
        ring(resident, region);
        adapt(resident, epoch);
        opencl_profile_add(resident, epoch);
    }
    release_events(resident->device->cl, epoch);
    epoch->queue->promised -= epoch->promised;
    resident->oldest = (resident->oldest + 1) % resident->device->settings.epochs;
    resident->in_flight--;
    return status;
}

bool opencl_oldest_is_done(const gyre_resident *resident)
{
    return opencl_is_over(resident->device, resident->epochs[resident->oldest].done);
}

void opencl_epochs_release(gyre_resident *resident)
{
    const struct opencl_loader *cl = resident->device->cl;
    for (uint32_t i = 0; i < OPENCL_EPOCHS_MAX; i++) {
        struct opencl_epoch *epoch = &resident->epochs[i];
        release_events(cl, epoch);
        if (epoch->requests)
            cl->clReleaseMemObject(epoch->requests);
        if (epoch->replies)
            cl->clReleaseMemObject(epoch->replies);
    }
}
