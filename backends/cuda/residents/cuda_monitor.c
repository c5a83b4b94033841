/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches over the kernels of a GPU, in one thread for each GPU. The thread ends stays that have lasted long
 * enough, brings kernels back (cuda_presence.c), hands on the lines that handlers log, tells what blocks work
 * on, copies the memory that somebody asked for (cuda_peek.c), and notices a device that died.
 *
 * Lock: residents->lock. The thread skips a visit when another thread holds it.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/residents/cuda_log.h"
#include "backends/cuda/residents/cuda_monitor.h"
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/memory/cuda_peek.h"
#include "backends/cuda/presence/cuda_presence.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_tell.h"
#include "backends/cuda/residents/cuda_times.h"

#include <time.h>

#include "gyre/waiting.h"

#define MONITOR_PAUSE_NS 20000000
#define MONITOR_LEAST_NS 250000
/* longest stay of a kernel that keeps calls into the driver waiting */
#define SERIAL_STAY_NS UINT64_C(50000000)
#define SERIAL_TURN_NS UINT64_C(5000000) /* longest stay of a kernel that keeps other kernels waiting */

static uint64_t longest_stay_ns(const gyre_resident *resident)
{
    const struct cuda_residents *residents = resident->device->residents;
    const bool alone = residents->first == resident && !resident->next;
    if (residents->serial && !alone)
        return SERIAL_TURN_NS;
    if (resident->residency_ns)
        return resident->residency_ns;
    return residents->serial ? SERIAL_STAY_NS : UINT64_MAX;
}

/*
 * Orders the kernel to leave for a moment once its stay has lasted long enough, and brings it back when it
 * has left.
 */
static void bound_stay(gyre_resident *resident)
{
    if (!resident->leaving && gyre_clock_ns() - resident->started_ns < longest_stay_ns(resident))
        return;
    if (!resident->leaving)
        cuda_resident_order(resident, true);
    if (cuda_resident_await(resident, gyre_clock_ns() + CUDA_EAGER_NS) == GYRE_OK &&
        !resident->device->residents->serial)
        cuda_resident_come_back(resident);
}

/*
 * Looks at one kernel. A kernel that handled nothing has logged nothing, except in reminders, so an idle kernel costs one query,
 * and ten times a second a small copy, as does each piece of memory that was asked for since its last copy.
 */
static void watch_resident(gyre_resident *resident)
{
    if (resident->on_device && cuda_resident_look(resident) == GYRE_LOST)
        return;
    if (resident->on_device || resident->leaving)
        bound_stay(resident);
    if (resident->device->residents->serial)
        return;
    cuda_log_look(resident);
    cuda_times_look(resident);
    cuda_peek_look(resident->device);
    if (resident->on_device)
        cuda_tell_look(resident);
}

/*
 * Gives the device to the next kernel when no kernel is on it. Reads the logs first: now no call into the
 * driver waits for a kernel.
 */
static void change_turns(struct cuda_residents *residents)
{
    for (gyre_resident *resident = residents->first; resident; resident = resident->next)
        if (resident->on_device)
            return;
    for (gyre_resident *resident = residents->first; resident; resident = resident->next) {
        cuda_log_look(resident);
        cuda_times_look(resident);
        cuda_peek_look(resident->device);
    }
    cuda_give_turn(residents);
}

/* Shortens the pause for a kernel whose stays are short (milliseconds), or that is about to leave. */
static long sooner_pause(long pause_ns, const gyre_resident *resident)
{
    const uint64_t quarter = longest_stay_ns(resident) / 4;
    if (resident->leaving)
        return MONITOR_LEAST_NS;
    if (quarter >= (uint64_t)pause_ns)
        return pause_ns;
    return quarter < MONITOR_LEAST_NS ? MONITOR_LEAST_NS : (long)quarter;
}

void *cuda_residents_watch(void *argument)
{
    struct cuda_residents *residents = argument;
    long pause_ns = MONITOR_PAUSE_NS;
    while (!__atomic_load_n(&residents->leave, __ATOMIC_ACQUIRE)) {
        nanosleep(&(struct timespec){0, pause_ns}, NULL);
        pause_ns = MONITOR_PAUSE_NS;
        if (pthread_mutex_trylock(&residents->lock) != 0)
            continue; /* a quiet moment: the thread that holds the lock looks at the streams itself */
        for (gyre_resident *resident = residents->first; resident; resident = resident->next) {
            if (cuda_enter(resident->device) == GYRE_OK && cuda_lost(resident->device) == GYRE_OK)
                watch_resident(resident);
            if (cuda_lost(resident->device) != GYRE_OK)
                cuda_resident_tell_lost(resident, resident->device->lost_why);
            pause_ns = sooner_pause(pause_ns, resident);
        }
        if (residents->serial)
            change_turns(residents);
        pthread_mutex_unlock(&residents->lock);
    }
    return NULL;
}
