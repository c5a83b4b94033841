/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that wait for each other run on several GPUs at once (cuda_meet.h). One that waits for a kernel that was never launched or does not
 * begin, or for a GPU that died, would wait for ever: so the host abandons the turn when it sees that, or when the time is up, and all leave.
 *
 * Turns are counted over the process: a GPU's flags say the last turn in which it was told, whoever took part.
 *
 * Lock: `turn`, innermost but for that of a lost device. Two meetings of runtimes that share the GPUs would wait for each other where one has
 * the first GPU's multiprocessors, and the other the second one's.
 */
#include "backends/cuda/memory/cuda_meet.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/presence/cuda_service.h"
#include "gyre/waiting.h"

enum {
    PARTS = GYRE_COMBINE_PARTS_MAX,
    THREADS = 512,
    FLAGS_SIZE = PARTS * CUDA_MEET_BLOCKS_MAX * 8, /* a word for each block of each part */
    LINE = 64
};
/* So long the host looks without a pause: a small meeting is over by then. Then it also asks the driver, and sleeps. */
#define SPIN_NS  UINT64_C(1000000)
#define PAUSE_NS 20000
/* A meeting without a deadline ends all the same, and a kernel that was told to leave and stays so long is stuck, as its GPU is. */
#define LIMIT_NS UINT64_C(300000000000)
#define LEAVE_NS UINT64_C(10000000000)

/* In memory of the host. */
struct cuda_meeting_words {
    uint64_t done, abandoned; /* a turn: its kernel is finished; it is to leave */
};

/* As the kernel has it. */
struct meeting {
    CUdeviceptr parts[PARTS], own, before;
    uint64_t from[PARTS + 1];
    CUdeviceptr flags, their_flags[PARTS];
    uint64_t turn;
    CUdeviceptr abandoned, done, arrived;
    uint32_t me, flags_each;
};

static struct {
    pthread_mutex_t lock;
    uint64_t count;
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the place ---- */

static gyre_status clear(gyre_device *device, CUdeviceptr memory)
{
    const struct cuda_driver *driver = device->driver;
    gyre_status status =
        cuda_check(device, driver->cuMemsetD8Async(memory, 0, FLAGS_SIZE + LINE, device->residents->service),
                   "cuMemsetD8Async");
    if (status == GYRE_OK)
        status = cuda_check(device, driver->cuStreamSynchronize(device->residents->service),
                            "cuStreamSynchronize");
    return status;
}

static gyre_status make(gyre_device *device, struct cuda_meeting_place *place)
{
    const struct cuda_driver *driver = device->driver;
    CUresult result;
    void *words = NULL;
    CUDA_PATIENTLY(result,
                   driver->cuMemAllocAsync(&place->memory, FLAGS_SIZE + LINE, device->residents->service))
    gyre_status status = cuda_check(device, result, "cuMemAllocAsync");
    if (status != GYRE_OK) {
        place->memory = 0;
        return status;
    }
    status = clear(device, place->memory);
    if (status == GYRE_OK)
        status = cuda_check(device,
                            driver->cuMemHostAlloc(&words, sizeof(struct cuda_meeting_words),
                                                   CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
                            "cuMemHostAlloc");
    if (status == GYRE_OK)
        place->words = memset(words, 0, sizeof *place->words);
    return status;
}

gyre_status cuda_meeting_place_make(gyre_device *device, struct cuda_meeting_place *place)
{
    if (place->words)
        return GYRE_OK;
    gyre_status status = cuda_enter(device);
    if (status == GYRE_OK)
        status = make(device, place);
    if (status != GYRE_OK)
        cuda_meeting_place_destroy(device, place);
    return status;
}

void cuda_meeting_place_destroy(gyre_device *device, struct cuda_meeting_place *place)
{
    CUresult result;
    if (place->memory)
        cuda_service_free(device, place->memory);
    if (place->words) {
        CUDA_PATIENTLY(result, device->driver->cuMemFreeHost(place->words))
        cuda_check_gone(device, result, "cuMemFreeHost");
    }
    *place = (struct cuda_meeting_place){0};
}

/* ---- a turn ---- */

static gyre_status device_words(const struct cuda_meeting_part *part, struct meeting *meeting)
{
    CUdeviceptr words = 0;
    const gyre_status status = cuda_check(
        part->device, part->device->driver->cuMemHostGetDevicePointer(&words, part->place->words, 0),
        "cuMemHostGetDevicePointer");
    meeting->done = words + offsetof(struct cuda_meeting_words, done);
    meeting->abandoned = words + offsetof(struct cuda_meeting_words, abandoned);
    return status;
}

static gyre_status launch(const struct cuda_meeting_part *parts, uint32_t me, struct meeting *meeting,
                          uint32_t blocks)
{
    gyre_device *device = parts[me].device;
    void *parameters[] = {meeting};
    CUresult result;
    gyre_status status = cuda_enter(device);
    if (status == GYRE_OK)
        status = device_words(&parts[me], meeting);
    if (status != GYRE_OK)
        return status;
    meeting->me = me;
    meeting->own = parts[me].own;
    meeting->before = parts[me].before;
    meeting->flags = parts[me].place->memory;
    meeting->arrived = meeting->flags + FLAGS_SIZE;
    CUDA_PATIENTLY(result,
                   device->driver->cuLaunchCooperativeKernel(parts[me].function, blocks, 1, 1, THREADS, 1, 1,
                                                             0, device->residents->service, parameters))
    return cuda_check(device, result, "cuLaunchCooperativeKernel");
}

/* How long the kernels of a turn are waited for. */
struct patience {
    uint64_t deadline_ns, leave_ns; /* then they are told to leave; until then they have left */
    bool abandoned;
};

static void abandon(const struct cuda_meeting_part *parts, uint32_t count, struct patience *patience)
{
    if (patience->abandoned)
        return;
    patience->abandoned = true;
    patience->leave_ns = gyre_clock_ns() + LEAVE_NS;
    for (uint32_t i = 0; i < count; i++) /* the kernel reads nothing behind it */
        __atomic_store_n(&parts[i].place->words->abandoned, turn.count, __ATOMIC_RELAXED);
}

/* acquire: pairs with the fence before the kernel's last store */
static bool is_done(const struct cuda_meeting_part *part)
{
    return __atomic_load_n(&part->place->words->done, __ATOMIC_ACQUIRE) == turn.count;
}

/* Whether the driver has the kernel as ended; in `status` how. */
static bool has_ended(const struct cuda_meeting_part *part, gyre_status *status)
{
    gyre_device *device = part->device;
    *status = cuda_enter(device);
    if (*status != GYRE_OK)
        return true;
    const CUresult result = device->driver->cuStreamQuery(device->residents->service);
    if (result == CUDA_ERROR_NOT_READY)
        return false;
    *status = cuda_check(device, result, "cuStreamQuery");
    return true;
}

/* The kernel holds its stream for ever: nothing works behind it. */
static gyre_status lose(const struct cuda_meeting_part *part)
{
    return cuda_check_end(part->device, CUDA_ERROR_LAUNCH_TIMEOUT, "gyre_combine_at_once");
}

/* The other parts are looked at later: each has ended, or is about to. */
static gyre_status await_part(const struct cuda_meeting_part *parts, uint32_t count, uint32_t i,
                              struct patience *patience)
{
    const uint64_t since_ns = gyre_clock_ns();
    gyre_status status = GYRE_OK;
    while (!is_done(&parts[i])) {
        const uint64_t now_ns = gyre_clock_ns();
        if (now_ns >= patience->deadline_ns)
            abandon(parts, count, patience);
        if (now_ns - since_ns < SPIN_NS)
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (parts[k].launched && has_ended(&parts[k], &status) && status != GYRE_OK)
                abandon(parts, count, patience);
        if (has_ended(&parts[i], &status))
            return status;
        if (patience->abandoned && now_ns >= patience->leave_ns)
            return lose(&parts[i]);
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return GYRE_OK;
}

static gyre_status run_turn(struct cuda_meeting_part *parts, uint32_t count, struct meeting *meeting,
                            uint32_t blocks, uint64_t deadline_ns)
{
    const gyre_host *host = parts[0].device->host;
    struct patience patience = {.deadline_ns = deadline_ns};
    gyre_status status = GYRE_OK;
    meeting->turn = ++turn.count;
    for (uint32_t i = 0; status == GYRE_OK && i < count; i++) {
        status = launch(parts, i, meeting, blocks);
        parts[i].launched = status == GYRE_OK;
    }
    if (status != GYRE_OK)
        abandon(parts, count, &patience);
    for (uint32_t i = 0; i < count; i++) {
        const gyre_status one = parts[i].launched ? await_part(parts, count, i, &patience) : GYRE_OK;
        status = status == GYRE_OK ? one : status;
    }
    /* a block that looked behind the deadline has left out what it was to take */
    if (status == GYRE_OK && patience.abandoned)
        return host->error(GYRE_TIMEOUT, "the kernels of %u GPUs did not all come to their meeting in time",
                           count);
    return status;
}

/* Another meeting ends with its own deadline, which may be later. */
static gyre_status take_turn(const gyre_host *host, uint64_t deadline_ns)
{
    while (pthread_mutex_trylock(&turn.lock) != 0) {
        if (gyre_clock_ns() >= deadline_ns)
            return host->error(GYRE_TIMEOUT, "another collective of this process was not over in time");
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return GYRE_OK;
}

gyre_status cuda_meet(struct cuda_meeting_part *parts, uint32_t count, const uint64_t *from, uint32_t blocks,
                      uint64_t deadline_ns)
{
    struct meeting meeting = {.flags_each = CUDA_MEET_BLOCKS_MAX};
    const uint64_t limit_ns = gyre_clock_ns() + LIMIT_NS;
    for (uint32_t i = 0; i < count; i++) {
        meeting.parts[i] = parts[i].own;
        meeting.their_flags[i] = parts[i].place->memory;
        meeting.from[i] = from[i];
    }
    meeting.from[count] = from[count];
    gyre_status status = take_turn(parts[0].device->host, deadline_ns);
    if (status != GYRE_OK)
        return status;
    status = run_turn(parts, count, &meeting, blocks, deadline_ns < limit_ns ? deadline_ns : limit_ns);
    pthread_mutex_unlock(&turn.lock);
    return status;
}
