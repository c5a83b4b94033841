/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of the ring protocol: obey the control word, serve the queues, wait when there is nothing
 * to do. One thread a kernel, so no locks. It writes its own lines of the control region and the queues'
 * device lines, reply slots, and nothing else. ring_layout.h says who writes what.
 */
#include "solo.h"

#define GYRE_TIMED  1 /* block kernels are run by this file's gyre_run_ */
#define GYRE_HEADED 1
#define GYRE_SEALED 1
#include <gyre/kernel.h>
#include <gyre/waiting.h>
#include <limits.h>

enum { BATCH = 256, PARK_TURNS = 200 };

/* ---- what handlers call ---- */

static void log_line(gyre_context *context, const char *text, gyre_i64 value)
{
    const gyre_resident *resident = context->owner;
    if (resident->kernel_log)
        resident->kernel_log(resident->kernel_log_context, text, value);
}

static void one_lane_barrier(gyre_context *context, const char *place)
{
    (void)context; /* all lanes of the block are here */
    (void)place;
}

static void refuse_barrier(gyre_context *context, const char *place)
{
    (void)place;
    if (context->failed)
        return;
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_BARRIER;
    context->fail_text = "barriers are for block kernels";
}

static gyre_u64 *one_lane_cells(gyre_context *context)
{
    static _Thread_local gyre_u64 cells[2]; /* one a lane and one more */
    (void)context;
    return cells;
}

const gyre_cpu_services *solo_services(const gyre_cpu_kernel *kernel)
{
    static const gyre_cpu_services of_blocks = {.barrier = one_lane_barrier,
                                                .grid_barrier = one_lane_barrier,
                                                .cells = one_lane_cells,
                                                .log = log_line,
                                                .time_ns = gyre_clock_ns};
    static const gyre_cpu_services of_lanes = {.barrier = refuse_barrier,
                                               .grid_barrier = refuse_barrier,
                                               .cells = one_lane_cells,
                                               .log = log_line,
                                               .time_ns = gyre_clock_ns};
    return gyre_form_shares((gyre_form)kernel->form) ? &of_blocks : &of_lanes;
}

/* ---- serving ---- */

/* The compiled file of a block kernel brings no loop over the ring; the one of the dialect calls this. */
static int handle_with_scratch(const void *request, void *reply, void *state, void *scratch,
                               const gyre_binding *buffers, gyre_context *context)
{
    const gyre_resident *resident = context->owner;
    (void)scratch;
    return resident->kernel->handle(request, reply, state, resident->scratch, buffers, context);
}

static uint64_t run_kernel(const gyre_resident *resident, gyre_cpu_run *run)
{
    const gyre_cpu_kernel *kernel = resident->kernel;
    if (kernel->run)
        return kernel->run(run);
    return gyre_run_(run, &kernel->sizes, handle_with_scratch);
}

static gyre_control_block *block_line(const gyre_resident *resident, uint32_t block)
{
    return (gyre_control_block *)(resident->control + 1) + block;
}

/* Relaxed: statistics that this thread alone writes. */
static void count_messages(gyre_control_block *line, uint64_t handled, uint64_t failed)
{
    __atomic_store_n(&line->handled, line->handled + handled, __ATOMIC_RELAXED);
    __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/*
 * Completes what is ready in one queue, as the block whose turn it is; returns how many messages. The loop
 * over the slots (gyre_run_ of the dialect) is the heart of the protocol: for each request whose sequence is
 * index + 1 (acquire), run the handler, write length and outcome, store sequence index + 1 (release); below
 * drop_before, complete it as DROPPED instead; leave when the command changed or a client waits.
 */
static uint64_t serve(gyre_resident *resident, struct solo_queue *queue, uint64_t command)
{
    gyre_queue_region *region = queue->region;
    const gyre_queue_slots *slots = &queue->slots;
    gyre_cpu_run run = {.requests = (const unsigned char *)region + slots->request_offset,
                        .replies = (unsigned char *)region + slots->reply_offset,
                        .mask = slots->capacity - 1,
                        .first = queue->next,
                        .limit = BATCH,
                        .request_stride = slots->request_stride,
                        .reply_stride = slots->reply_stride,
                        .host = &region->host,
                        .command = &resident->control->command.command,
                        .expected = command,
                        .state = resident->state,
                        .buffers = resident->bindings,
                        .context = &resident->context,
                        .foreign = slots->foreign,  /* another program's queue: its messages are copied ... */
                        .stage = &resident->stage}; /* ... to here, before anything of them is looked at */
    if (slots->stamps_offset) /* the kernel was compiled to say when it handles each message */
        run.stamps = (gyre_stamp *)(void *)((unsigned char *)region + slots->stamps_offset);
    if (slots->headers_offset) { /* the queue's messages have headers */
        run.headers = (const unsigned char *)region + slots->headers_offset;
        run.header_size = slots->header_size;
    }
    if (slots->sealed) { /* and checksums, of requests and then of replies */
        gyre_u32 *seals = (gyre_u32 *)(void *)((unsigned char *)region + GYRE_SEALS_OFFSET(slots));
        run.request_seals = seals;
        run.reply_seals = seals + GYRE_SEALS_ROUND(slots->capacity);
    }
    resident->context.block = resident->turn;
    uint64_t handled = run_kernel(resident, &run);
    if (!handled)
        return 0;
    queue->next += handled;
    count_messages(block_line(resident, resident->turn), handled, run.failed);
    resident->turn = (resident->turn + 1) % resident->blocks;
    /* between the last sequence and the look at `waiting`; pairs with the barrier of a client that parks */
    gyre_barrier_light(resident->light_barriers && !region->host.parks);
    if (__atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&region->device.bell, INT_MAX);
    return handled;
}

/* A new command ends the turn; the main loop then loads it with acquire. */
static uint64_t serve_all(gyre_resident *resident, uint64_t command)
{
    uint64_t handled = 0;
    for (uint32_t i = 0; i < GYRE_QUEUES_MAX; i++) {
        if (!resident->queues[i].region)
            continue;
        if (__atomic_load_n(&resident->control->command.command, __ATOMIC_RELAXED) != command)
            break;
        handled += serve(resident, &resident->queues[i], command);
    }
    return handled;
}

/* ---- commands ---- */

/* An entry keeps its place while its serial stays; a new serial is a new queue, served from `first` on. */
static void read_table(gyre_resident *resident)
{
    const gyre_control_region *control = resident->control;
    uint32_t count = __atomic_load_n(&control->command.queue_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < GYRE_QUEUES_MAX; i++) {
        const gyre_control_queue *entry = &control->queues[i];
        struct solo_queue *queue = &resident->queues[i];
        uint64_t address =
            __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE); /* first; pairs with the core */
        uint64_t serial = __atomic_load_n(&entry->serial, __ATOMIC_RELAXED);
        if (queue->serial != serial)
            queue->next = __atomic_load_n(&entry->first, __ATOMIC_RELAXED);
        queue->serial = serial;
        queue->region = (gyre_queue_region *)(uintptr_t)address;
        if (address)
            queue->slots = entry->slots;
    }
}

/* The host waits until every block has acknowledged; after PAUSE, STOP and YIELD no queue is touched. */
static void obey(gyre_resident *resident, uint64_t command)
{
    if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN)
        read_table(resident);
    for (uint32_t i = 0; i < resident->blocks; i++) /* release: pairs with the core's acquire */
        __atomic_store_n(&block_line(resident, i)->acknowledged, command, __ATOMIC_RELEASE);
    gyre_bell_ring(&resident->control->device.acknowledge_bell, INT_MAX);
}

/* ---- waiting ---- */

static bool request_ready(const struct solo_queue *queue)
{
    const gyre_queue_slots *slots = &queue->slots;
    const unsigned char *requests = (const unsigned char *)queue->region + slots->request_offset;
    const gyre_slot *slot =
        (const gyre_slot *)(const void *)(requests +
                                          (queue->next & (slots->capacity - 1)) * slots->request_stride);
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == queue->next + 1;
}

static bool has_work(const gyre_resident *resident, uint64_t command)
{
    if (__atomic_load_n(&resident->control->command.command, __ATOMIC_ACQUIRE) != command)
        return true;
    for (uint32_t i = 0; GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN && i < GYRE_QUEUES_MAX; i++)
        if (resident->queues[i].region && request_ready(&resident->queues[i]))
            return true;
    return false;
}

struct wait {
    const gyre_resident *resident;
    uint64_t command;
};

static int find_work(void *context)
{
    const struct wait *wait = context;
    return has_work(wait->resident, wait->command);
}

/* `yield` is served as `adaptive` is: a strategy may cost more than was asked for, never an answer. */
static void wait_for_work(gyre_resident *resident, uint64_t command)
{
    struct wait wait = {resident, command};
    gyre_control_region *control = resident->control;
    uint64_t turns = resident->spin_turns;
    if (GYRE_COMMAND_VERB(command) != GYRE_VERB_RUN)
        turns = 0; /* a paused kernel costs nothing */
    else if (resident->idle == GYRE_IDLE_SPIN)
        turns = UINT64_MAX;
    else if (resident->idle == GYRE_IDLE_PARK)
        turns = PARK_TURNS;
    /* either a sender sees `parked` and rings, or the last look before the sleep sees its request: waiting.h */
    if (!gyre_idle_spin(find_work, &wait, turns))
        gyre_idle_park(find_work, &wait, &control->device.parked, &control->doorbell.bell,
                       resident->light_barriers);
}

void *solo_main(void *argument)
{
    gyre_resident *resident = argument;
    uint64_t command = 0, verb = 0;
    while (verb != GYRE_VERB_STOP && verb != GYRE_VERB_YIELD) {
        /* acquire: pairs with the core's release of the command, after its changes of the queue table */
        uint64_t wanted = __atomic_load_n(&resident->control->command.command, __ATOMIC_ACQUIRE);
        if (wanted != command) {
            command = wanted;
            verb = GYRE_COMMAND_VERB(command);
            obey(resident, command);
        } else if (verb != GYRE_VERB_RUN || !serve_all(resident, command)) {
            wait_for_work(resident, command);
        }
    }
    gyre_bell_ring(&resident->left, INT_MAX); /* the last touch: `release` may follow at once */
    return NULL;
}
