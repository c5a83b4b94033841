/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: ports whose messages any block of several kernels takes, each message once. */
#include "graphs.h"
#include "../patience.h"
#include "kernels/pools.h"

#include <gyre/pipeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 3 };

/* ---- making pipelines ---- */

/*
 * A step of a tree is an epoch on OpenCL, and takes a while on a GPU made of software, which takes long where processors are few: there
 * trees are smaller.
 */
static uint32_t sized(const struct conformance *test, uint32_t usual, uint32_t when_slow)
{
    const char *mixed = getenv("GYRE_TEST_BACKENDS");
    const bool is_slow = strstr(mixed ? mixed : test->backend, "opencl") || getenv("EMULATOR_UNITS");
    return is_slow ? when_slow : usual;
}

/* `stage`: as gyre_launch_desc has it, which only a GPU's compiler needs to be told. */
static void launch_for(struct conformance *test, const char *kernel, const char *name, uint32_t blocks,
                       int stage)
{
    gyre_kernel *launched = NULL;
    const bool asks = stage == GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_POOL + GYRE_STAGE_WITH_ASKS;
    const char *file = strncmp(kernel, "node", 4) == 0 ? "links.gyre.c"
                       : asks                          ? "pools_ask.gyre.c"
                                                       : "pools.gyre.c";
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = strncmp(test->backend, "cuda", 4) == 0 ? stage : 0;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static void launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    launch_for(test, kernel, name, blocks, 4);
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

static gyre_link_desc member(const char *from, const char *to, gyre_pool_order which)
{
    gyre_link_desc link = join(from, to);
    link.pool = "work";
    link.order = which;
    return link;
}

static gyre_pipeline_desc describe(const char *const *entry, const char *const *answers, size_t answer_count,
                                   const gyre_link_desc *links, size_t count)
{
    return (gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                .name = "tested",
                                .entries = entry,
                                .entry_count = 1,
                                .answers = answers,
                                .answer_count = answer_count,
                                .links = links,
                                .link_count = count};
}

static gyre_pipeline *open_pipeline(struct conformance *test, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline = NULL;
    must(gyre_pipeline_open(test->runtime, desc, &pipeline));
    return pipeline;
}

static gyre_link_info link_of(const gyre_pipeline *pipeline, size_t index)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, index, &info));
    return info;
}

static const char *const workers[] = {"w0", "w1", "w2"};

/* deal -> a pool of three kernels. */
static gyre_pipeline *open_workers(struct conformance *test, uint32_t blocks, bool tight)
{
    static const char *const entry = "deal";
    gyre_link_desc links[MEMBERS_MAX];
    launch_as(test, "deal", entry, 2);
    for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
        launch_as(test, "work", workers[i], i ? blocks : 1);
        links[i] = member("deal.jobs", workers[i], GYRE_POOL_NEWEST_FIRST);
    }
    gyre_pipeline_desc desc = describe(&entry, workers, MEMBERS_MAX, links, MEMBERS_MAX);
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

/* hunt -> a pool of itself. */
static gyre_pipeline *open_hunt(struct conformance *test, const char *kernel, uint32_t blocks,
                                gyre_pool_order which, uint32_t quota, bool tight)
{
    static const char *const entry = "hunt";
    const gyre_link_desc link = member("hunt.more", entry, which);
    launch_as(test, kernel, entry, blocks);
    gyre_pipeline_desc desc = describe(&entry, &entry, 1, &link, 1);
    desc.quota = quota;
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

/* ---- talking ---- */

/* Streams requests, the first of which is number `first` of the queue, and whose replies come in any order: each once, and right. */
static void stream_jobs(gyre_pipeline *pipeline, uint64_t first, uint64_t count)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0, numbers = 0;
    for (uint64_t received = 0; received < count; received++) {
        prey reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const uint64_t number = first + sent;
            const prey request = {.number = number,
                                  .wide = 1 + (uint32_t)(number % 8),
                                  .what = number % 16 == 7 ? PREY_FAILS : PREY_HUNT};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        numbers += completion.index;
        if (completion.index % 16 == 7) {
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 9);
            continue;
        }
        require(completion.outcome == GYRE_REPLIED && reply.number == completion.index &&
                reply.leaves == 3 * reply.number);
    }
    require(numbers == count * first + count * (count - 1) / 2);
}

static gyre_completion hunt(gyre_queue *queue, prey request, prey *reply)
{
    gyre_completion completion = {0};
    must(gyre_call(queue, &request, sizeof request, reply, sizeof *reply, &completion, soon()));
    return completion;
}

static uint64_t power(uint64_t base, uint32_t exponent)
{
    uint64_t product = 1;
    while (exponent--)
        product *= base;
    return product;
}

/* Streams trees of `depth`, each of which has its leaves. */
static void stream_trees(gyre_pipeline *pipeline, uint64_t count, uint32_t depth, uint32_t what)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        prey reply;
        gyre_completion completion;
        for (; sent < count; sent++) {
            const prey request = {
                .number = 1, .left = depth, .wide = 1 + (uint32_t)(sent % PREY_MOST), .what = what};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED &&
                reply.leaves == power(1 + completion.index % PREY_MOST, depth));
    }
}

/* ---- several kernels ---- */

static void each_job_of_a_pool_is_done_once(struct conformance *test)
{
    const uint64_t jobs = sized(test, 4000, 800);
    gyre_pipeline *pipeline = open_workers(test, 2, false);
    uint64_t taken = 0, emitted = 0;
    for (uint64_t i = 0; i < jobs; i++)
        emitted += 1 + i % 8;
    stream_jobs(pipeline, 0, jobs);
    for (size_t i = 0; i < MEMBERS_MAX; i++) {
        const gyre_link_info link = link_of(pipeline, i);
        const uint32_t takers = link.rings == 1 ? 3 : 5; /* with one ring a kernel takes as one block does */
        require(strcmp(link.pool, "work") == 0 && link.rings <= 2 && link.stolen == 0);
        require(getenv("GYRE_TEST_BACKENDS") ? link.takers <= 5 : link.takers == takers);
        taken += link.sent;
    }
    require(taken == emitted);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void jobs_of_a_tight_pool_are_done(struct conformance *test)
{
    gyre_pipeline *pipeline = open_workers(test, 1, true);
    require(link_of(pipeline, 0).capacity == 16);
    stream_jobs(pipeline, 0, sized(test, 1000, 200));
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Members that are paused hold nothing that another one could do. */
static void members_work_while_others_are_paused(struct conformance *test)
{
    gyre_pipeline *pipeline = open_workers(test, 1, false);
    const uint64_t jobs = sized(test, 500, 100);
    uint64_t taken[MEMBERS_MAX];
    for (size_t awake = 0; awake < MEMBERS_MAX; awake++) {
        for (size_t i = 0; i < MEMBERS_MAX; i++) {
            gyre_kernel *kernel = gyre_kernel_find(test->runtime, workers[i]);
            must(i == awake ? gyre_kernel_activate(kernel, soon()) : gyre_kernel_deactivate(kernel, soon()));
            taken[i] = link_of(pipeline, i).sent;
        }
        stream_jobs(pipeline, awake * jobs, jobs);
        for (size_t i = 0; i < MEMBERS_MAX; i++)
            require((link_of(pipeline, i).sent == taken[i]) == (i != awake));
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

/* spread, as two members of a pool of both. */
static gyre_pipeline *open_two(struct conformance *test, bool tight)
{
    static const char *const entry = "one";
    const gyre_link_desc links[] = {member("one.more", "one", GYRE_POOL_NEWEST_FIRST),
                                    member("one.more", "two", GYRE_POOL_NEWEST_FIRST),
                                    member("two.more", "one", GYRE_POOL_NEWEST_FIRST),
                                    member("two.more", "two", GYRE_POOL_NEWEST_FIRST),
                                    join("one.leaves", "tell"),
                                    join("two.leaves", "tell")};
    launch_as(test, "spread", "one", 1);
    launch_as(test, "spread", "two", 2);
    launch_as(test, "tell", "tell", 1);
    gyre_pipeline_desc desc = describe(&entry, NULL, 0, links, 6);
    desc.quota = 3000; /* the leaves of a tree may wait for `tell` */
    desc.links_tight = tight;
    return open_pipeline(test, &desc);
}

/* What is left in the rings of a member that is paused is done by the other ones. */
static void work_of_a_paused_member_is_stolen(struct conformance *test)
{
    enum { ROUNDS = 3 };
    const uint32_t trees = sized(test, 30, 6), depth = sized(test, 10, 5);
    gyre_pipeline *pipeline = open_two(test, false);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    gyre_kernel *one = gyre_kernel_find(test->runtime, "one");
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < trees; i++) {
            const prey request = {.number = i, .left = depth, .wide = 2};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        must(gyre_kernel_deactivate(one, soon()));
        const uint64_t deadline_ns = soon();
        while (link_of(pipeline, 0).waiting || link_of(pipeline, 2).waiting)
            require(gyre_now_ns() < deadline_ns);
        must(gyre_kernel_activate(one, soon()));
        for (uint64_t i = 0; i < trees; i++) {
            gyre_completion completion;
            must(gyre_receive(queue, NULL, 0, &completion, soon()));
            require(completion.outcome == GYRE_NOT_REPLIED);
        }
    }
    uint64_t taken = 0, numbers = 0;
    prey told = {.what = PREY_FAILS};
    for (size_t i = 0; i < 4; i++)
        taken += link_of(pipeline, i).sent;
    require(taken == (uint64_t)ROUNDS * trees * (((uint64_t)2 << depth) - 2));
    must(gyre_pipeline_close(pipeline, soon()));
    hunt(gyre_kernel_queue(gyre_kernel_find(test->runtime, "tell")), told, &told);
    for (uint64_t i = 0; i < trees; i++)
        numbers += ((i << depth) << depth) + ((uint64_t)1 << depth) * (((uint64_t)1 << depth) - 1) / 2;
    require(told.leaves == (uint64_t)ROUNDS * trees << depth && told.number == ROUNDS * numbers);
}

static void kernels_share_trees_by_tight_rings(struct conformance *test)
{
    gyre_pipeline *pipeline = open_two(test, true);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint64_t i = 0; i < 20; i++) {
        const prey request = {.number = i, .left = sized(test, 9, 5), .wide = 2};
        gyre_completion completion;
        must(gyre_call(queue, &request, sizeof request, NULL, 0, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- trees ---- */

/* In depth, a tree of two branches never has more messages than it is deep, and one; in breadth it does. */
static void a_tree_in_depth_needs_little_memory(struct conformance *test)
{
    const uint32_t depth = sized(test, 14, 7);
    const prey request = {.number = 1, .left = depth, .wide = 2};
    prey reply;
    for (int oldest = 0; oldest < 2; oldest++) {
        gyre_pipeline *pipeline = open_hunt(test, "hunt", 1, (gyre_pool_order)oldest, depth + 1, oldest == 0);
        const gyre_completion completion = hunt(gyre_pipeline_queue(pipeline), request, &reply);
        if (oldest)
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -16);
        else
            require(completion.outcome == GYRE_REPLIED && reply.leaves == (uint64_t)1 << depth);
        must(gyre_pipeline_close(pipeline, soon()));
        gyre_kernel_release(gyre_kernel_find(test->runtime, "hunt"));
    }
}

/* Each block has as many messages of a tree as it is deep, for each branch but one, and the one that it handles. */
static void blocks_steal_from_each_other(struct conformance *test)
{
    enum { BLOCKS = 3 };
    const uint32_t depth = sized(test, 7, 3);
    for (int tight = 0; tight < 2; tight++) {
        gyre_pipeline *pipeline = open_hunt(test, "hunt", BLOCKS, GYRE_POOL_NEWEST_FIRST,
                                            BLOCKS * (depth * (PREY_MOST - 1) + 1), tight);
        stream_trees(pipeline, sized(test, 60, 12), depth, PREY_HUNT);
        const gyre_link_info link = link_of(pipeline, 0);
        require(link.waiting == 0 && link.stolen <= link.sent && link.order == GYRE_POOL_NEWEST_FIRST);
        must(gyre_pipeline_close(pipeline, soon()));
        gyre_kernel_release(gyre_kernel_find(test->runtime, "hunt"));
    }
}

static void trees_in_breadth_are_complete(struct conformance *test)
{
    gyre_pipeline *pipeline = open_hunt(test, "hunt", 3, GYRE_POOL_OLDEST_FIRST, 3000, true);
    stream_trees(pipeline, sized(test, 40, 12), sized(test, 6, 4), PREY_HUNT);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Handlers that are called again keep their message, whose place another one may have by then. */
static void work_is_emitted_by_turns(struct conformance *test)
{
    gyre_pipeline *pipeline = open_hunt(test, "hunt", 2, GYRE_POOL_NEWEST_FIRST, 200, true);
    stream_trees(pipeline, sized(test, 60, 12), sized(test, 6, 3), PREY_BY_TURNS);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void large_work_arrives_whole(struct conformance *test)
{
    static bulk request, reply;
    enum { DEPTH = 6, BLOCKS = 3 };
    gyre_pipeline *pipeline =
        open_hunt(test, "pile", BLOCKS, GYRE_POOL_NEWEST_FIRST, BLOCKS * (DEPTH + 1), true);
    request = (bulk){.number = 1, .left = DEPTH, .good = 1};
    for (uint64_t i = 0; i < 2000; i++)
        request.w[i] = 2000 + i;
    for (uint32_t i = 0; i < sized(test, 20, 4); i++) {
        gyre_completion completion;
        must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply,
                       &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == 1 << DEPTH);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_failure_ends_its_tree_alone(struct conformance *test)
{
    gyre_queue *queue = gyre_pipeline_queue(open_hunt(test, "hunt", 2, GYRE_POOL_NEWEST_FIRST, 100, false));
    for (uint64_t i = 0; i < 40; i++) {
        const prey request = {.number = 1, .left = 2, .wide = 2, .what = i % 2 ? PREY_HUNT : PREY_FAILS};
        prey reply;
        const gyre_completion completion = hunt(queue, request, &reply);
        if (i % 2)
            require(completion.outcome == GYRE_REPLIED && reply.leaves == 4);
        else
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 9);
    }
}

static void a_pool_closes_with_work_in_it(struct conformance *test)
{
    gyre_pipeline *pipeline = open_workers(test, 1, false);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, workers[i]), soon()));
    for (uint64_t i = 0; i < 50; i++) {
        const prey request = {.number = i, .wide = 2};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    const uint64_t deadline_ns = soon();
    while (link_of(pipeline, 0).waiting < 100)
        require(gyre_now_ns() < deadline_ns);
    must(gyre_pipeline_close(pipeline, gyre_in_ms(20)));
}

/* ---- random graphs ---- */

/* A graph of links.c, of whose nodes some have a twin, which does the same: links to such a node lead to a pool of both. */
struct twins {
    struct graph graph;
    bool doubled[GRAPH_NODES];
    char names[GRAPH_NODES][2][16], ports[GRAPH_NODES][2][2][32];
    gyre_link_desc links[GRAPH_NODES * 8];
    size_t count;
    bool levels; /* pools have some */
};

static void draw_twins(struct twins *twins, uint64_t *random)
{
    struct graph *graph = &twins->graph;
    memset(twins, 0, sizeof *twins);
    for (uint32_t i = 0; i < GRAPH_NODES; i++) {
        const uint64_t behind = GRAPH_NODES - i - 1;
        twins->doubled[i] = i && graph_draw(random, 2);
        for (uint32_t port = 0; port < 2; port++) {
            const bool nowhere = behind == 0 || (port && graph_draw(random, 4) == 0);
            const uint32_t drawn = nowhere ? 0 : i + 1 + (uint32_t)graph_draw(random, behind);
            graph->targets[i][port][0] = port == 0 && behind ? i + 1 : drawn;
            graph->counts[i][port] = !nowhere;
        }
    }
}

/* The links of one port of a node or of its twin. */
static void link_port(struct twins *twins, uint32_t node, uint32_t twin, uint32_t port)
{
    char *from = twins->ports[node][twin][port];
    const uint32_t target = twins->graph.targets[node][port][0];
    snprintf(from, sizeof twins->ports[0][0][0], "%s.%s", twins->names[node][twin], port ? "right" : "left");
    if (!twins->graph.counts[node][port]) {
        twins->links[twins->count++] = join(from, "nowhere");
        return;
    }
    for (uint32_t i = 0; i < 1 + (uint32_t)twins->doubled[target]; i++) {
        gyre_link_desc *link = &twins->links[twins->count++];
        *link = twins->doubled[target] ? member(from, twins->names[target][i], GYRE_POOL_NEWEST_FIRST)
                                       : join(from, twins->names[target][i]);
        link->level = twins->levels ? (node + port) % 3 : 0;
    }
}

static gyre_pipeline *open_twins(struct conformance *test, struct twins *twins, uint64_t *random)
{
    const char *answers[GRAPH_NODES * 2];
    size_t answer_count = 0;
    twins->levels = strcmp(test->backend, "cuda") != 0;
    for (uint32_t i = 0; i < GRAPH_NODES; i++)
        for (uint32_t twin = 0; twin < 1 + (uint32_t)twins->doubled[i]; twin++) {
            char *name = twins->names[i][twin], kernel[16];
            snprintf(kernel, sizeof kernel, "node%u", i);
            snprintf(name, sizeof twins->names[0][0], twin ? "twin%u" : "node%u", i);
            launch_for(test, kernel, name, 1 + (uint32_t)graph_draw(random, 2), twins->doubled[i] ? 4 : 0);
            answers[answer_count++] = name;
        }
    for (uint32_t i = 0; i < GRAPH_NODES; i++)
        for (uint32_t twin = 0; twin < 1 + (uint32_t)twins->doubled[i]; twin++)
            for (uint32_t port = 0; port < 2; port++)
                link_port(twins, i, twin, port);
    gyre_pipeline_desc desc = describe(&answers[0], answers, answer_count, twins->links, twins->count);
    desc.links_tight = (uint32_t)graph_draw(random, 2);
    return open_pipeline(test, &desc);
}

static void run_twins(struct conformance *test, uint64_t seed)
{
    static struct twins twins;
    uint64_t random = seed;
    draw_twins(&twins, &random);
    graph_run(test, &twins.graph, open_twins(test, &twins, &random), seed, 2000);
    for (uint32_t i = 0; i < GRAPH_NODES; i++)
        if (twins.doubled[i])
            gyre_kernel_release(gyre_kernel_find(test->runtime, twins.names[i][1]));
}

static void graphs_with_pools_end_each_flow_as_foreseen(struct conformance *test)
{
    graph_for_seeds(test, 3, run_twins);
}

/* ---- refusals ---- */

static void refuse(struct conformance *test, const gyre_pipeline_desc *desc, gyre_status status,
                   const char *sentence)
{
    gyre_pipeline *pipeline = NULL;
    require(gyre_pipeline_open(test->runtime, desc, &pipeline) == status && pipeline == NULL);
    require_sentence(sentence);
}

static void wrong_pools_are_told(struct conformance *test)
{
    static const char *const entry = "deal";
    launch_as(test, "deal", entry, 1);
    launch_as(test, "work", "w0", 1);
    launch_as(test, "work", "w1", 1);
    launch_as(test, "other", "other", 1);
    const gyre_link_desc good = member("deal.jobs", "w0", GYRE_POOL_NEWEST_FIRST);
    gyre_link_desc topic = good, keyed = good, nameless = good, unordered = good, wild = good;
    topic.topic = "told";
    keyed.key = "number";
    nameless.pool = "";
    unordered.pool = NULL;
    unordered.order = GYRE_POOL_OLDEST_FIRST;
    wild.order = (gyre_pool_order)7;
    const struct {
        gyre_link_desc links[2];
        size_t count;
        gyre_status status;
        const char *sentence;
    } wrong[] = {
        {{good, good}, 2, GYRE_INVALID, "kernel 'w0' is a member twice"},
        {{good, join("deal.jobs", "w1")}, 2, GYRE_INVALID, "has a link already"},
        {{good, member("deal.jobs", "w1", GYRE_POOL_OLDEST_FIRST)}, 2, GYRE_INVALID, "has a link already"},
        {{good, member("deal.jobs", "other", GYRE_POOL_NEWEST_FIRST)},
         2,
         GYRE_INCOMPATIBLE,
         "port 'deal.jobs'"},
        {{good, member("deal.jobs", "w9", GYRE_POOL_NEWEST_FIRST)},
         2,
         GYRE_NOT_FOUND,
         "there is no kernel 'w9'"},
        {{member("deal.jobs", "nowhere", GYRE_POOL_NEWEST_FIRST)},
         1,
         GYRE_INVALID,
         "members of a pool are kernels"},
        {{member("deal.jobs", "host", GYRE_POOL_NEWEST_FIRST)},
         1,
         GYRE_INVALID,
         "members of a pool are kernels"},
        {{topic}, 1, GYRE_INVALID, "found both"},
        {{keyed}, 1, GYRE_INVALID, "found both"},
        {{nameless}, 1, GYRE_INVALID, "pool: expected 1 to 63 characters"},
        {{unordered}, 1, GYRE_INVALID, "order: expected 0, because it names no pool, found 1"},
        {{wild}, 1, GYRE_INVALID, "order: expected a gyre_pool_order, found 7"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const gyre_pipeline_desc desc = describe(&entry, NULL, 0, wrong[i].links, wrong[i].count);
        refuse(test, &desc, wrong[i].status, wrong[i].sentence);
    }
    static const char *const hunter = "hunt";
    launch_as(test, "hunt", hunter, 1);
    const gyre_link_desc round = member("hunt.more", hunter, GYRE_POOL_NEWEST_FIRST);
    gyre_pipeline_desc desc = describe(&hunter, &hunter, 1, &round, 1);
    refuse(test, &desc, GYRE_INVALID, "links lead from kernel 'hunt' back to it (a cycle)");
}

/* Members are those that the pipeline was opened with. */
static void members_of_an_open_pool_stay(struct conformance *test)
{
    gyre_pipeline *pipeline = open_workers(test, 1, false);
    const gyre_link_desc more = {.size = sizeof more, .topic = "work", .to = "w0", .pool = "work"};
    require(gyre_link_retarget(pipeline, "work", "w0", soon()) == GYRE_INVALID);
    require_sentence("'work' is a pool, whose members do not change while the pipeline is open");
    require(gyre_link_open(pipeline, &more) == GYRE_INVALID);
    require_sentence("expected no pool, found 'work'");
    require(gyre_link_close(pipeline, "work", "w0", soon()) == GYRE_NOT_FOUND);
    stream_jobs(pipeline, 0, 100);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* A member that was compiled without what takes from pools is refused where that makes a difference; a sender to a pool needs nothing. */
static void members_are_compiled_for_it_or_refused(struct conformance *test)
{
    static const char *const entry = "deal", *const last = "w0";
    const gyre_link_desc link = member("deal.jobs", "w0", GYRE_POOL_NEWEST_FIRST);
    const gyre_pipeline_desc desc = describe(&entry, &last, 1, &link, 1);
    launch_for(test, "deal", entry, 1, 1);
    for (int stage = 2; stage <= 4; stage += 2) {
        gyre_pipeline *pipeline = NULL;
        launch_for(test, "work", last, 1, stage);
        if (gyre_pipeline_open(test->runtime, &desc, &pipeline) == GYRE_OK) {
            stream_jobs(pipeline, 0, 40);
            must(gyre_pipeline_close(pipeline, soon()));
            gyre_kernel_release(gyre_kernel_find(test->runtime, entry)); /* its queue counts requests */
            launch_for(test, "deal", entry, 1, 1);
        } else {
            require(stage == 2);
            require_sentence(
                "kernel 'w0' is a member of pool 'work', and was compiled without what takes from "
                "pools: launch it with gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_POOL");
        }
        gyre_kernel_release(gyre_kernel_find(test->runtime, last));
    }
}

/* A backend without pools says so, before anything is joined. */
static void pools_are_there_or_refused(struct conformance *test)
{
    static const char *const entry = "deal", *const last = "w0";
    gyre_link_desc link = member("deal.jobs", "w0", GYRE_POOL_NEWEST_FIRST);
    gyre_pipeline *pipeline = NULL;
    launch_as(test, "deal", entry, 1);
    launch_as(test, "work", last, 1);
    const gyre_pipeline_desc desc = describe(&entry, &last, 1, &link, 1);
    const gyre_status status = gyre_pipeline_open(test->runtime, &desc, &pipeline);
    if (status != GYRE_OK) {
        require(status == GYRE_UNIMPLEMENTED && pipeline == NULL);
        require_sentence("kernel 'deal' sends to pool 'work', and backend '");
        link.pool = NULL;
        must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    }
    stream_jobs(pipeline, 0, 40);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* What is compiled for asks and for pools holds, for a block kernel, all that its lanes share. */
static void a_block_kernel_asks_and_sends_to_a_pool(struct conformance *test)
{
    static const char *const names[] = {"teller", "clerk", "porter"};
    const gyre_link_desc links[] = {join("teller.about", "clerk"),
                                    member("teller.jobs", "porter", GYRE_POOL_OLDEST_FIRST)};
    for (size_t i = 0; i < 3; i++)
        launch_for(test, names[i], names[i], 1,
                   GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_POOL + GYRE_STAGE_WITH_ASKS);
    gyre_pipeline_desc desc = describe(&names[0], &names[2], 1, links, 2);
    desc.quota = 4;
    gyre_pipeline *pipeline = open_pipeline(test, &desc);
    for (uint64_t number = 0; number < 20; number++) {
        uint64_t reply = 0;
        must(gyre_call(gyre_pipeline_queue(pipeline), &number, sizeof number, &reply, sizeof reply, NULL,
                       soon()));
        require(reply == number * 3 + 1);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

const struct conformance_case pool_cases[] = {
    {"each_job_of_a_pool_is_done_once", each_job_of_a_pool_is_done_once},
    {"jobs_of_a_tight_pool_are_done", jobs_of_a_tight_pool_are_done},
    {"members_work_while_others_are_paused", members_work_while_others_are_paused},
    {"work_of_a_paused_member_is_stolen", work_of_a_paused_member_is_stolen},
    {"kernels_share_trees_by_tight_rings", kernels_share_trees_by_tight_rings},
    {"a_tree_in_depth_needs_little_memory", a_tree_in_depth_needs_little_memory},
    {"blocks_steal_from_each_other", blocks_steal_from_each_other},
    {"trees_in_breadth_are_complete", trees_in_breadth_are_complete},
    {"work_is_emitted_by_turns", work_is_emitted_by_turns},
    {"large_work_arrives_whole", large_work_arrives_whole},
    {"a_failure_ends_its_tree_alone", a_failure_ends_its_tree_alone},
    {"a_pool_closes_with_work_in_it", a_pool_closes_with_work_in_it},
    {"graphs_with_pools_end_each_flow_as_foreseen", graphs_with_pools_end_each_flow_as_foreseen},
    {"wrong_pools_are_told", wrong_pools_are_told},
    {"a_block_kernel_asks_and_sends_to_a_pool", a_block_kernel_asks_and_sends_to_a_pool},
    {"members_of_an_open_pool_stay", members_of_an_open_pool_stay},
    {"members_are_compiled_for_it_or_refused", members_are_compiled_for_it_or_refused},
    {"pools_are_there_or_refused", pools_are_there_or_refused},
    {NULL, NULL},
};
