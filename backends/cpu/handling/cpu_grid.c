/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a grid kernel (cpu_grid.h): how they get block 0's message, meet at barriers, and end it together.
 *
 * Takes no lock. Between two messages only block 0 writes the grid; the others see a message by `epoch`. A thread that waits
 * looks for a while, and then sleeps at a bell. It looks only briefly where threads outnumber processors: the one that it waits
 * for may need its processor.
 */
#include "backends/cpu/handling/cpu_grid.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_lines.h"
#include "backends/cpu/cpu_resident.h"
#include "gyre/waiting.h"

enum {
    CROWDED_TURNS = 64,    /* looks before a thread sleeps where blocks outnumber processors */
    SPIN_TURNS = 1u << 20, /* looks of `idle = spin`, which are some milliseconds */
};

/** A futex word, and how many threads sleep at it. */
struct bell {
    _Alignas(GYRE_LINE_SIZE) uint32_t rung;
    uint32_t sleepers;
};

struct cpu_grid {
    struct gyre_resident *resident;
    uint32_t blocks;
    const struct cpu_lanes_message *message; /* with `context`, as block 0 has them */
    const gyre_context *context;
    uint32_t closing;
    struct bell begun;                        /* a message, or closing */
    _Alignas(GYRE_LINE_SIZE) uint32_t epoch;  /* messages that began */
    _Alignas(GYRE_LINE_SIZE) uint32_t joined; /* blocks that are at the next barrier */
    _Alignas(GYRE_LINE_SIZE) uint32_t phase;  /* barriers that all blocks have met */
    uint32_t ended;                           /* blocks whose handlers have returned from the message */
    uint32_t parted;                          /* blocks met at different barriers: the message fails */
    struct bell moved;                        /* `phase` or `ended` */
    struct {
        _Alignas(GYRE_LINE_SIZE) const
            char *place; /* of the barrier where the block waits; NULL: it waits at none */
        uint32_t ended;
    } at[]; /* a block each */
};

/* ---- waiting ---- */

/* What a thread waits for. */
struct look {
    const struct cpu_grid *grid;
    uint32_t seen; /* the epoch or the phase before */
};

/* Seq_cst: either the sleeper sees what was stored before the ring, or this sees the sleeper. */
static void ring(struct bell *bell)
{
    __atomic_fetch_add(&bell->rung, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->sleepers, __ATOMIC_SEQ_CST))
        gyre_futex_wake(&bell->rung, INT_MAX);
}

static void sleep_at(struct bell *bell, gyre_look look, struct look *wanted)
{
    __atomic_fetch_add(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        const uint32_t rung = __atomic_load_n(&bell->rung, __ATOMIC_SEQ_CST);
        if (look(wanted))
            break;
        gyre_futex_wait(&bell->rung, rung, UINT64_MAX);
    }
    __atomic_fetch_sub(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* How often a thread looks before it sleeps. */
static uint64_t looks_of(const struct gyre_resident *resident)
{
    if (cpu_pool_processors(resident->device->pool) < resident->block_count)
        return CROWDED_TURNS;
    return resident->idle == GYRE_IDLE_SPIN ? SPIN_TURNS : resident->spin_turns;
}

static void await(struct cpu_worker *worker, struct bell *bell, gyre_look look, struct look *wanted)
{
    if (!gyre_idle_spin_politely(look, wanted, &worker->patience, looks_of(worker->resident)))
        sleep_at(bell, look, wanted);
}

/* The looks pair with the release of whoever stored the word: what it did before is seen afterwards. */
static int has_begun(void *context)
{
    const struct look *look = context;
    return __atomic_load_n(&look->grid->epoch, __ATOMIC_ACQUIRE) != look->seen ||
           __atomic_load_n(&look->grid->closing, __ATOMIC_ACQUIRE);
}

static int have_met(void *context)
{
    const struct look *look = context;
    return __atomic_load_n(&look->grid->phase, __ATOMIC_ACQUIRE) != look->seen ||
           __atomic_load_n(&look->grid->ended, __ATOMIC_ACQUIRE);
}

static int have_ended(void *context)
{
    const struct look *look = context;
    return __atomic_load_n(&look->grid->ended, __ATOMIC_ACQUIRE) == look->grid->blocks;
}

/* ---- barriers ---- */

/* The last block: whether all wait at one barrier. Their threads stored their places before they joined. */
static bool is_one_place(const struct cpu_grid *grid)
{
    for (uint32_t i = 1; i < grid->blocks; i++)
        if (grid->at[i].place != grid->at[0].place && strcmp(grid->at[i].place, grid->at[0].place) != 0)
            return false;
    return true;
}

static const char *file_and_line(const char *place)
{
    const char *slash = strrchr(place, '/');
    return slash ? slash + 1 : place;
}

/* The first block that is not where `block` waits. */
static uint32_t other_block(const struct cpu_grid *grid, uint32_t block, const char *place)
{
    for (uint32_t i = 0; i < grid->blocks; i++) {
        if (i == block)
            continue;
        if (grid->parted ? strcmp(grid->at[i].place, place) != 0
                         : __atomic_load_n(&grid->at[i].ended, __ATOMIC_ACQUIRE) != 0)
            return i;
    }
    return block;
}

/* Fails the message at a barrier that not all blocks reach, and leaves it. */
static void give_up(struct cpu_grid *grid, gyre_context *context, const char *place)
{
    struct cpu_worker *worker = context->owner;
    char *text = worker->fault.text;
    const uint32_t other = other_block(grid, worker->block, place);
    if (grid->parted)
        snprintf(text, sizeof worker->fault.text, "block %u waits at %s, %u at %s", worker->block,
                 file_and_line(place), other, file_and_line(grid->at[other].place));
    else
        snprintf(text, sizeof worker->fault.text, "block %u ended, %u waits: %s", other, worker->block,
                 file_and_line(place));
    if (!context->failed) {
        context->failed = 1;
        context->fail_code = GYRE_FAILURE_BARRIER;
        context->fail_text = text;
    }
    cpu_lanes_abandon(context);
}

/*
 * A block that has seen `ended` and no new phase waits in vain: it saw whatever the ended block had joined, and a block passes a
 * barrier only when all are there.
 */
void cpu_grid_barrier(gyre_context *context, const char *place)
{
    struct cpu_worker *worker = context->owner;
    struct cpu_grid *grid = worker->resident->grid;
    if (worker->resident->together > 1)
        cpu_lanes_meet_all(context, place);
    if (context->lane != 0 || !grid)
        return;
    struct look met = {grid, __atomic_load_n(&grid->phase, __ATOMIC_RELAXED)};
    grid->at[worker->block].place = place;
    if (__atomic_add_fetch(&grid->joined, 1, __ATOMIC_ACQ_REL) == grid->blocks) {
        grid->parted = !is_one_place(grid);
        grid->joined = 0;
        __atomic_store_n(&grid->phase, met.seen + 1, __ATOMIC_RELEASE);
        ring(&grid->moved);
    } else {
        await(worker, &grid->moved, have_met, &met);
    }
    if (__atomic_load_n(&grid->phase, __ATOMIC_ACQUIRE) == met.seen || grid->parted)
        give_up(grid, context, place);
}

void cpu_grid_refuse_barrier(gyre_context *context, const char *place)
{
    (void)place;
    if (context->failed)
        return;
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_BARRIER;
    context->fail_text = "grid barriers are for grid kernels";
}

/* ---- messages ---- */

static void end_block(struct cpu_grid *grid, uint32_t block)
{
    __atomic_store_n(&grid->at[block].ended, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&grid->ended, 1, __ATOMIC_ACQ_REL); /* pairs with have_met and have_ended */
    ring(&grid->moved);
}

/* The failure of a block that failed by itself counts more than one of a block that waited for it in vain. */
static bool is_worse(const gyre_context *block, const gyre_context *worst)
{
    if (!block->failed)
        return false;
    return !worst || (worst->fail_code == GYRE_FAILURE_BARRIER && block->fail_code != GYRE_FAILURE_BARRIER);
}

static int collect(struct cpu_grid *grid, int result, gyre_context *context)
{
    struct cpu_worker *workers = grid->resident->workers;
    const gyre_context *worst = context->failed ? context : NULL;
    for (uint32_t i = 1; i < grid->blocks; i++) {
        gyre_context *block = &workers[i].context;
        if (is_worse(block, worst))
            worst = block;
        block->failed = 0;
    }
    if (!worst)
        return result;
    context->failed = 1;
    context->fail_code = worst->fail_code;
    context->fail_text = worst->fail_text;
    return GYRE_OUTCOME_FAILED;
}

int cpu_grid_run(struct cpu_worker *worker, const struct cpu_lanes_message *message, gyre_context *context)
{
    struct cpu_grid *grid = worker->resident->grid;
    struct look ended = {grid, 0};
    grid->message = message;
    grid->context = context;
    grid->joined = grid->ended = grid->parted = 0;
    for (uint32_t i = 0; i < grid->blocks; i++)
        grid->at[i].ended = 0;
    __atomic_store_n(&grid->epoch, grid->epoch + 1, __ATOMIC_RELEASE); /* pairs with has_begun */
    ring(&grid->begun);
    const int result = cpu_lanes_run(worker->lanes, message, context);
    end_block(grid, 0);
    await(worker, &grid->moved, have_ended, &ended);
    return collect(grid, result, context);
}

/* What of block 0's context belongs to the message. */
static void adopt_message(gyre_context *context, const gyre_context *from)
{
    context->header = from->header;
    context->header_size = from->header_size;
    context->foreign = from->foreign;
    context->origin = from->origin;
    context->flow = from->flow;
    context->turn = from->turn;
    context->memory = from->memory;
    context->token = from->token;
}

static void handle_share(struct cpu_worker *worker)
{
    struct cpu_grid *grid = worker->resident->grid;
    struct cpu_lanes_message message = *grid->message;
    message.scratch = worker->scratch;
    adopt_message(&worker->context, grid->context);
    cpu_lanes_run(worker->lanes, &message, &worker->context);
    end_block(grid, worker->block);
}

/* ---- blocks ---- */

static enum cpu_task_end run_block(struct cpu_task *task)
{
    struct cpu_worker *worker =
        (struct cpu_worker *)(void *)((unsigned char *)task - offsetof(struct cpu_worker, task));
    struct cpu_grid *grid = worker->resident->grid;
    struct look begun = {grid, 0};
    for (;;) {
        await(worker, &grid->begun, has_begun, &begun);
        /* no message is under way when a grid closes */
        if (__atomic_load_n(&grid->epoch, __ATOMIC_ACQUIRE) == begun.seen)
            break;
        begun.seen++;
        handle_share(worker);
    }
    cpu_pool_leave(worker->resident->device->pool, &worker->resident->present);
    return CPU_TASK_ENDED;
}

/* The task never rests, so it has no bell. */
void cpu_grid_init(struct cpu_worker *worker)
{
    const struct cpu_settings *settings = &worker->resident->device->settings;
    worker->task = (struct cpu_task){
        .run = run_block,
        .processor = settings->pin_count ? settings->pins[worker->block % settings->pin_count] : -1};
    __atomic_store_n(&worker->line->tells, 1, __ATOMIC_RELAXED);
}

bool cpu_grid_create(struct gyre_resident *resident)
{
    struct cpu_grid *grid = cpu_lines_alloc(1, sizeof *grid + resident->block_count * sizeof grid->at[0]);
    resident->grid = grid;
    if (!grid)
        return false;
    grid->resident = resident;
    grid->blocks = resident->block_count;
    return true;
}

void cpu_grid_destroy(struct cpu_grid *grid)
{
    free(grid);
}

void cpu_grid_close(struct cpu_grid *grid)
{
    if (!grid)
        return;
    __atomic_store_n(&grid->closing, 1, __ATOMIC_RELEASE);
    ring(&grid->begun);
}
