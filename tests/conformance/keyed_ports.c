/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors that send to keyed actors: what becomes of each request, and of the states, is worked out here without kernels. What a
 * message does depends on the message alone, so the order in which blocks handle them does not matter.
 */
#include "conformance.h"
#include "graphs.h"
#include "kernels/keyed_ports.h"

#include <gyre/keyed.h>
#include <gyre/pipeline.h>
#include <stdio.h>
#include <string.h>

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed_ports.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = 1;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_link_desc join(const char *from, const char *to)
{
    return (gyre_link_desc){.size = sizeof(gyre_link_desc), .from = from, .to = to};
}

/* ---- trips ---- */

enum { VERTICES = 64, TRIPS = 96, TRIP_KERNELS = 2, QUOTA = 96 /* messages of a trip, at most */ };

/* What all trips of a pipeline come to at the vertices of each kernel. */
struct map {
    vertex vertices[TRIP_KERNELS][VERTICES];
    uint32_t kernels;
};

/* Takes a trip along its way. Returns whether a handler failed; *end: the last message of a trip that goes to one vertex at a time. */
static bool travel(struct map *map, const trip *now, uint32_t kernel, trip *end)
{
    vertex *at = &map->vertices[kernel][now->vertex];
    bool failed = false;
    at->visits++;
    at->mixed += TRIP_MIX(now->vertex, now->seed, now->hops);
    *end = *now;
    if (TRIP_IS_BAD(now->vertex, now->what))
        return true;
    for (uint32_t i = 0; now->hops > 0 && i < now->fan; i++) {
        trip next = *now;
        next.hops--;
        next.vertex = TRIP_NEXT(now->vertex, now->seed, now->hops, i, now->vertices, now->what);
        next.sum += now->vertex;
        failed |= travel(map, &next, (kernel + 1) % map->kernels, end);
    }
    return failed;
}

/* All trips of a pipeline have so many hops at most that `quota` bounds their messages. */
static trip draw_trip(uint64_t *random, uint32_t vertices, uint32_t number)
{
    trip drawn = {.vertex = graph_draw(random, vertices), .seed = number, .vertices = vertices};
    drawn.fan = 1 + (uint32_t)graph_draw(random, TRIP_FAN_MAX);
    drawn.hops =
        drawn.fan == 1 ? (uint32_t)graph_draw(random, 12) : (uint32_t)graph_draw(random, 5 - drawn.fan / 2);
    drawn.what = (uint32_t)graph_draw(random, 4);
    return drawn;
}

struct tour {
    gyre_pipeline *pipeline;
    gyre_kernel *kernels[TRIP_KERNELS], *ends, *feed;
    uint32_t vertices, count;
};

/* feed -> trips0 -> trips1 -> trips0, or trips0 -> trips0; each -> ends. `fed`: a kernel without keys is the entry. */
static struct tour open_tour(struct conformance *test, struct tour tour, uint32_t blocks, bool fed,
                             uint32_t window, uint32_t quota)
{
    static const char *const names[] = {"trips0", "trips1"}, *const next[] = {"trips0.next", "trips1.next"},
                             *const ends[] = {"trips0.end", "trips1.end"}, *const answer = "ends";
    gyre_link_desc links[2 * TRIP_KERNELS + 1];
    size_t count = 0;
    for (uint32_t i = 0; i < tour.count; i++) {
        tour.kernels[i] = launch_as(test, "trips", names[i], blocks + i);
        links[count++] = join(next[i], names[(i + 1) % tour.count]);
        links[count++] = join(ends[i], answer);
    }
    tour.ends = launch_as(test, "trip_ends", answer, 1);
    if (fed) {
        tour.feed = launch_as(test, "trip_feed", "feed", 2);
        links[count++] = join("feed.out", names[0]);
    }
    const char *const entry = fed ? "feed" : names[0];
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "toured",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .answers = &answer,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = count,
                                     .links_tight = 1,
                                     .window = window,
                                     .quota = quota};
    must(gyre_pipeline_open(test->runtime, &desc, &tour.pipeline));
    return tour;
}

static void require_outcome(const gyre_completion *done, bool failed, const trip *asked, const trip *end,
                            const trip *reply)
{
    if (failed) {
        require(done->outcome == GYRE_HANDLER_FAILED && done->failure_code == TRIP_FAILED);
    } else if (asked->fan > 1) {
        require(done->outcome == GYRE_NOT_REPLIED);
    } else {
        require(done->outcome == GYRE_REPLIED && reply->vertex == end->vertex && reply->sum == end->sum);
    }
}

/* A key whose first message fails was not born, so the states of vertices that fail depend on the order. */
static void require_states(const struct tour *tour, const struct map *map)
{
    for (uint32_t i = 0; i < tour->count; i++)
        for (uint64_t key = 0; key < tour->vertices; key++) {
            vertex seen = {.visits = 0};
            const vertex *const wanted = &map->vertices[i][key];
            if (TRIP_IS_BAD(key, TRIP_FAILS))
                continue;
            if (wanted->visits)
                must(gyre_kernel_key_read(tour->kernels[i], &key, sizeof key, &seen, sizeof seen));
            require(seen.visits == wanted->visits && seen.mixed == wanted->mixed);
        }
}

/* Sends trips, and requires that they, and the states that they leave behind, are as foreseen. */
static void send_trips(const struct tour *tour, struct map *map, const trip *asked, uint32_t count)
{
    gyre_queue *queue = gyre_pipeline_queue(tour->pipeline);
    trip ends[TRIPS];
    bool failed[TRIPS];
    uint32_t sent = 0;
    for (uint32_t i = 0; i < count; i++)
        failed[i] = travel(map, &asked[i], 0, &ends[i]);
    for (uint32_t received = 0; received < count; received++) {
        gyre_completion done;
        trip reply = {.vertex = 0};
        while (sent < count &&
               gyre_send(queue, &asked[sent], sizeof asked[sent], NULL, GYRE_NO_WAIT) == GYRE_OK)
            sent++;
        must(gyre_receive(queue, &reply, sizeof reply, &done, soon()));
        const uint64_t of = done.index % count;
        require_outcome(&done, failed[of], &asked[of], &ends[of], &reply);
    }
    require_states(tour, map);
}

static void close_tour(struct tour *tour)
{
    must(gyre_pipeline_close(tour->pipeline, soon()));
    for (uint32_t i = 0; i < tour->count; i++)
        gyre_kernel_release(tour->kernels[i]);
    gyre_kernel_release(tour->ends);
    if (tour->feed)
        gyre_kernel_release(tour->feed);
}

static void run_tour(struct conformance *test, uint64_t seed)
{
    static struct map map;
    uint64_t random = seed * 2654435761u + 1;
    struct tour tour = {.vertices = 1 + (uint32_t)graph_draw(&random, VERTICES),
                        .count = 1 + (uint32_t)graph_draw(&random, TRIP_KERNELS)};
    tour = open_tour(test, tour, 1 + (uint32_t)graph_draw(&random, 4), graph_draw(&random, 2),
                     graph_draw(&random, 2) ? 1 : 5, QUOTA);
    trip asked[TRIPS];
    memset(&map, 0, sizeof map);
    map.kernels = tour.count;
    for (uint32_t i = 0; i < TRIPS; i++)
        asked[i] = draw_trip(&random, tour.vertices, i);
    send_trips(&tour, &map, asked, TRIPS);
    close_tour(&tour);
}

static void trips_through_keyed_actors_end_as_foreseen(struct conformance *test)
{
    graph_for_seeds(test, 4, run_tour);
}

/*
 * A few walkers, who mostly stay where they are, in rings that have room for little more than them. A ring that one block waits for is
 * full of messages that other blocks have handled, because the first one is of a block that waits for room itself.
 */
static void walkers_through_tight_rings_wait_for_no_one(struct conformance *test)
{
    enum { WALKERS = 48, HOPS = 1500 };
    static struct map map;
    struct tour tour = {.vertices = VERTICES, .count = 1};
    trip asked[TRIPS];
    uint64_t random = 5;
    tour = open_tour(test, tour, 4, false, 6, 1);
    memset(&map, 0, sizeof map);
    map.kernels = 1;
    for (uint32_t i = 0; i < WALKERS; i++)
        asked[i] = (trip){.vertex = graph_draw(&random, VERTICES),
                          .seed = i,
                          .vertices = VERTICES,
                          .hops = HOPS,
                          .fan = 1,
                          .what = TRIP_STAYS};
    send_trips(&tour, &map, asked, WALKERS);
    close_tour(&tour);
}

/* ---- money ---- */

enum { PURSES = 40, MOVES = 4000 };

static gyre_completion move_money(gyre_queue *queue, uint64_t account, uint64_t other, int64_t cents,
                                  uint32_t what, purse *reply)
{
    const move request = {.account = account, .other = other, .cents = cents, .what = what};
    gyre_completion done;
    memset(reply, 0, sizeof *reply);
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    must(gyre_receive(queue, reply, sizeof *reply, &done, soon()));
    return done;
}

static gyre_pipeline *open_bank(gyre_runtime *runtime, const struct conformance *test)
{
    struct conformance in = *test;
    in.runtime = runtime;
    static const char *const name = "purses";
    const gyre_link_desc link = join("purses.moves", "purses");
    gyre_pipeline *pipeline = NULL;
    launch_as(&in, "purses", name, 3);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "bank",
                                     .entries = &name,
                                     .entry_count = 1,
                                     .answers = &name,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .quota = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/* Savina's bank: whatever accounts pay each other, in whichever order, no cent is lost, and none comes twice. */
static void money_goes_from_account_to_account(struct conformance *test)
{
    gyre_pipeline *pipeline = open_bank(test->runtime, test);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t random = 11, sent = 0, refused = 0;
    int64_t all = 0;
    purse told;
    for (uint64_t account = 0; account < PURSES; account++)
        require(move_money(queue, account, 0, 1000, MOVE_FILLS, &told).outcome == GYRE_REPLIED &&
                told.cents == 1000);
    for (uint64_t received = 0; received < MOVES; received++) {
        for (; sent < MOVES; sent++) {
            const uint64_t from = graph_draw(&random, PURSES);
            const move request = {.account = from,
                                  .other = (from + 1 + graph_draw(&random, PURSES - 1)) % PURSES,
                                  .cents = (int64_t)graph_draw(&random, 700)};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        gyre_completion done;
        must(gyre_receive(queue, &told, sizeof told, &done, soon()));
        require(done.outcome == GYRE_REPLIED ||
                (done.outcome == GYRE_HANDLER_FAILED && strcmp(done.failure_text, "not enough") == 0));
        refused += done.outcome != GYRE_REPLIED;
    }
    for (uint64_t account = 0; account < PURSES; account++) {
        move_money(queue, account, 0, 0, MOVE_TELLS, &told);
        require(told.cents >= 0 && told.born == account);
        all += told.cents;
    }
    require(all == 1000 * PURSES && refused > 0 && refused < MOVES);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* What is sent is there although its sender's key left at once, and a message that comes to no key has the sender's sentence. */
static void keys_come_and_leave_while_their_messages_travel(struct conformance *test)
{
    static const char *const settings[] = {"kernel.purses.keys=4", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_pipeline *pipeline = open_bank(runtime, test);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    gyre_completion done;
    purse told;
    for (uint64_t account = 100; account < 400;
         account++) { /* many more than the table has room for: who is empty leaves */
        require(move_money(queue, account, 0, 50, MOVE_FILLS, &told).outcome == GYRE_REPLIED);
        require(told.cents == 50 && told.moves == 1 && told.born == account);
        done = move_money(queue, account, account + 1, 50, MOVE_PAYS, &told);
        require(done.outcome == GYRE_REPLIED && told.cents == 50 && told.born == account + 1);
        require(move_money(queue, account + 1, 0, -50, MOVE_FILLS, &told).outcome == GYRE_REPLIED &&
                told.cents == 0);
        require(move_money(queue, account + 1, 0, 0, MOVE_CLOSES, &told).outcome == GYRE_REPLIED);
    }
    done = move_money(queue, 1, 2, 5, MOVE_PAYS, &told);
    require(done.outcome == GYRE_HANDLER_FAILED && strcmp(done.failure_text, "not enough") == 0);
    move_money(queue, 1, 0, 60, MOVE_FILLS, &told);
    move_money(queue, 2, 0, PURSE_MOST, MOVE_FILLS, &told);
    done =
        move_money(queue, 1, 2, 60, MOVE_PAYS, &told); /* it goes, is sent back, and both are as they were */
    require(done.outcome == GYRE_HANDLER_FAILED && strcmp(done.failure_text, "it takes no more") == 0);
    require(move_money(queue, 1, 0, 0, MOVE_TELLS, &told).outcome == GYRE_REPLIED && told.cents == 60);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* ---- asking ---- */

enum { SHOPPERS = 24, STALLS = 16, PURCHASES = 600 };

static void require_spent(gyre_kernel *kernel, const uint64_t *cents, uint64_t keys)
{
    for (uint64_t key = 0; key < keys; key++) {
        spent seen;
        must(gyre_kernel_key_read(kernel, &key, sizeof key, &seen, sizeof seen));
        require(seen.cents == cents[key]);
    }
}

/* Each purchase asks one stall. A stall's questions, which are shared by its key, are answered by one block. */
static void go_shopping(gyre_queue *queue, uint64_t *paid, uint64_t *earned)
{
    uint64_t random = 3, sent = 0;
    uint32_t blocks[STALLS] = {0};
    for (uint64_t received = 0; received < PURCHASES; received++) {
        price reply;
        gyre_completion done;
        for (; sent < PURCHASES; sent++) {
            const price request = {.shopper = sent % SHOPPERS, .stall = graph_draw(&random, STALLS)};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, &done, soon()));
        require(done.outcome == GYRE_REPLIED && reply.cents == STALL_CENTS(reply.stall));
        paid[reply.shopper] += reply.cents;
        earned[reply.stall] += reply.cents;
        blocks[reply.stall] |= 1u << reply.block;
    }
    uint32_t all = 0;
    for (uint32_t stall = 0; stall < STALLS; stall++) {
        require((blocks[stall] & (blocks[stall] - 1)) == 0);
        all |= blocks[stall];
    }
    require((all & (all - 1)) != 0); /* no key of theirs decides that one block answers all */
}

/* Questions go to the block that owns their key, and answers to the block that owns the key of who asked. */
static void ask_by_key(struct conformance *test, const char *asked)
{
    static const char *const name = "shoppers";
    const bool is_keyed = strcmp(asked, "keyed_stalls") == 0;
    uint64_t paid[SHOPPERS] = {0}, earned[STALLS] = {0};
    gyre_kernel *shoppers = launch_as(test, "shoppers", name, 3),
                *stalls = launch_as(test, asked, "asked", 3);
    const gyre_link_desc link = {.size = sizeof link,
                                 .from = "shoppers.stalls",
                                 .to = "asked",
                                 .share = GYRE_SHARE_KEY,
                                 .key = "stall"};
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "market",
                                     .entries = &name,
                                     .entry_count = 1,
                                     .answers = &name,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .quota = 3};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    go_shopping(gyre_pipeline_queue(pipeline), paid, earned);
    require_spent(shoppers, paid, SHOPPERS);
    if (is_keyed)
        require_spent(stalls, earned, STALLS);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void keyed_actors_ask_keyed_actors(struct conformance *test)
{
    ask_by_key(test, "keyed_stalls");
}

static void questions_are_shared_by_key(struct conformance *test)
{
    ask_by_key(test, "stalls");
}

const struct conformance_case keyed_port_cases[] = {
    {"trips_through_keyed_actors_end_as_foreseen", trips_through_keyed_actors_end_as_foreseen},
    {"walkers_through_tight_rings_wait_for_no_one", walkers_through_tight_rings_wait_for_no_one},
    {"money_goes_from_account_to_account", money_goes_from_account_to_account},
    {"keyed_actors_ask_keyed_actors", keyed_actors_ask_keyed_actors},
    {"questions_are_shared_by_key", questions_are_shared_by_key},
    {"keys_come_and_leave_while_their_messages_travel", keys_come_and_leave_while_their_messages_travel},
    {NULL, NULL},
};
