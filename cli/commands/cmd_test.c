/* SPDX-License-Identifier: Apache-2.0 */
/* gyre test: finds case files, and runs each on each backend that is asked for (test_jobs.h). One thread besides those. */
#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cases/case_file.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "cli/cases/test_jobs.h"
#include "cli/cases/test_report.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/registry/registry.h"

static const char HELP[] =
    "usage: gyre test DIR|FILE... [--backend NAME[,NAME...]] [OPTION...]\n"
    "\n"
    "Runs case files: a kernel, requests, and the answers that are expected (docs/testing.md). In a folder, and in\n"
    "those below it, all files NAME.gyre-case are taken. Each case runs in a process of its own. A line a case is\n"
    "printed; below one that failed stands what differs, field by field.\n"
    "\n"
    "  --backend NAME,NAME      run each case on each of these; default: the configured one. A backend that cannot\n"
    "                           start is told, and its cases are skipped\n"
    "  --require                fail when a backend cannot start\n"
    "  --check LIST             find mistakes of handlers on the CPU (docs/simulator.md), in place of what a case says\n"
    "  --seed N, --seeds N      of the check schedule, in place of what a case says\n"
    "  --orders N               try N other orders of the requests, with the same answers; not for actors\n"
    "  --filter TEXT            only cases with TEXT in their path; with * or ? it must match the whole path\n"
    "  --jobs N                 cases at a time; default: one for each processor\n"
    "  --timeout MS             longest wait for an answer; default: what a case says, or 10000\n"
    "  --limit MS               longest time of a case; default 300000, 0: no limit\n"
    "  --junit FILE             write the results to FILE as well, as JUnit does\n"
    "  --json                   print one JSON document instead of lines\n"
    "  --list                   print which cases would run\n"
    "  and the options of every command: gyre help. --config and --set are those of every case\n"
    "\n"
    "Exit codes: 0 all that ran passed; 1 a case failed, or there is none; 2 usage; 3 none ran because no backend can\n"
    "start, or --require and one cannot; 4 configuration.\n";

static const char SUFFIX[] = ".gyre-case";
enum { LIMIT_DEFAULT_MS = 300000, JOBS_MAX = 1024, BACKENDS_MAX = 16, REASON_SIZE = 2048, NUMBER_SIZE = 24 };

typedef struct test_backend {
    const char *name; /* NULL: as configured */
    bool starts;
    char reason[REASON_SIZE]; /* why it does not */
} test_backend;

typedef struct test_run {
    cli_context *cli;
    bool require, list;
    const char *check, *filter, *junit;
    uint64_t seed, seeds, orders, at_once, timeout_ms, limit_ms;
    char *names; /* of --backend, cut at its commas */
    test_backend backends[BACKENDS_MAX];
    size_t backend_count;
    cli_list paths, options, check_options;
    char seed_text[NUMBER_SIZE], seeds_text[NUMBER_SIZE], orders_text[NUMBER_SIZE], timeout_text[NUMBER_SIZE];
    test_jobs jobs;
} test_run;

/* ---- backends ---- */

static int add_backend(test_run *run, const char *name)
{
    for (size_t i = 0; i < run->backend_count; i++)
        if (strcmp(run->backends[i].name, name) == 0)
            return cli_usage_error(run->cli, "--backend: '%s' is given twice", name);
    if (run->backend_count == BACKENDS_MAX)
        return cli_usage_error(run->cli, "--backend: at most %d backends", BACKENDS_MAX);
    run->backends[run->backend_count++].name = name;
    return CLI_OK;
}

static int split_backends(test_run *run, const char *text)
{
    int code = CLI_OK;
    char *rest = run->names = strdup(text);
    if (!rest)
        return cli_error(CLI_FAILED, "out of memory");
    for (char *name; code == CLI_OK && (name = strtok_r(rest, ", ", &rest));)
        code = add_backend(run, name);
    return code == CLI_OK && run->backend_count == 0 ? cli_usage_error(run->cli, "--backend names none")
                                                     : code;
}

/* Finds out which of the backends can start. A name that no backend has is an error. */
static int judge_backends(test_run *run, struct gyre_registry *registry)
{
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < run->backend_count; i++) {
        test_backend *backend = &run->backends[i];
        const struct gyre_candidate *choice;
        char why[REASON_SIZE];
        if (gyre_registry_check_name(registry, backend->name) != GYRE_OK) {
            code = cli_error(CLI_UNAVAILABLE, "%s", gyre_error_text());
            continue;
        }
        backend->starts = gyre_registry_choose(registry, backend->name, &choice, why, sizeof why) == GYRE_OK;
        if (!backend->starts)
            snprintf(backend->reason, sizeof backend->reason, "%s", gyre_error_text());
    }
    return code;
}

static int find_backends(test_run *run)
{
    struct gyre_config *config = NULL;
    struct gyre_registry *registry = NULL;
    const char *names = run->cli->backend;
    run->cli->backend = NULL; /* a list, which the configuration does not take */
    if (!names) {
        run->backends[0].starts = true; /* which one it is, and whether it starts, each case tells */
        run->backend_count = 1;
        return CLI_OK;
    }
    int code = split_backends(run, names);
    if (code != CLI_OK)
        return code;
    gyre_status status = cli_load(run->cli, &config);
    if (status == GYRE_OK)
        status = gyre_registry_create(config, &registry);
    code = status == GYRE_OK ? judge_backends(run, registry) : cli_fail(status);
    gyre_registry_destroy(registry);
    gyre_config_destroy(config);
    return code;
}

/* ---- cases ---- */

static bool is_wanted(const test_run *run, const char *path)
{
    if (!run->filter)
        return true;
    return strpbrk(run->filter, "*?") ? fnmatch(run->filter, path, 0) == 0
                                      : strstr(path, run->filter) != NULL;
}

static int add_path(test_run *run, const char *path)
{
    char *copy = is_wanted(run, path) ? strdup(path) : NULL;
    if (!is_wanted(run, path) || (copy && cli_list_add(&run->paths, copy)))
        return CLI_OK;
    free(copy);
    return cli_error(CLI_FAILED, "out of memory");
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

static bool is_case(const FTSENT *entry)
{
    const size_t suffix = sizeof SUFFIX - 1;
    return entry->fts_info == FTS_F && entry->fts_namelen > suffix &&
           strcmp(entry->fts_name + entry->fts_namelen - suffix, SUFFIX) == 0;
}

/* Adds the cases below a folder, in order of their names. Links to folders are not followed. */
static int add_folder(test_run *run, const char *path)
{
    char *const roots[] = {(char *)(uintptr_t)path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    int code = walk ? CLI_OK : cli_error(CLI_FAILED, "folder '%s': %s", path, strerror(errno));
    size_t found = 0;
    for (FTSENT *entry; code == CLI_OK && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            code = cli_error(CLI_FAILED, "'%s': %s", entry->fts_path, strerror(entry->fts_errno));
        else if (is_case(entry) && ++found)
            code = add_path(run, entry->fts_path);
    }
    if (walk)
        fts_close(walk);
    return code == CLI_OK && !found ? cli_error(CLI_FAILED, "folder '%s' has no file NAME%s", path, SUFFIX)
                                    : code;
}

static int find_cases(test_run *run)
{
    const cli_list *operands = &run->cli->operands;
    int code = operands->count
                   ? CLI_OK
                   : cli_usage_error(run->cli, "expected a case file, or a folder with case files");
    for (size_t i = 0; code == CLI_OK && i < operands->count; i++) {
        struct stat info;
        if (stat(operands->items[i], &info) != 0)
            code = cli_error(CLI_FAILED, "'%s': %s", operands->items[i], strerror(errno));
        else
            code = S_ISDIR(info.st_mode) ? add_folder(run, operands->items[i])
                                         : add_path(run, operands->items[i]);
    }
    if (code == CLI_OK && !run->paths.count)
        code = cli_error(
            CLI_FAILED, "no case has '%s' in its path (--filter%s)", run->filter,
            strpbrk(run->filter, "*?") ? ", where * or ? must match the whole path, its folders too" : "");
    return code;
}

/* ---- the jobs ---- */

static bool add_text(cli_list *options, const char *option, const char *text)
{
    return !text || (cli_list_add(options, option) && cli_list_add(options, text));
}

static bool add_number(cli_list *options, const char *option, uint64_t number, char text[NUMBER_SIZE])
{
    snprintf(text, NUMBER_SIZE, "%llu", (unsigned long long)number);
    return add_text(options, option, number ? text : NULL);
}

/* The options that every case gets, and those for cases that may run with checks. */
static int make_options(test_run *run)
{
    const cli_context *cli = run->cli;
    bool whole = add_text(&run->options, "--config", cli->config_path);
    for (size_t i = 0; i < cli->settings.count; i++)
        whole = whole && add_text(&run->options, "--set", cli->settings.items[i]);
    whole = whole && add_number(&run->options, "--timeout", run->timeout_ms, run->timeout_text) &&
            add_number(&run->options, "--orders", run->orders, run->orders_text) &&
            add_text(&run->check_options, "--check", run->check) &&
            add_number(&run->check_options, "--seed", run->seed, run->seed_text) &&
            add_number(&run->check_options, "--seeds", run->seeds, run->seeds_text);
    return whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static int make_jobs(test_run *run)
{
    test_jobs *jobs = &run->jobs;
    jobs->jobs = calloc(run->paths.count * run->backend_count + 1, sizeof *jobs->jobs);
    if (!jobs->jobs)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; i < run->paths.count; i++) {
        for (size_t b = 0; b < run->backend_count; b++) {
            const test_backend *backend = &run->backends[b];
            test_job *job = &jobs->jobs[jobs->count++];
            *job = (test_job){.path = run->paths.items[i],
                              .backend = backend->name,
                              .takes_checks = !backend->name || strcmp(backend->name, "cpu") == 0};
            if (!backend->starts) {
                job->result = TEST_SKIPPED;
                job->said = strdup(backend->reason);
            }
        }
    }
    jobs->at_once = run->at_once;
    jobs->limit_ms = run->limit_ms;
    jobs->finished = run->cli->json ? NULL : test_report_line;
    return CLI_OK;
}

static uint64_t processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}

static int list_jobs(const test_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        printf("%s%s%s\n", jobs->jobs[i].path, jobs->jobs[i].backend ? " on " : "",
               jobs->jobs[i].backend ? jobs->jobs[i].backend : "");
    return CLI_OK;
}

/* The exit code for the results. A backend that cannot start never counts as passed. */
static int judge_results(const test_run *run, const test_counts *counts)
{
    if (counts->failed)
        return CLI_FAILED;
    return counts->skipped && (run->require || !counts->passed) ? CLI_UNAVAILABLE : CLI_OK;
}

static int run_cases(test_run *run)
{
    int code = test_jobs_run(&run->jobs);
    if (code != CLI_OK)
        return code;
    const test_counts counts = test_report_count(&run->jobs);
    int reported = run->junit ? test_report_junit(&run->jobs, run->junit) : CLI_OK;
    if (run->cli->json && reported == CLI_OK)
        reported = test_report_json(&run->jobs);
    test_report_counts(&counts);
    code = judge_results(run, &counts);
    return code == CLI_OK ? reported : code;
}

static int test(test_run *run)
{
    char why[REASON_SIZE];
    if (run->check && !case_check_words(run->check, why, sizeof why))
        return cli_usage_error(run->cli, "--check: %s", why);
    int code = find_cases(run);
    if (code == CLI_OK)
        code = find_backends(run);
    if (code == CLI_OK)
        code = make_options(run);
    if (code == CLI_OK)
        code = make_jobs(run);
    if (code != CLI_OK)
        return code;
    run->jobs.options = run->options.items;
    run->jobs.option_count = run->options.count;
    run->jobs.check_options = run->check_options.items;
    run->jobs.check_option_count = run->check_options.count;
    return run->list ? list_jobs(&run->jobs) : run_cases(run);
}

static void finish(test_run *run)
{
    for (size_t i = 0; i < run->jobs.count; i++)
        free(run->jobs.jobs[i].said);
    for (size_t i = 0; i < run->paths.count; i++)
        free((char *)(uintptr_t)run->paths.items[i]);
    free(run->jobs.jobs);
    free(run->names);
    cli_list_finish(&run->paths);
    cli_list_finish(&run->options);
    cli_list_finish(&run->check_options);
}

static int run(cli_context *cli)
{
    test_run own = {.cli = cli, .at_once = processors(), .limit_ms = LIMIT_DEFAULT_MS};
    const cli_option options[] = {
        {"--require", .flag = &own.require},
        {"--list", .flag = &own.list},
        {"--check", .text = &own.check},
        {"--filter", .text = &own.filter},
        {"--junit", .text = &own.junit},
        {"--seed", .number = &own.seed, .min = 1, .max = UINT64_C(1) << 62},
        {"--seeds", .number = &own.seeds, .min = 1, .max = 1000000},
        {"--orders", .number = &own.orders, .min = 1, .max = 100000},
        {"--jobs", .number = &own.at_once, .min = 1, .max = JOBS_MAX},
        {"--timeout", .number = &own.timeout_ms, .min = 1, .max = UINT32_MAX},
        {"--limit", .number = &own.limit_ms, .max = UINT32_MAX},
        {0},
    };
    if (cli_parse(cli, options))
        cli->exit_code = test(&own);
    finish(&own);
    return cli->exit_code;
}

const cli_command cli_command_test = {"test", "run case files on backends, compare the answers", HELP, run};
