/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with NCCL's functions, for the devices made of software: no NCCL. It sums with loops of the host, the last rank first, which is not
 * the order of Gyre's own kernels; as a kernel would, in the streams, once each rank has come. Its users are told on stderr what they do
 * wrong: kernels on the device, memory that is no device's or that the peers are not let into, ranks that do not fit together. What it does
 * is told to who asks for it (EMULATOR_PEER_COPIES=FILE gets a line for each communicator and collective).
 *
 *     NCCL_STAND_IN=WORD    old     says that it is of version 1.3
 *                           stuck   never comes back from making a communicator
 *                           hangs   a collective ends only once it is aborted
 *                           fails   a collective answers a failure and does nothing
 *                           breaks  a collective hangs, and the communicator says that it failed
 *
 * Lock: driver.lock for what the driver has; a communicator's own otherwise.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { BYTE = 1, INT32 = 2, UINT32 = 3, INT64 = 4, UINT64 = 5, FLOAT32 = 7, FLOAT64 = 8, TYPES = 9 };
enum { SUM = 0, MAX = 2, MIN = 3 };
enum { VERSION = 22803, VERSION_OLD = 1300 };

enum kind { ALL_REDUCE, REDUCE, BROADCAST };

struct call {
    enum kind kind;
    const unsigned char *source;
    unsigned char *target;
    size_t count;
    int type, rule, root;
    CUstream stream;
};

struct clique {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count, users; /* of it: ranks, and what stands in streams */
    int arrived;      /* ranks whose streams have come to the collective */
    bool done, aborted, broken;
    struct call calls[DEVICES_MAX];
};

struct ncclComm {
    struct clique *clique;
    int rank, device;
};

static _Thread_local struct {
    bool open;
    int count;
    struct ncclComm *comms[DEVICES_MAX];
    struct call calls[DEVICES_MAX];
} group;

static bool is_wished(const char *word)
{
    const char *wish = getenv("NCCL_STAND_IN");
    return wish && strcmp(wish, word) == 0;
}

static void tell(const char *what, int count)
{
    const char *path = getenv("EMULATOR_PEER_COPIES");
    FILE *file = path && path[0] ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "nccl %s of %d\n", what, count);
    fclose(file);
}

static int complain(int result, const char *text)
{
    fprintf(stderr, "nccl stand-in: %s\n", text);
    return result;
}

/* NCCL would wait for it, or keep it waiting. */
static bool is_crowded(int device)
{
    pthread_mutex_lock(&driver.lock);
    const bool crowded = driver_device(device)->grids > 0;
    pthread_mutex_unlock(&driver.lock);
    return crowded;
}

/* ---- communicators ---- */

/* NCCL's functions, as Gyre declares them for itself (backends/cuda/driver/cuda_nccl.h). */
int ncclGetVersion(int *version);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(const struct ncclComm *comm);
int ncclCommInitAll(struct ncclComm **comms, int count, const int *devices);
int ncclCommDestroy(struct ncclComm *comm);
int ncclCommAbort(struct ncclComm *comm);
int ncclCommGetAsyncError(struct ncclComm *comm, int *result);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *source, void *target, size_t count, int type, int rule, struct ncclComm *comm,
                  CUstream stream);
int ncclReduce(const void *source, void *target, size_t count, int type, int rule, int root,
               struct ncclComm *comm, CUstream stream);
int ncclBroadcast(const void *source, void *target, size_t count, int type, int root, struct ncclComm *comm,
                  CUstream stream);

int ncclGetVersion(int *version)
{
    *version = is_wished("old") ? VERSION_OLD : VERSION;
    return SUCCESS;
}

const char *ncclGetErrorString(int result)
{
    return result == SYSTEM_ERROR   ? "unhandled system error"
           : result == REMOTE_ERROR ? "remote error"
                                    : "wrong use";
}

const char *ncclGetLastError(const struct ncclComm *comm)
{
    (void)comm;
    return "the stand-in says so";
}

static void let_go(struct clique *clique)
{
    pthread_mutex_lock(&clique->lock);
    const bool last = --clique->users == 0;
    pthread_mutex_unlock(&clique->lock);
    if (!last)
        return;
    pthread_cond_destroy(&clique->changed);
    pthread_mutex_destroy(&clique->lock);
    free(clique);
}

int ncclCommInitAll(struct ncclComm **comms, int count, const int *devices)
{
    struct clique *clique = calloc(1, sizeof *clique);
    if (!clique || count < 1 || count > DEVICES_MAX)
        return complain(INVALID_ARGUMENT, "there are not so many devices");
    while (is_wished("stuck"))
        pause();
    for (int i = 0; i < count; i++) {
        if (!driver_device(devices[i]) || is_crowded(devices[i]))
            return complain(INVALID_USAGE, "a communicator is made beside a kernel, or for no device");
        for (int k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return complain(INVALID_USAGE, "a device is named twice");
    }
    pthread_mutex_init(&clique->lock, NULL);
    pthread_cond_init(&clique->changed, NULL);
    clique->count = clique->users = count;
    for (int i = 0; i < count; i++) {
        comms[i] = calloc(1, sizeof *comms[i]);
        *comms[i] = (struct ncclComm){clique, i, devices[i]};
    }
    tell("communicator", count);
    return SUCCESS;
}

int ncclCommDestroy(struct ncclComm *comm)
{
    if (is_crowded(comm->device))
        return complain(INVALID_USAGE,
                        "a communicator is destroyed beside a kernel, for which that would wait");
    tell("end", comm->rank);
    let_go(comm->clique);
    free(comm);
    return SUCCESS;
}

int ncclCommAbort(struct ncclComm *comm)
{
    pthread_mutex_lock(&comm->clique->lock);
    comm->clique->aborted = true;
    pthread_cond_broadcast(&comm->clique->changed);
    pthread_mutex_unlock(&comm->clique->lock);
    tell("abort", comm->rank);
    let_go(comm->clique);
    free(comm);
    return SUCCESS;
}

int ncclCommGetAsyncError(struct ncclComm *comm, int *result)
{
    pthread_mutex_lock(&comm->clique->lock);
    *result = comm->clique->broken ? REMOTE_ERROR : SUCCESS;
    pthread_mutex_unlock(&comm->clique->lock);
    return SUCCESS;
}

/* ---- elements ---- */

#define JOIN(name, type)                                                                                     \
    static void join_##name(void *to, const void *from, size_t count, int rule)                              \
    {                                                                                                        \
        type *a = to;                                                                                        \
        const type *b = from;                                                                                \
        for (size_t i = 0; i < count; i++)                                                                   \
            a[i] = rule == SUM ? (type)(a[i] + b[i]) : (rule == MAX) == (a[i] < b[i]) ? b[i] : a[i];         \
    }
JOIN(u8, unsigned char)
JOIN(i32, int32_t)
JOIN(u32, uint32_t)
JOIN(i64, int64_t)
JOIN(u64, uint64_t)
JOIN(f32, float)
JOIN(f64, double)

static const struct {
    size_t size;
    void (*join)(void *to, const void *from, size_t count, int rule);
} types[TYPES] = {
    [BYTE] = {1, join_u8},    [INT32] = {4, join_i32},   [UINT32] = {4, join_u32},  [INT64] = {8, join_i64},
    [UINT64] = {8, join_u64}, [FLOAT32] = {4, join_f32}, [FLOAT64] = {8, join_f64},
};

/* Integers wrap around: their sums are made without signs. */
static int unsigned_type(const struct call *call)
{
    return call->rule != SUM     ? call->type
           : call->type == INT32 ? UINT32
           : call->type == INT64 ? UINT64
                                 : call->type;
}

static void combine(struct clique *clique)
{
    const struct call *call = &clique->calls[0];
    const size_t size = call->count * types[call->type].size;
    unsigned char *result = malloc(size);
    if (!result)
        abort();
    memcpy(result, clique->calls[call->kind == BROADCAST ? call->root : clique->count - 1].source, size);
    for (int i = clique->count - 1; call->kind != BROADCAST && i-- > 0;)
        types[unsigned_type(call)].join(result, clique->calls[i].source, call->count, call->rule);
    for (int i = 0; i < clique->count; i++)
        if (call->kind != REDUCE || i == call->root)
            memcpy(clique->calls[i].target, result, size);
    free(result);
}

/* ---- a collective ---- */

/* In the stream of each rank: the last one that comes does the work of all. */
static void run_rank(struct operation *operation)
{
    struct clique *clique = (struct clique *)(void *)operation->target;
    pthread_mutex_lock(&clique->lock);
    if (++clique->arrived == clique->count && !is_wished("hangs") && !is_wished("breaks") &&
        !clique->aborted) {
        combine(clique);
        clique->done = true;
        pthread_cond_broadcast(&clique->changed);
    }
    clique->broken = is_wished("breaks");
    while (!clique->done && !clique->aborted)
        pthread_cond_wait(&clique->changed, &clique->lock);
    if (--clique->arrived == 0)
        clique->done = false;
    pthread_mutex_unlock(&clique->lock);
    let_go(clique);
}

/* Memory of this device's, in which all others are let. */
static bool is_usable(const struct ncclComm *comm, const void *place, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = driver_memory_find(place, size);
    bool usable = memory && memory->kind == MEMORY_DEVICE && memory->context == driver_device(comm->device);
    for (int i = 0; usable && i < group.count; i++)
        usable = driver_lets_in(comm->device, group.comms[i]->device);
    pthread_mutex_unlock(&driver.lock);
    return usable;
}

static int check_group(void)
{
    const struct call *first = &group.calls[0];
    if (group.count == 0 || group.count != group.comms[0]->clique->count)
        return complain(INVALID_USAGE, "not every rank takes part");
    for (int i = 0; i < group.count; i++) {
        const struct call *call = &group.calls[i];
        const size_t size = call->count * types[call->type].size;
        if (group.comms[i]->clique != group.comms[0]->clique || group.comms[i]->rank != i ||
            call->kind != first->kind || call->count != first->count || call->type != first->type ||
            call->rule != first->rule || call->root != first->root)
            return complain(INVALID_USAGE, "the ranks do not fit together");
        if (is_crowded(group.comms[i]->device))
            return complain(INVALID_USAGE, "a kernel is on a device, for which a collective may wait");
        if (!is_usable(group.comms[i], call->source, size) || !is_usable(group.comms[i], call->target, size))
            return complain(INVALID_ARGUMENT,
                            "a rank's memory is not its device's, or is closed to the peers");
    }
    return SUCCESS;
}

int ncclGroupStart(void)
{
    group.open = true;
    group.count = 0;
    return SUCCESS;
}

int ncclGroupEnd(void)
{
    const int result = check_group();
    group.open = false;
    if (result != SUCCESS)
        return result;
    if (is_wished("fails"))
        return SYSTEM_ERROR;
    static const char *const words[] = {"all-reduce", "reduce", "broadcast"};
    struct clique *clique = group.comms[0]->clique;
    memcpy(clique->calls, group.calls, sizeof clique->calls);
    clique->users += group.count; /* nothing of it stands in a stream yet */
    tell(words[group.calls[0].kind], group.count);
    for (int i = 0; i < group.count; i++) {
        struct operation *operation = driver_operation(group.calls[i].stream, run_rank);
        operation->target = (unsigned char *)clique;
        driver_submit(operation);
    }
    return SUCCESS;
}

static int add(struct ncclComm *comm, const struct call *call)
{
    if (!group.open || group.count == DEVICES_MAX || call->type < 0 || call->type >= TYPES ||
        !types[call->type].size || call->root < 0 || call->root >= comm->clique->count ||
        (call->rule != SUM && call->rule != MAX && call->rule != MIN))
        return complain(INVALID_ARGUMENT, "a collective outside a group, or with a wrong number");
    group.comms[group.count] = comm;
    group.calls[group.count++] = *call;
    return SUCCESS;
}

int ncclAllReduce(const void *source, void *target, size_t count, int type, int rule, struct ncclComm *comm,
                  CUstream stream)
{
    return add(comm, &(struct call){ALL_REDUCE, source, target, count, type, rule, 0, stream});
}

int ncclReduce(const void *source, void *target, size_t count, int type, int rule, int root,
               struct ncclComm *comm, CUstream stream)
{
    return add(comm, &(struct call){REDUCE, source, target, count, type, rule, root, stream});
}

int ncclBroadcast(const void *source, void *target, size_t count, int type, int root, struct ncclComm *comm,
                  CUstream stream)
{
    return add(comm, &(struct call){BROADCAST, source, target, count, type, SUM, root, stream});
}
