/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a pipeline: a kernel is called when all that a request has caused was handled, and goes on with it. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/rounds.h"

#include <gyre/pipeline.h>
#include <string.h>

enum { ROUNDS = 12, REQUESTS = 24 };

/* `stage`: gyre_launch_desc.stage, which counts on a GPU alone. */
static void launch_for(struct conformance *test, const char *kernel, uint32_t blocks, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "rounds.gyre.c", kernel);
    desc.name = kernel;
    desc.blocks = blocks;
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static void launch_as(struct conformance *test, const char *kernel, uint32_t blocks)
{
    launch_for(test, kernel, blocks, 6);
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

static gyre_pipeline_desc describe(const char *const *entry, const char *const *answer,
                                   const gyre_link_desc *links, size_t count, const char *rounds)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = entry,
                                .entry_count = 1,
                                .answers = answer,
                                .answer_count = answer ? 1 : 0,
                                .links = links,
                                .link_count = count,
                                .rounds = rounds};
}

/* start -> relay -> gather, which begins the rounds -> relay; relay -> relay. */
static gyre_pipeline *open_rounds(struct conformance *test, uint32_t blocks, bool tight)
{
    static const char *const entry = "start", *const last = "gather";
    const gyre_link_desc links[] = {join("start.steps", "relay"), join("relay.on", "relay"),
                                    join("relay.done", "gather"), join("gather.steps", "relay")};
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "start", 1);
    launch_as(test, "relay", blocks);
    launch_as(test, "gather", blocks);
    gyre_pipeline_desc desc = describe(&entry, &last, links, 4, "gather");
    desc.quota = STEP_MOST;
    desc.links_tight = tight;
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* How many messages the rounds before `round` have. */
static uint64_t messages_before(uint32_t round)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < round; i++)
        total += STEP_WIDTH(i);
    return total;
}

static gyre_completion call(gyre_pipeline *pipeline, step request, step *reply)
{
    gyre_completion completion = {0};
    must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, reply, sizeof *reply, &completion,
                   soon()));
    return completion;
}

/* Streams requests, the first of which is number `first` of the queue, and each of which has its rounds. */
static void stream(gyre_pipeline *pipeline, uint64_t first, uint32_t what)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < REQUESTS; received++) {
        step reply;
        gyre_completion completion;
        for (; sent < REQUESTS; sent++) {
            const uint64_t number = first + sent;
            const step request = {.number = number, .rounds = 1 + (uint32_t)(number % ROUNDS), .what = what};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        const uint32_t rounds = 1 + (uint32_t)(completion.index % ROUNDS);
        require(completion.outcome == GYRE_REPLIED && reply.number == completion.index &&
                reply.round == rounds && reply.total == messages_before(rounds));
    }
}

/* ---- cases ---- */

static void a_round_begins_when_the_last_one_was_handled(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 2, false);
    stream(pipeline, 0, STEP_ON);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void rounds_go_on_by_tight_links(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 1, true);
    stream(pipeline, 0, STEP_ON);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_round_is_emitted_by_turns(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 2, false);
    stream(pipeline, 0, STEP_BY_TURNS);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* A round of which nothing comes ends the request, without a reply; so does a request of which nothing comes at all. */
static void a_silent_round_ends_its_request(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 1, false);
    step reply;
    for (uint32_t rounds = 0; rounds < 4; rounds++) {
        const step request = {.number = 1, .rounds = rounds, .what = STEP_SILENT};
        require(call(pipeline, request, &reply).outcome == GYRE_NOT_REPLIED);
    }
    stream(pipeline, 4, STEP_ON);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_failure_begins_no_round(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 1, false);
    step reply;
    for (uint32_t rounds = 0; rounds < 4; rounds++) {
        const step request = {.number = 1, .rounds = rounds, .what = STEP_FAILS};
        const gyre_completion completion = call(pipeline, request, &reply);
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 9);
    }
    stream(pipeline, 4, STEP_ON);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Who asks says nothing of the answer, which ends the round. With several blocks some messages go another way than with one. */
static void a_round_ends_with_an_answer(struct conformance *test, uint32_t blocks)
{
    static const char *const poll = "poll";
    const gyre_link_desc links[] = {join("poll.steps", "curious"), join("curious.other", "other")};
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "poll", 1);
    launch_as(test, "curious", blocks);
    launch_as(test, "other", 1);
    gyre_pipeline_desc desc = describe(&poll, &poll, links, 2, "poll");
    desc.quota = STEP_MOST;
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    for (int i = 0; i < REQUESTS; i++) {
        step reply = {0};
        require(call(pipeline, (step){0}, &reply).outcome == GYRE_REPLIED && reply.round == STEP_POLLS);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_round_ends_with_an_answer_to_one_block(struct conformance *test)
{
    a_round_ends_with_an_answer(test, 1);
}

static void a_round_ends_with_an_answer_to_two_blocks(struct conformance *test)
{
    a_round_ends_with_an_answer(test, 2);
}

/* The links that Gyre adds are told: one of each kernel. */
static void links_of_rounds_are_told(struct conformance *test)
{
    gyre_pipeline *pipeline = open_rounds(test, 1, false);
    gyre_link_info link = {.size = sizeof link};
    uint32_t told = 0;
    stream(pipeline, 0, STEP_ON);
    for (size_t i = 0; gyre_pipeline_link(pipeline, i, &link) == GYRE_OK; i++) {
        if (link.talk != 3)
            continue;
        told++;
        require(strcmp(link.to, "gather") == 0 && strcmp(link.port, "rounds") == 0 && link.waiting == 0);
    }
    require(told == 3);
    require(gyre_link_retarget(pipeline, "relay.done", "gather", soon()) == GYRE_UNIMPLEMENTED);
    require_sentence("pipeline 'tested' has rounds, so its links do not change while it is open");
    must(gyre_pipeline_close(pipeline, soon()));
}

static void refuse(struct conformance *test, const gyre_pipeline_desc *desc, const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, desc, &pipeline) == GYRE_INVALID && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_rounds_are_told(struct conformance *test)
{
    static const char *const note = "note", *const curious = "curious";
    const gyre_link_desc notes = join("note.notes", "read_note"), asks = join("curious.other", "other");
    launch_as(test, "note", 1);
    launch_as(test, "read_note", 1);
    launch_as(test, "curious", 1);
    launch_as(test, "other", 1);
    gyre_pipeline_desc desc = describe(&note, NULL, &notes, 1, "read_not");
    refuse(
        test, &desc,
        "rounds: expected a kernel of the pipeline, found 'read_not': link one to it; did you mean 'read_note'?");
    desc.rounds = "read_note";
    refuse(test, &desc,
           "rounds: expected a kernel whose requests have one size, found 'read_note': its messages "
           "'step_note' have a tail");
    desc.rounds = "note";
    refuse(
        test, &desc,
        "links and rounds lead from kernel 'note' back to it (a cycle), and pipeline 'tested' has no quota");
    desc = describe(&curious, NULL, &asks, 1, "curious");
    desc.quota = 4;
    refuse(test, &desc,
           "rounds: expected a kernel that asks nobody, found 'curious', whose port 'other' asks");
}

/* Whoever handles the last message of a round begins the next one: on a GPU each kernel is compiled for that, or the pipeline refused. */
static void kernels_begin_rounds_or_are_refused(struct conformance *test)
{
    static const char *const entry = "start", *const last = "gather";
    const gyre_link_desc links[] = {join("start.steps", "relay"), join("relay.on", "relay"),
                                    join("relay.done", "gather"), join("gather.steps", "relay")};
    gyre_pipeline_desc desc = describe(&entry, &last, links, 4, "gather");
    desc.quota = STEP_MOST;
    launch_as(test, "start", 1);
    launch_as(test, "gather", 1);
    for (int stage = 3; stage <= 6; stage += 3) {
        gyre_pipeline *pipeline = NULL;
        launch_for(test, "relay", 1, stage);
        if (gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_OK) {
            stream(pipeline, 0, STEP_ON);
            must(gyre_pipeline_close(pipeline, soon()));
        } else {
            require(stage == 3);
            require_sentence(
                "the pipeline has rounds, and kernel 'relay' was compiled without what begins them: "
                "launch it with gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ROUNDS");
        }
        gyre_kernel_release(gyre_kernel_find(test->runtime, "relay"));
    }
}

const struct conformance_case round_cases[] = {
    {"a_round_begins_when_the_last_one_was_handled", a_round_begins_when_the_last_one_was_handled},
    {"rounds_go_on_by_tight_links", rounds_go_on_by_tight_links},
    {"a_round_is_emitted_by_turns", a_round_is_emitted_by_turns},
    {"a_silent_round_ends_its_request", a_silent_round_ends_its_request},
    {"a_failure_begins_no_round", a_failure_begins_no_round},
    {"a_round_ends_with_an_answer_to_one_block", a_round_ends_with_an_answer_to_one_block},
    {"a_round_ends_with_an_answer_to_two_blocks", a_round_ends_with_an_answer_to_two_blocks},
    {"links_of_rounds_are_told", links_of_rounds_are_told},
    {"wrong_rounds_are_told", wrong_rounds_are_told},
    {"kernels_begin_rounds_or_are_refused", kernels_begin_rounds_or_are_refused},
    {NULL, NULL},
};
