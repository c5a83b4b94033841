/* SPDX-License-Identifier: Apache-2.0 */
/* Links that form cycles: as many flows are under way as they have room for, so that nothing ever waits for itself. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/cycles.h"
#include "kernels/links.h"

#include <gyre/pipeline.h>
#include <stdio.h>
#include <string.h>

enum { RING_MAX = 8 };

static const char *const ring_names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};

/* ---- making pipelines ---- */

static void launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    const char *file = strncmp(kernel, "pour", 4) == 0 ? "pours.gyre.c" : "cycles.gyre.c";
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

static gyre_link_desc subscribe(const char *from, const char *to, gyre_slow slow)
{
    gyre_link_desc link = join(from, to);
    link.topic = "told";
    link.slow = slow;
    return link;
}

static gyre_pipeline_desc describe(const char *const *entry, const gyre_link_desc *links, size_t count,
                                   uint32_t quota)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = entry,
                                .entry_count = 1,
                                .links = links,
                                .link_count = count,
                                .quota = quota};
}

static gyre_pipeline *open_pipeline(struct conformance *test, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline = NULL;
    must(gyre_pipeline_open(test->runtime, desc, &pipeline));
    return pipeline;
}

/* k0 -> k1 -> ... -> k0, of which each may answer. */
static gyre_pipeline *open_ring(struct conformance *test, int kernels, uint32_t blocks, uint32_t window,
                                bool tight)
{
    char ports[RING_MAX][16];
    gyre_link_desc links[RING_MAX];
    for (int i = 0; i < kernels; i++) {
        launch_as(test, "step", ring_names[i], blocks);
        snprintf(ports[i], sizeof ports[i], "%s.next", ring_names[i]);
        links[i] = join(ports[i], ring_names[(i + 1) % kernels]);
        links[i].capacity = tight ? 0 : 1024; /* a GPU's links are larger where nothing is said */
    }
    gyre_pipeline_desc desc = describe(ring_names, links, (size_t)kernels, 1);
    desc.answers = ring_names;
    desc.answer_count = (size_t)kernels;
    desc.window = window;
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

/* grow -> grow, grow -> add. */
static gyre_pipeline *open_tree(struct conformance *test, const char *kernel, uint32_t blocks, uint32_t quota,
                                bool tight)
{
    static const char *const entry = "grow";
    const gyre_link_desc links[] = {join("grow.more", "grow"), join("grow.leaves", "add")};
    launch_as(test, kernel, entry, blocks);
    launch_as(test, "add", "add", 1);
    gyre_pipeline_desc desc = describe(&entry, links, 2, quota);
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

static gyre_pipeline_info limits_of(const gyre_pipeline *pipeline)
{
    gyre_pipeline_info info = {.size = sizeof info};
    must(gyre_pipeline_info_get(pipeline, &info));
    require(info.window == 0 || info.under_way <= info.window);
    return info;
}

/* ---- talking ---- */

/* Streams walks, whose replies come in any order: each once, and right. */
static void stream_walks(const gyre_pipeline *pipeline, gyre_queue *queue, uint64_t count, uint32_t steps)
{
    uint64_t sent = 0, numbers = 0;
    for (uint64_t received = 0; received < count; received++) {
        walk reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const walk request = {.number = sent, .left = steps};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        if (received % 64 == 0)
            limits_of(pipeline);
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.left == 0 && reply.sum == reply.number * steps);
        numbers += reply.number;
    }
    require(numbers == count * (count - 1) / 2);
}

static gyre_completion call_walk(gyre_queue *queue, uint64_t number, uint32_t left)
{
    const walk request = {.number = number, .left = left};
    walk reply;
    gyre_completion completion = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    return completion;
}

/* What the actor `add` of the pipeline has got. */
static walk ask_sum(struct conformance *test)
{
    const walk request = {.what = WALK_TELL};
    walk reply = {0};
    must(gyre_call(gyre_kernel_queue(gyre_kernel_find(test->runtime, "add")), &request, sizeof request,
                   &reply, sizeof reply, NULL, soon()));
    return reply;
}

/* The sum of the numbers of a tree's leaves. */
static uint64_t sum_of_leaves(uint64_t number, uint32_t depth)
{
    const uint64_t leaves = (uint64_t)1 << depth;
    return leaves * (number * leaves) + leaves * (leaves - 1) / 2;
}

/* ---- rings ---- */

static void a_ring_of_eight_runs_at_its_window(struct conformance *test)
{
    gyre_pipeline *pipeline = open_ring(test, RING_MAX, 1, 0, false);
    const gyre_pipeline_info info = limits_of(pipeline);
    require(info.quota == 1 && info.window == info.window_most && info.window == 1024 - 64 - 64 - 1);
    stream_walks(pipeline, gyre_pipeline_queue(pipeline), 2 * info.window, 100);
    require(limits_of(pipeline).under_way == 0);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* The least rings that hold the window: the formula is exact, or this hangs. */
static void tight_rings_of_several_blocks_run_at_their_window(struct conformance *test)
{
    gyre_pipeline *pipeline = open_ring(test, 4, 3, 0, true);
    const gyre_pipeline_info info = limits_of(pipeline);
    gyre_link_info link = {.size = sizeof link};
    must(gyre_pipeline_link(pipeline, 0, &link));
    require(link.held == link.rings && info.window == 16 - 1 - link.held - 1); /* each takes one at a time */
    stream_walks(pipeline, gyre_pipeline_queue(pipeline), 20 * info.window, 50);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_kernel_may_send_to_itself(struct conformance *test)
{
    gyre_pipeline *pipeline = open_ring(test, 1, 1, 7, true);
    require(limits_of(pipeline).window == 7);
    stream_walks(pipeline, gyre_pipeline_queue(pipeline), 500, 100);
}

/* What waits for its place is under way nowhere, and goes on when there is one. */
static void no_more_are_under_way_than_the_window(struct conformance *test)
{
    enum { WINDOW = 5, WALKS = 30 };
    gyre_pipeline *pipeline = open_ring(test, 2, 1, WINDOW, false);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const uint64_t deadline_ns = soon();
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "k1"), soon()));
    for (uint64_t i = 0; i < WALKS; i++) {
        const walk request = {.number = i, .left = 9};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    while (limits_of(pipeline).under_way != WINDOW)
        require(gyre_now_ns() < deadline_ns);
    must(gyre_kernel_activate(gyre_kernel_find(test->runtime, "k1"), soon()));
    for (uint64_t i = 0; i < WALKS; i++) {
        walk reply;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.sum == reply.number * 9);
    }
    require(limits_of(pipeline).under_way == 0);
}

/* ---- trees ---- */

static void a_tree_in_a_cycle_has_its_sum(struct conformance *test)
{
    gyre_pipeline *pipeline = open_tree(test, "grow", 1, 70000, false);
    require(call_walk(gyre_pipeline_queue(pipeline), 1, 16).outcome == GYRE_NOT_REPLIED);
    const walk told = ask_sum(test);
    require(told.number == 1 << 16 && told.sum == sum_of_leaves(1, 16));
}

/* Of trees side by side, those fail that have more leaves than the quota, and no other one. */
static void fail_what_exceeds(struct conformance *test, uint32_t blocks, bool tight)
{
    enum { TREES = 60, SMALL = 6, LARGE = 13, QUOTA = 100 };
    gyre_pipeline *pipeline = open_tree(test, "grow", blocks, QUOTA, tight);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < TREES; received++) {
        gyre_completion completion;
        walk reply;
        for (; sent < TREES; sent++) {
            const walk request = {.number = 1, .left = sent % 3 ? SMALL : LARGE};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (completion.index % 3 ? GYRE_NOT_REPLIED : GYRE_HANDLER_FAILED));
        if (completion.index % 3 == 0)
            require(completion.failure_code == -16 && strstr(completion.failure_text, "quota"));
    }
    require(ask_sum(test).number >= TREES / 3 * 2 << SMALL);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void over_its_quota_a_flow_fails_alone(struct conformance *test)
{
    fail_what_exceeds(test, 1, false);
}

static void over_its_quota_a_flow_of_tight_links_fails_alone(struct conformance *test)
{
    fail_what_exceeds(test, 3, true);
}

/* Else its messages would keep it alive at the quota for ever. */
static void a_flow_over_its_quota_ends(struct conformance *test)
{
    gyre_pipeline *pipeline = open_tree(test, "swell", 1, 50, false);
    for (int i = 0; i < 20; i++)
        require(call_walk(gyre_pipeline_queue(pipeline), 1, 1).failure_code == -16);
    require(limits_of(pipeline).under_way == 0);
}

/* ---- graphs ---- */

static void two_cycles_share_a_kernel(struct conformance *test)
{
    static const char *const entry = "hub";
    static const char *const answers[] = {"hub", "k0", "k1"};
    const gyre_link_desc links[] = {join("hub.left", "k0"), join("hub.right", "k1"), join("k0.next", "hub"),
                                    join("k1.next", "hub")};
    for (int tight = 0; tight < 2; tight++) {
        launch_as(test, "hub", "hub", 2);
        launch_as(test, "step", "k0", 1);
        launch_as(test, "step", "k1", 2);
        gyre_pipeline_desc desc = describe(&entry, links, 4, 1);
        desc.answers = answers;
        desc.answer_count = 3;
        desc.links_tight = (uint32_t)tight;
        gyre_pipeline *pipeline = open_pipeline(test, &desc);
        stream_walks(pipeline, gyre_pipeline_queue(pipeline), 300, 40);
        must(gyre_pipeline_close(pipeline, soon()));
        for (int i = 0; i < 3; i++)
            gyre_kernel_release(gyre_kernel_find(test->runtime, answers[i]));
    }
}

/* k0 -> a topic of k1 and add; k1 -> k0. */
static void a_topic_may_lie_in_a_cycle(struct conformance *test)
{
    enum { WALKS = 100, STEPS = 41 };
    static const char *const answers[] = {"k0", "k1"};
    const gyre_link_desc links[] = {subscribe("k0.next", "add", GYRE_SLOW_WAIT),
                                    subscribe("k0.next", "k1", GYRE_SLOW_WAIT), join("k1.next", "k0")};
    launch_as(test, "step", "k0", 1);
    launch_as(test, "step", "k1", 1);
    launch_as(test, "add", "add", 1);
    gyre_pipeline_desc desc = describe(ring_names, links, 3, STEPS + 1);
    desc.answers = answers;
    desc.answer_count = 2;
    desc.links_tight = 1;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    stream_walks(pipeline, gyre_pipeline_queue(pipeline), WALKS, STEPS);
    require(ask_sum(test).number == (uint64_t)WALKS * (STEPS + 1) / 2);
}

/* ---- handlers that are called again ---- */

/* pour -> add, with a link that holds four calls. */
static gyre_pipeline *open_pouring(struct conformance *test, const char *kernel, uint32_t blocks)
{
    static const char *const entry = "pour";
    const gyre_link_desc link = join("pour.next", "add");
    launch_as(test, kernel, entry, blocks);
    launch_as(test, "add", "add", 1);
    gyre_pipeline_desc desc = describe(&entry, &link, 1, 0);
    desc.answers = &entry;
    desc.answer_count = 1;
    desc.links_tight = 1;
    return open_pipeline(test, &desc);
}

/* More than any ring holds leaves by one message, and its flow ends behind all of it. */
static void pour(struct conformance *test, const char *kernel, uint32_t blocks)
{
    enum { FLOWS = 6, NUMBERS = 501 };
    gyre_pipeline *pipeline = open_pouring(test, kernel, blocks);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint64_t i = 0; i < FLOWS; i++) {
        const walk request = {.number = i, .left = NUMBERS, .what = i % 2 ? WALK_ANSWER : WALK_ON};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t i = 0; i < FLOWS; i++) {
        walk reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (completion.index % 2 ? GYRE_REPLIED : GYRE_NOT_REPLIED));
        require(completion.index % 2 == 0 || reply.sum == NUMBERS / 4);
    }
    const walk told = ask_sum(test);
    require(told.number == FLOWS * NUMBERS && told.sum == (uint64_t)FLOWS * NUMBERS * (NUMBERS - 1) / 2);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_handler_emits_more_than_a_ring_holds(struct conformance *test)
{
    pour(test, "pour", 1);
}

static void several_blocks_emit_more_than_a_ring_holds(struct conformance *test)
{
    pour(test, "pour", 3);
}

static void lanes_emit_more_than_a_ring_holds(struct conformance *test)
{
    pour(test, "pour_by_lanes", 2);
}

/* What left by an earlier call has left; what the failed one emitted has not. */
static void a_later_call_may_fail(struct conformance *test)
{
    gyre_pipeline *pipeline = open_pouring(test, "pour", 1);
    const walk request = {.left = 42, .what = WALK_FAIL};
    walk reply;
    gyre_completion completion;
    must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 3);
    require(ask_sum(test).number == 40);
}

/* A kernel that is pausing, or whose pipeline ends, leaves a message between two calls. */
static void orders_come_between_two_calls(struct conformance *test)
{
    enum { NUMBERS = 1000 };
    gyre_pipeline *pipeline = open_pouring(test, "pour", 1);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const walk request = {.left = NUMBERS};
    walk reply;
    gyre_completion completion;
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "add"), soon())); /* so it waits for room */
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    for (int i = 0; i < 10; i++) {
        must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "pour"), soon()));
        must(gyre_kernel_activate(gyre_kernel_find(test->runtime, "pour"), soon()));
    }
    launch_as(test, "step", "beside",
              1); /* for which other kernels may have to leave their device for a moment */
    must(gyre_kernel_activate(gyre_kernel_find(test->runtime, "add"), soon()));
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_NOT_REPLIED && ask_sum(test).number == NUMBERS);
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "add"), soon()));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    must(gyre_pipeline_close(pipeline, gyre_in_ms(20)));
    gyre_kernel_release(gyre_kernel_find(test->runtime, "add"));
    gyre_kernel_release(gyre_kernel_find(test->runtime, "pour"));
    must(gyre_pipeline_close(open_pouring(test, "pour", 1), soon())); /* what was kept is forgotten */
}

static void outside_of_a_pipeline_nobody_is_called_again(struct conformance *test)
{
    launch_as(test, "pour", "pour", 1);
    gyre_completion completion =
        call_walk(gyre_kernel_queue(gyre_kernel_find(test->runtime, "pour")), 1, 100);
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -17);
}

/* ---- memory of flows ---- */

/* grow -> grow, grow -> join: trees of several depths side by side, each with its own sum, in places that are used again. */
static void each_flow_has_its_own_memory(struct conformance *test)
{
    enum { TREES = 1500, DEPTHS = 6 };
    static const char *const entry = "grow", *const answer = "join";
    const gyre_link_desc links[] = {join("grow.more", "grow"), join("grow.leaves", "join")};
    launch_as(test, "grow", "grow", 2);
    launch_as(test, "join", "join", 1);
    gyre_pipeline_desc desc = describe(&entry, links, 2, 1 << DEPTHS);
    desc.answers = &answer;
    desc.answer_count = 1;
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    uint64_t sent = 0;
    for (uint64_t received = 0; received < TREES; received++) {
        walk reply;
        gyre_completion completion;
        for (; sent < TREES; sent++) {
            const uint32_t depth = (uint32_t)(sent % DEPTHS);
            const walk request = {.number = sent, .left = depth, .what = depth};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED);
        require(reply.sum == sum_of_leaves(completion.index, (uint32_t)(completion.index % DEPTHS)));
    }
}

static void outside_of_a_pipeline_each_message_has_its_own_memory(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "cycles.gyre.c", "join"));
    for (uint64_t i = 0; i < 100; i++) {
        const walk request = {.number = i, .what = i % 2 ? 5 : 0};
        walk reply = {0};
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (i % 2 ? GYRE_NOT_REPLIED : GYRE_REPLIED) && (i % 2 || reply.sum == i));
    }
    queue = gyre_kernel_queue(launch(test, "cycles.gyre.c", "mistaken"));
    require(call_walk(queue, 1, 1).failure_code == -17);
    queue = gyre_kernel_queue(launch(test, "cycles.gyre.c", "stranger"));
    require(call_walk(queue, 1, 1).failure_code == -17);
}

/* A tap that waits for room in the midst of a message keeps its memory, whatever comes by its own queue meanwhile. */
static void a_kept_message_keeps_its_memory(struct conformance *test)
{
    enum { NUMBERS = 100 };
    static const char *const entry = "k0";
    const gyre_link_desc links[] = {subscribe("k0.next", "pour_counted", GYRE_SLOW_TAP),
                                    join("pour_counted.next", "add")};
    const walk told = {.number = 1, .left = NUMBERS + 1}, question = {.what = WALK_TELL};
    walk reply;
    gyre_completion completion;
    launch_as(test, "step", "k0", 1);
    launch_as(test, "pour_counted", "pour_counted", 1);
    launch_as(test, "add", "add", 1);
    gyre_pipeline_desc desc = describe(&entry, links, 2, 0);
    desc.links_tight = 1;
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &desc));
    gyre_kernel *pouring = gyre_kernel_find(test->runtime, "pour_counted");
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "add"), soon()));
    must(gyre_call(queue, &told, sizeof told, &reply, sizeof reply, &completion, soon()));
    while (info_of(pouring).handled == 0)
        sleep_ms(1);
    for (int i = 0; i < 3; i++) {
        must(gyre_call(gyre_kernel_queue(pouring), &question, sizeof question, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.sum == 0);
    }
    must(gyre_kernel_activate(gyre_kernel_find(test->runtime, "add"), soon()));
    while (ask_sum(test).number < NUMBERS)
        sleep_ms(1);
    require(ask_sum(test).sum == 0); /* no call found another number of calls than there were */
}

/* ---- mistakes ---- */

static void refuse(struct conformance *test, const gyre_pipeline_desc *desc, const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, desc, &pipeline) == GYRE_INVALID && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_cycles_are_told(struct conformance *test)
{
    gyre_link_desc links[] = {join("k0.next", "k1"), join("k1.next", "k0")};
    launch_as(test, "step", "k0", 1);
    launch_as(test, "step", "k1", 1);
    gyre_pipeline_desc desc = describe(ring_names, links, 2, 0);
    refuse(test, &desc,
           "links lead from kernel 'k0' back to it (a cycle), and pipeline 'tested' has no quota");
    desc.quota = 10;
    desc.window = 6;
    links[0].capacity = 64;
    refuse(test, &desc,
           "link 'k0.next' is in a cycle and has room for 55 of its messages: 64 of its capacity, less 4 (a "
           "section), 4 (taken by 1 block) and 1 (the most of one call); expected room for 60: window 6 x "
           "quota 10");
    desc.window = 5;
    must(gyre_pipeline_close(open_pipeline(test, &desc), soon()));
    links[0].capacity = 0;
    links[0] = subscribe("k0.next", "k1", GYRE_SLOW_TAP);
    refuse(test, &desc, "tap 'k1' of topic 'told' leads into the cycle of kernel 'k0'");
}

/* ---- kernels that are compiled for it ---- */

static void launch_job(struct conformance *test, const char *kernel, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "links.gyre.c", kernel);
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static void stream_jobs(gyre_pipeline *pipeline, uint64_t count)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        job reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const job request = {.number = sent, .what = sent % 5 ? JOB_PASS : JOB_FAIL};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        if (received % 16 == 0)
            limits_of(pipeline);
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (completion.index % 5 ? GYRE_REPLIED : GYRE_HANDLER_FAILED));
    }
    require(limits_of(pipeline).under_way == 0);
}

/* Kernels that hold no trace of limits are refused where flows are limited. Those that are compiled for it keep to the window. */
static void kernels_count_flows_or_are_refused(struct conformance *test)
{
    static const char *const entry = "pass", *const answer = "finish";
    const gyre_link_desc link = join("pass.out", "finish");
    gyre_pipeline_desc desc = describe(&entry, &link, 1, 10);
    desc.answers = &answer;
    desc.answer_count = 1;
    desc.window = 3;
    for (int stage = 1; stage <= 2; stage++) {
        gyre_pipeline *pipeline = NULL;
        launch_job(test, "pass", stage);
        launch_job(test, "finish", stage);
        if (gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_OK) {
            stream_jobs(pipeline, 300);
            must(gyre_pipeline_close(pipeline, soon()));
        } else {
            require(stage == 1);
            require_sentence("kernel 'pass' was compiled without what counts its flows: launch it with "
                             "gyre_launch_desc.stage = GYRE_STAGE_COUNTED");
        }
        gyre_kernel_release(gyre_kernel_find(test->runtime, "pass"));
        gyre_kernel_release(gyre_kernel_find(test->runtime, "finish"));
    }
}

const struct conformance_case cycle_cases[] = {
    {"kernels_count_flows_or_are_refused", kernels_count_flows_or_are_refused},
    {"a_ring_of_eight_runs_at_its_window", a_ring_of_eight_runs_at_its_window},
    {"tight_rings_of_several_blocks_run_at_their_window", tight_rings_of_several_blocks_run_at_their_window},
    {"a_kernel_may_send_to_itself", a_kernel_may_send_to_itself},
    {"no_more_are_under_way_than_the_window", no_more_are_under_way_than_the_window},
    {"a_tree_in_a_cycle_has_its_sum", a_tree_in_a_cycle_has_its_sum},
    {"over_its_quota_a_flow_fails_alone", over_its_quota_a_flow_fails_alone},
    {"over_its_quota_a_flow_of_tight_links_fails_alone", over_its_quota_a_flow_of_tight_links_fails_alone},
    {"a_flow_over_its_quota_ends", a_flow_over_its_quota_ends},
    {"two_cycles_share_a_kernel", two_cycles_share_a_kernel},
    {"a_topic_may_lie_in_a_cycle", a_topic_may_lie_in_a_cycle},
    {"a_handler_emits_more_than_a_ring_holds", a_handler_emits_more_than_a_ring_holds},
    {"several_blocks_emit_more_than_a_ring_holds", several_blocks_emit_more_than_a_ring_holds},
    {"lanes_emit_more_than_a_ring_holds", lanes_emit_more_than_a_ring_holds},
    {"a_later_call_may_fail", a_later_call_may_fail},
    {"orders_come_between_two_calls", orders_come_between_two_calls},
    {"outside_of_a_pipeline_nobody_is_called_again", outside_of_a_pipeline_nobody_is_called_again},
    {"each_flow_has_its_own_memory", each_flow_has_its_own_memory},
    {"a_kept_message_keeps_its_memory", a_kept_message_keeps_its_memory},
    {"outside_of_a_pipeline_each_message_has_its_own_memory",
     outside_of_a_pipeline_each_message_has_its_own_memory},
    {"wrong_cycles_are_told", wrong_cycles_are_told},
    {NULL, NULL},
};
