/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of an idle kernel: processor time and memory. */
#include "cli/bench/bench.h"
#include "cli/bench/cases_device.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"
#include "cli/json/json.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/process.h"
#include "gyre/waiting.h"

/* ---- idle --------------------------------------------------------------------------------------------- */

static void sleep_ns(uint64_t duration_ns)
{
    const struct timespec duration = {.tv_sec = (time_t)(duration_ns / 1000000000),
                                      .tv_nsec = (long)(duration_ns % 1000000000)};
    nanosleep(&duration, NULL);
}

/* Measures from an answered message on, so that the first spinning of an adaptive wait is part of the figure. */
gyre_status bench_run_idle(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_session session;
    uint64_t errors = 0, duration_ns = (uint64_t)(options->seconds * 1e9);
    bench_story story;
    gyre_status status = bench_session_open(self, options, &session, row);
    if (status == GYRE_OK)
        status = bench_call_checked(session.queue, self->shape.kind, 1, &errors);
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    if (status == GYRE_OK)
        sleep_ns(duration_ns);
    row->value.cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    if (status == GYRE_OK) /* it is still there */
        status = bench_call_checked(session.queue, self->shape.kind, 2, &errors);
    row->value.messages = 2;
    row->value.errors = errors;
    bench_story_take(&story, status);
    bench_session_close(&session);
    return bench_story_tell(&story, self);
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static gyre_status resident_bytes(uint64_t *bytes)
{
    unsigned long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool fine = file && fscanf(file, "%llu %llu", &total, &resident) == 2;
    if (file)
        fclose(file);
    *bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
    return fine ? GYRE_OK : gyre_error_set(GYRE_UNAVAILABLE, "/proc/self/statm cannot be read");
}

/* Measures the memory of this process with two queues of 1,024 slots. Uses every slot once, so that every page is present. */
static gyre_status measure_here(const bench_case *self, const bench_options *options, bench_row *row)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    bench_session session;
    gyre_queue *second = NULL;
    bench_story story;
    gyre_status status = bench_session_open(self, options, &session, row);
    if (status == GYRE_OK)
        status = gyre_queue_open(session.kernel, &desc, &second);
    for (uint64_t i = 0; status == GYRE_OK && i < 2 * self->shape.capacity; i++)
        status = bench_call_checked(i % 2 ? second : session.queue, self->shape.kind, i, &row->value.errors);
    row->value.messages = 2 * self->shape.capacity;
    if (status == GYRE_OK)
        status = resident_bytes(&row->resident_bytes);
    bench_story_take(&story, status);
    bench_session_close(&session);
    return bench_story_tell(&story, self);
}

/* Runs `gyre bench --case memory --here` in a fresh process that has measured nothing else. */
static gyre_status run_child(const bench_options *options, char *output, size_t size)
{
    enum { ARGUMENTS_MAX = 160 };
    const char *arguments[ARGUMENTS_MAX] = {NULL, "bench", "--case", "memory", "--here", "--json"};
    size_t count = 6;
    char program[512], said[512];
    struct gyre_process_end end = {0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return gyre_error_set(GYRE_UNAVAILABLE, "/proc/self/exe cannot be read");
    program[length] = '\0';
    arguments[0] = program;
    if (options->cli->config_path) {
        arguments[count++] = "--config";
        arguments[count++] = options->cli->config_path;
    }
    if (options->cli->backend) {
        arguments[count++] = "--backend";
        arguments[count++] = options->cli->backend;
    }
    for (size_t i = 0; i < options->cli->settings.count && count + 3 < ARGUMENTS_MAX; i++) {
        arguments[count++] = "--set";
        arguments[count++] = options->cli->settings.items[i];
    }
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS),
                                           .output = output,
                                           .output_size = size,
                                           .errors = said,
                                           .errors_size = sizeof said};
    gyre_status status = gyre_process_run(&desc, &end);
    if (status == GYRE_OK && (end.exit_code || end.signal))
        status = gyre_error_set(end.exit_code == CLI_UNAVAILABLE ? GYRE_UNAVAILABLE : GYRE_FAILED,
                                "a fresh process for the case 'memory' failed: %.300s", said);
    return status;
}

static gyre_status read_child(const char *output, bench_row *row)
{
    const char *backend = "", *device = "";
    json_int_t messages = 0, errors = 0, bytes = 0;
    json_t *document = json_loads(output, 0, NULL);
    int unpacked =
        json_unpack(document, "{s:[{s:s, s:s, s:I, s:I, s:I}]}", "rows", "backend", &backend, "device",
                    &device, "messages", &messages, "errors", &errors, "resident_bytes", &bytes);
    snprintf(row->backend, sizeof row->backend, "%s", backend);
    snprintf(row->device, sizeof row->device, "%s", device);
    row->value.messages = (uint64_t)messages;
    row->value.errors = (uint64_t)errors;
    row->resident_bytes = (uint64_t)bytes;
    json_decref(document);
    return unpacked == 0
               ? GYRE_OK
               : gyre_error_set(GYRE_INTERNAL, "a fresh process for the case 'memory' printed no row");
}

gyre_status bench_run_memory(const bench_case *self, const bench_options *options, bench_row *row)
{
    char output[8192];
    if (options->here)
        return measure_here(self, options, row);
    gyre_status status = run_child(options, output, sizeof output);
    return status == GYRE_OK ? read_child(output, row) : gyre_error_add(status, "case %s", self->name);
}
