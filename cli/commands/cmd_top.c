/* SPDX-License-Identifier: Apache-2.0 */
/* gyre top: what processes with kernels do a second, again and again. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/json/json.h"
#include "cli/observed/rates_look.h"
#include "cli/observed/top_screen.h"

static const char HELP[] =
    "usage: gyre top [NAME | PROCESS] [OPTION...]\n"
    "\n"
    "Shows what processes with kernels do a second, until it is ended: a line for each kernel, and one for each of its queues.\n"
    "NAME is that of a program, a kernel or a queue. Without a terminal it prints one picture behind the other.\n"
    "\n"
    "  MSG/S, FAILED/S   messages that the kernel completed, and failed, a second\n"
    "  QUEUED            messages that are accepted and not completed\n"
    "  BUSY              how much of the last second its blocks were at messages, in the mean; - where nobody says\n"
    "  DIED, HUNG        worker processes that died; handlers that were found to run for too long\n"
    "  SEEN              how old this is: a process copies its counts as often as its observe.every_ms says\n"
    "  in, out           of a queue: messages sent and received a second, and where there are some: refused and lost a second,\n"
    "                    for how long each look found it full, and the same message unanswered; `gyre stat` has the totals\n"
    "\n"
    "Options:\n"
    "  -n N                 N pictures, then end\n"
    "  --once               one picture, as soon as the rates are known\n"
    "  --interval MS        between two pictures; 1000\n"
    "  --sort rate|length|name   what the kernels are ordered by; rate\n"
    "  --blocks             the share of each block, in percent\n"
    "  and the options of every command: gyre help; with --json each picture is a document\n"
    "\n"
    "Keys: q ends it, space halts the picture, r, l and n order by rate, length and name, b shows each block.\n";

typedef struct top_run {
    cli_context *cli;
    observed_source source;
    uint64_t pictures, interval_ms;
    bool once, terminal, halted, quit, blocks;
    rates_order order;
    rates_table table;
    observed_processes processes;
    struct termios before;
    bool keys; /* the terminal gives keys at once */
} top_run;

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

/* ---- the terminal ---- */

static void begin_terminal(top_run *run)
{
    const struct sigaction action = {.sa_handler = end,
                                     .sa_flags = (int)SA_RESETHAND}; /* a second one ends a long look */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    run->terminal = isatty(STDOUT_FILENO) && !run->cli->json && !run->once;
    if (!run->terminal || tcgetattr(STDIN_FILENO, &run->before) != 0)
        return;
    struct termios raw = run->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    run->keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    if (run->terminal)
        fputs("\033[?25l\033[2J", stdout); /* no cursor; an empty screen */
}

static void end_terminal(const top_run *run)
{
    if (run->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &run->before);
    if (run->terminal)
        fputs("\033[?25h\n", stdout);
}

static top_screen screen_of(const top_run *run)
{
    struct winsize size = {0};
    top_screen screen = {
        .out = stdout, .width = TOP_LINE_MAX - 1, .blocks = run->blocks, .terminal = run->terminal};
    if (run->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
        screen.width = size.ws_col < TOP_LINE_MAX ? size.ws_col : TOP_LINE_MAX - 1;
        screen.height = size.ws_row;
    }
    return screen;
}

static void obey_key(top_run *run, char key)
{
    run->quit = run->quit || key == 'q';
    run->halted = run->halted != (key == ' ');
    run->blocks = run->blocks != (key == 'b');
    if (key == 'r' || key == 'l' || key == 'n')
        run->order = key == 'r' ? RATES_BY_RATE : key == 'l' ? RATES_BY_LENGTH : RATES_BY_NAME;
}

/* Waits for a time, and obeys keys; a key ends the wait. */
static void wait_for(top_run *run, uint64_t milliseconds)
{
    struct pollfd key = {.fd = run->keys ? STDIN_FILENO : -1, .events = POLLIN};
    char letter;
    if (poll(&key, 1, (int)milliseconds) <= 0 || !(key.revents & POLLIN))
        return;
    if (read(STDIN_FILENO, &letter, 1) == 1)
        obey_key(run, letter);
    else
        run->quit = true; /* the terminal is gone */
}

/* ---- pictures ---- */

static int show(top_run *run)
{
    static const char *const words[] = {"rate", "length", "name"};
    char about[96] = "";
    rates_sort(&run->table, run->order);
    if (run->cli->json)
        return cli_print_json(top_json(&run->table));
    if (run->terminal)
        snprintf(about, sizeof about, "; by %s%s; q quits, space halts, b: blocks", words[run->order],
                 run->halted ? ", halted" : "");
    const top_screen screen = screen_of(run);
    if (run->terminal)
        fputs("\033[H", stdout);
    top_draw(&screen, &run->table, &run->processes, about);
    if (!run->terminal && !run->once)
        fputs("\n", stdout);
    fflush(stdout);
    return CLI_OK;
}

static bool nap(void *context, uint64_t milliseconds)
{
    top_run *run = context;
    wait_for(run, milliseconds);
    return !ended && !run->quit;
}

static int run_pictures(top_run *run)
{
    int code = rates_look_twice(&run->source, &run->processes, &run->table, nap, run);
    if (code == CLI_OK)
        code = observed_need(&run->processes, run->source.wanted);
    for (uint64_t shown = 0; code == CLI_OK && !ended && !run->quit;) {
        code = show(run);
        if (++shown == run->pictures || code != CLI_OK)
            break;
        wait_for(run, run->interval_ms);
        if (!run->halted && !ended && !run->quit)
            code = rates_look(&run->source, &run->processes, &run->table);
    }
    return code;
}

/* ---- the command ---- */

static int run(cli_context *cli)
{
    static const char *const orders[] = {"rate", "length", "name"};
    const char *sort = "rate";
    top_run top = {.cli = cli, .interval_ms = 1000};
    const cli_option options[] = {{"-n", .number = &top.pictures, .min = 1, .max = UINT32_MAX},
                                  {"--once", .flag = &top.once},
                                  {"--interval", .number = &top.interval_ms, .min = 10, .max = 3600000},
                                  {"--sort", .text = &sort},
                                  {"--blocks", .flag = &top.blocks},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected one name or process, found %zu operands", cli->operands.count);
    while (top.order <= RATES_BY_NAME && strcmp(sort, orders[top.order]) != 0)
        top.order++;
    if (top.order > RATES_BY_NAME)
        return cli_usage_error(cli, "--sort: expected rate, length or name, found '%s'", sort);
    int code = observed_begin(cli, NULL, cli->operands.count ? cli->operands.items[0] : NULL, &top.source);
    if (code != CLI_OK)
        return code;
    top.source.quiet = true;
    top.pictures = top.once ? 1 : top.pictures;
    begin_terminal(&top);
    code = run_pictures(&top);
    end_terminal(&top);
    rates_finish(&top.table);
    observed_finish(&top.processes);
    return code;
}

const cli_command cli_command_top = {"top", "what processes with kernels do a second", HELP, run};
