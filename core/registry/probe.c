/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the probing helper, and turns its answer or its end into a verdict (probe.h). Takes no lock and has no state.
 * Never loads a plugin: the helper does.
 */
#include "core/registry/probe.h"
#include "core/base/error.h"
#include "core/base/places.h"
#include "core/base/process.h"
#include "core/loader/loader.h"
#include "gyre/waiting.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS_SIZE = 1024 };

/* Makes the helper's arguments: its path, the plugin, then key, value and origin of each parameter. */
static const char **make_arguments(const char *helper, const char *library, const gyre_parameter *parameters,
                                   size_t count)
{
    const char **arguments = calloc(3 * count + 3, sizeof *arguments);
    if (!arguments)
        return NULL;
    size_t used = 0;
    arguments[used++] = helper;
    arguments[used++] = library;
    for (size_t i = 0; i < count; i++) {
        arguments[used++] = parameters[i].key;
        arguments[used++] = parameters[i].value;
        arguments[used++] = parameters[i].origin;
    }
    return arguments;
}

/* Returns the last line of the text that is not blank. Changes the text. */
static const char *last_words(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && (unsigned char)text[length - 1] <= ' ')
        text[--length] = '\0';
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* Lets the verdict expire soon, because the machine may just have been busy or short of something. */
static void remember_briefly(struct gyre_verdict *verdict)
{
    verdict->expires = (int64_t)time(NULL) + GYRE_VERDICT_BRIEFLY_S;
}

/* Whether the plugin's refusal may pass by itself: nothing that a verdict depends on has to change for that. */
static bool may_pass(int64_t status)
{
    return status == GYRE_EXHAUSTED || status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_LOST;
}

/* Makes the verdict of a helper that ended without an answer: tells how it ended. */
static void explain_end(const char *library, const struct gyre_process_end *end, char *words,
                        struct gyre_verdict *verdict)
{
    const char *last = last_words(words);
    char how[128];
    if (end->signal != 0)
        snprintf(how, sizeof how, "crashed while it was probed (signal %d, %s)", end->signal,
                 strsignal(end->signal));
    else if (end->exit_code != 0 || end->output_length == 0)
        snprintf(how, sizeof how, "ended its process with exit code %d while it was probed", end->exit_code);
    else
        snprintf(how, sizeof how, "made the probing helper answer nonsense (%zu bytes)", end->output_length);
    snprintf(verdict->reason, sizeof verdict->reason, "plugin '%s' %s%s%.512s%s", library, how,
             last[0] ? "; its last words: \"" : "", last, last[0] ? "\"" : "");
    verdict->status = GYRE_UNAVAILABLE;
    remember_briefly(verdict);
}

static void explain_hang(const char *library, uint64_t timeout_ns, struct gyre_verdict *verdict)
{
    snprintf(verdict->reason, sizeof verdict->reason,
             "plugin '%s' did not answer within %llu ms while it was probed and was ended (probe_timeout_ms)",
             library, (unsigned long long)(timeout_ns / 1000000));
    verdict->status = GYRE_UNAVAILABLE;
    remember_briefly(verdict);
}

/* Reads the ABI version from the plugin's file, where the helper could not tell it. */
static void add_abi(const char *library, struct gyre_verdict *verdict)
{
    uint16_t major = 0, minor = 0;
    if (verdict->abi_major != 0 || !gyre_plugin_read_abi(library, &major, &minor))
        return;
    verdict->abi_major = major;
    verdict->abi_minor = minor;
}

bool gyre_probe_run(const char *library, const gyre_parameter *parameters, size_t parameter_count,
                    uint64_t timeout_ns, struct gyre_verdict *verdict)
{
    char helper[PATH_MAX], answer[GYRE_VERDICT_TEXT_MAX] = "", words[WORDS_SIZE] = "";
    uint64_t start_ns = gyre_clock_ns();
    memset(verdict, 0, sizeof *verdict);
    snprintf(helper, sizeof helper, "%s/%s", gyre_place_helpers(), GYRE_PROBE_PROGRAM);
    const char **arguments = make_arguments(helper, library, parameters, parameter_count);
    if (!arguments) {
        gyre_verdict_refuse(verdict, GYRE_EXHAUSTED, "no memory to probe a plugin");
        return false;
    }
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .deadline_ns = start_ns + timeout_ns,
                                           .output = answer,
                                           .output_size = sizeof answer,
                                           .errors = words,
                                           .errors_size = sizeof words};
    struct gyre_process_end end;
    gyre_status status = gyre_process_run(&desc, &end);
    free(arguments);
    if (status == GYRE_TIMEOUT)
        explain_hang(library, timeout_ns, verdict);
    else if (status != GYRE_OK)
        gyre_verdict_refuse(verdict, status, gyre_error_text());
    else if (end.signal != 0 || end.exit_code != 0 || !gyre_verdict_read(answer, verdict)) {
        memset(verdict, 0, sizeof *verdict);
        explain_end(library, &end, words, verdict);
    } else if (may_pass(verdict->status))
        remember_briefly(verdict);
    verdict->probe_ns = (int64_t)(gyre_clock_ns() - start_ns);
    add_abi(library, verdict);
    return status == GYRE_OK || status == GYRE_TIMEOUT;
}
