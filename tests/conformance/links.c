/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines: kernels that send to kernels. Each flow has exactly one completion, the right one, whatever the graph. */
#include "graphs.h"
#include "../patience.h"
#include "kernels/links.h"

#include <gyre/change.h>
#include <gyre/pipeline.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making pipelines ---- */

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "links.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

/* A pipeline of these links, entered at `entry` and answered by `answer` (NULL: by nobody). */
static gyre_pipeline_desc describe(const char *const *entry, const char *const *answer,
                                   const gyre_link_desc *links, size_t count)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = entry,
                                .entry_count = 1,
                                .answers = answer,
                                .answer_count = answer != NULL,
                                .links = links,
                                .link_count = count};
}

static gyre_pipeline *open_pipeline(struct conformance *test, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline = NULL;
    must(gyre_pipeline_open(test->runtime, desc, &pipeline));
    return pipeline;
}

/* entry -> four more -> last, each of one block; `middle` is the kernel of those in between. */
static gyre_pipeline *open_chain(struct conformance *test, const char *middle, uint32_t tight)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const first = "a", *const last = "e";
    gyre_link_desc links[4];
    for (int i = 0; i < 4; i++)
        launch_as(test, middle, names[i], 1);
    launch_as(test, "finish", last, 1);
    links[0] = join("a.out", "b");
    links[1] = join("b.out", "c");
    links[2] = join("c.out", "d");
    links[3] = join("d.out", "e");
    gyre_pipeline_desc desc = describe(&first, &last, links, 4);
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

/* split -> target. */
static gyre_pipeline *open_burst(struct conformance *test, const char *source, const char *target,
                                 bool answers, uint32_t blocks)
{
    static const char *const first = "source", *const last = "target";
    const gyre_link_desc link = join("source.words", "target");
    launch_as(test, source, first, blocks);
    launch_as(test, target, last, 1);
    gyre_pipeline_desc desc = describe(&first, answers ? &last : NULL, &link, 1);
    return open_pipeline(test, &desc);
}

static uint64_t sent_by(const gyre_pipeline *pipeline, size_t link)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, link, &info));
    return info.sent;
}

/* ---- chains ---- */

/* Streams jobs through a chain, and checks every reply. `hops`: kernels that each job passes. */
static void stream_jobs(gyre_queue *queue, uint64_t count, uint32_t hops)
{
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        job reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const job request = {.number = sent};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.index == received);
        require(reply.number == received && reply.hops == hops && reply.sum == received * (hops - 1));
    }
}

static void a_job_goes_through_five_kernels(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, "pass", 0);
    stream_jobs(gyre_pipeline_queue(pipeline), 20000, 5);
    require(sent_by(pipeline, 0) == 20000 && sent_by(pipeline, 3) == 20000);
    require(gyre_pipeline_find(test->runtime, "tested") == pipeline);
    must(gyre_pipeline_close(pipeline, soon()));
    require(gyre_pipeline_find(test->runtime, "tested") == NULL);
}

static void the_tightest_chain_keeps_order(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, "pass_in_order", 1);
    stream_jobs(gyre_pipeline_queue(pipeline), 20000, 5);
}

/* Each place of the queue is used so often that eight bits of the number of uses come round again. */
static void a_small_queue_is_used_up_hundreds_of_times(struct conformance *test)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 8};
    gyre_queue *queue = NULL;
    must(gyre_pipeline_queue_open(open_chain(test, "pass", 0), NULL, &desc, &queue));
    stream_jobs(queue, 2400, 5);
}

static gyre_completion call_job(gyre_queue *queue, uint64_t number, uint32_t what, job *reply)
{
    const job request = {.number = number, .what = what};
    gyre_completion completion = {0};
    must(gyre_call(queue, &request, sizeof request, reply, sizeof *reply, &completion, soon()));
    return completion;
}

static void a_flow_ends_as_its_handlers_say(struct conformance *test)
{
    job reply;
    gyre_queue *queue = gyre_pipeline_queue(open_chain(test, "pass", 0));
    for (uint64_t i = 0; i < 50; i++) {
        gyre_completion completion = call_job(queue, i, JOB_FAIL, &reply);
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 5);
        require(!strcmp(completion.failure_text, "as told"));
        completion = call_job(queue, i, JOB_DROP, &reply);
        require(completion.outcome == GYRE_NOT_REPLIED);
        completion = call_job(queue, i, JOB_PASS, &reply);
        require(completion.outcome == GYRE_REPLIED && reply.number == i && reply.hops == 5);
    }
}

static void headers_travel_with_their_flow(struct conformance *test)
{
    static const char *const settings[] = {"queue.tested.header=32", NULL};
    static const char *const first = "first", *const last = "last";
    const gyre_link_desc link = join("first.out", "last");
    gyre_runtime *runtime = open_with(test, settings);
    struct conformance own = {.runtime = runtime, .backend = test->backend};
    gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    launch_as(&own, "pass", first, 1);
    launch_as(&own, "finish_headed", last, 1);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(&own, &desc));
    uint64_t flow = UINT64_MAX;
    for (uint64_t i = 0; i < 3000; i++) { /* more than the queue has slots */
        const gyre_header header = {.id = 1000 + i, .correlation = i * 2};
        const job request = {.number = i};
        job reply;
        must(gyre_call_with(queue, &request, sizeof request, &header, &reply, sizeof reply, NULL, NULL,
                            soon()));
        require(reply.sum == 1000 + i && reply.what == i * 2 && reply.hops == 1 && reply.number != flow);
        flow = reply.number;
    }
    gyre_close(runtime);
}

static void a_reply_in_the_middle_waits_for_the_rest(struct conformance *test)
{
    static const char *const first = "first";
    static const char *const answers[] = {"first", "last"};
    const gyre_link_desc link = join("first.out", "last");
    launch_as(test, "reply_and_pass", first, 1);
    gyre_kernel *last = launch_as(test, "pass", "last", 1);
    gyre_pipeline_desc desc =
        describe(&first, answers, (const gyre_link_desc[]){link, join("last.out", "nowhere")}, 2);
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    job reply;
    for (uint64_t i = 0; i < 100; i++) {
        const gyre_completion completion = call_job(queue, i, JOB_PASS, &reply);
        require(completion.outcome == GYRE_REPLIED && reply.hops == 1000 && reply.number == i);
    }
    const gyre_completion failed =
        call_job(queue, 7, JOB_FAIL, &reply); /* the failure of the last one beats the reply */
    require(failed.outcome == GYRE_HANDLER_FAILED && failed.failure_code == 5);
    must(gyre_kernel_deactivate(last, soon()));
    const job request = {.number = 3};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(50)) == GYRE_TIMEOUT);
    must(gyre_kernel_activate(last, soon()));
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.hops == 1000 && reply.number == 3);
}

static void queues_are_refused_what_a_pipeline_cannot_keep(struct conformance *test)
{
    static const char *const settings[][2] = {{"queue.tested.durability=journal", NULL},
                                              {"queue.tested.wire=memorypack", NULL},
                                              {"queue.tested.layout=bridged", NULL}};
    static const char *const a = "a", *const e = "e";
    const gyre_link_desc link = join("a.out", "e");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        gyre_pipeline *pipeline = NULL;
        gyre_runtime *runtime = open_with(test, settings[i]);
        struct conformance own = {.runtime = runtime, .backend = test->backend};
        gyre_pipeline_desc desc = describe(&a, &e, &link, 1);
        launch_as(&own, "pass", "a", 1);
        launch_as(&own, "finish", "e", 1);
        require(gyre_pipeline_open(runtime, &desc, &pipeline) == GYRE_CONFIG);
        require_sentence("queue 'tested' enters a pipeline, and ");
        gyre_close(runtime);
    }
}

/* ---- bursts ---- */

static void words_of_a_burst_end_their_flow_together(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_burst(test, "split", "count", true, 1));
    uint64_t seen_before = 0;
    for (uint32_t i = 0; i < 300; i++) {
        const burst request = {.count = 1 + i % BURST_MOST, .answered = i % (1 + i % BURST_MOST)};
        seen reply = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        /* by the time of the completion every word was handled, also those behind the answered one */
        require(reply.count == seen_before + request.answered + 1);
        seen_before += request.count;
    }
}

/* A kernel that only takes messages may fail one of many, and the flows before and behind it end as ever. */
static void one_word_of_many_fails_its_flow(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_burst(test, "split", "reject", false, 1));
    for (uint32_t i = 0; i < 60; i++) {
        const bool fails = i % 3 == 0;
        const burst request = {.count = BURST_MOST, .first = fails ? WORD_FAILS - i : 0};
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, NULL, 0, &completion, soon()));
        require(completion.outcome == (fails ? GYRE_HANDLER_FAILED : GYRE_NOT_REPLIED));
        require(!fails ||
                (completion.failure_code == 7 && !strcmp(completion.failure_text, "the word that fails")));
    }
}

static void lanes_of_a_block_emit(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_burst(test, "split_by_lanes", "answer_each", true, 1));
    for (uint32_t i = 0; i < 50; i++) {
        const burst request = {.count = 1, .first = i * 3};
        word reply = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i * 3 && reply.answered == 1);
    }
}

/* More messages wait for the answering kernel than its block has lanes, and each gets its answer. */
static void few_lanes_answer_many_messages(struct conformance *test)
{
    enum { FEW = 2, MESSAGES = 120, AHEAD = 30 };
    static const char *const first = "source", *const last = "target";
    const gyre_link_desc link = join("source.words", "target");
    gyre_kernel *target = NULL;
    launch_as(test, "split", first, 1);
    gyre_launch_desc launch = launch_desc(test, "links.gyre.c", "answer_by_lanes");
    launch.name = last;
    launch.lanes = FEW;
    must(gyre_launch(test->runtime, &launch, &target));
    const gyre_pipeline_desc wanted = describe(&first, &last, &link, 1);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &wanted));
    for (uint32_t sent = 0, received = 0; received < MESSAGES; received++) {
        word reply = {0};
        gyre_completion completion;
        for (; sent < MESSAGES && sent < received + AHEAD; sent++) {
            const burst request = {.count = 1, .first = sent};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == received);
    }
}

static void a_handler_that_fails_has_emitted_nothing(struct conformance *test)
{
    gyre_pipeline *pipeline = open_burst(test, "split", "count", true, 1);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint32_t i = 0; i < 40; i++) {
        const burst request = {.count = 3, .fails = 1};
        seen reply;
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_HANDLER_FAILED);
        require(completion.failure_code == 6 && !strcmp(completion.failure_text, "behind its words"));
    }
    require(sent_by(pipeline, 0) == 0);
}

static void two_replies_fail_a_flow(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_burst(test, "split", "answer_each", true, 1));
    const burst two = {.count = 2}, one = {.count = 1, .first = 9};
    word reply;
    gyre_completion completion;
    must(gyre_call(queue, &two, sizeof two, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED);
    require(strstr(completion.failure_text, "two handlers replied") != NULL);
    must(gyre_call(queue, &one, sizeof one, &reply, sizeof reply, &completion, soon()));
    require(reply.number == 9);
}

static void a_kernel_that_may_not_answer_fails_its_flow(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_burst(test, "split", "answer_each", false, 1));
    const burst one = {.count = 1};
    gyre_completion completion;
    must(gyre_call(queue, &one, sizeof one, NULL, 0, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED);
    require(strstr(completion.failure_text, "no answer of its pipeline") != NULL);
}

static void nobody_emits_more_than_it_said(struct conformance *test)
{
    static const char *const name = "overdo";
    const gyre_link_desc link = join("overdo.words", "nowhere");
    launch_as(test, name, name, 1);
    gyre_pipeline_desc desc = describe(&name, &name, &link, 1);
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    for (uint32_t i = 0; i < 100; i++) {
        const burst request = {.count = i * 2};
        word reply;
        must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.number == (i * 2 < BURST_MOST ? i * 2 : BURST_MOST));
    }
}

/* A queue that is no entry: the kernel's own one. */
static void what_is_emitted_outside_a_pipeline_is_a_failure(struct conformance *test)
{
    const burst some = {.count = 2}, none = {.count = 0};
    gyre_completion completion;
    gyre_queue *queue = gyre_kernel_queue(launch_as(test, "split", "split", 1));
    must(gyre_call(queue, &some, sizeof some, NULL, 0, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED);
    require(completion.failure_code == -17 && strstr(completion.failure_text, "enters no pipeline") != NULL);
    must(gyre_call(queue, &none, sizeof none, NULL, 0, &completion, soon()));
    require(completion.outcome == GYRE_NOT_REPLIED);
}

/* The slow target fills the link, which holds up the source, which fills the queue. */
static void a_full_link_holds_its_sender_up(struct conformance *test)
{
    gyre_pipeline *pipeline = open_burst(test, "split", "count", true, 1);
    gyre_kernel *target = gyre_kernel_find(test->runtime, "target");
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    const burst request = {.count = BURST_MOST, .answered = 3};
    must(gyre_kernel_deactivate(target, soon()));
    gyre_link_info info = {.size = sizeof info};
    const uint64_t deadline_ns = soon();
    for (int quiet = 0;
         quiet < 20 || info.waiting <= info.capacity / 2;) { /* until nothing goes in any more */
        const gyre_status status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5));
        sent += status == GYRE_OK;
        quiet = status == GYRE_OK ? 0 : quiet + 1;
        must(gyre_pipeline_link(pipeline, 0, &info));
        require(gyre_now_ns() < deadline_ns);
    }
    require(info.waiting <= info.capacity);
    must(gyre_kernel_activate(target, soon()));
    for (uint64_t i = 0; i < sent; i++) {
        gyre_completion completion;
        seen reply;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.count == i * BURST_MOST + 4);
    }
    require(sent_by(pipeline, 0) == sent * BURST_MOST);
}

/* ---- several senders and targets ---- */

struct caller {
    gyre_pipeline *pipeline;
    uint64_t calls;
    pthread_t thread;
};

static void *call_often(void *argument)
{
    struct caller *caller = argument;
    gyre_queue *queue = NULL;
    must(gyre_pipeline_queue_open(caller->pipeline, "source", NULL, &queue));
    for (uint64_t i = 0; i < caller->calls; i++) {
        const burst request = {.count = 1, .first = (uint32_t)i};
        word reply;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == (uint32_t)i);
    }
    return NULL;
}

static void queues_of_a_pipeline_get_their_own_replies(struct conformance *test)
{
    struct caller callers[4];
    static const char *const first = "source", *const last = "target";
    const gyre_link_desc link = join("source.words", "target");
    launch_as(test, "split", first, 2);
    launch_as(test, "answer_each", last, 2);
    gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    desc.links_tight = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){.pipeline = pipeline, .calls = 2000};
        require(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(callers[i].thread, NULL);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- messages of every size ---- */

static void large_messages_arrive_whole(struct conformance *test)
{
    static blob request, reply;
    static const char *const first = "pass_blob", *const last = "turn_blob";
    const gyre_link_desc link = join("pass_blob.out", "turn_blob");
    launch_as(test, first, first, 1);
    launch_as(test, last, last, 1);
    gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    for (uint64_t i = 0; i < 60; i++) {
        request.number = i;
        for (uint64_t j = 0; j < 8000; j++)
            request.w[j] = i * 8000 + j;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i);
        for (uint64_t j = 0; j < 8000; j++)
            require(reply.w[j] == ~(i * 8000 + j));
    }
}

static void texts_travel_along_links(struct conformance *test)
{
    static const char *const first = "pass_note", *const last = "read_note";
    const gyre_link_desc link = join("pass_note.out", "read_note");
    launch_as(test, first, first, 1);
    launch_as(test, last, last, 1);
    gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    for (uint32_t length = 0; length < 80; length++) {
        note request, reply;
        char text[81];
        memset(text, 'a' + (int)(length % 26), length);
        text[length] = '\0';
        gyre_begin(&request);
        request.number = length;
        must(gyre_put_text(&request, &request.text, text));
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == length + 2 && reply.text.count == length);
        require(length == 0 || memcmp(gyre_items(char, &reply, reply.text), text, length) == 0);
    }
}

/* ---- random graphs ---- */

/* Links lead to nodes of higher numbers; a node that none leads to gets a link from the one before it. */
static void draw_graph(struct graph *graph, uint64_t *random)
{
    memset(graph, 0, sizeof *graph);
    for (uint32_t i = 0; i < GRAPH_NODES; i++)
        for (uint32_t port = 0; port < 2; port++) {
            const uint64_t behind = GRAPH_NODES - i - 1;
            const bool nowhere = behind == 0 || graph_draw(random, 5) == 0;
            const uint32_t target = nowhere ? 0 : i + 1 + (uint32_t)graph_draw(random, behind);
            const bool is_next = port == 0 && behind > 0;
            graph->targets[i][port][0] = is_next ? i + 1 : target;
            graph->counts[i][port] = is_next || !nowhere;
        }
}

/* `graded`: links of all levels lead to it, for which a GPU compiles it (gyre_launch_desc.stage). */
static void launch_node(struct conformance *test, const char *name, uint32_t blocks, bool graded)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "links.gyre.c", name);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = graded ? 10 : 0;
    must(gyre_launch(test->runtime, &desc, &launched));
}

/* In every second graph links have levels, which change nothing of how flows end; none may lead to another device. */
static gyre_pipeline *open_graph(struct conformance *test, const struct graph *graph, uint64_t seed,
                                 uint64_t *random)
{
    const bool graded = seed % 2 == 0 && !getenv("GYRE_TEST_BACKENDS");
    static char names[GRAPH_NODES][16], ports[GRAPH_NODES][2][32];
    const char *answers[GRAPH_NODES];
    gyre_link_desc links[GRAPH_NODES * 2];
    for (uint32_t i = 0; i < GRAPH_NODES; i++) {
        snprintf(names[i], sizeof names[i], "node%u", i);
        answers[i] = names[i];
        launch_node(test, names[i], 1 + (uint32_t)graph_draw(random, 2), graded);
    }
    for (uint32_t i = 0; i < GRAPH_NODES * 2; i++) {
        const uint32_t node = i / 2, port = i % 2;
        snprintf(ports[node][port], sizeof ports[0][0], "node%u.%s", node, port ? "right" : "left");
        links[i] = join(ports[node][port],
                        graph->counts[node][port] ? names[graph->targets[node][port][0]] : "nowhere");
        links[i].level = graded && graph->counts[node][port] ? (uint32_t)(token_mix(seed, i) % 4) : 0;
    }
    gyre_pipeline_desc desc = describe(&answers[0], answers, links, GRAPH_NODES * 2);
    desc.answer_count = GRAPH_NODES;
    desc.links_tight = (uint32_t)graph_draw(random, 2);
    return open_pipeline(test, &desc);
}

static void run_graph(struct conformance *test, uint64_t seed)
{
    struct graph graph;
    uint64_t random = seed;
    draw_graph(&graph, &random);
    graph_run(test, &graph, open_graph(test, &graph, seed, &random), seed, 2000);
}

static void random_graphs_end_each_flow_as_foreseen(struct conformance *test)
{
    graph_for_seeds(test, 5, run_graph);
}

/* ---- ends ---- */

struct opener {
    struct conformance *test;
    uint32_t opened;
    pthread_t thread;
};

/* Opens a pipeline again and again, whose first kernel another thread releases, which closes it. */
static void *open_often(void *argument)
{
    struct opener *opener = argument;
    static const char *const first = "first", *const last = "last";
    const gyre_link_desc link = join("first.out", "last");
    const gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    /* However long that takes: the other thread compiles and launches meanwhile. */
    while (opener->opened < 50) {
        gyre_pipeline *pipeline = NULL;
        const gyre_status status = gyre_pipeline_open(opener->test->runtime, &desc, &pipeline);
        require(status == GYRE_OK || status == GYRE_NOT_FOUND || status == GYRE_CLOSED ||
                status == GYRE_INVALID);
        opener->opened += status == GYRE_OK;
    }
    return NULL;
}

static void kernels_come_and_go_under_their_pipelines(struct conformance *test)
{
    struct opener opener = {.test = test};
    uint32_t times = 0;
    launch_as(test, "finish", "last", 1);
    require(pthread_create(&opener.thread, NULL, open_often, &opener) == 0);
    while (pthread_tryjoin_np(opener.thread, NULL) != 0) {
        gyre_kernel *kernel = launch_as(test, "pass", "first", 1);
        sleep_ms(times % 3);
        gyre_kernel_release(kernel);
        times++;
    }
    require(times >= opener.opened);
}

static void a_stage_ends_after_its_pipeline(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, "pass", 0);
    gyre_kernel *third = gyre_kernel_find(test->runtime, "c");
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    require(gyre_kernel_terminate(third, GYRE_NO_WAIT, NULL) == GYRE_INVALID);
    require_sentence("kernel 'c' is a stage of pipeline 'tested': close that first");
    require(gyre_kernel_swap(third, "/nowhere.gyre.c", soon()) == GYRE_INVALID);
    require_sentence("kernels of a pipeline are not swapped: close that first");
    gyre_queue_close(queue);
    require_sentence("gyre_pipeline_close closes all its queues");
    stream_jobs(queue, 500, 5);
    must(gyre_pipeline_close(pipeline, soon()));
    must(gyre_kernel_terminate(third, GYRE_NO_WAIT, NULL));
}

/*
 * A block that did not obey in time takes its table later. The handler comes back while the pipeline waits a second time, for the
 * block to let go, so that nothing stays behind.
 */
static void a_pipeline_that_is_not_made_leaves_its_kernels_alone(struct conformance *test)
{
    enum { TRIES = 20 }; /* a busy machine may begin late */
    static const char *const settings[] = {"kernel.default.stop_timeout_ms=400", NULL};
    static const char *const first = "pass", *const last = "finish";
    const gyre_link_desc link = join("pass.out", "finish");
    const gyre_pipeline_desc desc = describe(&first, &last, &link, 1);
    const job stays = {.number = 600, .what = JOB_SPIN}, other = {.number = 7};
    job reply;
    gyre_runtime *runtime = open_with(test, settings);
    gyre_pipeline *pipeline = NULL;
    launch_in(runtime, "links.gyre.c", first);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "links.gyre.c", last));
    for (int tries = 0;; tries++) {
        require(tries < TRIES);
        must(gyre_send(queue, &stays, sizeof stays, NULL, soon()));
        sleep_ms(50);
        if (gyre_pipeline_open(runtime, &desc, &pipeline) == GYRE_TIMEOUT)
            break;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        must(gyre_pipeline_close(pipeline, soon()));
        pipeline = NULL;
    }
    require_sentence("did not come to a message boundary");
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    must(gyre_call(queue, &other, sizeof other, &reply, sizeof reply, NULL, soon()));
    gyre_status opened = GYRE_TIMEOUT;
    for (int tries = 0; opened == GYRE_TIMEOUT && tries < TRIES; tries++)
        opened = gyre_pipeline_open(runtime, &desc, &pipeline);
    must(opened);
    must(gyre_call(gyre_pipeline_queue(pipeline), &other, sizeof other, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 7 && reply.hops == 2);
    gyre_close(runtime);
}

static void a_pipeline_closes_with_work_under_way(struct conformance *test)
{
    for (int turn = 0; turn < 3; turn++) {
        gyre_pipeline *pipeline = open_chain(test, "pass", (uint32_t)turn % 2);
        gyre_queue *queue = gyre_pipeline_queue(pipeline);
        must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "c"), soon()));
        for (uint64_t i = 0; i < 60; i++) {
            const job request = {.number = i};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        if (turn == 2) { /* by way of a kernel that is released */
            gyre_kernel_release(gyre_kernel_find(test->runtime, "b"));
            require(gyre_pipeline_find(test->runtime, "tested") == NULL);
            return;
        }
        must(gyre_pipeline_close(pipeline, gyre_in_ms(20)));
        for (const char *name = "abcde"; *name; name++)
            gyre_kernel_release(gyre_kernel_find(test->runtime, (const char[]){*name, '\0'}));
    }
}

static void refuse(struct conformance *test, const gyre_pipeline_desc *desc, gyre_status status,
                   const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, desc, &pipeline) == status && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_graphs_are_told(struct conformance *test)
{
    static const char *const a = "a", *const e = "e", *const nobody = "nobody", *const split = "split";
    launch_as(test, "pass", "a", 1);
    launch_as(test, "pass", "b", 1);
    launch_as(test, "finish", "e", 1);
    launch_as(test, "split", "split", 1);
    launch_as(test, "split", "other", 1);
    const struct {
        const char *const *entry, *const *answer;
        gyre_link_desc links[3];
        size_t count;
        gyre_status status;
        const char *sentence;
    } wrong[] = {
        {&nobody, &e, {join("a.out", "e")}, 1, GYRE_NOT_FOUND, "there is no kernel 'nobody'"},
        {&a, &e, {join("a.oud", "e")}, 1, GYRE_INVALID, "kernel 'a' has no port 'oud'; it has 'out'"},
        {&a, &e, {join("e.out", "a")}, 1, GYRE_INVALID, "kernel 'e' has no ports"},
        {&a, &e, {join("a", "e")}, 1, GYRE_INVALID, "expected KERNEL.PORT"},
        {&a, &e, {join("a.out", "f")}, 1, GYRE_NOT_FOUND, "there is no kernel 'f'"},
        {&a, &e, {join("a.out", NULL)}, 1, GYRE_INVALID, "to: expected a kernel, host, or nowhere"},
        {&a, &e, {join("a.out", "e"), join("a.out", "b")}, 2, GYRE_INVALID, "has a link already"},
        {&split, NULL, {join("split.words", "e")}, 1, GYRE_INCOMPATIBLE, "port 'split.words'"},
        {&a, &e, {join("a.out", "nowhere")}, 1, GYRE_INVALID, "the answer 'e' is no kernel of the pipeline"},
        {&a, NULL, {join("a.out", "b")}, 1, GYRE_INVALID, "port 'b.out' leads nowhere: link it"},
        {&a, &split, {join("a.out", "e"), join("split.words", "nowhere")}, 2, GYRE_INVALID, "has no reply"},
        {&a, &e, {join("a.out", "e"), join("b.out", "e")}, 2, GYRE_INVALID, "no entry leads to kernel 'b'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gyre_pipeline_desc desc = describe(wrong[i].entry, wrong[i].answer, wrong[i].links, wrong[i].count);
        refuse(test, &desc, wrong[i].status, wrong[i].sentence);
    }
    const gyre_link_desc circle[] = {join("a.out", "b"), join("b.out", "a")};
    gyre_pipeline_desc desc = describe(&a, NULL, circle, 2);
    gyre_pipeline *round = NULL; /* without a quota; some backends have no cycles at all */
    const gyre_status status = gyre_pipeline_open(test->runtime, &desc, &round);
    require((status == GYRE_INVALID || status == GYRE_UNIMPLEMENTED) && round == NULL);
    require_sentence("links lead from kernel 'a' back to it (a cycle), and ");
    gyre_link_desc link = join("split.words", "nowhere");
    link.capacity = 32;
    desc = describe(&split, NULL, &link, 1);
    refuse(test, &desc, GYRE_INVALID, "expected a power of two of 128 at least");
    link.capacity = 0;
    gyre_pipeline *first = open_pipeline(test, &desc);
    refuse(test, &desc, GYRE_INVALID, "is open already");
    static const char *const both[] = {"other", "split"};
    const gyre_link_desc two[] = {join("other.words", "nowhere"), join("split.words", "nowhere")};
    desc = describe(both, NULL, two, 2);
    desc.entry_count = 2;
    desc.name = "another";
    gyre_pipeline *second = NULL;
    require(gyre_pipeline_open(test->runtime, &desc, &second) == GYRE_INVALID);
    require_sentence("is a stage of pipeline 'tested' already");
    must(gyre_pipeline_close(first, soon()));
    must(gyre_pipeline_open(test->runtime, &desc, &second)); /* the failed attempt left nothing behind */
}

/* A backend without topics says so, before anything is joined. */
static void topics_are_there_or_refused(struct conformance *test)
{
    static const char *const a = "a";
    gyre_link_desc link = join("a.out", "e");
    gyre_pipeline *pipeline = NULL;
    link.topic = "told";
    launch_as(test, "pass", "a", 1);
    launch_as(test, "finish", "e", 1);
    const gyre_pipeline_desc desc = describe(&a, NULL, &link, 1);
    const gyre_status status = gyre_pipeline_open(test->runtime, &desc, &pipeline);
    if (status == GYRE_OK)
        return;
    require(status == GYRE_UNIMPLEMENTED && pipeline == NULL);
    require_sentence("kernel 'a' sends to a topic, and backend '");
    link.topic = NULL;
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
}

static void links_by_key_are_there_or_refused(struct conformance *test)
{
    static const char *const a = "a";
    gyre_link_desc link = join("a.out", "e");
    gyre_pipeline *pipeline = NULL;
    link.share = GYRE_SHARE_KEY;
    link.key = "number";
    launch_as(test, "pass", "a", 1);
    launch_as(test, "finish", "e", 2);
    const gyre_pipeline_desc desc = describe(&a, NULL, &link, 1);
    const gyre_status status = gyre_pipeline_open(test->runtime, &desc, &pipeline);
    if (status == GYRE_OK)
        return;
    require(status == GYRE_UNIMPLEMENTED && pipeline == NULL);
    require_sentence("kernel 'e' has 2 blocks, which share the messages of a link by key, and backend '");
    launch_as(test, "finish", "f", 1);
    link.to = "f";
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
}

const struct conformance_case link_cases[] = {
    {"links_by_key_are_there_or_refused", links_by_key_are_there_or_refused},
    {"a_job_goes_through_five_kernels", a_job_goes_through_five_kernels},
    {"the_tightest_chain_keeps_order", the_tightest_chain_keeps_order},
    {"a_small_queue_is_used_up_hundreds_of_times", a_small_queue_is_used_up_hundreds_of_times},
    {"a_flow_ends_as_its_handlers_say", a_flow_ends_as_its_handlers_say},
    {"headers_travel_with_their_flow", headers_travel_with_their_flow},
    {"a_reply_in_the_middle_waits_for_the_rest", a_reply_in_the_middle_waits_for_the_rest},
    {"queues_are_refused_what_a_pipeline_cannot_keep", queues_are_refused_what_a_pipeline_cannot_keep},
    {"words_of_a_burst_end_their_flow_together", words_of_a_burst_end_their_flow_together},
    {"one_word_of_many_fails_its_flow", one_word_of_many_fails_its_flow},
    {"lanes_of_a_block_emit", lanes_of_a_block_emit},
    {"few_lanes_answer_many_messages", few_lanes_answer_many_messages},
    {"a_handler_that_fails_has_emitted_nothing", a_handler_that_fails_has_emitted_nothing},
    {"two_replies_fail_a_flow", two_replies_fail_a_flow},
    {"a_kernel_that_may_not_answer_fails_its_flow", a_kernel_that_may_not_answer_fails_its_flow},
    {"nobody_emits_more_than_it_said", nobody_emits_more_than_it_said},
    {"what_is_emitted_outside_a_pipeline_is_a_failure", what_is_emitted_outside_a_pipeline_is_a_failure},
    {"a_full_link_holds_its_sender_up", a_full_link_holds_its_sender_up},
    {"queues_of_a_pipeline_get_their_own_replies", queues_of_a_pipeline_get_their_own_replies},
    {"large_messages_arrive_whole", large_messages_arrive_whole},
    {"texts_travel_along_links", texts_travel_along_links},
    {"random_graphs_end_each_flow_as_foreseen", random_graphs_end_each_flow_as_foreseen},
    {"a_stage_ends_after_its_pipeline", a_stage_ends_after_its_pipeline},
    {"a_pipeline_that_is_not_made_leaves_its_kernels_alone",
     a_pipeline_that_is_not_made_leaves_its_kernels_alone},
    {"a_pipeline_closes_with_work_under_way", a_pipeline_closes_with_work_under_way},
    {"kernels_come_and_go_under_their_pipelines", kernels_come_and_go_under_their_pipelines},
    {"wrong_graphs_are_told", wrong_graphs_are_told},
    {"topics_are_there_or_refused", topics_are_there_or_refused},
    {NULL, NULL},
};
