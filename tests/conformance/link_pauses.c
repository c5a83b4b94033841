/* SPDX-License-Identifier: Apache-2.0 */
/* Stages that stand in the middle of their messages: what was taken and not handled is neither lost nor handled twice. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/links.h"

#include <gyre/pipeline.h>
#include <pthread.h>
#include <string.h>

/* `kernel` -> finish, whose first kernel has so many blocks. */
struct pair {
    gyre_kernel *first, *last;
    gyre_pipeline *pipeline;
    gyre_queue *queue;
};

static void join_pair(struct conformance *test, struct pair *pair)
{
    static const char *const first = "first", *const last = "last";
    const gyre_link_desc link = {.size = sizeof link, .from = "first.out", .to = "last"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(test->runtime, &desc, &pair->pipeline));
    pair->queue = gyre_pipeline_queue(pair->pipeline);
}

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "links.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static void open_pair(struct conformance *test, struct pair *pair, const char *kernel, uint32_t blocks)
{
    pair->first = launch_as(test, kernel, "first", blocks);
    pair->last = launch_as(test, "finish", "last", 1);
    join_pair(test, pair);
}

/* ---- pauses under load ---- */

struct pauser {
    gyre_kernel *kernel;
    bool over; /* atomic */
    uint64_t pauses;
    pthread_t thread;
};

static void *pause_often(void *argument)
{
    struct pauser *pauser = argument;
    while (!__atomic_load_n(&pauser->over, __ATOMIC_RELAXED)) {
        must(gyre_kernel_deactivate(pauser->kernel, soon()));
        must(gyre_kernel_activate(pauser->kernel, soon()));
        pauser->pauses++;
        sleep_ms((long)(pauser->pauses % 2));
    }
    return NULL;
}

/* Streams slow jobs while the first stage is paused again and again; each reply says what was handled before it. */
static void stream_under_pauses(struct conformance *test, const char *kernel, uint32_t blocks, uint64_t count)
{
    struct pair pair;
    uint64_t sent = 0;
    open_pair(test, &pair, kernel, blocks);
    struct pauser pauser = {.kernel = pair.first};
    require(pthread_create(&pauser.thread, NULL, pause_often, &pauser) == 0);
    for (uint64_t received = 0; received < count; received++) {
        job reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const job request = {.number = sent, .what = JOB_SLOW};
            if (gyre_send(pair.queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(pair.queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.index == received);
        require(reply.number == received && reply.hops == 2 && reply.sum == received);
    }
    __atomic_store_n(&pauser.over, true, __ATOMIC_RELAXED);
    pthread_join(pauser.thread, NULL);
    require(pauser.pauses > 0);
    must(gyre_pipeline_close(pair.pipeline, soon()));
    gyre_kernel_release(pair.first);
    gyre_kernel_release(pair.last);
}

static void pauses_keep_the_order_of_messages(struct conformance *test)
{
    stream_under_pauses(test, "pass_in_order", 1, 4000);
}

static void pauses_lose_nothing_of_several_blocks(struct conformance *test)
{
    stream_under_pauses(test, "pass", 2, 4000);
}

/* ---- what nobody waits for any more ---- */

static void send_slow(gyre_queue *queue, uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const job request = {.number = from + i, .what = JOB_SLOW};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
}

/* A stage stands in the middle of its messages while their pipeline is closed, and is a stage of the next one. */
static void a_stage_brings_nothing_into_its_next_pipeline(struct conformance *test)
{
    struct pair pair;
    open_pair(test, &pair, "pass", 2);
    for (uint64_t turn = 1; turn <= 20; turn++) {
        send_slow(pair.queue, turn * 1000, 300);
        sleep_ms((long)(turn % 3));
        must(gyre_kernel_deactivate(pair.first, soon()));
        must(gyre_pipeline_close(pair.pipeline, GYRE_NO_WAIT));
        join_pair(test, &pair);
        must(gyre_kernel_activate(pair.first, soon()));
        for (uint64_t i = 0; i < 20; i++) {
            const job request = {.number = i};
            job reply;
            must(gyre_call(pair.queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
            require(reply.number == i && reply.hops == 2 && reply.sum == i);
        }
        gyre_link_info info = {.size = sizeof info};
        must(gyre_pipeline_link(pair.pipeline, 0, &info));
        require(info.sent == 20);
    }
}

/* A queue of the stage itself is closed with requests under way; those of the pipeline go on. */
static void a_queue_ends_beside_the_flows_of_its_stage(struct conformance *test)
{
    struct pair pair;
    const gyre_queue_desc desc = {.size = sizeof desc};
    open_pair(test, &pair, "pass", 2);
    for (uint64_t turn = 0; turn < 20; turn++) {
        gyre_queue *own = NULL;
        must(gyre_queue_open(pair.first, &desc, &own));
        send_slow(pair.queue, 0, 100);
        send_slow(own, 0, 100);
        send_slow(pair.queue, 100, 100);
        sleep_ms((long)(turn % 3));
        must(gyre_kernel_deactivate(pair.first, soon()));
        gyre_queue_close(own);
        must(gyre_kernel_activate(pair.first, soon()));
        for (uint64_t i = 0; i < 200; i++) {
            gyre_completion completion;
            job reply;
            must(gyre_receive(pair.queue, &reply, sizeof reply, &completion, soon()));
            require(completion.outcome == GYRE_REPLIED && reply.number == i && reply.hops == 2);
        }
    }
}

/* stop_timeout_ms is for handlers: blocks that are inside none are waited for although they take longer to look at a new table. */
static void blocks_without_messages_have_more_time(struct conformance *test)
{
    static const char *const settings[] = {"kernel.default.stop_timeout_ms=1", NULL};
    enum { TURNS = 8 };
    const gyre_queue_desc desc = {.size = sizeof desc};
    struct conformance hasty = *test;
    struct pair pair = {0};
    if (strcmp(test->backend, "cpu") != 0) /* its blocks say whether they are inside a handler */
        return;
    hasty.runtime = open_with(test, settings);
    pair.first = launch_as(&hasty, "pass", "first", 1);
    pair.last = launch_as(&hasty, "finish", "last", 1);
    join_pair(&hasty, &pair);
    for (int turn = 0; turn < TURNS; turn++) {
        gyre_queue *queue = NULL;
        must(gyre_pipeline_queue_open(pair.pipeline, NULL, &desc, &queue));
        gyre_queue_close(queue);
    }
    must(gyre_pipeline_close(pair.pipeline, soon()));
    must(gyre_kernel_terminate(pair.first, soon(), NULL));
    must(gyre_kernel_terminate(pair.last, soon(), NULL));
    gyre_close(hasty.runtime);
}

const struct conformance_case link_pause_cases[] = {
    {"pauses_keep_the_order_of_messages", pauses_keep_the_order_of_messages},
    {"pauses_lose_nothing_of_several_blocks", pauses_lose_nothing_of_several_blocks},
    {"a_stage_brings_nothing_into_its_next_pipeline", a_stage_brings_nothing_into_its_next_pipeline},
    {"a_queue_ends_beside_the_flows_of_its_stage", a_queue_ends_beside_the_flows_of_its_stage},
    {"blocks_without_messages_have_more_time", blocks_without_messages_have_more_time},
    {NULL, NULL},
};
