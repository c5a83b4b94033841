/* SPDX-License-Identifier: Apache-2.0 */
/* gyre swap: gives a served kernel the handler of another file, while it is used. */
#include "cli/cli.h"
#include "cli/open.h"

#include "core/config/config.h"
#include "gyre/change.h"

enum { TIMEOUT_DEFAULT_MS = 30000 };

static const char HELP[] =
    "usage: gyre swap KERNEL FILE[:NAME] [OPTION...]\n"
    "       gyre swap KERNEL --rollback [OPTION...]\n"
    "\n"
    "Gives a kernel of `gyre serve`, or of any program that serves, the handler of another file. The file is compiled and compared\n"
    "while the old handler works; between two messages the new one takes over, with the state, the buffers, the queues and their\n"
    "clients. Each message is answered once, by one of the two. A file that does not compile, or whose messages, form or state\n"
    "do not fit, leaves the old handler at work. Further fields of the state begin with zeros, or with what GYRE_MIGRATE in the\n"
    "new file says.\n"
    "\n"
    "--rollback brings the handler back that worked before the last swap, as it was compiled then. What was done since stays;\n"
    "it is refused when the state would lose a field.\n"
    "\n"
    "Only the user whose server it is, and root, may swap.\n"
    "\n"
    "Options:\n"
    "  --rollback           the handler before the last swap, and no file\n"
    "  --socket PATH        where the server is; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --timeout MS         how long it may take, up to a minute; default 30000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 the handler was not swapped, 3 nobody serves, 4 configuration, 5 timeout.\n"
    "\n"
    "Example, in two terminals in a checkout:\n"
    "  gyre serve examples/command/total.gyre.c\n"
    "  gyre swap total examples/command/total.gyre.c\n";

static int swap(const cli_context *cli, const char *place, uint64_t timeout_ms)
{
    struct gyre_config *config = NULL;
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    const gyre_attach_desc desc = {
        .size = sizeof desc,
        .path = place ? place : gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "socket"),
        .deadline_ns = gyre_in_ms(timeout_ms)};
    const char *kernel = cli->operands.items[0];
    code = cli_fail_unless_ok(cli->operands.count == 1
                                  ? gyre_served_swap_back(kernel, &desc)
                                  : gyre_served_swap(kernel, cli->operands.items[1], &desc));
    gyre_config_destroy(config);
    return code;
}

static int run(cli_context *cli)
{
    const char *place = NULL;
    bool goes_back = false;
    uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
    const cli_option options[] = {{"--rollback", .flag = &goes_back},
                                  {"--socket", .text = &place},
                                  {"--timeout", .number = &timeout_ms, .max = UINT32_MAX},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (goes_back && cli->operands.count != 1)
        return cli_usage_error(cli, "--rollback: expected the name of a kernel alone, found %zu operands",
                               cli->operands.count);
    if (!goes_back && cli->operands.count != 2)
        return cli_usage_error(cli, "expected the name of a kernel and a file, found %zu operands",
                               cli->operands.count);
    return swap(cli, place, timeout_ms);
}

const cli_command cli_command_swap = {"swap", "give a served kernel another handler while it is used", HELP,
                                      run};
