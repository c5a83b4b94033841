/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to the members of a cluster, and how they are carried out (cluster_orders.h). */
#include "cli/cluster/cluster_orders.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cluster/cluster_open.h"
#include "cli/json/json.h"
#include "core/base/error.h"
#include "core/cluster/look.h"
#include "core/cluster/offer.h"
#include "core/config/config.h"
#include "gyre/waiting.h"

enum { LOOK_NS = 20000000 };

/* An order that is given, and what is seen of it. */
struct ordering {
    const cli_context *cli;
    struct cluster_opened opened;
    struct gyre_cluster_look look;
    uint64_t deadline_ns;
    uint64_t offered; /* the revision of what a member said about the shard before the order */
};

static int begin(const cli_context *cli, struct ordering *ordering, uint64_t timeout_ms)
{
    ordering->cli = cli;
    ordering->deadline_ns = gyre_in_ms(timeout_ms);
    int code = cluster_open(cli, true, &ordering->opened);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_cluster_look_take(ordering->opened.transport,
                                                         ordering->opened.app.lease_ns / 3, &ordering->look));
    return code;
}

static void end(struct ordering *ordering)
{
    gyre_cluster_look_finish(&ordering->look);
    cluster_close(&ordering->opened);
    free(ordering);
}

static struct ordering *make_ordering(void)
{
    struct ordering *ordering = calloc(1, sizeof *ordering);
    if (!ordering)
        cli_error(CLI_FAILED, "out of memory");
    return ordering;
}

/* ---- members ---- */

static const char *word_of(const struct ordering *ordering, const char *name)
{
    for (size_t i = 0; i < ordering->look.roster.count; i++)
        if (strcmp(ordering->look.roster.members[i].name, name) == 0)
            return gyre_cluster_look_word(&ordering->look, &ordering->look.roster.members[i]);
    return NULL;
}

/* A name that no member ever had. */
static int unknown(const char *name)
{
    return cli_error(CLI_FAILED, "the cluster has no member '%.70s': `gyre cluster status` lists them", name);
}

static bool has_other(const struct ordering *ordering, const char *name)
{
    for (size_t i = 0; i < ordering->look.roster.count; i++) {
        const struct gyre_roster_member *member = &ordering->look.roster.members[i];
        if (strcmp(member->name, name) != 0 &&
            strcmp(gyre_cluster_look_word(&ordering->look, member), "here") == 0)
            return true;
    }
    return false;
}

/* ---- drain ---- */

static int check_drain(const struct ordering *ordering, const char *name)
{
    const char *word = word_of(ordering, name);
    if (!word)
        return unknown(name);
    if (strcmp(word, "gone") == 0 || strcmp(word, "silent") == 0)
        return cli_error(CLI_FAILED,
                         "member '%s' is %s, so it cannot give its shards: others take them after the lease "
                         "of %" PRIu64 " ms",
                         name, word, ordering->opened.app.lease_ns / 1000000);
    if (!has_other(ordering, name))
        return cli_error(CLI_FAILED, "no other member is here to take the shards of '%s': start one first",
                         name);
    return CLI_OK;
}

/* Shards that the member owns, or that were its own and nobody has yet; *pause_ns: the longest hand-over of those that were. */
static gyre_status count_left(struct ordering *ordering, const char *name, uint32_t *left, uint64_t *pause_ns)
{
    gyre_status status = GYRE_OK;
    *left = 0;
    *pause_ns = 0;
    for (uint32_t i = 0; status == GYRE_OK && i < ordering->opened.app.shards; i++) {
        struct gyre_shard_place now;
        status = gyre_place_read(ordering->opened.transport, i, &now);
        const bool was_its = strcmp(ordering->look.places[i].owner, name) == 0;
        *left += strcmp(now.owner, name) == 0 || (was_its && !now.owner[0]);
        if (was_its && now.pause_ns > *pause_ns)
            *pause_ns = now.pause_ns;
    }
    return status;
}

static uint32_t count_its(const struct ordering *ordering, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ordering->opened.app.shards; i++)
        count += strcmp(ordering->look.places[i].owner, name) == 0;
    return count;
}

static int tell_drained(const struct ordering *ordering, const char *name, uint64_t pause_ns)
{
    const uint32_t count = count_its(ordering, name);
    if (ordering->cli->json)
        return cli_print_json(
            cli_json_object("sif", "member", name, "shards", (int)count, "pause_ms", (double)pause_ns / 1e6));
    printf("member %s owns nothing: %" PRIu32 " shards went to others", name, count);
    if (pause_ns)
        printf(", the longest pause was %.1f ms", (double)pause_ns / 1e6);
    printf("; it takes none until `gyre cluster drain %s --end`\n", name);
    return CLI_OK;
}

/* After a time that was too short: a member that said that it cannot take one of them. */
static int tell_drains(struct ordering *ordering, const char *name, uint32_t left)
{
    for (uint32_t i = 0; i < ordering->opened.app.shards; i++) {
        struct gyre_shard_place now;
        struct gyre_cluster_offer offer;
        uint64_t revision;
        if (gyre_place_read(ordering->opened.transport, i, &now) == GYRE_OK && strcmp(now.owner, name) == 0 &&
            gyre_offer_read(ordering->opened.transport, i, &offer, &revision) == GYRE_OK &&
            offer.state == GYRE_OFFER_FAILED && offer.epoch == now.epoch)
            return cli_error(CLI_TIMEOUT,
                             "member '%s' still owns %" PRIu32 " of its shards, and serves them: member '%s' "
                             "cannot take shard %" PRIu32 ": %s; the order stays: take it back with --end",
                             name, left, offer.member, i, offer.why);
    }
    return cli_error(CLI_TIMEOUT,
                     "member '%s' still owns, or nobody has yet, %" PRIu32
                     " of its shards; the order stays: wait for it with the same command, or take it "
                     "back with --end",
                     name, left);
}

static int await_drained(struct ordering *ordering, const char *name)
{
    uint32_t left;
    uint64_t pause_ns;
    for (;;) {
        const gyre_status status = count_left(ordering, name, &left, &pause_ns);
        const bool may_pass = status == GYRE_OK || status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT;
        if (status == GYRE_OK && !left)
            return tell_drained(ordering, name, pause_ns);
        if (!may_pass || (status != GYRE_OK && gyre_clock_ns() >= ordering->deadline_ns))
            return cli_fail(status);
        if (gyre_clock_ns() >= ordering->deadline_ns)
            return tell_drains(ordering, name, left);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

static int end_drain(const cli_context *cli, const char *name, uint64_t timeout_ms)
{
    struct cluster_opened opened;
    struct gyre_orders orders;
    int code = cluster_open(cli, true, &opened);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_orders_read(opened.transport, &orders));
    if (code == CLI_OK && !gyre_orders_drains(&orders, name))
        code = cli_error(CLI_FAILED, "no member '%.70s' was ordered to be drained", name);
    if (code == CLI_OK)
        code =
            cli_fail_unless_ok(gyre_orders_set_drain(opened.transport, name, false, gyre_in_ms(timeout_ms)));
    if (code == CLI_OK)
        code = cli->json ? cli_print_json(cli_json_object("sb", "member", name, "drained", 0))
                         : (printf("member %s takes shards again\n", name), CLI_OK);
    cluster_close(&opened);
    return code;
}

int cluster_drain(const cli_context *cli, const char *member, bool ends, uint64_t timeout_ms)
{
    if (!gyre_transport_is_name(member) || strlen(member) >= GYRE_MEMBER_NAME_MAX)
        return unknown(member);
    if (ends)
        return end_drain(cli, member, timeout_ms);
    struct ordering *ordering = make_ordering();
    if (!ordering)
        return CLI_FAILED;
    int code = begin(cli, ordering, timeout_ms);
    if (code == CLI_OK)
        code = check_drain(ordering, member);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(
            gyre_orders_set_drain(ordering->opened.transport, member, true, ordering->deadline_ns));
    if (code == CLI_OK)
        code = await_drained(ordering, member);
    end(ordering);
    return code;
}

int cluster_reset(const cli_context *cli, uint64_t timeout_ms)
{
    struct cluster_opened opened;
    int code = cluster_open(cli, true, &opened);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_orders_reset(opened.transport, gyre_in_ms(timeout_ms)));
    if (code == CLI_OK)
        code = cli->json ? cli_print_json(cli_json_object("b", "reset", 1))
                         : (printf("the cluster has no orders now\n"), CLI_OK);
    cluster_close(&opened);
    return code;
}

/* ---- move ---- */

static int check_move(const struct ordering *ordering, const char *name)
{
    const char *word = word_of(ordering, name);
    if (!word)
        return unknown(name);
    return strcmp(word, "here") == 0
               ? CLI_OK
               : cli_error(CLI_FAILED, "member '%s' is %s, so it takes no shards", name, word);
}

static int tell_moved(const struct ordering *ordering, uint32_t shard, const struct gyre_shard_place *now)
{
    const struct gyre_shard_place *before = &ordering->look.places[shard];
    const char *from = before->owner[0] ? before->owner : NULL;
    const bool moved = before->epoch != now->epoch;
    if (ordering->cli->json)
        return cli_print_json(cli_json_object("issbf", "shard", (int)shard, "from", from, "to", now->owner,
                                              "moved", (int)moved, "pause_ms", (double)now->pause_ns / 1e6));
    if (!moved)
        printf("shard %" PRIu32 " is at %s already, and stays there\n", shard, now->owner);
    else if (now->pause_ns)
        printf("shard %" PRIu32 " went from %s to %s: its requests waited for %.1f ms\n", shard,
               from ? from : "nobody", now->owner, (double)now->pause_ns / 1e6);
    else
        printf("shard %" PRIu32 " is at %s; it was not handed over in order, so the pause is not known\n",
               shard, now->owner);
    return CLI_OK;
}

/* Whether the member said since the order was given that it cannot take the shard; then *code. */
static bool is_refused(const struct ordering *ordering, uint32_t shard, const char *name, int *code)
{
    struct gyre_cluster_offer offer;
    uint64_t revision;
    if (gyre_offer_read(ordering->opened.transport, shard, &offer, &revision) != GYRE_OK ||
        revision == ordering->offered || offer.state != GYRE_OFFER_FAILED || strcmp(offer.member, name) != 0)
        return false;
    *code = cli_error(
        CLI_FAILED,
        "shard %" PRIu32 " is not at '%s', which cannot take it: %s; the order stays, and is tried "
        "again later: give it once more, or take it back with `gyre cluster move %" PRIu32 " --home`",
        shard, name, offer.why, shard);
    return true;
}

/* The owner is there once it works: until then it may fail to begin. */
static int await_moved(struct ordering *ordering, uint32_t shard, const char *name)
{
    int code;
    for (;;) {
        struct gyre_shard_place now;
        const gyre_status status = gyre_place_read(ordering->opened.transport, shard, &now);
        const bool may_pass = status == GYRE_OK || status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT;
        if (status == GYRE_OK && now.works && strcmp(now.owner, name) == 0)
            return tell_moved(ordering, shard, &now);
        if (is_refused(ordering, shard, name, &code))
            return code;
        if (!may_pass || (status != GYRE_OK && gyre_clock_ns() >= ordering->deadline_ns))
            return cli_fail(status);
        if (gyre_clock_ns() >= ordering->deadline_ns)
            return cli_error(CLI_TIMEOUT,
                             "shard %" PRIu32 " is not at '%s' yet; the order stays: take it back with `gyre "
                             "cluster move %" PRIu32 " --home`",
                             shard, name, shard);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

/* A record that is damaged, or cannot be read, is as good as one that is not there: what comes later has another revision. */
static void note_offer(struct ordering *ordering, uint32_t shard)
{
    struct gyre_cluster_offer offer;
    if (gyre_offer_read(ordering->opened.transport, shard, &offer, &ordering->offered) != GYRE_OK)
        gyre_error_clear();
}

static int move_to(struct ordering *ordering, const char *text, const char *member)
{
    uint32_t shard = 0;
    int code = cluster_read_shard(ordering->cli, &ordering->opened, text, &shard);
    if (code == CLI_OK)
        code = check_move(ordering, member);
    if (code == CLI_OK)
        note_offer(ordering, shard);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(
            gyre_orders_set_member(ordering->opened.transport, shard, member, ordering->deadline_ns));
    return code == CLI_OK ? await_moved(ordering, shard, member) : code;
}

static int move_home(const cli_context *cli, const char *text, uint64_t timeout_ms)
{
    struct cluster_opened opened;
    struct gyre_orders orders;
    uint32_t shard = 0;
    int code = cluster_open(cli, true, &opened);
    if (code == CLI_OK)
        code = cluster_read_shard(cli, &opened, text, &shard);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_orders_read(opened.transport, &orders));
    if (code == CLI_OK && !gyre_orders_member_of(&orders, shard))
        code = cli_error(CLI_FAILED, "shard %" PRIu32 " was not ordered to a member", shard);
    if (code == CLI_OK)
        code =
            cli_fail_unless_ok(gyre_orders_set_member(opened.transport, shard, NULL, gyre_in_ms(timeout_ms)));
    if (code == CLI_OK)
        code = cli->json
                   ? cli_print_json(cli_json_object("is", "shard", (int)shard, "to", NULL))
                   : (printf("shard %" PRIu32 " goes where it belongs, after settle_ms\n", shard), CLI_OK);
    cluster_close(&opened);
    return code;
}

int cluster_move(const cli_context *cli, const char *shard, const char *member, uint64_t timeout_ms)
{
    if (!member)
        return move_home(cli, shard, timeout_ms);
    if (!gyre_transport_is_name(member) || strlen(member) >= GYRE_MEMBER_NAME_MAX)
        return unknown(member);
    struct ordering *ordering = make_ordering();
    if (!ordering)
        return CLI_FAILED;
    int code = begin(cli, ordering, timeout_ms);
    if (code == CLI_OK)
        code = move_to(ordering, shard, member);
    end(ordering);
    return code;
}
