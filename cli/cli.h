/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the command `gyre`: what every cmd_<name>.c builds on.
 *
 * To add a command, add the file cli/cmd_<name>.c and define in it
 *
 *     const cli_command cli_command_<name> = {"<name>", "one line for the overview", HELP_TEXT, run};
 *
 * The build finds the file and puts it into the table. `run` starts with cli_parse, writes what was asked for
 * to stdout, everything else to stderr, and returns an exit code:
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
 * Single-threaded but for log lines of the library. Nothing in here calls exit().
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
    CLI_TIMEOUT = 5
};

/** Texts in the order given; `items` ends with NULL once there is one. */
typedef struct cli_list {
    const char **items;
    size_t count;
} cli_list;

struct cli_command;

/** One run of a command. */
typedef struct cli_context {
    const struct cli_command *const *commands; /* all that there are, ordered by name */
    size_t command_count;
    const struct cli_command *command; /* NULL before it is known */
    char **arguments;                  /* not parsed yet */
    size_t argument_count;
    const char *config_path; /* --config, or NULL */
    cli_list settings;       /* --set; `items` is what gyre_open_desc.settings wants */
    const char *backend;     /* --backend, or NULL */
    bool json;               /* --json */
    bool help, version;      /* handled by the frame */
    cli_list operands;       /* what is no option, after cli_parse */
    int exit_code;           /* why cli_parse returned false */
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
 * An option of a command; exactly one target is set. A list of them ends with {0}. Values are given as
 * "--name value" or "--name=value". "--" ends the options; "-" alone and "-5" are operands.
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
 * --json, --help). False when the command is done: help was printed, or a usage error with its sentence;
 * cli->exit_code says which.
 */
bool cli_parse(cli_context *cli, const cli_option *options);
void cli_list_finish(cli_list *list);
/** False without memory. */
bool cli_list_add(cli_list *list, const char *text);

/* ---- saying no ---- */

/**
 * The exit code that stands for a status; CLI_OK only for GYRE_OK. Never CLI_USAGE, which is for command
 * lines that cannot be understood: GYRE_INVALID tells as well of a kernel that breaks the dialect.
 */
int cli_exit_code(gyre_status status);
/** Prints "gyre: " and the calling thread's error story as one line on stderr; returns cli_exit_code. */
int cli_fail(gyre_status status);
/** CLI_OK, or cli_fail. */
int cli_fail_unless_ok(gyre_status status);
/** Prints "gyre: " and a sentence; returns `exit_code`. */
int cli_error(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** As cli_error with CLI_USAGE, and where to read how it is done. */
int cli_usage_error(const cli_context *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
