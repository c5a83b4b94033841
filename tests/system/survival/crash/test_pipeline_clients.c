/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients and subscribers of a pipeline whose worker process dies: one case a run, `test_pipeline_clients CASE`. What a client has been
 * answered is not handled again, whichever program it is; who subscribes hears what several workers send.
 */
#include "pipelines.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gyre/attach.h>
#include <gyre/header.h>
#include <gyre/pipeline.h>
#include <gyre/subscribe.h>

enum { LATER = 7, ROUNDS = 5, AT_ONCE = 40 };

/* Kills the worker process; there is none for a moment while it is replaced. */
static void end_worker(void)
{
    while (!kill_worker())
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static gyre_kernel *launch_stage(gyre_runtime *runtime, const char *kernel, int stage)
{
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = PIPELINE_KERNELS, .kernel = kernel, .blocks = 1, .stage = stage};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

/* ---- other programs: this one stands for them, by the server's socket ---- */

static const char *socket_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/socket", getenv("CRASH_FOLDER"));
    return path;
}

static gyre_server *serve(gyre_runtime *runtime)
{
    gyre_server *server = NULL;
    const gyre_serve_desc desc = {.size = sizeof desc, .path = socket_path()};
    must(gyre_serve(runtime, &desc, &server));
    return server;
}

static gyre_queue *attach(const char *name)
{
    gyre_queue *queue = NULL;
    const gyre_attach_desc desc = {.size = sizeof desc, .path = socket_path(), .deadline_ns = soon()};
    must(gyre_attach(name, &desc, &queue));
    return queue;
}

/* ---- requests that were overtaken ---- */

/* number counts its messages from its worker's begin on, and has keep answer those with parts. */
static gyre_pipeline *open_counting(gyre_runtime *runtime)
{
    static const char *const entries[] = {"number"}, *const answers[] = {"keep"};
    static const gyre_link_desc link = {
        .size = sizeof link, .name = "numbered", .from = "number.on", .to = "keep"};
    gyre_pipeline *pipeline = NULL;
    launch_stage(runtime, "number", GYRE_STAGE_LINKED);
    launch_stage(runtime, "keep", GYRE_STAGE_LINKED);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "counting",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

static void send_as(gyre_queue *queue, uint64_t correlation, uint32_t parts)
{
    const crash_step step = {.number = correlation, .parts = parts};
    const gyre_header header = {.correlation = correlation};
    must(gyre_send_with(queue, &step, sizeof step, &header, NULL, soon()));
}

/* The completion of the request that has this correlation. Returns what keep made of it. */
static crash_reply receive_as(gyre_queue *queue, uint64_t correlation, gyre_completion_outcome outcome)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive_for(queue, correlation, &reply, sizeof reply, &completion, NULL, soon()));
    require(completion.outcome == outcome);
    return reply;
}

/*
 * keep is paused, so the first request waits, and later ones are answered before it. The next worker's number counts again from its begin:
 * it sees the first request once more, and none of those that were answered.
 */
static void overtake(gyre_runtime *runtime, gyre_queue *queue)
{
    gyre_kernel *keep = gyre_kernel_find(runtime, "keep");
    must(gyre_kernel_deactivate(keep, soon()));
    send_as(queue, 1, 1);
    for (uint64_t i = 0; i < LATER; i++)
        send_as(queue, 2 + i, 0);
    for (uint64_t i = 0; i < LATER; i++)
        receive_as(queue, 2 + i, GYRE_NOT_REPLIED);
    end_worker();
    must(gyre_kernel_activate(keep, soon()));
    const crash_reply first = receive_as(queue, 1, GYRE_REPLIED);
    require(first.number == 1 && first.check == mixed(1));
    send_as(queue, 2 + LATER, 1);
    const crash_reply second = receive_as(queue, 2 + LATER, GYRE_REPLIED);
    require(second.number == 2 && second.check == mixed(2));
}

static gyre_runtime *open_beginning_anew(void)
{
    return open_isolated((const char *const[]){"kernel.number.on_loss=one", "kernel.keep.on_loss=one",
                                               "kernel.default.poison_limit=1000",
                                               "queue.counting.header=correlation", NULL});
}

static void what_was_answered_is_not_handled_again(void)
{
    gyre_runtime *runtime = open_beginning_anew();
    overtake(runtime, gyre_pipeline_queue(open_counting(runtime)));
    gyre_close(runtime);
}

static void what_another_program_was_answered_is_not_handled_again(void)
{
    gyre_runtime *runtime = open_beginning_anew();
    open_counting(runtime);
    gyre_server *server = serve(runtime);
    gyre_queue *queue = attach("counting");
    overtake(runtime, queue);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- subscribers ---- */

static gyre_pipeline *open_telling(gyre_runtime *runtime)
{
    static const char *const entries[] = {"left"};
    static const gyre_link_desc link = {.size = sizeof link, .name = "told", .from = "left.on", .to = "host"};
    gyre_pipeline *pipeline = NULL;
    launch_stage(runtime, "left", GYRE_STAGE_COUNTED);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "telling",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/* Hears messages up to this one: some twice, where their requests were handled again, and none left out. */
static void hear_up_to(gyre_subscription *subscription, uint64_t *heard, uint64_t last)
{
    while (*heard < last) {
        crash_step step = {0};
        gyre_publication about = {.size = sizeof about};
        must(gyre_subscription_receive(subscription, &step, sizeof step, &about, soon()));
        require(step.number <= *heard + 1 && step.number > 0 && step.at == 0 && about.missed == 0);
        *heard = step.number > *heard ? step.number : *heard;
    }
}

static void call_left(gyre_queue *queue, uint64_t first)
{
    for (uint64_t i = 0; i < AT_ONCE; i++) {
        const crash_step step = {.number = first + i};
        must(gyre_send(queue, &step, sizeof step, NULL, soon()));
    }
    end_worker();
    for (uint64_t i = 0; i < AT_ONCE; i++) {
        gyre_completion completion;
        must(gyre_receive(queue, NULL, 0, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
}

/* A worker dies each time in the midst of what it sends. */
static void subscribers_hear_several_workers(void)
{
    gyre_subscription *own = NULL, *attached = NULL;
    uint64_t heard[2] = {0, 0};
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.default.restart_limit=1000",
                                                                "kernel.default.poison_limit=1000", NULL});
    gyre_pipeline *pipeline = open_telling(runtime);
    gyre_server *server = serve(runtime);
    const gyre_subscribe_desc desc = {
        .size = sizeof desc, .slow = GYRE_SLOW_WAIT, .path = socket_path(), .deadline_ns = soon()};
    must(gyre_subscribe(pipeline, "told", &desc, &own));
    must(gyre_subscribe_attached("telling/told", &desc, &attached));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        call_left(gyre_pipeline_queue(pipeline), 1 + round * AT_ONCE);
        hear_up_to(own, &heard[0], (round + 1) * AT_ONCE);
        hear_up_to(attached, &heard[1], (round + 1) * AT_ONCE);
    }
    gyre_unsubscribe(attached);
    gyre_unsubscribe(own);
    gyre_server_close(server);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"what_was_answered_is_not_handled_again", what_was_answered_is_not_handled_again},
    {"what_another_program_was_answered_is_not_handled_again",
     what_another_program_was_answered_is_not_handled_again},
    {"subscribers_hear_several_workers", subscribers_hear_several_workers},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
