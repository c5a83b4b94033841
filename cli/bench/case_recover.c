/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long a client waits when a handler kills its worker process: from the send of the fatal request to the first
 * right reply of the next worker. poison_limit is 1, so the fatal request is failed at once, and the next request waits for the
 * new worker.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_kept.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { CRASHES_LEAST = 3 /* in a round */, LOOK_NS = 200000 };

struct recovery {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_buffer *near;
    uint32_t what;
    bool stands_by; /* a spare worker process stands by before each crash */
    uint64_t number;
    bench_histogram histogram;
};

static gyre_status call_faults(struct recovery *recovery, uint32_t what, gyre_completion *completion,
                               uint64_t *errors)
{
    fault_request request = {.what = what, .far = UINT64_C(1) << 40, .number = ++recovery->number};
    fault_reply reply = {0};
    gyre_status status = gyre_call(gyre_kernel_queue(recovery->kernel), &request, sizeof request, &reply,
                                   sizeof reply, completion, gyre_in_ms(BENCH_PATIENCE_MS));
    bool right = completion->outcome == GYRE_REPLIED && reply.number == request.number * 3 + 1;
    *errors += status == GYRE_OK && right != (what == BENCH_FAULT_NONE);
    return status;
}

static gyre_status await_standby(const struct recovery *recovery)
{
    gyre_kernel_info info = {.size = sizeof info};
    uint64_t limit = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_status status = gyre_kernel_info_get(recovery->kernel, &info);
    for (; status == GYRE_OK && !info.standby; status = gyre_kernel_info_get(recovery->kernel, &info)) {
        if (gyre_clock_ns() > limit)
            return gyre_error_set(GYRE_TIMEOUT, "no standby worker became ready");
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return status;
}

static gyre_status crash_once(struct recovery *recovery, bench_sample *sample)
{
    gyre_completion completion = {0};
    gyre_status status = recovery->stands_by ? await_standby(recovery) : GYRE_OK;
    uint64_t start = gyre_clock_ns();
    if (status == GYRE_OK)
        status = call_faults(recovery, recovery->what, &completion, &sample->errors);
    if (status == GYRE_OK && completion.outcome != GYRE_HANDLER_FAILED)
        return gyre_error_set(GYRE_FAILED,
                              "the handler was to take its worker down, and was completed with %d",
                              (int)completion.outcome);
    if (status == GYRE_OK)
        status = call_faults(recovery, BENCH_FAULT_NONE, &completion, &sample->errors);
    bench_histogram_add(&recovery->histogram, gyre_clock_ns() - start);
    sample->messages++;
    return status;
}

static gyre_status recovery_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct recovery *recovery = context;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns(), crashes = 0;
    /* after each crash a new spare is awaited, half a second on a GPU */
    uint64_t least = recovery->stands_by ? 1 : CRASHES_LEAST;
    recovery->histogram = (bench_histogram){0};
    do
        status = crash_once(recovery, sample);
    while (status == GYRE_OK && (++crashes < least || gyre_clock_ns() - start < duration_ns));
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    bench_sample_latencies(sample, &recovery->histogram);
    return status;
}

static gyre_status launch_faults(struct recovery *recovery, bench_row *row)
{
    char path[4096];
    gyre_completion completion = {0};
    uint64_t errors = 0;
    gyre_status status = bench_file("faults.gyre.c", path, sizeof path);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(recovery->runtime, row->backend, 0, sizeof(uint64_t), &recovery->near);
    gyre_binding_name binding = {"near", recovery->near};
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = path, .kernel = "faults", .bindings = &binding, .binding_count = 1};
    if (status == GYRE_OK)
        status = gyre_launch(recovery->runtime, &desc, &recovery->kernel);
    if (status == GYRE_OK)
        bench_note_kernel(recovery->kernel, row);
    if (status != GYRE_OK)
        return bench_device_status(recovery->runtime, status);
    return call_faults(recovery, BENCH_FAULT_NONE, &completion, &errors);
}

static gyre_status run_recovery(const bench_case *self, const bench_options *options, uint32_t what,
                                bool stands_by, bench_row *row)
{
    bench_story story;
    struct recovery *recovery = calloc(1, sizeof *recovery);
    if (!recovery)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    recovery->what = what;
    recovery->stands_by = stands_by;
    gyre_status status = bench_runtime_open(self, options, NULL, &recovery->runtime);
    if (status == GYRE_OK)
        status = launch_faults(recovery, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, recovery_round, recovery, row);
    bench_story_take(&story, status);
    gyre_close(recovery->runtime);
    free(recovery);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_recover_fault(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_recovery(self, options, BENCH_FAULT_ADDRESS, false, row);
}

gyre_status bench_run_recover_loop(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_recovery(self, options, BENCH_FAULT_LOOP, false, row);
}

gyre_status bench_run_recover_standby(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_recovery(self, options, BENCH_FAULT_ADDRESS, true, row);
}
