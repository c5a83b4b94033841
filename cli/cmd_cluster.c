/* SPDX-License-Identifier: Apache-2.0 */
/* gyre cluster: shows a cluster, and sends requests to it. `gyre serve` with a [cluster] is a member (cluster_serve.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cluster_call.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/table.h"
#include "core/cluster/look.h"
#include "core/config/config.h"

static const char HELP[] =
    "usage: gyre cluster status [OPTION...]\n"
    "       gyre cluster call FILE.gyre.c[:KERNEL] REQUEST... [OPTION...]\n"
    "\n"
    "status  lists the members of the cluster of [cluster], and its shards: who owns each, how often it was taken (EPOCH), and\n"
    "        the number of the last block of requests that was sent to it. A member is `silent` when its record does not\n"
    "        change any more; after lease_ms its shards go to others. Takes a third of lease_ms.\n"
    "call    sends requests, each a message in JSON, to the owners of their keys, and prints the replies in the order of\n"
    "        the requests. FILE has the types of the messages; nothing of it runs here.\n"
    "\n"
    "A member is started with `gyre serve FILE` and the same [cluster]. docs/cluster.md tells all of it.\n"
    "\n"
    "Options:\n"
    "  --timeout MS   how long to wait for the replies; default 30000\n"
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
        snprintf(owned, sizeof owned, "%" PRIu32, member->state == GYRE_MEMBER_GONE ? 0 : member->owned);
        const char *const cells[] = {member->name, gyre_cluster_look_word(look, member), weight, owned};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static int show_shards(const struct gyre_cluster_look *look)
{
    static const char *const headers[] = {">SHARD", "OWNER", ">EPOCH", ">REQUESTS", NULL};
    cli_table *table = cli_table_create(headers);
    for (uint32_t i = 0; table && i < look->app.shards; i++) {
        const struct gyre_shard_place *place = &look->places[i];
        char number[16], epoch[32], requests[32];
        snprintf(number, sizeof number, "%" PRIu32, i);
        snprintf(epoch, sizeof epoch, "%" PRIu64, place->epoch);
        snprintf(requests, sizeof requests, "%" PRIu64, look->requests[i]);
        const char *const cells[] = {number, place->owner[0] ? place->owner : NULL, epoch, requests};
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
                                                       (int)member->weight, "shards", (int)member->owned));
    }
    for (uint32_t i = 0; i < look->app.shards; i++)
        json_array_append_new(shards, cli_json_object("isII", "shard", (int)i, "owner",
                                                      look->places[i].owner[0] ? look->places[i].owner : NULL,
                                                      "epoch", (json_int_t)look->places[i].epoch, "requests",
                                                      (json_int_t)look->requests[i]));
    return cli_print_json(cli_json_object("ssoo", "kernel", look->app.kernel, "key", look->app.key, "members",
                                          members, "shards", shards));
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
    struct gyre_config *config = NULL;
    struct gyre_transport *transport = NULL;
    struct gyre_cluster_look *look = calloc(1, sizeof *look);
    int code = look ? cli_fail_unless_ok(cli_load(cli, &config)) : cli_error(CLI_FAILED, "out of memory");
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_transport_open(
            config, NULL, NULL,
            gyre_in_ms((uint64_t)gyre_config_int(config, GYRE_SECTION_CLUSTER, NULL, "reach_ms")),
            &transport));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_cluster_look_take(
            transport, gyre_config_ns(config, GYRE_SECTION_CLUSTER, NULL, "lease_ms") / 3, look));
    if (code == CLI_OK)
        code = show(cli, look);
    if (look)
        gyre_cluster_look_finish(look);
    free(look);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    return code;
}

static int run(cli_context *cli)
{
    uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
    const cli_option options[] = {{"--timeout", .number = &timeout_ms, .max = UINT32_MAX}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    const char *const *operands = (const char *const *)cli->operands.items;
    const size_t count = cli->operands.count;
    if (count == 1 && strcmp(operands[0], "status") == 0)
        return status_of_cluster(cli);
    if (count >= 3 && strcmp(operands[0], "call") == 0)
        return cluster_call(cli, operands[1], operands + 2, count - 2, timeout_ms);
    return cli_usage_error(cli, "expected `status`, or `call`, a kernel file and requests");
}

const cli_command cli_command_cluster = {"cluster", "kernels that several processes share by key", HELP, run};
