/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre cluster verify` reads: what agrees, and each thing that does not. One case a run, `test_verify CASE`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/verify.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

static struct gyre_config *config;
static struct gyre_transport *transport;
static char said[4000];

static void begin(void)
{
    begin_cluster();
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
}

static void note(void *context, const char *sentence)
{
    const size_t length = strlen(said);
    (void)context;
    snprintf(said + length, sizeof said - length, "%s\n", sentence);
}

/* Verifies all shards; the sentences are in `said`. */
static struct gyre_verified verify_all(void)
{
    struct gyre_cluster_app app;
    struct gyre_verified sum = {0};
    said[0] = '\0';
    must(gyre_cluster_app_read(transport, &app));
    for (uint32_t i = 0; i < app.shards; i++) {
        struct gyre_verified one = {.problem = note};
        must(gyre_cluster_verify(transport, &app, i, &one));
        sum.problems += one.problems;
        sum.waiting += one.waiting;
        sum.repeated += one.repeated;
        sum.letters += one.letters;
    }
    return sum;
}

static void require_agrees(void)
{
    const struct gyre_verified sum = verify_all();
    if (sum.problems)
        fputs(said, stderr);
    require(sum.problems == 0);
}

/* Exactly one thing does not agree, and is told so. */
static void require_told(const char *sentence)
{
    const struct gyre_verified sum = verify_all();
    if (sum.problems != 1 || !strstr(said, sentence))
        fprintf(stderr, "expected: %s\nsaid: %s", sentence, said);
    require(sum.problems == 1 && strstr(said, sentence));
}

static void append(const char *log, void *block, size_t size, enum gyre_block_kind kind)
{
    gyre_block_seal(block, size, kind);
    const gyre_transport_block desc = {
        .size = sizeof desc, .bytes = block, .byte_count = size, .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, log, &desc, NULL));
}

static void append_requests(uint64_t first, uint32_t count)
{
    unsigned char bytes[1024];
    const struct gyre_cluster_requests head = {.client = {7}, .first = first, .count = count};
    const struct gyre_cluster_message message = {.length = sizeof(count_request)};
    size_t at = sizeof head;
    memcpy(bytes, &head, sizeof head);
    for (uint32_t i = 0; i < count; i++)
        at = gyre_cluster_message_add(bytes, at, &message, &(count_request){3, first + i});
    append("in.2", bytes, at, GYRE_BLOCK_REQUESTS);
}

/* A cluster that worked, and whose members ended. */
static void work_and_end(void)
{
    start_member(0);
    struct client *teller = open_teller(1);
    await_owned(0, SHARDS);
    send_some(teller, 200);
    receive_some(teller, 200);
    close_teller(teller);
    end_member(0);
}

/* Beside members that work, and of whom one is killed, and after them. */
static void what_members_keep_agrees(void)
{
    start_member(0);
    start_member(1);
    struct client *teller = open_teller(1);
    for (int i = 0; i < 12; i++) {
        send_some(teller, 64);
        receive_some(teller, teller->sent < 200 ? 0 : teller->sent - 200);
        require_agrees();
    }
    kill_member(0);
    require_agrees();
    send_some(teller, 64);
    receive_some(teller, teller->sent);
    require_agrees();
    close_teller(teller);
    await_owned(1, SHARDS);
    end_member(1);
    require_agrees();
    require(verify_all().waiting == 0);
}

static void requests_that_wait_are_counted_once(void)
{
    work_and_end();
    append_requests(1, 3);
    append_requests(1, 3);
    append_requests(3, 2);
    const struct gyre_verified sum = verify_all();
    require(sum.problems == 0 && sum.waiting == 4 && sum.repeated == 4);
}

static void a_gap_in_the_requests_is_told(void)
{
    work_and_end();
    append_requests(1, 3);
    append_requests(6, 1);
    require_told("from 6 on, expected 4: 2 are missing");
}

static void an_epoch_that_falls_is_told(void)
{
    work_and_end();
    struct gyre_cluster_fence fence = {.epoch = 0, .owner = "m9"};
    append("state.2", &fence, sizeof fence, GYRE_BLOCK_FENCE);
    require_told("an earlier owner wrote behind a later one");
}

static void a_place_behind_its_states_is_told(void)
{
    struct gyre_shard_place place;
    work_and_end();
    must(gyre_place_read(transport, 2, &place));
    place.epoch--;
    must(gyre_place_write(transport, 2, &place));
    require_told("its place says epoch 0, and the log 'state.2' has one of epoch 1");
}

static void a_block_that_is_no_block_is_told(void)
{
    work_and_end();
    const gyre_transport_block block = {.size = sizeof block,
                                        .bytes = "no block of Gyre at all",
                                        .byte_count = 23,
                                        .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.2", &block, NULL));
    require_told("of the log 'in.2': expected a block of Gyre");
}

static void a_letter_that_is_there_twice_is_told(void)
{
    work_and_end();
    struct gyre_cluster_letter letter = {
        .client = {9}, .number = 4, .position = 2, .epoch = 3, .owner = "m0"};
    append("dead.2", &letter, sizeof letter, GYRE_BLOCK_LETTER);
    require_agrees();
    append("dead.2", &letter, sizeof letter, GYRE_BLOCK_LETTER);
    require_told("gives a request up that was given up before");
}

/* The client 07 gets replies 1 - 3 and 5. */
static void a_gap_in_the_replies_is_told(void)
{
    start_member(0);
    await_owned(0, SHARDS);
    append_requests(1, 3);
    const char *log = "out.07000000000000000000000000000000";
    uint64_t last = 0;
    const uint64_t until = soon();
    while (!last) {
        require(gyre_now_ns() < until);
        must(gyre_transport_last(transport, log, &last));
    }
    end_member(0);
    require_agrees();
    unsigned char bytes[256];
    const struct gyre_cluster_replies head = {.shard = 2, .count = 1};
    const struct gyre_cluster_message message = {.number = 5, .outcome = GYRE_NOT_REPLIED};
    memcpy(bytes, &head, sizeof head);
    append(log, bytes, gyre_cluster_message_add(bytes, sizeof head, &message, NULL), GYRE_BLOCK_REPLIES);
    require_told("has the reply to request 5, expected that to 4");
}

static const named_case cases[] = {
    {"what_members_keep_agrees", what_members_keep_agrees},
    {"requests_that_wait_are_counted_once", requests_that_wait_are_counted_once},
    {"a_gap_in_the_requests_is_told", a_gap_in_the_requests_is_told},
    {"an_epoch_that_falls_is_told", an_epoch_that_falls_is_told},
    {"a_place_behind_its_states_is_told", a_place_behind_its_states_is_told},
    {"a_block_that_is_no_block_is_told", a_block_that_is_no_block_is_told},
    {"a_letter_that_is_there_twice_is_told", a_letter_that_is_there_twice_is_told},
    {"a_gap_in_the_replies_is_told", a_gap_in_the_replies_is_told},
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
