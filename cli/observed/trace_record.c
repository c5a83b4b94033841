/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks processes for spans, and takes them while they come (trace_take.h). A process looks once in observe.every_ms whether somebody
 * asks, and its ring holds few spans, so its file is copied again and again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/observed/trace_take.h"
#include "core/base/error.h"
#include "gyre/waiting.h"

enum { NAP_MS = 10, LOOKS_MOST = 10 };
#define PATIENCE_NS UINT64_C(5000000000)

/** Who was asked. */
struct asked {
    char *path;
    int file; /* -1: this one could not be asked */
};

struct asking {
    struct asked *items;
    size_t count;
};

static bool can_answer(const observed_process *process)
{
    return process->life == GYRE_OBSERVED_LIVES && gyre_observed_spans(&process->seen) != 0;
}

/* Tells why a process of the source is not traced. */
static void tell_silent(const observed_process *process)
{
    if (process->life != GYRE_OBSERVED_LIVES)
        cli_error(CLI_OK, "warning: process %" PRIu32 " is %s: --last shows what it wrote last",
                  process->seen.head.pid, observed_life_word(process));
    else
        cli_error(CLI_OK,
                  "warning: process %" PRIu32
                  " is not traced: its observe.trace is never, or its version of Gyre "
                  "(%s) writes no spans",
                  process->seen.head.pid, process->seen.head.release);
}

/* Asks each process that can answer. Returns an exit code. */
static int ask_all(struct asking *asking, const observed_processes *processes, bool wanted)
{
    asking->items = calloc(processes->count + 1, sizeof *asking->items);
    for (size_t i = 0; asking->items && i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        struct asked asked = {.file = -1};
        if (!can_answer(process)) {
            if (wanted || process->life != GYRE_OBSERVED_DEAD)
                tell_silent(process);
            continue;
        }
        asked.path = strdup(process->path);
        if (!asked.path)
            return cli_error(CLI_FAILED, "out of memory");
        if (process->seen.head.trace_ns == 0 && gyre_observed_ask(asked.path, &asked.file) != GYRE_OK)
            cli_error(CLI_OK, "warning: %s", gyre_error_text());
        gyre_error_clear();
        asking->items[asking->count++] = asked;
    }
    return asking->items ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static void ask_no_more(struct asking *asking)
{
    for (size_t i = 0; i < asking->count; i++) {
        gyre_observed_ask_end(asking->items[i].path, asking->items[i].file);
        free(asking->items[i].path);
    }
    free(asking->items);
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = NAP_MS * 1000000L};
    nanosleep(&pause, NULL);
}

static int look(trace_set *set, const observed_source *source)
{
    observed_processes processes;
    int code = observed_open(source, &processes);
    if (code == CLI_OK)
        code = trace_take(set, &processes, false);
    observed_finish(&processes);
    return code;
}

static size_t count_on(const trace_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->process_count; i++)
        count += set->processes[i].on;
    return count;
}

/* How long a process has to answer: some of its looks, and more for a busy machine. */
static uint64_t patience_ns(const observed_processes *processes)
{
    uint64_t slowest = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (can_answer(&processes->items[i]) && processes->items[i].seen.head.every_ns > slowest)
            slowest = processes->items[i].seen.head.every_ns;
    return (slowest < 60 * PATIENCE_NS ? LOOKS_MOST * slowest : LOOKS_MOST * 60 * PATIENCE_NS) + PATIENCE_NS;
}

/* Waits until all of those who were asked write spans. */
static int await_answers(trace_set *set, const observed_source *source, size_t asked, uint64_t patience,
                         const volatile int *ended)
{
    const uint64_t until = gyre_clock_ns() + patience;
    int code = look(set, source);
    while (code == CLI_OK && count_on(set) < asked && gyre_clock_ns() < until && !*ended) {
        nap();
        code = look(set, source);
    }
    for (size_t i = 0; code == CLI_OK && i < set->process_count; i++)
        if (!set->processes[i].on && set->processes[i].places)
            cli_error(CLI_OK,
                      "warning: process %" PRIu32
                      " writes no spans, %.0f s after it was asked: it hangs, has ended, "
                      "or has no memory for them",
                      set->processes[i].pid, (double)patience / 1e9);
    return code == CLI_OK && !count_on(set) && !*ended
               ? cli_error(CLI_FAILED, "no process answered; 'gyre stat' tells how they fare")
               : code;
}

int trace_record(trace_set *set, const observed_source *source, uint64_t seconds, const volatile int *ended)
{
    struct asking asking = {0};
    observed_source quiet = *source;
    observed_processes processes;
    quiet.quiet = true; /* once is enough */
    int code = observed_open(source, &processes);
    if (code == CLI_OK && source->wanted)
        code = observed_need(&processes, source->wanted);
    if (code == CLI_OK) /* first: what was written until now is not wanted */
        code = trace_take(set, &processes, false);
    if (code == CLI_OK)
        code = ask_all(&asking, &processes, source->wanted != NULL);
    if (code == CLI_OK && !asking.count)
        code = cli_error(CLI_FAILED, "no process can be traced: none that lives has launched a kernel");
    const uint64_t patience = code == CLI_OK ? patience_ns(&processes) : 0;
    observed_finish(&processes);
    if (code == CLI_OK)
        code = await_answers(set, &quiet, asking.count, patience, ended);
    const uint64_t until = gyre_clock_ns() + seconds * UINT64_C(1000000000);
    while (code == CLI_OK && gyre_clock_ns() < until && !*ended && !set->full) {
        nap();
        code = look(set, &quiet);
    }
    if (code == CLI_OK) /* also what came while it was ended */
        code = look(set, &quiet);
    ask_no_more(&asking);
    return code;
}
