/* SPDX-License-Identifier: Apache-2.0 */
#include "wiring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../patience.h"

enum { SKIPPED = 77 };

static bool skips, is_limited;

void wiring_expect(bool is_test, bool has_quota)
{
    skips = is_test;
    is_limited = has_quota;
}

void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    if (skips && status == GYRE_UNAVAILABLE) {
        printf("not run: %s\n", gyre_error_text());
        exit(SKIPPED);
    }
    fprintf(stderr, "savina: %s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static void give_up(const char *what)
{
    fprintf(stderr, "savina: %s\n", what);
    exit(1);
}

void wiring_begin(struct wiring *wiring, const char *backend, const char *setting)
{
    const char *const settings[] = {setting, NULL};
    const gyre_open_desc open = {.size = sizeof open, .backend = backend, .settings = settings};
    memset(wiring, 0, sizeof *wiring);
    wiring->backend = backend;
    wiring->began_ns = gyre_now_ns();
    must(gyre_open(&open, &wiring->runtime));
}

/* NAME, or NAME and a number that is not below 0. */
static void name_it(char *out, const char *name, int number, const char *port)
{
    const char *const dot = port ? "." : "";
    const int written = number < 0
                            ? snprintf(out, WIRING_NAME_MAX, "%s%s%s", name, dot, port ? port : "")
                            : snprintf(out, WIRING_NAME_MAX, "%s%d%s%s", name, number, dot, port ? port : "");
    if (written >= WIRING_NAME_MAX)
        give_up("a name of a kernel is too long");
}

gyre_kernel *wiring_stage(struct wiring *wiring, const char *file, const char *kernel, const char *name,
                          int number)
{
    if (wiring->stages == WIRING_STAGES_MAX)
        give_up("a pipeline has no room for so many kernels");
    const size_t at = wiring->stages++;
    char source[1024];
    const char *const folder = getenv("GYRE_TEST_SAVINA");
    snprintf(source, sizeof source, "%s/%s", folder ? folder : SAVINA_KERNELS, file);
    name_it(wiring->names[at], name, number, NULL);
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = source,
                                   .kernel = kernel,
                                   .name = wiring->names[at],
                                   .stage = is_limited ? GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ASKS
                                                       : GYRE_STAGE_LINKED,
                                   .blocks = 1,
                                   .state = wiring->state,
                                   .state_size = wiring->state ? sizeof *wiring->state : 0,
                                   .bindings = wiring->bindings,
                                   .binding_count = wiring->binding_count};
    must(gyre_launch(wiring->runtime, &desc, &wiring->kernels[at]));
    wiring->state = NULL;
    wiring->binding_count = 0;
    return wiring->kernels[at];
}

void wiring_bind(struct wiring *wiring, const char *name, gyre_buffer *buffer)
{
    if (wiring->binding_count == WIRING_BINDINGS_MAX)
        give_up("a kernel has no room for so many buffers");
    wiring->bindings[wiring->binding_count++] = (gyre_binding_name){.name = name, .buffer = buffer};
}

gyre_buffer *wiring_buffer(struct wiring *wiring, const char *name, uint64_t size)
{
    gyre_buffer *buffer;
    must(gyre_buffer_alloc(wiring->runtime, wiring->backend, 0, size, &buffer));
    wiring_bind(wiring, name, buffer);
    return buffer;
}

void wiring_answers(struct wiring *wiring)
{
    wiring->answers[wiring->answer_count++] = wiring->names[wiring->stages - 1];
}

gyre_link_desc *wiring_link_between(struct wiring *wiring, const char *from, int from_number,
                                    const char *port, const char *to, int to_number)
{
    if (wiring->link_count == WIRING_LINKS_MAX)
        give_up("a pipeline has no room for so many links");
    const size_t at = wiring->link_count++;
    name_it(wiring->from[at], from, from_number, port);
    name_it(wiring->to[at], to, to_number, NULL);
    wiring->links[at] =
        (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = wiring->from[at], .to = wiring->to[at]};
    return &wiring->links[at];
}

gyre_link_desc *wiring_link(struct wiring *wiring, const char *from, const char *to)
{
    return wiring_link_between(wiring, from, -1, NULL, to, -1);
}

void wiring_open(struct wiring *wiring, uint32_t quota)
{
    const char *const entry = wiring->names[0];
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "savina",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = wiring->answers,
                                     .answer_count = wiring->answer_count,
                                     .links = wiring->links,
                                     .link_count = wiring->link_count,
                                     .window = quota ? 1 : 0,
                                     .quota = quota};
    must(gyre_pipeline_open(wiring->runtime, &desc, &wiring->pipeline));
}

/* Whether the request was replied to. One that was not handled ends the program. */
static bool is_replied(const gyre_completion *done)
{
    if (done->outcome == GYRE_HANDLER_FAILED)
        fprintf(stderr, "savina: the request failed with %d: %s\n", done->failure_code, done->failure_text);
    else if (done->outcome != GYRE_REPLIED && done->outcome != GYRE_NOT_REPLIED)
        fprintf(stderr, "savina: the request was not handled (outcome %d)\n", (int)done->outcome);
    else
        return done->outcome == GYRE_REPLIED;
    exit(1);
}

static bool call(gyre_queue *queue, const task *request, total *out)
{
    gyre_completion done = {0};
    must(gyre_call(queue, request, sizeof *request, out, sizeof *out, &done, gyre_in_ms(patiently(300000))));
    return is_replied(&done);
}

void wiring_call(struct wiring *wiring, task request, gyre_kernel *tell, total *out)
{
    *out = (total){0};
    if (call(gyre_pipeline_queue(wiring->pipeline), &request, out))
        return;
    request = (task){.what = SAVINA_TELL};
    if (tell == NULL || !call(gyre_kernel_queue(tell), &request, out))
        give_up("nobody replied, where a reply was expected");
}

/* Sends what there is room for: the number of the first batch that was not sent. */
static uint64_t send_batches(gyre_queue *queue, task request, uint64_t batch, uint64_t batches)
{
    for (; batch < batches; batch++) {
        request.number = batch * SAVINA_BATCH;
        if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
            break;
    }
    return batch;
}

void wiring_feed(struct wiring *wiring, task request, uint64_t count, total *out)
{
    gyre_queue *const queue = gyre_pipeline_queue(wiring->pipeline);
    const uint64_t batches = (count + SAVINA_BATCH - 1) / SAVINA_BATCH;
    uint64_t sent = 0, replies = 0;
    for (uint64_t received = 0; received < batches; received++) {
        gyre_completion done = {0};
        total told = {0};
        sent = send_batches(queue, request, sent, batches);
        must(gyre_receive(queue, &told, sizeof told, &done, gyre_in_ms(patiently(300000))));
        if (!is_replied(&done))
            continue;
        *out = told;
        replies++;
    }
    if (replies != 1)
        give_up("one reply to all batches is expected, found another number of them");
}

uint64_t wiring_messages(const struct wiring *wiring)
{
    uint64_t sent = 0;
    gyre_link_info info = {.size = sizeof info};
    for (size_t i = 0; gyre_pipeline_link(wiring->pipeline, i, &info) == GYRE_OK; i++)
        sent += info.sent;
    return sent;
}

void wiring_end(struct wiring *wiring)
{
    must(gyre_pipeline_close(wiring->pipeline, gyre_in_ms(patiently(60000))));
    gyre_close(wiring->runtime);
}
