/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a pool (docs/pipelines.md) whose tasks take very different times. A round makes all tasks while the workers are paused, and times
 * them from their activation to the last completion. The ideal is what one worker takes for as many turns, divided by the workers: a
 * lone call of many turns tells it in the same round. Each task checks what its own arithmetic came to.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_between.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/pipeline.h"
#include "gyre/waiting.h"

enum { SHORT_NS = 1000, TIMES_LONGER = 100, TRIED_TURNS = 400000, ROUNDS_MOST = 64 };

/* How much work there is: many workers on a device, as many as the tests' machines have processors elsewhere. */
struct scale {
    const char *backend;
    uint32_t workers, lanes, rings; /* rings: in which the tasks are spread */
    uint64_t tasks;
};
static const struct scale scales[] = {{"cuda", 132, 32, 8, 400000}, {"", 2, 0, 2, 1000}};

struct stealing {
    gyre_runtime *runtime;
    gyre_kernel *deal, *work;
    gyre_pipeline *pipeline;
    struct scale scale;
    uint32_t orders; /* requests of a round, one for each ring that tasks are born in */
    steal_order order;
    uint64_t turns, number; /* of all tasks of a round; of the next task */
    double ideals[ROUNDS_MOST], ratios[ROUNDS_MOST];
    int rounds;
};

static const struct scale *scale_of(const char *backend)
{
    const struct scale *scale = scales;
    while (scale->backend[0] && strcmp(scale->backend, backend) != 0)
        scale++;
    return scale;
}

/* ---- the arithmetic ---- */

/* What `turns` turns together are: x -> x * *power + *sum. */
static void many_turns(uint64_t turns, uint64_t *power, uint64_t *sum)
{
    *power = 1;
    *sum = 0;
    for (uint64_t turn = 0; turn < turns; turn++) {
        *power *= BENCH_CHAIN_FACTOR;
        *sum = *sum * BENCH_CHAIN_FACTOR + BENCH_CHAIN_STEP;
    }
}

/* How long one worker takes for a turn, in ns. */
static gyre_status time_turn(const struct stealing *stealing, double *turn_ns)
{
    steal_task task = {.x = 1, .factor = BENCH_CHAIN_FACTOR, .step = BENCH_CHAIN_STEP, .turns = TRIED_TURNS};
    gyre_completion completion = {0};
    uint64_t power, sum;
    many_turns(TRIED_TURNS, &power, &sum);
    task.right = power + sum;
    const uint64_t start = gyre_clock_ns();
    const gyre_status status = gyre_call(gyre_kernel_queue(stealing->work), &task, sizeof task, NULL, 0,
                                         &completion, gyre_in_ms(BENCH_PATIENCE_MS));
    *turn_ns = (double)(gyre_clock_ns() - start) / TRIED_TURNS;
    if (status == GYRE_OK && completion.outcome != GYRE_NOT_REPLIED)
        return gyre_error_set(GYRE_INTERNAL, "a task that was called alone failed: %s",
                              completion.failure_text);
    return status;
}

static uint64_t count_turns(const struct stealing *stealing, uint64_t first)
{
    uint64_t turns = 0;
    for (uint64_t i = first; i < first + stealing->scale.tasks; i++)
        turns += stealing->order.turns[BENCH_STEAL_IS_LONG(i)];
    return turns;
}

/* ---- the pipeline ---- */

static gyre_status launch_as(struct stealing *stealing, const char *kernel, uint32_t blocks, int stage,
                             gyre_kernel **out)
{
    char path[PATH_MAX];
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = path,
                                   .kernel = kernel,
                                   .name = kernel,
                                   .blocks = blocks,
                                   .lanes = stealing->scale.lanes,
                                   .stage = stage};
    const gyre_status status = bench_file("steal.gyre.c", path, sizeof path);
    return status == GYRE_OK
               ? bench_device_status(stealing->runtime, gyre_launch(stealing->runtime, &desc, out))
               : status;
}

/* A ring has room for the tasks of several orders: a block may get more of them than another one. */
static uint64_t capacity_of(const struct stealing *stealing)
{
    const uint64_t each = stealing->scale.tasks / stealing->orders;
    const uint64_t wanted = stealing->orders > 1 ? 4 * each : each + each / 4;
    uint64_t capacity = 1024;
    while (capacity < wanted)
        capacity *= 2;
    return capacity;
}

static gyre_status open_pool(struct stealing *stealing)
{
    static const char *const entry = "steal_deal";
    const gyre_link_desc link = {.size = sizeof link,
                                 .from = "steal_deal.tasks",
                                 .to = "steal_work",
                                 .pool = "tasks",
                                 .capacity = capacity_of(stealing)};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "steal",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_status status = launch_as(stealing, entry, stealing->orders, 1, &stealing->deal);
    if (status == GYRE_OK)
        status = launch_as(stealing, "steal_work", stealing->scale.workers, 4, &stealing->work);
    return status == GYRE_OK ? gyre_pipeline_open(stealing->runtime, &desc, &stealing->pipeline) : status;
}

static gyre_status open_all(struct stealing *stealing, const bench_case *self, const bench_options *options,
                            bench_row *row)
{
    gyre_backend_choice choice = {.size = sizeof choice};
    double turn_ns = 1;
    gyre_status status = bench_runtime_open(self, options, NULL, &stealing->runtime);
    if (status == GYRE_OK)
        status = gyre_backend_choose(stealing->runtime, NULL, &choice);
    stealing->scale = *scale_of(choice.name);
    stealing->orders = strcmp(self->name, "steal/skewed/born") == 0 ? 1 : stealing->scale.rings;
    stealing->scale.tasks -= stealing->scale.tasks % stealing->orders;
    if (status == GYRE_OK)
        status = open_pool(stealing);
    if (status == GYRE_OK)
        status = time_turn(stealing, &turn_ns);
    if (status != GYRE_OK)
        return status;
    const uint64_t turns = 1 + (uint64_t)(SHORT_NS / turn_ns);
    stealing->order = (steal_order){.count = stealing->scale.tasks / stealing->orders,
                                    .factor = BENCH_CHAIN_FACTOR,
                                    .step = BENCH_CHAIN_STEP,
                                    .turns = {turns, turns * TIMES_LONGER}};
    for (int i = 0; i < 2; i++)
        many_turns(stealing->order.turns[i], &stealing->order.power[i], &stealing->order.sum[i]);
    bench_note_kernel(stealing->work, row);
    row->message_bytes = sizeof(steal_task);
    return GYRE_OK;
}

/* ---- rounds ---- */

static gyre_status send_orders(struct stealing *stealing)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < stealing->orders && status == GYRE_OK; i++) {
        stealing->order.first = stealing->number;
        stealing->number += stealing->order.count;
        status = gyre_send(gyre_pipeline_queue(stealing->pipeline), &stealing->order, sizeof stealing->order,
                           NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    }
    return status;
}

/* Waits until all tasks lie in the rings. */
static gyre_status wait_for_births(const struct stealing *stealing)
{
    const uint64_t deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_link_info info = {.size = sizeof info};
    gyre_status status;
    while ((status = gyre_pipeline_link(stealing->pipeline, 0, &info)) == GYRE_OK &&
           info.waiting < stealing->scale.tasks)
        if (gyre_clock_ns() > deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT, "%llu of %llu tasks were made",
                                  (unsigned long long)info.waiting,
                                  (unsigned long long)stealing->scale.tasks);
    return status;
}

static gyre_status receive_all(const struct stealing *stealing, bench_sample *sample)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < stealing->orders && status == GYRE_OK; i++) {
        gyre_completion completion = {0};
        status = gyre_receive(gyre_pipeline_queue(stealing->pipeline), NULL, 0, &completion,
                              gyre_in_ms(BENCH_PATIENCE_MS));
        sample->errors += status == GYRE_OK && completion.outcome != GYRE_NOT_REPLIED;
    }
    return status;
}

static gyre_status steal_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct stealing *stealing = context;
    const uint64_t turns = count_turns(stealing, stealing->number);
    double turn_ns = 1;
    (void)duration_ns; /* a round is all tasks, once */
    gyre_status status = time_turn(stealing, &turn_ns);
    if (status == GYRE_OK)
        status = gyre_kernel_deactivate(stealing->work, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        status = send_orders(stealing);
    if (status == GYRE_OK)
        status = wait_for_births(stealing);
    const uint64_t start = gyre_clock_ns();
    if (status == GYRE_OK)
        status = gyre_kernel_activate(stealing->work, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        status = receive_all(stealing, sample);
    const double elapsed_ns = (double)(gyre_clock_ns() - start);
    const double ideal_ns = (double)turns * turn_ns / stealing->scale.workers;
    const double tasks = (double)stealing->scale.tasks;
    sample->messages = stealing->scale.tasks;
    sample->per_second = tasks * 1e9 / elapsed_ns;
    stealing->ideals[stealing->rounds] = tasks * 1e9 / ideal_ns;
    stealing->ratios[stealing->rounds++] = ideal_ns / elapsed_ns;
    return status;
}

gyre_status bench_run_steal(const bench_case *self, const bench_options *options, bench_row *row)
{
    static struct stealing stealing; /* cases run one at a time */
    bench_story story;
    stealing = (struct stealing){.runtime = NULL};
    gyre_status status = open_all(&stealing, self, options, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, steal_round, &stealing, row);
    if (status == GYRE_OK) {
        row->floor_name = "the tasks' own time, shared by all blocks";
        row->floor.messages = row->value.messages;
        row->floor.per_second = bench_median(stealing.ideals, (size_t)stealing.rounds);
        row->ratio = bench_median(stealing.ratios, (size_t)stealing.rounds);
    }
    bench_story_take(&story, status);
    gyre_close(stealing.runtime);
    return bench_story_tell(&story, self);
}
