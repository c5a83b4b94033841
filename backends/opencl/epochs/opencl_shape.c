/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spreads an epoch's messages over lanes and work-groups, and describes epochs for the device. No state: only
 * the pump's thread calls it.
 */
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/epochs/opencl_gathered.h"
#include "backends/opencl/epochs/opencl_linked.h"
#include "backends/opencl/epochs/opencl_shape.h"

#include <limits.h>
#include <string.h>

#include "gyre/waiting.h"

enum {
    WAVE_NS = 10000, /* work that is worth one more processor */
    WARP = 32,       /* lanes that run together on most devices other than processors */
    WIDEST = 64      /* groups of a processor's first epoch, or all blocks of the launch if these are more */
};

static bool is_cpu(const gyre_resident *resident)
{
    return (resident->device->type & CL_DEVICE_TYPE_CPU) != 0;
}

/* Returns how many of the launch's blocks one epoch may run in. */
static uint32_t blocks_of_way(const gyre_resident *resident)
{
    const uint32_t blocks = resident->blocks / resident->ways;
    return blocks ? blocks : 1;
}

/* Spreads messages on a processor: each group handles consecutive messages. Returns the number of groups. */
static uint32_t shape_few(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *local)
{
    *local = 1;
    uint32_t groups =
        opencl_least(epoch->count * resident->message_ns / WAVE_NS + 1, blocks_of_way(resident));
    const uint32_t least = each ? (epoch->count + each - 1) / each : 1;
    groups = groups < least ? least : groups;
    groups = opencl_least(groups, epoch->count);
    groups = groups ? groups : 1;
    epoch->spacing = epoch->span = (epoch->count + groups - 1) / groups;
    epoch->step = 1;
    return groups;
}

static uint32_t in_warps(uint32_t lanes)
{
    return lanes ? (lanes + WARP - 1) / WARP * WARP : WARP;
}

/*
 * Spreads messages on other devices: neighbouring lanes handle neighbouring messages. Even a few messages go
 * to all units that the blocks reach.
 */
static uint32_t shape_many(const gyre_resident *resident, gyre_epoch *epoch, size_t *local)
{
    const uint32_t units = resident->device->unit_count ? resident->device->unit_count : 1;
    const uint32_t blocks = blocks_of_way(resident);
    const uint32_t most = resident->group_max ? resident->group_max : 1;
    const uint32_t spread = opencl_least(units, blocks);
    *local = opencl_least(in_warps((epoch->count + spread - 1) / spread), most);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): *local is the smaller of two numbers above 0 */
    const uint32_t groups = opencl_least((epoch->count + *local - 1) / *local, blocks);
    epoch->spacing = 1;
    epoch->span = UINT_MAX;
    epoch->step = (groups ? groups : 1) * (uint32_t)*local;
    epoch->lane_count = most;
    return groups ? groups : 1;
}

/*
 * Spreads messages of lanes that do not meet. On a direct device with reply bytes each group has a track (a
 * part of them) and handles one message at a time.
 */
static uint32_t shape_lanes(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *local)
{
    const bool tracks = resident->device->direct && epoch->bridge.reply_bytes;
    return is_cpu(resident) || tracks ? shape_few(resident, each, epoch, local)
                                      : shape_many(resident, epoch, local);
}

/* Whether the cells of a stage are columns, one for each block (opencl_columns.h). */
static bool has_columns(const gyre_resident *resident, const gyre_epoch *epoch)
{
    return resident->links && resident->links->rows && epoch->count;
}

/* Whether a block handles one message after the other: two of a flow would meet in its memory, and a GYRE_MORE holds others up. */
static bool in_turn(const gyre_resident *resident)
{
    return resident->links && (resident->links->memory.stride || resident->links->kept.seen);
}

/* Spreads columns: each block handles its own, one message after the other. */
static uint32_t shape_columns(const gyre_resident *resident, gyre_epoch *epoch, size_t *local)
{
    *local = 1;
    epoch->spacing = 1;
    epoch->span = UINT_MAX;
    epoch->step = resident->blocks;
    return resident->blocks;
}

/*
 * Chooses the spread. The first epoch, without messages, is as wide as any epoch will be: PoCL 5.0 loads a
 * kernel again for a wider epoch, and ends the process when the two have run at once (it mixes up their
 * references).
 */
void opencl_shape(const gyre_resident *resident, uint32_t each, gyre_epoch *epoch, size_t *global,
                  size_t *local)
{
    uint32_t groups = 1;
    if (opencl_is_serial(resident)) {
        *local = 1;
        epoch->spacing = epoch->span = epoch->count;
        epoch->step = 1;
    } else if (resident->lanes_meet) {
        *local = epoch->lane_count = resident->lanes;
        groups = opencl_least(epoch->count ? epoch->count : 1, blocks_of_way(resident));
        epoch->step = groups = has_columns(resident, epoch) ? resident->blocks : groups;
    } else if (has_columns(resident, epoch)) {
        groups = shape_columns(resident, epoch, local);
    } else if (in_turn(resident)) {
        groups = shape_few(resident, each, epoch, local);
    } else {
        groups = shape_lanes(resident, each, epoch, local);
    }
    if (epoch->count == 0 && is_cpu(resident))
        groups = resident->blocks > WIDEST ? resident->blocks : WIDEST;
    *global = groups * *local;
}

void opencl_describe(const gyre_resident *resident, gyre_epoch *told)
{
    const gyre_device *device = resident->device;
    *told = (gyre_epoch){.mask = UINT64_MAX,
                         .block_count = resident->blocks,
                         .lane_count = 1,
                         .time_ns = device->clock_rate ? device->clock_ns : gyre_clock_ns(),
                         .ticks = device->clock_ticks,
                         .tick_rate = device->clock_rate,
                         .handles_offset = resident->handles ? 0 : UINT64_MAX};
    if (device->direct)
        told->handles_offset =
            (uint64_t)((const char *)GYRE_CONTROL_HANDLES(resident->control, resident->blocks) -
                       (const char *)resident->control);
    memcpy(told->counts, resident->counts, sizeof told->counts);
}

/* Describes an epoch for a device that works in the queue itself. */
static void tell_direct(const struct opencl_epoch *epoch, gyre_epoch *told)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    told->redo_end = epoch->queue->redo_end;
    told->start = epoch->first;
    told->mask = slots->capacity - 1;
    told->request_offset = slots->request_offset;
    told->reply_offset = slots->reply_offset;
    told->stamps_offset = slots->stamps_offset;
    told->timed_mask = epoch->timed_mask;
    told->headers_offset = slots->headers_offset;
    told->bridge = epoch->queue->bridge;
    told->spare = epoch->spare;
    if (!slots->sealed)
        return;
    told->seals_offset = GYRE_SEALS_OFFSET(slots);
    told->reply_seals_offset = told->seals_offset + GYRE_SEALS_ROUND(slots->capacity) * sizeof(gyre_u32);
}

/* Describes slots as opencl_copies.c copies them. */
static void tell_copies(const struct opencl_epoch *epoch, gyre_epoch *told)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    if (slots->header_size)
        told->headers_offset = opencl_slots_size(epoch);
    if (!slots->sealed)
        return;
    told->seals_offset = opencl_slots_size(epoch) + opencl_headers_size(epoch);
    told->reply_seals_offset = (size_t)epoch->count * slots->reply_stride;
}

/* Describes messages as opencl_gather.c packs them. */
static void tell_gathered(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told)
{
    const gyre_queue_slots *slots = &epoch->queue->slots;
    const size_t stride = gathered_answer_stride(resident, epoch->queue);
    told->mark = epoch->mark;
    told->redo_end = resident->device->direct ? epoch->queue->redo_end : 0;
    told->fenced = resident->device->create_reachable != NULL;
    told->headers_offset = slots->header_size ? gathered_headers_at(epoch) : 0;
    told->seals_offset = slots->sealed ? gathered_seals_at(epoch) : 0;
    told->reply_seals_offset = gathered_reply_seals_at(epoch);
    told->bridge = (gyre_bridge){.request_bytes = epoch->queue->bridge.request_bytes,
                                 .reply_offset = gathered_answers_at(epoch),
                                 .reply_bytes = (uint32_t)stride,
                                 .reply_stride = (uint32_t)stride};
}

/* Describes cells as opencl_links.c fills them. No message of an epoch that is sent once more is handled twice. */
static void tell_links(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told)
{
    told->request_stride = resident->links->request_cell;
    told->reply_stride = resident->links->reply_cell;
    told->redo_end = epoch->first + epoch->count;
}

void opencl_tell_epoch(const gyre_resident *resident, const struct opencl_epoch *epoch, gyre_epoch *told)
{
    opencl_describe(resident, told);
    told->first = epoch->first;
    told->command = epoch->command;
    told->count = epoch->count;
    told->first_block = epoch->first_block;
    told->mark = epoch->mark;
    told->reminds = epoch->reminds;
    told->remind_ns = epoch->remind_ns;
    told->by_sent = resident->control->command.by_ticks;
    if (resident->links)
        tell_links(resident, epoch, told);
    if (!epoch->queue)
        return;
    const gyre_queue_slots *slots = &epoch->queue->slots;
    /* relaxed: below this index no sender wants a reply; the device may see it late */
    told->drop_before = __atomic_load_n(&epoch->queue->memory->region->host.drop_before, __ATOMIC_RELAXED);
    told->request_stride = slots->request_stride;
    told->reply_stride = slots->reply_stride;
    told->header_size = slots->header_size;
    if (epoch->gathered)
        tell_gathered(resident, epoch, told);
    else if (resident->device->direct)
        tell_direct(epoch, told);
    else
        tell_copies(epoch, told);
}
