/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the launch of a kernel from its source, with an empty cache and with a full cache. The floor of the case with an
 * empty cache is a direct run of the C compiler with the same source and options. Everything is in a temporary folder.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_lifecycle.h"
#include "cli/bench/kernels.h"
#include "cli/bench/runtime.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/process.h"
#include "core/base/temporary.h"
#include "core/pipeline/pipeline.h"
#include "gyre/waiting.h"

enum { PATH_SIZE = GYRE_TEMPORARY_MAX + 32 };

struct compile {
    const bench_case *self;
    const bench_options *options;
    bench_row *row;
    struct gyre_temporary folder; /* of everything below */
    char cache[PATH_SIZE];        /* the setting that names the cache */
    gyre_runtime *warm;           /* with a full cache; NULL for the cold case */
    uint64_t number;
};

/* ---- the folder --------------------------------------------------------------------------------------- */

static gyre_status make_folder(struct compile *compile)
{
    gyre_status status = gyre_temporary_make(&compile->folder, "/tmp");
    snprintf(compile->cache, sizeof compile->cache, "gyre.cache_dir=%s/cache", compile->folder.path);
    return status;
}

static void empty_cache(const struct compile *compile)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/cache", compile->folder.path);
    gyre_temporary_delete(path);
}

/* ---- the compiler by hand ----------------------------------------------------------------------------- */

static gyre_status write_unit(const struct compile *compile, char *path, size_t size)
{
    char kernel[PATH_MAX];
    gyre_status status = bench_file("vector_add.gyre.c", kernel, sizeof kernel);
    if (status != GYRE_OK)
        return status;
    snprintf(path, size, "%s/unit.c", compile->folder.path);
    FILE *file = fopen(path, "we");
    bool fine = file && fprintf(file, "#include \"%s\"\nGYRE_EXPORT_KERNELS_\n", kernel) > 0;
    if (file && fclose(file) != 0)
        fine = false;
    return fine ? GYRE_OK : gyre_error_set(GYRE_FAILED, "the unit %s cannot be written", path);
}

static gyre_status compile_by_hand(const struct compile *compile, uint64_t *duration_ns)
{
    char unit[PATH_SIZE], object[PATH_SIZE], headers[PATH_MAX + 2], said[512];
    struct gyre_process_end end = {0};
    gyre_status status = write_unit(compile, unit, sizeof unit);
    if (status != GYRE_OK)
        return status;
    snprintf(object, sizeof object, "%s/unit.so", compile->folder.path);
    snprintf(headers, sizeof headers, "-I%s", gyre_build_headers() ? gyre_build_headers() : "/usr/include");
    const char *const arguments[] = {"cc",  "-std=gnu11",    "-shared", "-fPIC", "-fvisibility=hidden",
                                     "-O3", "-march=native", headers,   "-o",    object,
                                     unit,  "-lm",           NULL};
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS),
                                           .output = said,
                                           .output_size = sizeof said};
    uint64_t start = gyre_clock_ns();
    status = gyre_process_run(&desc, &end);
    *duration_ns = gyre_clock_ns() - start;
    if (status == GYRE_OK && (end.exit_code || end.signal))
        status = gyre_error_set(GYRE_FAILED, "cc, called by hand, failed: %.300s", said);
    return status;
}

/* ---- with Gyre ---------------------------------------------------------------------------------------- */

/* Launches, checks an answer, releases; the time is the launch's. */
static gyre_status launch_once(struct compile *compile, gyre_runtime *runtime, bool cached,
                               uint64_t *duration_ns, uint64_t *errors)
{
    gyre_kernel *kernel = NULL;
    gyre_kernel_info info = {.size = sizeof info};
    uint64_t start = gyre_clock_ns();
    gyre_status status = bench_launch(runtime, compile->self->shape.kind, &kernel);
    *duration_ns = gyre_clock_ns() - start;
    if (status == GYRE_OK)
        status = bench_call_checked(gyre_kernel_queue(kernel), compile->self->shape.kind, compile->number++,
                                    errors);
    if (status == GYRE_OK)
        status = gyre_kernel_info_get(kernel, &info);
    if (status == GYRE_OK && (info.cache_hit != 0) != cached)
        status = gyre_error_set(GYRE_INTERNAL, "the kernel %s from the cache, expected the opposite",
                                info.cache_hit ? "came" : "did not come");
    if (status == GYRE_OK)
        bench_note_kernel(kernel, compile->row);
    if (status == GYRE_OK)
        gyre_kernel_release(kernel); /* after a failure the kernel is released with its runtime */
    return status;
}

/* A device is opened by the first launch on it; a cached launch in a runtime of its own does that before. */
static gyre_status open_warm(struct compile *compile)
{
    const char *const extra[] = {compile->cache, NULL};
    uint64_t duration, errors = 0;
    gyre_status status = bench_runtime_open(compile->self, compile->options, extra, &compile->warm);
    if (status == GYRE_OK)
        status = launch_once(compile, compile->warm, false, &duration, &errors);
    return status;
}

/* Fills the row from pairs of durations. */
struct pairs {
    uint64_t count, errors;
    double values[BENCH_ROUNDS_MAX], floors[BENCH_ROUNDS_MAX], excess[BENCH_ROUNDS_MAX];
};

static gyre_status one_pair(struct compile *compile, bool cold, struct pairs *pairs)
{
    uint64_t value = 0, floor = 0;
    gyre_status status = GYRE_OK;
    if (cold) {
        status = compile_by_hand(compile, &floor);
        empty_cache(compile);
    }
    if (status == GYRE_OK)
        status = launch_once(compile, compile->warm, !cold, &value, &pairs->errors);
    pairs->values[pairs->count] = (double)value;
    pairs->floors[pairs->count] = (double)floor;
    pairs->excess[pairs->count] = (double)value - (double)floor;
    pairs->count++;
    return status;
}

static double largest_value(const double *values, uint64_t count)
{
    double max = 0;
    for (uint64_t i = 0; i < count; i++)
        max = values[i] > max ? values[i] : max;
    return max;
}

/* With some tens of values, the largest stands for all high quantiles. */
static bench_sample sample_of(const double *values, uint64_t count)
{
    double max = largest_value(values, count);
    return (bench_sample){
        .messages = count, .p50 = bench_median(values, count), .p99 = max, .p999 = max, .max = max};
}

static void fill_row(const struct pairs *pairs, bool cold, bench_row *row)
{
    row->value = sample_of(pairs->values, pairs->count);
    row->value.errors = pairs->errors;
    row->has_latency = true;
    row->above_floor = bench_median(pairs->excess, pairs->count);
    if (!cold)
        return;
    row->floor = sample_of(pairs->floors, pairs->count);
    row->floor_name = "the C compiler called by hand";
    row->ratio = row->value.p50 / row->floor.p50;
    row->ratio_p99 = row->value.p99 / row->floor.p99;
}

static gyre_status run_compile(const bench_case *self, const bench_options *options, bool cold,
                               bench_row *row)
{
    struct compile compile = {.self = self, .options = options, .row = row};
    struct pairs pairs = {0};
    bench_story story;
    gyre_status status = make_folder(&compile);
    if (status == GYRE_OK)
        status = open_warm(&compile);
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    uint64_t duration_ns = (uint64_t)(options->seconds * 1e9);
    while (status == GYRE_OK && pairs.count < BENCH_ROUNDS_MAX &&
           (pairs.count < 3 || gyre_clock_ns() - start < duration_ns))
        status = one_pair(&compile, cold, &pairs);
    if (status == GYRE_OK)
        fill_row(&pairs, cold, row);
    row->value.cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    bench_story_take(&story, status);
    gyre_close(compile.warm);
    gyre_temporary_remove(&compile.folder);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_compile_cold(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_compile(self, options, true, row);
}

gyre_status bench_run_compile_cached(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_compile(self, options, false, row);
}
