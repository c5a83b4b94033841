/* SPDX-License-Identifier: Apache-2.0 */
/* gyre cluster dead (cluster_kept.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cluster/cluster_kept.h"
#include "cli/cluster/cluster_open.h"
#include "cli/json/json.h"
#include "cli/base/table.h"
#include "core/base/error.h"
#include "core/cluster/letters.h"

static const char WHY[] = "its handler took each owner down";

/* ---- the list ---- */

struct listing {
    const cli_context *cli;
    bool with_messages;
    uint32_t shard;
    uint64_t count;
    cli_table *table;
    json_t *letters;
};

static const char *write_time(char text[32], uint64_t at_ns)
{
    const time_t seconds = (time_t)(at_ns / 1000000000);
    struct tm parts;
    if (!at_ns || !gmtime_r(&seconds, &parts) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts))
        return NULL;
    return text;
}

static const char *write_client(char text[GYRE_CLUSTER_NAME_SIZE], const struct gyre_cluster_letter *letter)
{
    return gyre_cluster_client_name(text, letter->client) + strlen("out.");
}

/* NULL without memory. */
static char *write_bytes(const struct gyre_letter_view *view)
{
    char *text = malloc(2 * view->letter.length + 1);
    for (uint64_t i = 0; text && i < view->letter.length; i++)
        snprintf(text + 2 * i, 3, "%02x", view->bytes[i]);
    if (text)
        text[2 * view->letter.length] = '\0';
    return text;
}

static void add_row(const struct listing *listing, const struct gyre_letter_view *view, const char *bytes)
{
    const struct gyre_cluster_letter *letter = &view->letter;
    char shard[16], number[24], when[32], client[GYRE_CLUSTER_NAME_SIZE], request[24], deaths[24], size[24];
    snprintf(shard, sizeof shard, "%" PRIu32, listing->shard);
    snprintf(number, sizeof number, "%" PRIu64, view->number);
    snprintf(request, sizeof request, "%" PRIu64, letter->number);
    snprintf(deaths, sizeof deaths, "%" PRIu64, letter->deaths);
    snprintf(size, sizeof size, "%" PRIu64, letter->length);
    const char *const cells[] = {shard,
                                 number,
                                 write_time(when, letter->at_ns),
                                 deaths,
                                 letter->owner[0] ? letter->owner : NULL,
                                 write_client(client, letter),
                                 request,
                                 size,
                                 listing->with_messages ? bytes : WHY};
    cli_table_add(listing->table, cells);
}

static void add_json(const struct listing *listing, const struct gyre_letter_view *view, const char *bytes)
{
    const struct gyre_cluster_letter *letter = &view->letter;
    char when[32], client[GYRE_CLUSTER_NAME_SIZE];
    json_t *object = cli_json_object(
        "iIsIssIIs", "shard", (int)listing->shard, "letter", (json_int_t)view->number, "at",
        write_time(when, letter->at_ns), "deaths", (json_int_t)letter->deaths, "member",
        letter->owner[0] ? letter->owner : NULL, "client", write_client(client, letter), "request",
        (json_int_t)letter->number, "bytes", (json_int_t)letter->length, "why", WHY);
    if (object && listing->with_messages)
        json_object_set_new(object, "message", cli_json_text(bytes));
    json_array_append_new(listing->letters, object);
}

static bool add_letter(void *context, const struct gyre_letter_view *view)
{
    struct listing *listing = context;
    char *bytes = listing->with_messages ? write_bytes(view) : NULL;
    if (listing->cli->json)
        add_json(listing, view, bytes);
    else
        add_row(listing, view, bytes);
    free(bytes);
    listing->count++;
    return true;
}

static int list_shards(struct listing *listing, const struct cluster_opened *opened, uint32_t from,
                       uint32_t to)
{
    gyre_status status = GYRE_OK;
    for (listing->shard = from; status == GYRE_OK && listing->shard < to; listing->shard++)
        status = gyre_letters_read(opened->transport, listing->shard, add_letter, listing);
    return cli_fail_unless_ok(status);
}

static int end_list(struct listing *listing, int code)
{
    if (listing->cli->json && code == CLI_OK)
        return cli_print_json(listing->letters);
    if (listing->cli->json) {
        json_decref(listing->letters);
        return code;
    }
    const int printed = cli_table_end(listing->table, code == CLI_OK && listing->count);
    if (code == CLI_OK && !listing->count)
        puts("no dead letters");
    return code == CLI_OK ? printed : code;
}

int cluster_dead(const cli_context *cli, const char *shard, bool with_messages)
{
    const char *const headers[] = {">SHARD",   ">LETTER", "WHEN",
                                   ">DEATHS",  "MEMBER",  "CLIENT",
                                   ">REQUEST", ">BYTES",  with_messages ? "MESSAGE" : "WHY",
                                   NULL};
    struct cluster_opened opened;
    struct listing listing = {.cli = cli, .with_messages = with_messages};
    uint32_t one = 0;
    int code = cluster_open(cli, true, &opened);
    if (code == CLI_OK && shard)
        code = cluster_read_shard(cli, &opened, shard, &one);
    if (code == CLI_OK) {
        listing.table = cli->json ? NULL : cli_table_create(headers);
        listing.letters = cli->json ? json_array() : NULL;
        code = list_shards(&listing, &opened, shard ? one : 0, shard ? one + 1 : opened.app.shards);
        code = end_list(&listing, code);
    }
    cluster_close(&opened);
    return code;
}

/* ---- again ---- */

struct again {
    struct gyre_transport *transport;
    uint32_t shard;
    uint64_t number, deadline_ns;
    bool found;
    gyre_status status;
    struct gyre_letter_answer answer;
};

static bool send_if_it(void *context, const struct gyre_letter_view *view)
{
    struct again *again = context;
    if (view->number != again->number)
        return true;
    again->found = true;
    again->status =
        gyre_letter_send_again(again->transport, again->shard, view, again->deadline_ns, &again->answer);
    return false;
}

static int tell_answer(const cli_context *cli, const struct again *again)
{
    const struct gyre_letter_answer *answer = &again->answer;
    if (answer->outcome == GYRE_HANDLER_FAILED)
        return cli_error(CLI_FAILED, "the handler failed with code %" PRId32 ": %s", answer->code,
                         answer->text);
    if (cli->json)
        return cli_print_json(cli_json_object("iIi", "shard", (int)again->shard, "letter",
                                              (json_int_t)again->number, "reply_bytes", (int)answer->length));
    printf("letter %" PRIu64 " of shard %" PRIu32 " was handled: a reply of %" PRIu32 " bytes\n",
           again->number, again->shard, answer->length);
    return CLI_OK;
}

int cluster_dead_again(const cli_context *cli, const char *shard, const char *number, uint64_t timeout_ms)
{
    struct cluster_opened opened;
    struct again again = {.deadline_ns = gyre_in_ms(timeout_ms)};
    if (!cluster_read_number(number, &again.number))
        return cli_usage_error(cli, "--again: expected the number of a dead letter, found '%.100s'", number);
    int code = cluster_open(cli, true, &opened);
    again.transport = opened.transport;
    if (code == CLI_OK)
        code = cluster_read_shard(cli, &opened, shard, &again.shard);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_letters_read(opened.transport, again.shard, send_if_it, &again));
    if (code == CLI_OK && !again.found)
        code =
            cli_error(CLI_FAILED, "shard %" PRIu32 " has no dead letter %" PRIu64, again.shard, again.number);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(again.status);
    if (code == CLI_OK)
        code = tell_answer(cli, &again);
    cluster_close(&opened);
    return code;
}
