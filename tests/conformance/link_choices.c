/* SPDX-License-Identifier: Apache-2.0 */
/* Links that lead to one of the types of a kernel: it gets the messages as those that clients send of that type. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/link_choices.h"

#include <gyre/pipeline.h>
#include <string.h>

/* gyre_launch_desc.stage of a kernel that links lead to one type of, and of one that has no such link. Both count on a GPU alone. */
enum { CHOSEN = 18, STAGE = 1, SHIPMENTS = 120 };

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, uint32_t blocks, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "link_choices.gyre.c", kernel);
    desc.name = kernel;
    desc.blocks = blocks;
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

static gyre_status open_links(struct conformance *test, const gyre_link_desc *links, bool tight,
                              gyre_pipeline **out)
{
    static const char *const entry = "ship", *const answer = "booth";
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = &answer,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = 3,
                                     .links_tight = tight};
    return gyre_pipeline_open(test->runtime, &desc, out);
}

static uint64_t sum_of(const shipment *sent)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; sent->what == 2 && i < sent->length; i++)
        sum += SIGHT_LETTER(sent->number, i);
    for (uint64_t i = 0; sent->what == 3 && i < SHEET_WORDS; i++)
        sum += SIGHT_WORD(sent->number, i);
    return sum;
}

static shipment shipment_of(uint64_t number)
{
    return (shipment){.number = number,
                      .what = 1 + (uint32_t)(number % 3),
                      .length = (uint32_t)(number * 37 % (MEMO_MOST + 1))};
}

static void stream(gyre_pipeline *pipeline)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < SHIPMENTS; received++) {
        booth_reply reply;
        gyre_completion completion;
        for (; sent < SHIPMENTS; sent++) {
            const shipment request = shipment_of(sent);
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        const shipment request = shipment_of(completion.index);
        require(completion.outcome == GYRE_REPLIED && reply.gyre_choice == request.what);
        const sight *seen = &reply.gyre_one.gyre_of_ping;
        require(seen->number == request.number && seen->sum == sum_of(&request));
    }
}

static void run_booths(struct conformance *test, uint32_t blocks, bool tight)
{
    const gyre_link_desc links[] = {join("ship.pings", "booth:ping"), join("ship.memos", "booth:memo"),
                                    join("ship.sheets", "booth:sheet")};
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "ship", blocks, STAGE);
    launch_as(test, "booth", blocks, CHOSEN);
    must(open_links(test, links, tight, &pipeline));
    gyre_link_info link = {.size = sizeof link};
    must(gyre_pipeline_link(pipeline, 1, &link));
    require(strcmp(link.to, "booth") == 0 && strcmp(link.as, "memo") == 0);
    stream(pipeline);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- cases ---- */

static void links_lead_to_types_of_a_kernel(struct conformance *test)
{
    run_booths(test, 1, false);
}

static void tight_links_of_blocks_lead_to_types(struct conformance *test)
{
    run_booths(test, 2, true);
}

static void refuse(struct conformance *test, gyre_link_desc wrong, const char *sentence)
{
    const gyre_link_desc links[] = {wrong, join("ship.memos", "nowhere"), join("ship.sheets", "nowhere")};
    gyre_pipeline *pipeline = NULL;
    const gyre_status status = open_links(test, links, false, &pipeline);
    require((status == GYRE_INVALID || status == GYRE_INCOMPATIBLE) && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_types_are_told(struct conformance *test)
{
    launch_as(test, "ship", 1, STAGE);
    launch_as(test, "booth", 1, CHOSEN);
    launch_as(test, "plain", 1, STAGE);
    refuse(
        test, join("ship.pings", "booth:pong"),
        "link 'ship.pings': kernel 'booth' takes no messages 'pong'; it takes ping, memo, sheet; did you mean "
        "'ping'?");
    refuse(test, join("ship.pings", "booth:"), "to: expected KERNEL or KERNEL:TYPE, found 'booth:'");
    refuse(test, join("ship.pings", "booth:sheet"), "the type 'sheet' of kernel 'booth'");
    refuse(test, join("ship.pings", "plain:ping"),
           "to: kernel 'plain' takes messages 'ping' alone, found 'plain:ping': leave ':ping' out");
    refuse(
        test, join("ship.pings", "booth"),
        "kernel 'booth' takes messages of several types: let port 'ship.pings' lead to one of them, as in to = "
        "booth:ping");
    gyre_link_desc by_key = join("ship.pings", "booth:ping");
    by_key.share = GYRE_SHARE_KEY;
    by_key.key = "number";
    refuse(test, by_key,
           "share = key: the link leads to one of the types that kernel 'booth' takes, and is by no key");
    gyre_link_desc topic = join("ship.pings", "booth:ping");
    topic.topic = "pings";
    refuse(test, topic, "a topic leads to kernels of one type, and 'booth' takes several");
}

/* A header in common does not make one type of a protocol's replies and of those of another kernel. */
static void answers_of_a_protocol_and_of_one_type_are_told(struct conformance *test)
{
    static const char *const entry = "ship", *const answers[] = {"booth", "plain"};
    const gyre_link_desc links[] = {join("ship.pings", "plain"), join("ship.memos", "booth:memo"),
                                    join("ship.sheets", "booth:sheet")};
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "ship", 1, STAGE);
    launch_as(test, "booth", 1, CHOSEN);
    launch_as(test, "plain", 1, STAGE);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 2,
                                     .links = links,
                                     .link_count = 3};
    require(gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_INCOMPATIBLE);
    require_sentence("answers have replies of one type: kernel 'booth' replies with the types of protocol '");
    require_sentence("', kernel 'plain' with 'sight': name one answer, or kernels of one protocol");
}

/* On a GPU who takes several types is compiled for what ports send, or refused. */
static void kernels_take_types_or_are_refused(struct conformance *test)
{
    const gyre_link_desc links[] = {join("ship.pings", "booth:ping"), join("ship.memos", "booth:memo"),
                                    join("ship.sheets", "booth:sheet")};
    launch_as(test, "ship", 1, STAGE);
    for (int stage = 2; stage <= CHOSEN; stage += CHOSEN - 2) {
        gyre_pipeline *pipeline = NULL;
        gyre_kernel *kernel = launch_as(test, "booth", 1, stage);
        if (open_links(test, links, false, &pipeline) == GYRE_OK) {
            stream(pipeline);
            must(gyre_pipeline_close(pipeline, soon()));
        } else {
            require(stage == 2);
            require_sentence(
                "kernel 'booth' was compiled without what takes messages of a port as one of its types: "
                "launch it with gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_CHOICES");
        }
        gyre_kernel_release(kernel);
    }
}

const struct conformance_case link_choice_cases[] = {
    {"links_lead_to_types_of_a_kernel", links_lead_to_types_of_a_kernel},
    {"tight_links_of_blocks_lead_to_types", tight_links_of_blocks_lead_to_types},
    {"wrong_types_are_told", wrong_types_are_told},
    {"answers_of_a_protocol_and_of_one_type_are_told", answers_of_a_protocol_and_of_one_type_are_told},
    {"kernels_take_types_or_are_refused", kernels_take_types_or_are_refused},
    {NULL, NULL},
};
