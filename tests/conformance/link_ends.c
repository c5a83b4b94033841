/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines beside handlers that take long or do not return, and the other queues of their kernels. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/links.h"

#include <gyre/pipeline.h>
#include <gyre/ring_layout.h>
#include <pthread.h>
#include <string.h>

/* pass -> finish, in a runtime of its own that waits 100 ms for handlers. */
struct pair {
    gyre_runtime *runtime;
    gyre_kernel *pass, *finish;
    gyre_pipeline *pipeline;
    gyre_queue *queue;
};

static gyre_pipeline *join_pair(gyre_runtime *runtime)
{
    static const char *const first = "pass", *const last = "finish";
    const gyre_link_desc link = {.size = sizeof link, .from = "pass.out", .to = "finish"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

static void open_pair(const struct conformance *test, const char *const *settings, struct pair *pair)
{
    pair->runtime = open_with(test, settings);
    pair->pass = launch_in(pair->runtime, "links.gyre.c", "pass");
    pair->finish = launch_in(pair->runtime, "links.gyre.c", "finish");
    pair->pipeline = join_pair(pair->runtime);
    pair->queue = gyre_pipeline_queue(pair->pipeline);
}

static const char *const hasty[] = {"kernel.default.stop_timeout_ms=100", NULL};

/* A job whose last handler takes so long, and a moment for it to begin. */
static void send_long(gyre_queue *queue, uint64_t milliseconds)
{
    const job request = {.number = milliseconds, .what = JOB_SPIN};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    sleep_ms(60);
}

static void *call_in_vain(void *argument)
{
    const job request = {.number = 1};
    job reply;
    const gyre_status status = gyre_call(argument, &request, sizeof request, &reply, sizeof reply, NULL,
                                         gyre_in_ms(patiently(60000)));
    require(status != GYRE_TIMEOUT);
    return NULL;
}

/* Its block still knows the entry's queue and the control regions of both kernels when it returns at last. */
static void a_handler_that_does_not_return_keeps_what_it_uses(struct conformance *test)
{
    struct pair pair;
    pthread_t waiter;
    open_pair(test, hasty, &pair);
    send_long(pair.queue, 1500);
    require(pthread_create(&waiter, NULL, call_in_vain, pair.queue) == 0);
    sleep_ms(30);
    gyre_kernel_release(pair.pass);
    require(gyre_pipeline_find(pair.runtime, "tested") == NULL);
    pthread_join(waiter, NULL); /* it does not wait for the handler */
    const job other = {.number = 5};
    job reply;
    must(gyre_call(gyre_kernel_queue(pair.finish), &other, sizeof other, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 5 && reply.hops == 1);
    gyre_close(pair.runtime);
}

static void a_close_that_timed_out_is_made_again(struct conformance *test)
{
    struct pair pair;
    open_pair(test, hasty, &pair);
    send_long(pair.queue, 700);
    for (int i = 0; i < 20; i++)
        send_long(pair.queue, 0); /* behind it */
    gyre_status status = gyre_pipeline_close(pair.pipeline, GYRE_NO_WAIT);
    require(status == GYRE_TIMEOUT || status == GYRE_OK); /* OK: this machine was slower than the handler */
    if (status == GYRE_OK) {
        gyre_close(pair.runtime);
        return;
    }
    require(gyre_pipeline_find(pair.runtime, "tested") == pair.pipeline);
    const uint64_t deadline_ns = soon();
    do /* it does not wait for what cannot move any more */
        status = gyre_pipeline_close(pair.pipeline, GYRE_FOREVER);
    while (status == GYRE_TIMEOUT && gyre_now_ns() < deadline_ns);
    require(status == GYRE_OK);
    pair.pipeline = join_pair(pair.runtime);
    const job request = {.number = 2};
    job reply;
    must(gyre_call(gyre_pipeline_queue(pair.pipeline), &request, sizeof request, &reply, sizeof reply, NULL,
                   soon()));
    require(reply.number == 2 && reply.hops == 2);
    gyre_close(pair.runtime);
}

static void *close_slowly(void *argument)
{
    gyre_pipeline_close(argument, gyre_in_ms(100));
    return NULL;
}

/* The one who closes takes the pipeline off the list, fails, and lists it again, while the release waits. */
static void a_release_goes_on_when_a_close_failed(struct conformance *test)
{
    struct pair pair;
    pthread_t closer;
    open_pair(test, hasty, &pair);
    send_long(pair.queue, 900);
    require(pthread_create(&closer, NULL, close_slowly, pair.pipeline) == 0);
    sleep_ms(20);
    gyre_kernel_release(pair.pass);
    pthread_join(closer, NULL);
    require(gyre_pipeline_find(pair.runtime, "tested") == NULL);
    sleep_ms(900); /* the handler is back, and used nothing that was freed */
    gyre_close(pair.runtime);
}

struct waiter {
    gyre_queue *queue;
    uint64_t done_ns;
    pthread_t thread;
};

static void *call_long(void *argument)
{
    struct waiter *waiter = argument;
    const job request = {.number = 40, .what = JOB_SPIN};
    job reply;
    must(gyre_call(waiter->queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    waiter->done_ns = gyre_now_ns();
    return NULL;
}

/* Clients that sleep are woken when their own request is done, and not when all that were there are. */
static void sleepers_are_woken_one_by_one(struct conformance *test)
{
    enum { WAITERS = 8 };
    static const char *const settings[] = {"queue.default.idle=park", NULL};
    struct pair pair;
    struct waiter waiters[WAITERS];
    open_pair(test, settings, &pair);
    const uint64_t began_ns = gyre_now_ns();
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){.queue = pair.queue};
        require(pthread_create(&waiters[i].thread, NULL, call_long, &waiters[i]) == 0);
        sleep_ms(8); /* lanes take together what is there: some of them, and not all but the first */
    }
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(waiters[i].thread, NULL);
        first_ns = waiters[i].done_ns < first_ns ? waiters[i].done_ns : first_ns;
        last_ns = waiters[i].done_ns > last_ns ? waiters[i].done_ns : last_ns;
    }
    uint64_t early = 0;
    for (int i = 0; i < WAITERS; i++)
        early += waiters[i].done_ns - began_ns < (last_ns - began_ns) * 3 / 4;
    require(early >= WAITERS / 4);
    gyre_close(pair.runtime);
}

/* A kernel of a pipeline is used by its own queue as well, with what that queue is configured for. */
static void a_stage_has_queues_of_its_own(struct conformance *test)
{
    static const char *const settings[] = {"queue.pass.seal=crc32c", "queue.finish.seal=crc32c",
                                           "kernel.finish.timing=true", "kernel.pass.timing=true", NULL};
    struct pair pair;
    open_pair(test, settings, &pair);
    for (uint64_t i = 0; i < 300; i++) {
        const job through = {.number = i}, dropped = {.number = i, .what = JOB_DROP};
        gyre_completion completion;
        job reply;
        must(gyre_call(pair.queue, &through, sizeof through, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.hops == 2);
        must(gyre_call(gyre_kernel_queue(pair.finish), &through, sizeof through, &reply, sizeof reply,
                       &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == i && reply.hops == 1);
        must(gyre_call(gyre_kernel_queue(pair.pass), &dropped, sizeof dropped, &reply, sizeof reply,
                       &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
    gyre_close(pair.runtime);
}

/* However many queues a stage has, each is served while the pipeline is open and idle. */
static void a_stage_serves_many_queues(struct conformance *test)
{
    enum { QUEUES = 40 };
    static const char *const settings[] = {NULL};
    struct pair pair;
    gyre_queue *queues[QUEUES];
    const gyre_queue_desc desc = {.size = sizeof desc};
    open_pair(test, settings, &pair);
    for (int i = 0; i < QUEUES; i++)
        must(gyre_queue_open(pair.finish, &desc, &queues[i]));
    for (uint64_t i = 0; i < QUEUES; i++) {
        const job through = {.number = i};
        job reply;
        must(gyre_call(queues[i], &through, sizeof through, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.hops == 1);
        must(gyre_call(pair.queue, &through, sizeof through, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.hops == 2);
    }
    gyre_close(pair.runtime);
}

/*
 * The handler of the second kernel was quick so often that a thread of the first one may run it. Then it takes long, and the
 * first kernel obeys and serves its own queue all the same.
 */
static void a_sender_goes_on_beside_a_long_handler(struct conformance *test)
{
    static const char *const settings[] = {"backend.cpu.follow=always", "kernel.finish.idle=park", NULL};
    const job dropped = {.what = JOB_DROP};
    const uint64_t longest_ms = patiently(400);
    struct pair pair;
    gyre_completion completion;
    job reply;
    open_pair(test, settings, &pair);
    for (uint64_t i = 0; i < 30; i++) {
        const job through = {.number = i};
        must(gyre_call(pair.queue, &through, sizeof through, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.hops == 2);
        sleep_ms(2); /* it sleeps again, as a rule */
    }
    send_long(pair.queue, longest_ms);
    must(gyre_kernel_deactivate(pair.pass, gyre_in_ms(longest_ms / 2)));
    must(gyre_kernel_activate(pair.pass, soon()));
    must(gyre_call(gyre_kernel_queue(pair.pass), &dropped, sizeof dropped, &reply, sizeof reply, &completion,
                   gyre_in_ms(longest_ms / 2)));
    require(completion.outcome == GYRE_NOT_REPLIED);
    must(gyre_receive(pair.queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply.number == longest_ms && reply.hops == 2);
    gyre_close(pair.runtime);
}

static void a_pipeline_may_have_its_entrys_name(struct conformance *test)
{
    static const char *const first = "pass";
    const gyre_link_desc link = {.size = sizeof link, .from = "pass.out", .to = "nowhere"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "pass",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    launch(test, "links.gyre.c", "pass");
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    const job request = {.number = 2};
    gyre_completion completion;
    must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, 0, &completion, soon()));
    require(completion.outcome == GYRE_NOT_REPLIED);
}

/* A request that is built in place can be damaged behind its seal. */
static void send_damaged(const struct pair *pair, uint64_t number)
{
    void *place;
    size_t stride, count = 1;
    must(gyre_kernel_deactivate(pair->pass, soon()));
    must(gyre_reserve(pair->queue, &place, &stride, &count, soon()));
    *(job *)place = (job){.number = number};
    must(gyre_commit(pair->queue, count));
    ((job *)place)->number ^= 1;
    must(gyre_kernel_activate(pair->pass, soon()));
}

/* The seal of a request is checked by the first kernel, and that of the reply is made by the one that replies. */
static void messages_of_flows_have_seals(struct conformance *test)
{
    static const char *const settings[] = {"queue.tested.seal=crc32c", "queue.tested.header=64", NULL};
    struct pair pair;
    gyre_completion completion;
    gyre_view view;
    size_t found;
    job reply;
    open_pair(test, settings, &pair);
    for (uint64_t i = 0; i < 300; i++) {
        const job through = {.number = i};
        must(gyre_call(pair.queue, &through, sizeof through, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == i && reply.hops == 2);
    }
    send_damaged(&pair, 40);
    must(gyre_receive(pair.queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_SEAL);
    require(strstr(completion.failure_text, "of the request") != NULL);
    const job request = {.number = 5};
    must(gyre_send(pair.queue, &request, sizeof request, NULL, soon()));
    must(gyre_peek(pair.queue, &view, 1, &found, soon())); /* now a reply, damaged before it is taken */
    require(view.outcome == GYRE_REPLIED && ((const job *)view.reply)->number == 5);
    memset((void *)(uintptr_t)view.reply, 77, sizeof(job));
    must(gyre_release_views(pair.queue, 0));
    must(gyre_receive(pair.queue, &reply, sizeof reply, &completion, soon()));
    require(completion.failure_code == GYRE_FAILURE_SEAL && strstr(completion.failure_text, "of the reply"));
    gyre_close(pair.runtime);
}

/* A flow's time goes from the moment when its request is taken to its completion. */
static void a_flow_has_its_times(struct conformance *test)
{
    static const char *const settings[] = {"kernel.pass.timing=true", NULL};
    struct pair pair;
    open_pair(test, settings, &pair);
    for (uint64_t i = 0; i < 2000; i++) { /* more than the queue has slots */
        const job spin = {.number = i == 0 ? 20 : 0, .what = JOB_SPIN};
        gyre_completion completion;
        gyre_timing timing = {.size = sizeof timing};
        job reply;
        must(gyre_call(pair.queue, &spin, sizeof spin, &reply, sizeof reply, &completion, soon()));
        must(gyre_timing_get(pair.queue, completion.index, &timing));
        require(timing.sent_ns <= timing.started_ns && timing.started_ns <= timing.finished_ns);
        require(timing.finished_ns <= timing.received_ns);
        require(i > 0 || timing.finished_ns - timing.started_ns >= 20000000); /* of the second kernel */
    }
    gyre_close(pair.runtime);
}

const struct conformance_case link_end_cases[] = {
    {"a_handler_that_does_not_return_keeps_what_it_uses", a_handler_that_does_not_return_keeps_what_it_uses},
    {"a_close_that_timed_out_is_made_again", a_close_that_timed_out_is_made_again},
    {"a_release_goes_on_when_a_close_failed", a_release_goes_on_when_a_close_failed},
    {"sleepers_are_woken_one_by_one", sleepers_are_woken_one_by_one},
    {"a_stage_has_queues_of_its_own", a_stage_has_queues_of_its_own},
    {"a_stage_serves_many_queues", a_stage_serves_many_queues},
    {"messages_of_flows_have_seals", messages_of_flows_have_seals},
    {"a_flow_has_its_times", a_flow_has_its_times},
    {"a_sender_goes_on_beside_a_long_handler", a_sender_goes_on_beside_a_long_handler},
    {"a_pipeline_may_have_its_entrys_name", a_pipeline_may_have_its_entrys_name},
    {NULL, NULL},
};
