/* SPDX-License-Identifier: Apache-2.0 */
/* gyre wire: generates C source that reads and writes messages in their wire form, for the host and for handlers. */
#include "cli/cli.h"
#include "cli/base/output_file.h"
#include "cli/wire/generate.h"
#include "cli/wire/wire_session.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/files.h"

static const char HELP[] =
    "usage: gyre wire [--type T] [-o OUT.h] FILE\n"
    "\n"
    "Writes a header with gyre_encode_T and gyre_decode_T for the message types of FILE, between a message and\n"
    "the wire form of MemoryPack: C for the host and for handlers on every device, to be read, and to be\n"
    "included behind what declares the types. FILE is a kernel file or a header; its GYRE_WIRE says what the\n"
    "other side chose (docs/messages.md).\n"
    "\n"
    "Options:\n"
    "  --type T           this message type alone\n"
    "  -o, --output FILE  where to write; standard output by default, and for -\n"
    "\n"
    "Exit codes: 1 the file or a description is wrong, 3 no compiler or no backend, 4 configuration.\n";

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "GYRE_WIRE_OF_TICKS_H" for "…/ticks.h" */
static void print_guard(const char *words, const char *file, FILE *out)
{
    fprintf(out, "%s GYRE_WIRE_OF_", words);
    for (const char *at = name_of(file); *at; at++)
        fputc(isalnum((unsigned char)*at) && !(*at & 0x80) ? toupper((unsigned char)*at) : '_', out);
    fputc('\n', out);
}

static gyre_status generate_source(wire_session *session, const char *file, FILE *out)
{
    size_t count = 0;
    const gyre_layout **layouts = calloc(session->types.count + 1, sizeof *layouts);
    if (!layouts)
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory for the types of a file");
    for (size_t i = 0; i < session->types.count; i++)
        if (session->type_name ? session->types.layouts[i] == session->layout
                               : wire_session_is_message(session->types.layouts[i]))
            layouts[count++] = session->types.layouts[i];
    fprintf(out, "/* Written by `gyre wire` from %s: its messages in the wire form of MemoryPack. */\n",
            name_of(file));
    print_guard("#ifndef", file, out);
    print_guard("#define", file, out);
    fputs("\n/* clang-format off */\n#include <gyre/wire.h>\n\n", out);
    gyre_status status = gyre_pack_generate(&session->pack, layouts, count, out);
    fputs("#endif\n", out);
    free(layouts);
    return status;
}

static int print_or_write(const char *text, size_t length, const char *output)
{
    const bool written = output ? output_file_write(output, text, length)
                                : fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0;
    return written ? CLI_OK
                   : cli_error(CLI_FAILED, "cannot write '%s': %s", output ? output : "standard output",
                               strerror(errno));
}

static int generate_all(wire_session *session, const char *file, const char *output)
{
    char *text = NULL;
    size_t length = 0;
    if (output && gyre_files_are_same(file, output))
        return cli_error(CLI_FAILED, "'%s' declares the types and would be lost: name another file", output);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return cli_error(CLI_FAILED, "out of memory");
    int code = cli_fail_unless_ok(generate_source(session, file, out));
    if ((ferror(out) | fclose(out)) != 0 && code == CLI_OK)
        code = cli_error(CLI_FAILED, "out of memory");
    if (code == CLI_OK)
        code = print_or_write(text, length, output);
    free(text);
    return code;
}

static int run(cli_context *cli)
{
    wire_session *session = calloc(1, sizeof *session);
    const char *output = NULL;
    if (!session)
        return cli_error(CLI_FAILED, "out of memory");
    const cli_option options[] = {
        {"--type", .text = &session->type_name}, {"--output", .alias = "-o", .text = &output}, {0}};
    int code;
    if (cli_parse(cli, options)) {
        if (output && strcmp(output, "-") == 0)
            output = NULL;
        code = wire_session_open(cli, session);
        if (code == CLI_OK && session->type_name)
            code = wire_session_choose(session);
        if (code == CLI_OK)
            code = generate_all(session, cli->operands.items[0], output);
        wire_session_close(session);
    } else {
        code = cli->exit_code;
    }
    free(session);
    return code;
}

const cli_command cli_command_wire = {"wire", "source for the wire form of a file's messages", HELP, run};
