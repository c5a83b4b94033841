/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures an ask and its answer between two kernels. A request asks so often, one ask behind the other, that the client's own
 * journey is a small part of it; what is noted is a request's time by the number of its asks.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_between.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>

#include "core/base/error.h"
#include "gyre/pipeline.h"
#include "gyre/waiting.h"

enum { ASKS = 200 }; /* of a request */

struct asking {
    gyre_runtime *runtime;
    gyre_kernel *asker;
    gyre_pipeline *pipeline;
    uint64_t number;
    bench_histogram histogram;
};

static gyre_status launch_one(struct asking *asking, const char *kernel, gyre_kernel **out)
{
    char path[PATH_MAX];
    const gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = kernel, .blocks = 1};
    const gyre_status status = bench_file("asks.gyre.c", path, sizeof path);
    return status == GYRE_OK ? bench_device_status(asking->runtime, gyre_launch(asking->runtime, &desc, out))
                             : status;
}

static gyre_status open_asking(const bench_case *self, const bench_options *options, struct asking *asking)
{
    static const char *const asker[] = {"asker_48"};
    const gyre_link_desc link = {.size = sizeof link, .from = "asker_48.about", .to = "asked_48"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "ask",
                                     .entries = asker,
                                     .entry_count = 1,
                                     .answers = asker,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .quota = 4};
    gyre_kernel *asked;
    gyre_status status = bench_runtime_open(self, options, NULL, &asking->runtime);
    if (status == GYRE_OK)
        status = launch_one(asking, asker[0], &asking->asker);
    if (status == GYRE_OK)
        status = launch_one(asking, "asked_48", &asked);
    return status == GYRE_OK ? gyre_pipeline_open(asking->runtime, &desc, &asking->pipeline) : status;
}

/* Whether the reply shows that each ask was answered once. */
static bool is_right(const words_48 *reply, uint64_t number)
{
    uint64_t expected = number;
    for (int i = 0; i < ASKS; i++)
        expected = expected * 3 + 1;
    return reply->word[0] == expected && reply->word[1] == number && reply->word[5] == 0;
}

static gyre_status call_asker(struct asking *asking, uint64_t deadline_ns, uint64_t *errors)
{
    const words_48 request = {.word = {asking->number, asking->number, 0, 0, 0, ASKS}};
    words_48 reply = {0};
    const gyre_status status = gyre_call(gyre_pipeline_queue(asking->pipeline), &request, sizeof request,
                                         &reply, sizeof reply, NULL, deadline_ns);
    if (status == GYRE_OK)
        *errors += !is_right(&reply, asking->number++);
    return status;
}

static gyre_status asking_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct asking *asking = context;
    const uint64_t deadline = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_status status = GYRE_OK;
    asking->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    const uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    for (uint64_t before = start; status == GYRE_OK && before - start < duration_ns;) {
        status = call_asker(asking, deadline, &sample->errors);
        const uint64_t now = gyre_clock_ns();
        bench_histogram_add(&asking->histogram, (now - before) / ASKS);
        before = now;
    }
    const double elapsed = (double)(gyre_clock_ns() - start);
    bench_pin(-1);
    sample->messages = asking->histogram.count * ASKS;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    bench_sample_latencies(sample, &asking->histogram);
    return status;
}

gyre_status bench_run_ask(const bench_case *self, const bench_options *options, bench_row *row)
{
    static struct asking asking; /* its histogram is large; cases run one at a time */
    bench_story story;
    asking = (struct asking){.runtime = NULL};
    gyre_status status = open_asking(self, options, &asking);
    if (status == GYRE_OK) {
        bench_note_kernel(asking.asker, row);
        status = bench_rounds(self, options, asking_round, &asking, row);
    }
    bench_story_take(&story, status);
    gyre_close(asking.runtime);
    return bench_story_tell(&story, self);
}
