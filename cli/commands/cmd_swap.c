/* SPDX-License-Identifier: Apache-2.0 */
/* gyre swap: gives a served kernel the handler of another file, while it is used. */
#include "cli/cli.h"
#include "cli/open.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/config/config.h"
#include "gyre/change.h"

enum { TIMEOUT_DEFAULT_MS = 30000, SECONDS_MAX = 86400, CANARY_OF_MAX = 1 << 20 };

static const char HELP[] =
    "usage: gyre swap KERNEL FILE[:NAME] [OPTION...]\n"
    "       gyre swap KERNEL FILE[:NAME] --canary SHARE [--for SECONDS] [--messages N] [OPTION...]\n"
    "       gyre swap KERNEL --rollback [OPTION...]\n"
    "\n"
    "Gives a kernel of `gyre serve`, or of any program that serves, the handler of another file. The file is compiled and compared\n"
    "while the old handler works; between two messages the new one takes over, with the state, the buffers, the queues and their\n"
    "clients. Each message is answered once, by one of the two. A file that does not compile, or whose messages, form or state\n"
    "do not fit, leaves the old handler at work. Further fields of the state begin with zeros, or with what GYRE_MIGRATE in the\n"
    "new file says. A keyed actor keeps its table: its new file has the same key, state and reminders. Kernels with ports, and stages of a\n"
    "pipeline, are not swapped.\n"
    "\n"
    "--canary 1/16 first gives the new handler a sixteenth of the messages, of a keyed actor a sixteenth of the keys, while the old one\n"
    "answers the others. It gets all of them when it is no worse: it fails no larger share of its messages, no worker process dies, and\n"
    "with `timing` it does not take more than twice as long and a microsecond more. Else the old handler goes on, and the exit code is 6;\n"
    "it is 7 where the new one got no message, or the canary was ended before: by --rollback from elsewhere, or by the server's end. The\n"
    "command waits for the end. Kernels that keep one state for all messages have no canary.\n"
    "\n"
    "--rollback brings the handler back that worked before the last swap, as it was compiled then. What was done since stays;\n"
    "it is refused when the state would lose a field.\n"
    "\n"
    "Only the user whose server it is, and root, may swap.\n"
    "\n"
    "Options:\n"
    "  --canary SHARE       the part of the messages or keys that the new handler gets at first, such as 1/16; of 1048576 at most\n"
    "  --for SECONDS        how long at most, up to a day; default 10\n"
    "  --messages N         so many messages of the new handler are enough\n"
    "  --rollback           the handler before the last swap, and no file\n"
    "  --socket PATH        where the server is; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --timeout MS         how long it may take, up to a minute, besides --for; default 30000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 the handler was not swapped, as after a mistake in its file; 3 nobody serves, 4 configuration, 5 timeout; with --canary\n"
    "also 6 the new handler was tried and was worse, 7 it was tried and nothing was decided.\n"
    "\n"
    "Example, in two terminals in a checkout:\n"
    "  gyre serve examples/command/total.gyre.c\n"
    "  gyre swap total examples/command/total.gyre.c\n";

/* What the options say. */
struct wish {
    const char *place, *share;
    bool goes_back;
    uint64_t timeout_ms, seconds, messages;
    gyre_canary_desc canary;
};

/* Returns the exit code. */
static int try_canary(const cli_context *cli, const struct wish *wish, const gyre_attach_desc *desc)
{
    gyre_canary_report report = {.size = sizeof report};
    const gyre_status status =
        gyre_served_swap_canary(cli->operands.items[0], cli->operands.items[1], &wish->canary, desc, &report);
    if (status == GYRE_OK)
        printf("%s\n", report.text);
    const int code = cli_fail_unless_ok(status);
    if (status == GYRE_OK || !report.text[0])
        return code;
    return report.was_worse ? CLI_WORSE : CLI_UNDECIDED;
}

/* Returns the exit code. */
static int ask(const cli_context *cli, const struct wish *wish, const gyre_attach_desc *desc)
{
    const char *kernel = cli->operands.items[0];
    if (wish->share)
        return try_canary(cli, wish, desc);
    return cli_fail_unless_ok(wish->goes_back ? gyre_served_swap_back(kernel, desc)
                                              : gyre_served_swap(kernel, cli->operands.items[1], desc));
}

static int swap(const cli_context *cli, const struct wish *wish)
{
    struct gyre_config *config = NULL;
    int code = cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK)
        return code;
    const gyre_attach_desc desc = {
        .size = sizeof desc,
        .path = wish->place ? wish->place : gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "socket"),
        .deadline_ns = gyre_in_ms(wish->timeout_ms)};
    code = ask(cli, wish, &desc);
    gyre_config_destroy(config);
    return code;
}

/* Reads "1/16". */
static bool read_share(const char *text, gyre_canary_desc *out)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9')
        return false;
    const unsigned long share = strtoul(text, &end, 10);
    if (end[0] != '/' || end[1] < '0' || end[1] > '9')
        return false;
    const unsigned long of = strtoul(end + 1, &end, 10);
    if (*end || !share || share >= of || of > CANARY_OF_MAX)
        return false;
    out->share = (uint32_t)share;
    out->of = (uint32_t)of;
    return true;
}

static int check(cli_context *cli, struct wish *wish)
{
    if (wish->goes_back && (cli->operands.count != 1 || wish->share))
        return cli_usage_error(cli, "--rollback: expected the name of a kernel alone, found %zu operands%s",
                               cli->operands.count, wish->share ? " and --canary" : "");
    if (!wish->goes_back && cli->operands.count != 2)
        return cli_usage_error(cli, "expected the name of a kernel and a file, found %zu operands",
                               cli->operands.count);
    if (!wish->share && (wish->seconds || wish->messages))
        return cli_usage_error(cli, "%s: expected --canary SHARE with it",
                               wish->seconds ? "--for" : "--messages");
    if (wish->share && !read_share(wish->share, &wish->canary))
        return cli_usage_error(cli, "--canary: expected a part such as 1/16, of %d at most, found '%s'",
                               CANARY_OF_MAX, wish->share);
    wish->canary.time_ns = wish->seconds * UINT64_C(1000000000);
    wish->canary.messages = wish->messages;
    return CLI_OK;
}

static int run(cli_context *cli)
{
    struct wish wish = {.timeout_ms = TIMEOUT_DEFAULT_MS, .canary = {.size = sizeof wish.canary}};
    const cli_option options[] = {{"--rollback", .flag = &wish.goes_back},
                                  {"--canary", .text = &wish.share},
                                  {"--for", .number = &wish.seconds, .min = 1, .max = SECONDS_MAX},
                                  {"--messages", .number = &wish.messages, .min = 1, .max = UINT32_MAX},
                                  {"--socket", .text = &wish.place},
                                  {"--timeout", .number = &wish.timeout_ms, .max = UINT32_MAX},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    const int code = check(cli, &wish);
    return code == CLI_OK ? swap(cli, &wish) : code;
}

const cli_command cli_command_swap = {"swap", "give a served kernel another handler while it is used", HELP,
                                      run};
