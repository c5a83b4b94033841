/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre shrink: tries smaller versions of a case file, each in a process of its own, and keeps those that show the same mistake.
 * One thread.
 *
 * The versions stand in a file beside the case, because paths in a case count from its folder.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cases/case_file.h"
#include "cli/cli.h"
#include "cli/base/output_file.h"
#include "cli/cases/shrink_finding.h"
#include "cli/cases/shrink_values.h"
#include "cli/cases/test_jobs.h"

static const char HELP[] =
    "usage: gyre shrink FILE.gyre-case [-o FILE] [--backend NAME] [--tries N] [--limit MS]\n"
    "\n"
    "Makes a case smaller that shows a mistake: fewer requests, fewer lanes, blocks, seeds and switches between\n"
    "lanes, smaller values in requests, as long as the same mistake is found at the same lines (docs/testing.md).\n"
    "Where a pair expects an answer its values stay. Of a case with another answer than the expected one only the\n"
    "requests behind it are left out, because the answer may follow from those before it.\n"
    "\n"
    "  -o FILE      where the small case goes, in the folder of the case; default: NAME.small.gyre-case\n"
    "  --tries N    how many versions are tried at most; default 2000\n"
    "  --limit MS   longest time of a try; default 60000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 0 the small case is written; 1 the case shows no mistake; 2 usage; 4 configuration.\n";

static const char SUFFIX[] = ".gyre-case";
enum {
    TRIES_DEFAULT = 2000,
    LIMIT_DEFAULT_MS = 60000,
    CRASH_SEEDS = 10,
    SWITCH_SEEDS = 10000,
    PIPELINE_SEEDS = 100
};

/* A version of the case: the header, and the pairs that are left. */
typedef struct case_version {
    json_t *header;
    json_t *pairs; /* an array of the pairs' objects */
} case_version;

typedef struct shrinking {
    cli_context *cli;
    uint64_t tries_most, limit_ms, tries;
    const char *out;
    char place[PATH_MAX], trying[PATH_MAX]; /* where the small case goes; where versions stand */
    char mistake[SHRINK_FINDING_SIZE];
    cli_list options;
    case_version best;
    int code; /* why no more can be tried; CLI_OK */
} shrinking;

/* ---- versions ---- */

static case_version copy_version(const case_version *from)
{
    return (case_version){json_deep_copy(from->header), json_deep_copy(from->pairs)};
}

static void free_version(case_version *version)
{
    json_decref(version->header);
    json_decref(version->pairs);
}

static int write_version(const case_version *version, const char *path)
{
    char *text = NULL;
    size_t size = 0, index;
    json_t *pair;
    FILE *out = open_memstream(&text, &size);
    char *line = shrink_values_text(version->header);
    bool whole = out && line && fprintf(out, "%s\n", line) > 0;
    free(line);
    json_array_foreach(version->pairs, index, pair)
    {
        line = shrink_values_text(pair);
        whole = whole && line && fprintf(out, "%s\n", line) > 0;
        free(line);
    }
    if (out)
        whole = fclose(out) == 0 && whole;
    int code = whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    if (whole && !output_file_write(path, text, size))
        code = cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    free(text);
    return code;
}

/* Runs a version. Writes which mistake it showed; "" for none. */
static int run_version(shrinking *run, const case_version *version, char mistake[SHRINK_FINDING_SIZE])
{
    int code = write_version(version, run->trying);
    test_job job = {.path = run->trying, .backend = run->cli->backend};
    test_jobs jobs = {.jobs = &job,
                      .count = 1,
                      .at_once = 1,
                      .limit_ms = run->limit_ms,
                      .options = run->options.items,
                      .option_count = run->options.count};
    if (code == CLI_OK)
        code = test_jobs_run(&jobs);
    mistake[0] = '\0';
    if (code == CLI_OK && job.result == TEST_FAILED)
        shrink_finding_of(job.said, mistake);
    free(job.said);
    return code;
}

/* Tries a version, and takes it over when it shows the same mistake; frees it. */
static bool try_version(shrinking *run, case_version version)
{
    char mistake[SHRINK_FINDING_SIZE] = "";
    if (run->code == CLI_OK && run->tries++ < run->tries_most)
        run->code = run_version(run, &version, mistake);
    const bool taken = strcmp(mistake, run->mistake) == 0;
    if (taken) {
        free_version(&run->best);
        run->best = version;
    } else {
        free_version(&version);
    }
    return taken;
}

static bool may_try(const shrinking *run)
{
    return run->code == CLI_OK && run->tries < run->tries_most;
}

/* ---- fewer requests ---- */

/* Takes out runs of `length` requests, one run after the other. True when some were not needed. */
static bool drop_runs(shrinking *run, size_t length)
{
    bool dropped = false;
    for (size_t at = 0; may_try(run) && at < json_array_size(run->best.pairs);) {
        case_version version = copy_version(&run->best);
        for (size_t i = 0; i < length && at < json_array_size(version.pairs); i++)
            json_array_remove(version.pairs, at);
        if (json_array_size(version.pairs) == 0) {
            free_version(&version);
            return dropped;
        }
        if (try_version(run, version))
            dropped = true;
        else
            at += length;
    }
    return dropped;
}

static void drop_requests(shrinking *run)
{
    for (size_t length = json_array_size(run->best.pairs) / 2; length >= 1; length /= 2)
        while (drop_runs(run, length) && length == 1 && may_try(run))
            ;
}

/* Takes out requests at the end, those behind the mistake. */
static void drop_last(shrinking *run)
{
    size_t length = json_array_size(run->best.pairs) / 2;
    while (length >= 1 && may_try(run)) {
        const size_t count = json_array_size(run->best.pairs);
        if (count <= length) {
            length /= 2;
            continue;
        }
        case_version version = copy_version(&run->best);
        for (size_t i = 0; i < length; i++)
            json_array_remove(version.pairs, count - 1 - i);
        if (!try_version(run, version))
            length /= 2;
    }
}

/* ---- fewer lanes, blocks, seeds ---- */

static bool try_number(shrinking *run, const char *key, json_int_t number)
{
    case_version version = copy_version(&run->best);
    json_object_set_new(version.header, key, json_integer(number));
    return try_version(run, version);
}

/* Lowers a number of the header: by halves, then one by one. */
static void lower(shrinking *run, const char *key, json_int_t least)
{
    json_int_t step = json_integer_value(json_object_get(run->best.header, key)) / 2;
    while (step > 0 && may_try(run)) {
        const json_int_t now = json_integer_value(json_object_get(run->best.header, key));
        if (now - step < least || !try_number(run, key, now - step))
            step /= 2;
    }
}

/* Lowers how many orders of lanes are compared; then tries the last two alone, which costs less each time the case is run. */
static void lower_seeds(shrinking *run)
{
    lower(run, "seeds", 2);
    const json_int_t seeds = json_integer_value(json_object_get(run->best.header, "seeds"));
    const json_int_t seed = json_integer_value(json_object_get(run->best.header, "seed"));
    if (seeds <= 2 || !may_try(run))
        return;
    case_version version = copy_version(&run->best);
    json_object_set_new(version.header, "seed", json_integer((seed ? seed : 1) + seeds - 2));
    json_object_set_new(version.header, "seeds", json_integer(2));
    try_version(run, version);
}

/*
 * Looks for a seed that shows the mistake with few switches of lanes, or of turns inside of handlers: those that matter. A seed is the same order
 * only with the same limit, so other seeds are tried, of a pipeline fewer, because each is a whole run.
 */
static void lower_switches(shrinking *run)
{
    static const json_int_t numbers[] = {1, 2, 3, 4, 6, 8};
    const char *check = json_string_value(json_object_get(run->best.header, "check"));
    const json_int_t seeds = json_object_get(run->best.header, "pipeline") ? PIPELINE_SEEDS : SWITCH_SEEDS;
    bool taken = !check || !(strstr(check, "schedule") || strstr(check, "order"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !taken && may_try(run); i++) {
        case_version version = copy_version(&run->best);
        json_object_set_new(version.header, "switches", json_integer(numbers[i]));
        if (json_integer_value(json_object_get(version.header, "seeds")) < seeds)
            json_object_set_new(version.header, "seeds", json_integer(seeds));
        taken = try_version(run, version);
    }
}

/* Whether the seeds say where a worker process ends. Where one did depends on how many requests there are. */
static bool has_crashes(const shrinking *run)
{
    const char *check = json_string_value(json_object_get(run->best.header, "check"));
    return check && strstr(check, "crash");
}

/* Gives versions with fewer requests more seeds to show the mistake with. A version ends with the first seed that does. */
static void raise_seeds(shrinking *run)
{
    if (has_crashes(run) && json_integer_value(json_object_get(run->best.header, "seeds")) < CRASH_SEEDS)
        json_object_set_new(run->best.header, "seeds", json_integer(CRASH_SEEDS));
}

/* ---- smaller values ---- */

static bool has_expectation(const json_t *pair)
{
    return json_object_size(pair) > 1 || !json_object_get(pair, "request");
}

static json_t *request_of(const case_version *version, size_t index)
{
    return json_object_get(json_array_get(version->pairs, index), "request");
}

/* Clears runs of `length` values of a request. */
static void clear_runs(shrinking *run, size_t index, size_t length)
{
    for (size_t at = 0; may_try(run) && at < shrink_values_count(request_of(&run->best, index));) {
        case_version version = copy_version(&run->best);
        shrink_values_clear(request_of(&version, index), at, length);
        if (!try_version(run, version))
            at += length;
    }
}

static void halve_values(shrinking *run, size_t index)
{
    for (size_t at = 0; may_try(run) && at < shrink_values_count(request_of(&run->best, index));) {
        case_version version = copy_version(&run->best);
        const bool smaller = shrink_values_halve(request_of(&version, index), at);
        if (!smaller)
            free_version(&version);
        if (!smaller || !try_version(run, version))
            at++;
    }
}

static void cut_arrays(shrinking *run, size_t index)
{
    for (size_t at = 0; may_try(run) && at < shrink_arrays_count(request_of(&run->best, index));) {
        case_version version = copy_version(&run->best);
        shrink_arrays_cut(request_of(&version, index), at);
        if (!try_version(run, version))
            at++;
    }
}

static void shrink_values(shrinking *run)
{
    for (size_t i = 0; i < json_array_size(run->best.pairs); i++) {
        if (has_expectation(json_array_get(run->best.pairs, i)))
            continue;
        cut_arrays(run, i);
        for (size_t length = shrink_values_count(request_of(&run->best, i)); length >= 1; length /= 2)
            clear_runs(run, i, length);
        halve_values(run, i);
    }
}

/* ---- all of it ---- */

static void shrink(shrinking *run)
{
    if (strcmp(run->mistake, SHRINK_ANOTHER_ANSWER) != 0)
        raise_seeds(run);
    drop_last(run);
    /* an answer may follow from every request before it */
    if (strcmp(run->mistake, SHRINK_ANOTHER_ANSWER) == 0)
        return;
    lower(run, "orders", 1);
    drop_requests(run);
    lower_switches(run);
    lower_seeds(run);
    lower(run, "lanes", 1);
    lower(run, "blocks", 1);
    shrink_values(run);
    drop_requests(run);
}

static int find_places(shrinking *run, const char *path)
{
    const size_t length = strlen(path), suffix = sizeof SUFFIX - 1;
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    const bool named = length > suffix && strcmp(path + length - suffix, SUFFIX) == 0;
    const char *out = run->out, *out_slash = out ? strrchr(out, '/') : NULL;
    const int out_folder = out_slash ? (int)(out_slash - out) + 1 : 0;
    if (length + 40 > sizeof run->place || (out && strlen(out) >= sizeof run->place))
        return cli_usage_error(run->cli, "the path '%.60s' is too long", path);
    if (out && (out_folder != folder || strncmp(out, path, (size_t)folder) != 0))
        return cli_usage_error(
            run->cli, "-o: expected a file in the folder of '%s', because paths in a case count from there",
            path);
    if (out)
        snprintf(run->place, sizeof run->place, "%s", out);
    else
        snprintf(run->place, sizeof run->place, "%.*s.small%s", (int)(named ? length - suffix : length), path,
                 SUFFIX);
    snprintf(run->trying, sizeof run->trying, "%.*s.gyre-shrink-%d", folder, path, (int)getpid());
    return case_file_spare(run->place);
}

static int make_options(shrinking *run)
{
    const cli_context *cli = run->cli;
    bool whole = !cli->config_path ||
                 (cli_list_add(&run->options, "--config") && cli_list_add(&run->options, cli->config_path));
    for (size_t i = 0; i < cli->settings.count; i++)
        whole = whole && cli_list_add(&run->options, "--set") &&
                cli_list_add(&run->options, cli->settings.items[i]);
    return whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

/* Takes the case as the first version, and finds out which mistake it shows. */
static int begin(shrinking *run, const case_file *file)
{
    run->best = (case_version){json_deep_copy(file->header), json_array()};
    for (size_t i = 0; i < file->count; i++)
        json_array_append_new(run->best.pairs, json_deep_copy(file->pairs[i].object));
    int code = run_version(run, &run->best, run->mistake);
    if (code == CLI_OK && !run->mistake[0])
        code = cli_error(
            CLI_FAILED,
            "%s shows no mistake, so there is nothing to shrink: gyre call --case %s says how it ends",
            file->path, file->path);
    return code;
}

static int shrink_case(shrinking *run, const case_file *file)
{
    int code = begin(run, file);
    if (code != CLI_OK)
        return code;
    shrink(run);
    code = run->code == CLI_OK ? write_version(&run->best, run->place) : run->code;
    if (code == CLI_OK)
        printf("%s: %zu of %zu requests, %" PRIu64 " tries\n", run->place, json_array_size(run->best.pairs),
               file->count, run->tries);
    return code;
}

static int run(cli_context *cli)
{
    shrinking own = {.cli = cli, .tries_most = TRIES_DEFAULT, .limit_ms = LIMIT_DEFAULT_MS};
    case_file file = {0};
    const cli_option options[] = {
        {"--output", .alias = "-o", .text = &own.out},
        {"--tries", .number = &own.tries_most, .min = 1, .max = UINT32_MAX},
        {"--limit", .number = &own.limit_ms, .min = 1, .max = UINT32_MAX},
        {0},
    };
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected one case file");
    int code = find_places(&own, cli->operands.items[0]);
    if (code == CLI_OK)
        code = make_options(&own);
    if (code == CLI_OK)
        code = case_file_read(&file, cli->operands.items[0]);
    if (code == CLI_OK) {
        code = shrink_case(&own, &file);
        unlink(own.trying);
    }
    free_version(&own.best);
    case_file_finish(&file);
    cli_list_finish(&own.options);
    return code;
}

const cli_command cli_command_shrink = {"shrink", "make a case that shows a mistake smaller", HELP, run};
