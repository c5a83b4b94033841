/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures links between kernels: of one device, or ("nvlink") of two devices that use each other's memory (docs/devices.md). Where there
 * are none, the case says so.
 *
 * Lone: a client calls a chain of three kernels and one of nine by turns, whose kernels are on the devices by turns. What six links more
 * take, with a kernel that takes the message, handles it and passes it on, is divided by six.
 * Rate: a kernel of few blocks makes 32 messages of each request, one of many blocks makes 32 of each of these, and as many blocks of a
 * third kernel check each of them. The last link counts; a client could not feed it by requests. A request is completed when all its messages
 * were checked, so only messages that came whole are counted.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_between.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/pipeline.h"
#include "gyre/waiting.h"

enum { SHORT = 3, LONG = 9, DEVICES = 2 };
enum { FED = 8 };        /* blocks that a block of the first kernel has enough for */
enum { EACH = 32 * 32 }; /* messages that are checked of a request, as links.gyre.c has it */

struct linked {
    gyre_runtime *runtime;
    gyre_kernel *first;
    gyre_queue *queues[2];
    uint64_t number, window;
    bench_histogram histogram;
};

/* ---- kernels of two devices ---- */

static gyre_status launch_at(struct linked *linked, uint32_t device, const char *kernel, const char *name,
                             uint32_t blocks)
{
    char path[PATH_MAX];
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = path,
                                   .kernel = kernel,
                                   .name = name,
                                   .device = device,
                                   .blocks = blocks};
    gyre_status status = bench_file("links.gyre.c", path, sizeof path);
    if (status == GYRE_OK)
        status = bench_device_status(linked->runtime, gyre_launch(linked->runtime, &desc, &launched));
    if (status != GYRE_OK && device > 0)
        return gyre_error_set(GYRE_UNIMPLEMENTED, "it takes two devices of one backend: %s",
                              gyre_error_text());
    linked->first = linked->first ? linked->first : launched;
    return status;
}

static gyre_status open_wired(struct linked *linked, const gyre_pipeline_desc *desc, gyre_queue **queue)
{
    gyre_pipeline *pipeline = NULL;
    gyre_link_info info = {.size = sizeof info};
    gyre_status status = gyre_pipeline_open(linked->runtime, desc, &pipeline);
    if (status == GYRE_UNIMPLEMENTED)
        return gyre_error_set(status, "it takes two devices that use each other's memory: %s",
                              gyre_error_text());
    if (status == GYRE_OK)
        status = gyre_pipeline_link(pipeline, desc->link_count - 1, &info);
    if (status == GYRE_OK && info.through_host)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "it takes two devices that use each other's memory: link '%s' leads through "
                              "the host",
                              info.name);
    *queue = gyre_pipeline_queue(pipeline);
    return status;
}

static gyre_status open_chain(struct linked *linked, const char *name, int kernels, gyre_queue **queue)
{
    char names[LONG][32], ports[LONG][40];
    gyre_link_desc links[LONG];
    const char *entry = names[0], *answer = names[kernels - 1];
    gyre_status status = GYRE_OK;
    for (int i = 0; i < kernels && status == GYRE_OK; i++) {
        snprintf(names[i], sizeof names[i], "%s_%d", name, i);
        snprintf(ports[i], sizeof ports[i], "%s.next", names[i]);
        status =
            launch_at(linked, (uint32_t)i % DEVICES, i < kernels - 1 ? "pass_48" : "last_48", names[i], 1);
        if (i > 0)
            links[i - 1] = (gyre_link_desc){.size = sizeof links[0], .from = ports[i - 1], .to = names[i]};
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = name,
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = &answer,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = (size_t)kernels - 1};
    return status == GYRE_OK ? open_wired(linked, &desc, queue) : status;
}

/* ---- lone messages ---- */

static gyre_status call_chain(struct linked *linked, gyre_queue *queue, uint64_t *took, uint64_t *errors)
{
    words_48 message;
    bench_fill(BENCH_48, &message, linked->number);
    const uint64_t before = gyre_clock_ns();
    const gyre_status status = gyre_call(queue, &message, sizeof message, &message, sizeof message, NULL,
                                         gyre_in_ms(BENCH_PATIENCE_MS));
    *took = gyre_clock_ns() - before;
    *errors += status == GYRE_OK && !bench_right(BENCH_48, &message, linked->number++);
    return status;
}

static gyre_status lone_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct linked *linked = context;
    gyre_status status = GYRE_OK;
    linked->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    for (const uint64_t start = gyre_clock_ns();
         status == GYRE_OK && gyre_clock_ns() - start < duration_ns;) {
        uint64_t few = 0, many = 0;
        status = call_chain(linked, linked->queues[0], &few, &sample->errors);
        if (status == GYRE_OK)
            status = call_chain(linked, linked->queues[1], &many, &sample->errors);
        if (status == GYRE_OK) /* a call that was held up says nothing about links */
            bench_histogram_add(&linked->histogram, many > few ? (many - few) / (LONG - SHORT) : 0);
    }
    bench_pin(-1);
    sample->messages = linked->histogram.count;
    bench_sample_latencies(sample, &linked->histogram);
    return status;
}

static gyre_status run_linked(const bench_case *self, const bench_options *options, bench_row *row,
                              gyre_status (*open)(struct linked *linked, const bench_case *self),
                              bench_round round)
{
    bench_story story;
    struct linked *linked = calloc(1, sizeof *linked);
    if (!linked)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a histogram");
    gyre_status status = bench_runtime_open(self, options, NULL, &linked->runtime);
    if (status == GYRE_OK)
        status = open(linked, self);
    if (status == GYRE_OK) {
        bench_note_kernel(linked->first, row);
        status = bench_rounds(self, options, round, linked, row);
    }
    bench_story_take(&story, status);
    gyre_close(linked->runtime);
    free(linked);
    return bench_story_tell(&story, self);
}

static gyre_status open_lone(struct linked *linked, const bench_case *self)
{
    (void)self;
    const gyre_status status = open_chain(linked, "link_few", SHORT, &linked->queues[0]);
    return status == GYRE_OK ? open_chain(linked, "link_many", LONG, &linked->queues[1]) : status;
}

gyre_status bench_run_link_lone(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_linked(self, options, row, open_lone, lone_round);
}

/* ---- rates ---- */

static uint32_t device_behind_link(const bench_case *self)
{
    return strstr(self->name, "nvlink") ? 1 : 0;
}

static gyre_status open_rate(struct linked *linked, const bench_case *self)
{
    static const char *const entry = "link_feed";
    static const gyre_link_desc links[] = {
        {.size = sizeof links[0], .from = "link_feed.out", .to = "link_source", .capacity = 16384},
        {.size = sizeof links[0], .from = "link_source.out", .to = "link_sink", .capacity = 16384}};
    static const gyre_pipeline_desc desc = {.size = sizeof desc,
                                            .name = "link_rate",
                                            .entries = &entry,
                                            .entry_count = 1,
                                            .links = links,
                                            .link_count = sizeof links / sizeof links[0]};
    const uint32_t blocks = self->shape.producers;
    gyre_status status = launch_at(linked, 0, "many_48", entry, (blocks + FED - 1) / FED);
    if (status == GYRE_OK)
        status = launch_at(linked, 0, "many_48", "link_source", blocks);
    if (status == GYRE_OK)
        status = launch_at(linked, device_behind_link(self), "check_48", "link_sink", blocks);
    linked->window = self->shape.window;
    return status == GYRE_OK ? open_wired(linked, &desc, &linked->queues[0]) : status;
}

static gyre_status receive_checked(struct linked *linked, uint64_t *errors)
{
    gyre_completion completion;
    const gyre_status status =
        gyre_receive(linked->queues[0], NULL, 0, &completion, gyre_in_ms(BENCH_PATIENCE_MS));
    *errors += status == GYRE_OK && completion.outcome != GYRE_NOT_REPLIED;
    return status;
}

static gyre_status rate_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct linked *linked = context;
    gyre_status status = GYRE_OK;
    uint64_t sent = 0, received = 0;
    bench_pin(bench_core_client());
    const uint64_t start = gyre_clock_ns();
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns) {
        for (; status == GYRE_OK && sent < received + linked->window; sent++) {
            words_48 request;
            bench_fill(BENCH_48, &request, linked->number++);
            status =
                gyre_send(linked->queues[0], &request, sizeof request, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
        }
        for (uint64_t i = 0; status == GYRE_OK && i < linked->window / 4; i++, received++)
            status = receive_checked(linked, &sample->errors);
    }
    for (; status == GYRE_OK && received < sent; received++)
        status = receive_checked(linked, &sample->errors);
    const double elapsed = (double)(gyre_clock_ns() - start);
    bench_pin(-1);
    sample->messages = received * EACH;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    return status;
}

gyre_status bench_run_link_rate(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_linked(self, options, row, open_rate, rate_round);
}
