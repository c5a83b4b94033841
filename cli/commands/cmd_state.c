/* SPDX-License-Identifier: Apache-2.0 */
/* gyre state: prints the state that a served kernel keeps between messages, read from another program. */
#include "cli/cli.h"
#include "cli/json/message_json.h"
#include "cli/open.h"

#include <string.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/types/message.h"
#include "core/types/types.h"
#include "gyre/attach.h"

enum { TIMEOUT_DEFAULT_MS = 5000 };

static const char HELP[] =
    "usage: gyre state KERNEL [OPTION...]\n"
    "\n"
    "Reads what a kernel of `gyre serve`, or of any program that serves, keeps between messages, and prints it, a line\n"
    "for each field of its type. The kernel goes on: it stands at a message boundary while its state is copied, so what\n"
    "is shown is the work of whole messages, of every one that was answered before.\n"
    "\n"
    "Who may attach to the server (gyre.socket_access) may read.\n"
    "\n"
    "Options:\n"
    "  --json               print the state as one line of JSON, as `gyre call --state` takes it\n"
    "  --key KEY            the state of this key of a keyed actor: a number, an id, or a text\n"
    "  --socket PATH        where the server is; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --timeout MS         how long it may take, 0 for as long as it takes; default 5000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 the state was not read, 3 nobody serves, 4 configuration, 5 timeout.\n"
    "\n"
    "Example, in two terminals in a checkout:\n"
    "  gyre serve examples/command/total.gyre.c\n"
    "  gyre state total\n";

static int print_fields(const gyre_layout *layout, const void *state)
{
    int width = 0;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const int length = (int)strlen(layout->fields[i].name);
        width = length > width ? length : width;
    }
    for (uint32_t i = 0; i < layout->field_count; i++) {
        printf("%-*s  ", width, layout->fields[i].name);
        message_json_write_field(&layout->fields[i], state, stdout);
        putchar('\n');
    }
    return CLI_OK;
}

static int print_state(const cli_context *cli, const gyre_layout *layout, const void *state)
{
    /* a state with a tail begins with its length, and a handler may have written any number there */
    uint32_t used = 0;
    if (layout->tail)
        memcpy(&used, state, sizeof used);
    if (layout->tail &&
        gyre_layout_check_message(layout, state, used < layout->size ? used : layout->size) != GYRE_OK)
        return cli_error(CLI_FAILED, "the state is no message of its type: %s", gyre_error_text());
    if (!cli->json && layout->field_count)
        return print_fields(layout, state);
    message_json_write(layout, state, stdout);
    putchar('\n');
    return CLI_OK;
}

static int show_copy(const cli_context *cli, const gyre_state_copy *copy)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(gyre_state_copy_type(copy), GYRE_STATE_MAX, &layout);
    const int code =
        status == GYRE_OK ? print_state(cli, layout, gyre_state_copy_bytes(copy)) : cli_fail(status);
    gyre_layout_destroy(layout);
    return code;
}

/* Reads and prints the state. The only setting that counts is the socket's place, unless the operand names a place. */
static int read_state(const cli_context *cli, const char *place, const char *key, uint64_t timeout_ms)
{
    struct gyre_config *config = NULL;
    gyre_state_copy *copy = NULL;
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    const gyre_attach_desc desc = {
        .size = sizeof desc,
        .path = place ? place : gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "socket"),
        .deadline_ns = timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER};
    const char *kernel = cli->operands.items[0];
    code = cli_fail_unless_ok(key ? gyre_key_state_copy_get(kernel, key, &desc, &copy)
                                  : gyre_state_copy_get(kernel, &desc, &copy));
    if (code == CLI_OK)
        code = show_copy(cli, copy);
    gyre_state_copy_release(copy);
    gyre_config_destroy(config);
    return code;
}

static int run(cli_context *cli)
{
    const char *place = NULL, *key = NULL;
    uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
    const cli_option options[] = {{"--key", .text = &key},
                                  {"--socket", .text = &place},
                                  {"--timeout", .number = &timeout_ms, .max = UINT32_MAX},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected the name of one kernel, found %zu operands",
                               cli->operands.count);
    return read_state(cli, place, key, timeout_ms);
}

const cli_command cli_command_state = {"state", "what a served kernel keeps between messages", HELP, run};
