/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints errors of the commands: one line on stderr, and an exit code for it. Texts from outside (file names, compilers,
 * handlers) are printed without their control characters.
 */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

enum { SENTENCE_MAX = 4096 };

int cli_exit_code(gyre_status status)
{
    switch (status) {
    case GYRE_OK:
        return CLI_OK;
    case GYRE_CONFIG:
        return CLI_CONFIG;
    case GYRE_UNAVAILABLE:
    case GYRE_LOST:
        return CLI_UNAVAILABLE;
    case GYRE_TIMEOUT:
        return CLI_TIMEOUT;
    default:
        return CLI_FAILED;
    }
}

static void print_sentence(char *text)
{
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    fprintf(stderr, "gyre: %s\n", text);
}

int cli_fail(gyre_status status)
{
    char text[SENTENCE_MAX];
    const char *story = gyre_error_text();
    snprintf(text, sizeof text, "%s", *story ? story : "failed, and nobody said why");
    print_sentence(text);
    return cli_exit_code(status);
}

int cli_fail_unless_ok(gyre_status status)
{
    return status == GYRE_OK ? CLI_OK : cli_fail(status);
}

int cli_error(int exit_code, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_sentence(text);
    return exit_code;
}

int cli_usage_error(const cli_context *cli, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bool general = !cli->command || strcmp(cli->command->name, "help") == 0;
    return cli_error(CLI_USAGE, "%s ('gyre help%s%s' shows how)", text, general ? "" : " ",
                     general ? "" : cli->command->name);
}
