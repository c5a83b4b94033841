/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks processes for spans, and takes them while they come (trace_take.h). A process looks once in observe.every_ms whether somebody
 * asks, and its ring holds few spans, so its file is copied again and again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/observed/trace_take.h"
#include "core/base/error.h"
#include "gyre/waiting.h"

enum { LOOKS_MOST = 10 };
#define PATIENCE_NS UINT64_C(5000000000)

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

/* Asks a process. False without memory. */
static bool ask(trace_recording *recording, const observed_process *process)
{
    trace_asked asked = {.path = strdup(process->path), .file = -1};
    if (!asked.path)
        return false;
    const bool written = process->seen.head.trace_ns != 0;
    if (gyre_observed_ask(asked.path, &asked.file) != GYRE_OK && !written) /* else it need not be asked */
        cli_error(CLI_OK, "warning: %s", gyre_error_text());
    gyre_error_clear();
    recording->answers_due += written || asked.file >= 0;
    recording->asked[recording->asked_count++] = asked;
    return true;
}

/* Asks each process that can answer. Returns an exit code. */
static int ask_all(trace_recording *recording, const observed_processes *processes)
{
    recording->asked = calloc(processes->count + 1, sizeof *recording->asked);
    for (size_t i = 0; recording->asked && i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        if (can_answer(process) && !ask(recording, process))
            return cli_error(CLI_FAILED, "out of memory");
        if (!can_answer(process) && (recording->source.wanted || process->life != GYRE_OBSERVED_DEAD))
            tell_silent(process);
    }
    if (!recording->asked)
        return cli_error(CLI_FAILED, "out of memory");
    return recording->answers_due
               ? CLI_OK
               : cli_error(CLI_FAILED, "no process can be traced: none that lives has launched a kernel%s",
                           recording->asked_count ? ", and could be asked" : "");
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

int trace_record_begin(trace_recording *recording, const observed_source *source, uint64_t seconds,
                       size_t most)
{
    observed_processes processes;
    *recording = (trace_recording){.set.most = most, .source = *source, .seconds = seconds};
    int code = observed_open(source, &processes);
    recording->source.quiet = true; /* once is enough */
    if (code == CLI_OK && source->wanted)
        code = observed_need(&processes, source->wanted);
    if (code == CLI_OK) /* first: what was written until now is not wanted */
        code = trace_take(&recording->set, &processes, false);
    if (code == CLI_OK)
        code = ask_all(recording, &processes);
    recording->answer_until_ns = gyre_clock_ns() + (code == CLI_OK ? patience_ns(&processes) : 0);
    observed_finish(&processes);
    recording->code = code;
    return code;
}

static int look(trace_recording *recording)
{
    observed_processes processes;
    int code = observed_open(&recording->source, &processes);
    if (code == CLI_OK)
        code = trace_take(&recording->set, &processes, false);
    observed_finish(&processes);
    return code;
}

/* Nobody is waited for any longer: says who did not answer. Returns an exit code. */
static int end_waiting(trace_recording *recording)
{
    const trace_set *set = &recording->set;
    for (size_t i = 0; i < set->process_count; i++)
        if (set->processes[i].lives && !set->processes[i].on && set->processes[i].places)
            cli_error(CLI_OK,
                      "warning: process %" PRIu32
                      " was asked and writes no spans: it hangs, or has no memory for them",
                      set->processes[i].pid);
    return count_on(set) ? CLI_OK
                         : cli_error(CLI_FAILED, "no process answered; 'gyre stat' tells how they fare");
}

bool trace_record_step(trace_recording *recording)
{
    if (recording->code != CLI_OK)
        return false;
    const uint64_t now =
        gyre_clock_ns(); /* before the look, which thus sees all that was written until the end */
    recording->code = look(recording);
    if (recording->code == CLI_OK && !recording->until_ns) {
        if (count_on(&recording->set) < recording->answers_due && now < recording->answer_until_ns)
            return true;
        recording->code = end_waiting(recording);
        recording->until_ns = now + recording->seconds * UINT64_C(1000000000);
    }
    return recording->code == CLI_OK && now < recording->until_ns && !recording->set.full;
}

void trace_record_end(trace_recording *recording)
{
    for (size_t i = 0; i < recording->asked_count; i++) {
        gyre_observed_ask_end(recording->asked[i].path, recording->asked[i].file);
        free(recording->asked[i].path);
    }
    free(recording->asked);
    trace_finish(&recording->set);
    *recording = (trace_recording){0};
}
