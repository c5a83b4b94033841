/* SPDX-License-Identifier: Apache-2.0 */
/* gyre cache: lists the content of the cache of compiled kernels,
 * and empties it. Touches no plugin and no device. */
#include "cli/cli.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/text.h"
#include "core/cache/cache.h"
#include "core/config/config.h"

static const char HELP[] =
    "usage: gyre cache list [--json]\n"
    "       gyre cache clear [--json]\n"
    "\n"
    "list   the compiled kernels that are kept, used last first\n"
    "clear  removes all of them; running kernels are not disturbed\n"
    "\n"
    "The settings cache_dir and cache_size say where they are kept and how much of them.\n";

static int print_entries_json(const struct gyre_cache *cache, const struct gyre_cache_entry *entries,
                              size_t count)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            rows, cli_json_object("sIIssssb", "file", entries[i].path, "size", (json_int_t)entries[i].size,
                                  "used_at", (json_int_t)entries[i].used_at, "source", entries[i].source,
                                  "backend", entries[i].backend, "architecture", entries[i].architecture,
                                  "compiler", entries[i].compiler, "damaged", entries[i].damaged));
    return cli_print_json(cli_json_object("sIo", "folder", cache->folder, "size_max",
                                          (json_int_t)cache->size_max, "entries", rows));
}

static int print_entries(const struct gyre_cache *cache, const struct gyre_cache_entry *entries, size_t count)
{
    static const char *const headers[] = {"SOURCE", "BACKEND", ">BYTES", "LAST USED", "FILE", NULL};
    cli_table *table = cli_table_create(headers);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        char size[32], used[32];
        time_t at = (time_t)entries[i].used_at;
        struct tm when;
        snprintf(size, sizeof size, "%llu", (unsigned long long)entries[i].size);
        strftime(used, sizeof used, "%Y-%m-%d %H:%M:%S", localtime_r(&at, &when));
        const char *const cells[] = {entries[i].damaged ? "(damaged)" : entries[i].source, entries[i].backend,
                                     size, used, entries[i].path};
        cli_table_add(table, cells);
        total += entries[i].size;
    }
    int code = cli_table_print(table);
    printf("\n%zu compiled kernel file%s, %llu of at most %llu bytes, in %s\n", count, count == 1 ? "" : "s",
           (unsigned long long)total, (unsigned long long)cache->size_max, cache->folder);
    return code;
}

static int list_entries(const cli_context *cli, struct gyre_cache *cache)
{
    struct gyre_cache_entry *entries = NULL;
    size_t count = 0;
    gyre_status status = gyre_cache_list(cache, &entries, &count);
    if (status != GYRE_OK)
        return cli_fail(status);
    int code = cli->json ? print_entries_json(cache, entries, count) : print_entries(cache, entries, count);
    free(entries);
    return code;
}

static int clear_cache(const cli_context *cli, struct gyre_cache *cache)
{
    size_t count = 0;
    uint64_t size = 0;
    gyre_status status = gyre_cache_clear(cache, &count, &size);
    if (status != GYRE_OK)
        return cli_fail(status);
    if (cli->json)
        return cli_print_json(cli_json_object("sII", "folder", cache->folder, "removed", (json_int_t)count,
                                              "bytes", (json_int_t)size));
    printf("removed %zu compiled kernel file%s, %llu bytes, from %s\n", count, count == 1 ? "" : "s",
           (unsigned long long)size, cache->folder);
    return CLI_OK;
}

static int open_cache(const cli_context *cli, struct gyre_cache *cache)
{
    struct gyre_config *config;
    gyre_status status = cli_load(cli, &config);
    if (status != GYRE_OK)
        return cli_fail(status);
    gyre_cache_open(cache, gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "cache_dir"),
                    (uint64_t)gyre_config_int(config, GYRE_SECTION_GYRE, NULL, "cache_size"));
    gyre_config_destroy(config);
    if (cache->usable)
        return CLI_OK;
    if (cache->trouble[0])
        return cli_error(CLI_FAILED, "%s", cache->trouble);
    return cli_error(CLI_FAILED, "the cache is off: the setting cache_dir is empty or cache_size is 0");
}

static int unknown_action(const cli_context *cli, const char *action)
{
    static const char *const actions[] = {"list", "clear"};
    const char *near = gyre_text_nearest(action, actions, 2);
    if (near)
        return cli_usage_error(cli, "there is no 'gyre cache %s'; did you mean '%s'?", action, near);
    return cli_usage_error(cli, "there is no 'gyre cache %s'; expected list or clear", action);
}

static int run(cli_context *cli)
{
    struct gyre_cache cache = {.usable = false};
    const cli_option options[] = {{0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected list or clear");
    const char *action = cli->operands.items[0];
    bool listing = strcmp(action, "list") == 0;
    if (!listing && strcmp(action, "clear") != 0)
        return unknown_action(cli, action);
    int code = open_cache(cli, &cache);
    if (code != CLI_OK)
        return code;
    return listing ? list_entries(cli, &cache) : clear_cache(cli, &cache);
}

const cli_command cli_command_cache = {"cache", "list or clear the compiled kernels that are kept", HELP,
                                       run};
