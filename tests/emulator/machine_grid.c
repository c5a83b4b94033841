/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid: each block is a thread of this process, its warps take turns. The grid's lock guards who still runs and
 * the fault; nothing else is locked while it is held. Blocks look at `ending` between turns.
 */
#include "machine_core.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUANTUM = 400, IDLE_ROUNDS = 8, IDLE_NS = 30000, LOOKS = 1000, TURNS = 8, BORED_NS = 1000000 };

uint64_t machine_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t machine_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 32;
}

/* From EMULATOR_SEED. */
static uint64_t seed_of_machine(void)
{
    const char *text = getenv("EMULATOR_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

/* ---- faults ---- */

void machine_fault(struct warp *warp, const struct instruction *i, enum machine_fault_kind kind,
                   uint32_t lane, uint64_t address)
{
    struct block *block = warp->block;
    struct machine_grid *grid = block->grid;
    const uint64_t *specials = warp->specials;
    pthread_mutex_lock(&grid->lock);
    if (grid->fault.kind == MACHINE_NO_FAULT) {
        grid->fault.kind = kind;
        grid->fault.address = address;
        snprintf(grid->fault.where, sizeof grid->fault.where, "%.80s, block %u, thread %u, PTX line %u",
                 grid->function->name, block->number, (uint32_t)specials[SPECIAL_TID_X * LANES + lane],
                 i ? i->line : 0);
    }
    pthread_mutex_unlock(&grid->lock);
    atomic_store(&grid->ending, true);
    warp->left = 0;
}

/* Says where the first waits. */
static void fault_stuck(struct block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct warp *warp = &block->warps[w];
        if (warp->path_count == 0)
            continue;
        const struct path *path = &warp->paths[0];
        machine_fault(warp, path->pc, MACHINE_DEADLOCK, (uint32_t)__builtin_ctz(path->mask), 0);
        return;
    }
}

/* ---- blocks ---- */

static void set_row(struct warp *warp, enum special row, uint64_t value)
{
    for (uint32_t l = 0; l < LANES; l++)
        warp->specials[row * LANES + l] = value;
}

static void set_threads(struct warp *warp)
{
    const struct block *block = warp->block;
    const struct machine_grid *grid = block->grid;
    const uint32_t *size = grid->block_size;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t thread = warp->number * LANES + l;
        uint64_t *lane = warp->specials + l;
        lane[SPECIAL_TID_X * LANES] = thread % size[0];
        lane[SPECIAL_TID_Y * LANES] = thread / size[0] % size[1];
        lane[SPECIAL_TID_Z * LANES] = thread / size[0] / size[1];
        lane[SPECIAL_LANE * LANES] = l;
        lane[SPECIAL_MASK_EQ * LANES] = 1u << l;
        lane[SPECIAL_MASK_LT * LANES] = (1u << l) - 1;
        lane[SPECIAL_MASK_LE * LANES] = (2u << l) - 1;
        lane[SPECIAL_MASK_GE * LANES] = ~((1u << l) - 1);
        lane[SPECIAL_MASK_GT * LANES] = ~((2u << l) - 1);
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        set_row(warp, (enum special)(SPECIAL_NTID_X + axis), size[axis]);
        set_row(warp, (enum special)(SPECIAL_CTAID_X + axis), block->index[axis]);
        set_row(warp, (enum special)(SPECIAL_NCTAID_X + axis), grid->size[axis]);
    }
    set_row(warp, SPECIAL_WARP, warp->number);
    set_row(warp, SPECIAL_WARPS, block->warp_count);
    set_row(warp, SPECIAL_UNIT, block->number % MACHINE_UNITS);
    set_row(warp, SPECIAL_UNITS, MACHINE_UNITS);
    set_row(warp, SPECIAL_DYNAMIC_SHARED, grid->dynamic_shared);
    set_row(warp, SPECIAL_TOTAL_SHARED, block->shared_size);
}

/* Registers and local memory begin as whatever: noise shows who relies on zeros. */
static bool warp_init(struct warp *warp, struct block *block, uint32_t number)
{
    const struct machine_function *function = block->grid->function;
    const uint32_t *size = block->grid->block_size;
    const uint32_t threads = size[0] * size[1] * size[2], first = number * LANES;
    const uint32_t lanes = threads - first < LANES ? threads - first : LANES;
    warp->block = block;
    warp->number = number;
    warp->local_size = function->frame_total;
    warp->live = lanes == LANES ? UINT32_MAX : (1u << lanes) - 1;
    warp->specials = calloc((size_t)SPECIALS * LANES, sizeof *warp->specials);
    warp->comebacks = calloc((size_t)DEPTH_MAX * LANES, sizeof *warp->comebacks);
    warp->local = calloc((size_t)warp->local_size * LANES + 16, 1);
    uint64_t *registers = calloc((size_t)(function->registers_total + 1) * ROW, sizeof *registers);
    warp->base[BASE_REGISTERS] = warp->registers = registers;
    warp->base[BASE_CONSTANTS] = function->module->constants;
    warp->base[BASE_SPECIALS] = warp->specials;
    warp->paths[0] =
        (struct path){.pc = function->code, .function = function, .registers = registers, .mask = warp->live};
    warp->path_count = 1;
    if (!warp->specials || !warp->comebacks || !warp->local || !registers)
        return false;
    set_threads(warp);
    return true;
}

static void block_finish(struct block *block)
{
    for (uint32_t w = 0; block->warps && w < block->warp_count; w++) {
        free(block->warps[w].specials);
        free(block->warps[w].comebacks);
        free(block->warps[w].local);
        free(block->warps[w].registers);
    }
    free(block->warps);
    free(block->shared);
    machine_cache_finish(&block->cache);
    machine_stores_finish(&block->stores);
}

static bool block_init(struct block *block, struct machine_grid *grid, uint32_t number)
{
    const uint32_t *size = grid->block_size;
    const uint32_t threads = size[0] * size[1] * size[2];
    block->grid = grid;
    block->number = number;
    block->index[0] = number % grid->size[0];
    block->index[1] = number / grid->size[0] % grid->size[1];
    block->index[2] = number / grid->size[0] / grid->size[1];
    block->live = threads;
    block->warp_count = (threads + LANES - 1) / LANES;
    block->random = (seed_of_machine() + number * 7919 + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    block->shared_size = grid->function->module->dynamic_begin - SHARED_BEGIN + grid->dynamic_shared;
    block->shared = aligned_alloc(1024, ((size_t)block->shared_size + 1024) / 1024 * 1024);
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    if (!machine_cache_init(&block->cache, block->random) ||
        !machine_stores_init(&block->stores, block->random) || !block->shared || !block->warps)
        return false;
    for (uint32_t byte = 0; byte < block->shared_size; byte++)
        block->shared[byte] = (uint8_t)machine_random(&block->random);
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (!warp_init(&block->warps[w], block, w))
            return false;
    return true;
}

/* One turn of all warps; how many instructions ran. */
static uint64_t block_round(struct block *block)
{
    uint64_t ran = 0;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->warps[w].path_count) {
            struct warp *warp = &block->warps[w];
            const int more =
                machine_warp_turn(warp, QUANTUM / 2 + (int)(machine_random(&block->random) % QUANTUM));
            warp->turns = more ? warp->turns + 1 : 0;
            ran += (uint64_t)more;
        }
    if (block->copy_count)
        machine_copies_turn(block);
    if (block->stores.count)
        machine_stores_turn(&block->stores);
    return ran;
}

static void leave_for(long ns)
{
    const struct timespec pause = {.tv_nsec = ns};
    nanosleep(&pause, NULL);
}

/* A block that changes nothing leaves the processor to those that it may be waiting for. */
static void rest(uint32_t *idle_rounds)
{
    if (++*idle_rounds < IDLE_ROUNDS) {
        sched_yield();
        return;
    }
    leave_for(IDLE_NS);
}

/*
 * Whether all threads have looked and slept for a while and found nothing to do: such a block leaves the processor
 * for longer, to the compiler of the next kernel, say. One whose threads compute in between does not.
 */
static bool is_bored(const struct block *block)
{
    if (block->looks < LOOKS)
        return false;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->warps[w].path_count && block->warps[w].turns > TURNS)
            return false;
    return true;
}

static void *run_block(void *argument)
{
    struct block *block = argument;
    struct machine_grid *grid = block->grid;
    uint32_t idle_rounds = 0;
    while (block->live && !atomic_load(&grid->ending)) {
        block->stored = false;
        const uint64_t ran = block_round(block);
        if (!ran && !block->copy_count && machine_block_stuck(block))
            fault_stuck(block);
        else if (is_bored(block))
            leave_for(BORED_NS);
        else if (block->stored || block->stores.count || block->copy_count)
            idle_rounds = 0;
        else
            rest(&idle_rounds);
    }
    if (!block->live)
        machine_stores_let_all_go(&block->stores);
    pthread_mutex_lock(&grid->lock);
    grid->running--;
    pthread_cond_broadcast(&grid->changed);
    pthread_mutex_unlock(&grid->lock);
    return NULL;
}

/* ---- grids ---- */

static bool copy_arguments(struct machine_grid *grid, void *const *arguments)
{
    const struct machine_function *function = grid->function;
    grid->parameters = aligned_alloc(128, ((size_t)function->parameters_size + 128) / 128 * 128);
    if (!grid->parameters)
        return false;
    for (uint32_t p = 0; p < function->parameter_count; p++)
        memcpy(grid->parameters + function->parameters[p].offset, arguments[p], function->parameters[p].size);
    return true;
}

static void init_lock(struct machine_grid *grid)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&grid->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&grid->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool check(const struct machine_launch *launch, char *error, size_t error_size)
{
    const struct machine_function *function = launch->function;
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t shared = (uint64_t)function->shared_size + launch->dynamic_shared;
    if (threads == 0 || threads > function->threads_max || blocks == 0 || blocks > 4096)
        snprintf(error, error_size,
                 "%llu blocks of %llu threads cannot be launched, '%s' takes %u threads at most",
                 (unsigned long long)blocks, (unsigned long long)threads, function->name,
                 function->threads_max);
    else if (shared > MACHINE_SHARED_MAX)
        snprintf(error, error_size, "%llu bytes of shared memory are more than %d",
                 (unsigned long long)shared, MACHINE_SHARED_MAX);
    else
        return true;
    return false;
}

static bool start_blocks(struct machine_grid *grid)
{
    for (uint32_t b = 0; b < grid->block_count; b++)
        if (!block_init(&grid->blocks[b], grid, b))
            return false;
    grid->running = grid->block_count;
    for (; grid->started < grid->block_count; grid->started++)
        if (pthread_create(&grid->blocks[grid->started].thread, NULL, run_block,
                           &grid->blocks[grid->started]) != 0)
            return false;
    return true;
}

struct machine_grid *machine_grid_start(const struct machine_launch *launch, char *error, size_t error_size)
{
    if (!check(launch, error, error_size))
        return NULL;
    struct machine_grid *grid = calloc(1, sizeof *grid);
    snprintf(error, error_size, "no memory or no threads for the grid");
    if (!grid)
        return NULL;
    init_lock(grid);
    grid->function = launch->function;
    memcpy(grid->size, launch->grid, sizeof grid->size);
    memcpy(grid->block_size, launch->block, sizeof grid->block_size);
    grid->dynamic_shared = launch->dynamic_shared;
    grid->block_count = launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->blocks = calloc(grid->block_count, sizeof *grid->blocks);
    if (grid->blocks && copy_arguments(grid, launch->arguments) && start_blocks(grid))
        return grid;
    machine_grid_destroy(grid);
    return NULL;
}

static bool ended_locked(struct machine_grid *grid, struct machine_fault *fault)
{
    if (grid->running)
        return false;
    *fault = grid->fault;
    return true;
}

bool machine_grid_ended(struct machine_grid *grid, struct machine_fault *fault)
{
    pthread_mutex_lock(&grid->lock);
    const bool ended = ended_locked(grid, fault);
    pthread_mutex_unlock(&grid->lock);
    return ended;
}

bool machine_grid_wait(struct machine_grid *grid, uint64_t deadline_ns, struct machine_fault *fault)
{
    const uint64_t seconds = deadline_ns / 1000000000u;
    const struct timespec deadline = {.tv_sec = (time_t)(seconds < INT32_MAX ? seconds : INT32_MAX),
                                      .tv_nsec = (long)(deadline_ns % 1000000000u)};
    pthread_mutex_lock(&grid->lock);
    int result = 0;
    while (grid->running && result == 0)
        result = pthread_cond_timedwait(&grid->changed, &grid->lock, &deadline);
    const bool ended = ended_locked(grid, fault);
    pthread_mutex_unlock(&grid->lock);
    return ended;
}

void machine_grid_destroy(struct machine_grid *grid)
{
    if (!grid)
        return;
    atomic_store(&grid->ending, true);
    for (uint32_t b = 0; b < grid->started; b++)
        pthread_join(grid->blocks[b].thread, NULL);
    for (uint32_t b = 0; grid->blocks && b < grid->block_count; b++)
        block_finish(&grid->blocks[b]);
    free(grid->blocks);
    free(grid->parameters);
    pthread_cond_destroy(&grid->changed);
    pthread_mutex_destroy(&grid->lock);
    free(grid);
}
