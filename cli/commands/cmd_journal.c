/* SPDX-License-Identifier: Apache-2.0 */
/* gyre journal: lists, verifies, prints, cuts and converts journals that no program has open. */
#include "cli/cli.h"
#include "cli/views/journal_view.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/journal/rewrite.h"

static const char HELP[] =
    "usage: gyre journal list [FOLDER] [--json]\n"
    "       gyre journal verify FILE...\n"
    "       gyre journal print FILE [--types TYPES]\n"
    "       gyre journal state FILE [--raw] [--buffer NAME] [--types TYPES]\n"
    "       gyre journal cut FILE --at N (--output NEW | --replace)\n"
    "       gyre journal convert FILE (--output NEW | --replace) [--types TYPES]\n"
    "\n"
    "Journals of queues (durability = journal), which no program has open.\n"
    "\n"
    "list     the journals of a folder, default gyre.journal_dir: whose each is, its requests, its checkpoint, its end\n"
    "verify   reads each whole, and says what is wrong with it and where\n"
    "print    a line of JSON that says whose it is, then one for each request: whether its reply was \"taken\", its\n"
    "         checkpoint has it (\"covered\"), or it is \"offered\" to the next run; of a query its number alone\n"
    "state    the state of its last checkpoint, as `gyre call --state` takes it\n"
    "cut      the same journal without the requests from N on, and with the last checkpoint that has none of them\n"
    "convert  the same journal in the present format, and with --types with the types of these names as they are now:\n"
    "         fields are taken over by their names. The next launch does that by itself, this only says earlier if it can.\n"
    "         A journal of a pipeline whose stages keep something stays with its types\n"
    "\n"
    "Options:\n"
    "  --at N            the number of the first request that is left out\n"
    "  --output NEW      write to this file, which must not exist\n"
    "  --replace         put it in the journal's place; what was there is kept as FILE.before\n"
    "  --raw             the bytes\n"
    "  --buffer NAME     of this inout buffer, in place of the state\n"
    "  --types TYPES     a kernel file or header with the types of a journal that has none (of Gyre before 0.2); of\n"
    "                    convert those that it is to have\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 a journal is damaged, in use, or is not what was asked for, 4 configuration.\n";

typedef struct journal_run {
    cli_context *cli;
    const char *output, *types_file, *buffer;
    uint64_t at; /* UINT64_MAX: not given */
    bool replace, raw;
    type_list types;
    journal_view view;
} journal_run;

/* ---- list ---- */

static json_t *row_of(const char *file, const journal_view *view, const char *problem)
{
    const struct gyre_journal_content *content = &view->content;
    if (problem)
        return cli_json_object("ss", "file", file, "problem", problem);
    return cli_json_object("sssIIIIIs", "file", file, "kernel", content->open.kernel, "queue",
                           content->open.queue, "first", (json_int_t)content->first, "next",
                           (json_int_t)content->sent, "taken", (json_int_t)content->received, "covered",
                           (json_int_t)content->covered, "bytes", (json_int_t)view->visit.size, "end",
                           journal_view_end_word(view));
}

static void add_row(cli_table *table, const char *file, const journal_view *view, const char *problem)
{
    const struct gyre_journal_content *content = &view->content;
    char first[32], next[32], covered[32], bytes[32];
    snprintf(first, sizeof first, "%" PRIu64, content->first);
    snprintf(next, sizeof next, "%" PRIu64, content->sent);
    snprintf(covered, sizeof covered, "%" PRIu64, content->covered);
    snprintf(bytes, sizeof bytes, "%zu", view->visit.size);
    const char *const told[] = {file,
                                content->open.kernel,
                                content->open.queue,
                                first,
                                next,
                                content->open.state_size ? covered : NULL,
                                bytes,
                                journal_view_end_word(view)};
    const char *const not_read[] = {file, NULL, NULL, NULL, NULL, NULL, NULL, problem};
    cli_table_add(table, problem ? not_read : told);
}

static bool is_journal(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > strlen(".journal") &&
           strcmp(entry->d_name + length - strlen(".journal"), ".journal") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void list_one(journal_run *run, const char *folder, const char *name, cli_table *table, json_t *rows)
{
    char path[PATH_MAX];
    const char *problem = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const gyre_status status = journal_view_open(path, false, &run->view);
    if (status != GYRE_OK)
        problem = status == GYRE_AGAIN ? "in use" : gyre_error_cause();
    if (run->cli->json)
        json_array_append_new(rows, row_of(path, &run->view, problem));
    else
        add_row(table, name, &run->view, problem);
    journal_view_close(&run->view);
}

static int list_folder(journal_run *run, const char *folder)
{
    static const char *const headers[] = {"FILE",     "KERNEL", "QUEUE", ">FIRST", ">NEXT",
                                          ">COVERED", ">BYTES", "END",   NULL};
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, by_name);
    if (count < 0)
        return cli_error(CLI_FAILED, "the folder '%s' cannot be read: %s", folder, strerror(errno));
    cli_table *table = run->cli->json ? NULL : cli_table_create(headers);
    json_t *rows = run->cli->json ? json_array() : NULL;
    for (int i = 0; i < count; i++) {
        if (is_journal(entries[i]))
            list_one(run, folder, entries[i]->d_name, table, rows);
        free(entries[i]);
    }
    free(entries);
    return run->cli->json ? cli_print_json(cli_json_object("so", "folder", folder, "journals", rows))
                          : cli_table_print(table);
}

static int list_journals(journal_run *run)
{
    struct gyre_config *config = NULL;
    const cli_list *operands = &run->cli->operands;
    if (operands->count > 2)
        return cli_usage_error(run->cli, "expected one folder, found %zu", operands->count - 1);
    if (operands->count == 2)
        return list_folder(run, operands->items[1]);
    int code = cli_fail_unless_ok(cli_load(run->cli, &config));
    const char *folder =
        code == CLI_OK ? gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "journal_dir") : "";
    if (code == CLI_OK)
        code = folder[0] ? list_folder(run, folder)
                         : cli_usage_error(run->cli, "expected a folder, as gyre.journal_dir names none");
    gyre_config_destroy(config);
    return code;
}

/* ---- verify, print, state ---- */

/* "requests 3 to 5", "no requests". */
static const char *range_text(uint64_t first, uint64_t end, char text[64])
{
    snprintf(text, 64, "requests %" PRIu64 " to %" PRIu64, first, end - 1);
    return end > first ? text : "no requests";
}

static int verify_one(journal_run *run, const char *path)
{
    char range[64];
    gyre_status status = journal_view_open(path, false, &run->view);
    if (status == GYRE_OK)
        status = journal_view_check(&run->view);
    const struct gyre_journal_content *content = &run->view.content;
    const int code = cli_fail_unless_ok(status);
    if (code == CLI_OK)
        printf("%s: whole, %s: %s of queue '%s' of kernel '%s', %" PRIu64
               " of them offered to the next run\n",
               path, journal_view_end_word(&run->view), range_text(content->first, content->sent, range),
               content->open.queue, content->open.kernel, content->sent - content->received);
    journal_view_close(&run->view);
    return code;
}

static int verify_journal(journal_run *run)
{
    const cli_list *operands = &run->cli->operands;
    int code = CLI_OK;
    if (operands->count < 2)
        return cli_usage_error(run->cli, "expected at least one journal");
    for (size_t i = 1; i < operands->count; i++)
        if (verify_one(run, operands->items[i]) != CLI_OK)
            code = CLI_FAILED;
    return code;
}

/* Opens the only journal that the operands name. Takes its types from the file of --types when the journal has none. */
static int open_one(journal_run *run, bool makes_lock)
{
    const cli_list *operands = &run->cli->operands;
    if (operands->count != 2)
        return cli_usage_error(run->cli, "expected one journal, found %zu", operands->count - 1);
    int code = run->types_file ? type_list_load(run->cli, run->types_file, &run->types) : CLI_OK;
    if (code == CLI_OK)
        code = cli_fail_unless_ok(journal_view_open(operands->items[1], makes_lock, &run->view));
    if (code == CLI_OK && run->types_file)
        code = cli_fail_unless_ok(journal_view_add_types(&run->view, &run->types));
    return code;
}

static int print_journal(journal_run *run)
{
    const int code = open_one(run, false);
    if (code != CLI_OK)
        return code;
    const struct gyre_journal_content *content = &run->view.content;
    journal_view_write_head(&run->view, stdout);
    putchar('\n');
    for (uint64_t index = content->first; index < content->sent; index++) {
        journal_view_write_request(&run->view, index, stdout);
        putchar('\n');
    }
    return content->lost || content->cut ? cli_fail(journal_view_check(&run->view)) : CLI_OK;
}

static int print_state(journal_run *run)
{
    const unsigned char *bytes;
    uint64_t size;
    const int code = open_one(run, false);
    if (code != CLI_OK)
        return code;
    if (!run->raw) {
        const gyre_status status = journal_view_write_state(&run->view, run->buffer, stdout);
        if (status == GYRE_OK)
            putchar('\n');
        return cli_fail_unless_ok(status);
    }
    const gyre_status status = journal_view_state_bytes(&run->view, run->buffer, &bytes, &size);
    if (status == GYRE_OK)
        fwrite(bytes, 1, size, stdout);
    return cli_fail_unless_ok(status);
}

/* ---- cut, convert ---- */

/* Reads the written bytes once more before they become a journal. */
static gyre_status check_written(const struct gyre_bytes *bytes, uint64_t end)
{
    struct gyre_journal_content content;
    gyre_status status = gyre_journal_read(bytes->data, bytes->size, &content);
    if (status == GYRE_OK && (content.sent != end || content.lost || content.cut))
        status = gyre_error_set(GYRE_INTERNAL, "the journal that was made is not whole; nothing was written");
    gyre_journal_content_release(&content);
    return status;
}

static int write_anew(const journal_run *run, const struct gyre_journal_content *content, uint64_t end)
{
    struct gyre_bytes bytes = {0};
    gyre_status status = gyre_journal_rewrite(content, end, &bytes);
    if (status == GYRE_OK)
        status = check_written(&bytes, end);
    if (status == GYRE_OK)
        status = run->replace ? gyre_journal_visit_replace(&run->view.visit, bytes.data, bytes.size)
                              : gyre_journal_write_file(run->output, bytes.data, bytes.size);
    gyre_bytes_release(&bytes);
    if (status != GYRE_OK)
        return cli_fail(status);
    char range[64];
    fprintf(stderr, "gyre: %s: %s%s\n", run->replace ? run->view.visit.path : run->output,
            range_text(content->first, end, range),
            run->replace ? "; what was there is kept beside it, as .before" : "");
    return CLI_OK;
}

static int open_to_change(journal_run *run)
{
    if (!run->output == !run->replace)
        return cli_usage_error(run->cli, "expected either --output NEW or --replace");
    int code = open_one(run, run->replace);
    if (code == CLI_OK &&
        run->view.content.lost) /* the journal that is written leaves these bytes out for good */
        fprintf(stderr,
                "gyre: warning: '%s': %" PRIu64 " bytes from byte %" PRIu64
                " on cannot be used and are left out\n",
                run->view.visit.path, run->view.content.lost, run->view.content.used);
    return code;
}

static gyre_status cannot_cut(const journal_run *run, const struct gyre_journal_content *content)
{
    if (run->at < content->first || run->at > content->sent)
        return gyre_error_set(GYRE_INVALID,
                              "--at: the journal holds requests %" PRIu64 " to %" PRIu64 ", found %" PRIu64,
                              content->first, content->sent, run->at);
    return gyre_error_set(
        GYRE_INVALID,
        "--at: every checkpoint in the journal has what came of request %" PRIu64
        " or later ones: the state before cannot be had; the last one has those below %" PRIu64,
        run->at, content->covered);
}

static int cut_journal(journal_run *run)
{
    struct gyre_journal_content before = {0};
    if (run->at == UINT64_MAX)
        return cli_usage_error(run->cli, "expected --at N, the first request that is left out");
    int code = open_to_change(run);
    if (code != CLI_OK)
        return code;
    const struct gyre_journal_visit *visit = &run->view.visit;
    gyre_status status = gyre_journal_read_covering(visit->data, visit->size, run->at, &before);
    const bool has_state = !before.open.state_size || before.state;
    if (status == GYRE_OK && (run->at < before.first || run->at > before.sent || !has_state))
        status = cannot_cut(run, &run->view.content);
    code = status == GYRE_OK ? write_anew(run, &before, run->at) : cli_fail(status);
    gyre_journal_content_release(&before);
    return code;
}

static int convert_journal(journal_run *run)
{
    int code = open_to_change(run);
    if (code == CLI_OK && run->types_file)
        code = cli_fail_unless_ok(journal_view_adopt(&run->view, &run->types));
    return code == CLI_OK ? write_anew(run, &run->view.content, run->view.content.sent) : code;
}

/* ---- the command ---- */

static int run_action(journal_run *run)
{
    static const struct {
        const char *name;
        int (*run)(journal_run *run);
    } actions[] = {{"list", list_journals}, {"verify", verify_journal}, {"print", print_journal},
                   {"state", print_state},  {"cut", cut_journal},       {"convert", convert_journal}};
    const cli_list *operands = &run->cli->operands;
    if (operands->count == 0)
        return cli_usage_error(run->cli, "expected list, verify, print, state, cut or convert");
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(operands->items[0], actions[i].name) == 0)
            return actions[i].run(run);
    return cli_usage_error(run->cli, "expected list, verify, print, state, cut or convert, found '%s'",
                           operands->items[0]);
}

static int run(cli_context *cli)
{
    journal_run journal = {.cli = cli, .at = UINT64_MAX, .view.visit.lock = -1};
    const cli_option options[] = {{"--at", .number = &journal.at, .max = UINT64_MAX - 1},
                                  {"--output", .text = &journal.output},
                                  {"--replace", .flag = &journal.replace},
                                  {"--raw", .flag = &journal.raw},
                                  {"--buffer", .text = &journal.buffer},
                                  {"--types", .text = &journal.types_file},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    const int code = run_action(&journal);
    journal_view_close(&journal.view);
    type_list_finish(&journal.types);
    return code;
}

const cli_command cli_command_journal = {"journal", "look into journals, verify, cut and convert them", HELP,
                                         run};
