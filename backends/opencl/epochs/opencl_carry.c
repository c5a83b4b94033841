/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs epochs (batches of requests): sends requests of a queue to the device and completes them. A direct
 * device works in the queue's slots and stores the sequences itself, unless another program can write the
 * slots (opencl_gather.c). Other devices get copies (opencl_copies.c). Takes no lock: only the pump's thread
 * calls it. Waits only in opencl_collect and opencl_run_nothing.
 */
#include "backends/opencl/epochs/opencl_bridge.h"
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/epochs/opencl_commands.h"
#include "backends/opencl/epochs/opencl_copies.h"
#include "backends/opencl/epochs/opencl_gather.h"
#include "backends/opencl/epochs/opencl_replies.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/epochs/opencl_stage.h"
#include "backends/opencl/epochs/opencl_tell.h"
#include "backends/opencl/opencl_wait.h"

#include <limits.h>
#include <string.h>

#include "gyre/pace.h"
#include "gyre/trace.h"
#include "gyre/waiting.h"

enum {
    OVERHEAD_NS = 10000,    /* time that an epoch costs, however small it is */
    COMPANY = 1024,         /* messages that make an epoch worth its commands in any case */
    COMPANY_BYTES = 262144, /* bytes of messages that do so */
    COMPANY_NS = 50000,     /* the longest time that requests wait for more requests */
    HALVES = 512,           /* from this many messages on, two epochs are better than one */
    ONE_COMMAND = 256       /* replaces COMPANY and HALVES where an epoch is one command */
};

/*
 * Guesses how many requests are there, by a few looks, for a direct device. Clients fill slots batch by
 * batch, and a batch from its last slot to its first. So before a request that is there nearly all others are
 * there, too, except the head of a batch that is being published. A direct lane waits at such a slot itself,
 * for moments. The few looks leave the other cache lines to the device, which will read them.
 */
static uint32_t guess_ready(const struct opencl_queue *queue, uint32_t most)
{
    uint32_t there = 1, step = 1;
    if (opencl_request_ready(queue, queue->next + most - 1))
        return most;
    while (there + step < most && opencl_request_ready(queue, queue->next + there + step - 1)) {
        there += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        while (there + step < most && opencl_request_ready(queue, queue->next + there + step - 1))
            there += step;
    return there;
}

/*
 * Counts the requests that are there, one by one. This is needed where requests are copied, and where the
 * lanes of a block begin a request together. An epoch of copies overwrites all its replies, so it must hold
 * no answered request: the count ends at one.
 */
static uint32_t count_ready(struct opencl_queue *queue, uint32_t most)
{
    if (queue->there == 0)
        queue->there = 1;
    while (queue->there < most && opencl_request_ready(queue, queue->next + queue->there) &&
           !opencl_is_answered(queue, queue->next + queue->there))
        queue->there++;
    return opencl_least(queue->there, most);
}

uint32_t opencl_ready(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most)
{
    const uint64_t capacity = queue->slots.capacity;
    const bool direct = resident->device->direct && !opencl_is_foreign(queue);
    while (!direct && opencl_request_ready(queue, queue->next) && opencl_is_answered(queue, queue->next))
        queue->next++;
    if (!opencl_request_ready(queue, queue->next))
        return 0;
    most = opencl_bridge_fit(resident, queue, opencl_least(capacity, most));
    if (most == 0)
        return 0;
    const bool waits = direct && !resident->lanes_meet;
    return waits ? guess_ready(queue, most) : count_ready(queue, most);
}

/*
 * Returns how many of the ready requests to send now; 0: wait for more. A command costs a far device the same
 * whatever it carries. So a client's requests go in two halves, one on the device and one at the client: not
 * in many parts, and not in unequal parts, because one part would wait for the other. The wait is
 * short: other lanes serve other clients while a handler takes its time.
 */
uint32_t opencl_share(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t ready)
{
    const uint64_t all = (uint64_t)queue->under_way + ready;
    const uint64_t bytes = (uint64_t)ready * queue->slots.request_stride;
    const bool one = resident->device->create_reachable && opencl_gathers(resident, queue, ready);
    if (resident->device->direct || ready >= resident->limit || ready >= (one ? ONE_COMMAND : COMPANY) ||
        bytes >= COMPANY_BYTES)
        return ready;
    if (ready * 3 < queue->under_way * 2 && gyre_clock_ns() - queue->sent_ns < COMPANY_NS)
        return 0;
    return all < (one ? ONE_COMMAND : HALVES) ? ready : opencl_least((all + 1) / 2, ready);
}

/* ---- sending ---- */

static bool was_complete(const struct opencl_epoch *epoch, gyre_u64 index)
{
    return index < epoch->queue->redo_end &&
           __atomic_load_n(&opencl_reply_slot(epoch->queue, index)->sequence, __ATOMIC_RELAXED) == index + 1;
}

/*
 * Zeroes the slots of the replies, because other programs read them: what the slots held before must stay
 * here.
 */
static void zero_replies(const struct opencl_epoch *epoch)
{
    const struct opencl_queue *queue = epoch->queue;
    for (uint32_t i = 0; i < epoch->count && queue->slots.foreign; i++)
        if (!was_complete(epoch, epoch->first + i) && !opencl_is_answered(queue, epoch->first + i))
            memset(opencl_reply_slot(queue, epoch->first + i) + 1, 0,
                   queue->slots.reply_stride - sizeof(gyre_slot));
}

static gyre_status submit_direct(gyre_resident *resident, struct opencl_epoch *epoch)
{
    zero_replies(epoch);
    cl_mem memory = epoch->queue->memory->memory;
    gyre_status status = opencl_set_slots(resident, memory, memory);
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, epoch, NULL, &epoch->done);
    if (status == GYRE_OK)
        status = opencl_commanded(resident, resident->device->cl->clFlush(resident->compute), "clFlush");
    return status;
}

static uint32_t count_that_fit(const gyre_resident *resident, const struct opencl_queue *queue,
                               const struct opencl_epoch *epoch, uint32_t count)
{
    if (resident->device->direct && !epoch->gathered)
        return count;
    return epoch->gathered ? opencl_gather_fit(resident, queue, count) : opencl_copies_fit(queue, count);
}

static gyre_status submit_epoch(gyre_resident *resident, struct opencl_epoch *epoch)
{
    if (epoch->gathered)
        return opencl_gather_submit(resident, epoch);
    return resident->device->direct ? submit_direct(resident, epoch) : opencl_copies_submit(resident, epoch);
}

/* Counts the epoch's requests that an earlier epoch had completed before it was called off. */
static uint32_t count_repeated(const struct opencl_epoch *epoch)
{
    uint32_t complete = 0;
    for (uint32_t i = 0; i < epoch->count && epoch->first + i < epoch->queue->redo_end; i++)
        complete += was_complete(epoch, epoch->first + i);
    return complete;
}

/*
 * Which messages of the epoch are timed: those whose index is a multiple of what this returns. Whoever traces wants each whose turn it
 * is. None is passed over where an epoch was called off, because some messages there have their times already.
 */
static uint64_t stride_of(const gyre_resident *resident, const struct opencl_epoch *epoch)
{
    struct opencl_queue *queue = epoch->queue;
    const uint64_t timed = resident->control->absences.timed, every = timed ? timed : 1,
                   stride = queue->stride ? queue->stride : every, end = epoch->first + epoch->count,
                   first = (epoch->first + stride - 1) & ~(stride - 1);
    if (epoch->first < queue->redo_end)
        return every;
    if (first >= end)
        return stride;
    queue->stride = gyre_trace_wanted(resident->trace)
                        ? every
                        : gyre_pace_stride(stride, every, 1 + (end - 1 - first) / stride,
                                           epoch->start_ns - queue->timed_ns);
    queue->timed_ns = epoch->start_ns;
    return stride;
}

gyre_status opencl_submit(gyre_resident *resident, struct opencl_queue *queue, uint32_t count,
                          gyre_u64 command)
{
    const uint32_t places = resident->device->settings.epochs;
    struct opencl_epoch *epoch = &resident->epochs[(resident->oldest + resident->in_flight) % places];
    epoch->queue = queue;
    epoch->first = queue->next;
    epoch->command = command;
    epoch->mark = GYRE_EPOCH_DONE | ++resident->marks;
    epoch->gathered =
        opencl_is_foreign(queue) || (!resident->device->direct && opencl_gathers(resident, queue, count));
    epoch->count = count_that_fit(resident, queue, epoch, count);
    epoch->promised = opencl_least(epoch->count, queue->each);
    epoch->spare = queue->spare;
    epoch->repeated = epoch->gathered ? 0 : count_repeated(epoch);
    epoch->start_ns = gyre_clock_ns();
    epoch->timed_mask = stride_of(resident, epoch) - 1;
    epoch->written = epoch->ran = epoch->done = NULL;
    gyre_status status = submit_epoch(resident, epoch);
    if (status != GYRE_OK)
        return status;
    queue->next += epoch->count;
    queue->there -= opencl_least(queue->there, epoch->count);
    queue->under_way += epoch->count;
    queue->sent_ns = epoch->start_ns;
    queue->promised += epoch->promised;
    resident->in_flight++;
    opencl_tell_begun(resident, epoch);
    return GYRE_OK;
}

gyre_status opencl_run_nothing(gyre_resident *resident, struct opencl_epoch *nothing)
{
    const gyre_device *device = resident->device;
    cl_event ran = NULL;
    gyre_status status = opencl_set_slots(resident, resident->log_memory, resident->log_memory);
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, nothing, NULL, &ran);
    if (status == GYRE_OK)
        status = opencl_commanded(resident, opencl_finish(device, resident->compute, CL_SUCCESS, &ran),
                                  "clFinish");
    resident->bound_queue = NULL;
    return status;
}

gyre_status opencl_warm_up(gyre_resident *resident)
{
    return opencl_run_nothing(resident, &(struct opencl_epoch){.first = 0});
}

/* ---- completing ---- */

/*
 * Whether the oldest epoch of its queue completed a request. A quick client may have taken the completion and
 * sent another request into the slot, and a later epoch may have completed that request, too. So a later
 * sequence counts as well.
 */
static bool is_complete(const struct opencl_epoch *epoch, gyre_u64 index)
{
    if (epoch->gathered)
        return opencl_is_staged(epoch, (uint32_t)(index - epoch->first));
    const gyre_u64 end = epoch->first + epoch->queue->under_way;
    const gyre_u64 sequence =
        __atomic_load_n(&opencl_reply_slot(epoch->queue, index)->sequence, __ATOMIC_ACQUIRE);
    return sequence - 1 - index < end - index;
}

/*
 * Settles an epoch that was called off: the requests that it did not begin are sent again later. Returns how
 * many requests it completed.
 */
static uint32_t settle_called_off(struct opencl_epoch *epoch)
{
    struct opencl_queue *queue = epoch->queue;
    uint32_t complete = 0;
    for (uint32_t i = 0; i < epoch->count; i++) {
        const gyre_u64 index = epoch->first + i;
        if (is_complete(epoch, index))
            complete++;
        else if (queue->next > index)
            queue->next = index;
    }
    queue->there = 0;
    if (complete < epoch->count && queue->redo_end < epoch->first + epoch->count)
        queue->redo_end = epoch->first + epoch->count;
    return complete;
}

/* Adds to the kernel's statistics. Relaxed: the pump alone writes them. */
void opencl_count_messages(gyre_resident *resident, uint32_t handled, uint32_t failed)
{
    gyre_control_block *line = (gyre_control_block *)(resident->control + 1);
    __atomic_store_n(&line->handled, line->handled + handled, __ATOMIC_RELAXED);
    if (failed)
        __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/*
 * Adapts the largest size of an epoch. It grows when an epoch was full and took less than half the time
 * allowed. It shrinks when an epoch took more than allowed, in proportion to the time, and never below a
 * quarter, because one slow epoch may be chance.
 */
void opencl_adapt_limit(gyre_resident *resident, const struct opencl_epoch *epoch)
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

void opencl_release_events(const struct opencl_loader *cl, struct opencl_epoch *epoch)
{
    cl_event *const events[] = {&epoch->written, &epoch->ran, &epoch->done};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (*events[i])
            cl->clReleaseEvent(*events[i]);
        *events[i] = NULL;
    }
}

/* Waits for the end of an epoch. Meanwhile it reads the log of a direct device, because a slow handler may log. */
gyre_status opencl_await_epoch(gyre_resident *resident, struct opencl_epoch *epoch)
{
    const gyre_device *device = resident->device;
    struct opencl_patience patience = {0};
    while (epoch->gathered && !device->direct && !opencl_gather_advance(resident, epoch))
        opencl_pause(device, &patience);
    if (epoch->gathered && !device->direct && epoch->handed_out == epoch->count)
        return GYRE_OK;
    while (device->direct && !opencl_is_over(device, epoch->done))
        if (opencl_pause(device, &patience))
            opencl_log_drain(resident, false);
    return opencl_commanded(resident, opencl_await(device, epoch->done), "running a batch of messages");
}

static void ring_queue(const gyre_resident *resident, gyre_queue_region *region)
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
    gyre_status status = opencl_await_epoch(resident, epoch);
    if (status == GYRE_OK && resident->device->direct) {
        failed = opencl_failed_since(resident);
        if (epoch->gathered)
            opencl_deliver(resident, epoch);
        if (!is_complete(epoch, epoch->first + epoch->count - 1) ||
            __atomic_load_n(&resident->control->command.command, __ATOMIC_RELAXED) != epoch->command)
            complete = settle_called_off(epoch);
    } else if (status == GYRE_OK) {
        status = epoch->gathered ? opencl_gather_settle(resident, epoch, &failed)
                                 : opencl_copies_settle(resident, epoch, &failed);
        resident->log_stale = true;
    }
    if (status == GYRE_OK) {
        opencl_count_messages(resident, complete - epoch->repeated, failed);
        ring_queue(resident, region);
        opencl_adapt_limit(resident, epoch);
        opencl_profile_add(resident, epoch);
    }
    opencl_release_events(resident->device->cl, epoch);
    epoch->queue->under_way -= epoch->count;
    epoch->queue->promised -= epoch->promised;
    resident->oldest = (resident->oldest + 1) % resident->device->settings.epochs;
    resident->in_flight--;
    opencl_tell_ended(resident, epoch);
    return status;
}

bool opencl_oldest_is_done(gyre_resident *resident)
{
    struct opencl_epoch *epoch = &resident->epochs[resident->oldest];
    return epoch->gathered ? opencl_gather_advance(resident, epoch)
                           : opencl_is_over(resident->device, epoch->done);
}

void opencl_epochs_release(gyre_resident *resident)
{
    const struct opencl_loader *cl = resident->device->cl;
    for (uint32_t i = 0; i < OPENCL_EPOCHS_MAX; i++) {
        struct opencl_epoch *epoch = &resident->epochs[i];
        opencl_release_events(cl, epoch);
        if (epoch->commands)
            cl->clReleaseCommandQueue(epoch->commands);
        if (epoch->requests)
            cl->clReleaseMemObject(epoch->requests);
        if (epoch->replies)
            cl->clReleaseMemObject(epoch->replies);
        opencl_stage_release(resident->device, resident->compute, &epoch->in);
        opencl_stage_release(resident->device, resident->compute, &epoch->out);
    }
}
