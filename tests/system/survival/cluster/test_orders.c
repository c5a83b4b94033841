/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator orders: members that are drained, and shards that are moved, under a load. Dead letters that are sent again. One case a
 * run, `test_orders CASE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/letters.h"
#include "core/cluster/offer.h"
#include "core/cluster/orders.h"
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

static uint32_t owned_by(const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct gyre_shard_place place;
        must(gyre_place_read(transport, i, &place));
        count += strcmp(place.owner, name) == 0;
    }
    return count;
}

/* Waits until the member owns so many shards, under a load. */
static void await_places(struct client *teller, const char *name, uint32_t count)
{
    const uint64_t until = soon();
    while (owned_by(name) != count) {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
    }
}

/* Waits until the member has looked at everything so many times more. */
static void await_looks(const char *name, uint64_t looks)
{
    struct gyre_cluster_member member;
    uint64_t revision, from = 0;
    const uint64_t until = soon();
    do {
        must(gyre_roster_read(transport, name, &member, &revision));
        from = from ? from : member.beats;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        require(gyre_now_ns() < until);
    } while (member.beats < from + looks);
}

/* Waits until each shard is where it belongs while no order holds: none moves by itself then. */
static void await_homes(void)
{
    static struct gyre_roster roster = {.lease_ns = UINT64_C(3600000000000)};
    const uint64_t until = soon();
    for (uint32_t shard = 0; shard < SHARDS;) {
        struct gyre_shard_place place;
        must(gyre_roster_look(&roster, transport));
        must(gyre_place_read(transport, shard, &place));
        const char *home = gyre_roster_choose(&roster, shard, NULL, gyre_now_ns());
        require(home && gyre_now_ns() < until);
        if (place.works && strcmp(place.owner, home) == 0)
            shard++;
        else
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static void a_drained_member_gives_its_shards_and_takes_none(void)
{
    struct gyre_cluster_member record;
    gyre_member_info info;
    uint64_t revision;
    start_member(0);
    start_member(1);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    await_owned(0, 1);
    await_owned(1, 1);
    must(gyre_orders_set_drain(transport, "m0", true, soon()));
    await_places(teller, "m1", SHARDS);
    must(gyre_roster_read(transport, "m0", &record, &revision));
    require(record.state == GYRE_MEMBER_DRAINED);
    kill_member(1); /* nobody is left that takes shards */
    send_some(teller, 100);
    await_looks("m0", 16); /* longer than the lease of the dead one */
    require(owned_by("m0") == 0);
    start_member(2);
    receive_some(teller, teller->sent);
    await_owned(2, SHARDS);
    require(owned_by("m0") == 0 && read_member(0, &info) && info.owned == 0);
    must(gyre_orders_set_drain(transport, "m0", false, soon()));
    const uint64_t until = soon();
    while (!owned_by("m0")) {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
    }
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(2);
}

/* It is a member for ever: nobody else is there. */
static void a_drained_member_without_others_keeps_its_shards(void)
{
    start_member(0);
    struct client *teller = open_teller(1);
    await_owned(0, SHARDS);
    must(gyre_orders_set_drain(transport, "m0", true, soon()));
    await_looks("m0", 12);
    send_some(teller, 200);
    receive_some(teller, 200);
    require(owned_by("m0") == SHARDS);
    close_teller(teller);
    end_member(0);
}

static void a_shard_moves_to_the_member_that_it_is_ordered_to(void)
{
    struct gyre_shard_place before, now;
    start_member(0);
    start_member(1);
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    await_owned(0, 1);
    await_owned(1, 1);
    await_homes();
    must(gyre_place_read(transport, 3, &before));
    const char *to = strcmp(before.owner, "m0") == 0 ? "m1" : "m0";
    must(gyre_orders_set_member(transport, 3, to, soon()));
    const uint64_t until = soon();
    do {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
        must(gyre_place_read(transport, 3, &now));
    } while (strcmp(now.owner, to) != 0 || !now.pause_ns);
    require(now.epoch == before.epoch + 1 && now.pause_ns > now.closing_ns && now.closing_ns > 0);
    await_looks(to, 12); /* settle_ms is 0: without the order it would have gone back */
    must(gyre_place_read(transport, 3, &now));
    require(strcmp(now.owner, to) == 0 && now.epoch == before.epoch + 1);
    must(gyre_orders_set_member(transport, 3, NULL, soon()));
    while (strcmp(now.owner, before.owner) != 0) {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
        must(gyre_place_read(transport, 3, &now));
    }
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
}

/* ---- members that cannot take a shard ---- */

/* Writes what is the kernel of member 1 from then on, in a file of the test's own; the headers are those of the tests. */
static void write_source(const char *text)
{
    char path[400], new_path[420];
    snprintf(path, sizeof path, "%s/its.gyre.c", getenv("CLUSTER_TEST_FOLDER"));
    snprintf(new_path, sizeof new_path, "%s.new", path);
    FILE *file = fopen(new_path, "w");
    require(file && fputs(text, file) >= 0 && fclose(file) == 0);
    require(rename(new_path, path) == 0);
}

static void write_sound_source(void)
{
    char text[600];
    snprintf(text, sizeof text, "#include \"%s\"\n", COUNTERS_KERNEL);
    write_source(text);
}

/* Starts member 0, and member 1 with a kernel of its own; each has shards, and none moves any more. A shard of member 0 is `shard`. */
static struct client *start_two(uint32_t *shard, struct gyre_shard_place *place)
{
    char path[400];
    start_member(0);
    write_sound_source();
    snprintf(path, sizeof path, "%s/its.gyre.c", getenv("CLUSTER_TEST_FOLDER"));
    setenv("CLUSTER_MEMBER_SOURCE", path, 1);
    start_member(1);
    unsetenv("CLUSTER_MEMBER_SOURCE");
    struct client *teller = open_teller(1);
    send_some(teller, 200);
    await_owned(0, 1);
    await_owned(1, 1);
    await_homes();
    for (*shard = 0; *shard < SHARDS; ++*shard) {
        must(gyre_place_read(transport, *shard, place));
        if (strcmp(place->owner, "m0") == 0)
            return teller;
    }
    require(*shard < SHARDS); /* member 0 has one */
    return NULL;
}

static uint64_t failures_of(int which)
{
    gyre_member_info info;
    return read_member(which, &info) ? info.lost : 0;
}

/* Waits until member 1 has failed so many times; the owner serves the shard meanwhile. */
static void await_failures(struct client *teller, uint32_t shard, const struct gyre_shard_place *before,
                           uint64_t failures)
{
    const uint64_t until = soon();
    while (failures_of(1) < failures) {
        struct gyre_shard_place now;
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent);
        must(gyre_place_read(transport, shard, &now));
        require(strcmp(now.owner, "m0") == 0 && now.epoch == before->epoch && now.works);
    }
}

static void await_place(struct client *teller, uint32_t shard, const char *owner,
                        struct gyre_shard_place *now)
{
    const uint64_t until = soon();
    do {
        require(gyre_now_ns() < until);
        send_some(teller, 20);
        receive_some(teller, teller->sent - 10);
        must(gyre_place_read(transport, shard, now));
    } while (strcmp(now->owner, owner) != 0 || !now->works);
}

/* The owner serves its shard while the member that it was ordered to fails, however often; and gives it once that one is mended. */
static void a_shard_stays_while_its_new_member_cannot_launch(void)
{
    struct gyre_shard_place before, now;
    struct gyre_cluster_offer offer;
    uint64_t revision;
    uint32_t shard;
    struct client *teller = start_two(&shard, &before);
    const uint64_t failures = failures_of(1);
    write_source("this is no C\n");
    for (uint64_t tries = 1; tries <= 2; tries++) {
        must(gyre_orders_set_member(transport, shard, "m1", soon())); /* given anew, it is tried at once */
        await_failures(teller, shard, &before, failures + tries);
    }
    must(gyre_offer_read(transport, shard, &offer, &revision));
    require(strcmp(offer.member, "m1") == 0 && strstr(offer.why, "its.gyre.c") != NULL);
    write_sound_source();
    must(gyre_orders_set_member(transport, shard, "m1", soon()));
    await_place(teller, shard, "m1", &now);
    require(now.epoch == before.epoch + 1 && now.pause_ns > 0);
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
}

/* The drained member serves its shards until somebody can; who comes next takes them, also those that another one should own and cannot launch. */
static void a_drained_member_keeps_what_nobody_can_launch(void)
{
    struct gyre_shard_place before;
    uint32_t shard;
    struct client *teller = start_two(&shard, &before);
    const uint64_t failures = failures_of(1);
    write_source("this is no C\n");
    must(gyre_orders_set_drain(transport, "m0", true, soon()));
    await_failures(teller, shard, &before, failures + 2);
    start_member(2);
    await_places(teller, "m0", 0);
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
    end_member(2);
}

/* The kernel can be launched there, and does not fit the states: the owner of before gets the shard back. How long it stays there the simulation shows. */
static void a_shard_that_its_new_member_cannot_restore_comes_back(void)
{
    struct gyre_shard_place before, now = {0}, seen;
    uint32_t shard;
    struct client *teller = start_two(&shard, &before);
    const uint64_t failures = failures_of(1);
    char text[1200];
    snprintf(text, sizeof text,
             "#include <gyre/kernel.h>\n#include \"%.*s/counters.h\"\n"
             "#define WIDE(FIELD) FIELD(u64, count) FIELD(u64, trace) FIELD(u64, more)\n"
             "GYRE_MESSAGE(wide, WIDE)\n"
             "GYRE_KEYED_ACTOR(counters, count_request, count_state, wide, account)\n"
             "{\n    state->count++;\n    reply->count = state->count;\n    return GYRE_REPLY;\n}\n",
             (int)(strrchr(COUNTERS_KERNEL, '/') - COUNTERS_KERNEL), COUNTERS_KERNEL);
    write_source(text);
    must(gyre_orders_set_member(transport, shard, "m1", soon()));
    const uint64_t until = soon();
    while (failures_of(1) == failures) {
        require(gyre_now_ns() < until);
        must(gyre_place_read(transport, shard, &seen));
        require(strcmp(seen.owner, "m1") != 0 || !seen.works); /* `gyre cluster move` waits for that */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    await_place(teller, shard, "m0", &now);
    require(now.epoch == before.epoch + 2);
    must(gyre_orders_set_member(transport, shard, NULL, soon()));
    await_place(teller, shard, "m0", &now);
    receive_some(teller, teller->sent);
    close_teller(teller);
    end_member(0);
    end_member(1);
}

static void orders_take_the_place_of_earlier_ones(void)
{
    static struct gyre_orders orders;
    must(gyre_orders_set_member(transport, 7, "one", soon()));
    must(gyre_orders_set_drain(transport, "two", true, soon()));
    must(gyre_orders_set_member(transport, 7, "three", soon()));
    must(gyre_orders_set_drain(transport, "two", true, soon()));
    must(gyre_orders_read(transport, &orders));
    require(orders.count == 2 && strcmp(gyre_orders_member_of(&orders, 7), "three") == 0);
    require(gyre_orders_drains(&orders, "two") && !gyre_orders_drains(&orders, "three"));
    must(gyre_orders_set_member(transport, 7, NULL, soon()));
    for (uint32_t i = 0; i + 1 < GYRE_ORDERS_MAX; i++)
        must(gyre_orders_set_member(transport, i, "one", soon()));
    require(gyre_orders_set_member(transport, 4000, "one", soon()) == GYRE_EXHAUSTED);
    require(strstr(gyre_error_text(), "the cluster has 200 orders already") != NULL);
}

/* Members go on as before; the command says it. */
static void orders_that_are_damaged_change_nothing(void)
{
    static struct gyre_orders orders;
    struct gyre_cluster_orders damaged = {.count = 3};
    uint64_t revision;
    start_member(0);
    struct client *teller = open_teller(1);
    await_owned(0, SHARDS);
    gyre_block_seal(&damaged, sizeof damaged, GYRE_BLOCK_ORDERS);
    must(gyre_transport_record_put(transport, "orders", &damaged, sizeof damaged, 0, &revision));
    require(gyre_orders_read(transport, &orders) == GYRE_INCOMPATIBLE && orders.count == 0);
    require(strstr(gyre_error_text(), "found 3 in") != NULL);
    await_looks("m0", 4);
    send_some(teller, 200);
    receive_some(teller, 200);
    require(gyre_orders_set_member(transport, 3, "m0", soon()) == GYRE_INCOMPATIBLE);
    must(gyre_orders_reset(transport, soon()));
    must(gyre_orders_read(transport, &orders));
    require(orders.count == 0 && gyre_orders_reset(transport, soon()) == GYRE_INVALID);
    must(gyre_orders_set_member(transport, 3, "m0", soon()));
    close_teller(teller);
    end_member(0);
}

/* ---- dead letters ---- */

static void append_letter(uint32_t shard, const count_request *request)
{
    unsigned char bytes[sizeof(struct gyre_cluster_letter) + sizeof *request];
    char log[GYRE_CLUSTER_NAME_SIZE];
    const struct gyre_cluster_letter letter = {.client = {9},
                                               .number = 1,
                                               .position = 0, /* no block of the log */
                                               .epoch = 1,
                                               .deaths = 3,
                                               .length = sizeof *request,
                                               .at_ns = 1,
                                               .owner = "m7"};
    memcpy(bytes, &letter, sizeof letter);
    memcpy(bytes + sizeof letter, request, sizeof *request);
    gyre_block_seal(bytes, sizeof bytes, GYRE_BLOCK_LETTER);
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = sizeof bytes, .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, gyre_cluster_shard_name(log, "dead", shard), &block, NULL));
}

static bool send_letter(void *context, const struct gyre_letter_view *view)
{
    struct gyre_letter_answer answer;
    int *sent = context;
    require(view->letter.deaths == 3 && strcmp(view->letter.owner, "m7") == 0);
    must(gyre_letter_send_again(transport, 2, view, soon(), &answer));
    if (*sent == 0)
        require(answer.outcome == GYRE_REPLIED && answer.length == sizeof(count_state));
    else
        require(answer.outcome == GYRE_HANDLER_FAILED && answer.code == 7 &&
                strcmp(answer.text, "refused") == 0);
    ++*sent;
    return true;
}

static void a_dead_letter_is_sent_again(void)
{
    int sent = 0;
    append_letter(2, &(count_request){5, 6});
    append_letter(2, &(count_request){5, REFUSED_AMOUNT});
    start_member(0);
    await_owned(0, SHARDS);
    must(gyre_letters_read(transport, 2, send_letter, &sent));
    require(sent == 2);
    end_member(0);
}

static const named_case cases[] = {
    {"a_drained_member_gives_its_shards_and_takes_none", a_drained_member_gives_its_shards_and_takes_none},
    {"a_drained_member_without_others_keeps_its_shards", a_drained_member_without_others_keeps_its_shards},
    {"a_shard_moves_to_the_member_that_it_is_ordered_to", a_shard_moves_to_the_member_that_it_is_ordered_to},
    {"a_shard_stays_while_its_new_member_cannot_launch", a_shard_stays_while_its_new_member_cannot_launch},
    {"a_drained_member_keeps_what_nobody_can_launch", a_drained_member_keeps_what_nobody_can_launch},
    {"a_shard_that_its_new_member_cannot_restore_comes_back",
     a_shard_that_its_new_member_cannot_restore_comes_back},
    {"orders_take_the_place_of_earlier_ones", orders_take_the_place_of_earlier_ones},
    {"orders_that_are_damaged_change_nothing", orders_that_are_damaged_change_nothing},
    {"a_dead_letter_is_sent_again", a_dead_letter_is_sent_again},
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
