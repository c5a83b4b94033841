/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a cluster that die, stop and come back under a load: every request that was acknowledged takes effect once, in the order of
 * its key. One case a run, `test_cluster CASE`.
 */
#include "cluster_client.h"
#include "members.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workers.h"

static void a_member_answers_its_clients(void)
{
    start_member(0);
    struct client *one = open_teller(1), *other = open_teller(2);
    for (int i = 0; i < 20; i++) {
        send_some(one, 100);
        send_some(other, 50);
        receive_some(one, one->sent - 20);
    }
    receive_some(one, one->sent);
    receive_some(other, other->sent);
    close_teller(one);
    close_teller(other);
    end_member(0);
}

/*
 * One of two members is killed again and again, in the midst of a load. After every second death all is waited for: a request at which three
 * owners died in a row is given up, and on a slow machine a shard may come no further in three lives.
 */
static void every_request_takes_effect_once_whatever_member_is_killed(void)
{
    enum { KILLS = 4, BETWEEN = 12 };
    start_member(0);
    start_member(1);
    struct client *teller = open_teller(1);
    for (int kills = 0; kills < KILLS; kills++) {
        await_owned(kills % 2, 1);
        for (int i = 0; i < BETWEEN; i++) {
            send_some(teller, 64);
            receive_some(teller, teller->sent < 400 ? 0 : teller->sent - 400);
        }
        kill_member(kills % 2);
        send_some(teller, 64);
        receive_some(teller, kills % 2 ? teller->sent : teller->sent - 200);
        start_member(kills % 2);
    }
    close_teller(teller);
    end_member(0);
    end_member(1);
}

/* All members are gone for a while; what was sent meanwhile is handled by the next one, with the states of before. */
static void states_outlive_all_members(void)
{
    start_member(0);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    receive_some(teller, 200);
    kill_member(0);
    send_some(teller, 200);
    start_member(1);
    receive_some(teller, 400);
    end_member(1);
    send_some(teller, 200);
    start_member(2);
    receive_some(teller, 600);
    close_teller(teller);
    end_member(2);
}

/* A member that is stopped for longer than its lease comes back: nothing of what it does afterwards counts. */
static void a_member_that_comes_back_late_changes_nothing(void)
{
    gyre_member_info info;
    setenv("CLUSTER_MEMBER_SETTING", "cluster.settle_ms=600000",
           1); /* nobody gives shards to the other one */
    start_member(0);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    receive_some(teller, 150);
    await_owned(0, SHARDS);
    require(kill(member_process(0), SIGSTOP) == 0);
    start_member(1);
    send_some(teller, 200);
    receive_some(teller, 400);
    await_owned(1, SHARDS); /* so the first one owns nothing any more */
    require(kill(member_process(0), SIGCONT) == 0);
    const uint64_t until = soon();
    while (!read_member(0, &info) || info.lost < SHARDS) { /* also shards that nothing is sent to */
        require(gyre_now_ns() < until);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    require(
        info.trouble
            [0]); /* of the last shard: its lease, another member, or a handler or lock that stood still */
    send_some(teller, 100);
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
}

/* A member that comes gets its part of the shards from one that is alive, in order, under a load. */
static void shards_move_to_a_new_member(void)
{
    gyre_member_info info;
    setenv("CLUSTER_MEMBER_SETTING", "cluster.settle_ms=0", 1);
    start_member(0);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    receive_some(teller, 200);
    await_owned(0, SHARDS);
    start_member(1);
    const uint64_t until = soon();
    while (!read_member(1, &info) || info.owned == 0) {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
    }
    while (!read_member(0, &info) || info.given == 0)
        require(gyre_now_ns() < until);
    send_some(teller, 200);
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
}

/*
 * A member is ended in order, and another one is there, while requests are under way that take long: of each account they are handled once.
 * With a small reach_ms the handler does not return in time, and its request is the next owner's.
 */
static void restart_beside_slow_requests(uint32_t slow_ms, const char *setting)
{
    enum { REQUESTS = 4, ACCOUNT = 5000 };
    count_request requests[REQUESTS];
    gyre_completion completion;
    count_state reply, model = {0};
    size_t sent = 0;
    setenv("CLUSTER_MEMBER_SETTING", setting, 1);
    start_member(0);
    struct client *teller = open_teller(1), *other = open_teller(2);
    send_some(other, 100);
    receive_some(other, 100);
    requests[0] = (count_request){ACCOUNT, 1};
    for (int i = 1; i < REQUESTS; i++)
        requests[i] = (count_request){ACCOUNT, SLOW_AMOUNT(slow_ms) + (uint64_t)i};
    must(gyre_cluster_send_batch(teller->cluster, requests, sizeof requests[0], 1, NULL, &sent, soon()));
    must(gyre_cluster_receive(teller->cluster, &reply, sizeof reply, &completion, soon()));
    must(gyre_cluster_send_batch(teller->cluster, requests + 1, sizeof requests[0], REQUESTS - 1, NULL, &sent,
                                 soon()));
    nanosleep(&(struct timespec){.tv_nsec = 100000000},
              NULL); /* most often the first one is under way then */
    start_member(1);
    end_member(0);
    for (int i = 0; i < REQUESTS; i++) {
        if (i > 0)
            must(gyre_cluster_receive(teller->cluster, &reply, sizeof reply, &completion, soon()));
        model.count++;
        model.trace = COUNTED(model.trace, requests[i].amount);
        require(completion.outcome == GYRE_REPLIED && reply.count == model.count &&
                reply.trace == model.trace);
    }
    send_some(other, 100);
    receive_some(other, 200);
    close_teller(teller);
    close_teller(other);
    end_member(1);
}

static void a_member_ends_in_order_beside_slow_requests(void)
{
    restart_beside_slow_requests(150, "cluster.settle_ms=600000");
}

static void a_handler_that_does_not_return_in_time_is_the_next_owners(void)
{
    restart_beside_slow_requests(4000, "cluster.reach_ms=1500");
}

static void a_handler_that_never_returns_does_not_keep_its_member(void)
{
    const count_request request = {5000, SLOW_AMOUNT(3600000)};
    setenv("CLUSTER_MEMBER_SETTING", "cluster.reach_ms=200 kernel.counters.stop_timeout_ms=500", 1);
    start_member(0);
    struct client *teller = open_teller(1);
    send_some(teller, 100);
    receive_some(teller, 100);
    must(gyre_cluster_send(teller->cluster, &request, sizeof request, NULL, soon()));
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* most often it is under way then */
    end_member(0);
    close_teller(teller);
}

/* ---- what is refused ---- */

static void refuse_member(const char *setting, const char *kernel, gyre_status expected, const char *sentence)
{
    gyre_runtime *runtime = NULL;
    gyre_member *member = NULL;
    const gyre_open_desc open_desc = {
        .size = sizeof open_desc, .settings = cluster_settings(setting), .backend = "cpu"};
    must(gyre_open(&open_desc, &runtime));
    const gyre_member_desc desc = {.size = sizeof desc, .source = COUNTERS_KERNEL, .kernel = kernel};
    const gyre_status status = gyre_member_start(runtime, &desc, &member);
    if (status != expected || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "%s: %s\n", gyre_status_word(status), gyre_error_text());
    require(status == expected && strstr(gyre_error_text(), sentence) != NULL && member == NULL);
    gyre_close(runtime);
}

static void what_does_not_fit_is_refused(void)
{
    count_state state;
    struct client *teller;
    start_member(0);
    await_owned(0, SHARDS);
    teller = open_teller(1);
    must(count_once(teller->runtime, (count_request){.account = 5, .amount = 9}, &state));
    require(state.count == 1 && state.trace == COUNTED(0, 9));
    close_teller(teller);
    refuse_member("cluster.shards=16", "counters", GYRE_INCOMPATIBLE,
                  "the cluster has 8 shards, and shards = 16 here");
    refuse_member("cluster.lease_ms=7777", "counters", GYRE_INCOMPATIBLE, "lease_ms = 7777 here");
    refuse_member("kernel.counters.keys=5000", "counters", GYRE_INCOMPATIBLE,
                  "set `keys` in [kernel.counters] as the other members have it");
    refuse_member(NULL, "no_keys", GYRE_INVALID, "is no keyed actor");
    refuse_member("cluster.transport=flie", "counters", GYRE_NOT_FOUND, "there is no transport 'flie'");
    refuse_member("cluster.app=", "counters", GYRE_CONFIG, "[cluster] needs an `app`");
    refuse_member("cluster.member=m0", "counters", GYRE_INVALID, "has a member 'm0' already");
    refuse_member("kernel.counters.checkpoints=true", "counters", GYRE_CONFIG, "leave it out");
    end_member(0);
}

/* Also one that goes ahead, which asks its transport whether it can: there may be none. */
static void refuse_client(const char *setting, uint32_t goes_ahead, gyre_status expected)
{
    gyre_runtime *runtime = NULL;
    gyre_cluster *cluster = NULL;
    const gyre_open_desc open_desc = {.size = sizeof open_desc, .settings = cluster_settings(setting)};
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(count_request),
                                    .reply = GYRE_TYPE(count_state),
                                    .deadline_ns = gyre_in_ms(100),
                                    .goes_ahead = goes_ahead};
    must(gyre_open(&open_desc, &runtime));
    const gyre_status status = gyre_cluster_open(runtime, &desc, &cluster);
    if (status != expected)
        fprintf(stderr, "%s: %s\n", gyre_status_word(status), gyre_error_text());
    require(status == expected && cluster == NULL);
    gyre_close(runtime);
}

static void a_client_without_a_cluster_is_told(void)
{
    for (uint32_t goes_ahead = 0; goes_ahead < 2; goes_ahead++) {
        refuse_client("cluster.transport=flie", goes_ahead, GYRE_NOT_FOUND);
        refuse_client(NULL, goes_ahead, GYRE_TIMEOUT); /* nobody began it */
    }
}

static const named_case cases[] = {
    {"a_member_answers_its_clients", a_member_answers_its_clients},
    {"every_request_takes_effect_once_whatever_member_is_killed",
     every_request_takes_effect_once_whatever_member_is_killed},
    {"states_outlive_all_members", states_outlive_all_members},
    {"a_member_that_comes_back_late_changes_nothing", a_member_that_comes_back_late_changes_nothing},
    {"shards_move_to_a_new_member", shards_move_to_a_new_member},
    {"a_member_ends_in_order_beside_slow_requests", a_member_ends_in_order_beside_slow_requests},
    {"a_handler_that_does_not_return_in_time_is_the_next_owners",
     a_handler_that_does_not_return_in_time_is_the_next_owners},
    {"a_handler_that_never_returns_does_not_keep_its_member",
     a_handler_that_never_returns_does_not_keep_its_member},
    {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
    {"a_client_without_a_cluster_is_told", a_client_without_a_cluster_is_told},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "member") == 0)
        return run_member(argv[2], argv[3]);
    return end_cluster(RUN_NAMED(argc, argv, begin_cluster, cases));
}
