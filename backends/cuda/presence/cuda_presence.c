/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a kernel onto its device, sees that it has left, and puts it back after a while. A kernel becomes
 * resident on the GPU in cuda_resident_start, for the first time and after each absence; the driver call,
 * cuLaunchCooperativeKernel, is in cuda_serial.c. The driver may refuse to take a kernel back, for a moment
 * or for good.
 *
 * Locks: the caller holds residents->lock throughout; the resident's order_lock is taken inside it.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/presence/cuda_presence.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_serial.h"
#include "backends/cuda/presence/cuda_stays.h"
#include "backends/cuda/presence/cuda_tell.h"

#include <stdio.h>
#include <time.h>

#include "gyre/waiting.h"

#define POLL_NS 20000
/* a kernel whose launch the driver has refused for this long is lost */
#define REFUSED_NS UINT64_C(2000000000)

/* Counts an absence when the kernel returns, once. */
static void note_absence(gyre_resident *resident)
{
    gyre_control_absences *absences = &resident->control->absences;
    uint64_t away_ns = resident->started_ns - resident->left_ns;
    if (!resident->left_ns)
        return;
    resident->left_ns = 0;
    /* relaxed, and no read-modify-write: these words have one writer, under residents->lock */
    __atomic_store_n(&absences->total_ns, absences->total_ns + away_ns, __ATOMIC_RELAXED);
    if (away_ns > absences->longest_ns)
        __atomic_store_n(&absences->longest_ns, away_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&absences->count, absences->count + 1, __ATOMIC_RELAXED);
}

gyre_status cuda_resident_start(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    gyre_status status = cuda_lost(device);
    if (status != GYRE_OK)
        return status;
    resident->arguments.order = cuda_resident_order(resident, false);
    status = cuda_serial_start(resident);
    resident->on_device = status == GYRE_OK;
    resident->started_ns = gyre_clock_ns();
    if (!resident->on_device)
        return status;
    resident->stay_range = cuda_range_open(device->host, resident->label);
    resident->left_ns = resident->ordered_ns;
    resident->ordered_ns = 0;
    /* where launches wait for their kernel (serial), the driver may still refuse: end_stay counts */
    if (!device->residents->serial)
        note_absence(resident);
    return GYRE_OK;
}

void cuda_resident_tell_lost(gyre_resident *resident, const char *why)
{
    gyre_control_device *line = &resident->control->device;
    if (__atomic_load_n(&line->lost, __ATOMIC_RELAXED))
        return;
    snprintf((char *)line->lost_why, sizeof line->lost_why, "%s", why);
    /* release: pairs with the acquire of the waiting threads, which then read the text */
    __atomic_store_n(&line->lost, 1, __ATOMIC_RELEASE);
}

/* Gives a kernel up after a refused launch: the kernel is lost, the device is not. */
static void give_up(gyre_resident *resident)
{
    char why[sizeof resident->control->device.lost_why];
    cuda_tell(resident->device, resident->answer, resident->call,
              "a kernel that left for a moment does not come back: it is lost, launch it again");
    snprintf(why, sizeof why, "%.34s failed with %d", resident->call, (int)resident->answer);
    cuda_resident_tell_lost(resident, why);
}

/*
 * Returns whether a refused launch is tried again. The kernel was on the device before, so it fits, and the
 * refusal may pass: the monitor tries for a while, and no caller has to know.
 */
static bool stays_away(gyre_resident *resident)
{
    const uint64_t now = gyre_clock_ns();
    if (!resident->refused_ns) {
        resident->refused_ns = now;
        cuda_tell(resident->device, resident->answer, resident->call,
                  "a kernel that made room for others cannot come back: it is tried again for 2 s");
    }
    if (now - resident->refused_ns >= REFUSED_NS)
        return false;
    pthread_mutex_lock(&resident->order_lock);
    resident->leaving = true;
    pthread_mutex_unlock(&resident->order_lock);
    return true;
}

gyre_status cuda_resident_come_back(gyre_resident *resident)
{
    gyre_status status = cuda_resident_start(resident);
    if (status == GYRE_OK || status == GYRE_LOST)
        return status;
    if (stays_away(resident))
        return GYRE_OK;
    give_up(resident);
    return status;
}

static void end_stay(gyre_resident *resident)
{
    resident->refused_ns = 0;
    note_absence(resident);
    cuda_stay_count(resident);
}

/*
 * Handles the refusal of a launch after which the kernel already counted as back on the device. The absence
 * goes on from the time when the kernel left. OK when the launch is tried again.
 */
static gyre_status stay_refused(gyre_resident *resident, gyre_status status)
{
    if (!cuda_resident_has_obeyed(resident) || !stays_away(resident)) {
        give_up(resident);
        return status;
    }
    resident->ordered_ns = resident->left_ns;
    resident->left_ns = 0;
    return GYRE_OK;
}

/* Returns AGAIN while the kernel has not ended, otherwise the result that it ended with. */
static gyre_status ask_presence(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    /* ask the launcher's thread: a call into the driver might wait for another kernel */
    if (resident->launcher)
        return cuda_launcher_await(resident, 0);
    const CUresult result = device->driver->cuStreamQuery(resident->stream);
    if (cuda_class_of(result) == CUDA_CLASS_TRANSIENT)
        return GYRE_AGAIN;
    return cuda_check_end(device, result, "cuStreamQuery");
}

/*
 * Where launches wait for their kernel (cuda_serial.h), this function also finds that a launch was refused.
 * If the kernel was on the device before that launch, it counts as a kernel that has left.
 */
gyre_status cuda_resident_look(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    if (!resident->on_device)
        return cuda_lost(device);
    gyre_status status = ask_presence(resident);
    if (status == GYRE_AGAIN)
        return GYRE_AGAIN;
    if (status == GYRE_LOST)
        cuda_resident_tell_lost(resident, device->lost_why);
    else if (status == GYRE_OK)
        end_stay(resident);
    else
        status = stay_refused(resident, status);
    resident->on_device = false;
    cuda_tell_gone(resident);
    cuda_range_close(resident->stay_range);
    return status;
}

gyre_status cuda_resident_await(gyre_resident *resident, uint64_t deadline_ns)
{
    uint64_t start = gyre_clock_ns();
    for (;;) {
        gyre_status status = cuda_resident_look(resident);
        if (status != GYRE_AGAIN)
            return status;
        uint64_t now = gyre_clock_ns();
        if (now >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "a handler is still running on the device");
        if (now - start > CUDA_EAGER_NS)
            nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
}
