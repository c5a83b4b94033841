/* SPDX-License-Identifier: Apache-2.0 */
#include "wiring.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../patience.h"

void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
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
    snprintf(source, sizeof source, "%s/%s", SAVINA_KERNELS, file);
    name_it(wiring->names[at], name, number, NULL);
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = source,
                                   .kernel = kernel,
                                   .name = wiring->names[at],
                                   .stage = 1,
                                   .state = wiring->state,
                                   .state_size = wiring->state ? sizeof *wiring->state : 0,
                                   .bindings = &wiring->binding,
                                   .binding_count = wiring->binding.name != NULL};
    must(gyre_launch(wiring->runtime, &desc, &wiring->kernels[at]));
    wiring->state = NULL;
    wiring->binding.name = NULL;
    return wiring->kernels[at];
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

static bool call(gyre_queue *queue, const task *request, total *out)
{
    gyre_completion done = {0};
    must(gyre_call(queue, request, sizeof *request, out, sizeof *out, &done, gyre_in_ms(patiently(300000))));
    if (done.outcome == GYRE_HANDLER_FAILED)
        fprintf(stderr, "savina: the request failed with %d: %s\n", done.failure_code, done.failure_text);
    else if (done.outcome != GYRE_REPLIED && done.outcome != GYRE_NOT_REPLIED)
        fprintf(stderr, "savina: the request was not handled (outcome %d)\n", (int)done.outcome);
    else
        return done.outcome == GYRE_REPLIED;
    exit(1);
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
