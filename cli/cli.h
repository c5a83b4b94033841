/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the command `gyre`: arguments, exit codes and errors, for every file cmd_<name>.c.
 *
 * To add a command, add the file cli/commands/cmd_<name>.c and define in it
 *
 *     const cli_command cli_command_<name> = {"<name>", "one line for the overview", HELP_TEXT, run};
 *
 * The build finds the file and puts it into the table. `run` starts with cli_parse, writes its results to stdout
 * and everything else to stderr, and returns an exit code:
 *
 *     static int run(cli_context *cli)
 *     {
 *         bool all = false;
 *         const cli_option options[] = {{"--all", .flag = &all}, {0}};
 *         if (!cli_parse(cli, options))
 *             return cli->exit_code;
 *         ...
 *         return status == GYRE_OK ? CLI_OK : cli_fail(status);
 *     }
 *
 * One thread, except that the library may log lines from other threads. No function in here calls exit().
 */
#ifndef GYRE_CLI_CLI_H
#define GYRE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/gyre.h"

/** Exit codes of the command. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_UNAVAILABLE = 3, /* backend or device */
    CLI_CONFIG = 4,
    CLI_TIMEOUT = 5,
    CLI_WORSE = 6,    /* of gyre swap: the new handler was tried, and was worse */
    CLI_UNDECIDED = 7 /* and it was tried, and nobody knows */
};

/** Texts in the order in which they were added; `items` ends with NULL when the list has a text. */
typedef struct cli_list {
    const char **items;
    size_t count;
} cli_list;

struct cli_command;
struct cli_option;

/** One run of a command. */
typedef struct cli_context {
    const struct cli_command *const *commands; /* all commands, ordered by name */
    size_t command_count;
    const struct cli_command *command; /* NULL before it is known */
    char **arguments;                  /* the arguments that are not parsed yet */
    size_t argument_count;
    const char *config_path; /* --config, or NULL */
    cli_list settings;       /* --set; `items` is what gyre_open_desc.settings wants */
    const char *backend;     /* --backend, or NULL */
    bool json;               /* --json */
    bool help, version;      /* handled by the frame */
    cli_list operands;       /* the arguments that are no options, after cli_parse */
    /* `gyre completion` asks a command for its options: cli_parse passes each of them to `see_option` then, and parses nothing */
    void (*see_option)(void *seen, const struct cli_option *option);
    void *seen;
    int exit_code; /* the command's exit code, when cli_parse returned false */
} cli_context;

typedef struct cli_command {
    const char *name;
    const char *summary; /* at most 60 letters, for the overview */
    const char *help; /* all of `gyre help NAME`: starts with "usage: gyre NAME ...", ends with a newline */
    int (*run)(cli_context *cli);
} cli_command;

#define COMMAND(name) extern const cli_command cli_command_##name;
#include "cli_commands.inc"
#undef COMMAND

/* ---- options ---- */

/**
 * An option of a command, with exactly one target (flag, text, list or number). A list of options ends with {0}. A user gives a
 * value as "--name value" or "--name=value". "--" ends the options; "-" alone and "-5" are operands.
 */
typedef struct cli_option {
    const char *name;  /* "--lanes" */
    const char *alias; /* "-o", or NULL */
    bool *flag;
    const char **text;
    cli_list *list; /* may be repeated; free `items` with cli_list_finish */
    uint64_t *number;
    uint64_t min, max; /* of `number` */
} cli_option;

/**
 * Parses the rest of the arguments: the command's options and the global ones (--config, --set, --backend,
 * --json, --help). False when the command is done: help was printed, a usage error with its sentence, or only the options
 * were asked for (see_option); cli->exit_code says which.
 */
bool cli_parse(cli_context *cli, const cli_option *options);
void cli_list_finish(cli_list *list);
/** Adds a text, which is borrowed. False without memory. */
bool cli_list_add(cli_list *list, const char *text);

/* ---- saying no ---- */

/**
 * The exit code for a status; CLI_OK only for GYRE_OK. Never CLI_USAGE, which is only for command lines that cannot be
 * understood: GYRE_INVALID also stands for other mistakes, for example a kernel that breaks the dialect.
 */
int cli_exit_code(gyre_status status);
/** Prints "gyre: " and the calling thread's error story as one line on stderr; returns cli_exit_code. */
int cli_fail(gyre_status status);
/** Returns CLI_OK for GYRE_OK; else does what cli_fail does. */
int cli_fail_unless_ok(gyre_status status);
/** Prints "gyre: " and a sentence; returns `exit_code`. */
int cli_error(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Does what cli_error does with CLI_USAGE, and names the help of the command. */
int cli_usage_error(const cli_context *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
