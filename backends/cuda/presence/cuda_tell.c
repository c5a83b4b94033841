/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a person who wonders why no reply comes what a kernel's blocks work on. Each worker of a block notes
 * its present run of messages in device memory (gyre_cuda_turns). Here the monitor copies the notes and
 * writes into each block's line of the control region which run the block is at, and since when. If a block
 * has several workers, the worker that has been at its run for longest counts.
 *
 * Has no lock of its own: the caller is the monitor or another thread that holds residents->lock. Must not
 * wait for a kernel, nor for other threads' transfers. All accesses are relaxed: each word is right by
 * itself, and nobody relies on their order.
 */
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_service.h"
#include "backends/cuda/presence/cuda_tell.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/waiting.h"

/*
 * The monitor visits every 20 ms. After a second without work (50 visits) it looks at every fifth visit only.
 */
enum { RECENT_TURNS = 50, IDLE_EVERY = 5 };

/** The notes of a block at the monitor's last look. */
struct told_block {
    gyre_cuda_turns turns;
    uint64_t since_ns[GYRE_CUDA_TURNS]; /* when the note of each worker changed */
};

struct cuda_telling {
    gyre_cuda_turns *copy; /* a line for each block */
    uint64_t handled;      /* messages handled by all blocks, at the last look */
    uint32_t still;        /* visits of the monitor since a block was at work or a message was handled */
    struct told_block blocks[];
};

gyre_status cuda_tell_prepare(gyre_resident *resident)
{
    const size_t count = resident->blocks;
    resident->telling = calloc(1, sizeof *resident->telling + count * sizeof(struct told_block));
    if (resident->telling)
        resident->telling->copy = calloc(count, sizeof *resident->telling->copy);
    if (!resident->telling || !resident->telling->copy)
        return resident->device->host->error(GYRE_EXHAUSTED, "no memory to watch a kernel's blocks");
    return GYRE_OK;
}

void cuda_tell_finish(gyre_resident *resident)
{
    if (resident->telling)
        free(resident->telling->copy);
    free(resident->telling);
    resident->telling = NULL;
}

void cuda_tell_present(const gyre_resident *resident)
{
    const uint64_t tells = resident->device->residents->serial ? 0 : GYRE_TELLS_TIME;
    for (uint32_t i = 0; i < resident->blocks; i++)
        __atomic_store_n(&cuda_resident_lines(resident)[i].tells, tells, __ATOMIC_RELAXED);
}

/* Whether all blocks obeyed an order to handle nothing. */
static bool look_rests(const gyre_resident *resident)
{
    const gyre_u64 command = __atomic_load_n(&resident->control->command.command, __ATOMIC_RELAXED);
    bool all = GYRE_COMMAND_VERB(command) != GYRE_VERB_RUN;
    for (uint32_t i = 0; i < resident->blocks && all; i++)
        all = __atomic_load_n(&cuda_resident_lines(resident)[i].acknowledged, __ATOMIC_RELAXED) >= command;
    return all;
}

static bool is_time(gyre_resident *resident)
{
    struct cuda_telling *telling = resident->telling;
    const uint64_t handled = cuda_resident_handled(resident);
    telling->still = handled == telling->handled ? telling->still + 1 : 0;
    telling->handled = handled;
    if (telling->still < RECENT_TURNS)
        return true;
    return telling->still % IDLE_EVERY == 0 && !look_rests(resident);
}

/*
 * Copies the blocks' present notes. False when that fails now, for example because the copy would wait behind
 * commands of other threads in the stream; the next look may succeed.
 */
static bool copy_turns(gyre_resident *resident)
{
    return cuda_service_try_read(resident->device, resident->telling->copy,
                                 resident->memory + resident->turns_offset,
                                 resident->blocks * sizeof(gyre_cuda_turns),
                                 "what a kernel's blocks are at is looked at again in a moment");
}

/*
 * Returns the block's worker that has been at its run for longest; GYRE_CUDA_TURNS when no worker is at a
 * run.
 */
static uint32_t compare_turns(struct told_block *block, const gyre_cuda_turns *turns, uint64_t now)
{
    uint32_t longest = GYRE_CUDA_TURNS;
    for (uint32_t i = 0; i < GYRE_CUDA_TURNS; i++) {
        if (turns->of[i] != block->turns.of[i])
            block->since_ns[i] = now;
        if (turns->of[i] && (longest == GYRE_CUDA_TURNS || block->since_ns[i] < block->since_ns[longest]))
            longest = i;
    }
    block->turns = *turns;
    return longest;
}

static void tell_line(gyre_control_block *line, uint64_t working, uint64_t working_ns)
{
    const uint64_t handled = __atomic_load_n(&line->handled, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, handled, __ATOMIC_RELAXED);
    __atomic_store_n(&line->working_ns, working_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&line->working, working, __ATOMIC_RELAXED);
}

/*
 * Writes all blocks' lines. Blocks without work come first: so no reader sees a block at a run that another
 * block has taken up since.
 */
static void tell_all(gyre_resident *resident, uint64_t now)
{
    struct cuda_telling *telling = resident->telling;
    gyre_control_block *lines = cuda_resident_lines(resident);
    for (int at_work = 0; at_work <= 1; at_work++)
        for (uint32_t i = 0; i < resident->blocks; i++) {
            struct told_block *block = &telling->blocks[i];
            const uint32_t worker = compare_turns(block, &telling->copy[i], now);
            if ((worker < GYRE_CUDA_TURNS) != at_work)
                continue;
            if (at_work) {
                telling->still = 0;
                tell_line(&lines[i], (uint64_t)(worker + 1) << 32 | block->turns.of[worker],
                          now - block->since_ns[worker]);
            } else {
                tell_line(&lines[i], 0, 0);
            }
        }
}

void cuda_tell_look(gyre_resident *resident)
{
    if (!is_time(resident))
        return;
    const uint64_t now = gyre_clock_ns(); /* read before the copy: the notes are at least as old */
    if (copy_turns(resident))
        tell_all(resident, now);
}

void cuda_tell_gone(gyre_resident *resident)
{
    for (uint32_t i = 0; i < resident->blocks; i++)
        tell_line(&cuda_resident_lines(resident)[i], 0, 0);
    if (resident->telling)
        memset(resident->telling->blocks, 0, resident->blocks * sizeof(struct told_block));
}
