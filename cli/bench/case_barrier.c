/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a barrier of all blocks of a kernel. A request has so many barriers that the client's own journey is a small part of it. The
 * floor is a bare counter that all blocks raise and look at, in the same kernel and by turns.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_grid.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { ROUNDS_MOST = 64, FLOOR = 1 };

/* How many blocks and barriers a request has where. */
static const struct scale {
    const char *backend;
    uint32_t blocks, lanes, barriers;
} scales[] = {{"cuda", 132, 128, 1000}, {"cpu", 2, 1, 1000}, {"opencl", 1, 1, 200}};

struct meeting {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    const struct scale *scale;
    uint64_t number;
    int rounds;
    double floors[ROUNDS_MOST], ratios[ROUNDS_MOST];
    bench_sample worst; /* of the rounds' floors, each quantile */
    bench_histogram histogram, floor;
};

static const struct scale *scale_of(const char *backend)
{
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if (strcmp(scales[i].backend, backend) == 0)
            return &scales[i];
    return &scales[1];
}

static gyre_status open_meeting(const bench_case *self, const bench_options *options, struct meeting *meeting)
{
    char path[PATH_MAX];
    gyre_backend_choice choice = {.size = sizeof choice};
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = "barriers"};
    gyre_status status = bench_runtime_open(self, options, NULL, &meeting->runtime);
    if (status == GYRE_OK)
        status = gyre_backend_choose(meeting->runtime, NULL, &choice);
    if (status == GYRE_OK)
        status = bench_file("barriers.gyre.c", path, sizeof path);
    if (status != GYRE_OK)
        return status;
    meeting->scale = scale_of(choice.name);
    desc.blocks = meeting->scale->blocks;
    desc.lanes = meeting->scale->lanes;
    return bench_device_status(meeting->runtime, gyre_launch(meeting->runtime, &desc, &meeting->kernel));
}

/* Has the blocks meet, and notes what one barrier took. */
static gyre_status call_once(struct meeting *meeting, int how, bench_histogram *histogram, uint64_t *errors)
{
    const uint32_t count = meeting->scale->barriers;
    const words_48 request = {.word = {meeting->number++, 0, 0, 0, (uint64_t)how, count}};
    words_48 reply = {0};
    const uint64_t before = gyre_clock_ns();
    const gyre_status status = gyre_call(gyre_kernel_queue(meeting->kernel), &request, sizeof request, &reply,
                                         sizeof reply, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status != GYRE_OK)
        return status;
    bench_histogram_add(histogram, (gyre_clock_ns() - before) / count);
    *errors +=
        reply.word[0] != request.word[0] || reply.word[1] != 0 || reply.word[2] != meeting->scale->blocks;
    return GYRE_OK;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void note_floor(struct meeting *meeting, const bench_sample *floor, double p50)
{
    if (meeting->rounds == ROUNDS_MOST || floor->p50 <= 0)
        return;
    meeting->floors[meeting->rounds] = floor->p50;
    meeting->ratios[meeting->rounds++] = p50 / floor->p50;
    meeting->worst.p99 = larger(meeting->worst.p99, floor->p99);
    meeting->worst.p999 = larger(meeting->worst.p999, floor->p999);
    meeting->worst.max = larger(meeting->worst.max, floor->max);
}

static gyre_status meeting_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct meeting *meeting = context;
    bench_sample floor = {0};
    gyre_status status = GYRE_OK;
    meeting->histogram = meeting->floor = (bench_histogram){0};
    const uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns) {
        status = call_once(meeting, FLOOR, &meeting->floor, &sample->errors);
        if (status == GYRE_OK)
            status = call_once(meeting, 0, &meeting->histogram, &sample->errors);
    }
    const double elapsed = (double)(gyre_clock_ns() - start);
    sample->messages = meeting->histogram.count * meeting->scale->barriers;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    bench_sample_latencies(sample, &meeting->histogram);
    bench_sample_latencies(&floor, &meeting->floor);
    sample->per_second = sample->p50 > 0 ? 1e9 / sample->p50 : 0;
    note_floor(meeting, &floor, sample->p50);
    return status;
}

gyre_status bench_run_barrier(const bench_case *self, const bench_options *options, bench_row *row)
{
    static struct meeting meeting; /* its histograms are large; cases run one at a time */
    bench_story story;
    meeting = (struct meeting){.runtime = NULL};
    gyre_status status = open_meeting(self, options, &meeting);
    if (status == GYRE_OK) {
        bench_note_kernel(meeting.kernel, row);
        status = bench_rounds(self, options, meeting_round, &meeting, row);
    }
    if (status == GYRE_OK) {
        row->floor_name = "a bare counter that all blocks raise and look at";
        row->floor = meeting.worst;
        row->floor.p50 = bench_median(meeting.floors, (size_t)meeting.rounds);
        row->ratio = bench_median(meeting.ratios, (size_t)meeting.rounds);
    }
    bench_story_take(&story, status);
    gyre_close(meeting.runtime);
    return bench_story_tell(&story, self);
}
