/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long checkpoints delay a client: one thread calls without a pause, another thread takes checkpoints. The figure
 * of a checkpoint is the longest call until the checkpoint is stored. The state is a buffer, and the case's name tells its
 * size. Checks every reply.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_kept.h"
#include "cli/bench/kernels.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum {
    CHECKPOINTS_LEAST = 5,
    CALLS_BEFORE = 100, /* calls before a checkpoint */
    COPIES = 6          /* copies of the state that may be in host memory */
};

struct keeping {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_buffer *cells;
    uint64_t size, number;
    bench_histogram histogram;

    /* counts of the calling thread; atomic */
    uint64_t calls, longest_ns, errors;
    uint32_t stop;
    gyre_status status;
};

/* The value of the cell that call `number` adds to, after that call: call i adds i + 1 to cell i % count. */
static uint64_t expected_sum(uint64_t number, uint64_t count)
{
    uint64_t turn = number / count, cell = number % count;
    return (turn + 1) * (cell + 1) + count * (turn * (turn + 1) / 2);
}

static gyre_status call_once(struct keeping *keeping)
{
    uint64_t count = keeping->size / sizeof(uint64_t);
    keep_request request = {.cell = keeping->number % count, .value = keeping->number + 1};
    keep_reply reply = {0};
    uint64_t start = gyre_clock_ns();
    gyre_status status = gyre_call(gyre_kernel_queue(keeping->kernel), &request, sizeof request, &reply,
                                   sizeof reply, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    uint64_t took = gyre_clock_ns() - start;
    /* relaxed: figures; `calls` publishes them to the thread that waits for it */
    if (took > __atomic_load_n(&keeping->longest_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&keeping->longest_ns, took, __ATOMIC_RELAXED);
    if (status == GYRE_OK && reply.value != expected_sum(keeping->number, count))
        __atomic_fetch_add(&keeping->errors, 1, __ATOMIC_RELAXED);
    keeping->number++;
    __atomic_fetch_add(&keeping->calls, 1, __ATOMIC_RELEASE);
    return status;
}

static void *call_on(void *argument)
{
    struct keeping *keeping = argument;
    bench_pin(bench_core_client());
    while (keeping->status == GYRE_OK && !__atomic_load_n(&keeping->stop, __ATOMIC_ACQUIRE))
        keeping->status = call_once(keeping);
    __atomic_store_n(&keeping->stop, 2, __ATOMIC_RELEASE);
    return NULL;
}

/* False when the client gave up. */
static bool await_calls(struct keeping *keeping, uint64_t more)
{
    uint64_t until = __atomic_load_n(&keeping->calls, __ATOMIC_ACQUIRE) + more;
    while (__atomic_load_n(&keeping->calls, __ATOMIC_ACQUIRE) < until)
        if (__atomic_load_n(&keeping->stop, __ATOMIC_ACQUIRE))
            return false;
        else
            usleep(20);
    return true;
}

/* Takes one checkpoint. The call that waits for the kernel may return after the checkpoint is stored. */
static gyre_status checkpoint_once(struct keeping *keeping, bench_sample *sample)
{
    if (!await_calls(keeping, CALLS_BEFORE))
        return GYRE_OK;
    __atomic_store_n(&keeping->longest_ns, 0, __ATOMIC_RELAXED);
    gyre_status status = gyre_kernel_checkpoint(keeping->kernel, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK && await_calls(keeping, 2)) {
        bench_histogram_add(&keeping->histogram, __atomic_load_n(&keeping->longest_ns, __ATOMIC_RELAXED));
        sample->messages++;
    }
    return status;
}

static gyre_status take_checkpoints(struct keeping *keeping, uint64_t duration_ns, bench_sample *sample)
{
    pthread_t client;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns(), taken = 0;
    if (pthread_create(&client, NULL, call_on, keeping) != 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no thread for a client");
    do
        status = checkpoint_once(keeping, sample);
    while (status == GYRE_OK && __atomic_load_n(&keeping->stop, __ATOMIC_ACQUIRE) == 0 &&
           (++taken < CHECKPOINTS_LEAST || gyre_clock_ns() - start < duration_ns));
    __atomic_store_n(&keeping->stop, 1, __ATOMIC_RELEASE);
    pthread_join(client, NULL);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    sample->errors = keeping->errors;
    bench_sample_latencies(sample, &keeping->histogram);
    if (status == GYRE_OK && keeping->status != GYRE_OK)
        return gyre_error_set(keeping->status, "a client's call failed: %s",
                              gyre_status_word(keeping->status));
    return status;
}

static gyre_status check_memory(uint64_t size)
{
    uint64_t here = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (size * COPIES <= here)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED,
                          "a state of %llu MiB takes up to %u times that of memory, and %llu MiB are there",
                          (unsigned long long)size >> 20, COPIES, (unsigned long long)here >> 20);
}

static gyre_status launch_keeper(struct keeping *keeping, bench_row *row)
{
    char path[4096];
    gyre_status status = bench_file("keeping.gyre.c", path, sizeof path);
    if (status == GYRE_OK)
        status = check_memory(keeping->size);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(keeping->runtime, row->backend, 0, keeping->size, &keeping->cells);
    gyre_binding_name binding = {"cells", keeping->cells};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = path,
                             .kernel = "keep_cells",
                             .blocks = 1,
                             .bindings = &binding,
                             .binding_count = 1};
    if (status == GYRE_OK)
        status = gyre_launch(keeping->runtime, &desc, &keeping->kernel);
    if (status == GYRE_OK)
        bench_note_kernel(keeping->kernel, row);
    return status == GYRE_OK ? GYRE_OK : bench_device_status(keeping->runtime, status);
}

/* "checkpoint/256MiB" */
static uint64_t size_of_case(const bench_case *self)
{
    char *unit;
    uint64_t number = strtoull(strchr(self->name, '/') + 1, &unit, 10);
    return number << (*unit == 'G' ? 30 : 20);
}

gyre_status bench_run_checkpoint(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    struct keeping *keeping = calloc(1, sizeof *keeping);
    if (!keeping)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    keeping->size = size_of_case(self);
    gyre_status status = bench_runtime_open(self, options, NULL, &keeping->runtime);
    if (status == GYRE_OK)
        status = launch_keeper(keeping, row);
    if (status == GYRE_OK)
        status = take_checkpoints(keeping, (uint64_t)(options->seconds * 1e9), &row->value);
    row->has_latency = status == GYRE_OK;
    bench_story_take(&story, status);
    gyre_close(keeping->runtime);
    free(keeping);
    return bench_story_tell(&story, self);
}
