/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the epochs of kernels that can be stages of a pipeline, one at a time (opencl_linked.h). Takes no lock. */
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/links/opencl_columns.h"
#include "backends/opencl/epochs/opencl_commands.h"
#include "backends/opencl/links/opencl_fetch.h"
#include "backends/opencl/links/opencl_flow.h"
#include "backends/opencl/links/opencl_flow_memory.h"
#include "backends/opencl/links/opencl_kept.h"
#include "backends/opencl/links/opencl_link_ring.h"
#include "backends/opencl/links/opencl_links.h"
#include "backends/opencl/links/opencl_ports.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/epochs/opencl_stage.h"
#include "backends/opencl/epochs/opencl_tell.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/waiting.h"

enum {
    CELLS_BYTES = 8 << 20, /* bytes of the cells of an epoch, unless those of one message are more */
    QUEUES_FIRST = 16      /* of so many epochs one takes from queues before it takes from links */
};

/* ---- making ---- */

static gyre_u64 whole(gyre_u64 bytes)
{
    return (bytes + 15) / 16 * 16;
}

/*
 * Decides where everything lies in the cells. Also a message without bytes has a place, because whoever publishes it reads a first
 * word. False when the cells of one message are too large.
 */
static bool place_cells(struct opencl_links *links, const struct opencl_kernel *kernel)
{
    const gyre_kernel_record *record = &kernel->record;
    const gyre_u64 reply = whole(record->reply->size);
    gyre_u64 at = sizeof(gyre_slot) + (reply > sizeof(gyre_failure) ? reply : sizeof(gyre_failure));
    links->told.flow_offset = sizeof(gyre_slot) + whole(record->request->size);
    links->request_cell = (uint32_t)(links->told.flow_offset + sizeof(gyre_cell_flow) + GYRE_HEADER_SIZE_MAX);
    links->told.counts_offset = at;
    at += whole((record->port_count + 1) * sizeof(gyre_u32));
    for (uint32_t i = 0; i < record->port_count; i++) {
        const uint32_t size = (uint32_t)record->ports[i].type->size;
        const bool asks = record->asks && record->asks[i];
        const uint32_t front = asks ? GYRE_CELL_ASK : 0;
        links->ports[i] = (struct opencl_port){.most = record->ports[i].most,
                                               .size = size,
                                               .least = kernel->port_least[i],
                                               .stride = (uint32_t)whole(size ? size : 1) + front,
                                               .place = at + front,
                                               .asks = asks};
        links->told.places_offset[i] = at + front;
        links->told.strides[i] = links->ports[i].stride;
        at += (gyre_u64)links->ports[i].most * links->ports[i].stride;
    }
    links->port_count = links->declared = record->port_count;
    links->reply_cell = (uint32_t)at;
    return at == links->reply_cell;
}

/* Makes what the kernel needs for epochs of so many cells. */
static bool make_lists(const gyre_resident *resident, uint32_t cells)
{
    struct opencl_links *links = resident->links;
    links->messages = calloc(cells, sizeof *links->messages);
    links->depths = calloc(resident->blocks, sizeof *links->depths);
    return links->messages && links->depths && opencl_kept_create(links, cells) &&
           opencl_flow_memory_create(links, cells);
}

gyre_status opencl_links_create(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    if (resident->kernel->record.is_island || device->settings.stay)
        return GYRE_OK;
    struct opencl_links *links = resident->links = calloc(1, sizeof *links);
    if (!links)
        return device->host->error(GYRE_EXHAUSTED, "no memory for the links of a kernel");
    if (!place_cells(links, resident->kernel))
        return device->host->error(
            GYRE_INVALID,
            "kernel '%s': what one call may emit to all ports has more than 4 GiB; declare fewer messages a call",
            resident->kernel->record.name);
    opencl_flow_memory_shape(resident);
    opencl_times_prepare(&links->timed, resident->control, resident->blocks);
    const gyre_u64 cell = (gyre_u64)links->request_cell + links->reply_cell + links->memory.stride;
    links->room = opencl_least(CELLS_BYTES > cell ? CELLS_BYTES / cell : 1, device->settings.batch);
    return make_lists(resident, links->room > resident->blocks ? links->room : resident->blocks)
               ? GYRE_OK
               : device->host->error(GYRE_EXHAUSTED, "no memory for the links of a kernel");
}

void opencl_links_destroy(gyre_resident *resident)
{
    if (resident->links) {
        free(resident->links->messages);
        free(resident->links->depths);
        opencl_kept_destroy(resident->links);
        opencl_flow_memory_destroy(resident->links);
    }
    free(resident->links);
    resident->links = NULL;
}

/* ---- settling ---- */

/* Whether the device completed message i of the epoch. */
static bool is_done(const gyre_resident *resident, uint32_t i)
{
    const struct opencl_epoch *epoch = &resident->epochs[0];
    const gyre_slot *out = (const gyre_slot *)(const void *)link_reply_cell(resident, i);
    return out->sequence == (resident->device->direct ? epoch->first + i + 1 : epoch->mark);
}

/* What became of the messages of a run. */
struct handled {
    uint32_t all, failed;
    uint32_t of_flows; /* calls of handlers with messages of flows */
};

/* Settles message i, which is done. Returns whether its block has stopped there, for its handler wants to be called again. */
static bool settle_one(gyre_resident *resident, uint32_t i, struct handled *handled)
{
    struct opencl_message *message = &resident->links->messages[i];
    if (message->lost)
        return false;
    handled->of_flows += message->in_flow;
    handled->all += message->turn == 0; /* and not again in later turns */
    handled->failed += opencl_flow_settle(resident, i);
    if (message->again)
        opencl_kept_add(resident, i);
    return opencl_ports_again(resident, i);
}

/*
 * Settles the messages that are done, in their order. Those behind a message that was not begun wait for it, so that what they
 * emitted keeps its order. What was not begun because a message before it is handled again is handled later, too.
 */
static struct handled settle(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    struct handled handled = {0};
    bool stopped = false;
    opencl_flow_memory_give_back(resident);
    for (; links->settled < links->count; links->settled++) {
        if (is_done(resident, links->settled))
            stopped = settle_one(resident, links->settled, &handled) || stopped;
        else if (!stopped)
            break;
        else if (!links->messages[links->settled].lost)
            opencl_kept_add(resident, links->settled);
    }
    links->kept.seen = links->kept.seen || stopped;
    return handled;
}

/* Completes the requests that were handled, and wait for one that was not: the kernel leaves. */
static void settle_rest(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    for (; links->settled < links->count; links->settled++) {
        const struct opencl_message *message = &links->messages[links->settled];
        if (!message->in_flow && !message->lost && is_done(resident, links->settled))
            opencl_flow_settle(resident, links->settled);
    }
}

/* ---- commands ---- */

static const gyre_link_entry *find_entry(const gyre_link_table *table, uint32_t number, gyre_u64 serial)
{
    for (uint32_t i = 0; table && i < table->entry_count; i++)
        if (table->entries[i].flows && table->entries[i].queue == number &&
            table->entries[i].serial == serial)
            return &table->entries[i];
    return NULL;
}

/*
 * Forgets messages whose completion has no way any more: the pipeline was taken apart, and the core completes its requests, or
 * a queue was closed. Only a direct lane leaves messages behind, so the cells are the memory that it reads.
 */
static void forget_lost(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    uint32_t kept = 0;
    for (uint32_t i = links->settled; i < links->count; i++) {
        gyre_slot *slot = (gyre_slot *)(void *)link_request_cell(resident, i);
        links->messages[i].lost = links->messages[i].lost || !opencl_flow_has_way(links, &links->messages[i]);
        kept += !links->messages[i].lost;
        if (!links->messages[i].lost)
            continue;
        slot->length = GYRE_LENGTH_ANSWERED; /* no handler sees it */
        slot->info = GYRE_REQUEST_ANSWERED;
    }
    if (!kept)
        links->settled = links->count;
}

void opencl_links_obey(gyre_resident *resident, gyre_u64 command)
{
    struct opencl_links *links = resident->links;
    const gyre_control_region *control = resident->control;
    if (GYRE_COMMAND_VERB(command) == GYRE_VERB_STOP || GYRE_COMMAND_VERB(command) == GYRE_VERB_YIELD) {
        settle_rest(resident);
        return;
    }
    /* also while the kernel is paused: an old table may be freed. Pairs with the core's release */
    links->table = link_at(__atomic_load_n(&control->command.links, __ATOMIC_ACQUIRE));
    opencl_ports_aim(links);
    for (uint32_t i = 0; i < resident->queue_count; i++)
        resident->queues[i].entry = find_entry(links->table, i, resident->queues[i].serial);
    forget_lost(resident);
    opencl_kept_forget(links);
}

/* ---- epochs ---- */

static bool reaches_cells(const gyre_resident *resident)
{
    return resident->device->direct || resident->device->create_reachable;
}

/* Makes room in the stages for the cells of so many messages. No message is in them. */
static gyre_status make_room(gyre_resident *resident, uint32_t count)
{
    const gyre_device *device = resident->device;
    const struct opencl_links *links = resident->links;
    struct opencl_epoch *epoch = &resident->epochs[0];
    const cl_mem in = epoch->in.memory, out = epoch->out.memory;
    cl_int code =
        opencl_stage_grow(device, resident->compute, &epoch->in, (size_t)count * links->request_cell);
    if (code == CL_SUCCESS)
        code = opencl_stage_grow(device, resident->compute, &epoch->out,
                                 opencl_flow_memory_end(links, count, count));
    if (epoch->in.memory != in || epoch->out.memory != out)
        resident->bound_queue = NULL; /* another object may get the same address */
    return opencl_commanded(resident, code, "making room for messages");
}

/* Messages of the next epoch at most. A kernel whose handlers return GYRE_MORE has one for each of its blocks. */
static uint32_t most_of(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    const uint32_t most = opencl_least(links->room, resident->limit);
    if (!links->kept.seen)
        return most;
    return opencl_least(most, opencl_is_serial(resident) ? 1 : resident->blocks);
}

/* Takes messages for an epoch. What is handled again comes first, and until it is no other message of the pipeline. */
static gyre_status fetch(gyre_resident *resident)
{
    struct opencl_links *links = resident->links;
    const uint32_t most = most_of(resident);
    uint32_t room = opencl_ports_room(links, most);
    const gyre_status status = make_room(resident, opencl_columns_begin(resident, most));
    if (status != GYRE_OK)
        return status;
    resident->epochs[0].first += links->count;
    links->count = links->settled = 0;
    links->foreign = false;
    opencl_kept_fetch(resident, room);
    room = links->kept.count ? 0 : room;
    if (links->turns++ % QUEUES_FIRST == 0)
        opencl_fetch_queues(resident, room, opencl_kept_has_room(links) ? most : 0);
    opencl_fetch_links(resident, room);
    opencl_fetch_queues(resident, room, opencl_kept_has_room(links) ? most : 0);
    opencl_columns_end(resident);
    opencl_flow_memory_fill(resident);
    return GYRE_OK;
}

/* Clears the reply cells before the first run: what they held is neither done nor shown to other programs. */
static gyre_status clear_replies(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    const struct opencl_epoch *epoch = &resident->epochs[0];
    const cl_uchar zero = 0;
    const size_t size = (size_t)links->count * links->reply_cell;
    for (uint32_t i = 0; i < links->count; i++)
        ((gyre_slot *)(void *)link_reply_cell(resident, i))->sequence = 0;
    if (!links->foreign)
        return GYRE_OK;
    memset(epoch->out.host, 0, size);
    if (reaches_cells(resident))
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueFillBuffer(epoch->commands, epoch->out.memory,
                                                                      &zero, sizeof zero, 0, size, 0, NULL,
                                                                      NULL),
                            "clEnqueueFillBuffer");
}

static gyre_status upload(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    const struct opencl_epoch *epoch = &resident->epochs[0];
    const struct opencl_loader *cl = resident->device->cl;
    const size_t end = opencl_flow_memory_end(links, links->count, links->memory.count);
    if (reaches_cells(resident))
        return GYRE_OK;
    cl_int code =
        cl->clEnqueueWriteBuffer(epoch->commands, epoch->in.memory, CL_FALSE, 0,
                                 (size_t)links->count * links->request_cell, epoch->in.host, 0, NULL, NULL);
    if (code == CL_SUCCESS && links->memory.count)
        code = cl->clEnqueueWriteBuffer(epoch->commands, epoch->out.memory, CL_FALSE, links->memory.at,
                                        end - links->memory.at, epoch->out.host + links->memory.at, 0, NULL,
                                        NULL);
    return opencl_commanded(resident, code, "clEnqueueWriteBuffer");
}

static gyre_status download(const gyre_resident *resident, struct opencl_epoch *epoch)
{
    const struct opencl_links *links = resident->links;
    if (reaches_cells(resident))
        return GYRE_OK;
    return opencl_commanded(resident,
                            resident->device->cl->clEnqueueReadBuffer(
                                epoch->commands, epoch->out.memory, CL_FALSE, 0,
                                opencl_flow_memory_end(links, links->count, links->memory.count),
                                epoch->out.host, 0, NULL, &epoch->done),
                            "clEnqueueReadBuffer");
}

/* Sends the epoch to the device: the whole of it, or once more what a command kept lanes from beginning. */
static gyre_status submit(gyre_resident *resident, gyre_u64 command, bool again)
{
    struct opencl_epoch *epoch = &resident->epochs[0];
    cl_command_queue commands = epoch->commands ? epoch->commands : resident->compute;
    epoch->queue = NULL;
    epoch->command = command;
    epoch->count = resident->links->count;
    epoch->promised = epoch->count;
    epoch->mark = GYRE_EPOCH_DONE | ++resident->marks;
    epoch->start_ns = gyre_clock_ns();
    epoch->written = epoch->ran = epoch->done = NULL;
    gyre_status status = again ? GYRE_OK : clear_replies(resident);
    if (status == GYRE_OK)
        status = opencl_copy_handles(resident);
    if (status == GYRE_OK)
        status = upload(resident);
    if (status == GYRE_OK)
        status = opencl_set_slots(resident, epoch->in.memory, epoch->out.memory);
    if (status == GYRE_OK)
        status = opencl_enqueue(resident, epoch, NULL, reaches_cells(resident) ? &epoch->done : &epoch->ran);
    if (status == GYRE_OK)
        status = download(resident, epoch);
    if (status == GYRE_OK)
        status = opencl_commanded(resident, resident->device->cl->clFlush(commands), "clFlush");
    return status;
}

/* Whether a device that completes every message of an epoch did not: it can be believed nothing any more. */
static bool is_broken(const gyre_resident *resident)
{
    const bool may_leave = resident->device->direct && !resident->lanes_meet;
    return !may_leave && resident->links->settled < resident->links->count;
}

/* An epoch of columns is as large as it may be when one of them is: what else it holds is chance. */
static void adapt_limit(gyre_resident *resident)
{
    struct opencl_epoch measured = resident->epochs[0];
    if (resident->links->rows)
        measured.count = resident->links->full ? resident->limit : resident->links->taken;
    opencl_adapt_limit(resident, &measured);
}

/* The flow that message i belongs to, as a block's line has it; 0: none. */
static gyre_u64 working_of(const gyre_resident *resident, uint32_t i)
{
    const struct opencl_links *links = resident->links;
    const struct opencl_message *message = &links->messages[i];
    if (!message->in_flow || message->lost || message->origin & GYRE_ORIGIN_TAP)
        return 0;
    return GYRE_WORKING_FLOW(GYRE_ORIGIN_TABLE(message->origin), resident->marks + 1,
                             opencl_flow_of(links, message->origin)->index);
}

/*
 * In a worker process: the lines of blocks say at which flows the epoch is, one a line, before it can take the process down. Which block
 * gets which message is not known here, and need not be: where it matters one flow alone is under way.
 */
static void tell_flows(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    gyre_control_block *lines = (gyre_control_block *)(resident->control + 1);
    uint32_t told = 0;
    for (uint32_t i = 0; i < links->count && told < resident->blocks; i++) {
        const gyre_u64 working = working_of(resident, i);
        if (working)
            __atomic_store_n(&lines[told++].working, working, __ATOMIC_RELAXED);
    }
}

static void tell_none(const gyre_resident *resident)
{
    gyre_control_block *lines = (gyre_control_block *)(resident->control + 1);
    for (uint32_t i = 0; i < resident->blocks; i++)
        __atomic_store_n(&lines[i].working, 0, __ATOMIC_RELAXED);
}

static gyre_status run(gyre_resident *resident, gyre_u64 command, bool again)
{
    struct opencl_epoch *epoch = &resident->epochs[0];
    const bool tells = resident->links->table && resident->links->table->answers & GYRE_TABLE_TELLS;
    if (tells)
        tell_flows(resident);
    gyre_status status = submit(resident, command, again);
    if (status == GYRE_OK) {
        opencl_tell_begun(resident, epoch);
        status = opencl_await_epoch(resident, epoch);
        opencl_tell_ended(resident, epoch);
        if (tells)
            tell_none(resident);
    }
    if (status == GYRE_OK) {
        resident->log_stale = true;
        const uint64_t epoch_ns = gyre_clock_ns() - epoch->start_ns;
        const struct handled handled = settle(resident);
        opencl_times_count(&resident->links->timed, handled.of_flows, epoch_ns);
        opencl_ports_ring(resident);
        opencl_count_messages(resident, handled.all, handled.failed);
        adapt_limit(resident);
        opencl_profile_add(resident, epoch);
    }
    opencl_release_events(resident->device->cl, epoch);
    return status == GYRE_OK && is_broken(resident)
               ? opencl_lose(resident->device, CL_INVALID_VALUE, "completing a message")
               : status;
}

void opencl_links_alarm(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    opencl_ports_alarm(links);
    for (uint32_t i = 0; links->table && i < links->table->inlet_count; i++) {
        gyre_control_region *sender = link_at(link_inlets(links->table)[i].control);
        gyre_bell_ring(&sender->doorbell.bell, INT_MAX);
    }
}

bool opencl_links_have_work(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    if (atomic_load_explicit(&resident->device->lost, memory_order_acquire))
        return true; /* to find that out */
    if (links->settled < links->count)
        return true;
    const bool room = opencl_ports_room(links, 1) > 0;
    if (links->kept.count)
        return room || (opencl_kept_has_room(links) && opencl_fetch_has_requests(resident, false));
    return (room && opencl_fetch_has_links(resident)) || opencl_fetch_has_requests(resident, room);
}

gyre_status opencl_links_serve(gyre_resident *resident, gyre_u64 command, bool *served)
{
    const struct opencl_links *links = resident->links;
    const bool again = links->settled < links->count;
    *served = again;
    gyre_status status = opencl_lost(resident->device);
    if (status == GYRE_OK && !again)
        status = fetch(resident);
    if (status != GYRE_OK || links->count == 0)
        return status;
    *served = true;
    return run(resident, command, again);
}
