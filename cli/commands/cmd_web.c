/* SPDX-License-Identifier: Apache-2.0 */
/* gyre web: what processes with kernels say of themselves, as a page and for programs that scrape it. */
#include <unistd.h>

#include "cli/base/signals.h"
#include "cli/web/listen.h"
#include "cli/web/site.h"

static const char HELP[] =
    "usage: gyre web [NAME | PROCESS] [OPTION...]\n"
    "\n"
    "Shows what processes with kernels do, in a browser on this machine, until it is ended. Reads the files that they keep,\n"
    "as `gyre stat` does, and asks none of them. NAME is that of a program, a kernel or a queue; without it all are shown.\n"
    "A line on standard output tells the address of the page.\n"
    "\n"
    "  /           the page: kernels, queues, how long messages take, troubles; it renews itself\n"
    "  /metrics    text for Prometheus, as `gyre stat --prometheus` has it\n"
    "  /json       what the page shows, for programs; /events: the same again and again, as server-sent events\n"
    "  /trace      ?seconds=N: a timeline of messages, as `gyre trace` records it, when the seconds are over; 5\n"
    "  /healthz    status 200, or 503 where a process or a handler hangs, or a kernel is lost: a new start would help\n"
    "  /readyz     status 200 if there are kernels and all of them handle messages, else 503; ?kernel=NAME asks for one\n"
    "\n"
    "Options:\n"
    "  --listen [ADDRESS:]PORT   where it listens; 127.0.0.1:9373. Port 0: any\n"
    "  --socket PATH             listens at a socket of this path, and at no address unless --listen is given too\n"
    "  --name HOST               a name besides localhost and addresses that browsers may use for it; may be repeated\n"
    "  --interval MS             how often the page is renewed; 1000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "It asks for no password: whoever reaches the address sees names and counts, and can have traces taken. For other machines,\n"
    "put a server that asks for one in front of --socket.\n";

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

/* Lets signals that end the program in only while it waits. Returns the mask for that. A hangup that is ignored (nohup) ends
 * nothing. */
static sigset_t hold_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = end};
    sigset_t ends, waiting;
    sigprocmask(SIG_BLOCK, NULL, &waiting);
    sigemptyset(&ends);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i] != SIGHUP || !cli_signal_is_ignored(SIGHUP))
            sigaddset(&ends, signals[i]);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigismember(&ends, signals[i]))
            sigaction(signals[i], &action, NULL);
        sigdelset(&waiting, signals[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    return waiting;
}

/* Opens what the options name. Returns an exit code. */
static int listen_all(web_server_desc *desc, const char *address, const char *path)
{
    char page[WEB_PLACE_MAX];
    bool open = false;
    if (path) {
        const int listener = web_listen_path(path);
        if (listener < 0)
            return -listener;
        desc->local[desc->listener_count] = true;
        desc->listeners[desc->listener_count++] = listener;
        printf("showing at %s\n", path);
    }
    if (address || !path) {
        const int listener = web_listen_address(address ? address : "127.0.0.1:9373", page, &open);
        if (listener < 0)
            return -listener;
        desc->listeners[desc->listener_count++] = listener;
        printf("showing at %s\n", page);
    }
    if (open)
        cli_error(CLI_OK,
                  "warning: other machines may come to %s, and see all names and counts without a password",
                  page);
    return CLI_OK;
}

static int serve(web_server_desc *desc, const char *address, const char *path)
{
    const sigset_t waiting = hold_signals();
    const int code = listen_all(desc, address, path);
    if (code == CLI_OK)
        fflush(stdout);
    web_server *server = code == CLI_OK ? web_server_open(desc) : NULL;
    if (server)
        web_server_run(server, &ended, &waiting);
    for (size_t i = 0; code != CLI_OK && i < desc->listener_count; i++)
        close(desc->listeners[i]);
    if (path && desc->listener_count)
        unlink(path);
    web_server_close(server);
    return code != CLI_OK || server ? code : cli_error(CLI_FAILED, "out of memory");
}

static int run(cli_context *cli)
{
    const char *address = NULL, *path = NULL;
    uint64_t interval_ms = 1000;
    cli_list names = {0};
    web_site site = {0};
    const cli_option options[] = {{"--listen", .text = &address},
                                  {"--socket", .text = &path},
                                  {"--name", .list = &names},
                                  {"--interval", .number = &interval_ms, .min = 100, .max = 3600000},
                                  {0}};
    if (!cli_parse(cli, options)) {
        cli_list_finish(&names);
        return cli->exit_code;
    }
    int code =
        cli->operands.count > 1
            ? cli_usage_error(cli, "expected one name or process, found %zu operands", cli->operands.count)
            : CLI_OK;
    if (code == CLI_OK)
        code = observed_begin(cli, NULL, cli->operands.count ? cli->operands.items[0] : NULL, &site.source);
    if (code == CLI_OK) {
        web_server_desc desc = {.hosts = names.items,
                                .text_bytes = WEB_TEXT_BYTES,
                                .tick_ns = 1000000 * interval_ms,
                                .answer = web_site_answer,
                                .tick = web_site_tick,
                                .step = web_site_step,
                                .context = &site};
        site.source.quiet = true;
        code = serve(&desc, address, path);
    }
    web_site_finish(&site);
    cli_list_finish(&names);
    return code;
}

const cli_command cli_command_web = {"web", "a page of what processes with kernels do", HELP, run};
