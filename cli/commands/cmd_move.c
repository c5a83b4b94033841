/* SPDX-License-Identifier: Apache-2.0 */
/* gyre move: takes a served kernel to another device, while it is used. */
#include "cli/cli.h"
#include "cli/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "gyre/change.h"

enum { TIMEOUT_DEFAULT_MS = 30000, BACKEND_MAX = 64 };

static const char HELP[] =
    "usage: gyre move KERNEL --to BACKEND[:DEVICE] [OPTION...]\n"
    "\n"
    "Takes a kernel of `gyre serve`, or of any program that serves, to another device. It is compiled for that device while it works\n"
    "on; between two messages it goes there, with its state, its buffers, its queues and their clients, who see a pause and\n"
    "nothing else. Where that is not possible it stays and works on, and the reason is told. A keyed actor is not moved,\n"
    "as its table of states is not carried while it runs; neither are kernels with ports and stages of a pipeline.\n"
    "\n"
    "Only the user whose server it is, and root, may move.\n"
    "\n"
    "Options:\n"
    "  --to BACKEND[:DEVICE]  the backend, and the number of its device, 0 without one: cpu, opencl, cuda:1\n"
    "  --socket PATH        where the server is; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --timeout MS         how long it may take, up to a minute; default 30000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 the kernel was not moved, 3 nobody serves, 4 configuration, 5 timeout.\n"
    "\n"
    "Example, in two terminals in a checkout:\n"
    "  gyre serve examples/command/total.gyre.c\n"
    "  gyre move total --to opencl\n";

/* Splits BACKEND:DEVICE. False: what is behind the colon is no number of a device. */
static bool split_place(const char *to, char backend[BACKEND_MAX], uint32_t *device)
{
    const char *colon = strrchr(to, ':');
    char *end = NULL;
    *device = 0;
    snprintf(backend, BACKEND_MAX, "%.*s", colon ? (int)(colon - to) : (int)strlen(to), to);
    if (!colon)
        return true;
    errno = 0;
    const unsigned long number = strtoul(colon + 1, &end, 10);
    *device = (uint32_t)number;
    return colon[1] >= '0' && colon[1] <= '9' && *end == '\0' && errno == 0 && number <= UINT32_MAX;
}

static int move(const cli_context *cli, const char *to, const char *place, uint64_t timeout_ms)
{
    char backend[BACKEND_MAX];
    uint32_t device;
    struct gyre_config *config = NULL;
    if (!split_place(to, backend, &device) || !backend[0] || strlen(to) >= BACKEND_MAX)
        return cli_usage_error(cli, "--to: expected BACKEND or BACKEND:DEVICE, as in cuda:1, found '%.80s'",
                               to);
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    const gyre_attach_desc desc = {
        .size = sizeof desc,
        .path = place ? place : gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "socket"),
        .deadline_ns = gyre_in_ms(timeout_ms)};
    code = cli_fail_unless_ok(gyre_served_move(cli->operands.items[0], backend, device, &desc));
    gyre_config_destroy(config);
    return code;
}

static int run(cli_context *cli)
{
    const char *place = NULL, *to = NULL;
    uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
    const cli_option options[] = {{"--to", .text = &to},
                                  {"--socket", .text = &place},
                                  {"--timeout", .number = &timeout_ms, .max = UINT32_MAX},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected the name of one kernel, found %zu operands",
                               cli->operands.count);
    if (!to)
        return cli_usage_error(cli, "expected --to BACKEND[:DEVICE]: where the kernel is to go");
    return move(cli, to, place, timeout_ms);
}

const cli_command cli_command_move = {"move", "take a served kernel to another device while it is used", HELP,
                                      run};
