/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user would write today without Gyre: plain CUDA through the driver API, with the benchmark's handler
 * (each word * 3 + its place) and every reply checked.
 *   launch/BYTES         copy in, launch, copy out, synchronise: once for each message
 *   graph/BYTES          the same three as one CUDA graph, launched once for each message
 *   batched/BYTES/T      T host threads with three streams each: fill a batch, copy in, launch, copy out,
 * check
 *
 *   arithmetic/block,    the arithmetic of `gyre bench --case 'arithmetic/...'` and nothing else, in a plain
 *   arithmetic/lane      kernel: on one lane, or on 512, of a block on each multiprocessor
 *
 * Batches are of the best size of a sweep, which the row shows. Prints one JSON document; exits 77, with the
 * reason, where there is no driver or device.
 *
 * usage: peer_cuda [SECONDS [arithmetic]]      SECONDS for each row; only those two rows
 */
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOT_HERE = 77, IN_FLIGHT = 3, THREADS_MAX = 8, BATCH_BYTES_MAX = 8 << 20, SAMPLES_MAX = 1 << 20 };
enum { LANES = 256, WARM_UP = 100 };

#define STEP UINT64_C(0x9e3779b97f4a7c15)

/*
 * What nvcc makes of
 *   __global__ void words(const u64 *in, u64 *out, u32 words, u32 total)
 *   {
 *       u32 i = blockIdx.x * blockDim.x + threadIdx.x;
 *       if (i < total)
 *           out[i] = in[i] * 3 + i % words;
 *   }
 */
static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry words(.param .u64 in, .param .u64 out, .param .u32 words, .param .u32 total)\n"
    "{\n"
    ".reg .pred %p;\n.reg .b32 %i, %b, %t, %w, %n, %r;\n.reg .b64 %a, %o, %d, %x, %y;\n"
    "ld.param.u64 %a, [in];\nld.param.u64 %o, [out];\n"
    "ld.param.u32 %w, [words];\nld.param.u32 %n, [total];\n"
    "mov.u32 %i, %ctaid.x;\nmov.u32 %b, %ntid.x;\nmov.u32 %t, %tid.x;\n"
    "mad.lo.s32 %i, %i, %b, %t;\nsetp.ge.u32 %p, %i, %n;\n@%p bra end;\n"
    "cvta.to.global.u64 %a, %a;\ncvta.to.global.u64 %o, %o;\nmul.wide.u32 %d, %i, 8;\n"
    "add.s64 %a, %a, %d;\nadd.s64 %o, %o, %d;\n"
    "ld.global.u64 %x, [%a];\nmul.lo.s64 %x, %x, 3;\n"
    "rem.u32 %r, %i, %w;\ncvt.u64.u32 %y, %r;\nadd.s64 %x, %x, %y;\n"
    "st.global.u64 [%o], %x;\nend:\nret;\n}\n";

/*
 * What nvcc makes of
 *   __global__ void chain(u64 *out, u64 factor, u64 step, u32 turns, u32 each)
 *   {
 *       u32 i = blockIdx.x * blockDim.x + threadIdx.x;
 *       for (u32 k = 0; k < each; k++, i += gridDim.x * blockDim.x) {
 *           u64 x = i;
 *           for (u32 turn = 0; turn < turns; turn++)
 *               x = x * factor + step;
 *           out[i] = x;
 *       }
 *   }
 */
static const char chain_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry chain(.param .u64 out, .param .u64 factor, .param .u64 step, .param .u32 turns, "
    ".param .u32 each)\n"
    "{\n"
    ".reg .pred %p;\n.reg .b32 %i, %b, %t, %g, %n, %k, %r, %e;\n.reg .b64 %o, %f, %s, %x, %d;\n"
    "ld.param.u64 %o, [out];\nld.param.u64 %f, [factor];\nld.param.u64 %s, [step];\n"
    "ld.param.u32 %n, [turns];\nld.param.u32 %e, [each];\ncvta.to.global.u64 %o, %o;\n"
    "mov.u32 %i, %ctaid.x;\nmov.u32 %b, %ntid.x;\nmov.u32 %t, %tid.x;\nmov.u32 %g, %nctaid.x;\n"
    "mad.lo.s32 %i, %i, %b, %t;\nmul.lo.s32 %g, %g, %b;\nmov.u32 %k, 0;\n"
    "message:\ncvt.u64.u32 %x, %i;\nmov.u32 %r, 0;\n"
    "turn:\nmad.lo.s64 %x, %x, %f, %s;\nadd.u32 %r, %r, 1;\nsetp.lt.u32 %p, %r, %n;\n@%p bra turn;\n"
    "mul.wide.u32 %d, %i, 8;\nadd.s64 %d, %o, %d;\nst.global.u64 [%d], %x;\n"
    "add.u32 %i, %i, %g;\nadd.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, %e;\n@%p bra message;\nret;\n}\n";
enum { CHAIN_TURNS = 102, CHAIN_MESSAGES = 4096 /* of a multiprocessor, in one launch */ };

#define FUNCTIONS(F)                                                                                         \
    F(cuInit)                                                                                                \
    F(cuGetErrorName)                                                                                        \
    F(cuDriverGetVersion)                                                                                    \
    F(cuDeviceGet)                                                                                           \
    F(cuDeviceGetName)                                                                                       \
    F(cuDeviceGetAttribute)                                                                                  \
    F(cuDevicePrimaryCtxRetain)                                                                              \
    F(cuCtxSetCurrent)                                                                                       \
    F(cuModuleLoadData)                                                                                      \
    F(cuModuleGetFunction)                                                                                   \
    F(cuMemAlloc)                                                                                            \
    F(cuMemHostAlloc)                                                                                        \
    F(cuStreamCreate)                                                                                        \
    F(cuStreamSynchronize)                                                                                   \
    F(cuStreamBeginCapture)                                                                                  \
    F(cuStreamEndCapture)                                                                                    \
    F(cuMemcpyHtoDAsync)                                                                                     \
    F(cuMemcpyDtoHAsync)                                                                                     \
    F(cuLaunchKernel)                                                                                        \
    F(cuGraphInstantiateWithFlags)                                                                           \
    F(cuGraphLaunch)                                                                                         \
    F(cuGraphExecDestroy)                                                                                    \
    F(cuGraphDestroy)
#define DECLARE(name) __typeof__(&name) call_##name;
static struct {
    FUNCTIONS(DECLARE)
} driver;
#define TEXT_(text) #text
#define TEXT(text)  TEXT_(text) /* after the vendor's header renamed it: "cuMemAlloc_v2" */

/* One batch under way: a stream and buffers of its own. */
struct batch {
    CUstream stream;
    CUdeviceptr in, out;
    uint64_t *requests, *replies; /* pinned */
    uint64_t first;               /* number of its first message */
    size_t count;                 /* messages under way; 0: idle */
    uint64_t begun_ns;
};

struct client {
    pthread_t thread;
    struct batch batches[IN_FLIGHT];
    uint32_t words; /* of a message */
    size_t count;   /* messages of a batch */
    double seconds;
    uint64_t messages, errors, batches_done, under_way_ns;
};

struct row {
    uint64_t messages, errors, p50, p99, max;
    double rate, batch_ns; /* from the first byte filled to the last reply checked, on average */
};

enum { SWEEP_MAX = 20 };
struct sweep {
    struct row rows[SWEEP_MAX]; /* of 1, 2, 4, ... messages a batch */
    int count, best;
};

static CUcontext context;
static CUfunction kernel, chain_kernel;
static int multiprocessors;
static struct client clients[THREADS_MAX];
static char device_name[256];

static void must(CUresult code, const char *what)
{
    const char *name = "?";
    if (code == CUDA_SUCCESS)
        return;
    driver.call_cuGetErrorName(code, &name);
    fprintf(stderr, "peer_cuda: %s failed with %d (%s)\n", what, (int)code, name);
    exit(1);
}
#define CALL(name, ...) must(driver.call_##name(__VA_ARGS__), #name)

static void not_here(const char *why)
{
    fprintf(stderr, "peer_cuda: not on this machine: %s\n", why);
    exit(NOT_HERE);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        not_here(dlerror());
#define FIND(name)                                                                                           \
    {                                                                                                        \
        void *address = dlsym(library, TEXT(name));                                                          \
        if (!address)                                                                                        \
            not_here("the driver has no " TEXT(name));                                                       \
        memcpy(&driver.call_##name, &address, sizeof address);                                               \
    }
    FUNCTIONS(FIND)
}

static void open_batch(struct batch *batch)
{
    void *requests, *replies;
    CALL(cuStreamCreate, &batch->stream, CU_STREAM_NON_BLOCKING);
    CALL(cuMemAlloc, &batch->in, BATCH_BYTES_MAX);
    CALL(cuMemAlloc, &batch->out, BATCH_BYTES_MAX);
    CALL(cuMemHostAlloc, &requests, BATCH_BYTES_MAX, 0);
    CALL(cuMemHostAlloc, &replies, BATCH_BYTES_MAX, 0);
    batch->requests = requests;
    batch->replies = replies;
}

static void open_device(void)
{
    CUdevice device = 0;
    CUmodule module;
    open_driver();
    if (driver.call_cuInit(0) != CUDA_SUCCESS || driver.call_cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        not_here("the driver finds no device");
    CALL(cuDeviceGetName, device_name, sizeof device_name, device);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &kernel, module, "words");
    CALL(cuModuleLoadData, &module, chain_ptx);
    CALL(cuModuleGetFunction, &chain_kernel, module, "chain");
    CALL(cuDeviceGetAttribute, &multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    for (int i = 0; i < THREADS_MAX; i++)
        for (int k = 0; k < IN_FLIGHT; k++)
            open_batch(&clients[i].batches[k]);
}

/* ---- one batch ---------------------------------------------------------------------------------------- */

static void fill(struct batch *batch, uint32_t words)
{
    for (size_t i = 0; i < batch->count; i++)
        for (uint32_t k = 0; k < words; k++)
            batch->requests[i * words + k] = batch->first + i + k * STEP;
}

static uint64_t count_wrong(const struct batch *batch, uint32_t words)
{
    uint64_t errors = 0;
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t wrong = 0;
        for (uint32_t k = 0; k < words; k++)
            wrong |= batch->replies[i * words + k] ^ ((batch->first + i + k * STEP) * 3 + k);
        errors += wrong != 0;
    }
    return errors;
}

/* Copy in, launch, copy out; returns at once. */
static void enqueue(struct batch *batch, uint32_t words)
{
    uint32_t total = (uint32_t)(batch->count * words);
    const size_t bytes = (size_t)total * sizeof(uint64_t);
    void *parameters[] = {&batch->in, &batch->out, &words, &total};
    CALL(cuMemcpyHtoDAsync, batch->in, batch->requests, bytes, batch->stream);
    CALL(cuLaunchKernel, kernel, (total + LANES - 1) / LANES, 1, 1, LANES, 1, 1, 0, batch->stream, parameters,
         NULL);
    CALL(cuMemcpyDtoHAsync, batch->replies, batch->out, bytes, batch->stream);
}

static void begin(struct batch *batch, uint32_t words, uint64_t first, size_t count)
{
    batch->first = first;
    batch->count = count;
    batch->begun_ns = now_ns();
    fill(batch, words);
}

static void finish(struct batch *batch, struct client *client)
{
    if (batch->count == 0)
        return;
    CALL(cuStreamSynchronize, batch->stream);
    client->errors += count_wrong(batch, client->words);
    client->messages += batch->count;
    client->batches_done++;
    client->under_way_ns += now_ns() - batch->begun_ns;
    batch->count = 0;
}

/* ---- one message at a time ---------------------------------------------------------------------------- */

static CUgraphExec record_graph(struct batch *batch, uint32_t words)
{
    CUgraph graph;
    CUgraphExec exec;
    begin(batch, words, 0, 1);
    CALL(cuStreamBeginCapture, batch->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    enqueue(batch, words);
    CALL(cuStreamEndCapture, batch->stream, &graph);
    CALL(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CALL(cuGraphDestroy, graph);
    return exec;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct row measure_turns(uint32_t words, bool by_graph, double seconds)
{
    static uint64_t samples[SAMPLES_MAX];
    struct client *client = &clients[0];
    struct batch *batch = &client->batches[0];
    CUgraphExec exec = by_graph ? record_graph(batch, words) : NULL;
    size_t taken = 0, turns = 0;
    uint64_t begun = now_ns(), end = begun + (uint64_t)(seconds * 1e9);
    client->words = words;
    client->messages = client->errors = 0;
    for (; taken < SAMPLES_MAX && (taken == 0 || now_ns() < end); turns++) {
        const uint64_t sent = now_ns();
        begin(batch, words, turns, 1);
        if (exec)
            CALL(cuGraphLaunch, exec, batch->stream);
        else
            enqueue(batch, words);
        finish(batch, client);
        if (turns >= WARM_UP)
            samples[taken++] = now_ns() - sent;
    }
    if (exec)
        CALL(cuGraphExecDestroy, exec);
    qsort(samples, taken, sizeof samples[0], compare);
    return (struct row){.messages = client->messages,
                        .errors = client->errors,
                        .rate = (double)client->messages * 1e9 / (double)(now_ns() - begun),
                        .p50 = samples[taken / 2],
                        .p99 = samples[taken * 99 / 100],
                        .max = samples[taken - 1]};
}

/* ---- batches ------------------------------------------------------------------------------------------ */

static void *client_main(void *argument)
{
    struct client *client = argument;
    uint64_t sent = 0;
    CALL(cuCtxSetCurrent, context);
    const uint64_t end = now_ns() + (uint64_t)(client->seconds * 1e9);
    for (unsigned turn = 0; now_ns() < end; turn++) {
        struct batch *batch = &client->batches[turn % IN_FLIGHT];
        finish(batch, client);
        begin(batch, client->words, sent, client->count);
        enqueue(batch, client->words);
        sent += client->count;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        finish(&client->batches[i], client);
    return NULL;
}

static struct row measure_batches(uint32_t words, int threads, size_t count, double seconds)
{
    struct row row = {0};
    uint64_t batches = 0, under_way_ns = 0;
    const uint64_t begun = now_ns();
    for (int i = 0; i < threads; i++) {
        struct client *client = &clients[i];
        client->words = words;
        client->count = count;
        client->seconds = seconds;
        client->messages = client->errors = client->batches_done = client->under_way_ns = 0;
        if (pthread_create(&client->thread, NULL, client_main, client) != 0) {
            fprintf(stderr, "peer_cuda: no thread could be started\n");
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(clients[i].thread, NULL);
        row.messages += clients[i].messages;
        row.errors += clients[i].errors;
        batches += clients[i].batches_done;
        under_way_ns += clients[i].under_way_ns;
    }
    row.batch_ns = batches > 0 ? (double)under_way_ns / (double)batches : 0;
    row.rate = (double)row.messages * 1e9 / (double)(now_ns() - begun);
    return row;
}

static struct sweep sweep_batches(uint32_t words, int threads, double seconds)
{
    const size_t most = BATCH_BYTES_MAX / (words * sizeof(uint64_t));
    struct sweep sweep = {.count = 0};
    for (; sweep.count < SWEEP_MAX && (size_t)1 << sweep.count <= most; sweep.count++) {
        sweep.rows[sweep.count] = measure_batches(words, threads, (size_t)1 << sweep.count, seconds);
        if (sweep.rows[sweep.count].rate > sweep.rows[sweep.best].rate)
            sweep.best = sweep.count;
    }
    return sweep;
}

/* ---- arithmetic alone -------------------------------------------------------------------------------- */

static const uint64_t chain_factor = UINT64_C(6364136223846793005),
                      chain_step = UINT64_C(1442695040888963407);

/* What all turns together do to x: x * power + sum. */
static uint64_t count_wrong_chains(const uint64_t *replies, size_t count)
{
    uint64_t power = 1, sum = 0, errors = 0;
    for (int turn = 0; turn < CHAIN_TURNS; turn++) {
        power *= chain_factor;
        sum = sum * chain_factor + chain_step;
    }
    for (size_t i = 0; i < count; i++)
        errors += replies[i] != i * power + sum;
    return errors;
}

/* The handler of `gyre bench --case arithmetic/...` without messages: one block a multiprocessor, `lanes`
 * each. */
static struct row measure_chain(uint32_t lanes, double seconds)
{
    struct batch *batch = &clients[0].batches[0];
    struct row row = {0};
    uint32_t turns = CHAIN_TURNS, each = CHAIN_MESSAGES / lanes;
    const uint32_t blocks = (uint32_t)multiprocessors;
    const size_t count = (size_t)blocks * lanes * each;
    uint64_t factor = chain_factor, step = chain_step, spent_ns = 0;
    void *parameters[] = {&batch->out, &factor, &step, &turns, &each};
    while ((double)spent_ns < seconds * 1e9) {
        const uint64_t begun = now_ns();
        CALL(cuLaunchKernel, chain_kernel, blocks, 1, 1, lanes, 1, 1, 0, batch->stream, parameters, NULL);
        CALL(cuStreamSynchronize, batch->stream);
        spent_ns += now_ns() - begun;
        row.messages += count;
    }
    CALL(cuMemcpyDtoHAsync, batch->replies, batch->out, count * sizeof(uint64_t), batch->stream);
    CALL(cuStreamSynchronize, batch->stream);
    row.errors = count_wrong_chains(batch->replies, count);
    row.rate = (double)row.messages * 1e9 / (double)spent_ns;
    return row;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static uint64_t errors_seen;

static void print_sweep(const struct sweep *sweep)
{
    printf(", \"sweep\": [");
    for (int i = 0; i < sweep->count; i++)
        printf("%s{\"batch\": %zu, \"msgs_per_s\": %.0f, \"batch_ns\": %.0f}", i > 0 ? ", " : "",
               (size_t)1 << i, sweep->rows[i].rate, sweep->rows[i].batch_ns);
    printf("]");
}

static void print_row(const char *name, uint32_t words, int threads, const struct sweep *sweep,
                      const struct row *row)
{
    static const char *separator = "";
    const size_t bytes = words * sizeof(uint64_t);
    printf(
        "%s    {\"case\": \"%s\", \"backend\": \"plain CUDA\", \"device\": \"%s\", \"message_bytes\": %zu, "
        "\"threads\": %d, \"batch\": %zu, \"messages\": %llu, \"errors\": %llu, \"msgs_per_s\": %.0f, "
        "\"bytes_per_s\": %.0f",
        separator, name, device_name, bytes, threads, sweep ? (size_t)1 << sweep->best : 1,
        (unsigned long long)row->messages, (unsigned long long)row->errors, row->rate,
        row->rate * (double)bytes);
    if (row->p50 > 0)
        printf(", \"rtt_ns\": {\"p50\": %llu, \"p99\": %llu, \"max\": %llu}", (unsigned long long)row->p50,
               (unsigned long long)row->p99, (unsigned long long)row->max);
    if (sweep) {
        printf(", \"batch_ns\": %.0f", row->batch_ns);
        print_sweep(sweep);
    }
    printf("}");
    separator = ",\n";
    errors_seen += row->errors;
}

static void print_size(uint32_t words, double seconds)
{
    static const int threads[] = {1, 2, THREADS_MAX};
    const size_t bytes = words * sizeof(uint64_t);
    char name[64];
    struct row row = measure_turns(words, false, seconds);
    snprintf(name, sizeof name, "launch/%zu", bytes);
    print_row(name, words, 1, NULL, &row);
    row = measure_turns(words, true, seconds);
    snprintf(name, sizeof name, "graph/%zu", bytes);
    print_row(name, words, 1, NULL, &row);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        const struct sweep sweep = sweep_batches(words, threads[i], seconds / 8);
        row = measure_batches(words, threads[i], (size_t)1 << sweep.best, seconds);
        snprintf(name, sizeof name, "batched/%zu/%d", bytes, threads[i]);
        print_row(name, words, threads[i], &sweep, &row);
    }
}

static void print_arithmetic(double seconds)
{
    enum { CHAIN_WORDS = 4, CHAIN_LANES = 512 };
    struct row row = measure_chain(1, seconds);
    print_row("arithmetic/block", CHAIN_WORDS, 0, NULL, &row);
    row = measure_chain(CHAIN_LANES, seconds);
    print_row("arithmetic/lane", CHAIN_WORDS, 0, NULL, &row);
}

int main(int argc, char **argv)
{
    static const uint32_t bytes[] = {48, 1024, 4096, 65536};
    const double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    int version = 0;
    if (seconds <= 0 || argc > 3 || (argc == 3 && strcmp(argv[2], "arithmetic") != 0)) {
        fprintf(stderr, "usage: peer_cuda [SECONDS [arithmetic]]; SECONDS is a number above 0\n");
        return 2;
    }
    open_device();
    CALL(cuDriverGetVersion, &version);
    printf("{\"device\": \"%s\", \"driver_cuda\": %d,\n  \"rows\": [\n", device_name, version);
    for (size_t i = 0; argc < 3 && i < sizeof bytes / sizeof bytes[0]; i++)
        print_size(bytes[i] / (uint32_t)sizeof(uint64_t), seconds);
    print_arithmetic(seconds);
    printf("\n  ]}\n");
    return errors_seen > 0;
}
