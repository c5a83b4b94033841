/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage check (check.h): runs gyre-check beside the compiler, in a thread of its own, and reads its report. The C
 * parser is in gyre-check and not in this process, because the parser's libraries clash with libraries of drivers.
 *
 * The report is lines of fields separated by tabs (cli/check/report.h writes them). A report counts only when it ends
 * with "done". A check belongs to one run of the pipeline; the thread is its only other user.
 */
#include "core/base/error.h"
#include "core/base/places.h"
#include "core/base/process.h"
#include "core/pipeline/check.h"
#include "gyre/thread.h"
#include "gyre/waiting.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_SIZE = 128 * 1024, FIELDS_MAX = 6, ARGUMENTS_MAX = 64, OPTIONS_SIZE = 4096 };

bool gyre_check_installed(char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/gyre-check", gyre_place_helpers());
    return length > 0 && length < PATH_MAX && access(path, X_OK) == 0;
}

/* ---- reading the report ---- */

__attribute__((format(printf, 4, 5))) static void conclude(struct gyre_check *check,
                                                           enum gyre_check_verdict verdict,
                                                           gyre_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check->sentence, sizeof check->sentence, format, args);
    va_end(args);
    check->verdict = verdict;
    check->status = status;
}

/* Adds a finding to the messages. The first finding, or the first refusal, becomes the result's sentence. */
static void add_finding(struct gyre_check *check, enum gyre_check_verdict verdict, char *const fields[])
{
    size_t used = strlen(check->messages);
    snprintf(check->messages + used, sizeof check->messages - used, "%s:%s:%s: %s\n", fields[2], fields[3],
             fields[4], fields[5]);
    bool first = check->verdict == GYRE_CHECK_PASSED ||
                 (verdict == GYRE_CHECK_REFUSED && check->verdict == GYRE_CHECK_UNPARSED);
    if (!first)
        return;
    conclude(check, verdict, GYRE_INVALID, "%s:%s: %s", fields[2], fields[3], fields[5]);
    check->stage = strcmp(fields[1], "discover") == 0 ? GYRE_STAGE_DISCOVER : GYRE_STAGE_CHECK;
    if (verdict == GYRE_CHECK_UNPARSED)
        check->status = GYRE_FAILED;
}

/* Refuses a kernel with ports, which the device's backend cannot run, unless the file is refused already. */
static void refuse_ports(struct gyre_check *check, char *const fields[])
{
    if (!check->portless || check->verdict == GYRE_CHECK_REFUSED)
        return;
    conclude(check, GYRE_CHECK_REFUSED, GYRE_UNIMPLEMENTED, "%s:%s: " GYRE_PORTS_REFUSED, fields[2],
             fields[3], fields[1], check->portless);
    check->stage = GYRE_STAGE_CHECK;
}

/* Refuses a word of the dialect that the device's backend does not have yet. */
static void refuse_word(struct gyre_check *check, char *const fields[])
{
    const bool asks = strcmp(fields[1], "ASK") == 0 || strcmp(fields[1], "gyre_token") == 0;
    const char *const backend = asks                                   ? check->askless
                                : strcmp(fields[1], "gyre_round") == 0 ? check->roundless
                                                                       : check->wordless;
    if (!backend || check->verdict == GYRE_CHECK_REFUSED)
        return;
    conclude(check, GYRE_CHECK_REFUSED, GYRE_UNIMPLEMENTED,
             "%s:%s: backend '%s' does not have %s yet: run the kernel on backend 'cpu'", fields[2],
             fields[3], backend, fields[1]);
    check->stage = GYRE_STAGE_CHECK;
}

static size_t split_fields(char *line, char *fields[FIELDS_MAX])
{
    size_t count = 0;
    while (count < FIELDS_MAX) {
        fields[count++] = line;
        line = strchr(line, '\t');
        if (!line || count == FIELDS_MAX)
            break;
        *line++ = '\0';
    }
    return count;
}

/* Reads one line of the report. True when it was the report's last line. */
static bool read_line(struct gyre_check *check, char *line)
{
    char *fields[FIELDS_MAX];
    size_t count = split_fields(line, fields);
    if (count == 6 && strcmp(fields[0], "refuse") == 0)
        add_finding(check, GYRE_CHECK_REFUSED, fields);
    else if (count == 6 && strcmp(fields[0], "error") == 0)
        add_finding(check, GYRE_CHECK_UNPARSED, fields);
    else if (count >= 2 && strcmp(fields[0], "kernel") == 0)
        check->kernel_count++;
    else if (count == 4 && strcmp(fields[0], "ports") == 0)
        refuse_ports(check, fields);
    else if (count == 4 && strcmp(fields[0], "rare") == 0)
        refuse_word(check, fields);
    else if (count >= 2 && strcmp(fields[0], "unable") == 0)
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_UNAVAILABLE, "the check cannot be made: %s", fields[1]);
    return strcmp(fields[0], "done") == 0;
}

void gyre_check_read(struct gyre_check *check, char *text)
{
    bool done = false;
    char *rest = NULL;
    check->verdict = GYRE_CHECK_PASSED;
    check->status = GYRE_OK;
    for (char *line = strtok_r(text, "\n", &rest); line && !done; line = strtok_r(NULL, "\n", &rest))
        done = read_line(check, line);
    if (!done && check->verdict != GYRE_CHECK_UNAVAILABLE)
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_UNAVAILABLE, "the checker's report is not complete");
}

/* ---- running it ---- */

/* Whether a word is an option of the preprocessor: 1 when it is one, 2 when the next word belongs to it too, else 0. */
static int preprocessor_option(const char *word)
{
    static const char *const followed[] = {"-include", "-imacros", "-isystem", "-iquote", "-idirafter"};
    for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++)
        if (strcmp(word, followed[i]) == 0)
            return 2;
    if (word[0] != '-' || !word[1] || !strchr("DUI", word[1]))
        return 0;
    return word[2] ? 1 : 2;
}

/*
 * Appends the options that change the meaning of a file: -D, -U, -I, -include and similar ones. The appended texts
 * are pieces of `words`, which is cut up. Options that find no room are left out: the compiler still judges the file
 * with them.
 */
static void add_options(const char **arguments, size_t count, char *words)
{
    char *rest = NULL;
    bool wanted = false; /* the word belongs to the one before it */
    for (char *word = strtok_r(words, " \t", &rest); word && count < ARGUMENTS_MAX - 1;
         word = strtok_r(NULL, " \t", &rest)) {
        int option = wanted ? 1 : preprocessor_option(word);
        if (option)
            arguments[count++] = word;
        wanted = option == 2;
    }
}

static void run_program(struct gyre_check *check, const char *program, char *report, char *errors,
                        size_t errors_size)
{
    const char *arguments[ARGUMENTS_MAX] = {program, "--headers", check->headers, check->source->path};
    char words[OPTIONS_SIZE];
    snprintf(words, sizeof words, "-DGYRE_LANE_STACK=%llu %s %s", (unsigned long long)check->lane_stack,
             check->compiler_options ? check->compiler_options : "", check->options ? check->options : "");
    add_options(arguments, 4, words);
    struct gyre_process_desc desc = {.arguments = arguments,
                                     .no_preload = true,
                                     .deadline_ns = check->deadline_ns,
                                     .output = report,
                                     .output_size = REPORT_SIZE,
                                     .errors = errors,
                                     .errors_size = errors_size};
    struct gyre_process_end end;
    gyre_status status = gyre_process_run(&desc, &end);
    if (status != GYRE_OK)
        conclude(check, GYRE_CHECK_UNAVAILABLE, status, "%s", gyre_error_cause());
    else if (end.signal != 0)
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_UNAVAILABLE, "the checker was ended by signal %d (%s)",
                 end.signal, strsignal(end.signal));
    else if (end.exit_code != 0)
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_UNAVAILABLE,
                 "the checker failed with exit code %d: %.*s", end.exit_code, (int)strcspn(errors, "\n"),
                 errors);
    else
        gyre_check_read(check, report);
}

static void *run_check(void *argument)
{
    struct gyre_check *check = argument;
    uint64_t start = gyre_clock_ns();
    char errors[512] = "";
    char program[PATH_MAX];
    char *report = malloc(REPORT_SIZE);
    if (!gyre_check_installed(program))
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_UNAVAILABLE,
                 "the checker '%s' is not installed: build Gyre where "
                 "libclang is (Debian, Ubuntu: apt install libclang-dev)",
                 program);
    else if (!report)
        conclude(check, GYRE_CHECK_UNAVAILABLE, GYRE_EXHAUSTED, "no memory for the checker's report");
    else
        run_program(check, program, report, errors, sizeof errors);
    free(report);
    check->duration_ns = gyre_clock_ns() - start;
    return NULL;
}

void gyre_check_start(struct gyre_check *check)
{
    check->running = gyre_thread_start(&check->thread, NULL, run_check, check) == 0;
    if (!check->running)
        run_check(check);
}

void gyre_check_join(struct gyre_check *check)
{
    if (check->running)
        pthread_join(check->thread, NULL);
    check->running = false;
}
