/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre config: prints every effective value of the configuration and the place it came from. Loads only the configuration and
 * no plugin, so it works where no backend does.
 */
#include "cli/cli.h"
#include "cli/views/config_keys.h"
#include "cli/views/config_memory.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/config/config.h"
#include "core/links/wiring_config.h"
#include "core/registry/registry.h"
#include "core/plan/queue_plan.h"

static const char HELP[] =
    "usage: gyre config [--json] [--dropins] [--keys] [--memory FILE|NAME] [SECTION | KEY | SECTION.KEY]...\n"
    "\n"
    "Prints every effective value of the configuration with its origin: default, FILE:LINE, the environment's\n"
    "variable, or the command line. Refuses what no launch could take. Given names, it prints those alone:\n"
    "\n"
    "  gyre config queue                  every section of queues\n"
    "  gyre config queue.orders           what the queue 'orders' gets, also where no section names it\n"
    "  gyre config queue.orders.capacity  one value\n"
    "  gyre config cache_dir              a key of [gyre]\n"
    "  gyre config backend                the key of [gyre], and every section of backends\n"
    "\n"
    "Options:\n"
    "  --dropins      the drop-in files instead: read, masked by another one, or disabled\n"
    "  --keys         every key that there is instead: its values, its default and its meaning\n"
    "  --memory FILE  what the queues of that kernel file take, as they are configured: bytes from slot to\n"
    "                 slot, slots, headers, rings of bytes (layout = bridged), and all of it. FILE is compiled\n"
    "                 as for a launch of each kernel, FILE:KERNEL for that one; nothing is launched, and what a\n"
    "                 launch would be refused for is told. NAME in its place is the kernel whose source is\n"
    "                 configured in [kernel.NAME].\n"
    "\n"
    "docs/configuration.md explains sections, keys and the files they come from.\n";

/* Takes chosen values into a table or an array. With neither, the operands are only checked. */
struct listing {
    const struct gyre_config *config;
    cli_table *table;
    json_t *json;
};

static json_t *json_value(const struct gyre_config_value *value)
{
    enum gyre_value_type type = value->row ? value->row->type : GYRE_VALUE_TEXT;
    if (type == GYRE_VALUE_BOOL)
        return json_boolean(value->number);
    if (type == GYRE_VALUE_INT || type == GYRE_VALUE_POWER || type == GYRE_VALUE_SIZE ||
        type == GYRE_VALUE_MS)
        return json_integer(value->number);
    return cli_json_text(value->text);
}

/* Shows one value. `section` is the section that the user asked for; the value may come from the section `default`. */
static void show_value(const struct listing *listing, const char *section,
                       const struct gyre_config_value *value)
{
    char key[256];
    if (listing->json) {
        json_array_append_new(listing->json,
                              cli_json_object("ssos", "section", section, "key", value->key, "value",
                                              json_value(value), "origin", value->origin));
        return;
    }
    snprintf(key, sizeof key, "%s.%s", section, value->key);
    const char *cells[] = {key, value->text, value->origin};
    cli_table_add(listing->table, cells);
}

static void show_all(const struct listing *listing)
{
    size_t count;
    const struct gyre_config_value *values = gyre_config_values(listing->config, &count);
    for (size_t i = 0; i < count; i++)
        show_value(listing, values[i].section, &values[i]);
}

static void show_kind(const struct listing *listing, enum gyre_section_kind kind)
{
    size_t count;
    const struct gyre_config_value *values = gyre_config_values(listing->config, &count);
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == kind)
            show_value(listing, values[i].section, &values[i]);
}

static void show_section(const struct listing *listing, enum gyre_section_kind kind, const char *name)
{
    char section[256];
    size_t count;
    const struct gyre_config_value *values = gyre_config_section(listing->config, kind, name, &count);
    snprintf(section, sizeof section, "%s.%s", gyre_section_kind_word(kind), name);
    for (size_t i = 0; i < count; i++)
        show_value(listing, section, &values[i]);
}

/* ---- what an operand names ---- */

/* The kind whose word the first `length` letters are; -1 for none. */
static int kind_of(const char *text, size_t length)
{
    for (int kind = 0; kind < GYRE_SECTION_KINDS; kind++) {
        const char *word = gyre_section_kind_word((enum gyre_section_kind)kind);
        if (strlen(word) == length && strncmp(text, word, length) == 0)
            return kind;
    }
    return -1;
}

static int no_such_key(const struct listing *listing, enum gyre_section_kind kind, const char *name,
                       const char *section, const char *key)
{
    const char *names[64];
    size_t count, used = 0;
    const struct gyre_config_value *values = gyre_config_section(listing->config, kind, name, &count);
    while (used < count && used < 64) {
        names[used] = values[used].key;
        used++;
    }
    const char *near = gyre_text_nearest(key, names, used);
    if (near)
        return cli_error(CLI_FAILED, "there is no key '%s' in [%s]; did you mean '%s'?", key, section, near);
    return cli_error(CLI_FAILED, "there is no key '%s' in [%s]; 'gyre config %s' lists them", key, section,
                     section);
}

static int show_key(const struct listing *listing, enum gyre_section_kind kind, const char *name,
                    const char *section, const char *key)
{
    const struct gyre_config_value *value = gyre_config_find(listing->config, kind, name, key);
    if (!value)
        return no_such_key(listing, kind, name, section, key);
    show_value(listing, section, value);
    return CLI_OK;
}

static bool is_known_name(const struct listing *listing, enum gyre_section_kind kind, const char *name)
{
    size_t count;
    const char *const *names = gyre_config_names(listing->config, kind, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strcmp(name, "default") == 0;
}

/* Shows "queue.orders" or "queue.orders.capacity". A name may hold dots, so the section names that the configuration knows
 * decide where the key begins. */
static int show_dotted(const struct listing *listing, enum gyre_section_kind kind, char *operand)
{
    char *name = strchr(operand, '.') + 1, *last = strrchr(name, '.');
    if (name[0] == '\0' || name[0] == '.')
        return cli_error(CLI_FAILED, "'%s' names no section; expected a name behind the dot", operand);
    if (!last || is_known_name(listing, kind, name)) {
        show_section(listing, kind, name);
        return CLI_OK;
    }
    *last = '\0';
    return show_key(listing, kind, name, operand, last + 1);
}

static int show_operand(const struct listing *listing, const char *operand)
{
    size_t length = strcspn(operand, ".");
    int kind = kind_of(operand, length);
    if (!operand[length]) {
        if (kind < 0)
            return show_key(listing, GYRE_SECTION_GYRE, "", "gyre", operand);
        const struct gyre_config_value *key =
            gyre_config_find(listing->config, GYRE_SECTION_GYRE, "", operand);
        if (key) /* "backend" is a key and a kind of sections */
            show_value(listing, "gyre", key);
        show_kind(listing, (enum gyre_section_kind)kind);
        return CLI_OK;
    }
    if (kind < 0)
        return cli_error(
            CLI_FAILED,
            "'%s' is in no section that exists; expected gyre, observe, "
            "backend.NAME, kernel.NAME, queue.NAME, pipeline.NAME, link.NAME, topic.NAME or pool.NAME",
            operand);
    if (gyre_section_kind_is_single((enum gyre_section_kind)kind))
        return show_key(listing, (enum gyre_section_kind)kind, "",
                        gyre_section_kind_word((enum gyre_section_kind)kind), operand + length + 1);
    char *copy = strdup(operand);
    if (!copy)
        return cli_error(CLI_FAILED, "out of memory");
    int code = show_dotted(listing, (enum gyre_section_kind)kind, copy);
    free(copy);
    return code;
}

/* ---- the command ---- */

static int show_operands(const struct listing *listing, const cli_list *operands)
{
    if (operands->count == 0)
        show_all(listing);
    for (size_t i = 0; i < operands->count; i++) {
        int code = show_operand(listing, operands->items[i]);
        if (code != CLI_OK)
            return code;
    }
    return CLI_OK;
}

static const char *state_word(enum gyre_manifest_state state)
{
    static const char *const words[] = {[GYRE_MANIFEST_READ] = "read",
                                        [GYRE_MANIFEST_MASKED] = "masked",
                                        [GYRE_MANIFEST_DISABLED] = "disabled"};
    return words[state];
}

static json_t *json_dropins(const struct gyre_config *config)
{
    size_t count;
    const struct gyre_config_manifest *manifests = gyre_config_manifests(config, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              cli_json_object("sss", "file", manifests[i].path, "state",
                                              state_word(manifests[i].state), "masked_by", manifests[i].by));
    return list;
}

static json_t *json_warnings(const struct gyre_config *config)
{
    size_t count;
    const char *const *warnings = gyre_config_warnings(config, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, cli_json_text(warnings[i]));
    return list;
}

static int print_values(const struct gyre_config *config, const cli_context *cli)
{
    static const char *const headers[] = {"KEY", "VALUE", "ORIGIN", NULL};
    struct listing listing = {.config = config};
    int code = show_operands(&listing, &cli->operands);
    if (code != CLI_OK)
        return code;
    if (cli->json)
        listing.json = json_array();
    else
        listing.table = cli_table_create(headers);
    show_operands(&listing, &cli->operands);
    if (!cli->json)
        return cli_table_print(listing.table);
    return cli_print_json(cli_json_object("ooo", "values", listing.json, "dropins", json_dropins(config),
                                          "warnings", json_warnings(config)));
}

static int print_dropins(const struct gyre_config *config, bool json)
{
    static const char *const headers[] = {"FILE", "STATE", "MASKED BY", NULL};
    if (json)
        return cli_print_json(json_dropins(config));
    size_t count;
    const struct gyre_config_manifest *manifests = gyre_config_manifests(config, &count);
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; table && i < count; i++) {
        const char *cells[] = {manifests[i].path, state_word(manifests[i].state), manifests[i].by};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

/* Warns when the section, of [gyre] or of a kernel, names a backend that does not exist. */
static void warn_of_backend(const struct gyre_config *config, const struct gyre_registry *registry,
                            enum gyre_section_kind kind, const char *section)
{
    const char *name = gyre_config_text(config, kind, section, "backend");
    const gyre_status status = name[0] ? gyre_registry_check_name(registry, name) : GYRE_OK;
    if (gyre_config_blame(config, kind, section, "backend", status) != GYRE_OK)
        cli_error(CLI_OK, "warning: %s", gyre_error_text());
}

static void warn_of_backends(const struct gyre_config *config)
{
    size_t count;
    struct gyre_registry *registry = NULL;
    const char *const *kernels = gyre_config_names(config, GYRE_SECTION_KERNEL, &count);
    if (gyre_registry_create(config, &registry) != GYRE_OK)
        return; /* a launch tells why */
    warn_of_backend(config, registry, GYRE_SECTION_GYRE, NULL);
    warn_of_backend(config, registry, GYRE_SECTION_KERNEL, NULL);
    const char *inherited = gyre_config_text(config, GYRE_SECTION_KERNEL, NULL, "backend");
    for (size_t i = 0; i < count; i++)
        if (strcmp(gyre_config_text(config, GYRE_SECTION_KERNEL, kernels[i], "backend"), inherited) != 0)
            warn_of_backend(config, registry, GYRE_SECTION_KERNEL, kernels[i]);
    gyre_registry_destroy(registry);
}

static int run(cli_context *cli)
{
    bool dropins = false, keys = false;
    const char *memory = NULL;
    const cli_option options[] = {
        {"--dropins", .flag = &dropins}, {"--keys", .flag = &keys}, {"--memory", .text = &memory}, {0}};
    struct gyre_config *config = NULL;
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (dropins && cli->operands.count > 0)
        return cli_usage_error(cli, "--dropins takes no names, found '%s'", cli->operands.items[0]);
    if (memory && (dropins || cli->operands.count > 0))
        return cli_usage_error(cli, "--memory goes with one file, or kernel, and nothing else");
    if (keys && (dropins || memory || cli->operands.count > 0))
        return cli_usage_error(cli, "--keys goes with nothing else");
    if (keys)
        return config_keys_print(cli);
    if (memory)
        return config_memory_print(cli, memory);
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    cli_warn(config);
    warn_of_backends(config);
    code = cli_fail_unless_ok(gyre_queue_sections_check(config));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_wiring_config_check(config));
    if (code == CLI_OK)
        code = dropins ? print_dropins(config, cli->json) : print_values(config, cli);
    gyre_config_destroy(config);
    return code;
}

const cli_command cli_command_config = {"config", "every effective value and where it came from", HELP, run};
