/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of a cluster under a seed: the real code of core/cluster and core/transport, with all of its threads, in several members and
 * clients, which are processes of one thread (fibers.h). Simulated are the transport (memory_transport.h), the kernels of the shards
 * (double.h) and the calls to the system (calls.c). A model (model.h) is told of everything that takes place in the transport, and compares.
 *
 *     simulation_cluster [FIRST_SEED [SEEDS]]
 *     simulation_cluster again FIRST_SEED SEEDS     each seed twice: the second run must be the first one
 *     simulation_cluster stories 63 SEEDS           those that have a story, one after the other
 *
 * SIMULATION_SEEDS sets how many seeds are run. A seed decides how many members, shards and clients there are, the settings, which of the things
 * below happen, and when. For some leases members are killed, at any of their steps, and started again; stand still for longer than their
 * lease; are cut off; end in order; cannot launch a kernel or restore a state. Shards are moved and members drained by order. What is read is
 * damaged for a while, blocks of strangers appear, and acknowledgements are lost, late or repeated. Then all of that ends, and everything that
 * was sent has to be completed; members end in order, `gyre_cluster_verify` has to agree, and to see a byte that is changed afterwards.
 *
 * Two of STORY_EVERY seeds have a story instead (stories.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"
#include "core/base/error.h"
#include "core/cluster/client.h"
#include "core/cluster/kept.h"
#include "core/cluster/member.h"
#include "core/cluster/orders.h"
#include "core/cluster/place.h"
#include "core/cluster/roster.h"
#include "core/cluster/verify.h"
#include "double.h"
#include "fibers.h"
#include "gyre/cluster.h"
#include "memory_transport.h"
#include "model.h"
#include "stories.h"

enum { MEMBERS_MAX = 4, SIM_CLIENTS_MAX = 16, SEEDS_DEFAULT = 50, QUIET_LEASES = 600, STORY_EVERY = 64 };

static struct {
    uint64_t lease_ns, reach_ns, begin_ns, chaos_end_ns;
    uint32_t members, shards, clients, events; /* events: which may happen, a bit each */
    bool is_over, is_logged;
    bool
        is_about_leases; /* the seed is about who is alive: records of members are late or damaged, and members stand still */
    bool is_helped;  /* shards' threads handle their requests themselves */
    bool is_hurried; /* clients that go ahead send hundreds of requests, as many at once as they may */
    enum story story;
    uint64_t strangers; /* blocks that nobody of the cluster wrote */
    struct member member[MEMBERS_MAX];
    struct client client[SIM_CLIENTS_MAX];
    struct gyre_runtime client_runtime;
    struct gyre_transport *transport; /* the operator's */
    uint64_t next_serial;
} sim;

static struct {
    uint64_t requests, deaths, letters, turns;
} sums;

/* ---- settings ---- */

/* The log of replies that the text names; "": none. */
static void log_of(const char *text, char log[GYRE_CLUSTER_NAME_SIZE])
{
    const char *name = strstr(text, "'out.");
    log[0] = 0;
    if (name)
        sscanf(name, "'%127[^']", log);
}

/* The replies to a client are given up after three tries, for as long as an operation may take and a lease, and while other logs take blocks. */
static void check_given_up(const char *text)
{
    uint64_t since_ns;
    char log[GYRE_CLUSTER_NAME_SIZE];
    unsigned shard = 0;
    log_of(text, log);
    if (sscanf(text, "shard %u:", &shard) != 1)
        violation("replies", "no shard is named: %s", text);
    const uint64_t failures = memory_transport_failures(log, shard, &since_ns);
    if (!model_is_given_up(log) && (failures < 3 || fibers_now_ns() - since_ns < sim.reach_ns + sim.lease_ns))
        violation("replies", "those of '%s' are given up after %" PRIu64 " tries", log, failures);
    if (since_ns >= transport_faults.away_since_ns && fibers_now_ns() < transport_faults.away_until_ns)
        violation("replies", "those of '%s' are given up while no log takes anything", log);
    model_given_up(log);
}

/* SIMULATION_LOG=1 shows what the core logs, and what changes in the transport. It is made into text in any case: that takes looks at the clock. */
static void log_line(void *context, int level, const char *text)
{
    if (strstr(text, "are lost to that client"))
        check_given_up(text);
    if (strstr(text, "the transport lost what it had acknowledged"))
        violation("lost", "it is told, and nothing was: %s", text);
    if (!sim.is_logged)
        return;
    printf("%12.3f ms, %s: %d: %s\n", (double)(fibers_now_ns() - sim.begin_ns) / 1e6, (const char *)context,
           level, text);
}

/* The plan's numbers as settings; the member's name is added. */
static void load_runtime(struct gyre_runtime *runtime, const char *name, char settings[8][64])
{
    char member[64];
    const char *const none[] = {NULL};
    const char *api[] = {"cluster.app=sim",
                         "cluster.library=/dev/null",
                         member,
                         settings[0],
                         settings[1],
                         settings[2],
                         settings[3],
                         settings[4],
                         settings[5],
                         NULL};
    const struct gyre_config_desc desc = {.config_path = "/dev/null",
                                          .command_line = none,
                                          .api = api,
                                          .environment = none,
                                          .system_folder = "/dev/null/none",
                                          .home = "/dev/null/none"};
    snprintf(member, sizeof member, "cluster.member=%s", name);
    gyre_config_destroy(runtime->config);
    memset(runtime, 0, sizeof *runtime);
    if (gyre_config_load(&desc, &runtime->config) != GYRE_OK)
        violation("the machine", "the settings are wrong");
    runtime->log = log_line;
    runtime->log_level = GYRE_LOG_DEBUG;
    runtime->log_context = (void *)(uintptr_t)name;
}

static uint64_t one_of(const uint64_t *list, size_t count)
{
    return list[fibers_draw(count)];
}

#define ONE_OF(...)                                                                                          \
    one_of((const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static void plan_settings(void)
{
    char settings[8][64];
    const uint64_t lease_ms = 100 + fibers_draw(200);
    const bool stays = fibers_draw(2);
    const uint64_t reach_ms = lease_ms * ONE_OF(1, 2, 4);
    sim.lease_ns = lease_ms * FIBERS_MS;
    sim.reach_ns = reach_ms * FIBERS_MS;
    snprintf(settings[0], sizeof settings[0], "cluster.shards=%u", sim.shards);
    snprintf(settings[1], sizeof settings[1], "cluster.lease_ms=%" PRIu64, lease_ms);
    snprintf(settings[2], sizeof settings[2], "cluster.settle_ms=%" PRIu64,
             stays ? 3600000 : ONE_OF(0, lease_ms, 4 * lease_ms));
    snprintf(settings[3], sizeof settings[3], "cluster.checkpoint_ms=%" PRIu64,
             sim.story ? 60000 : ONE_OF(1, 20, 100, 1000));
    snprintf(settings[4], sizeof settings[4], "cluster.checkpoint_requests=%" PRIu64,
             sim.is_about_leases ? 1
             : sim.story         ? 100000
                                 : ONE_OF(1, 4, 16, 1000));
    snprintf(settings[5], sizeof settings[5], "cluster.reach_ms=%" PRIu64, reach_ms);
    for (uint32_t i = 0; i < sim.members; i++) {
        snprintf(sim.member[i].name, sizeof sim.member[i].name, "m%u", i);
        load_runtime(&sim.member[i].runtime, sim.member[i].name, settings);
    }
    load_runtime(&sim.client_runtime, "client", settings);
    model_begin(sim.shards, stays, sim.lease_ns);
}

static void plan_faults(void)
{
    transport_faults = (struct transport_faults){.rate = (uint32_t)ONE_OF(0, 5, 20, 60),
                                                 .latency_ns = ONE_OF(20000, 200000, 1000000, 3000000),
                                                 .late_ns = sim.lease_ns * ONE_OF(1, 2, 4),
                                                 .reach_ns = sim.reach_ns,
                                                 .remembers_ids = fibers_draw(2),
                                                 .counts_together = fibers_draw(2)};
    if (sim.is_about_leases) {
        transport_faults.rate = 0;
        transport_faults.rate_of_members = (uint32_t)ONE_OF(20, 200, 500);
        transport_faults.latency_ns = ONE_OF(20000, 200000);
        transport_faults.late_ns = sim.lease_ns;
    }
    sim.events = fibers_draw(4) ? (uint32_t)fibers_draw(1 << 13) : UINT32_MAX;
}

/* Nothing goes wrong but what the story is about. */
static void plan_story(void)
{
    sim.members = 2;
    sim.shards = 1;
    sim.clients = sim.story == STORY_NOTHING_WAS_SENT ? 0 : 2;
    sim.is_about_leases = false;
    plan_settings();
    transport_faults =
        (struct transport_faults){.latency_ns = 200000, .late_ns = sim.lease_ns, .reach_ns = sim.reach_ns};
    if (sim.story == STORY_LOGS_ARE_AWAY)
        transport_faults.away_ns = 2 * sim.reach_ns + 4 * sim.lease_ns;
    sim.chaos_end_ns = sim.begin_ns + 4 * sim.lease_ns;
}

static void plan(uint64_t seed)
{
    sim.story = seed % STORY_EVERY == STORY_EVERY - 1
                    ? STORY_DIES + (enum story)(seed / STORY_EVERY % STORIES_OF_SHARDS)
                : seed % STORY_EVERY == STORY_EVERY / 2 - 1 ? STORY_LOGS_ARE_AWAY
                                                            : NO_STORY;
    sim.begin_ns = fibers_now_ns();
    sim.members = 2 + (uint32_t)fibers_draw(MEMBERS_MAX - 1);
    sim.shards = 1 + (uint32_t)fibers_draw(3);
    sim.clients = 2 + (uint32_t)fibers_draw(SIM_CLIENTS_MAX - 1);
    sim.is_over = false;
    const uint64_t turn = seed / STORY_EVERY;
    sim.is_helped =
        sim.story ? (turn + turn / STORIES_OF_SHARDS) % 2 : seed % 8 > 5; /* each story in both ways */
    sim.is_hurried = !sim.story && seed % 16 == 9;
    sim.is_about_leases = fibers_draw(4) == 0;
    sim.strangers = 0;
    sim.next_serial = 1;
    if (sim.story) {
        plan_story();
        transport_faults.begins = sim.story == STORY_LOGS_ARE_AWAY && seed / STORY_EVERY / 2 % 2;
        return;
    }
    plan_settings();
    plan_faults();
    transport_faults.begins = seed % 2 == 1;
    sim.chaos_end_ns = sim.begin_ns + sim.lease_ns * (8 + fibers_draw(16));
}

/* ---- members ---- */

static void run_member(void *context)
{
    struct member *member = context;
    const gyre_member_desc desc = {.size = sizeof desc, .source = "sim.gyre.c"};
    if (gyre_member_start(&member->runtime, &desc, &member->its) != GYRE_OK)
        return;
    while (!member->is_to_stop)
        fiber_sleep(NULL, fibers_now_ns() + sim.lease_ns / 8);
    gyre_member_stop(member->its);
    member->its = NULL;
}

static struct process *begin_process(const char *name, void (*run)(void *), void *context,
                                     struct sim_health *health, struct link_cut *cut)
{
    struct process *process = process_start(name, run, context);
    process->user = health;
    if (cut)
        memory_transport_watch(process, cut);
    return process;
}

static void stop_member(struct member *member)
{
    member->is_to_stop = true;
    model_leaves(member->name, true);
}

static bool is_there(const struct member *member)
{
    return member->process && member->process->is_alive;
}

/* The shard's own answer (gyre_shard_has_lease), at this moment. */
bool model_may_work(const char *name, uint64_t incarnation, uint32_t number, uint64_t epoch)
{
    for (uint32_t i = 0; i < sim.members; i++) {
        const struct member *member = &sim.member[i];
        if (strcmp(member->name, name) != 0 || !is_there(member) || !member->its ||
            member->its->site.incarnation != incarnation)
            continue;
        const struct gyre_shard *shard = member->its->shards[number];
        return shard && shard->place.epoch == epoch &&
               gyre_site_kept_lease(shard->site, shard->lapses, fibers_now_ns());
    }
    return false;
}

/* Starts members whose time has come; one that ended gets a time. */
static void tend_members(void)
{
    for (uint32_t i = 0; i < sim.members; i++) {
        struct member *member = &sim.member[i];
        const uint64_t now = fibers_now_ns();
        if (is_there(member))
            continue;
        if (!member->start_ns)
            member->start_ns = now + fibers_draw(4 * sim.lease_ns);
        if (now < member->start_ns)
            continue;
        member->start_ns = 0;
        member->its = NULL;
        member->is_to_stop = false;
        model_leaves(member->name, false);
        member->process = begin_process(member->name, run_member, member, &member->health, &member->cut);
    }
}

/* ---- what happens ---- */

static struct member *any_member(void)
{
    return &sim.member[fibers_draw(sim.members)];
}

/* About a lease, or some. */
static uint64_t draw_stillness(void)
{
    return fibers_draw(sim.is_about_leases ? 3 * sim.lease_ns / 2
                       : fibers_draw(2)    ? 4 * sim.lease_ns
                                           : 2 * sim.lease_ns);
}

static void arm(struct process *process, enum process_event event)
{
    process->event = event;
    process->event_is_of_writes = fibers_draw(2);
    process->event_in = 1 + fibers_draw(process->event_is_of_writes ? 30 : 400);
    process->event_ns = draw_stillness();
}

static void order_something(void)
{
    char name[8];
    const uint64_t deadline_ns = fibers_now_ns() + sim.lease_ns / 4;
    const uint32_t shard = (uint32_t)fibers_draw(sim.shards);
    snprintf(name, sizeof name, "m%u", (unsigned)fibers_draw(sim.members));
    if (fibers_draw(3) == 0)
        gyre_orders_set_drain(sim.transport, name, fibers_draw(3) != 0, deadline_ns);
    else
        gyre_orders_set_member(sim.transport, shard, fibers_draw(4) ? name : NULL, deadline_ns);
}

static void damage_something(void)
{
    static const char *const of_shards[] = {"place", "offer", "state", "dead"};
    char name[64];
    const uint64_t which = sim.is_about_leases ? 4 : fibers_draw(6);
    if (which < 4)
        snprintf(name, sizeof name, "%s.%u", of_shards[which], (unsigned)fibers_draw(sim.shards));
    else if (which == 4)
        snprintf(name, sizeof name, "member.m%u", (unsigned)fibers_draw(sim.members));
    else
        snprintf(name, sizeof name, "orders");
    memory_transport_damage(name, fibers_now_ns() + fibers_draw(2 * sim.lease_ns));
}

static void write_as_a_stranger(void)
{
    char name[64];
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)fibers_draw(256);
    if (fibers_draw(2))
        gyre_block_seal(bytes, sizeof bytes, GYRE_BLOCK_REQUESTS);
    snprintf(name, sizeof name, "in.%u", (unsigned)fibers_draw(sim.shards));
    sim.strangers++;
    memory_transport_put_foreign(name, bytes, 1 + fibers_draw(sizeof bytes));
}

static void change_health(struct member *member)
{
    member->health.cannot_launch = fibers_draw(2);
    member->health.cannot_restore = !member->health.cannot_launch;
    member->well_ns = fibers_now_ns() + fibers_draw(6 * sim.lease_ns);
}

static void cut_off(struct link_cut *cut)
{
    cut->what = (uint32_t)ONE_OF(CUT_READS, CUT_WRITES, CUT_READS | CUT_WRITES, CUT_READS | CUT_WRITES);
    cut->until_ns = fibers_now_ns() + fibers_draw(3 * sim.lease_ns);
}

static void disturb_client(void)
{
    struct client *client = &sim.client[fibers_draw(sim.clients)];
    if (!client->process->is_alive)
        return;
    if (fibers_draw(4) == 0)
        process_kill(client->process);
    else if (fibers_draw(2))
        cut_off(&client->cut);
    else
        arm(client->process, PROCESS_STANDS_STILL);
}

static void disturb(uint64_t event)
{
    struct member *member = any_member();
    switch (event) {
    case 0:
        if (is_there(member))
            process_kill(member->process);
        break;
    case 1:
        if (is_there(member))
            arm(member->process, PROCESS_DIES);
        break;
    case 2:
        if (is_there(member))
            member->process->still_until_ns = fibers_now_ns() + draw_stillness();
        break;
    case 3:
    case 4:
        if (is_there(member))
            arm(member->process, PROCESS_STANDS_STILL);
        break;
    case 5:
        cut_off(&member->cut);
        break;
    case 6:
        stop_member(member);
        break;
    case 7:
    case 8:
        order_something();
        break;
    case 9:
        damage_something();
        break;
    case 10:
        change_health(member);
        break;
    case 11:
        write_as_a_stranger();
        break;
    default:
        disturb_client();
    }
}

/* ---- the operator ---- */

static void heal(bool all)
{
    for (uint32_t i = 0; i < sim.members; i++) {
        struct member *member = &sim.member[i];
        if (!all && fibers_now_ns() < member->well_ns)
            continue;
        member->health.cannot_launch = member->health.cannot_restore = false;
        if (all)
            member->cut.until_ns = 0;
        if (all && is_there(member))
            member->process->event_in = 0;
    }
}

static void rest(uint64_t most_ns)
{
    fiber_sleep(NULL, fibers_now_ns() + 1 + fibers_draw(most_ns));
}

static void disturb_for_a_while(void)
{
    while (fibers_now_ns() < sim.chaos_end_ns) {
        const uint64_t event = sim.is_about_leases ? ONE_OF(0, 2, 2, 2, 3, 4, 5, 6, 9, 9) : fibers_draw(13);
        rest(sim.lease_ns / 2);
        tend_members();
        heal(false);
        if (sim.is_about_leases || sim.events >> event & 1)
            disturb(event);
    }
}

static void must(gyre_status status, const char *what)
{
    if (status != GYRE_OK)
        violation("progress", "%s: %s", what, gyre_error_text());
}

/* Nothing goes wrong any more, and no order holds. */
static void make_calm(void)
{
    const uint64_t deadline_ns = fibers_now_ns() + 100 * sim.lease_ns;
    transport_faults.rate = transport_faults.rate_of_members = 0;
    heal(true);
    for (uint32_t i = 0; i < sim.clients; i++) {
        sim.client[i].cut.until_ns = 0;
        sim.client[i].process->event_in = 0;
        sim.client[i].poison = 0;
    }
    fiber_sleep(NULL, fibers_now_ns() + 5 * sim.lease_ns); /* damage ends, and what is late arrives */
    for (uint32_t i = 0; i < sim.members; i++)
        must(gyre_orders_set_drain(sim.transport, sim.member[i].name, false, deadline_ns), "an order ends");
    for (uint32_t i = 0; i < sim.shards; i++)
        must(gyre_orders_set_member(sim.transport, i, NULL, deadline_ns), "an order ends");
}

/* Who owns what when nothing goes on any more, for people. */
static void show_places(void)
{
    for (uint32_t i = 0; i < sim.shards; i++) {
        struct gyre_shard_place place;
        if (gyre_place_read(sim.transport, i, &place) != GYRE_OK)
            printf("shard %u: %s\n", i, gyre_error_text());
        else
            printf("shard %u: epoch %" PRIu64 ", owner '%s', incarnation %" PRIx64
                   ", works %d, trial of block %" PRIu64 "\n",
                   i, place.epoch, place.owner, place.incarnation, place.works, place.trial.block);
    }
    for (uint32_t i = 0; i < sim.members; i++) {
        struct gyre_cluster_member member = {.state = 0};
        uint64_t revision = 0;
        gyre_roster_read(sim.transport, sim.member[i].name, &member, &revision);
        printf("member '%s': %s, state %u, incarnation %" PRIx64 ", owns %u\n", sim.member[i].name,
               !is_there(&sim.member[i])  ? "gone"
               : sim.member[i].is_to_stop ? "to stop"
                                          : "there",
               member.state, member.incarnation, member.owned);
    }
}

_Noreturn static void no_progress(const char *what)
{
    show_places();
    violation("progress", "%s, and nothing goes wrong any more", what);
}

/* Replies that were given up do not come. */
static bool is_to_wait_in_vain(const struct client *client)
{
    return client->cluster && client->sent >= client->quota && client->waiting &&
           model_is_given_up(client->cluster->log);
}

static bool are_clients_done(void)
{
    for (uint32_t i = 0; i < sim.clients; i++)
        if (sim.client[i].process->is_alive && !is_to_wait_in_vain(&sim.client[i]))
            return false;
    return true;
}

static void await_clients(void)
{
    const uint64_t until_ns = fibers_now_ns() + QUIET_LEASES * sim.lease_ns;
    while (!are_clients_done()) {
        if (fibers_now_ns() > until_ns)
            no_progress("requests are not completed");
        tend_members();
        rest(sim.lease_ns);
    }
}

/* ---- the end ---- */

/*
 * Blocks of strangers are told, as they should be, and are in logs of requests alone; and so are replies that were given up. Where a client purged its
 * log, a reply that arrived late, and again, may be followed by a later one: that looks like a gap.
 */
static void note_problem(void *context, const char *sentence)
{
    char *text = context, log[GYRE_CLUSTER_NAME_SIZE];
    const bool is_of_stranger =
        sim.strangers && strstr(sentence, " of the log 'in.") && !strstr(sentence, "are missing");
    log_of(sentence, log);
    if (!is_of_stranger && !(log[0] && (model_is_given_up(log) || model_is_purged(log))))
        snprintf(text, GYRE_VERIFY_PROBLEM_SIZE, "%s", sentence);
}

/* Whether it tells of something that does not agree. */
static bool verify(uint32_t shard, char text[GYRE_VERIFY_PROBLEM_SIZE], struct gyre_verified *verified)
{
    struct gyre_cluster_app app;
    *verified = (struct gyre_verified){.problem = note_problem, .context = text};
    must(gyre_cluster_app_read(sim.transport, &app), "the app is read");
    must(gyre_cluster_verify(sim.transport, &app, shard, verified), "a shard is verified");
    return text[0] != 0;
}

/* Requests that were answered are in a checkpoint at last. */
static void await_checkpoints(void)
{
    const uint64_t until_ns = fibers_now_ns() + QUIET_LEASES * sim.lease_ns;
    for (uint32_t i = 0; i < sim.shards; i++) {
        char text[GYRE_VERIFY_PROBLEM_SIZE] = "";
        struct gyre_verified verified;
        while (verify(i, text, &verified) || verified.waiting) {
            if (text[0])
                violation("verify", "beside members that work, it tells: %s", text);
            if (fibers_now_ns() > until_ns)
                no_progress("a checkpoint is not taken");
            tend_members();
            rest(sim.lease_ns);
        }
    }
}

static void stop_members(void)
{
    const uint64_t until_ns = fibers_now_ns() + QUIET_LEASES * sim.lease_ns;
    for (uint32_t i = 0; i < sim.members; i++) {
        stop_member(&sim.member[i]);
        while (is_there(&sim.member[i])) {
            rest(sim.lease_ns / 4);
            if (fibers_now_ns() > until_ns)
                no_progress("a member does not end");
        }
    }
}

static void check_shard(uint32_t shard)
{
    char text[GYRE_VERIFY_PROBLEM_SIZE] = "";
    struct gyre_verified verified;
    struct gyre_kept kept;
    if (verify(shard, text, &verified))
        violation("verify", "it tells: %s", text);
    must(gyre_kept_init(&kept, sim.transport, shard, SIM_TABLE), "memory");
    must(gyre_kept_read(&kept, fibers_now_ns() + sim.lease_ns), "the states are read");
    if (kept.checkpoint)
        model_compare_table(shard, UINT64_MAX, kept.table);
    gyre_kept_finish(&kept);
}

/* A byte that changed is seen by whoever verifies. */
static void check_spoiled(uint32_t shard)
{
    char name[64], text[GYRE_VERIFY_PROBLEM_SIZE] = "";
    struct gyre_verified verified;
    snprintf(name, sizeof name, "%s.%u", fibers_draw(2) ? "place" : "state", shard);
    if (memory_transport_spoil(name, fibers_draw(1 << 20)) && !verify(shard, text, &verified))
        violation("verify", "it does not see a byte of '%s' that changed", name);
}

static void run_story(void)
{
    const struct stage stage = {.story = sim.story,
                                .lease_ns = sim.lease_ns,
                                .transport = sim.transport,
                                .owner = &sim.member[0],
                                .other = &sim.member[1],
                                .tend_members = tend_members};
    await_clients();
    story_tell(&stage);
    stop_members();
    check_shard(0);
}

static void run_chaos(void)
{
    disturb_for_a_while();
    make_calm();
    await_clients();
    await_checkpoints();
    stop_members();
    for (uint32_t i = 0; i < sim.shards; i++)
        check_shard(i);
    check_spoiled((uint32_t)fibers_draw(sim.shards));
}

static void run_operator(void *context)
{
    (void)context;
    must(gyre_transport_open(sim.client_runtime.config, NULL, NULL, FIBERS_NEVER, &sim.transport), "open");
    if (sim.story)
        run_story();
    else
        run_chaos();
    sim.is_over = true;
    rest(1);
}

/* ---- seeds ---- */

static bool is_over(void)
{
    return sim.is_over;
}

static void begin_clients(void)
{
    static struct sim_health none;
    const uint32_t rate = sim.is_hurried ? 1000 : 40; /* each request of poison takes three owners down */
    const uint32_t poison = fibers_draw(3) || sim.story ? 0 : rate;
    for (uint32_t i = 0; i < sim.clients; i++) {
        struct client *client = &sim.client[i];
        char name[8];
        snprintf(name, sizeof name, "c%u", i);
        memset(client, 0, sizeof *client);
        client->runtime = &sim.client_runtime;
        client->quota = 4 + fibers_draw(40);
        client->rest_ns = 1 + sim.lease_ns / (sim.is_about_leases ? 16 : ONE_OF(1, 4, 16, 16));
        client->begin_ns = fibers_now_ns() + fibers_draw(sim.chaos_end_ns - fibers_now_ns());
        client->next_serial = &sim.next_serial;
        client->poison = poison;
        client->goes_ahead = transport_faults.begins && i % 2;
        client->hurries = sim.is_hurried && client->goes_ahead;
        if (client->hurries) {
            client->quota = 100 + fibers_draw(500);
            client->rest_ns = 1 + sim.lease_ns / 256;
        }
        client->process = begin_process(name, client_run, client, &none, &client->cut);
    }
}

static void begin_members(void)
{
    for (uint32_t i = 0; i < sim.members; i++) {
        struct member *member = &sim.member[i];
        member->process = NULL;
        member->its = NULL;
        member->cut = (struct link_cut){0};
        member->health = (struct sim_health){.handler_ns = ONE_OF(10000, 300000, 2000000),
                                             .tardy_ns = 1 + fibers_draw(2 * sim.lease_ns)};
        member->health.is_helped = sim.is_helped;
        member->start_ns = fibers_now_ns() + fibers_draw(sim.lease_ns);
        member->well_ns = 0;
        if (sim.story)
            member->health =
                (struct sim_health){.handler_ns = 10000, .tardy_ns = 10000, .is_helped = sim.is_helped};
        if (sim.story && i)
            member->start_ns = FIBERS_NEVER;
    }
}

/* Returns a hash of all that happened. */
static uint64_t run_seed(uint64_t seed)
{
    fibers_begin(seed);
    memory_transport_begin();
    plan(seed);
    begin_members();
    begin_clients();
    begin_process("operator", run_operator, NULL, NULL, NULL);
    fibers_run(is_over);
    sums.requests += model_requests();
    sums.letters += model_letters();
    sums.deaths += process_deaths();
    sums.turns += fibers_turns();
    fibers_end();
    return fibers_trace();
}

int main(int argc, char **argv)
{
    const bool again = argc > 1 && strcmp(argv[1], "again") == 0;
    const bool stories = argc > 1 && strcmp(argv[1], "stories") == 0;
    const int behind = 1 + (again || stories);
    const char *wanted = getenv("SIMULATION_SEEDS");
    const uint64_t first = argc > behind ? strtoull(argv[behind], NULL, 0) : 0;
    const uint64_t given = argc > behind + 1 ? strtoull(argv[behind + 1], NULL, 0) : SEEDS_DEFAULT;
    const uint64_t seeds = wanted && given > 1 && !stories ? strtoull(wanted, NULL, 0) : given;
    errors_use(errors_make());
    sim.is_logged = memory_transport_tells = getenv("SIMULATION_LOG") != NULL;
    for (uint64_t i = 0; i < seeds; i++) {
        const uint64_t seed = first + i * (stories ? STORY_EVERY : 1), trace = run_seed(seed);
        if (again && run_seed(seed) != trace) {
            printf("seed %" PRIu64 " went another way the second time\n", seed);
            return EXIT_FAILURE;
        }
    }
    printf("%" PRIu64 " seeds, %" PRIu64 " turns, %" PRIu64 " deaths, %" PRIu64 " requests, %" PRIu64
           " of them given up: nothing lost, doubled or out of order\n",
           seeds, sums.turns, sums.deaths, sums.requests, sums.letters);
    return EXIT_SUCCESS;
}
