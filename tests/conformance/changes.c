/* SPDX-License-Identifier: Apache-2.0 */
/* Links that change while their pipeline is open, also under load: each flow ends once, and nothing is lost or handled twice. */
#include "conformance.h"
#include "kernels/topics.h"

#include <gyre/pipeline.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RETARGETS = 1000, CHANGES = 60 };

/* ---- making pipelines ---- */

static void launch_from(struct conformance *test, const char *file, const char *kernel, const char *name,
                        uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = 1;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static void launch_stage(struct conformance *test, const char *kernel, const char *name, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "links.gyre.c", kernel);
    desc.name = name;
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static gyre_pipeline *open_with_links(struct conformance *test, const char *entry, const char *answer,
                                      const gyre_link_desc *links, size_t count)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = &answer,
                                     .answer_count = answer ? 1 : 0,
                                     .links = links,
                                     .link_count = count,
                                     .links_tight = 1};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

static gyre_link_desc join(const char *from, const char *to, const char *topic, gyre_slow slow)
{
    return (gyre_link_desc){
        .size = sizeof(gyre_link_desc), .from = from, .to = to, .topic = topic, .slow = slow};
}

/* first -> one, which answers. `two` and `three`, of one block and of two, are launched, and no stages yet. */
static gyre_pipeline *open_chain(struct conformance *test)
{
    gyre_link_desc link = join("first.out", "one", NULL, GYRE_SLOW_WAIT);
    link.name = "handed";
    launch_from(test, "links.gyre.c", "pass", "first", 2);
    launch_from(test, "links.gyre.c", "finish", "one", 1);
    launch_from(test, "links.gyre.c", "finish", "two", 1);
    launch_from(test, "links.gyre.c", "finish", "three", 2);
    return open_with_links(test, "first", "one", &link, 1);
}

static gyre_link_info look(const gyre_pipeline *pipeline, size_t link)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, link, &info));
    return info;
}

/* ---- load ---- */

struct load {
    gyre_queue *queue;
    uint64_t flows;
    gyre_completion_outcome outcome;
    bool over; /* atomic */
};

/* Streams jobs until it is over; each is completed once, in its order, as foreseen. */
static void *stream_jobs(void *argument)
{
    struct load *load = argument;
    uint64_t sent = 0;
    while (sent != load->flows || !__atomic_load_n(&load->over, __ATOMIC_RELAXED)) {
        job request = {.number = sent, .hops = 0}, reply = {0};
        gyre_completion completion;
        if (load->outcome == GYRE_NOT_REPLIED)
            request = (job){.number = sent + 1, .hops = 1};
        if (!__atomic_load_n(&load->over, __ATOMIC_RELAXED) && sent - load->flows < 64 &&
            gyre_send(load->queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK) {
            sent++;
            continue;
        }
        must(gyre_receive(load->queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == load->outcome && completion.index == load->flows);
        require(completion.outcome == GYRE_NOT_REPLIED ||
                (reply.number == load->flows && reply.hops == 2 && reply.sum == load->flows));
        __atomic_store_n(&load->flows, load->flows + 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void begin_load(struct load *load, gyre_pipeline *pipeline, gyre_completion_outcome outcome,
                       pthread_t *thread)
{
    *load = (struct load){.queue = gyre_pipeline_queue(pipeline), .outcome = outcome};
    require(pthread_create(thread, NULL, stream_jobs, load) == 0);
}

static void end_load(struct load *load, pthread_t thread)
{
    __atomic_store_n(&load->over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static uint64_t handled(struct conformance *test, const char *kernel)
{
    return info_of(gyre_kernel_find(test->runtime, kernel)).handled;
}

/* All targets together have handled so many: a GPU tells what it has handled a little later. */
static void await_handled(struct conformance *test, uint64_t count)
{
    while (handled(test, "one") + handled(test, "two") + handled(test, "three") < count)
        sleep_ms(1);
    require(handled(test, "one") + handled(test, "two") + handled(test, "three") == count);
}

/* ---- one target ---- */

static void links_are_retargeted_under_load(struct conformance *test)
{
    static const char *const targets[] = {"two", "three", "one"};
    gyre_pipeline *pipeline = open_chain(test);
    struct load load;
    pthread_t thread;
    begin_load(&load, pipeline, GYRE_REPLIED, &thread);
    for (uint64_t i = 0; i < RETARGETS; i++) {
        must(gyre_link_retarget(pipeline, "handed", targets[i % 3], soon()));
        const gyre_link_info info = look(pipeline, 0);
        require(!strcmp(info.to, targets[i % 3]) && !strcmp(info.name, "handed") && info.capacity == 16);
    }
    end_load(&load, thread);
    await_handled(test, load.flows);
    gyre_link_info past = {.size = sizeof past};
    require(gyre_pipeline_link(pipeline, 1, &past) == GYRE_NOT_FOUND); /* what was retired is not told */
    must(gyre_pipeline_close(pipeline, soon()));
}

/* What it got before is its own: the call waits for it, and flows go on by the new one. */
static void a_paused_target_keeps_what_it_has(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    gyre_kernel *one = gyre_kernel_find(test->runtime, "one");
    uint64_t completed = 0;
    must(gyre_kernel_deactivate(one, soon()));
    for (uint64_t i = 0; i < 100; i++) { /* more than the ring holds: the sender waits */
        const job request = {.number = i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    while (look(pipeline, 0).waiting < 16)
        sleep_ms(1);
    require(gyre_link_retarget(pipeline, "handed", "two", gyre_in_ms(20)) == GYRE_TIMEOUT);
    require_sentence("the change is made, and a kernel still has messages that it got before");
    while (handled(test, "two") == 0)
        sleep_ms(1);
    must(gyre_kernel_activate(one, soon()));
    must(gyre_link_retarget(pipeline, "handed", "nowhere", soon())); /* waits for both */
    for (; completed < 100; completed++) {
        job reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED || completion.outcome == GYRE_NOT_REPLIED);
    }
    while (handled(test, "one") < 16)
        sleep_ms(1);
}

/* ---- topics ---- */

static heard ask(struct conformance *test, const char *name)
{
    const job request = {.what = JOB_TELL};
    heard reply = {0};
    must(gyre_call(gyre_kernel_queue(gyre_kernel_find(test->runtime, name)), &request, sizeof request, &reply,
                   sizeof reply, NULL, soon()));
    return reply;
}

/* source -> the topic "prices" with `one`. */
static gyre_pipeline *open_topic(struct conformance *test)
{
    const gyre_link_desc links[] = {join("source.ticks", "one", "prices", GYRE_SLOW_WAIT),
                                    join("source.first", "nowhere", NULL, GYRE_SLOW_WAIT)};
    launch_from(test, "topics.gyre.c", "publish", "source", 2);
    launch_from(test, "topics.gyre.c", "listen", "one", 1);
    launch_from(test, "topics.gyre.c", "listen", "two", 1);
    launch_from(test, "topics.gyre.c", "listen", "three", 1);
    return open_with_links(test, "source", NULL, links, 2);
}

static gyre_status open_link(gyre_pipeline *pipeline, const char *topic, const char *kernel, gyre_slow slow)
{
    const gyre_link_desc desc = {.size = sizeof desc, .topic = topic, .to = kernel, .slow = slow};
    return gyre_link_open(pipeline, &desc);
}

static void members_of_topics_come_and_go_under_load(struct conformance *test)
{
    static const gyre_slow ways[] = {GYRE_SLOW_WAIT, GYRE_SLOW_DROP, GYRE_SLOW_CUT, GYRE_SLOW_TAP};
    gyre_pipeline *pipeline = open_topic(test);
    struct load load;
    pthread_t thread;
    begin_load(&load, pipeline, GYRE_NOT_REPLIED, &thread);
    for (int i = 0; i < CHANGES; i++) {
        const char *const kernel = i % 2 ? "three" : "two";
        const uint64_t before = __atomic_load_n(&load.flows, __ATOMIC_RELAXED);
        must(open_link(pipeline, "prices", kernel, ways[i % 4]));
        require(look(pipeline, 2).slow == (uint32_t)ways[i % 4] && !strcmp(look(pipeline, 2).to, kernel));
        while (__atomic_load_n(&load.flows, __ATOMIC_RELAXED) == before)
            sleep_ms(1);
        must(gyre_link_close(pipeline, "prices", kernel, soon()));
    }
    end_load(&load, thread);
    require(ask(test, "one").count == load.flows && ask(test, "two").count > 0 &&
            ask(test, "three").count > 0);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Also the one whose rings the handler emits into, which was there from the beginning. */
static void the_last_member_of_a_topic_may_leave(struct conformance *test)
{
    gyre_pipeline *pipeline = open_topic(test);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint64_t i = 0; i < 90; i++) {
        const job request = {.number = i + 1, .hops = 1};
        job reply;
        gyre_completion completion;
        if (i == 30)
            must(gyre_link_close(pipeline, "prices", "one", soon()));
        if (i == 60)
            must(open_link(pipeline, "prices", "two", GYRE_SLOW_WAIT));
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
    require(ask(test, "one").count == 30 && ask(test, "two").count == 30);
}

/* Links from two ports to one subscriber share its gate, and each goes when it is worked off. */
static void a_subscriber_of_two_ports_comes_and_goes(struct conformance *test)
{
    const gyre_link_desc links[] = {join("source.ticks", "one", "prices", GYRE_SLOW_WAIT),
                                    join("source.first", "one", "prices", GYRE_SLOW_WAIT)};
    const job request = {.number = 1, .hops = 2};
    job reply;
    gyre_completion completion;
    launch_from(test, "topics.gyre.c", "publish", "source", 2);
    launch_from(test, "topics.gyre.c", "listen", "one", 1);
    launch_from(test, "topics.gyre.c", "listen", "two", 1);
    gyre_pipeline *pipeline = open_with_links(test, "source", NULL, links, 2);
    for (uint64_t i = 0; i < 20; i++) {
        must(open_link(pipeline, "prices", "two", GYRE_SLOW_CUT));
        must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply,
                       &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
        require(look(pipeline, 2).sent + look(pipeline, 3).sent == 3 && !look(pipeline, 3).is_cut);
        must(gyre_link_close(pipeline, "prices", "two", soon()));
    }
    require(ask(test, "two").count == 60);
}

/* ---- mistakes ---- */

static void wrong_changes_are_told(struct conformance *test)
{
    const struct {
        const char *link, *to;
        gyre_status status;
        const char *sentence;
    } wrong[] = {
        {"hand", "two", GYRE_NOT_FOUND, "there is no link 'hand'; there is: handed; did you mean 'handed'?"},
        {"handed", "tow", GYRE_NOT_FOUND, "there is no kernel 'tow'"},
        {"handed", "first", GYRE_INVALID, "no new link may form a cycle"},
        {"handed", "memos", GYRE_INCOMPATIBLE, "kernel 'memos'"},
        {"handed", "other", GYRE_INVALID,
         "kernel 'other' has ports, which no link of the pipeline begins at"},
        {"handed", "listening", GYRE_INCOMPATIBLE, "listening"},
        {"handed", "host", GYRE_INVALID, "cannot become an outlet"},
    };
    gyre_pipeline *pipeline = open_chain(test);
    job reply;
    const job request = {.number = 5};
    launch_from(test, "topics.gyre.c", "answer_memo", "memos", 1);
    launch_from(test, "topics.gyre.c", "listen", "listening",
                1); /* replies of another type than those of `one` */
    launch_from(test, "links.gyre.c", "pass", "other", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        require(gyre_link_retarget(pipeline, wrong[i].link, wrong[i].to, soon()) == wrong[i].status);
        require_sentence(wrong[i].sentence);
    }
    require(open_link(pipeline, "prices", "two", GYRE_SLOW_WAIT) == GYRE_NOT_FOUND);
    require_sentence("pipeline 'tested' has no topic 'prices'");
    require(gyre_link_close(pipeline, "handed", "one", soon()) == GYRE_NOT_FOUND);
    require_sentence("kernel 'one' does not subscribe to topic 'handed'");
    require(open_link(pipeline, NULL, "two", GYRE_SLOW_WAIT) == GYRE_INVALID);
    require(open_link(pipeline, "prices", "two", (gyre_slow)4) == GYRE_INVALID);
    /* nothing has changed, and what was refused is free */
    must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply, NULL,
                   soon()));
    require(reply.number == 5 && !strcmp(look(pipeline, 0).to, "one"));
    gyre_kernel_release(gyre_kernel_find(test->runtime, "other"));
    gyre_kernel_release(gyre_kernel_find(test->runtime, "listening"));
    must(gyre_link_retarget(pipeline, "handed", "two", soon()));
    must(gyre_pipeline_drain(pipeline, soon(), NULL));
    require(gyre_link_retarget(pipeline, "handed", "one", soon()) == GYRE_CLOSED);
}

/* In a pipeline that counts its flows, a kernel that cannot count them takes no place. */
static void a_new_target_counts_flows_or_is_refused(struct conformance *test)
{
    static const char *const entry = "first", *const answer = "one";
    const job request = {.number = 5};
    gyre_link_desc link = join("first.out", "one", NULL, GYRE_SLOW_WAIT);
    gyre_pipeline *pipeline = NULL;
    job reply;
    link.name = "handed";
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = &answer,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .window = 4};
    launch_stage(test, "pass", "first", 2);
    launch_stage(test, "finish", "one", 2);
    launch_stage(test, "finish", "two", 1);
    launch_stage(test, "finish", "three", 2);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    if (gyre_link_retarget(pipeline, "handed", "two", soon()) != GYRE_OK) {
        require(!strcmp(test->backend, "cuda"));
        require_sentence("kernel 'two' was compiled without what counts its flows");
    }
    must(gyre_link_retarget(pipeline, "handed", "three", soon()));
    for (int i = 0; i < 10; i++) /* more than the window: each was counted when it ended */
        must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
    await_handled(test, 10);
    require(reply.number == 5 && handled(test, "three") == 10);
}

const struct conformance_case change_cases[] = {
    {"links_are_retargeted_under_load", links_are_retargeted_under_load},
    {"a_paused_target_keeps_what_it_has", a_paused_target_keeps_what_it_has},
    {"members_of_topics_come_and_go_under_load", members_of_topics_come_and_go_under_load},
    {"the_last_member_of_a_topic_may_leave", the_last_member_of_a_topic_may_leave},
    {"a_subscriber_of_two_ports_comes_and_goes", a_subscriber_of_two_ports_comes_and_goes},
    {"wrong_changes_are_told", wrong_changes_are_told},
    {"a_new_target_counts_flows_or_is_refused", a_new_target_counts_flows_or_is_refused},
    {NULL, NULL},
};
