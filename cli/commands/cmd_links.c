/* SPDX-License-Identifier: Apache-2.0 */
/* gyre links: opens a configured pipeline, and prints its links as a table. */
#include "cli/views/pipeline_view.h"

static const char HELP[] =
    "usage: gyre links NAME [OPTION...]\n"
    "\n"
    "Opens the pipeline that [pipeline.NAME] and the sections [link.*], [topic.*] and [pool.*] configure, and prints a line\n"
    "for each link, for each subscriber of a topic, and for each member of a pool:\n"
    "\n"
    "  LINK      its section's name\n"
    "  FROM      the kernel that sends, and PORT, the port that it emits to\n"
    "  TYPE      of its messages\n"
    "  MOST      messages that one call of the handler may emit to it\n"
    "  TO        the kernel that gets them, perhaps as one of its types (KERNEL:TYPE); nowhere: they are counted and thrown away\n"
    "  RINGS     one for each block of the kernel that sends\n"
    "  CAPACITY  messages that may be under way in each ring; once it is full, its sender waits\n"
    "  BYTES     memory of all of its rings\n"
    "\n"
    "and where there are topics\n"
    "\n"
    "  SLOW      what happens while the subscriber has no room: the sender may wait; drop: it misses the message; cut: it\n"
    "            misses all from then on; tap: it misses the message, and flows do not wait for those that it gets\n"
    "  MISSED    messages that it missed\n"
    "\n"
    "and where there are pools, whose members share the rings of the first of them\n"
    "\n"
    "  ORDER     which of its own messages a member takes first: the newest or the oldest\n"
    "  STOLEN    messages that it took, and that another block of a member had emitted\n"
    "\n"
    "and where links have levels\n"
    "\n"
    "  LEVEL     the kernel takes messages of links of a higher level first\n"
    "\n"
    "Kernels are launched and get no message. 'gyre pipeline NAME' shows them as well.\n"
    "\n"
    "Options:\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Example, in a checkout:\n"
    "  gyre links orders --config examples/pipeline/gyre.ini\n";

static int run(cli_context *cli)
{
    pipeline_view view;
    gyre_runtime *runtime;
    if (!cli_parse(cli, NULL))
        return cli->exit_code;
    if (cli->operands.count != 1 || !cli->operands.items[0][0])
        return cli_usage_error(cli, "expected the name of one pipeline, found %zu operands",
                               cli->operands.count);
    int code = pipeline_view_open(cli, cli->operands.items[0], &runtime, &view);
    if (code == CLI_OK)
        code = cli->json ? pipeline_print_links_json(&view) : pipeline_print_links(&view);
    pipeline_view_finish(&view);
    gyre_close(runtime);
    return code;
}

const cli_command cli_command_links = {"links", "list the links of a pipeline", HELP, run};
