/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Residents make room: loading, unloading and unregistering block while any kernel of the context is
 * resident, so all of them leave at a message boundary, and come back when it is done. And one thread a
 * device watches over them: it passes on what handlers log and notices a device that died.
 *
 * Locks: residents->lock from cuda_quiet_begin to cuda_quiet_end; the order_lock of a resident inside it, and alone in
 * cuda_notify.
 */
#include "cuda_failure.h"
#include "cuda_ranges.h"
#include "cuda_resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gyre/waiting.h"

/* a handler that does not come back for so long keeps everybody waiting */
#define LEAVE_LIMIT_NS   UINT64_C(10000000000)
#define MONITOR_PAUSE_NS 20000000
#define MONITOR_LEAST_NS 250000
/* a kernel that leaves takes some 10 us: look without sleeping at first */
#define EAGER_NS UINT64_C(200000)
#define POLL_NS  20000

#define SERIAL_STAY_NS UINT64_C(50000000)   /* of a kernel that keeps calls into the driver waiting */
#define REFUSED_NS     UINT64_C(2000000000) /* a kernel that the driver does not take back is lost then */
#define SERIAL_TURN_NS UINT64_C(5000000)    /* ... and other kernels */

/* ---- orders ---- */

/* The next order, by what the resident is to do. Under order_lock: of two the later one stays. */
static uint64_t write_order(gyre_resident *resident)
{
    const uint64_t order = ++resident->order_count << 1 | (resident->leaving ? GYRE_ORDER_LEAVE : 0);
    /* release: pairs with the device, which reads the control words behind it */
    __atomic_store_n(&resident->device->residents->orders[resident->line].order, order, __ATOMIC_RELEASE);
    return order;
}

uint64_t cuda_resident_order(gyre_resident *resident, bool leaving)
{
    pthread_mutex_lock(&resident->order_lock);
    if (leaving && !resident->leaving)
        resident->ordered_ns = gyre_clock_ns();
    resident->leaving = leaving;
    const uint64_t order = write_order(resident);
    pthread_mutex_unlock(&resident->order_lock);
    return order;
}

gyre_status cuda_notify(gyre_resident *resident)
{
    pthread_mutex_lock(&resident->order_lock);
    write_order(resident);
    pthread_mutex_unlock(&resident->order_lock);
    return GYRE_OK;
}

/* ---- starting and awaiting ---- */

/* A return is the end of an absence, which is counted once. */
static void note_absence(gyre_resident *resident)
{
    gyre_control_absences *absences = &resident->control->absences;
    uint64_t away_ns = resident->started_ns - resident->left_ns;
    if (!resident->left_ns)
        return;
    resident->left_ns = 0;
    /* relaxed, and no read-modify-write: this line has one writer, under residents->lock */
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
    if (!device->residents->serial) /* there it may be refused yet: the end of its stay tells */
        note_absence(resident);
    return GYRE_OK;
}

/* Those who wait for it give up. `why` in few words. */
static void tell_lost(gyre_resident *resident, const char *why)
{
    gyre_control_device *line = &resident->control->device;
    if (__atomic_load_n(&line->lost, __ATOMIC_RELAXED))
        return;
    snprintf((char *)line->lost_why, sizeof line->lost_why, "%s", why);
    /* release: pairs with the acquire of those who wait, who read the text then */
    __atomic_store_n(&line->lost, 1, __ATOMIC_RELEASE);
}

/* For one whose launch was refused: it is lost, the device is not. */
static void give_up(gyre_resident *resident)
{
    char why[sizeof resident->control->device.lost_why];
    cuda_tell(resident->device, resident->answer, resident->call,
              "a kernel that left for a moment does not come back: it is lost, launch it again");
    snprintf(why, sizeof why, "%.34s failed with %d", resident->call, (int)resident->answer);
    tell_lost(resident, why);
}

/*
 * After a refusal: whether it is tried again. What was launched before fits, so a refusal may pass: the monitor tries
 * for a while, and nobody else has to know.
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

/* Back onto the device for one that left it for a moment. OK also when that is tried again. */
static gyre_status come_back(gyre_resident *resident)
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

/* It was not back: it is away since it left. OK when that is tried again. */
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

/*
 * Whether it ended; a fault of the device ends it too, with LOST. Where launches wait for their kernel, a refused one
 * shows here, and is one that left when it was there before.
 */
static gyre_status look(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    if (!resident->on_device)
        return cuda_lost(device);
    gyre_status status = GYRE_OK;
    if (resident->launcher) { /* no call into the driver: it might wait for another kernel */
        status = cuda_launcher_await(resident, 0);
    } else {
        CUresult result = device->driver->cuStreamQuery(resident->stream);
        status = cuda_class_of(result) == CUDA_CLASS_TRANSIENT
                     ? GYRE_AGAIN
                     : cuda_check_end(device, result, "cuStreamQuery");
    }
    if (status == GYRE_AGAIN)
        return GYRE_AGAIN;
    if (status == GYRE_LOST)
        tell_lost(resident, device->lost_why);
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
        gyre_status status = look(resident);
        if (status != GYRE_AGAIN)
            return status;
        uint64_t now = gyre_clock_ns();
        if (now >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "a handler is still running on the device");
        if (now - start > EAGER_NS)
            nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
}

/* ---- quiet ---- */

static bool is_away(const gyre_resident *resident)
{
    return resident->leaving && !resident->on_device;
}

/*
 * Where launches serialise, one kernel has the device at a time: the one that was away longest comes back,
 * once nobody has it. Under residents->lock, context current.
 */
static gyre_status give_turn(struct cuda_residents *residents)
{
    gyre_resident *next = NULL;
    for (gyre_resident *resident = residents->first; resident; resident = resident->next) {
        if (resident->on_device)
            return GYRE_OK;
        if (is_away(resident) && (!next || resident->started_ns < next->started_ns))
            next = resident;
    }
    return next ? come_back(next) : GYRE_OK;
}

/*
 * Back onto the device with all that left it and have not been told to stop for good. One that did not leave
 * in time, because a handler does not return, cannot be called back: some of its blocks are gone. The monitor
 * brings it back when the last one is.
 */
static gyre_status bring_back(gyre_device *device)
{
    gyre_status status = GYRE_OK;
    if (device->residents->serial)
        return give_turn(device->residents);
    for (gyre_resident *resident = device->residents->first; resident; resident = resident->next) {
        gyre_status one = is_away(resident) ? come_back(resident) : GYRE_OK;
        status = status == GYRE_OK ? one : status;
    }
    return status;
}

gyre_status cuda_resident_return(gyre_resident *resident)
{
    if (resident->device->residents->serial)
        return give_turn(resident->device->residents);
    return come_back(resident);
}

gyre_status cuda_quiet_begin(gyre_device *device)
{
    gyre_status status = cuda_enter(device);
    if (status != GYRE_OK)
        return status;
    cuda_range_begin(device->host, "gyre: kernels away");
    pthread_mutex_lock(&device->residents->lock);
    for (gyre_resident *resident = device->residents->first; resident; resident = resident->next)
        if (resident->on_device)
            cuda_resident_order(resident, true);
    uint64_t deadline_ns = gyre_clock_ns() + LEAVE_LIMIT_NS;
    for (gyre_resident *resident = device->residents->first; resident && status == GYRE_OK;
         resident = resident->next)
        if (resident->leaving)
            status = cuda_resident_await(resident, deadline_ns);
    if (status != GYRE_OK) {
        bring_back(device);
        pthread_mutex_unlock(&device->residents->lock);
        cuda_range_end();
    }
    return status;
}

gyre_status cuda_quiet_end(gyre_device *device)
{
    gyre_status status = bring_back(device);
    pthread_mutex_unlock(&device->residents->lock);
    cuda_range_end();
    return status;
}

gyre_status cuda_work_begin(gyre_device *device, bool *quiet)
{
    *quiet = device->residents->serial;
    return *quiet ? cuda_quiet_begin(device) : cuda_enter(device);
}

void cuda_work_end(gyre_device *device, bool quiet)
{
    if (quiet)
        cuda_quiet_end(device);
}

gyre_status cuda_hold_begin(gyre_device *device, bool *quiet)
{
    gyre_status status = cuda_work_begin(device, quiet);
    if (status == GYRE_OK && !*quiet)
        pthread_mutex_lock(&device->residents->lock);
    return status;
}

void cuda_hold_end(gyre_device *device, bool quiet)
{
    if (quiet)
        cuda_quiet_end(device);
    else
        pthread_mutex_unlock(&device->residents->lock);
}

/* ---- the monitor ---- */

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

/* A stay that has lasted long enough ends, for a moment. */
static void bound_stay(gyre_resident *resident)
{
    if (!resident->leaving && gyre_clock_ns() - resident->started_ns < longest_stay_ns(resident))
        return;
    if (!resident->leaving)
        cuda_resident_order(resident, true);
    if (cuda_resident_await(resident, gyre_clock_ns() + EAGER_NS) == GYRE_OK &&
        !resident->device->residents->serial)
        come_back(resident);
}

/* A kernel that handled nothing has logged nothing: an idle one costs a query, and ten times a second a small copy. */
static void watch(gyre_resident *resident)
{
    if (resident->on_device && look(resident) == GYRE_LOST)
        return;
    if (resident->on_device || resident->leaving)
        bound_stay(resident);
    if (resident->device->residents->serial)
        return;
    cuda_log_look(resident);
    if (resident->on_device)
        cuda_tell_look(resident);
}

/* Between two turns no call into the driver waits for a kernel. */
static void change_turns(struct cuda_residents *residents)
{
    for (gyre_resident *resident = residents->first; resident; resident = resident->next)
        if (resident->on_device)
            return;
    for (gyre_resident *resident = residents->first; resident; resident = resident->next)
        cuda_log_look(resident);
    give_turn(residents);
}

/* Stays of few milliseconds, and kernels on their way out, are looked at more often. */
static long sooner(long pause_ns, const gyre_resident *resident)
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
            continue; /* quiet: whoever holds it looks at the streams himself */
        for (gyre_resident *resident = residents->first; resident; resident = resident->next) {
            if (cuda_enter(resident->device) == GYRE_OK && cuda_lost(resident->device) == GYRE_OK)
                watch(resident);
            if (cuda_lost(resident->device) != GYRE_OK)
                tell_lost(resident, resident->device->lost_why);
            pause_ns = sooner(pause_ns, resident);
        }
        if (residents->serial)
            change_turns(residents);
        pthread_mutex_unlock(&residents->lock);
    }
    return NULL;
}
