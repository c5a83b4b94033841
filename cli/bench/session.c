/* SPDX-License-Identifier: Apache-2.0 */
/* Opens runtimes and launches the benchmark's kernels, through the public API. */
#include "cli/bench/bench.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/places.h"
#include "core/runtime/tools.h"

gyre_status bench_file(const char *name, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/bench/%s", gyre_place_home(), name);
    if (length < 0 || (size_t)length >= size || access(path, R_OK) != 0)
        return gyre_error_set(
            GYRE_NOT_FOUND, "the benchmark's file %s is missing: expected it in %s/bench; install Gyre again",
            name, gyre_place_home());
    return GYRE_OK;
}

/* Appends a NULL-terminated list; false when there is no room. */
static bool append(const char **settings, size_t *count, const char *const *more)
{
    for (; more && *more; more++) {
        if (*count == BENCH_SETTINGS_MAX)
            return false;
        settings[(*count)++] = *more;
    }
    return true;
}

gyre_status bench_settings(const bench_case *self, const bench_options *options, const char *const *extra,
                           char pin[64], const char *settings[BENCH_SETTINGS_MAX + 1])
{
    size_t count = 0;
    /* the client's neighbour, as in the floors; the user's own word comes after the case's and wins */
    snprintf(pin, 64, "backend.cpu.pin=%d", bench_core_server());
    if (bench_core_server() >= 0)
        settings[count++] = pin;
    if (!append(settings, &count, self->settings) ||
        !append(settings, &count, options->cli->settings.items) || !append(settings, &count, extra))
        return gyre_error_set(GYRE_INVALID, "more than %d settings", BENCH_SETTINGS_MAX);
    settings[count] = NULL;
    return GYRE_OK;
}

gyre_status bench_runtime_open(const bench_case *self, const bench_options *options, const char *const *extra,
                               gyre_runtime **out)
{
    const char *settings[BENCH_SETTINGS_MAX + 1];
    char pin[64];
    gyre_status status = bench_settings(self, options, extra, pin, settings);
    gyre_open_desc desc = {.size = sizeof desc,
                           .config_path = options->cli->config_path,
                           .settings = settings,
                           .backend = options->cli->backend};
    return status == GYRE_OK ? gyre_runtime_open_typed(&desc, out) : status;
}

const char *bench_kernel_name(enum bench_kind kind)
{
    static const char *const names[] = {[BENCH_48] = "words_48",
                                        [BENCH_1024] = "words_1024",
                                        [BENCH_BLOCK_1024] = "words_1024_block",
                                        [BENCH_4096] = "words_4096",
                                        [BENCH_65536] = "words_65536",
                                        [BENCH_BLOCK_65536] = "words_65536_block",
                                        [BENCH_VECTOR_ADD] = "vector_add",
                                        [BENCH_CHAIN] = "chain",
                                        [BENCH_BLOCK_CHAIN] = "chain_block",
                                        [BENCH_PLAIN] = "plain_add",
                                        [BENCH_DOTNET] = "dotnet_add",
                                        [BENCH_BRIDGED_512] = "bridged_512",
                                        [BENCH_BRIDGED_65536] = "bridged_65536",
                                        [BENCH_KEEP] = "keep_sum",
                                        [BENCH_KEEP_48] = "keep_words_48"};
    return names[kind];
}

gyre_status bench_device_status(gyre_runtime *runtime, gyre_status status)
{
    return status == GYRE_NOT_FOUND && gyre_runtime_device_failed(runtime) ? GYRE_UNAVAILABLE : status;
}

gyre_status bench_kernel_file(enum bench_kind kind, char *path, size_t size)
{
    const char *file = kind == BENCH_VECTOR_ADD                                ? "vector_add.gyre.c"
                       : kind == BENCH_CHAIN                                   ? "chain.gyre.c"
                       : kind == BENCH_BLOCK_CHAIN                             ? "chain_block.gyre.c"
                       : kind == BENCH_BLOCK_1024 || kind == BENCH_BLOCK_65536 ? "words_block.gyre.c"
                       : kind == BENCH_PLAIN                                   ? "plain_add.gyre.c"
                       : kind == BENCH_DOTNET                                  ? "dotnet_add.gyre.c"
                       : kind == BENCH_KEEP || kind == BENCH_KEEP_48           ? "keeping.gyre.c"
                       : kind >= BENCH_BRIDGED_512                             ? "bridged.gyre.c"
                                                                               : "words.gyre.c";
    return bench_file(file, path, size);
}

gyre_status bench_launch(gyre_runtime *runtime, enum bench_kind kind, gyre_kernel **out)
{
    char path[PATH_MAX];
    gyre_status status = bench_kernel_file(kind, path, sizeof path);
    if (status != GYRE_OK)
        return status;
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = bench_kernel_name(kind)};
    return bench_device_status(runtime, gyre_launch(runtime, &desc, out));
}

/* The kernel's own queue, unless the case wants another capacity. */
static gyre_status open_queue(const bench_case *self, bench_session *session)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    session->queue = gyre_kernel_queue(session->kernel);
    gyre_status status = gyre_queue_stats_get(session->queue, &stats);
    if (self->shape.capacity == 0)
        session->shape.capacity = session->shape.window = stats.capacity;
    else if (status == GYRE_OK && stats.capacity != self->shape.capacity)
        status = gyre_queue_open(session->kernel, &desc, &session->queue);
    return status;
}

void bench_note_kernel(const gyre_kernel *kernel, bench_row *row)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return;
    snprintf(row->backend, sizeof row->backend, "%s", info.backend);
    snprintf(row->device, sizeof row->device, "%s", info.device);
}

gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row)
{
    *session = (bench_session){.shape = self->shape};
    if (options->attached)
        return bench_serving_start(self, options, session);
    gyre_status status = bench_runtime_open(self, options, NULL, &session->runtime);
    if (status == GYRE_OK)
        status = bench_launch(session->runtime, self->shape.kind, &session->kernel);
    if (status == GYRE_OK)
        status = open_queue(self, session);
    if (status == GYRE_OK)
        bench_note_kernel(session->kernel, row);
    return status;
}

void bench_session_close(bench_session *session)
{
    bench_serving_end(session);
    gyre_close(session->runtime); /* kernel and queues are the runtime's */
    session->runtime = NULL;
}

gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors)
{
    unsigned char request[sizeof(words_65536)] __attribute__((aligned(64)));
    unsigned char reply[sizeof(words_65536)] __attribute__((aligned(64)));
    BENCH_FOR_KIND(kind, bench_fill(KIND, request, number))
    gyre_status status = gyre_call(queue, request, bench_request_size(kind), reply, bench_reply_size(kind),
                                   NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        BENCH_FOR_KIND(kind, *errors += !bench_right(KIND, reply, number))
    return status;
}

/* As many blocks as a GPU has multiprocessors would be as many threads on a processor. */
gyre_status bench_run_widely(const bench_case *self, const bench_options *options, bench_row *row,
                             gyre_status (*run)(const bench_case *self, const bench_options *options,
                                                bench_row *row))
{
    gyre_runtime *runtime = NULL;
    gyre_backend_choice choice = {.size = sizeof choice};
    bench_case here = *self;
    gyre_status status = bench_runtime_open(self, options, NULL, &runtime);
    if (status == GYRE_OK)
        status = gyre_backend_choose(runtime, NULL, &choice);
    gyre_close(runtime);
    if (strcmp(choice.name, "cpu") == 0)
        here.settings = NULL;
    return status == GYRE_OK ? run(&here, options, row) : status;
}

void bench_story_take(bench_story *story, gyre_status status)
{
    story->status = status;
    snprintf(story->text, sizeof story->text, "%s", status == GYRE_OK ? "" : gyre_error_text());
}

gyre_status bench_story_tell(const bench_story *story, const bench_case *self)
{
    if (story->status == GYRE_OK)
        return GYRE_OK;
    return gyre_error_set(story->status, "case %s: %s", self->name, story->text);
}
