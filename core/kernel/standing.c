/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that stand together (standing.h). turn.saving is set while a kernel stands, as for a checkpoint.
 *
 * Locks: kernel->lock. That of a second kernel is only tried while the first is held, so two threads never wait for each other.
 */
#include "core/kernel/standing.h"

#include <errno.h>
#include <sched.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/kernel/control.h"
#include "core/kernel/keeper.h"
#include "core/kernel/standstill.h"

struct gyre_standing gyre_standing_of(gyre_kernel *kernel)
{
    return (struct gyre_standing){.kernel = kernel, .name = kernel->name, .runtime = kernel->runtime};
}

/* ---- beginning ---- */

/* Waits for a change of the kernel. False: the deadline has passed. Under the lock, given up meanwhile. */
static bool await_change(gyre_kernel *kernel, uint64_t deadline_ns)
{
    const struct timespec deadline = gyre_clock_timespec(deadline_ns);
    kernel->turn.inside++;
    const int rc = pthread_cond_timedwait(&kernel->changed, &kernel->lock, &deadline);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed); /* for a thread that frees the kernel */
    return rc != ETIMEDOUT;
}

/* A standing kernel does not count in turn.wanted: two threads that both count there would make each other give up. */
static gyre_status await_free(gyre_kernel *kernel, uint64_t deadline_ns)
{
    bool waits = true;
    while (gyre_kernel_is_taken(kernel) && waits)
        waits = await_change(kernel, deadline_ns);
    if (!gyre_kernel_is_taken(kernel))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_TIMEOUT,
        "kernel '%s' was being saved, changed or brought back by other threads until the deadline",
        kernel->name);
}

static gyre_status check_running(const gyre_kernel *kernel)
{
    const gyre_kernel_state state = gyre_kernel_get_state(kernel);
    char why[64];
    if (state == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST, "kernel '%s' is lost%s; launch it again", kernel->name,
                              gyre_kernel_why_lost(kernel, why, sizeof why));
    if (kernel->end.leaving || !kernel->resident ||
        (state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE))
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it first", kernel->name,
                              kernel->end.leaving ? "being released" : gyre_kernel_state_word(state));
    return GYRE_OK;
}

/* The number of the worker that the kernel runs in. Under the lock, so that the resident stays. */
static gyre_status note_worker(struct gyre_standing *standing)
{
    const gyre_kernel *kernel = standing->kernel;
    standing->incarnation = gyre_dispatch_incarnation(kernel->dispatch);
    if (gyre_dispatch_is_current(kernel->dispatch, kernel->resident))
        return GYRE_OK;
    return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being brought back", kernel->name);
}

/* Under the lock, given up meanwhile. */
static gyre_status order(struct gyre_standing *standing, uint64_t deadline_ns)
{
    gyre_kernel *kernel = standing->kernel;
    gyre_status status = await_free(kernel, deadline_ns);
    if (status == GYRE_OK)
        status = check_running(kernel);
    if (status == GYRE_OK)
        status = gyre_standstill_check(kernel);
    if (status != GYRE_OK)
        return status;
    standing->generation = kernel->generation;
    standing->begun_ns = gyre_clock_ns();
    gyre_standstill_order(kernel);
    return GYRE_OK;
}

gyre_status gyre_standing_order(struct gyre_standing *standing, uint64_t deadline_ns)
{
    gyre_kernel *kernel = standing->kernel;
    pthread_mutex_lock(&kernel->lock);
    const gyre_status status = order(standing, deadline_ns);
    standing->stands = status == GYRE_OK;
    kernel->turn.inside += standing->stands; /* it is not freed */
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

gyre_status gyre_standing_await(struct gyre_standing *standing, uint64_t deadline_ns)
{
    gyre_kernel *kernel = standing->kernel;
    pthread_mutex_lock(&kernel->lock);
    gyre_status status = gyre_standstill_await(kernel, standing->generation, deadline_ns);
    if (status == GYRE_OK)
        status = note_worker(standing);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

void gyre_standing_end(struct gyre_standing *standing)
{
    gyre_kernel *kernel = standing->kernel;
    if (!standing->stands)
        return;
    pthread_mutex_lock(&kernel->lock);
    if (standing->drawn)
        kernel->keeper->draw_end(kernel, false, standing->begun_ns);
    standing->drawn = standing->stands = false;
    kernel->turn.inside--;
    gyre_standstill_end(kernel, standing->generation);
    pthread_mutex_unlock(&kernel->lock);
}

bool gyre_standing_may_retry(const struct gyre_standing *standing, gyre_status status)
{
    gyre_kernel *kernel = standing->kernel;
    pthread_mutex_lock(&kernel->lock);
    const bool replaced =
        gyre_dispatch_isolated(kernel->dispatch) && gyre_kernel_get_state(kernel) != GYRE_KERNEL_LOST;
    pthread_mutex_unlock(&kernel->lock);
    return status == GYRE_AGAIN || (status == GYRE_LOST && replaced);
}

/* ---- while it stands ---- */

gyre_status gyre_standing_transfer(const struct gyre_standing *standing, const gyre_buffer *buffer,
                                   const gyre_transfer_desc *desc)
{
    gyre_transfer_desc bytes = *desc;
    bytes.size = sizeof bytes;
    bytes.memory = buffer->memory;
    return gyre_dispatch_transfer_in(buffer->dispatch, &bytes, standing->incarnation);
}

bool gyre_standing_covers(const struct gyre_standing *standing, const gyre_buffer *buffer)
{
    gyre_kernel *kernel = standing->kernel;
    pthread_mutex_lock(&kernel->lock);
    const bool covers = kernel->checkpoints && kernel->keeper->covers(kernel, buffer->memory);
    pthread_mutex_unlock(&kernel->lock);
    return covers;
}

unsigned char *gyre_standing_place(const struct gyre_standing *standing, const gyre_buffer *buffer)
{
    return standing->kernel->checkpoints ? NULL
                                         : gyre_dispatch_memory_place(buffer->dispatch, buffer->memory);
}

struct gyre_dispatch *gyre_standing_device(const struct gyre_standing *standing)
{
    return __atomic_load_n(&standing->kernel->dispatch, __ATOMIC_ACQUIRE); /* a move writes it with release */
}

gyre_status gyre_standing_check_journal(const struct gyre_standing *standing, const char *call)
{
    gyre_kernel *kernel = standing->kernel;
    pthread_mutex_lock(&kernel->lock);
    const bool kept = kernel->keeper && kernel->keeper->has_journal(kernel);
    pthread_mutex_unlock(&kernel->lock);
    if (!kept)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "%s: kernel '%s' has a journal (durability = journal), and a program that ends in the midst would leave the "
        "result in the journals of some of the kernels: use durability = none for its queues",
        call, kernel->name);
}

/* ---- checkpoints that count together ---- */

gyre_status gyre_standing_draw(struct gyre_standing *standing, const gyre_queue *entry, uint64_t deadline_ns)
{
    gyre_kernel *kernel = standing->kernel;
    bool waits = true;
    if (!kernel->checkpoints)
        return GYRE_OK;
    pthread_mutex_lock(&kernel->lock);
    while (!standing->drawn && waits) {
        standing->drawn = kernel->keeper->draw_begin(kernel);
        waits = standing->drawn || await_change(kernel, deadline_ns);
    }
    pthread_mutex_unlock(&kernel->lock);
    if (standing->drawn)
        return entry ? kernel->keeper->draw_kept(kernel, entry) : kernel->keeper->draw_copy(kernel);
    return gyre_error_set(GYRE_TIMEOUT, "a checkpoint of kernel '%s' was being stored until the deadline",
                          kernel->name);
}

gyre_status gyre_standing_restore(const struct gyre_standing *standing)
{
    gyre_kernel *kernel = standing->kernel;
    return kernel->checkpoints ? kernel->keeper->restore(kernel, standing->incarnation) : GYRE_OK;
}

static void unlock_first(struct gyre_standing *const *standings, uint32_t count)
{
    while (count-- > 0)
        pthread_mutex_unlock(&standings[count]->kernel->lock);
}

static bool lock_or_give_up(struct gyre_standing *const *standings, uint32_t count)
{
    pthread_mutex_lock(&standings[0]->kernel->lock);
    for (uint32_t i = 1; i < count; i++)
        if (pthread_mutex_trylock(&standings[i]->kernel->lock) != 0) {
            unlock_first(standings, i);
            return false;
        }
    return true;
}

/* Recovery counts a kernel's generation up, under its lock, before it reads the last checkpoint. Under all locks. */
static gyre_status check_all(struct gyre_standing *const *standings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (standings[i]->kernel->generation != standings[i]->generation ||
            gyre_kernel_get_state(standings[i]->kernel) == GYRE_KERNEL_LOST)
            return gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", standings[i]->name);
    return GYRE_OK;
}

gyre_status gyre_standings_count(struct gyre_standing *const *standings, uint32_t count)
{
    while (!lock_or_give_up(standings, count))
        sched_yield();
    const gyre_status status = check_all(standings, count);
    for (uint32_t i = 0; status == GYRE_OK && i < count; i++)
        if (standings[i]->drawn) {
            standings[i]->kernel->keeper->draw_end(standings[i]->kernel, true, standings[i]->begun_ns);
            standings[i]->drawn = false;
        }
    unlock_first(standings, count);
    return status;
}
