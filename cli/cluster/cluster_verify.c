/* SPDX-License-Identifier: Apache-2.0 */
/* gyre cluster verify (cluster_kept.h). */
#include <inttypes.h>

#include "cli/cluster/cluster_kept.h"
#include "cli/cluster/cluster_open.h"
#include "cli/json/json.h"
#include "cli/base/table.h"
#include "core/base/error.h"
#include "core/cluster/orders.h"
#include "core/cluster/verify.h"

struct verifying {
    const cli_context *cli;
    cli_table *table;
    json_t *shards, *problems;
    uint64_t count;
};

static void note_problem(void *context, const char *sentence)
{
    struct verifying *verifying = context;
    verifying->count++;
    if (verifying->cli->json)
        json_array_append_new(verifying->problems, cli_json_text(sentence));
    else
        cli_error(CLI_FAILED, "%s", sentence);
}

static void add_row(const struct verifying *verifying, const struct gyre_verified *found)
{
    char cells[8][24];
    const uint64_t numbers[] = {found->shard,   found->place.epoch, found->checkpoint, found->position,
                                found->waiting, found->clients,     found->letters,    found->problems};
    const char *row[10];
    size_t at = 0;
    for (size_t i = 0; i < 8; i++)
        snprintf(cells[i], sizeof cells[i], "%" PRIu64, numbers[i]);
    row[at++] = cells[0];
    row[at++] = found->place.owner[0] ? found->place.owner : NULL;
    for (size_t i = 1; i < 7; i++)
        row[at++] = cells[i];
    row[at++] = found->problems ? "does not agree" : "agrees";
    row[at] = NULL;
    cli_table_add(verifying->table, row);
}

static void add_shard(const struct verifying *verifying, const struct gyre_verified *found)
{
    if (!verifying->cli->json) {
        add_row(verifying, found);
        return;
    }
    json_array_append_new(
        verifying->shards,
        cli_json_object("isIIIIIIIII", "shard", (int)found->shard, "owner",
                        found->place.owner[0] ? found->place.owner : NULL, "epoch",
                        (json_int_t)found->place.epoch, "checkpoint", (json_int_t)found->checkpoint,
                        "position", (json_int_t)found->position, "waiting", (json_int_t)found->waiting,
                        "repeated", (json_int_t)found->repeated, "clients", (json_int_t)found->clients,
                        "replies", (json_int_t)found->replies, "dead", (json_int_t)found->letters, "problems",
                        (json_int_t)found->problems));
}

static gyre_status verify_orders(struct verifying *verifying, struct gyre_transport *transport)
{
    struct gyre_orders orders;
    const gyre_status status = gyre_orders_read(transport, &orders);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    note_problem(verifying, gyre_error_text());
    return GYRE_OK;
}

static gyre_status verify_all(struct verifying *verifying, const struct cluster_opened *opened)
{
    gyre_status status = verify_orders(verifying, opened->transport);
    for (uint32_t i = 0; status == GYRE_OK && i < opened->app.shards; i++) {
        struct gyre_verified found = {.problem = note_problem, .context = verifying};
        status = gyre_cluster_verify(opened->transport, &opened->app, i, &found);
        if (status == GYRE_OK)
            add_shard(verifying, &found);
    }
    return status;
}

static int end_table(struct verifying *verifying, bool whole)
{
    if (!verifying->cli->json)
        return cli_table_end(verifying->table, whole);
    json_t *document = cli_json_object("boo", "agrees", (int)!verifying->count, "shards", verifying->shards,
                                       "problems", verifying->problems);
    if (whole)
        return cli_print_json(document);
    json_decref(document);
    return CLI_OK;
}

int cluster_verify(const cli_context *cli)
{
    static const char *const headers[] = {">SHARD",   "OWNER",    ">EPOCH", ">CHECKPOINT", ">POSITION",
                                          ">WAITING", ">CLIENTS", ">DEAD",  "RESULT",      NULL};
    struct cluster_opened opened;
    struct verifying verifying = {.cli = cli};
    int code = cluster_open(cli, true, &opened);
    if (code == CLI_OK) {
        verifying.table = cli->json ? NULL : cli_table_create(headers);
        verifying.shards = cli->json ? json_array() : NULL;
        verifying.problems = cli->json ? json_array() : NULL;
        code = cli_fail_unless_ok(verify_all(&verifying, &opened));
        const int printed = end_table(&verifying, code == CLI_OK);
        code = code == CLI_OK ? printed : code;
    }
    cluster_close(&opened);
    return code == CLI_OK && verifying.count ? CLI_FAILED : code;
}
