/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts looks that find blocks at messages (busy.h). Each look is a sample. From the 100 looks of a second a share of one half is told with a
 * standard error of 5 points; other shares are told better, and so is the time that a block was busy in all, the longer it is.
 *
 * Each look wakes a thread. So a kernel that handles nothing is looked at only as often as the observation file is written: the kernel's
 * counts already say that its blocks were not busy. When the kernel begins to handle messages, no share is told until a second of looks is over.
 *
 * Lock: kernel->lock.
 */
#include "core/kernel/busy.h"

#include <stdlib.h>
#include <string.h>

#include "core/kernel/control.h"
#include "core/observation/observation.h"

#define WINDOW_NS UINT64_C(1000000000)  /* the time that a share is told for */
#define LATELY_NS UINT64_C(10000000000) /* after its last message a kernel is looked at often for so long */
#define GAP_NS                                                                                               \
    UINT64_C(250000000) /* a longer time between two looks counts as this one: the program was stopped */

struct gyre_kernel_busy {
    uint64_t looked_ns; /* when the last look was; 0: there was none */
    uint64_t handled;   /* by all blocks then */
    uint64_t moved_ns;  /* when a look last found that messages are handled */
    uint64_t window_ns; /* time since the last share was told, */
    uint32_t looks;     /* and looks in that time */
    bool rests;         /* it is looked at seldom */
    uint32_t *at_work;  /* for each block: of the looks, those that found it at messages; behind `told` */
    gyre_observe_block told[];
};

void gyre_kernel_busy_begin(gyre_kernel *kernel)
{
    const size_t each = sizeof(gyre_observe_block) + sizeof(uint32_t);
    struct gyre_kernel_busy *busy = calloc(1, sizeof *busy + kernel->blocks * each);
    if (busy)
        busy->at_work = (uint32_t *)(busy->told + kernel->blocks);
    kernel->busy = busy;
}

/* Another second begins. */
static void begin_window(const gyre_kernel *kernel, struct gyre_kernel_busy *busy)
{
    memset(busy->at_work, 0, kernel->blocks * sizeof busy->at_work[0]);
    busy->looks = 0;
    busy->window_ns = 0;
}

/* Ends the second: its looks become the share of each block. */
static void end_window(const gyre_kernel *kernel, struct gyre_kernel_busy *busy)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        gyre_observe_block *told = &busy->told[i];
        told->known = __atomic_load_n(&lines[i].tells, __ATOMIC_RELAXED) != 0;
        if (!told->known)
            continue;
        told->share = (uint32_t)((uint64_t)GYRE_OBSERVE_WHOLE * busy->at_work[i] / busy->looks);
        told->seen_ns += busy->window_ns;
        told->busy_ns += busy->window_ns * busy->at_work[i] / busy->looks;
    }
    begin_window(kernel, busy);
}

/* The kernel handles messages again: nothing is known until a second is over. */
static void wake(const gyre_kernel *kernel, struct gyre_kernel_busy *busy)
{
    for (uint32_t i = 0; i < kernel->blocks; i++)
        busy->told[i].known = 0;
    begin_window(kernel, busy);
}

/* Counts which blocks are at messages. Returns whether messages were handled since the last look, or are now. */
static bool count_blocks(const gyre_kernel *kernel, struct gyre_kernel_busy *busy)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    uint64_t handled = 0;
    bool works = false;
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        /* the line of a block whose process died says what it was at */
        const bool at_work = kernel->resident && __atomic_load_n(&lines[i].working, __ATOMIC_RELAXED) != 0;
        busy->at_work[i] += at_work;
        works |= at_work;
        handled += __atomic_load_n(&lines[i].handled, __ATOMIC_RELAXED);
    }
    works |= handled != busy->handled;
    busy->handled = handled;
    busy->looks++;
    return works;
}

/* Under the lock. */
static bool look(const gyre_kernel *kernel, struct gyre_kernel_busy *busy, uint64_t now)
{
    if (!busy->looked_ns)
        busy->looked_ns = busy->moved_ns = now;
    const uint64_t spent = now - busy->looked_ns;
    const bool works = count_blocks(kernel, busy);
    busy->window_ns += spent < GAP_NS || (busy->rests && !works) ? spent : GAP_NS;
    busy->looked_ns = now;
    if (works)
        busy->moved_ns = now;
    if (works && busy->rests)
        wake(kernel, busy);
    else if (busy->window_ns >= WINDOW_NS)
        end_window(kernel, busy);
    busy->rests = now - busy->moved_ns >= LATELY_NS;
    return !busy->rests;
}

bool gyre_kernel_busy_look(gyre_kernel *kernel, uint64_t now)
{
    bool again = false;
    if (!__atomic_load_n(&kernel->observed, __ATOMIC_ACQUIRE))
        return false;
    if (pthread_mutex_trylock(&kernel->lock) != 0)
        return true;
    if (kernel->busy)
        again = look(kernel, kernel->busy, now);
    pthread_mutex_unlock(&kernel->lock);
    return again;
}

void gyre_kernel_busy_tell(const gyre_kernel *kernel)
{
    if (kernel->busy)
        gyre_observation_blocks(gyre_runtime_observation(kernel->runtime), kernel->observed,
                                kernel->busy->told, kernel->blocks);
}
