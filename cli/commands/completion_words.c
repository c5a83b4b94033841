/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each command is run in order to be asked for its options (cli.h, see_option): it does nothing else then. Names come from the
 * configuration and from observation files; what cannot be read offers no words, because nobody waits for a sentence here.
 */
#include "cli/commands/completion_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_find.h"
#include "cli/new/new_project.h"
#include "cli/observed/observed.h"
#include "cli/open.h"
#include "core/config/config.h"
#include "core/config/table.h"

enum { OPTIONS_MAX = 64 };

/* The options of a command. Their names are constants, and outlast the command's own table. */
struct options {
    struct {
        const char *name;
        bool takes_value;
    } items[OPTIONS_MAX];
    size_t count;
};

/* The word that is typed. */
struct typed {
    const cli_context *cli;
    const char *start; /* a word that is offered begins with it */
    const char *ahead; /* stands in front of what is offered, "--set=" */
    size_t
        cut; /* so many letters of `ahead` and the word are not printed: the shell has them in other words */
};

static void note_option(void *seen, const cli_option *option)
{
    struct options *options = seen;
    if (options->count == OPTIONS_MAX)
        return;
    options->items[options->count].name = option->name;
    options->items[options->count++].takes_value = !option->flag;
}

/* Asks a command for its options, the global ones among them; without a command, for those that stand in front of one. */
static void ask_options(const cli_context *cli, const cli_command *command, struct options *options)
{
    cli_context asked = {.commands = cli->commands,
                         .command_count = cli->command_count,
                         .command = command,
                         .see_option = note_option,
                         .seen = options};
    options->count = 0;
    if (command)
        command->run(&asked);
    else
        cli_parse(&asked, NULL);
    cli_list_finish(&asked.settings);
    cli_list_finish(&asked.operands);
}

/* Whether an option of that name takes the next word as its value. */
static bool takes_word(const struct options *options, const char *word)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i].name, word) == 0)
            return options->items[i].takes_value;
    return false;
}

static void offer(const struct typed *typed, const char *word)
{
    if (strncmp(word, typed->start, strlen(typed->start)) != 0)
        return;
    const size_t ahead = strlen(typed->ahead);
    if (typed->cut < ahead)
        printf("%s%s\n", typed->ahead + typed->cut, word);
    else if (typed->cut - ahead <= strlen(word))
        printf("%s\n", word + (typed->cut - ahead));
}

static void offer_commands(const struct typed *typed)
{
    for (size_t i = 0; i < typed->cli->command_count; i++)
        offer(typed, typed->cli->commands[i]->name);
}

static void offer_options(const struct typed *typed, const struct options *options)
{
    for (size_t i = 0; i < options->count; i++)
        offer(typed, options->items[i].name);
}

static void offer_list(const struct typed *typed, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        offer(typed, words[i]);
}

/* ---- names of the configuration ---- */

static void offer_names(const struct typed *typed, enum gyre_section_kind kind)
{
    struct gyre_config *config;
    size_t count = 0;
    if (cli_load(typed->cli, &config) != GYRE_OK)
        return;
    const char *const *names = gyre_config_names(config, kind, &count);
    for (size_t i = 0; i < count; i++)
        offer(typed, names[i]);
    gyre_config_destroy(config);
}

static void offer_key(const struct typed *typed, const struct gyre_config_row *row, const char *name)
{
    char setting[256];
    const char *word = gyre_section_kind_word(row->kind);
    if (name)
        snprintf(setting, sizeof setting, "%s.%s.%s=", word, name, row->key);
    else
        snprintf(setting, sizeof setting, "%s.%s=", word, row->key);
    offer(typed, setting);
}

static void offer_keys_of(const struct typed *typed, const struct gyre_config *config,
                          const struct gyre_config_row *row)
{
    size_t count = 0;
    if (gyre_section_kind_is_single(row->kind)) {
        offer_key(typed, row, NULL);
        return;
    }
    const char *const *names = gyre_config_names(config, row->kind, &count);
    if (gyre_config_row_fits(row, row->kind, "default"))
        offer_key(typed, row, "default");
    for (size_t i = 0; i < count; i++)
        if (gyre_config_row_fits(row, row->kind, names[i]))
            offer_key(typed, row, names[i]);
}

/* The words of a setting's value, behind "SECTION.KEY=". */
static void offer_choices(const struct typed *typed, const struct gyre_config_row *row, size_t key_length)
{
    char setting[512];
    const char *const truths[] = {"true", "false", NULL};
    const char *const *words = row->type == GYRE_VALUE_BOOL ? truths : row->choices;
    for (size_t i = 0; i < GYRE_CHOICES_MAX && words[i]; i++) {
        snprintf(setting, sizeof setting, "%.*s=%s", (int)key_length, typed->start, words[i]);
        offer(typed, setting);
    }
}

/* The row of "queue.orders.capacity" or "gyre.backend", of which `length` letters count. NULL: there is none. */
static const struct gyre_config_row *row_of(const char *setting, size_t length)
{
    char text[256];
    if (length >= sizeof text)
        return NULL;
    memcpy(text, setting, length);
    text[length] = '\0';
    char *key = strrchr(text, '.'), *name = strchr(text, '.');
    if (!key)
        return gyre_config_row_find(GYRE_SECTION_GYRE, "", text);
    *key++ = '\0';
    name = name < key - 1 ? name + 1 : key - 1; /* the empty text for a section without a name */
    for (int kind = 0; kind < GYRE_SECTION_KINDS; kind++) {
        const char *word = gyre_section_kind_word((enum gyre_section_kind)kind);
        const size_t size = strlen(word);
        if (strncmp(text, word, size) == 0 && (text[size] == '\0' || text[size] == '.'))
            return gyre_config_row_find((enum gyre_section_kind)kind, name, key);
    }
    return NULL;
}

static void offer_settings(const struct typed *typed)
{
    size_t count;
    struct gyre_config *config;
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    const char *equals = strchr(typed->start, '=');
    if (equals) {
        const size_t length = (size_t)(equals - typed->start);
        const struct gyre_config_row *row = row_of(typed->start, length);
        if (row)
            offer_choices(typed, row, length);
        return;
    }
    if (cli_load(typed->cli, &config) != GYRE_OK)
        return;
    for (size_t i = 0; i < count; i++)
        offer_keys_of(typed, config, &rows[i]);
    gyre_config_destroy(config);
}

/* ---- names of what runs ---- */

static void offer_running_of(const struct typed *typed, const observed_process *process)
{
    gyre_observe_record kernel;
    uint32_t at = 0;
    if (process->life == GYRE_OBSERVED_DEAD)
        return;
    while ((at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel)))
        offer(typed, kernel.name);
}

static void offer_running(const struct typed *typed)
{
    observed_source source;
    observed_processes processes = {0};
    if (observed_begin(typed->cli, NULL, NULL, &source) != CLI_OK)
        return;
    source.quiet = true;
    if (observed_open(&source, &processes) == CLI_OK)
        for (size_t i = 0; i < processes.count; i++)
            offer_running_of(typed, &processes.items[i]);
    observed_finish(&processes);
}

/* ---- values and operands ---- */

static bool is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static void offer_each(const struct typed *typed, const char *(*name_of)(size_t index))
{
    for (size_t i = 0; name_of(i); i++)
        offer(typed, name_of(i));
}

static void offer_values(const struct typed *typed, const char *option)
{
    const char *const of_running[] = {"--attach", "--health", NULL};
    if (strcmp(option, "--set") == 0)
        offer_settings(typed);
    else if (strcmp(option, "--backend") == 0 || strcmp(option, "--why") == 0)
        offer_names(typed, GYRE_SECTION_BACKEND);
    else if (strcmp(option, "--pipeline") == 0)
        offer_names(typed, GYRE_SECTION_PIPELINE);
    else if (strcmp(option, "--form") == 0)
        offer_each(typed, project_form_name);
    else if (strcmp(option, "--language") == 0)
        offer_each(typed, project_language_name);
    else if (is_one_of(option, of_running))
        offer_running(typed);
}

static void offer_operands(const struct typed *typed, const char *command)
{
    const char *const of_kernels[] = {"call", "serve", "compile", NULL},
                      *const of_running[] = {"why", "stat", "top", "state", "web", NULL},
                      *const of_pipelines[] = {"serve", "pipeline", "links", NULL},
                      *const shells[] = {"bash", "zsh", "fish", NULL};
    if (strcmp(command, "help") == 0)
        offer_commands(typed);
    else if (strcmp(command, "completion") == 0)
        offer_list(typed, shells);
    if (is_one_of(command, of_kernels))
        offer_names(typed, GYRE_SECTION_KERNEL);
    if (is_one_of(command, of_pipelines))
        offer_names(typed, GYRE_SECTION_PIPELINE);
    if (is_one_of(command, of_running))
        offer_running(typed);
}

/* ---- the line ---- */

/* Goes over the words in front of the last one. *command: NULL when none stands there. Returns the option that takes the last word
 * as its value, or NULL. *config: the file of --config, else left alone. */
static const char *read_line(const cli_context *cli, const char *const *words, size_t count,
                             struct options *options, const cli_command **command, const char **config)
{
    const char *waiting = NULL;
    *command = NULL;
    ask_options(cli, NULL, options);
    for (size_t i = 0; i + 1 < count; i++) {
        if (waiting) {
            if (strcmp(waiting, "--config") == 0)
                *config = words[i];
            waiting = NULL;
        } else if (strncmp(words[i], "--config=", strlen("--config=")) == 0)
            *config = words[i] + strlen("--config=");
        else if (words[i][0] == '-')
            waiting = takes_word(options, words[i]) ? words[i] : NULL;
        else if (!*command && (*command = cli_command_find(cli, words[i])))
            ask_options(cli, *command, options);
    }
    return waiting;
}

static void print_for(const struct typed *asked, const char *const *words, size_t count)
{
    static char option[64], ahead[64];
    struct options options;
    const cli_command *command;
    struct typed own = *asked, *typed = &own;
    cli_context line = *asked->cli; /* with the configuration file that the line names */
    const char *waiting = read_line(typed->cli, words, count, &options, &command, &line.config_path);
    typed->cli = &line;
    const char *equals = strchr(typed->start, '=');
    if (!waiting && equals && strncmp(typed->start, "--", 2) == 0 && equals - typed->start < 60) {
        const int length = (int)(equals - typed->start);
        snprintf(option, sizeof option, "%.*s", length, typed->start);
        snprintf(ahead, sizeof ahead, "%s=", option);
        typed->ahead = ahead;
        typed->start = equals + 1;
        waiting = takes_word(&options, option) ? option : NULL;
    }
    if (waiting)
        offer_values(typed, waiting);
    else if (typed->start[0] == '-')
        offer_options(typed, &options);
    else if (command)
        offer_operands(typed, command->name);
    else if (!typed->ahead[0])
        offer_commands(typed);
}

/* Makes one word of "a", "=" and "b", as all other shells give it. joined[] belongs to the caller. Returns how many words there
 * are; *cut: how much of the last one stands in words of its own. */
static size_t join(const char *const *words, size_t count, char **joined, size_t *cut)
{
    size_t used = 0;
    bool open = false; /* the last word ends with a '=' that stood alone */
    *cut = 0;
    for (size_t i = 0; i < count; i++) {
        const bool equals = strcmp(words[i], "=") == 0, goes_on = used && (equals || open);
        char *word = NULL;
        if (asprintf(&word, "%s%s", goes_on ? joined[used - 1] : "", words[i]) < 0)
            return used;
        *cut = !goes_on ? 0 : equals ? strlen(word) : strlen(joined[used - 1]);
        if (goes_on)
            free(joined[--used]);
        joined[used++] = word;
        open = equals;
    }
    return used;
}

static void print_joined(struct typed *typed, const char *const *words, size_t count)
{
    char **joined = calloc(count, sizeof *joined);
    const size_t used = joined ? join(words, count, joined, &typed->cut) : 0;
    if (used) {
        typed->start = joined[used - 1];
        print_for(typed, (const char *const *)joined, used);
    }
    for (size_t i = 0; i < used; i++)
        free(joined[i]);
    free(joined);
}

void completion_words_print(const cli_context *cli, const char *const *words, size_t count, bool split)
{
    struct typed typed = {.cli = cli, .start = count ? words[count - 1] : "", .ahead = ""};
    if (split && count)
        print_joined(&typed, words, count);
    else
        print_for(&typed, words, count);
}
