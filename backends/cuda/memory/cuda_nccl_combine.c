/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives by NCCL (cuda_nccl_combine.h). A communicator has all GPUs of a collective, with the ranks in the order of the driver's numbers, and
 * is kept until one of the devices is closed, or NCCL fails.
 *
 * No kernel of Gyre is on the GPUs while NCCL makes a communicator or works: it would wait for multiprocessors that they do not give back, and
 * what it loads and allocates would wait for them to leave. Every call that may wait is made in a thread of its own (cuda_bounded.h): when
 * the time is up, the communicator is aborted, which ends NCCL's kernels.
 *
 * Lock: `known.lock`, of the list, innermost. A communicator itself is used by one thread at a time: the core makes one call with its
 * devices at a time.
 */
#include "backends/cuda/memory/cuda_nccl_combine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/driver/cuda_bounded.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/driver/cuda_nccl.h"
#include "backends/cuda/memory/cuda_held.h"
#include "backends/cuda/memory/cuda_let_in.h"
#include "gyre/waiting.h"

enum { PARTS = GYRE_COMBINE_PARTS_MAX, COMMUNICATORS_MAX = 16, FAILURES_MAX = 3, WORDS = 768 };
/* A communicator cannot be interrupted while it is made: it is not begun with less time left, and waited for beyond the deadline. */
#define MAKE_NS  UINT64_C(300000000)
#define GRACE_NS UINT64_C(5000000000)
/* Kernels are off their GPUs meanwhile, so it is not waited for longer than that, whatever the deadline. */
#define MAKE_LIMIT_NS UINT64_C(30000000000)
/* A collective without a deadline ends all the same. */
#define LIMIT_NS UINT64_C(300000000000)
/* So long the host looks without a pause whether NCCL is through. */
#define SPIN_NS  UINT64_C(1000000)
#define PAUSE_NS 20000

struct communicator {
    const struct cuda_nccl *nccl;
    uint32_t count; /* 0: the place is free */
    gyre_device *devices[PARTS];
    cuda_nccl_comm ranks[PARTS];
};

static struct {
    pthread_mutex_t lock;
    struct communicator *all[COMMUNICATORS_MAX];
    uint32_t failures; /* in a row; atomic */
    uint32_t told;     /* atomic; bits: reasons that the log has */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- whether ---- */

/* Why NCCL does not make a collective. */
enum reason { NONE, SHARED_GPU, NO_RULE, SOME_GET, SERIAL, FAILED, NOT_THERE, NOT_MADE };

static bool is_float(const gyre_combine_desc *desc)
{
    return desc->element == GYRE_COMBINE_F32 || desc->element == GYRE_COMBINE_F64;
}

/* Unasked NCCL makes only what has the same bytes as without it. */
static bool is_wanted(const gyre_combine_desc *desc)
{
    const enum cuda_collectives setting = desc->parts[0].device->settings.collectives;
    return setting == CUDA_COLLECTIVES_NCCL ||
           (setting == CUDA_COLLECTIVES_AUTO && desc->part_count > 2 && !is_float(desc));
}

/* How many parts get the result, which the rule of NCCL has to fit: all, the root, or all but the root. */
static bool fits(const gyre_combine_desc *desc)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->part_count; i++)
        count += desc->parts[i].gets != 0;
    if (desc->rule == GYRE_COMBINE_TAKE)
        return count + 1 == desc->part_count && !desc->parts[desc->root].gets;
    return count == 1 || count == desc->part_count;
}

static enum reason find_reason(const gyre_combine_desc *desc)
{
    const struct cuda_held held = cuda_held_of(desc);
    if (held.count != desc->part_count)
        return SHARED_GPU;
    if (is_float(desc) && desc->rule != GYRE_COMBINE_SUM)
        return NO_RULE;
    if (!fits(desc))
        return SOME_GET;
    for (uint32_t i = 0; i < held.count; i++)
        if (held.devices[i]->residents->serial)
            return SERIAL;
    return __atomic_load_n(&known.failures, __ATOMIC_RELAXED) >= FAILURES_MAX ? FAILED : NONE;
}

static const char *words_of(enum reason reason)
{
    static const char *const words[] = {
        [SHARED_GPU] = "two of the buffers are on one GPU",
        [NO_RULE] = "it passes over NaN in minima and maxima of floats, which a collective of Gyre does not",
        [SOME_GET] = "it has no operation whose result these parts get, and no others",
        [SERIAL] = "launches wait for their kernel here, and the kernels of NCCL wait for each other",
        [FAILED] =
            "it failed three times in a row or did not come back, and this process does not try it again",
    };
    return words[reason];
}

/* Once for each reason. Whoever asked for NCCL by its name is warned. */
static void tell(const gyre_combine_desc *desc, enum reason reason, const char *words)
{
    const gyre_device *device = desc->parts[0].device;
    const bool is_asked_for = device->settings.collectives == CUDA_COLLECTIVES_NCCL;
    char text[WORDS + 128];
    if (__atomic_fetch_or(&known.told, UINT32_C(1) << reason, __ATOMIC_RELAXED) & UINT32_C(1) << reason)
        return;
    snprintf(text, sizeof text, "cuda: a collective goes without NCCL (backend.cuda.collectives): %s", words);
    device->host->log(device->host->context, is_asked_for ? GYRE_LOG_WARNING : GYRE_LOG_INFO, text);
}

/* ---- communicators ---- */

static bool has_devices(const struct communicator *communicator, const struct cuda_held *held)
{
    return communicator && communicator->count == held->count &&
           memcmp(communicator->devices, held->devices, held->count * sizeof held->devices[0]) == 0;
}

static struct communicator *find_communicator(const struct cuda_held *held)
{
    struct communicator *found = NULL;
    pthread_mutex_lock(&known.lock);
    for (uint32_t i = 0; i < COMMUNICATORS_MAX && !found; i++)
        if (has_devices(known.all[i], held))
            found = known.all[i];
    pthread_mutex_unlock(&known.lock);
    return found;
}

/* False: there is no place. */
static bool keep_communicator(struct communicator *communicator)
{
    bool kept = false;
    pthread_mutex_lock(&known.lock);
    for (uint32_t i = 0; i < COMMUNICATORS_MAX && !kept; i++)
        if (!known.all[i]) {
            known.all[i] = communicator;
            kept = true;
        }
    pthread_mutex_unlock(&known.lock);
    return kept;
}

/* Takes one out of the list: `communicator`, or one that `device` belongs to. NULL: there is none. */
static struct communicator *take_communicator(const struct communicator *communicator,
                                              const gyre_device *device)
{
    struct communicator *found = NULL;
    pthread_mutex_lock(&known.lock);
    for (uint32_t i = 0; i < COMMUNICATORS_MAX && !found; i++) {
        struct communicator *one = known.all[i];
        bool is_meant = one && one == communicator;
        for (uint32_t k = 0; one && device && k < one->count; k++)
            is_meant = is_meant || one->devices[k] == device;
        if (is_meant) {
            found = one;
            known.all[i] = NULL;
        }
    }
    pthread_mutex_unlock(&known.lock);
    return found;
}

struct ending {
    struct communicator communicator;
    bool aborts;
};

static void end_ranks(void *argument)
{
    const struct ending *ending = argument;
    const struct communicator *one = &ending->communicator;
    for (uint32_t i = 0; i < one->count; i++)
        (void)(ending->aborts ? one->nccl->ncclCommAbort(one->ranks[i])
                              : one->nccl->ncclCommDestroy(one->ranks[i]));
}

/* Ends a communicator, which is in no list. False: NCCL did not come back, and may still write. */
static bool end_communicator(struct communicator *communicator, bool aborts)
{
    struct ending *ending = malloc(sizeof *ending);
    enum cuda_bounded ended = CUDA_BOUNDED_NO_THREAD;
    if (ending) {
        *ending = (struct ending){*communicator, aborts};
        ended = cuda_bounded_run(end_ranks, ending, gyre_clock_ns() + GRACE_NS);
    }
    if (ended != CUDA_BOUNDED_LATE)
        free(ending);
    free(communicator);
    return ended == CUDA_BOUNDED_DONE;
}

struct making {
    const struct cuda_nccl *nccl;
    int count, devices[PARTS], result;
    cuda_nccl_comm ranks[PARTS];
    char why[WORDS];
};

static void make_ranks(void *argument)
{
    struct making *making = argument;
    making->result = making->nccl->ncclCommInitAll(making->ranks, making->count, making->devices);
    if (making->result != CUDA_NCCL_SUCCESS)
        cuda_nccl_describe(making->nccl, "ncclCommInitAll", making->result, making->why, sizeof making->why);
}

/* With no kernel on the GPUs. NULL, and `why` has a sentence. */
static struct communicator *make_communicator(const struct cuda_nccl *nccl, const struct cuda_held *held,
                                              uint64_t deadline_ns, char *why, size_t size)
{
    struct making *making = calloc(1, sizeof *making);
    struct communicator *communicator = calloc(1, sizeof *communicator);
    enum cuda_bounded ended = CUDA_BOUNDED_NO_THREAD;
    const uint64_t now_ns = gyre_clock_ns();
    const uint64_t until_ns = deadline_ns < now_ns + MAKE_LIMIT_NS ? deadline_ns : now_ns + MAKE_LIMIT_NS;
    if (making && communicator) {
        *communicator = (struct communicator){.nccl = nccl, .count = held->count};
        making->nccl = nccl;
        making->count = (int)held->count;
        for (uint32_t i = 0; i < held->count; i++) {
            communicator->devices[i] = held->devices[i];
            making->devices[i] = held->devices[i]->handle;
        }
        ended =
            cuda_bounded_run(make_ranks, making, until_ns > now_ns + GRACE_NS ? until_ns : now_ns + GRACE_NS);
    }
    const bool is_made = ended == CUDA_BOUNDED_DONE && making->result == CUDA_NCCL_SUCCESS;
    if (is_made)
        memcpy(communicator->ranks, making->ranks, sizeof making->ranks);
    else if (ended == CUDA_BOUNDED_DONE)
        snprintf(why, size, "%s", making->why);
    else
        snprintf(why, size, "%s",
                 ended == CUDA_BOUNDED_LATE ? "ncclCommInitAll of NCCL did not come back in time"
                                            : "no memory or no thread for a communicator");
    if (ended == CUDA_BOUNDED_LATE) /* the library is at work in a thread that nobody can end */
        __atomic_store_n(&known.failures, FAILURES_MAX, __ATOMIC_RELAXED);
    else
        free(making);
    if (is_made)
        return communicator;
    free(communicator);
    return NULL;
}

/* Kernels leave for it. */
static bool need_communicator(const gyre_combine_desc *desc, const struct cuda_nccl *nccl, char *why,
                              size_t size)
{
    struct cuda_held held = cuda_held_of(desc);
    if (desc->deadline_ns < MAKE_NS || gyre_clock_ns() > desc->deadline_ns - MAKE_NS) {
        snprintf(why, size, "less time is left than a communicator takes");
        return false;
    }
    if (cuda_let_in_all(desc) != GYRE_OK || cuda_held_begin_quiet(&held, desc->deadline_ns) != GYRE_OK) {
        snprintf(why, size,
                 "a GPU is not let into another one's memory, or a handler does not leave its GPU");
        return false;
    }
    struct communicator *made = make_communicator(nccl, &held, desc->deadline_ns, why, size);
    if (made && !keep_communicator(made)) {
        end_communicator(made, false);
        made = NULL;
        snprintf(why, size, "there are %d communicators already", COMMUNICATORS_MAX);
    }
    cuda_held_end(&held);
    return made != NULL;
}

bool cuda_nccl_is_ready(const gyre_combine_desc *desc)
{
    const struct cuda_held held = cuda_held_of(desc);
    return is_wanted(desc) && find_reason(desc) == NONE && find_communicator(&held);
}

bool cuda_nccl_prepare(const gyre_combine_desc *desc)
{
    char why[WORDS] = "";
    if (!is_wanted(desc))
        return false;
    const enum reason reason = find_reason(desc);
    if (reason != NONE) {
        tell(desc, reason, words_of(reason));
        return false;
    }
    if (cuda_nccl_is_ready(desc))
        return true;
    const struct cuda_nccl *nccl =
        cuda_nccl_open(desc->parts[0].device->host, desc->parts[0].device->settings.nccl, why, sizeof why);
    if (!nccl)
        tell(desc, NOT_THERE, why);
    else if (!need_communicator(desc, nccl, why, sizeof why))
        tell(desc, NOT_MADE, why);
    else
        return true;
    return false;
}

void cuda_nccl_leave(gyre_device *device)
{
    struct communicator *one;
    while ((one = take_communicator(NULL, device)) != NULL) {
        struct cuda_held held = {.count = one->count};
        bool is_lost = false;
        for (uint32_t i = 0; i < one->count; i++) {
            held.devices[i] = one->devices[i];
            is_lost = is_lost || atomic_load(&one->devices[i]->lost);
        }
        const bool is_quiet = !is_lost && cuda_held_begin_quiet(&held, UINT64_MAX) == GYRE_OK;
        (void)end_communicator(one, !is_quiet);
        if (is_quiet)
            cuda_held_end(&held);
    }
}

/* ---- one collective ---- */

/* What a thread of its own tells NCCL. */
struct operation {
    struct communicator communicator;
    CUdeviceptr places[PARTS]; /* by rank, as all below */
    CUstream streams[PARTS];
    gyre_combine_rule rule;
    enum cuda_nccl_type type;
    size_t count;
    int root; /* the rank that alone gets the result, or gives it; -1: all get it */
    char why[WORDS];
};

static enum cuda_nccl_rule rule_of(gyre_combine_rule rule)
{
    return rule == GYRE_COMBINE_MIN   ? CUDA_NCCL_MIN
           : rule == GYRE_COMBINE_MAX ? CUDA_NCCL_MAX
                                      : CUDA_NCCL_SUM;
}

static int begin_rank(const struct operation *operation, uint32_t rank)
{
    const struct cuda_nccl *nccl = operation->communicator.nccl;
    const cuda_nccl_comm comm = operation->communicator.ranks[rank];
    void *place = (void *)(uintptr_t)operation->places[rank];
    const CUstream stream = operation->streams[rank];
    if (operation->rule == GYRE_COMBINE_TAKE)
        return nccl->ncclBroadcast(place, place, operation->count, (int)operation->type, operation->root,
                                   comm, stream);
    if (operation->root >= 0)
        return nccl->ncclReduce(place, place, operation->count, (int)operation->type,
                                (int)rule_of(operation->rule), operation->root, comm, stream);
    return nccl->ncclAllReduce(place, place, operation->count, (int)operation->type,
                               (int)rule_of(operation->rule), comm, stream);
}

static void begin_all(void *argument)
{
    struct operation *operation = argument;
    const struct cuda_nccl *nccl = operation->communicator.nccl;
    const char *call = "ncclGroupStart";
    int result = nccl->ncclGroupStart();
    const bool is_begun = result == CUDA_NCCL_SUCCESS;
    for (uint32_t i = 0; result == CUDA_NCCL_SUCCESS && i < operation->communicator.count; i++) {
        call = "a collective";
        result = begin_rank(operation, i);
    }
    if (is_begun) {
        const int ended = nccl->ncclGroupEnd();
        if (result == CUDA_NCCL_SUCCESS && ended != CUDA_NCCL_SUCCESS) {
            call = "ncclGroupEnd";
            result = ended;
        }
    }
    if (result != CUDA_NCCL_SUCCESS)
        cuda_nccl_describe(nccl, call, result, operation->why, sizeof operation->why);
}

static struct operation *describe(const gyre_combine_desc *desc, const struct communicator *communicator,
                                  const struct cuda_held *held)
{
    static const struct {
        enum cuda_nccl_type type;
        size_t size;
    } elements[] = {
        [GYRE_COMBINE_BYTE] = {CUDA_NCCL_UINT8, 1},  [GYRE_COMBINE_U32] = {CUDA_NCCL_UINT32, 4},
        [GYRE_COMBINE_I32] = {CUDA_NCCL_INT32, 4},   [GYRE_COMBINE_U64] = {CUDA_NCCL_UINT64, 8},
        [GYRE_COMBINE_I64] = {CUDA_NCCL_INT64, 8},   [GYRE_COMBINE_F32] = {CUDA_NCCL_FLOAT32, 4},
        [GYRE_COMBINE_F64] = {CUDA_NCCL_FLOAT64, 8},
    };
    struct operation *operation = calloc(1, sizeof *operation);
    uint32_t getting = 0, last = desc->root;
    if (!operation)
        return NULL;
    *operation = (struct operation){.communicator = *communicator,
                                    .rule = desc->rule,
                                    .type = elements[desc->element].type,
                                    .count = desc->byte_count / elements[desc->element].size,
                                    .root = -1};
    for (uint32_t i = 0; i < desc->part_count; i++) {
        const uint32_t rank = cuda_held_place(held, desc->parts[i].device);
        operation->places[rank] = cuda_part_place(desc, i, 0);
        operation->streams[rank] = desc->parts[i].device->residents->service;
        getting += desc->parts[i].gets != 0;
        last = desc->rule != GYRE_COMBINE_TAKE && desc->parts[i].gets ? i : last;
    }
    if (desc->rule == GYRE_COMBINE_TAKE || getting < desc->part_count)
        operation->root = (int)cuda_held_place(held, desc->parts[last].device);
    return operation;
}

/* In the streams that NCCL works in, before it does. */
static gyre_status keep_aside(const gyre_combine_desc *desc)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < desc->part_count; i++) {
        gyre_device *device = desc->parts[i].device;
        if (!desc->parts[i].gets)
            continue;
        status = cuda_enter(device);
        if (status == GYRE_OK)
            status = cuda_check(
                device,
                device->driver->cuMemcpyDtoDAsync(cuda_part_before(desc, i, 0), cuda_part_place(desc, i, 0),
                                                  desc->byte_count, device->residents->service),
                "cuMemcpyDtoDAsync");
    }
    return status;
}

/* AGAIN: a stream is not empty yet. */
static gyre_status look_at_streams(const struct cuda_held *held)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < held->count; i++) {
        gyre_device *device = held->devices[i];
        const gyre_status entered = cuda_enter(device);
        if (entered != GYRE_OK)
            return entered;
        const CUresult result = device->driver->cuStreamQuery(device->residents->service);
        if (result == CUDA_ERROR_NOT_READY)
            status = GYRE_AGAIN;
        else if (result != CUDA_SUCCESS)
            return cuda_check(device, result, "cuStreamQuery");
    }
    return status;
}

static gyre_status look_at_ranks(const gyre_host *host, const struct communicator *communicator)
{
    char why[WORDS];
    for (uint32_t i = 0; i < communicator->count; i++) {
        int failed = CUDA_NCCL_SUCCESS;
        int result = communicator->nccl->ncclCommGetAsyncError(communicator->ranks[i], &failed);
        result = result == CUDA_NCCL_SUCCESS ? failed : result;
        if (result == CUDA_NCCL_SUCCESS)
            continue;
        cuda_nccl_describe(communicator->nccl, "a collective", result, why, sizeof why);
        return host->error(GYRE_FAILED, "%s", why);
    }
    return GYRE_OK;
}

static gyre_status await_streams(const struct cuda_held *held, const struct communicator *communicator,
                                 uint64_t deadline_ns)
{
    const gyre_host *host = held->devices[0]->host;
    const uint64_t since_ns = gyre_clock_ns();
    gyre_status status;
    while ((status = look_at_streams(held)) == GYRE_AGAIN) {
        const uint64_t now_ns = gyre_clock_ns();
        if (now_ns >= deadline_ns)
            return host->error(GYRE_TIMEOUT, "NCCL was not through with a collective in time");
        if (now_ns - since_ns < SPIN_NS)
            continue;
        status = look_at_ranks(host, communicator);
        if (status != GYRE_OK)
            return status;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return status == GYRE_OK ? look_at_ranks(host, communicator) : status;
}

/* What has been told to NCCL, and the thread that tells it. */
struct telling {
    struct operation *operation;
    struct cuda_bounded_call *call; /* NULL: there is none */
};

/* Has NCCL combine, and waits for it. */
static gyre_status work(const gyre_combine_desc *desc, const struct communicator *communicator,
                        const struct cuda_held *held, uint64_t deadline_ns, struct telling *telling)
{
    const gyre_host *host = held->devices[0]->host;
    *telling = (struct telling){.operation = describe(desc, communicator, held)};
    if (!telling->operation)
        return host->error(GYRE_EXHAUSTED, "no memory for a collective of NCCL");
    telling->call = cuda_bounded_start(begin_all, telling->operation);
    if (!telling->call)
        return host->error(GYRE_EXHAUSTED, "no thread for a collective of NCCL");
    if (!cuda_bounded_await(telling->call, deadline_ns)) {
        cuda_bounded_stop(telling->call);
        return host->error(GYRE_TIMEOUT, "NCCL did not begin a collective in time");
    }
    if (telling->operation->why[0])
        return host->error(GYRE_FAILED, "%s", telling->operation->why);
    return await_streams(held, communicator, deadline_ns);
}

/* Returns whether NCCL knows all that it is told: what a thread tells it later would go to buffers and communicators that are no more. */
static bool end_telling(struct telling *telling, uint64_t limit_ns)
{
    const bool is_over =
        !telling->call || (cuda_bounded_await(telling->call, limit_ns), cuda_bounded_end(telling->call));
    if (is_over)
        free(telling->operation);
    return is_over;
}

/* A GPU on which NCCL stays whatever it is told would write into buffers later. */
static void lose_devices(const struct cuda_held *held)
{
    for (uint32_t i = 0; i < held->count; i++)
        (void)cuda_check_end(held->devices[i], CUDA_ERROR_LAUNCH_TIMEOUT, "ncclCommAbort");
}

/* Ends what NCCL has begun, and then brings back what was before. */
static void undo(const gyre_combine_desc *desc, struct communicator *communicator,
                 const struct cuda_held *held, struct telling *telling)
{
    const bool is_aborted = end_communicator(take_communicator(communicator, NULL), true);
    const uint64_t limit_ns = gyre_clock_ns() + GRACE_NS;
    const bool is_ended = end_telling(telling, limit_ns) && is_aborted;
    gyre_status status = GYRE_AGAIN;
    while (is_ended && (status = look_at_streams(held)) == GYRE_AGAIN && gyre_clock_ns() < limit_ns)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    if (status == GYRE_AGAIN)
        lose_devices(held);
    for (uint32_t i = 0; i < desc->part_count; i++)
        if (desc->parts[i].gets)
            cuda_part_put_back(desc, i, 0, desc->byte_count);
    (void)cuda_held_await(held, GYRE_OK);
    __atomic_fetch_add(&known.failures, 1, __ATOMIC_RELAXED);
}

gyre_status cuda_nccl_combine(const gyre_combine_desc *desc)
{
    struct cuda_held held = cuda_held_of(desc);
    struct communicator *communicator = find_communicator(&held);
    const uint64_t limit_ns = gyre_clock_ns() + LIMIT_NS;
    const uint64_t deadline_ns = desc->deadline_ns < limit_ns ? desc->deadline_ns : limit_ns;
    struct telling telling;
    gyre_status status = cuda_held_begin_quiet(&held, deadline_ns);
    if (status != GYRE_OK)
        return status;
    status = keep_aside(desc);
    if (status == GYRE_OK) {
        status = work(desc, communicator, &held, deadline_ns, &telling);
        if (status == GYRE_OK) {
            (void)end_telling(&telling, deadline_ns);
            __atomic_store_n(&known.failures, 0, __ATOMIC_RELAXED);
        } else {
            undo(desc, communicator, &held, &telling);
        }
    } else {
        (void)cuda_held_await(&held, GYRE_OK);
    }
    cuda_held_end(&held);
    return status;
}
