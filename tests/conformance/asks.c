/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that ask each other: each ask has its answer, and a request ends as its asks do. */
#include "conformance.h"
#include "graphs.h"
#include "../patience.h"
#include "kernels/asks.h"

#include <gyre/pipeline.h>
#include <stdio.h>
#include <string.h>

enum { THINKERS_MAX = 6 };

static const char *const names[THINKERS_MAX] = {"k0", "k1", "k2", "k3", "k4", "k5"};

/* ---- making pipelines ---- */

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "asks.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

/* k0 is the entry and the answer. */
static gyre_pipeline_desc describe(const gyre_link_desc *links, size_t count, uint32_t quota)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = names,
                                .entry_count = 1,
                                .answers = names,
                                .answer_count = 1,
                                .links = links,
                                .link_count = count,
                                .quota = quota};
}

static gyre_pipeline *open_pipeline(struct conformance *test, const gyre_link_desc *links, size_t count,
                                    uint32_t quota)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = describe(links, count, quota);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* `kernel` as k0, which asks k1 (`left`) and k2 (`right`), which are both `asked`. */
static gyre_pipeline *open_fork(struct conformance *test, const char *kernel, const char *asked)
{
    const gyre_link_desc links[] = {join("k0.left", "k1"), join("k0.right", "k2")};
    launch_as(test, kernel, "k0", 1);
    launch_as(test, asked, "k1", 1);
    launch_as(test, asked, "k2", 1);
    return open_pipeline(test, links, 2, 16);
}

/* `kernel` as k0, which asks k1, a `mute`. */
static gyre_pipeline *open_pair(struct conformance *test, const char *kernel)
{
    const gyre_link_desc links[] = {join("k0.about", "k1"), join("k0.rest", "nowhere")};
    launch_as(test, kernel, "k0", 1);
    launch_as(test, "mute", "k1", 2);
    return open_pipeline(test, links, 2, 2000);
}

static gyre_link_info link_of(const gyre_pipeline *pipeline, const char *name)
{
    gyre_link_info info = {.size = sizeof info};
    for (size_t i = 0; strcmp(info.name, name) != 0; i++)
        must(gyre_pipeline_link(pipeline, i, &info));
    return info;
}

static gyre_completion call(gyre_pipeline *pipeline, const riddle *request, riddle *reply)
{
    gyre_completion completion = {0};
    must(gyre_call(gyre_pipeline_queue(pipeline), request, sizeof *request, reply, sizeof *reply, &completion,
                   soon()));
    return completion;
}

static void require_failure(const gyre_completion *completion, int code, const char *text)
{
    require(completion->outcome == GYRE_HANDLER_FAILED);
    require(completion->failure_code == code && strstr(completion->failure_text, text));
}

/* ---- the oracle ---- */

/* What a question comes to, whoever is asked. *fails: somebody on the way fails. */
static uint64_t foresee(uint64_t seed, uint32_t deep, bool *fails)
{
    uint64_t sum = riddle_mix(seed, 300);
    *fails |= riddle_fails(seed) != 0;
    for (uint32_t i = 0; i < riddle_count(seed, deep); i++)
        sum += foresee(riddle_mix(seed, i), deep - 1, fails) * (i + 3);
    return sum;
}

/* Pauses a kernel in the midst of what it does, and has it go on. */
static void interrupt(gyre_kernel *kernel)
{
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_activate(kernel, soon()));
}

/* Streams riddles of several depths, while kernels are paused now and then. Each flow ends as the oracle says. */
static void stream_riddles(struct conformance *test, gyre_pipeline *pipeline, uint32_t kernels, uint64_t seed,
                           uint64_t count)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        riddle reply = {0};
        gyre_completion completion;
        for (; sent < count; sent++) {
            const riddle request = {.seed = riddle_mix(seed, sent), .deep = (uint32_t)(sent % 6)};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        if (received % 16 == 0)
            interrupt(gyre_kernel_find(test->runtime, names[received / 16 % kernels]));
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        bool fails = false;
        const uint64_t sum =
            foresee(riddle_mix(seed, completion.index), (uint32_t)(completion.index % 6), &fails);
        if (fails)
            require_failure(&completion, RIDDLE_FAILURE, "as told");
        else
            require(completion.outcome == GYRE_REPLIED && reply.sum == sum);
    }
}

/* Kernels of several forms and blocks, each of which asks any two, itself perhaps. */
static void run_random_asks(struct conformance *test, uint64_t seed)
{
    enum { ASKERS_MAX = 6 }; /* of one kernel that has two ports of its own */
    char from[2 * THINKERS_MAX][16];
    gyre_link_desc links[2 * THINKERS_MAX];
    uint64_t random = seed;
    uint32_t askers[THINKERS_MAX] = {0}, count = 0;
    const uint32_t kernels = 2 + (uint32_t)graph_draw(&random, THINKERS_MAX - 1);
    for (uint32_t i = 0; i < kernels; i++) {
        const bool by_lanes = graph_draw(&random, 4) == 0;
        launch_as(test, by_lanes ? "think_by_lanes" : "think", names[i],
                  1 + (uint32_t)graph_draw(&random, 3));
        for (uint32_t port = 0; port < 2; port++) {
            uint32_t to = i == 0 ? port : (uint32_t)graph_draw(&random, kernels);
            if (port == 0) /* so that all are reached */
                to = (i + 1) % kernels;
            while (askers[to] == ASKERS_MAX)
                to = (to + 1) % kernels;
            askers[to]++;
            snprintf(from[count], sizeof from[count], "%s.%s", names[i], port ? "right" : "left");
            links[count] = join(from[count], names[to]);
            count++;
        }
    }
    gyre_pipeline *pipeline = NULL;
    gyre_pipeline_desc desc = describe(links, count, 64);
    desc.links_tight = graph_draw(&random, 2) == 0;
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    stream_riddles(test, pipeline, kernels, seed, 300);
    must(gyre_pipeline_close(pipeline, soon()));
    for (uint32_t i = 0; i < kernels; i++)
        gyre_kernel_release(gyre_kernel_find(test->runtime, names[i]));
}

static void random_asks_come_to_what_was_foreseen(struct conformance *test)
{
    graph_for_seeds(test, 6, run_random_asks);
}

/* ---- answers ---- */

/* k1 is paused until k2 has answered. */
static void answers_come_in_any_order(struct conformance *test)
{
    gyre_pipeline *pipeline = open_fork(test, "weigh", "mute");
    const riddle request = {.seed = 1, .what = 1};
    riddle reply = {0};
    gyre_completion completion;
    const uint64_t deadline_ns = soon();
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "k1"), soon()));
    must(gyre_send(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, soon()));
    while (link_of(pipeline, "k0.right (answers)").sent == 0 ||
           link_of(pipeline, "k0.right (answers)").waiting)
        require(gyre_now_ns() < deadline_ns);
    require(link_of(pipeline, "k0.left").sent == 1 && link_of(pipeline, "k0.left (answers)").sent == 0);
    must(gyre_kernel_activate(gyre_kernel_find(test->runtime, "k1"), soon()));
    must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply.sum == 0x21);
}

/* One message asks more than a ring holds. Each answer has the token of its ask. */
static void a_message_asks_a_thousand_times(struct conformance *test)
{
    enum { ASKS = 1000 };
    const riddle request = {.seed = 3, .what = ASKS};
    riddle reply = {0};
    gyre_pipeline *pipeline = open_pair(test, "collect");
    require(call(pipeline, &request, &reply).outcome == GYRE_REPLIED);
    require(reply.sum == 3 * (uint64_t)ASKS * (ASKS + 1) / 2);
    require(link_of(pipeline, "k0.about").sent == ASKS && link_of(pipeline, "k0.about").talk == 1);
    const gyre_link_info answers = link_of(pipeline, "k0.about (answers)");
    require(answers.sent == ASKS && answers.talk == 2 && strcmp(answers.to, "k0") == 0);
    require(strcmp(link_of(pipeline, "k0.about").answer, "riddle") == 0 && answers.answer[0] == '\0');
}

/* Of asks one behind the other each has its answer, and the flow knows it in the end, however it ends. */
static void asks_one_behind_the_other_are_counted(struct conformance *test)
{
    const gyre_link_desc links[] = {join("k0.about", "k1"), join("k0.rest", "nowhere")};
    launch_as(test, "repeat", "k0", 1);
    launch_as(test, "mute", "k1", 1);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, links, 2, 4));
    for (uint32_t i = 0; i < 30; i++) {
        const riddle request = {.seed = i, .what = 2 + 7 * i, .deep = i % 3};
        riddle reply = {0};
        gyre_completion completion = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        if (i % 3 == 2)
            require_failure(&completion, -22, "a kernel was asked, and did not reply");
        else
            require(completion.outcome == (i % 3 ? GYRE_NOT_REPLIED : GYRE_REPLIED));
        require(i % 3 || (reply.what == 1 && reply.seed == i));
    }
}

/* k1 asks k2 as often before it answers k0, and knows whom it owes its answer between two calls. */
static void who_was_asked_asks_a_thousand_times(struct conformance *test)
{
    const gyre_link_desc links[] = {join("k0.left", "k1"), join("k0.right", "k2"), join("k1.about", "k2"),
                                    join("k1.rest", "nowhere")};
    const riddle request = {.seed = 3, .what = 1000};
    riddle reply = {0};
    launch_as(test, "weigh", "k0", 1);
    launch_as(test, "collect", "k1", 1);
    launch_as(test, "mute", "k2", 2);
    require(call(open_pipeline(test, links, 4, 2000), &request, &reply).outcome == GYRE_REPLIED);
    require(reply.sum == 0x12 || reply.sum == 0x21);
}

/* An answer is one of the messages that its asker takes, and may have a tail. */
static void who_takes_several_types_gets_answers_of_one(struct conformance *test)
{
    static const char text[] = "to whom it may concern";
    const gyre_link_desc link = join("k0.poet", "k1");
    const riddle request = {.seed = 12};
    union {
        verse said;
        unsigned char bytes[GYRE_CHOICE_FRONT + sizeof(verse)];
    } sent = {0}, got = {0};
    const u32 front[] = {GYRE_CHOICE_FRONT + sizeof request, 1};
    memcpy(sent.bytes, front, sizeof front);
    memcpy(sent.bytes + sizeof front, &request, sizeof request);
    launch_as(test, "reader", "k0", 1);
    launch_as(test, "poet", "k1", 2);
    gyre_queue *queue = gyre_pipeline_queue(open_pipeline(test, &link, 1, 4));
    gyre_completion completion = {0};
    must(gyre_call(queue, sent.bytes, front[0], got.bytes, sizeof got.bytes, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED);
    verse reply;
    memcpy(&reply, got.bytes + GYRE_CHOICE_FRONT, sizeof reply);
    require(reply.number == 1209 && reply.text.count == strlen(text));
    require(memcmp(got.bytes + GYRE_CHOICE_FRONT + reply.text.offset, text, strlen(text)) == 0);
}

/* ---- ends ---- */

/* Without a reply the client would not know why. The next request in the same place is not harmed. */
static void a_request_ends_with_an_ask_that_nobody_answers(struct conformance *test)
{
    enum { PLACES = 16 };
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "small", .capacity = PLACES};
    gyre_queue *queue = NULL;
    riddle reply = {0};
    must(gyre_pipeline_queue_open(open_fork(test, "weigh", "mute"), NULL, &desc, &queue));
    for (int i = 0; i < 3 * PLACES; i++) {
        const riddle request = {.seed = 1, .what = i / PLACES == 2, .deep = i / PLACES == 1};
        gyre_completion completion = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        if (i / PLACES == 0)
            require_failure(&completion, -22, "a kernel was asked, and did not reply");
        else
            require(completion.outcome == (i / PLACES == 1 ? GYRE_NOT_REPLIED : GYRE_REPLIED));
    }
}

static void who_replied_needs_no_answer(struct conformance *test)
{
    riddle reply = {0};
    gyre_pipeline *pipeline = open_pair(test, "doubt");
    for (uint32_t what = 0; what < 2; what++) {
        const riddle request = {.seed = 1, .what = what};
        require(call(pipeline, &request, &reply).outcome == GYRE_REPLIED && reply.sum == 5);
    }
}

/* k0 asks k1, which asks k2 twice and gives both answers on. */
static void an_ask_has_one_answer(struct conformance *test)
{
    const gyre_link_desc links[] = {join("k0.about", "k1"), join("k0.rest", "nowhere"), join("k1.left", "k2"),
                                    join("k1.right", "k2")};
    const riddle request = {.seed = 1, .what = 1};
    riddle reply = {0};
    launch_as(test, "doubt", "k0", 1);
    launch_as(test, "blab", "k1", 1);
    launch_as(test, "mute", "k2", 1);
    gyre_pipeline *pipeline = open_pipeline(test, links, 4, 16);
    const gyre_completion completion = call(pipeline, &request, &reply);
    require_failure(&completion, -18, "two handlers replied to one ask");
}

/* Seven may wait for each other. */
static void asks_nest_as_deep_as_they_may(struct conformance *test)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_link_desc links[] = {join("k0.left", "k0"), join("k0.right", "k0")};
    launch_as(test, "think", "k0", 1);
    pipeline = open_pipeline(test, links, 2, 1000);
    for (uint64_t seed = 0; seed < 40; seed++) {
        riddle request = {.seed = seed, .deep = 7}, reply = {0};
        bool fails = false;
        const uint64_t sum = foresee(seed, 7, &fails);
        gyre_completion completion = call(pipeline, &request, &reply);
        require(fails || (completion.outcome == GYRE_REPLIED && reply.sum == sum));
        request.deep = 8;
        completion = call(pipeline, &request, &reply);
        fails = false;
        foresee(seed, 8, &fails);
        if (!fails)
            require_failure(&completion, -22, "more asks wait for each other than 7");
    }
}

static void outside_of_a_pipeline_nobody_is_asked(struct conformance *test)
{
    const riddle request = {.seed = 1, .what = 1};
    riddle reply = {0};
    gyre_completion completion = {0};
    gyre_queue *queue = gyre_kernel_queue(launch_as(test, "weigh", "k0", 1));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require_failure(&completion, -17, "enters no pipeline");
    queue = gyre_kernel_queue(launch_as(test, "mute", "k1", 1));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply.sum == 1); /* its token is 0 */
}

/* ---- mistakes ---- */

static void refuse(struct conformance *test, const gyre_pipeline_desc *desc, const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, desc, &pipeline) != GYRE_OK && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_asks_are_told(struct conformance *test)
{
    gyre_link_desc links[] = {join("k0.about", "k1"), join("k0.rest", "nowhere")};
    launch_as(test, "doubt", "k0", 1);
    launch_as(test, "mute", "k1", 1);
    launch_as(test, "pass", "k2", 1);
    launch_as(test, "poet", "k3", 1);
    launch_as(test, "deaf", "k4", 1);
    gyre_pipeline_desc desc = describe(links, 2, 0);
    refuse(test, &desc,
           "kernel 'k0' asks kernel 'k1', whose answers lead back to it (a cycle), and pipeline 'tested' has "
           "no quota");
    desc.quota = 4;
    links[0].to = "k2";
    refuse(test, &desc,
           "kernel 'k2' never replies (its reply is gyre_none), and port 'k0.about' asks it for messages "
           "'riddle': what it emits to its ports is no answer");
    links[0].to = "k3";
    refuse(test, &desc, "the replies of kernel 'k3'");
    links[0].to = "nowhere";
    refuse(test, &desc,
           "port 'k0.about' asks, and one kernel answers: expected a link to a kernel, found nowhere");
    links[0].to = "k1";
    links[0].topic = "told";
    refuse(test, &desc,
           "port 'k0.about' asks, and one kernel answers: expected a link to a kernel, found a topic");
    links[0] = links[1];
    desc.link_count = 1;
    refuse(test, &desc, "port 'k0.about' asks nobody: link it to the kernel that answers");
    launch_as(test, "reader", "k6", 1);
    links[0] = join("k0.rest", "k6");
    refuse(
        test, &desc,
        "kernel 'k6' takes messages of several types: let port 'k0.rest' lead to one of them, as in to = k6:riddle");
    links[0] = join("k4.poet", "k3");
    desc.entries = &names[4];
    desc.answer_count = 0;
    refuse(
        test, &desc,
        "the answers to port 'k4.poet' are messages 'verse', and kernel 'k4' takes messages 'riddle' only: "
        "let its request be 'verse', or a protocol (GYRE_PROTOCOL) that has 'verse' among its types");
}

/* ---- kernels that are compiled for it ---- */

static void launch_staged(struct conformance *test, const char *file, const char *kernel, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
}

enum { HERMIT_PLACES = 16, HERMIT_CALLS = 6 * HERMIT_PLACES };

/* What comes of a request; in each place of the queue something else each time. */
static uint32_t hermits_mood(uint64_t index)
{
    return (uint32_t)((index + index / HERMIT_PLACES) % (RIDDLE_UNTOLD + 1));
}

static void require_hermits_word(const gyre_completion *completion, const riddle *reply)
{
    const uint64_t index = completion->index;
    switch (hermits_mood(index)) {
    case RIDDLE_SILENT:
        require_failure(completion, -22, "a kernel was asked, and did not reply");
        break;
    case RIDDLE_FAILS:
        require_failure(completion, RIDDLE_FAILURE, "as told");
        break;
    case RIDDLE_UNTOLD:
        require(completion->outcome == GYRE_NOT_REPLIED);
        break;
    default:
        require(completion->outcome == GYRE_REPLIED && reply->sum == riddle_mix(index, 300) + 1 + index);
    }
}

static void ask_hermits(gyre_pipeline *pipeline)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "small", .capacity = HERMIT_PLACES};
    gyre_queue *queue = NULL;
    uint64_t sent = 0;
    must(gyre_pipeline_queue_open(pipeline, NULL, &desc, &queue));
    for (uint64_t received = 0; received < HERMIT_CALLS; received++) {
        riddle reply = {0};
        gyre_completion completion = {0};
        for (; sent < HERMIT_CALLS; sent++) {
            const riddle request = {.seed = sent, .what = hermits_mood(sent)};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require_hermits_word(&completion, &reply);
    }
    gyre_queue_close(queue);
}

/* Kernels of other files that hold no trace of asks are refused where others ask. Those that are compiled for it answer. */
static void kernels_count_asks_or_are_refused(struct conformance *test)
{
    static const char *const entry = "wonder";
    const gyre_link_desc link = join("wonder.about", "hermit");
    gyre_pipeline_desc desc = describe(&link, 1, 4);
    desc.entries = desc.answers = &entry;
    launch_staged(test, "wonders.gyre.c", "wonder", 3);
    for (int stage = 2; stage <= 3; stage++) {
        gyre_pipeline *pipeline = NULL;
        launch_staged(test, "hermits.gyre.c", "hermit", stage);
        if (gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_OK) {
            ask_hermits(pipeline);
            must(gyre_pipeline_close(pipeline, soon()));
        } else {
            require(stage == 2);
            require_sentence(
                "kernels of the pipeline ask, and kernel 'hermit' was compiled without what counts "
                "asks: launch it with gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ASKS");
        }
        gyre_kernel_release(gyre_kernel_find(test->runtime, "hermit"));
    }
}

/* A kernel has room for so many ports and askers. */
static void too_many_askers_are_told(struct conformance *test)
{
    enum { ASKERS = 5 };
    char from[2 * ASKERS][16];
    gyre_link_desc links[2 * ASKERS];
    launch_as(test, "mute", "k5", 1);
    for (int i = 0; i < ASKERS; i++) {
        launch_as(test, "weigh", names[i], 1);
        for (int port = 0; port < 2; port++) {
            snprintf(from[2 * i + port], sizeof from[0], "%s.%s", names[i], port ? "right" : "left");
            links[2 * i + port] = join(from[2 * i + port], "k5");
        }
    }
    gyre_pipeline_desc desc = describe(links, 2 * ASKERS, 4);
    desc.entry_count = ASKERS;
    refuse(test, &desc,
           "kernel 'k5' has 0 ports, and 9 ports of others ask it; 8 is the most for both together");
    desc.entry_count = ASKERS - 1;
    desc.link_count = 2 * (ASKERS - 1);
    gyre_pipeline *pipeline = NULL;
    riddle request = {.seed = 1, .what = 1}, reply = {0};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    require(call(pipeline, &request, &reply).outcome == GYRE_REPLIED);
}

const struct conformance_case ask_cases[] = {
    {"kernels_count_asks_or_are_refused", kernels_count_asks_or_are_refused},
    {"random_asks_come_to_what_was_foreseen", random_asks_come_to_what_was_foreseen},
    {"answers_come_in_any_order", answers_come_in_any_order},
    {"a_message_asks_a_thousand_times", a_message_asks_a_thousand_times},
    {"asks_one_behind_the_other_are_counted", asks_one_behind_the_other_are_counted},
    {"who_was_asked_asks_a_thousand_times", who_was_asked_asks_a_thousand_times},
    {"who_takes_several_types_gets_answers_of_one", who_takes_several_types_gets_answers_of_one},
    {"a_request_ends_with_an_ask_that_nobody_answers", a_request_ends_with_an_ask_that_nobody_answers},
    {"who_replied_needs_no_answer", who_replied_needs_no_answer},
    {"an_ask_has_one_answer", an_ask_has_one_answer},
    {"asks_nest_as_deep_as_they_may", asks_nest_as_deep_as_they_may},
    {"outside_of_a_pipeline_nobody_is_asked", outside_of_a_pipeline_nobody_is_asked},
    {"wrong_asks_are_told", wrong_asks_are_told},
    {"too_many_askers_are_told", too_many_askers_are_told},
    {NULL, NULL},
};
