/* SPDX-License-Identifier: Apache-2.0 */
/* gyre trace: what happens to each message of processes with kernels, as a timeline. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/observed/trace_json.h"
#include "cli/observed/trace_perfetto.h"

static const char HELP[] =
    "usage: gyre trace [NAME | PROCESS] [OPTION...]\n"
    "\n"
    "Records what happens to each message of processes with kernels, and writes a timeline that https://ui.perfetto.dev and\n"
    "chrome://tracing open: a row for each block of each device with the messages that its handler worked on, arrows along\n"
    "links, and for each message of a kernel with `timing` how long it waited, was handled, and returned. NAME is that of a\n"
    "program, a kernel or a queue; without it all processes of this user are traced.\n"
    "\n"
    "The processes need no preparation: they begin at their next look at themselves (observe.every_ms), and end with this\n"
    "command. Blocks are shown on the CPU backend without isolation; with `timing_every = 64` one message of 64 is noted.\n"
    "\n"
    "Options:\n"
    "  --seconds N          how long to record; 5. SIGINT ends it sooner\n"
    "  --last               what the processes noted last, also those that were killed: with observe.trace = always, up to\n"
    "                       16384 spans\n"
    "  --file FILE          this observation file alone, as with --last; for example a copy of one\n"
    "  --out FILE           where to write; standard output\n"
    "  --format FORM        `json`, for both viewers; `perfetto`, Perfetto's own form, which is smaller; json\n"
    "  --most N             end after N spans, of 128 bytes in memory; 1000000\n"
    "  and the options of every command: gyre help\n";

enum { NAP_MS = 10 };

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static int take_last(trace_set *set, const observed_source *source)
{
    observed_processes processes;
    int code = observed_open(source, &processes);
    if (code == CLI_OK && source->wanted)
        code = observed_need(&processes, source->wanted);
    if (code == CLI_OK)
        code = trace_take(set, &processes, true);
    observed_finish(&processes);
    if (code == CLI_OK && !set->span_count)
        code = cli_error(CLI_FAILED,
                         "nothing was noted: expected a process with observe.trace = always, or one that was "
                         "traced before");
    return code;
}

static int record(trace_recording *recording, const observed_source *source, uint64_t seconds, size_t most)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    const struct sigaction action = {.sa_handler = end,
                                     .sa_flags = (int)SA_RESETHAND}; /* a second one ends it */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int code = trace_record_begin(recording, source, seconds, most);
    while (code == CLI_OK && trace_record_step(recording) && !ended)
        nanosleep(&nap, NULL);
    if (ended && code == CLI_OK) /* also what came before the signal */
        (void)trace_record_step(recording);
    return code == CLI_OK ? recording->code : code;
}

/* Says on stderr what the timeline has, and what it has not. */
static void tell(const trace_set *set, const trace_told *told)
{
    cli_error(CLI_OK, "%zu messages that were timed, %zu that a block handled, %zu arrows along links",
              told->messages, told->handled, told->arrows);
    if (!told->messages && !told->handled)
        cli_error(
            CLI_OK,
            "warning: no message was handled meanwhile by a block of the CPU backend, and none that is timed "
            "was received in its own program (kernel.NAME.timing = true)");
    if (trace_missing(set))
        cli_error(CLI_OK,
                  "warning: %" PRIu64
                  " spans were overwritten before they could be read: kernel.NAME.timing_every notes "
                  "fewer messages",
                  trace_missing(set));
    if (set->full)
        cli_error(CLI_OK, "warning: it ended after %zu spans; --most allows more", set->most);
    if (told->refused)
        cli_error(CLI_OK,
                  "warning: %zu spans say what cannot be, and were left out: who wrote the file is at fault",
                  told->refused);
}

static int write_out(trace_set *set, const trace_form *form, const char *path)
{
    trace_told told;
    FILE *out = path ? fopen(path, "we") : stdout;
    if (!out)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    errno = 0;
    bool whole = trace_write(set, form, out, SIZE_MAX, &told) && fflush(out) == 0 && !ferror(out);
    if (path && fclose(out) != 0)
        whole = false;
    if (!whole)
        return cli_error(CLI_FAILED, "cannot write the timeline to %s%s%s: %s", path ? "'" : "",
                         path ? path : "standard output", path ? "'" : "",
                         errno ? strerror(errno) : "no memory for it");
    tell(set, &told);
    return CLI_OK;
}

static int run(cli_context *cli)
{
    const char *file = NULL, *path = NULL, *format = "json";
    bool last = false;
    uint64_t seconds = 5, most = 1000000;
    observed_source source;
    const cli_option options[] = {{"--file", .text = &file},
                                  {"--format", .text = &format},
                                  {"--last", .flag = &last},
                                  {"--most", .number = &most, .min = 1, .max = 100000000},
                                  {"--out", .text = &path},
                                  {"--seconds", .number = &seconds, .min = 1, .max = 3600},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected one name or process, found %zu operands", cli->operands.count);
    const bool as_json = strcmp(format, "json") == 0;
    if (!as_json && strcmp(format, "perfetto") != 0)
        return cli_usage_error(cli, "--format: expected json or perfetto, found '%s'", format);
    trace_recording recording = {.set.most = (size_t)most};
    int code = observed_begin(cli, file, cli->operands.count ? cli->operands.items[0] : NULL, &source);
    if (code == CLI_OK)
        code = last || file ? take_last(&recording.set, &source)
                            : record(&recording, &source, seconds, (size_t)most);
    if (code == CLI_OK)
        code = write_out(&recording.set, as_json ? &trace_json : &trace_perfetto, path);
    trace_record_end(&recording);
    return code;
}

const cli_command cli_command_trace = {"trace", "a timeline of messages: Perfetto, chrome://tracing", HELP,
                                       run};
