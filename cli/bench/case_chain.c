/* SPDX-License-Identifier: Apache-2.0 */
/* Opens chains of kernels, linked or called one after the other by the client, and measures the latter. */
#include "cli/bench/bench.h"
#include "cli/bench/cases_chain.h"
#include "cli/bench/chain.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <stdio.h>

#include "core/base/error.h"
#include "gyre/pipeline.h"
#include "gyre/waiting.h"

enum { LAST = BENCH_CHAIN_KERNELS - 1 };

static gyre_status launch_node(gyre_runtime *runtime, const char *file, const char *kernel, const char *name,
                               unsigned blocks, gyre_kernel **out)
{
    char path[PATH_MAX];
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = path, .kernel = kernel, .name = name, .blocks = blocks};
    const gyre_status status = bench_file(file, path, sizeof path);
    return status == GYRE_OK ? bench_device_status(runtime, gyre_launch(runtime, &desc, out)) : status;
}

gyre_status bench_chain_queue(const bench_session *session, gyre_queue **out)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = session->shape.capacity};
    return gyre_pipeline_queue_open(session->pipeline, NULL, &desc, out);
}

gyre_status bench_chain_open(bench_session *session)
{
    static const char *const names[] = {"chain_0", "chain_1", "chain_2", "chain_3", "chain_4"};
    static const char *const ports[] = {"chain_0.next", "chain_1.next", "chain_2.next", "chain_3.next"};
    gyre_link_desc links[LAST];
    gyre_kernel *kernels[BENCH_CHAIN_KERNELS];
    gyre_pipeline *pipeline = NULL;
    const unsigned blocks = session->shape.producers ? session->shape.producers : 1; /* one a ring */
    gyre_status status = GYRE_OK;
    for (int i = 0; i < BENCH_CHAIN_KERNELS && status == GYRE_OK; i++)
        status = launch_node(session->runtime, "links.gyre.c", i < LAST ? "pass_48" : "last_48", names[i],
                             blocks, &kernels[i]);
    for (int i = 0; i < LAST; i++)
        links[i] = (gyre_link_desc){.size = sizeof links[i], .from = ports[i], .to = names[i + 1]};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "chain",
                                     .entries = names,
                                     .entry_count = 1,
                                     .answers = names + LAST,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = LAST};
    if (status == GYRE_OK)
        status = gyre_pipeline_open(session->runtime, &desc, &pipeline);
    if (status != GYRE_OK)
        return status;
    session->kernel = kernels[0];
    session->pipeline = pipeline;
    /* the pipeline's own queue, or one of the case's capacity */
    gyre_queue_stats stats = {.size = sizeof stats};
    session->queue = gyre_pipeline_queue(pipeline);
    status = gyre_queue_stats_get(session->queue, &stats);
    if (status == GYRE_OK && stats.capacity != session->shape.capacity)
        status = bench_chain_queue(session, &session->queue);
    return status;
}

/* ---- by way of the host ---- */

struct hosted {
    gyre_runtime *runtime;
    gyre_kernel *first;
    gyre_queue *queues[BENCH_CHAIN_KERNELS];
    uint64_t number;
    bench_histogram histogram;
};

static gyre_status open_hosted(const bench_case *self, const bench_options *options, struct hosted *hosted)
{
    char name[16];
    gyre_status status = bench_runtime_open(self, options, NULL, &hosted->runtime);
    for (int i = 0; i < BENCH_CHAIN_KERNELS && status == GYRE_OK; i++) {
        gyre_kernel *kernel = NULL;
        snprintf(name, sizeof name, "hosted_%d", i);
        status = i < LAST ? launch_node(hosted->runtime, "echo.gyre.c", "echo_48", name, 1, &kernel)
                          : launch_node(hosted->runtime, "words.gyre.c", "words_48", name, 1, &kernel);
        hosted->queues[i] = gyre_kernel_queue(kernel);
        hosted->first = i == 0 ? kernel : hosted->first;
    }
    return status;
}

static gyre_status call_each(struct hosted *hosted, uint64_t deadline_ns, uint64_t *errors)
{
    words_48 message;
    gyre_status status = GYRE_OK;
    bench_fill(BENCH_48, &message, hosted->number);
    for (int i = 0; i < BENCH_CHAIN_KERNELS && status == GYRE_OK; i++)
        status = gyre_call(hosted->queues[i], &message, sizeof message, &message, sizeof message, NULL,
                           deadline_ns);
    if (status == GYRE_OK)
        *errors += !bench_right(BENCH_48, &message, hosted->number++);
    return status;
}

static gyre_status hosted_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct hosted *hosted = context;
    const uint64_t deadline = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_status status = GYRE_OK;
    hosted->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    const uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    for (uint64_t before = start; status == GYRE_OK && before - start < duration_ns;) {
        status = call_each(hosted, deadline, &sample->errors);
        const uint64_t now = gyre_clock_ns();
        bench_histogram_add(&hosted->histogram, now - before);
        before = now;
    }
    const double elapsed = (double)(gyre_clock_ns() - start);
    bench_pin(-1);
    sample->messages = hosted->histogram.count;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    bench_sample_latencies(sample, &hosted->histogram);
    return status;
}

gyre_status bench_run_chain_by_host(const bench_case *self, const bench_options *options, bench_row *row)
{
    static struct hosted hosted; /* its histogram is large; cases run one at a time */
    bench_story story;
    hosted = (struct hosted){.runtime = NULL};
    gyre_status status = open_hosted(self, options, &hosted);
    if (status == GYRE_OK) {
        bench_note_kernel(hosted.first, row);
        status = bench_rounds(self, options, hosted_round, &hosted, row);
    }
    bench_story_take(&story, status);
    gyre_close(hosted.runtime);
    return bench_story_tell(&story, self);
}
