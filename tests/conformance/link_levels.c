/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of links: a kernel takes what came by a link of a higher level first, and forgets none. */
#include "conformance.h"
#include "../patience.h"
#include "kernels/link_levels.h"

#include <gyre/pipeline.h>
#include <sched.h>
#include <string.h>

/* gyre_launch_desc.stage of a kernel that chooses among links, and of one that does not. Both count on a GPU alone. */
enum { CHOOSES = 10, LIMITED = 2, ASKS = 3, CHOOSES_AND_ASKS = 11, PARCELS = 48, TURNS_MOST = 200 };

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "link_levels.gyre.c", kernel);
    desc.name = kernel;
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc join(const char *from, const char *to, uint32_t level)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to, .level = level};
}

static gyre_pipeline_desc describe(const char *const *entry, const char *const *answer,
                                   const gyre_link_desc *links, size_t count, uint32_t quota)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = entry,
                                .entry_count = 1,
                                .answers = answer,
                                .answer_count = 1,
                                .links = links,
                                .link_count = count,
                                .quota = quota};
}

static const char *const sort = "sort", *const reader = "read", *const push = "push", *const wheel = "wheel";

/* `pools`: all parcels but those of the middle level come from pools of which the reader is the one member. */
static gyre_pipeline *open_parcels(struct conformance *test, int sorts, int reads, bool pools)
{
    gyre_link_desc links[] = {join("sort.plain", "read", 0), join("sort.better", "read", 1),
                              join("sort.urgent", "read", 3)};
    links[0].pool = pools ? "plains" : NULL;
    links[2].pool = pools ? "rushes" : NULL;
    const gyre_pipeline_desc desc = describe(&sort, &reader, links, 3, 0);
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "sort", sorts);
    launch_as(test, "read", reads);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* Waits until so many messages stand in the links to the kernel that is paused. */
static void await_waiting(gyre_pipeline *pipeline, uint64_t wanted)
{
    for (const uint64_t deadline = soon();;) {
        uint64_t waiting = 0;
        gyre_link_info link = {.size = sizeof link};
        for (size_t i = 0; gyre_pipeline_link(pipeline, i, &link) == GYRE_OK; i++)
            waiting += link.waiting;
        if (waiting == wanted)
            return;
        require(gyre_in_ms(0) < deadline);
        sched_yield();
    }
}

static void send_parcels(gyre_pipeline *pipeline, uint32_t level, uint64_t first)
{
    for (uint64_t i = 0; i < PARCELS; i++) {
        const parcel request = {.number = first + i, .level = level};
        must(gyre_send(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, soon()));
    }
}

/* ---- cases ---- */

/* The plain parcels come first, and stand in the first link: a kernel that looks at links in turn begins with them. */
static void take_by_levels(struct conformance *test, int sorts, int reads, bool pools)
{
    gyre_pipeline *pipeline = open_parcels(test, sorts, reads, pools);
    gyre_kernel *paused = gyre_kernel_find(test->runtime, "read");
    uint64_t before[3] = {0}, next[3] = {0};
    must(gyre_kernel_deactivate(paused, soon()));
    for (uint32_t level = 0; level < 3; level++)
        send_parcels(pipeline, level, (uint64_t)level * PARCELS);
    await_waiting(pipeline, 3 * PARCELS);
    must(gyre_kernel_activate(paused, soon()));
    for (uint64_t i = 0; i < 3 * PARCELS; i++) {
        parcel reply;
        gyre_completion completion;
        must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == completion.index);
        if (reply.level == 2)
            before[2] += reply.rank >= PARCELS;
        else
            before[reply.level] += reply.rank < (uint64_t)(2 - reply.level) * PARCELS;
        if (reply.number % PARCELS == 0)
            next[reply.level] = reply.rank;
        require(reply.rank >= next[reply.level]); /* each link keeps its order */
        next[reply.level] = reply.rank;
    }
    /* one of sixteen runs knows no levels, and may begin anywhere */
    require(before[0] <= PARCELS / 3 && before[1] <= PARCELS / 3 && before[2] <= PARCELS / 3);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void the_highest_level_comes_first(struct conformance *test)
{
    take_by_levels(test, LIMITED, CHOOSES, false);
}

static void the_highest_level_comes_first_where_pools_have_levels(struct conformance *test)
{
    take_by_levels(test, LIMITED, CHOOSES, true);
}

/* Nobody waits for what a tap gets, so its rank shows in those of the other parcels, which were there before. */
static void a_tap_may_come_first(struct conformance *test)
{
    gyre_link_desc links[] = {join("sort.plain", "read", 1), join("sort.urgent", "read", 2),
                              join("sort.better", "nowhere", 0)};
    const gyre_pipeline_desc desc = describe(&sort, &reader, links, 3, 0);
    gyre_pipeline *pipeline = NULL;
    uint64_t before = 0;
    links[1].topic = "rushes";
    links[1].slow = GYRE_SLOW_TAP;
    launch_as(test, "sort", LIMITED);
    gyre_kernel *paused = launch_as(test, "read", CHOOSES);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    must(gyre_kernel_deactivate(paused, soon()));
    send_parcels(pipeline, 0, 0);
    send_parcels(pipeline, 2, PARCELS);
    await_waiting(pipeline, 2 * PARCELS);
    must(gyre_kernel_activate(paused, soon()));
    for (uint64_t i = 0; i < 2 * PARCELS; i++) {
        parcel reply;
        gyre_completion completion;
        must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (completion.index < PARCELS ? GYRE_REPLIED : GYRE_NOT_REPLIED));
        before += completion.outcome == GYRE_REPLIED && reply.rank < PARCELS;
    }
    require(before <= PARCELS / 3);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Kernels of pipelines with asks look at few links another way. */
static void the_highest_level_comes_first_where_kernels_ask(struct conformance *test)
{
    take_by_levels(test, ASKS, CHOOSES_AND_ASKS, false);
}

/* The wheel keeps its own link full, which is the first one it looks at. Another request stops it, by a link behind that. */
static void no_link_is_left_out_where_kernels_ask(struct conformance *test)
{
    const gyre_link_desc links[] = {join("wheel.again", "wheel", 0), join("sort.better", "wheel", 0),
                                    join("sort.plain", "wheel", 0), join("sort.urgent", "nowhere", 0)};
    const gyre_pipeline_desc desc = describe(&sort, &wheel, links, 4, 4);
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "sort", ASKS);
    gyre_kernel *paused = launch_as(test, "wheel", ASKS);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    for (uint64_t number = 1; number <= 4; number++) {
        must(gyre_kernel_deactivate(paused, soon()));
        for (uint32_t level = 2; level-- > 0;) {
            const parcel request = {.number = number, .level = level};
            must(gyre_send(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, soon()));
        }
        await_waiting(pipeline, 2);
        must(gyre_kernel_activate(paused, soon()));
        for (int i = 0; i < 2; i++) {
            parcel reply;
            gyre_completion completion;
            must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
            require(completion.outcome == (completion.index % 2 ? GYRE_NOT_REPLIED : GYRE_REPLIED));
            require(completion.outcome == GYRE_NOT_REPLIED || reply.rank < TURNS_MOST);
        }
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

/* The wheel keeps its own link full, which is of a higher level than the one by which it is stopped. */
static void no_level_is_left_out_for_ever(struct conformance *test)
{
    const gyre_link_desc links[] = {join("push.stop", "wheel", 0), join("push.turn", "wheel", 1),
                                    join("wheel.again", "wheel", 3)};
    const gyre_pipeline_desc desc = describe(&push, &wheel, links, 3, 4);
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "push", LIMITED);
    gyre_kernel *paused = launch_as(test, "wheel", CHOOSES);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    for (uint64_t number = 1; number <= 8; number++) {
        const parcel request = {.number = number};
        parcel reply;
        gyre_completion completion;
        must(gyre_kernel_deactivate(paused, soon()));
        must(gyre_send(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, soon()));
        await_waiting(pipeline, 2);
        must(gyre_kernel_activate(paused, soon()));
        must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.rank < TURNS_MOST);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

static void refuse(struct conformance *test, gyre_link_desc wrong, const char *sentence)
{
    const gyre_link_desc links[] = {wrong, join("sort.better", "read", 1), join("sort.urgent", "nowhere", 0)};
    const gyre_pipeline_desc desc = describe(&sort, &reader, links, 3, 0);
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_INVALID && pipeline == NULL);
    require_sentence(sentence);
}

/* Members of a pool have one level. On CUDA they have none, and neither has a tap. */
static void refuse_or_compare(struct conformance *test)
{
    gyre_link_desc tap = join("sort.plain", "read", 1), other = join("sort.plain", "read", 0), member = tap;
    tap.topic = other.pool = member.pool = "parcels";
    tap.slow = GYRE_SLOW_TAP;
    if (strcmp(test->backend, "cuda") == 0) {
        refuse(test, tap, "level: expected 0, found 1: a tap holds nobody up");
        /* and the link behind it leads to the same kernel by a level */
        refuse(test, other,
               "level: kernel 'read' is a member of a pool, and takes from whichever ring has most");
        refuse(test, member,
               "level: expected 0, found 1: a member of a pool takes from whichever ring has most");
        return;
    }
    gyre_link_desc links[] = {member,
                              join("sort.plain", "push", 2),
                              join("sort.better", "read", 1),
                              join("sort.urgent", "nowhere", 0),
                              join("push.stop", "nowhere", 0),
                              join("push.turn", "nowhere", 0)};
    const gyre_pipeline_desc desc = describe(&sort, &reader, links, 6, 0);
    gyre_pipeline *pipeline = NULL;
    links[1].pool = "parcels";
    require(gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_INVALID && pipeline == NULL);
    require_sentence("level: the members of pool 'parcels' take from the same rings, which have one level: "
                     "expected 1, as kernel 'read' has it, found 2");
}

static void wrong_levels_are_told(struct conformance *test)
{
    launch_as(test, "sort", LIMITED);
    launch_as(test, "read", CHOOSES);
    launch_as(test, "push", LIMITED);
    refuse(test, join("sort.plain", "read", 4),
           "link 'sort.plain': level: expected 0 to 3, of which the highest comes first, found 4");
    refuse(test, join("sort.plain", "nowhere", 1),
           "link 'sort.plain': level: expected 0, found 1: its messages are thrown away");
    refuse(test, join("sort.plain", "host", 1),
           "link 'sort.plain': level: expected 0, found 1: programs get its messages");
    refuse_or_compare(test);
}

/* On a GPU who chooses among links is compiled for that, or its links have no levels. */
static void kernels_choose_or_are_refused(struct conformance *test)
{
    const gyre_link_desc links[] = {join("sort.plain", "read", 0), join("sort.better", "read", 1),
                                    join("sort.urgent", "nowhere", 0)};
    const gyre_pipeline_desc desc = describe(&sort, &reader, links, 3, 0);
    launch_as(test, "sort", LIMITED);
    for (int stage = LIMITED; stage <= CHOOSES; stage += CHOOSES - LIMITED) {
        gyre_pipeline *pipeline = NULL;
        gyre_kernel *kernel = launch_as(test, "read", stage);
        if (gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_OK) {
            send_parcels(pipeline, 1, 0);
            must(gyre_pipeline_close(pipeline, soon()));
        } else {
            require(stage == LIMITED);
            require_sentence(
                "level: kernel 'read' was compiled without what chooses among links: launch it with "
                "gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_LEVELS");
        }
        gyre_kernel_release(kernel);
    }
}

const struct conformance_case link_level_cases[] = {
    {"the_highest_level_comes_first", the_highest_level_comes_first},
    {"the_highest_level_comes_first_where_kernels_ask", the_highest_level_comes_first_where_kernels_ask},
    {"no_link_is_left_out_where_kernels_ask", no_link_is_left_out_where_kernels_ask},
    {"the_highest_level_comes_first_where_pools_have_levels",
     the_highest_level_comes_first_where_pools_have_levels},
    {"a_tap_may_come_first", a_tap_may_come_first},
    {"no_level_is_left_out_for_ever", no_level_is_left_out_for_ever},
    {"wrong_levels_are_told", wrong_levels_are_told},
    {"kernels_choose_or_are_refused", kernels_choose_or_are_refused},
    {NULL, NULL},
};
