/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with several seeds (call_seeds.h). The orders of messages come from files of the backend, which it writes when it is closed. */
#include "cli/calls/call_seeds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/calls/call_turns.h"
#include "core/base/secret.h"

enum { CRASH_SEEDS = 10 };

static const char FILE_SETTING[] = "backend.cpu.turns_file=";

static bool has_word(const char *checks, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = checks; at && *(at += strspn(at, ", ")); at += strcspn(at, ", "))
        if (strcspn(at, ", ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

bool call_seeds_are_compared(const char *checks, const char *pipeline)
{
    return has_word(checks, "order") || has_word(checks, "crash") ||
           (pipeline && has_word(checks, "schedule"));
}

bool call_seeds_are_whole(const char *checks, const char *pipeline, uint64_t count)
{
    return call_seeds_are_compared(checks, pipeline) ||
           (count > 1 && call_seeds_decide(checks) && !has_word(checks, "schedule"));
}

bool call_seeds_decide(const char *checks)
{
    static const char *const words[] = {"races", "memory", "deadlock", "schedule", "order", "crash"};
    bool decides = false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !decides; i++)
        decides = has_word(checks, words[i]);
    return decides;
}

/* Makes an empty file for the order of a run, and the setting that names it. */
static int make_file(char setting[CALL_SEEDS_SETTING_SIZE])
{
    const char *folder = getenv("TMPDIR");
    const int length = snprintf(setting, CALL_SEEDS_SETTING_SIZE, "%s%s/gyre-turns-XXXXXX", FILE_SETTING,
                                folder && *folder ? folder : "/tmp");
    char *const path = setting + sizeof FILE_SETTING - 1;
    const bool fits = length > 0 && length < CALL_SEEDS_SETTING_SIZE;
    const int descriptor = fits ? mkstemp(path) : -1;
    if (descriptor < 0) {
        const int code =
            cli_error(CLI_FAILED, "cannot make the file '%s' for the order of messages: %s", path,
                      fits ? strerror(errno) : "the name of the folder in TMPDIR is too long");
        setting[0] = '\0';
        return code;
    }
    close(descriptor);
    return CLI_OK;
}

static const char *path_of(const char *setting)
{
    return setting + sizeof FILE_SETTING - 1;
}

void call_seeds_init(call_seeds *seeds, const char *checks, uint64_t first, uint64_t count)
{
    seeds->has_crashes = has_word(checks, "crash");
    seeds->first = first ? first : 1;
    seeds->count = count ? count : seeds->has_crashes ? CRASH_SEEDS : 1;
}

/* What else than turns is of this run. With crashes all have the same turns, up to the crash. */
static int set_other(call_seeds *seeds, cli_context *cli, uint64_t run)
{
    if (!seeds->has_crashes)
        return cli_list_add(&cli->settings, seeds->files[run > 0]) ? CLI_OK
                                                                   : cli_error(CLI_FAILED, "out of memory");
    return call_crash_set(&seeds->crash, run ? seeds->seed : 0, &cli->settings);
}

/* The settings of a run, in place of those of the run before. */
static int set(call_seeds *seeds, cli_context *cli, uint64_t run, size_t given)
{
    seeds->seed = seeds->first + run;
    gyre_secret_follow(1); /* keys meet in the same blocks in each run */
    snprintf(seeds->seed_setting, sizeof seeds->seed_setting, "backend.cpu.seed=%" PRIu64,
             seeds->has_crashes ? seeds->first : seeds->seed);
    cli->settings.count = given;
    return cli_list_add(&cli->settings, seeds->seed_setting) ? set_other(seeds, cli, run)
                                                             : cli_error(CLI_FAILED, "out of memory");
}

int call_seeds_run(call_seeds *seeds, cli_context *cli, int (*run)(void *context),
                   void (*close)(void *context), void *context)
{
    const size_t given = cli->settings.count;
    int code =
        seeds->has_crashes ? call_crash_begin(&seeds->crash, seeds->first) : make_file(seeds->files[0]);
    if (code == CLI_OK && !seeds->has_crashes)
        code = make_file(seeds->files[1]);
    for (uint64_t i = 0; code == CLI_OK && i < seeds->count; i += !seeds->crash.again) {
        code = set(seeds, cli, i, given);
        if (code == CLI_OK)
            code = run(context);
        close(context);
        if (code == CLI_OK && seeds->has_crashes)
            call_crash_count(&seeds->crash, i ? seeds->seed : 0);
    }
    if (code == CLI_OK && seeds->has_crashes)
        code = call_crash_judge(&seeds->crash);
    else if (code == CLI_FAILED && seeds->seed != seeds->first && seeds->has_crashes)
        call_crash_tell(&seeds->crash, seeds->seed, stderr);
    else if (code == CLI_FAILED && seeds->seed != seeds->first)
        call_turns_tell(path_of(seeds->files[0]), seeds->first, path_of(seeds->files[1]), seeds->seed,
                        stderr);
    for (size_t i = 0; i < 2; i++)
        if (seeds->files[i][0])
            unlink(path_of(seeds->files[i]));
    call_crash_finish(&seeds->crash);
    cli->settings.count = given;
    return code;
}
