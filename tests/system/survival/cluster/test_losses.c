/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a cluster whose transport lost something, or does not take something, or of whom one cannot take its shards. The transport is
 * `file`, whose files the test changes. One case a run, `test_losses CASE`.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/cluster/place.h"
#include "core/cluster/roster.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

static struct gyre_config *config;
static struct gyre_transport *transport;

static void begin(void)
{
    begin_cluster();
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
}

static void log_path(char path[400], const char *log, const char *file)
{
    snprintf(path, 400, "%s/%s/logs/%s%s", getenv("CLUSTER_TEST_FOLDER"), getenv("CLUSTER_TEST_APP"), log,
             file);
}

/* Requests of the client 07 to shard 2. */
static void append_requests(uint64_t first, uint32_t count)
{
    unsigned char bytes[1024];
    struct gyre_cluster_requests head = {.client = {7}, .first = first, .count = count};
    const struct gyre_cluster_message message = {.length = sizeof(count_request)};
    size_t at = sizeof head;
    memcpy(bytes, &head, sizeof head);
    for (uint32_t i = 0; i < count; i++) {
        const count_request request = {.account = 3, .amount = first + i};
        at = gyre_cluster_message_add(bytes, at, &message, &request);
    }
    gyre_block_seal(bytes, at, GYRE_BLOCK_REQUESTS);
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = at, .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.2", &block, NULL));
}

/* Waits until the member gave shards up with such a sentence. */
static void await_trouble(int which, uint64_t lost, const char *sentence)
{
    gyre_member_info info = {0};
    const uint64_t until = soon();
    while (!read_member(which, &info) || info.lost < lost) {
        require(gyre_now_ns() < until);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    if (!strstr(info.trouble, sentence))
        fprintf(stderr, "trouble: %s\n", info.trouble);
    require(strstr(info.trouble, sentence) != NULL);
}

/* The log of replies of one client cannot be written: the others, also of its shard, get theirs, and the member can be ended. */
static void a_client_whose_log_takes_nothing_stops_nobody_else(void)
{
    char path[400];
    log_path(path, "out.07000000000000000000000000000000", "");
    const int file = open(path, O_WRONLY | O_CREAT, 0600); /* where the log's folder should be */
    require(file >= 0);
    close(file);
    setenv("CLUSTER_MEMBER_SETTING", "cluster.reach_ms=500", 1);
    start_member(0);
    append_requests(1, 3);
    append_requests(4, 3);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    receive_some(teller, 200);
    close_teller(teller);
    end_member(0);
}

/* States that were kept and are gone are not begun anew. */
static void a_checkpoint_that_is_lost_is_told(void)
{
    gyre_member_info info;
    start_member(0);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    receive_some(teller, 200);
    close_teller(teller);
    await_owned(0, SHARDS);
    end_member(0);
    for (int i = 0; i < SHARDS; i++) {
        char log[32], path[400], away[400];
        snprintf(log, sizeof log, "state.%d", i);
        log_path(path, log, "");
        snprintf(away, sizeof away, "%s/gone.%d", getenv("CLUSTER_TEST_FOLDER"), i);
        require(rename(path, away) == 0);
    }
    start_member(1);
    await_trouble(1, SHARDS, "has no whole checkpoint, and one was kept");
    require(read_member(1, &info) && info.owned == 0 && info.taken == 0);
    end_member(1);
}

static void requests_that_are_missing_are_told(void)
{
    start_member(0);
    append_requests(1, 3);
    append_requests(5, 1);
    await_trouble(0, 1, "from number 5 on, expected 4");
    end_member(0);
}

/* The member that should own most shards says that it cannot take them: another one does. The test itself is the first member. */
static void a_shard_that_its_member_cannot_take_goes_to_another(void)
{
    gyre_member_info info = {0};
    struct gyre_cluster_member record = {
        .incarnation = 5, .weight = 1000, .state = GYRE_MEMBER_HERE, .name = "first"};
    uint64_t revision = 0;
    const uint64_t until = soon();
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct gyre_shard_place place = {.epoch = 1, .incarnation = 5};
        must(gyre_place_write(transport, i, &place));
    }
    setenv("CLUSTER_MEMBER_SETTING", "cluster.settle_ms=600000", 1);
    must(gyre_roster_write(transport, &record, &revision));
    start_member(0);
    while (!read_member(0, &info) || info.owned < SHARDS) {
        record.beats++;
        must(gyre_roster_write(transport, &record, &revision));
        require(gyre_now_ns() < until);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    end_member(0);
}

static const named_case cases[] = {
    {"a_client_whose_log_takes_nothing_stops_nobody_else",
     a_client_whose_log_takes_nothing_stops_nobody_else},
    {"a_checkpoint_that_is_lost_is_told", a_checkpoint_that_is_lost_is_told},
    {"requests_that_are_missing_are_told", requests_that_are_missing_are_told},
    {"a_shard_that_its_member_cannot_take_goes_to_another",
     a_shard_that_its_member_cannot_take_goes_to_another},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "member") == 0)
        return run_member(argv[2], argv[3]);
    const int code = RUN_NAMED(argc, argv, begin, cases);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    return end_cluster(code);
}
