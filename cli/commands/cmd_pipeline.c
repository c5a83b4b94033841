/* SPDX-License-Identifier: Apache-2.0 */
/* gyre pipeline: lists the configured pipelines, or opens one and prints its kernels and links. */
#include "cli/views/pipeline_view.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/links/wiring_config.h"

static const char HELP[] =
    "usage: gyre pipeline [NAME] [OPTION...]\n"
    "\n"
    "Without NAME, lists the pipelines that the configuration has, and launches nothing. Warns about links that none has.\n"
    "\n"
    "With NAME, opens the pipeline of [pipeline.NAME], which launches its kernels, and prints them in the order in which\n"
    "messages pass them. A kernel's line has its form, blocks, lanes and backend. A line below it has one of its ports,\n"
    "the kernel that the link leads to, the type of the messages, how many of them one call may emit, the link's rings\n"
    "(one for each block of the sender), how many messages each ring holds, and the memory of all of them. A port that\n"
    "leads to a topic has a line for each subscriber, with what happens while that is slow; one that leads to a pool has a line\n"
    "for each member, with which message goes first, and how many blocks take them. A port that asks says for what;\n"
    "the kernel that it asks has a line for the way back, with the name of that port.\n"
    "'by FIELD': the value of that field decides which block of the kernel gets a message.\n"
    "\n"
    "Options:\n"
    "  --dot   print the graph for Graphviz: gyre pipeline NAME --dot | dot -Tsvg >NAME.svg\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Example, in a checkout:\n"
    "  gyre pipeline orders --config examples/pipeline/gyre.ini\n";

enum { LIST_SIZE = 512 };

/* ---- the list ---- */

static json_t *json_of_names(const char *const *names, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, cli_json_text(names[i]));
    return list;
}

/* Takes pipelines into a table or an array. */
struct listing {
    cli_table *table;
    json_t *json;
    struct sections {
        const char *const *names; /* of all sections of a kind */
        bool *used;               /* of each of them: a pipeline has it */
        size_t count;
    } links, topics, pools;
};

static void mark_name(const struct sections *sections, const char *name)
{
    for (size_t i = 0; i < sections->count; i++)
        sections->used[i] |= strcmp(sections->names[i], name) == 0;
}

static void mark_links(const struct listing *listing, const gyre_pipeline_desc *desc)
{
    for (size_t n = 0; n < desc->link_count; n++)
        mark_name(desc->links[n].topic  ? &listing->topics
                  : desc->links[n].pool ? &listing->pools
                                        : &listing->links,
                  desc->links[n].name);
}

/* Warns about links, topics and pools that no pipeline has: most likely a name is mistyped, there or in a link before. */
static void warn_of_unused(const struct gyre_config *config, enum gyre_section_kind kind,
                           const struct sections *sections)
{
    for (size_t i = 0; i < sections->count; i++) {
        const struct gyre_config_value *from = gyre_config_find(config, kind, sections->names[i], "from");
        if (!sections->used[i])
            cli_error(CLI_OK,
                      "warning: %s: no configured pipeline leads to the kernel of from = '%s' in [%s.%s]",
                      from->origin, from->text, gyre_section_kind_word(kind), sections->names[i]);
    }
}

static void find_sections(const struct gyre_config *config, enum gyre_section_kind kind,
                          struct sections *sections)
{
    sections->names = gyre_config_names(config, kind, &sections->count);
    sections->used = calloc(sections->count + 1, sizeof *sections->used);
    sections->count = sections->used ? sections->count : 0;
}

static void list_wiring(const struct listing *listing, const gyre_pipeline_desc *desc)
{
    char entries[LIST_SIZE], answers[LIST_SIZE], links[32];
    if (listing->json) {
        json_array_append_new(listing->json,
                              cli_json_object("sooI", "name", desc->name, "entry",
                                              json_of_names(desc->entries, desc->entry_count), "answer",
                                              json_of_names(desc->answers, desc->answer_count), "links",
                                              (json_int_t)desc->link_count));
        return;
    }
    snprintf(links, sizeof links, "%zu", desc->link_count);
    gyre_text_list(desc->entries, desc->entry_count, entries, sizeof entries);
    gyre_text_list(desc->answers, desc->answer_count, answers, sizeof answers);
    const char *cells[] = {desc->name, entries, answers, links};
    cli_table_add(listing->table, cells);
}

/* Lists each pipeline whose sections are in order, and prints why another one is not. */
static int list_pipelines(const struct gyre_config *config, const struct listing *listing)
{
    size_t count;
    int code = CLI_OK;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    for (size_t i = 0; i < count; i++) {
        struct gyre_wiring_config *wiring;
        const gyre_pipeline_desc desc = {.size = sizeof desc, .name = names[i]};
        const gyre_status status = gyre_wiring_config_create(config, NULL, &desc, &wiring);
        if (status == GYRE_OK) {
            list_wiring(listing, &wiring->desc);
            mark_links(listing, &wiring->desc);
        } else {
            code = cli_fail(status);
        }
        gyre_wiring_config_destroy(wiring);
    }
    if (count == 0)
        cli_error(CLI_OK, "no pipeline is configured: a section [pipeline.NAME] makes one");
    if (count == 0 || code != CLI_OK)
        return code;
    warn_of_unused(config, GYRE_SECTION_LINK, &listing->links);
    warn_of_unused(config, GYRE_SECTION_TOPIC, &listing->topics);
    warn_of_unused(config, GYRE_SECTION_POOL, &listing->pools);
    return code;
}

static int run_list(const cli_context *cli)
{
    static const char *const headers[] = {"PIPELINE", "ENTRY", "ANSWER", ">LINKS", NULL};
    struct gyre_config *config;
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    cli_warn(config);
    struct listing listing = {.table = cli->json ? NULL : cli_table_create(headers),
                              .json = cli->json ? json_array() : NULL};
    find_sections(config, GYRE_SECTION_LINK, &listing.links);
    find_sections(config, GYRE_SECTION_TOPIC, &listing.topics);
    find_sections(config, GYRE_SECTION_POOL, &listing.pools);
    code = list_pipelines(config, &listing);
    const int printed = cli->json ? cli_print_json(listing.json) : cli_table_print(listing.table);
    free(listing.links.used);
    free(listing.topics.used);
    free(listing.pools.used);
    gyre_config_destroy(config);
    return code == CLI_OK ? printed : code;
}

/* ---- one pipeline ---- */

static int run_one(const cli_context *cli, bool dot)
{
    pipeline_view view;
    gyre_runtime *runtime;
    int code = pipeline_view_open(cli, cli->operands.items[0], &runtime, &view);
    if (code == CLI_OK)
        code = dot         ? pipeline_write_dot(&view, stdout)
               : cli->json ? pipeline_print_json(&view)
                           : pipeline_print(&view);
    pipeline_view_finish(&view);
    gyre_close(runtime);
    return code;
}

static int run(cli_context *cli)
{
    bool dot = false;
    const cli_option options[] = {{"--dot", .flag = &dot}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected the name of one pipeline, found '%s' too",
                               cli->operands.items[1]);
    if (dot && cli->json)
        return cli_usage_error(cli, "--dot and --json are two forms of output; choose one");
    if (cli->operands.count == 0 || !cli->operands.items[0][0])
        return dot ? cli_usage_error(cli, "--dot needs the name of a pipeline") : run_list(cli);
    return run_one(cli, dot);
}

const cli_command cli_command_pipeline = {"pipeline", "show the configured pipelines, or one", HELP, run};
