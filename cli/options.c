/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses arguments by the command's options and the global options. Values are borrowed from argv. Prints
 * nothing but usage errors.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { OPTIONS_MAX = 64 };

/* All options that are valid at this place: the command's and the global options. */
typedef struct option_set {
    const cli_option *options[OPTIONS_MAX];
    size_t count;
} option_set;

bool cli_list_add(cli_list *list, const char *text)
{
    const char **items = realloc(list->items, (list->count + 2) * sizeof *items);
    if (!items)
        return false;
    items[list->count++] = text;
    items[list->count] = NULL;
    list->items = items;
    return true;
}

void cli_list_finish(cli_list *list)
{
    free(list->items);
    *list = (cli_list){0};
}

static void add_options(option_set *set, const cli_option *options)
{
    for (; options && options->name && set->count < OPTIONS_MAX; options++)
        set->options[set->count++] = options;
}

/* True when `argument` is "NAME" or "NAME=VALUE"; *value is NULL for the former. */
static bool option_matches(const char *argument, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0 || (argument[length] && argument[length] != '='))
        return false;
    *value = argument[length] ? argument + length + 1 : NULL;
    return true;
}

static const cli_option *option_find(const option_set *set, const char *argument, const char **value)
{
    *value = NULL;
    for (size_t i = 0; i < set->count; i++)
        if (option_matches(argument, set->options[i]->name, value) ||
            (set->options[i]->alias && strcmp(argument, set->options[i]->alias) == 0))
            return set->options[i];
    return NULL;
}

static bool unknown_option(cli_context *cli, const option_set *set, const char *argument)
{
    const char *names[OPTIONS_MAX];
    char typed[64];
    for (size_t i = 0; i < set->count; i++)
        names[i] = set->options[i]->name;
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument, "="), argument);
    const char *nearest = gyre_text_nearest(typed, names, set->count);
    if (nearest)
        cli->exit_code = cli_usage_error(cli, "unknown option '%s'; did you mean '%s'?", argument, nearest);
    else
        cli->exit_code = cli_usage_error(cli, "unknown option '%s'", argument);
    return false;
}

static bool store_number(cli_context *cli, const cli_option *option, const char *value)
{
    char *end = NULL;
    errno = 0;
    uint64_t number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno || number < option->min || number > option->max) {
        cli->exit_code =
            cli_usage_error(cli, "%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", found '%s'",
                            option->name, option->min, option->max, value);
        return false;
    }
    *option->number = number;
    return true;
}

static bool option_store(cli_context *cli, const cli_option *option, const char *value)
{
    if (option->number)
        return store_number(cli, option, value);
    if (!*value) {
        cli->exit_code = cli_usage_error(cli, "%s: expected a value, found an empty text", option->name);
        return false;
    }
    if (option->text) {
        *option->text = value;
        return true;
    }
    if (cli_list_add(option->list, value))
        return true;
    cli->exit_code = cli_error(CLI_FAILED, "out of memory");
    return false;
}

/* Takes the option at the front of the arguments, with its value. */
static bool take_option(cli_context *cli, const option_set *set)
{
    const char *argument = cli->arguments[0], *value, *inside;
    const cli_option *option = option_find(set, argument, &value);
    if (!option)
        return unknown_option(cli, set, argument);
    cli->arguments++;
    cli->argument_count--;
    if (option->flag) {
        if (value)
            cli->exit_code = cli_usage_error(cli, "%s takes no value, found '%s'", option->name, value);
        *option->flag = true;
        return !value;
    }
    if (!value) {
        if (cli->argument_count == 0) {
            cli->exit_code = cli_usage_error(cli, "%s needs a value", option->name);
            return false;
        }
        value = *cli->arguments++;
        cli->argument_count--;
        if (strncmp(value, "--", 2) == 0 && option_find(set, value, &inside)) {
            cli->exit_code =
                cli_usage_error(cli, "%s needs a value, found the option '%s'", option->name, value);
            return false;
        }
    }
    return option_store(cli, option, value);
}

static bool is_operand(const char *argument)
{
    return argument[0] != '-' || argument[1] == '\0' || isdigit((unsigned char)argument[1]);
}

/* Parses all arguments. Before the command is known, parses up to the first operand, which is the command's name. */
static bool parse_all(cli_context *cli, const option_set *set)
{
    bool only_operands = false;
    while (cli->argument_count) {
        const char *argument = cli->arguments[0];
        if (!only_operands && !is_operand(argument) && strcmp(argument, "--") != 0) {
            if (!take_option(cli, set))
                return false;
            continue;
        }
        if (!cli->command)
            return true;
        cli->arguments++;
        cli->argument_count--;
        if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (!cli_list_add(&cli->operands, argument)) {
            cli->exit_code = cli_error(CLI_FAILED, "out of memory");
            return false;
        }
    }
    return true;
}

/* Passes all options to who asked for them. */
static void show_options(cli_context *cli, const option_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        cli->see_option(cli->seen, set->options[i]);
    cli->exit_code = CLI_OK;
}

bool cli_parse(cli_context *cli, const cli_option *options)
{
    const cli_option global[] = {
        {"--config", .text = &cli->config_path},       {"--set", .list = &cli->settings},
        {"--backend", .text = &cli->backend},          {"--json", .flag = &cli->json},
        {"--help", .alias = "-h", .flag = &cli->help}, {0}};
    const cli_option before_command[] = {{"--version", .flag = &cli->version}, {0}};
    option_set set = {.count = 0};
    add_options(&set, options);
    add_options(&set, global);
    if (!cli->command)
        add_options(&set, before_command);
    if (cli->see_option) {
        show_options(cli, &set);
        return false;
    }
    if (!parse_all(cli, &set))
        return false;
    if (cli->command && cli->help) {
        fputs(cli->command->help, stdout);
        cli->exit_code = CLI_OK;
        return false;
    }
    return true;
}
