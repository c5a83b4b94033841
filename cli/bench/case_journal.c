/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of a journal: a stream of requests to an actor that keeps their sum, and single requests, each until it is
 * durable. The floor is the time that the disk takes for the same bytes. Checks every reply: the sum tells whether a request
 * was handled twice or not at all. Everything is in a folder of the case's own, removed at the end.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_kept.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/temporary.h"
#include "gyre/waiting.h"

enum { BATCH = 64, RECORD_SIZE = 88 /* record of a request of 16 bytes, with its position */ };

struct journal {
    gyre_runtime *runtime;
    gyre_queue *queue;
    bool journaled;
    uint64_t sent, received, sum;
    bench_histogram histogram;
};

/* The folder of the case that runs, for its floor. */
static struct gyre_temporary folder;

/* ---- the disk ---- */

/* Writes to the disk, repeatedly, as many bytes as `shape->burst` requests take in a journal. */
static bool write_on(const bench_shape *shape, uint64_t duration_ns, bool sync, bench_sample *sample)
{
    char path[sizeof folder.path + 8];
    size_t size = shape->burst * RECORD_SIZE;
    void *records = calloc(1, size);
    uint64_t start = gyre_clock_ns(), now = start, begun;
    static bench_histogram histogram;
    memset(&histogram, 0, sizeof histogram);
    snprintf(path, sizeof path, "%s/floor", folder.path);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool fine = file >= 0 && records;
    for (off_t at = 0; fine && now - start < duration_ns; at += (off_t)size) {
        begun = now;
        fine = pwrite(file, records, size, at) == (ssize_t)size && (!sync || fdatasync(file) == 0);
        now = gyre_clock_ns();
        bench_histogram_add(&histogram, now - begun);
    }
    if (file >= 0)
        close(file);
    unlink(path);
    free(records);
    sample->messages = histogram.count * shape->burst;
    sample->per_second = now > start ? (double)sample->messages * 1e9 / (double)(now - start) : 0;
    bench_sample_latencies(sample, &histogram);
    return fine;
}

bool bench_floor_write(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return write_on(shape, duration_ns, false, sample);
}

bool bench_floor_sync(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return write_on(shape, duration_ns, true, sample);
}

/* ---- the actor ---- */

static void check_reply(struct journal *journal, const keep_reply *reply, bench_sample *sample)
{
    journal->sum += ++journal->received;
    sample->errors += reply->value != journal->sum;
    sample->messages++;
}

static gyre_status stream_batch(struct journal *journal, uint64_t limit_ns, bench_sample *sample)
{
    keep_request requests[BATCH];
    keep_reply replies[BATCH];
    size_t count = 0;
    for (size_t i = 0; i < BATCH; i++)
        requests[i] = (keep_request){.value = journal->sent + i + 1};
    gyre_status status =
        gyre_send_batch(journal->queue, requests, sizeof requests[0], BATCH, &count, GYRE_NO_WAIT);
    journal->sent += count;
    if (status != GYRE_OK && status != GYRE_AGAIN && status != GYRE_TIMEOUT)
        return status;
    /* when no request fitted, the journal has to write first: waits for a reply, for limit_ns at most */
    bool full = count == 0;
    count = 0;
    status = gyre_receive_batch(journal->queue, replies, sizeof replies[0], BATCH, NULL, &count,
                                full && journal->received < journal->sent ? limit_ns : GYRE_NO_WAIT);
    for (size_t i = 0; i < count; i++)
        check_reply(journal, &replies[i], sample);
    return status == GYRE_AGAIN || status == GYRE_TIMEOUT ? GYRE_OK : status;
}

static gyre_status stream_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct journal *journal = context;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns(), end = start + duration_ns, now = start;
    bench_pin(bench_core_client());
    for (; status == GYRE_OK && (now < end || !sample->messages); now = gyre_clock_ns())
        status = stream_batch(journal, gyre_in_ms(1), sample);
    bench_pin(-1);
    sample->per_second = (double)sample->messages * 1e9 / (double)(now - start);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(now - start);
    return status;
}

static gyre_status call_once(struct journal *journal, bench_sample *sample)
{
    keep_request request = {.value = ++journal->sent};
    keep_reply reply = {0};
    uint64_t start = gyre_clock_ns(), limit = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_status status = gyre_send_until(journal->queue, &request, sizeof request, NULL,
                                         journal->journaled ? GYRE_DURABLE : GYRE_PROCESSED, limit);
    bench_histogram_add(&journal->histogram, gyre_clock_ns() - start);
    if (status == GYRE_OK)
        status = gyre_receive(journal->queue, &reply, sizeof reply, NULL, limit);
    if (status == GYRE_OK)
        check_reply(journal, &reply, sample);
    return status;
}

static gyre_status call_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct journal *journal = context;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    journal->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    do
        status = call_once(journal, sample);
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns);
    bench_pin(-1);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    bench_sample_latencies(sample, &journal->histogram);
    return status;
}

/* ---- the case ---- */

static gyre_status launch_journaled(struct journal *journal, bench_row *row)
{
    char path[4096];
    gyre_kernel *kernel = NULL;
    gyre_status status = bench_file("keeping.gyre.c", path, sizeof path);
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = "keep_sum"};
    if (status == GYRE_OK)
        status = gyre_launch(journal->runtime, &desc, &kernel);
    if (status != GYRE_OK)
        return bench_device_status(journal->runtime, status);
    journal->queue = gyre_kernel_queue(kernel);
    bench_note_kernel(kernel, row);
    return GYRE_OK;
}

static gyre_status run_journal(const bench_case *self, const bench_options *options, bench_round round,
                               bench_row *row)
{
    bench_story story;
    char place[sizeof folder.path + 32];
    const char *const extra[] = {place, NULL};
    struct journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    journal->journaled = self->floor != NULL;
    gyre_status status = gyre_temporary_make(&folder, "/var/tmp"); /* on a disk, where /tmp may be memory */
    snprintf(place, sizeof place, "gyre.journal_dir=%s", folder.path);
    if (status == GYRE_OK)
        status = bench_runtime_open(self, options, extra, &journal->runtime);
    if (status == GYRE_OK)
        status = launch_journaled(journal, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, round, journal, row);
    bench_story_take(&story, status);
    gyre_close(journal->runtime);
    gyre_temporary_remove(&folder);
    free(journal);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_journal_stream(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_journal(self, options, stream_round, row);
}

gyre_status bench_run_journal_call(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_journal(self, options, call_round, row);
}
