/* SPDX-License-Identifier: Apache-2.0 */
/* Topics: a port with several subscribers. Each gets every message, unless it is one that may miss some: then these are counted. */
#include "graphs.h"
#include "../patience.h"
#include "kernels/topics.h"

#include <gyre/pipeline.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 16, NODES = 10, SUBSCRIBERS_MAX = 3 };

/* ---- making pipelines ---- */

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "topics.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = 1;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc subscribe(const char *from, const char *to, gyre_slow slow)
{
    return (gyre_link_desc){
        .size = sizeof(gyre_link_desc), .from = from, .to = to, .topic = "prices", .slow = slow};
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

static const char *const source[] = {"source", "other"}, *const answering = "answer";

static gyre_pipeline_desc describe(const gyre_link_desc *links, size_t count)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = source,
                                .entry_count = 1,
                                .links = links,
                                .link_count = count};
}

static gyre_pipeline *open_pipeline(struct conformance *test, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline = NULL;
    must(gyre_pipeline_open(test->runtime, desc, &pipeline));
    return pipeline;
}

/* source -> one (in the way given), two (is waited for); its second port leads nowhere. Every link has its least capacity. */
static gyre_pipeline *open_pair(struct conformance *test, gyre_slow slow)
{
    const gyre_link_desc links[] = {subscribe("source.ticks", "one", slow),
                                    subscribe("source.ticks", "two", GYRE_SLOW_WAIT),
                                    join("source.first", "nowhere")};
    launch_as(test, "publish", "source", 1);
    launch_as(test, "listen", "one", 1);
    launch_as(test, "listen", "two", 1);
    gyre_pipeline_desc desc = describe(links, 3);
    desc.links_tight = 1;
    return open_pipeline(test, &desc);
}

static gyre_link_info look(const gyre_pipeline *pipeline, size_t link)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, link, &info));
    return info;
}

/* ---- talking ---- */

static heard ask(struct conformance *test, const char *name)
{
    const job request = {.what = JOB_TELL};
    heard reply = {0};
    must(gyre_call(gyre_kernel_queue(gyre_kernel_find(test->runtime, name)), &request, sizeof request, &reply,
                   sizeof reply, NULL, soon()));
    return reply;
}

/* Until it has heard so many. What a tap emits comes when its handler has run, and by then its own link may long be empty. */
static heard ask_until(struct conformance *test, const char *name, uint64_t count)
{
    const uint64_t deadline_ns = soon();
    heard told = ask(test, name);
    for (; told.count < count; told = ask(test, name))
        require(gyre_now_ns() < deadline_ns);
    return told;
}

static void pause_kernel(struct conformance *test, const char *name)
{
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, name), soon()));
}

static void let_run(struct conformance *test, const char *name)
{
    must(gyre_kernel_activate(gyre_kernel_find(test->runtime, name), soon()));
}

static void wait_until_empty(const gyre_pipeline *pipeline, size_t link)
{
    const uint64_t deadline_ns = soon();
    while (look(pipeline, link).waiting)
        require(gyre_now_ns() < deadline_ns);
}

static void send_ticks(gyre_queue *queue, uint64_t number, uint32_t ticks)
{
    const job request = {.number = number, .hops = ticks};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static gyre_completion receive_end(gyre_queue *queue)
{
    job reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    return completion;
}

/* Sends flows of one tick each, with numbers from 1 on, and has each of them end without a reply. */
static void stream_ticks(gyre_queue *queue, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        for (; sent < count; sent++) {
            const job request = {.number = sent + 1, .hops = 1};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        const gyre_completion completion = receive_end(queue);
        require(completion.outcome == GYRE_NOT_REPLIED && completion.index == received);
    }
}

static uint64_t sum_to(uint64_t count)
{
    return count * (count + 1) / 2;
}

/* ---- subscribers that are waited for ---- */

static void each_subscriber_gets_every_message(struct conformance *test)
{
    enum { FLOWS = 3000 };
    gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_WAIT);
    stream_ticks(gyre_pipeline_queue(pipeline), FLOWS);
    for (int i = 0; i < 2; i++) {
        const heard told = ask(test, i ? "two" : "one"); /* a flow ends when both are done */
        require(told.count == FLOWS && told.sum == sum_to(FLOWS) && told.disorder == 0);
        require(told.flows == FLOWS);
        const gyre_link_info info = look(pipeline, (size_t)i);
        require(info.sent == FLOWS && info.missed == 0 && info.waiting == 0 && !info.is_cut);
        require(!strcmp(info.topic, "prices") && info.slow == GYRE_SLOW_WAIT);
    }
    gyre_link_info past = {.size = sizeof past};
    require(gyre_pipeline_link(pipeline, 3, &past) == GYRE_NOT_FOUND); /* rings of Gyre's own are not told */
}

/* Two kernels of two blocks publish, five subscribe, one of which answers. */
static void publishers_and_subscribers_may_be_many(struct conformance *test)
{
    enum { FLOWS = 1000, TICKS = 3 };
    static const char *const names[] = {"s0", "s1", "s2", "s3"};
    gyre_link_desc links[LINKS_MAX];
    gyre_queue *queues[2];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        const char *from = i ? "other.ticks" : "source.ticks";
        launch_as(test, "publish", source[i], 2);
        for (int j = 0; j < 4; j++)
            links[count++] = subscribe(from, names[j], GYRE_SLOW_WAIT);
        links[count++] = join(i ? "other.first" : "source.first", "answer");
    }
    for (int j = 0; j < 4; j++)
        launch_as(test, "listen", names[j], 1);
    launch_as(test, "answer", "answer", 2);
    gyre_pipeline_desc desc = describe(links, count);
    desc.entry_count = 2;
    desc.answers = &answering;
    desc.answer_count = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    for (int i = 0; i < 2; i++)
        must(gyre_pipeline_queue_open(pipeline, source[i], NULL, &queues[i]));
    for (uint64_t i = 0; i < FLOWS; i++) {
        const job request = {.number = i, .hops = TICKS};
        job reply;
        gyre_completion completion;
        must(gyre_call(queues[i % 2], &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == i && reply.hops == 2);
    }
    for (int j = 0; j < 4; j++)
        require(ask(test, names[j]).count == FLOWS * TICKS);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Whatever becomes of it at one subscriber, a flow ends once, when all are done. */
static void a_flow_ends_once_for_all_its_subscribers(struct conformance *test)
{
    const gyre_link_desc links[] = {subscribe("source.ticks", "one", GYRE_SLOW_WAIT),
                                    subscribe("source.ticks", "answer", GYRE_SLOW_WAIT),
                                    join("source.first", "nowhere")};
    launch_as(test, "publish", "source", 1);
    launch_as(test, "listen", "one", 1);
    launch_as(test, "answer", "answer", 1);
    gyre_pipeline_desc desc = describe(links, 3);
    desc.answers = &answering;
    desc.answer_count = 1;
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    for (uint64_t i = 0; i < 400; i++) {
        const uint32_t ticks = (uint32_t)(i / 2 % 3);
        const job request = {.number = i, .hops = ticks, .what = i % 2 ? JOB_FAIL : JOB_PASS};
        job reply;
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        if (ticks == 0)
            require(completion.outcome == GYRE_NOT_REPLIED);
        else if (request.what == JOB_FAIL) /* a failure of one beats what the other says */
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 5);
        else if (ticks == 1)
            require(completion.outcome == GYRE_REPLIED && reply.number == i);
        else
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -18);
    }
}

/* Pauses a subscriber until nothing goes in any more. Returns how many flows went through. */
static uint64_t fill_up(struct conformance *test, const gyre_pipeline *pipeline, gyre_queue *queue,
                        size_t link)
{
    uint64_t sent = 0;
    const char *name = link ? "two" : "one";
    pause_kernel(test, name);
    for (int quiet = 0; quiet < 20;) {
        const job request = {.number = sent + 1, .hops = 1};
        const gyre_status status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5));
        sent += status == GYRE_OK;
        quiet = status == GYRE_OK ? 0 : quiet + 1;
    }
    const gyre_link_info info = look(pipeline, link);
    require(info.waiting > 0 && info.waiting <= info.capacity && info.missed == 0);
    let_run(test, name);
    for (uint64_t i = 0; i < sent; i++)
        require(receive_end(queue).outcome == GYRE_NOT_REPLIED);
    return sent;
}

/* Whichever it is: the one whose ring is emitted into, or one that gets copies. */
static void a_slow_subscriber_is_waited_for(struct conformance *test)
{
    gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_WAIT);
    uint64_t sent = 0;
    for (size_t link = 0; link < 2; link++)
        sent += fill_up(test, pipeline, gyre_pipeline_queue(pipeline), link);
    const heard one = ask(test, "one"), two = ask(test, "two");
    require(one.count == sent && two.count == sent && one.sum == two.sum);
}

/* ---- subscribers that are not ---- */

/*
 * Sends flows while `one` is paused, until all are published. What `one` has room for waits for it, and so do the flows of a
 * subscriber that is counted.
 */
static void publish_past(struct conformance *test, const gyre_pipeline *pipeline, uint64_t flows)
{
    const uint64_t deadline_ns = soon();
    pause_kernel(test, "one");
    for (uint64_t i = 0; i < flows; i++)
        send_ticks(gyre_pipeline_queue((gyre_pipeline *)(uintptr_t)pipeline), i + 1, 1);
    while (look(pipeline, 1).sent < flows || look(pipeline, 1).waiting)
        require(gyre_now_ns() < deadline_ns);
    const gyre_link_info info = look(pipeline, 0);
    require(info.sent + info.missed == flows && info.missed > 0 && info.waiting == info.sent);
    require(info.sent <= info.capacity);
}

static void a_subscriber_may_miss_messages(struct conformance *test)
{
    enum { FLOWS = 300 };
    gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_DROP);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    publish_past(test, pipeline, FLOWS);
    const gyre_link_info info = look(pipeline, 0);
    let_run(test, "one");
    for (uint64_t i = 0; i < FLOWS; i++)
        require(receive_end(queue).outcome == GYRE_NOT_REPLIED);
    require(ask(test, "two").count == FLOWS && ask(test, "two").sum == sum_to(FLOWS));
    const heard told = ask(test, "one"); /* the first ones: those that came later found no room */
    require(told.count == info.sent && told.sum == sum_to(info.sent));
    stream_ticks(queue, 0);
    send_ticks(queue, FLOWS + 1, 1); /* it goes on */
    require(receive_end(queue).outcome == GYRE_NOT_REPLIED);
    require(ask(test, "one").count == info.sent + 1 && look(pipeline, 0).missed == info.missed);
    must(gyre_pipeline_close(pipeline, soon()));
    require(has_logged(test, "topic 'prices': subscriber 'one' missed"));
}

static void a_slow_subscriber_may_be_cut_off(struct conformance *test)
{
    enum { FLOWS = 300 };
    gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_CUT);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    send_ticks(queue, 1, 1);
    require(receive_end(queue).outcome == GYRE_NOT_REPLIED && !look(pipeline, 0).is_cut);
    require(ask(test, "one").count == 1);
    pause_kernel(test, "one");
    for (uint64_t i = 0; i < FLOWS; i++)
        send_ticks(queue, i + 2, 1);
    const uint64_t deadline_ns = soon();
    while (look(pipeline, 1).sent < FLOWS + 1)
        require(gyre_now_ns() < deadline_ns);
    const gyre_link_info info = look(pipeline, 0);
    require(info.is_cut && info.sent + info.missed == FLOWS + 1);
    let_run(test, "one");
    for (uint64_t i = 0; i < FLOWS; i++)
        require(receive_end(queue).outcome == GYRE_NOT_REPLIED);
    require(ask(test, "one").count == info.sent);
    send_ticks(queue, FLOWS + 2, 1); /* there is room by now, and it gets nothing */
    require(receive_end(queue).outcome == GYRE_NOT_REPLIED);
    require(ask(test, "one").count == info.sent && look(pipeline, 0).missed == info.missed + 1);
    require(ask(test, "two").count == FLOWS + 2);
    must(gyre_pipeline_close(pipeline, soon()));
    require(has_logged(test, "subscriber 'one' was too slow and was cut off: it missed"));
}

/* Whichever of two publishers finds it slow. */
static void who_is_cut_off_hears_no_publisher(struct conformance *test)
{
    const gyre_link_desc links[] = {subscribe("source.ticks", "one", GYRE_SLOW_CUT),
                                    subscribe("source.ticks", "two", GYRE_SLOW_WAIT),
                                    subscribe("other.ticks", "one", GYRE_SLOW_CUT),
                                    subscribe("other.ticks", "two", GYRE_SLOW_WAIT),
                                    join("source.first", "nowhere"),
                                    join("other.first", "nowhere")};
    gyre_queue *other = NULL;
    launch_as(test, "publish", "source", 1);
    launch_as(test, "publish", "other", 1);
    launch_as(test, "listen", "one", 1);
    launch_as(test, "listen", "two", 1);
    gyre_pipeline_desc desc = describe(links, 6);
    desc.entry_count = 2;
    desc.links_tight = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    must(gyre_pipeline_queue_open(pipeline, "other", NULL, &other));
    pause_kernel(test, "one");
    for (uint64_t i = 0; i < 100; i++)
        send_ticks(gyre_pipeline_queue(pipeline), i + 1, 1);
    const uint64_t deadline_ns = soon();
    while (look(pipeline, 1).sent < 100)
        require(gyre_now_ns() < deadline_ns);
    require(look(pipeline, 0).is_cut && look(pipeline, 2).is_cut);
    send_ticks(other, 1, 1);
    require(receive_end(other).outcome == GYRE_NOT_REPLIED);
    require(look(pipeline, 2).sent == 0 && look(pipeline, 2).missed == 1);
    let_run(test, "one");
    for (uint64_t i = 0; i < 100; i++)
        require(receive_end(gyre_pipeline_queue(pipeline)).outcome == GYRE_NOT_REPLIED);
    require(ask(test, "two").count == 101);
}

/* ---- taps ---- */

/* The tap is paused, and each flow ends; then it hears those that it had room for. */
static void a_tap_holds_nobody_up(struct conformance *test)
{
    enum { FLOWS = 300 };
    gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_TAP);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    pause_kernel(test, "one");
    stream_ticks(queue, FLOWS);
    require(ask(test, "two").count == FLOWS && ask(test, "two").flows == FLOWS);
    const gyre_link_info info = look(pipeline, 0);
    require(info.missed > 0 && info.sent + info.missed == FLOWS && info.waiting == info.sent);
    let_run(test, "one");
    wait_until_empty(pipeline, 0);
    const heard told = ask(test, "one");
    require(told.count == info.sent && told.sum == sum_to(info.sent) && told.disorder == 0);
    require(told.flows == 0 &&
            told.headers == 0); /* their flows are over, and others may have their places */
    must(gyre_pipeline_close(pipeline, soon()));
    require(has_logged(test, "topic 'prices': tap 'one' missed"));
}

/* As many wait as a block of lanes takes together. */
static void a_tap_of_lanes_works_off_what_waits(struct conformance *test)
{
    enum { FLOWS = 300 };
    const gyre_link_desc links[] = {subscribe("source.ticks", "tap", GYRE_SLOW_TAP),
                                    subscribe("source.ticks", "two", GYRE_SLOW_WAIT),
                                    join("tap.out", "behind"), join("source.first", "nowhere")};
    launch_as(test, "publish", "source", 1);
    launch_as(test, "hand_on", "tap", 1);
    launch_as(test, "listen", "two", 1);
    launch_as(test, "listen", "behind", 1);
    const gyre_pipeline_desc desc = describe(links, 4);
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    pause_kernel(test, "tap");
    stream_ticks(gyre_pipeline_queue(pipeline), FLOWS);
    let_run(test, "tap");
    const heard told = ask_until(test, "behind", FLOWS);
    require(told.count == FLOWS && told.sum == sum_to(FLOWS) && told.disorder == 0);
    require(look(pipeline, 0).missed == 0);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Only taps: their flows wait for nobody. What they reply, and how they fail, is no matter; what they emit goes its way. */
static void what_a_tap_does_is_of_no_flow(struct conformance *test)
{
    enum { FLOWS = 200 };
    const gyre_link_desc links[] = {subscribe("source.ticks", "one", GYRE_SLOW_TAP),
                                    subscribe("source.ticks", "answer", GYRE_SLOW_TAP),
                                    join("answer.out", "behind"), join("source.first", "nowhere")};
    launch_as(test, "publish", "source", 1);
    launch_as(test, "listen", "one", 1);
    launch_as(test, "pass_and_answer", "answer", 2);
    launch_as(test, "listen", "behind", 1);
    gyre_pipeline_desc desc = describe(links, 4);
    desc.answers = &answering;
    desc.answer_count = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint64_t i = 0; i < FLOWS; i++) {
        const job request = {.number = i + 1, .hops = 1, .what = JOB_FAIL};
        job reply;
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
    for (size_t link = 0; link < 2; link++)
        wait_until_empty(pipeline, link);
    require(ask(test, "one").count == FLOWS - look(pipeline, 0).missed);
    const heard told = ask_until(test, "behind", FLOWS - look(pipeline, 1).missed);
    require(told.count == FLOWS - look(pipeline, 1).missed && told.flows == 0);
    require(info_of(gyre_kernel_find(test->runtime, "one")).failed == FLOWS - look(pipeline, 0).missed);
}

/* What an actor emits lies in a ring, from which the others get copies. `one` is paused; `three` is a tap. */
static void actors_publish_to_subscribers_of_every_kind(struct conformance *test)
{
    enum { FLOWS = 300 };
    const gyre_link_desc links[] = {
        subscribe("source.ticks", "one", GYRE_SLOW_DROP), subscribe("source.ticks", "two", GYRE_SLOW_WAIT),
        subscribe("source.ticks", "three", GYRE_SLOW_TAP), subscribe("source.ticks", "four", GYRE_SLOW_WAIT),
        join("source.first", "nowhere")};
    launch_as(test, "recite", "source", 1);
    for (int i = 0; i < 4; i++)
        launch_as(test, "listen", links[i].to, 1);
    gyre_pipeline_desc desc = describe(links, 5);
    desc.links_tight = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    publish_past(test, pipeline, FLOWS);
    const gyre_link_info one = look(pipeline, 0);
    let_run(test, "one");
    for (uint64_t i = 0; i < FLOWS; i++)
        require(receive_end(gyre_pipeline_queue(pipeline)).outcome == GYRE_NOT_REPLIED);
    wait_until_empty(pipeline, 2);
    for (int i = 1; i < 4; i++) {
        const heard told = ask(test, links[i].to);
        require(told.disorder == 0 && told.count + look(pipeline, (size_t)i).missed == FLOWS);
        require(i == 2 || (told.count == FLOWS && told.sum == sum_to(FLOWS) && told.flows == FLOWS));
    }
    require(ask(test, "one").count == one.sent && ask(test, "one").sum == sum_to(one.sent));
}

/* Whom nobody waits for: what the actor emits lies in a ring that nobody fetches from. */
static void an_actor_may_have_taps_alone(struct conformance *test)
{
    enum { FLOWS = 200 };
    const gyre_link_desc links[] = {subscribe("source.ticks", "one", GYRE_SLOW_TAP),
                                    join("source.first", "nowhere")};
    launch_as(test, "recite", "source", 1);
    launch_as(test, "listen", "one", 1);
    gyre_pipeline_desc desc = describe(links, 2);
    desc.links_tight = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    stream_ticks(gyre_pipeline_queue(pipeline), FLOWS);
    wait_until_empty(pipeline, 0);
    const heard told = ask(test, "one");
    require(told.count > 0 && told.count + look(pipeline, 0).missed == FLOWS && told.disorder == 0);
}

/* Clients that leave with their queues, while taps hold messages of their flows. */
static void taps_outlive_the_flows_that_they_hear(struct conformance *test)
{
    for (int round = 0; round < 3; round++) {
        gyre_pipeline *pipeline = open_pair(test, GYRE_SLOW_TAP);
        pause_kernel(test, "one");
        stream_ticks(gyre_pipeline_queue(pipeline), 100);
        require(look(pipeline, 0).waiting > 0);
        let_run(test, "one");
        if (round != 1)
            must(gyre_pipeline_close(pipeline, gyre_in_ms(20)));
        for (int i = 0; i < 3; i++)
            gyre_kernel_release(gyre_kernel_find(test->runtime, i == 0 ? "source" : i == 1 ? "one" : "two"));
    }
}

/* ---- messages ---- */

static void subscribers_get_messages_whole(struct conformance *test)
{
    const gyre_link_desc links[] = {subscribe("source.out", "letters", GYRE_SLOW_WAIT),
                                    subscribe("source.out", "answer", GYRE_SLOW_WAIT)};
    uint64_t sum = 0;
    launch_as(test, "publish_memo", "source", 1);
    launch_as(test, "count_letters", "letters", 1);
    launch_as(test, "answer_memo", "answer", 1);
    gyre_pipeline_desc desc = describe(links, 2);
    desc.answers = &answering;
    desc.answer_count = 1;
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    for (uint32_t length = 0; length < 80; length++) {
        memo request, reply;
        char text[81];
        memset(text, 'a' + (int)(length % 26), length);
        text[length] = '\0';
        gyre_begin(&request);
        must(gyre_put_text(&request, &request.text, text));
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.text.count == length);
        require(length == 0 || memcmp(gyre_items(char, &reply, reply.text), text, length) == 0);
        sum += length * (uint64_t)('a' + (int)(length % 26));
    }
    memo request;
    heard reply;
    gyre_begin(&request);
    request.number = JOB_TELL;
    must(gyre_call(gyre_kernel_queue(gyre_kernel_find(test->runtime, "letters")), &request, sizeof request,
                   &reply, sizeof reply, NULL, soon()));
    require(reply.count == 80 && reply.sum == sum);
}

/* ---- who sleeps ---- */

/* source -> publisher -> topic {quick, slow}; clients enter by both of the former. */
static gyre_pipeline *open_visited(struct conformance *test)
{
    static const char *const entries[] = {"source", "publisher"};
    const gyre_link_desc links[] = {join("source.out", "publisher"),
                                    subscribe("publisher.out", "quick", GYRE_SLOW_WAIT),
                                    subscribe("publisher.out", "slow", GYRE_SLOW_WAIT)};
    launch_as(test, "hand_on", "source", 1);
    launch_as(test, "hand_on", "publisher", 1);
    launch_as(test, "listen", "quick", 1);
    launch_as(test, "linger", "slow", 1);
    gyre_pipeline_desc desc = describe(links, 3);
    desc.entries = entries;
    desc.entry_count = 2;
    desc.links_tight = 1;
    return open_pipeline(test, &desc);
}

/* Receives completions of jobs that nobody answers. */
static void receive_ends(gyre_queue *queue, size_t count)
{
    job reply;
    for (size_t i = 0; i < count; i++) {
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
}

static void stream_jobs(gyre_queue *queue, size_t count)
{
    const job jobs[16] = {{0}};
    size_t sent = 0;
    require(count <= 16);
    must(gyre_send_batch(queue, jobs, sizeof jobs[0], count, &sent, soon()));
    require(sent == count);
    receive_ends(queue, count);
}

/*
 * A publisher sleeps, another thread runs it in its place and fills the ring of a slow subscriber, and then its own queue has a
 * request: it must hear that there is room again.
 */
static void a_publisher_that_was_visited_hears_of_room(struct conformance *test)
{
    static const char *const always[] = {"backend.cpu.follow=always", NULL};
    struct conformance own = *test;
    own.runtime = open_with(test, always);
    gyre_pipeline *pipeline = open_visited(&own);
    gyre_queue *queue = gyre_pipeline_queue(pipeline), *second;
    must(gyre_pipeline_queue_open(pipeline, "publisher", NULL, &second));
    for (int i = 0; i < 300; i++) { /* handlers are visited when they were seen to be short */
        stream_jobs(queue, 12);
        if (i % 40 == 0)
            sleep_ms(20);
    }
    for (int round = 0; round < 3; round++) {
        const job slow = {.number = 200, .what = JOB_SPIN}, others[15] = {{0}};
        size_t sent = 0;
        sleep_ms(50); /* all sleep */
        must(gyre_send(queue, &slow, sizeof slow, NULL, soon()));
        sleep_ms(30);
        must(gyre_send_batch(queue, others, sizeof others[0], 15, &sent, soon()));
        sleep_ms(50);
        must(gyre_send(second, &others[0], sizeof others[0], NULL, soon()));
        receive_ends(queue, 16);
        receive_ends(second, 1);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- random graphs ---- */

/* Of the subscribers of each port, all behind it, one may be a tap; the others are waited for. */
struct taps {
    uint32_t of[NODES][2]; /* NODES: none */
};

/* Distinct nodes behind `node`, from the one of `first` on; the last one may be a tap. */
static void draw_port(struct graph *graph, struct taps *taps, uint32_t node, uint32_t port, uint32_t first,
                      uint64_t *random)
{
    uint32_t *count = &graph->counts[node][port];
    taps->of[node][port] = NODES;
    for (uint32_t next = first; next < NODES && *count < SUBSCRIBERS_MAX;
         next += 1 + (uint32_t)graph_draw(random, NODES - node))
        graph->targets[node][port][(*count)++] = next;
    if (*count > 1 && graph_draw(random, 2))
        taps->of[node][port] = graph->targets[node][port][--*count];
}

/* The first port of each node leads to the next one, so that all are reached. */
static void draw_graph(struct graph *graph, struct taps *taps, uint64_t *random)
{
    memset(graph, 0, sizeof *graph);
    for (uint32_t i = 0; i < NODES; i++) {
        draw_port(graph, taps, i, 0, i + 1, random);
        draw_port(graph, taps, i, 1, i + 1 + (uint32_t)graph_draw(random, NODES - i), random);
    }
}

struct wired {
    char names[NODES][16], ports[NODES][2][32];
    gyre_link_desc links[NODES * 2 * (SUBSCRIBERS_MAX + 1)];
    size_t count;
};

static void wire_port(struct wired *wired, const struct graph *graph, const struct taps *taps, uint32_t node,
                      uint32_t port)
{
    char *from = wired->ports[node][port];
    snprintf(from, sizeof wired->ports[0][0], "node%u.%s", node, port ? "right" : "left");
    for (uint32_t i = 0; i < graph->counts[node][port]; i++) {
        wired->links[wired->count] =
            subscribe(from, wired->names[graph->targets[node][port][i]], GYRE_SLOW_WAIT);
        wired->links[wired->count++].topic = from;
    }
    if (taps->of[node][port] < NODES) {
        wired->links[wired->count] = subscribe(from, wired->names[taps->of[node][port]], GYRE_SLOW_TAP);
        wired->links[wired->count++].topic = from;
    }
    if (graph->counts[node][port] == 0 && taps->of[node][port] == NODES)
        wired->links[wired->count++] = join(from, "nowhere");
}

static gyre_pipeline *open_graph(struct conformance *test, const struct graph *graph, const struct taps *taps,
                                 uint64_t *random)
{
    static struct wired wired;
    const char *answers[NODES];
    wired.count = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        gyre_kernel *launched = NULL;
        snprintf(wired.names[i], sizeof wired.names[i], "node%u", i);
        answers[i] = wired.names[i];
        gyre_launch_desc desc = launch_desc(test, "links.gyre.c", wired.names[i]);
        desc.name = wired.names[i];
        desc.blocks = 1 + (uint32_t)graph_draw(random, 2);
        must(gyre_launch(test->runtime, &desc, &launched));
    }
    for (uint32_t i = 0; i < NODES * 2; i++)
        wire_port(&wired, graph, taps, i / 2, i % 2);
    gyre_pipeline_desc desc = describe(wired.links, wired.count);
    desc.entries = answers;
    desc.answers = answers;
    desc.answer_count = NODES;
    desc.links_tight = (uint32_t)graph_draw(random, 2);
    return open_pipeline(test, &desc);
}

static void run_graph(struct conformance *test, uint64_t seed)
{
    struct graph graph;
    struct taps taps;
    uint64_t random = seed;
    draw_graph(&graph, &taps, &random);
    graph_run(test, &graph, open_graph(test, &graph, &taps, &random), seed, 400);
}

static void graphs_with_topics_end_each_flow_as_foreseen(struct conformance *test)
{
    graph_for_seeds(test, 4, run_graph);
}

/* ---- mistakes ---- */

static void refuse(struct conformance *test, const gyre_link_desc *links, size_t count, gyre_status status,
                   const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = describe(links, count);
    require(gyre_pipeline_open(test->runtime, &desc, &pipeline) == status && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_topics_are_told(struct conformance *test)
{
    const gyre_link_desc first = join("source.first", "nowhere");
    gyre_link_desc another = subscribe("source.ticks", "two", GYRE_SLOW_WAIT);
    gyre_link_desc bare = join("source.ticks", "two");
    another.topic = "sums";
    bare.slow = GYRE_SLOW_DROP;
    launch_as(test, "publish", "source", 1);
    launch_as(test, "listen", "one", 1);
    launch_as(test, "listen", "two", 1);
    launch_as(test, "answer_memo", "memos", 1);
    const gyre_link_desc one = subscribe("source.ticks", "one", GYRE_SLOW_WAIT);
    const struct {
        gyre_link_desc link;
        gyre_status status;
        const char *sentence;
    } wrong[] = {
        {subscribe("source.ticks", "one", GYRE_SLOW_TAP), GYRE_INVALID, "kernel 'one' subscribes twice"},
        {subscribe("source.ticks", "nowhere", GYRE_SLOW_WAIT), GYRE_INVALID,
         "the subscribers of a topic are kernels, found nowhere"},
        {subscribe("source.ticks", "three", GYRE_SLOW_WAIT), GYRE_NOT_FOUND, "there is no kernel 'three'"},
        {subscribe("source.ticks", "memos", GYRE_SLOW_WAIT), GYRE_INCOMPATIBLE, "port 'source.ticks'"},
        {subscribe("source.ticks", "source", GYRE_SLOW_TAP), GYRE_INVALID, "leads into the cycle of kernel"},
        {subscribe("source.ticks", "two", (gyre_slow)4), GYRE_INVALID, "slow: expected a gyre_slow, found 4"},
        {subscribe("source.first", "one", GYRE_SLOW_DROP), GYRE_INVALID, "subscribes in two ways"},
        {join("source.ticks", "two"), GYRE_INVALID, "a port leads to one kernel, or to one topic"},
        {another, GYRE_INVALID, "a port leads to one kernel, or to one topic"},
        {bare, GYRE_INVALID, "slow: expected 0, because it names no topic, found 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const gyre_link_desc links[] = {one, wrong[i].link, first};
        const bool is_last = strcmp(wrong[i].link.from, first.from) == 0;
        refuse(test, links, is_last ? 2 : 3, wrong[i].status, wrong[i].sentence);
    }
    const gyre_link_desc right[] = {one, first};
    const gyre_pipeline_desc desc = describe(right, 2);
    must(gyre_pipeline_close(open_pipeline(test, &desc), soon()));
}

const struct conformance_case topic_cases[] = {
    {"each_subscriber_gets_every_message", each_subscriber_gets_every_message},
    {"publishers_and_subscribers_may_be_many", publishers_and_subscribers_may_be_many},
    {"a_flow_ends_once_for_all_its_subscribers", a_flow_ends_once_for_all_its_subscribers},
    {"a_slow_subscriber_is_waited_for", a_slow_subscriber_is_waited_for},
    {"a_subscriber_may_miss_messages", a_subscriber_may_miss_messages},
    {"a_slow_subscriber_may_be_cut_off", a_slow_subscriber_may_be_cut_off},
    {"who_is_cut_off_hears_no_publisher", who_is_cut_off_hears_no_publisher},
    {"a_tap_holds_nobody_up", a_tap_holds_nobody_up},
    {"a_tap_of_lanes_works_off_what_waits", a_tap_of_lanes_works_off_what_waits},
    {"what_a_tap_does_is_of_no_flow", what_a_tap_does_is_of_no_flow},
    {"actors_publish_to_subscribers_of_every_kind", actors_publish_to_subscribers_of_every_kind},
    {"an_actor_may_have_taps_alone", an_actor_may_have_taps_alone},
    {"taps_outlive_the_flows_that_they_hear", taps_outlive_the_flows_that_they_hear},
    {"subscribers_get_messages_whole", subscribers_get_messages_whole},
    {"a_publisher_that_was_visited_hears_of_room", a_publisher_that_was_visited_hears_of_room},
    {"graphs_with_topics_end_each_flow_as_foreseen", graphs_with_topics_end_each_flow_as_foreseen},
    {"wrong_topics_are_told", wrong_topics_are_told},
    {NULL, NULL},
};
