/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures gyre_all_reduce over two kernels of a device, or ("nvlink") of two devices that use each other's memory, beside loops that add
 * and copy the same number of bytes. The case's name tells the size of a part. After each round the cells are compared with what so many
 * sums make of their first content.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_collect.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/collect.h"
#include "gyre/waiting.h"

enum { PARTS = 2, CHUNK_CELLS = 16384 };

struct collecting {
    gyre_runtime *runtime;
    gyre_kernel *kernels[PARTS];
    gyre_buffer *cells[PARTS];
    uint64_t size, sums; /* bytes of a part; sums since the first content */
    uint64_t *seen;
    bench_histogram histogram;
};

/* "collect/all_reduce/16MiB" */
static uint64_t size_of_case(const bench_case *self)
{
    char *unit;
    const uint64_t number = strtoull(strrchr(self->name, '/') + 1, &unit, 10);
    return number << (*unit == 'M' ? 20 : 10);
}

static uint32_t device_of_part(const bench_case *self, uint32_t part)
{
    return strstr(self->name, "nvlink") ? part : 0;
}

static uint64_t first_content(uint32_t part, uint64_t cell)
{
    return cell * UINT64_C(0x9e3779b97f4a7c15) + part;
}

/* Each sum doubles what the first one made of both parts. */
static uint64_t content_after(uint64_t sums, uint64_t cell)
{
    const uint64_t both = first_content(0, cell) + first_content(1, cell);
    return sums > 64 ? 0 : both << (sums - 1);
}

static gyre_status fill_part(struct collecting *collecting, uint32_t part)
{
    for (uint64_t cell = 0; cell < collecting->size / sizeof(uint64_t); cell++)
        collecting->seen[cell] = first_content(part, cell);
    return gyre_buffer_upload(collecting->cells[part], 0, collecting->seen, collecting->size);
}

static gyre_status launch_part(struct collecting *collecting, uint32_t part, uint32_t device,
                               const bench_row *row)
{
    static const char *const names[PARTS] = {"collect0", "collect1"};
    char path[4096];
    gyre_status status = bench_file("keeping.gyre.c", path, sizeof path);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(collecting->runtime, row->backend, device, collecting->size,
                                   &collecting->cells[part]);
    if (status != GYRE_OK && device > 0)
        return gyre_error_set(GYRE_UNIMPLEMENTED, "it takes two devices of one backend: %s",
                              gyre_error_text());
    const gyre_binding_name binding = {"cells", collecting->cells[part]};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = path,
                                   .kernel = "keep_cells",
                                   .name = names[part],
                                   .device = device,
                                   .blocks = 1,
                                   .bindings = &binding,
                                   .binding_count = 1};
    if (status == GYRE_OK)
        status = gyre_launch(collecting->runtime, &desc, &collecting->kernels[part]);
    return status == GYRE_OK ? fill_part(collecting, part) : status;
}

static gyre_status open_parts(struct collecting *collecting, const bench_case *self,
                              const bench_options *options, bench_row *row)
{
    collecting->size = size_of_case(self);
    collecting->seen = malloc(collecting->size);
    if (!collecting->seen)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %llu bytes",
                              (unsigned long long)collecting->size);
    gyre_status status = bench_runtime_open(self, options, NULL, &collecting->runtime);
    for (uint32_t i = 0; status == GYRE_OK && i < PARTS; i++)
        status = launch_part(collecting, i, device_of_part(self, i), row);
    if (status != GYRE_OK)
        return collecting->runtime ? bench_device_status(collecting->runtime, status) : status;
    bench_note_kernel(collecting->kernels[0], row);
    row->message_bytes = collecting->size;
    return GYRE_OK;
}

static gyre_status check_parts(struct collecting *collecting, bench_sample *sample)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < PARTS; i++) {
        status = gyre_buffer_download(collecting->cells[i], 0, collecting->seen, collecting->size);
        for (uint64_t cell = 0; status == GYRE_OK && cell < collecting->size / sizeof(uint64_t); cell++)
            sample->errors += collecting->seen[cell] != content_after(collecting->sums, cell);
        if (status == GYRE_OK)
            status = fill_part(collecting, i);
    }
    collecting->sums = 0;
    return status;
}

static gyre_status sum_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct collecting *collecting = context;
    const gyre_collect_desc cells = {.size = sizeof cells,
                                     .kernels = collecting->kernels,
                                     .kernel_count = PARTS,
                                     .buffer = "cells",
                                     .element = GYRE_COLLECT_U64};
    gyre_status status = GYRE_OK;
    collecting->histogram = (bench_histogram){0};
    const uint64_t start = gyre_clock_ns();
    uint64_t before = start;
    do {
        status = gyre_all_reduce(&cells, GYRE_COLLECT_SUM, gyre_in_ms(BENCH_PATIENCE_MS));
        const uint64_t now = gyre_clock_ns();
        bench_histogram_add(&collecting->histogram, now - before);
        before = now;
        collecting->sums++;
    } while (status == GYRE_OK && before - start < duration_ns);
    sample->messages = collecting->histogram.count;
    bench_sample_latencies(sample, &collecting->histogram);
    return status == GYRE_OK ? check_parts(collecting, sample) : status;
}

gyre_status bench_run_collect(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    struct collecting *collecting = calloc(1, sizeof *collecting);
    if (!collecting)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a histogram");
    gyre_status status = open_parts(collecting, self, options, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, sum_round, collecting, row);
    bench_story_take(&story, status);
    gyre_close(collecting->runtime);
    free(collecting->seen);
    free(collecting);
    return bench_story_tell(&story, self);
}

/* ---- the floor ---- */

static void add_cells(uint64_t *restrict sum, const uint64_t *restrict cells, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sum[i] += cells[i];
}

static void sum_plainly(uint64_t *const *parts, uint64_t count)
{
    static uint64_t sum[CHUNK_CELLS];
    for (uint64_t at = 0; at < count; at += CHUNK_CELLS) {
        const uint64_t cells = count - at < CHUNK_CELLS ? count - at : CHUNK_CELLS;
        memcpy(sum, parts[0] + at, cells * sizeof sum[0]);
        for (uint32_t i = 1; i < PARTS; i++)
            add_cells(sum, parts[i] + at, cells);
        for (uint32_t i = 0; i < PARTS; i++)
            memcpy(parts[i] + at, sum, cells * sizeof sum[0]);
    }
}

bool bench_floor_collect(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    static bench_histogram histogram;
    const uint64_t count = (uint64_t)shape->burst * 1024 / sizeof(uint64_t); /* of KiB */
    uint64_t *parts[PARTS] = {calloc(count, sizeof(uint64_t)), calloc(count, sizeof(uint64_t))};
    const bool fine = parts[0] && parts[1];
    histogram = (bench_histogram){0};
    for (uint32_t i = 0; fine && i < PARTS; i++)
        memset(parts[i], (int)i + 1, count * sizeof(uint64_t));
    const uint64_t start = gyre_clock_ns();
    uint64_t now = start, begun;
    while (fine && now - start < duration_ns) {
        begun = now;
        sum_plainly(parts, count);
        now = gyre_clock_ns();
        bench_histogram_add(&histogram, now - begun);
    }
    free(parts[0]);
    free(parts[1]);
    sample->messages = histogram.count;
    bench_sample_latencies(sample, &histogram);
    return fine;
}
