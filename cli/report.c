/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says besides results: one line on stderr and an exit code. Other people's texts (file
 * names, compilers, handlers) are printed without their control characters.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

int cli_print_json(json_t *document)
{
    size_t flags = JSON_PRESERVE_ORDER | (isatty(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT);
    if (!document)
        return cli_error(CLI_FAILED, "out of memory");
    errno = 0;
    bool written = json_dumpf(document, stdout, flags) == 0 && fputc('\n', stdout) != EOF;
    const int reason = errno;
    json_decref(document);
    return written ? CLI_OK
                   : cli_error(CLI_FAILED, "cannot write the JSON document to standard output: %s",
                               reason ? strerror(reason) : "no memory for it");
}
