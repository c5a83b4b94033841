/* SPDX-License-Identifier: Apache-2.0 */
/* gyre cluster: shows a cluster, moves its shards, and sends requests to it. `gyre serve` with a [cluster] is a member (cluster_call.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cluster/cluster_call.h"
#include "cli/cluster/cluster_kept.h"
#include "cli/cluster/cluster_open.h"
#include "cli/cluster/cluster_orders.h"
#include "cli/json/json.h"
#include "cli/base/table.h"
#include "core/cluster/look.h"
#include "core/config/config.h"

static const char HELP[] =
    "usage: gyre cluster status [OPTION...]\n"
    "       gyre cluster call FILE.gyre.c[:KERNEL] REQUEST... [OPTION...]\n"
    "       gyre cluster drain MEMBER [--end] | --reset [OPTION...]\n"
    "       gyre cluster move SHARD --to MEMBER | --home [OPTION...]\n"
    "       gyre cluster verify [OPTION...]\n"
    "       gyre cluster dead [SHARD] [--messages] [--again LETTER] [OPTION...]\n"
    "\n"
    "status  lists the members of the cluster of [cluster], and its shards: who owns each, how often it was taken (EPOCH), and\n"
    "        the number of the last block of requests that was sent to it. A member is `silent` when its record does not\n"
    "        change any more; after lease_ms its shards go to others. Takes a third of lease_ms.\n"
    "call    sends requests, each a message in JSON, to the owners of their keys, and prints the replies in the order of\n"
    "        the requests. FILE has the types of the messages; nothing of it runs here.\n"
    "\n"
    "drain   has a member give all its shards to the others, and take none until `drain MEMBER --end`, also after a new start\n"
    "        of it. Ends when it owns nothing, and tells the longest pause. --reset replaces orders that are damaged by none.\n"
    "move    hands a shard to a member, and tells how long its requests waited. It stays there as long as that member takes\n"
    "        shards; with --home it goes where it belongs. A member that cannot launch its kernel gets no shard: the command\n"
    "        says why, and ends with 1.\n"
    "verify  reads the orders, and the places, checkpoints, requests, replies and dead letters of all shards, and tells what does not agree:\n"
    "        then the exit code is 1. Members may work meanwhile.\n"
    "dead    lists the requests that were given up because they took each owner down: --messages shows their bytes, and\n"
    "        --again N sends letter N of SHARD once more, as a new request.\n"
    "\n"
    "A member is started with `gyre serve FILE` and the same [cluster]. docs/cluster.md tells all of it.\n"
    "\n"
    "Options:\n"
    "  --timeout MS   how long to wait for replies, or until an order is carried out; default 30000\n"
    "  --end          drain: the member takes shards again\n"
    "  --reset        drain: orders that are damaged go, all of them\n"
    "  --to MEMBER    move: the member that is to have the shard\n"
    "  --home         move: ends what an earlier move ordered\n"
    "  --messages     dead: show the bytes of each message\n"
    "  --again N      dead: send letter N again, and wait for the reply\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Example, in a checkout:\n"
    "  gyre cluster status --config examples/cluster/gyre.ini\n";

enum { TIMEOUT_DEFAULT_MS = 30000 };

static int show_members(const struct gyre_cluster_look *look)
{
    static const char *const headers[] = {"MEMBER", "STATE", ">WEIGHT", ">SHARDS", NULL};
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; table && i < look->roster.count; i++) {
        const struct gyre_roster_member *member = &look->roster.members[i];
        char weight[16], owned[16];
        snprintf(weight, sizeof weight, "%" PRIu32, member->weight);
        snprintf(owned, sizeof owned, "%" PRIu32, gyre_cluster_look_owned(look, member));
        const char *const cells[] = {member->name, gyre_cluster_look_word(look, member), weight, owned};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static int show_shards(const struct gyre_cluster_look *look)
{
    static const char *const headers[] = {">SHARD", "OWNER", ">EPOCH", ">REQUESTS", "ORDERED TO", NULL};
    cli_table *table = cli_table_create(headers);
    for (uint32_t i = 0; table && i < look->app.shards; i++) {
        const struct gyre_shard_place *place = &look->places[i];
        char number[16], epoch[32], requests[32];
        snprintf(number, sizeof number, "%" PRIu32, i);
        snprintf(epoch, sizeof epoch, "%" PRIu64, place->epoch);
        snprintf(requests, sizeof requests, "%" PRIu64, look->requests[i]);
        const char *const cells[] = {number, place->owner[0] ? place->owner : NULL, epoch, requests,
                                     gyre_orders_member_of(&look->orders, i)};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static int show_json(const struct gyre_cluster_look *look)
{
    json_t *members = json_array(), *shards = json_array();
    for (size_t i = 0; i < look->roster.count; i++) {
        const struct gyre_roster_member *member = &look->roster.members[i];
        json_array_append_new(members, cli_json_object("ssii", "name", member->name, "state",
                                                       gyre_cluster_look_word(look, member), "weight",
                                                       (int)member->weight, "shards",
                                                       (int)gyre_cluster_look_owned(look, member)));
    }
    for (uint32_t i = 0; i < look->app.shards; i++)
        json_array_append_new(shards, cli_json_object("isIIs", "shard", (int)i, "owner",
                                                      look->places[i].owner[0] ? look->places[i].owner : NULL,
                                                      "epoch", (json_int_t)look->places[i].epoch, "requests",
                                                      (json_int_t)look->requests[i], "ordered_to",
                                                      gyre_orders_member_of(&look->orders, i)));
    return cli_print_json(cli_json_object("ssoos", "kernel", look->app.kernel, "key", look->app.key,
                                          "members", members, "shards", shards, "trouble",
                                          look->trouble[0] ? look->trouble : NULL));
}

static int show(const cli_context *cli, const struct gyre_cluster_look *look)
{
    if (cli->json)
        return show_json(look);
    const int code = show_members(look);
    putchar('\n');
    return code == CLI_OK ? show_shards(look) : code;
}

static int status_of_cluster(const cli_context *cli)
{
    struct cluster_opened opened;
    struct gyre_cluster_look *look = calloc(1, sizeof *look);
    if (!look)
        return cli_error(CLI_FAILED, "out of memory");
    int code = cluster_open(cli, false, &opened);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_cluster_look_take(
            opened.transport, gyre_config_ns(opened.config, GYRE_SECTION_CLUSTER, NULL, "lease_ms") / 3,
            look));
    if (code == CLI_OK)
        code = show(cli, look);
    if (code == CLI_OK && look->trouble[0])
        cli_error(CLI_OK, "%s", look->trouble); /* a warning: the rest was shown */
    gyre_cluster_look_finish(look);
    free(look);
    cluster_close(&opened);
    return code;
}

struct arguments {
    const char *const *operands;
    size_t count;
    uint64_t timeout_ms;
    const char *to, *again;
    bool ends, resets, home, messages;
};

static int run_status(const cli_context *cli, const struct arguments *given)
{
    return given->count == 0 ? status_of_cluster(cli) : cli_usage_error(cli, "status: expected no argument");
}

static int run_call(const cli_context *cli, const struct arguments *given)
{
    return given->count >= 2 ? cluster_call(cli, given->operands[0], given->operands + 1, given->count - 1,
                                            given->timeout_ms)
                             : cli_usage_error(cli, "call: expected a kernel file and requests");
}

static int run_drain(const cli_context *cli, const struct arguments *given)
{
    if (given->resets)
        return given->count == 0 && !given->ends
                   ? cluster_reset(cli, given->timeout_ms)
                   : cli_usage_error(cli, "drain: expected no member and no --end with --reset");
    return given->count == 1 ? cluster_drain(cli, given->operands[0], given->ends, given->timeout_ms)
                             : cli_usage_error(cli, "drain: expected the name of one member");
}

static int run_move(const cli_context *cli, const struct arguments *given)
{
    return given->count == 1 && !given->to == given->home
               ? cluster_move(cli, given->operands[0], given->to, given->timeout_ms)
               : cli_usage_error(cli,
                                 "move: expected the number of one shard, and either --to MEMBER or --home");
}

static int run_verify(const cli_context *cli, const struct arguments *given)
{
    return given->count == 0 ? cluster_verify(cli) : cli_usage_error(cli, "verify: expected no argument");
}

static int run_dead(const cli_context *cli, const struct arguments *given)
{
    if (given->count > 1 || (given->again && given->count != 1))
        return cli_usage_error(cli, "dead: expected the number of one shard at most, and with --again one");
    if (given->again)
        return cluster_dead_again(cli, given->operands[0], given->again, given->timeout_ms);
    return cluster_dead(cli, given->count ? given->operands[0] : NULL, given->messages);
}

static int run(cli_context *cli)
{
    static const struct {
        const char *name;
        int (*run)(const cli_context *cli, const struct arguments *given);
    } parts[] = {{"status", run_status}, {"call", run_call},     {"drain", run_drain},
                 {"move", run_move},     {"verify", run_verify}, {"dead", run_dead}};
    struct arguments given = {.timeout_ms = TIMEOUT_DEFAULT_MS};
    const cli_option options[] = {{"--timeout", .number = &given.timeout_ms, .max = UINT32_MAX},
                                  {"--end", .flag = &given.ends},
                                  {"--reset", .flag = &given.resets},
                                  {"--to", .text = &given.to},
                                  {"--home", .flag = &given.home},
                                  {"--messages", .flag = &given.messages},
                                  {"--again", .text = &given.again},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    const char *const *operands = (const char *const *)cli->operands.items;
    const size_t count = cli->operands.count;
    if (count)
        given.operands = operands + 1;
    given.count = count ? count - 1 : 0;
    for (size_t i = 0; count && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(operands[0], parts[i].name) == 0)
            return parts[i].run(cli, &given);
    return cli_usage_error(cli, "expected status, call, drain, move, verify or dead");
}

const cli_command cli_command_cluster = {"cluster", "kernels that several processes share by key", HELP, run};
