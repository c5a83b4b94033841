/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures device buffers beside a resident kernel: the upload and the download of 64 MiB of ordinary memory, a fill, and
 * making and freeing a buffer. Compares the downloaded bytes with the uploaded bytes.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_device.h"
#include "cli/bench/rounds.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { BUFFER_SIZE = 64 << 20 };

struct mover {
    bench_session session;
    const bench_options *options;
    const char *what; /* last word of the case's name: upload, download, fill, alloc */
    gyre_buffer *buffer;
    unsigned char *there, *back;
    bench_histogram histogram;
};

static gyre_status open_mover(const bench_case *self, struct mover *mover, bench_row *row)
{
    mover->there = malloc(BUFFER_SIZE);
    mover->back = malloc(BUFFER_SIZE);
    if (!mover->there || !mover->back)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for 2 x %d bytes", BUFFER_SIZE);
    for (size_t i = 0; i < BUFFER_SIZE; i += sizeof(uint64_t))
        memcpy(mover->there + i, &(uint64_t){i * UINT64_C(0x9e3779b97f4a7c15)}, sizeof(uint64_t));
    memset(mover->back, 0, BUFFER_SIZE);
    gyre_status status = bench_session_open(self, mover->options, &mover->session, row);
    if (status != GYRE_OK)
        return status;
    row->message_bytes = BUFFER_SIZE;
    status = gyre_buffer_alloc(mover->session.runtime, row->backend, 0, BUFFER_SIZE, &mover->buffer);
    return status == GYRE_OK ? gyre_buffer_upload(mover->buffer, 0, mover->there, BUFFER_SIZE) : status;
}

static gyre_status make_and_free(struct mover *mover)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_buffer *buffer = NULL;
    gyre_status status = gyre_kernel_info_get(mover->session.kernel, &info);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(mover->session.runtime, info.backend, 0, 4096, &buffer);
    return status == GYRE_OK ? gyre_buffer_free(buffer) : status;
}

static gyre_status move_once(struct mover *mover)
{
    if (strcmp(mover->what, "upload") == 0)
        return gyre_buffer_upload(mover->buffer, 0, mover->there, BUFFER_SIZE);
    if (strcmp(mover->what, "download") == 0)
        return gyre_buffer_download(mover->buffer, 0, mover->back, BUFFER_SIZE);
    if (strcmp(mover->what, "fill") == 0)
        return gyre_buffer_fill(mover->buffer, 0, 0x5a, BUFFER_SIZE);
    return make_and_free(mover);
}

/* Counts an error where the buffer does not hold what the round moved there. */
static gyre_status check_buffer(struct mover *mover, bench_sample *sample)
{
    gyre_status status = gyre_buffer_download(mover->buffer, 0, mover->back, BUFFER_SIZE);
    if (status != GYRE_OK)
        return status;
    if (strcmp(mover->what, "fill") == 0)
        sample->errors +=
            mover->back[0] != 0x5a || memcmp(mover->back, mover->back + 1, BUFFER_SIZE - 1) != 0;
    else
        sample->errors += memcmp(mover->there, mover->back, BUFFER_SIZE) != 0;
    return GYRE_OK;
}

static gyre_status move_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct mover *mover = context;
    gyre_status status = GYRE_OK;
    mover->histogram = (bench_histogram){0};
    uint64_t start = gyre_clock_ns(), before = start;
    do {
        status = move_once(mover);
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(&mover->histogram, now - before);
        before = now;
    } while (status == GYRE_OK && before - start < duration_ns);
    sample->messages = mover->histogram.count;
    bench_sample_latencies(sample, &mover->histogram);
    return status == GYRE_OK ? check_buffer(mover, sample) : status;
}

gyre_status bench_run_buffer(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    struct mover *mover = calloc(1, sizeof *mover);
    if (!mover)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a histogram");
    mover->options = options;
    mover->what = strrchr(self->name, '/') + 1;
    gyre_status status = open_mover(self, mover, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, move_round, mover, row);
    bench_story_take(&story, status);
    gyre_buffer_free(mover->buffer);
    bench_session_close(&mover->session);
    free(mover->there);
    free(mover->back);
    free(mover);
    return bench_story_tell(&story, self);
}
