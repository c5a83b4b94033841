/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads observation files for the commands (observed.h). No state. */
#include "cli/observed/observed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/open.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/config/config.h"
#include "core/observation/observation_dump.h"
#include "gyre/waiting.h"

enum { LATE_LOOKS = 5 };
#define LATE_LEAST_NS UINT64_C(5000000000)
#define SECOND_NS     1e9

static uint64_t real_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- finding ---- */

bool observed_is_named(const char *name, const char *wanted)
{
    const size_t size = strlen(wanted);
    if (strncmp(name, wanted, size) != 0)
        return false;
    const char *rest = name + size;
    return !rest[0] || (rest[0] == '#' && rest[1] && rest[1 + strspn(rest + 1, "0123456789")] == '\0');
}

static bool has_record(const struct gyre_observed *seen, uint32_t kind, const char *name)
{
    gyre_observe_record record;
    for (uint32_t at = 0; (at = observed_next(seen, at, kind, 0, &record));)
        if (observed_is_named(record.name, name))
            return true;
    return false;
}

static bool is_wanted(const struct gyre_observed *seen, const char *wanted)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRIu32, seen->head.pid);
    return !wanted || strcmp(wanted, pid) == 0 || strcmp(wanted, seen->head.program) == 0 ||
           has_record(seen, GYRE_OBSERVE_KERNEL, wanted) || has_record(seen, GYRE_OBSERVE_QUEUE, wanted) ||
           has_record(seen, GYRE_OBSERVE_PIPELINE, wanted);
}

static uint64_t span(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

static bool add_process(observed_processes *out, const observed_process *process, const char *path)
{
    observed_process *grown = realloc(out->items, (out->count + 1) * sizeof *grown);
    if (grown)
        out->items = grown;
    char *copy = grown ? strdup(path) : NULL;
    if (!copy)
        return false;
    grown[out->count] = *process;
    grown[out->count++].path = copy;
    return true;
}

/* Adds what was read, if it is wanted. */
static int take_process(const observed_source *source, observed_process *process, const char *path,
                        observed_processes *out)
{
    const gyre_observe_head *head = &process->seen.head;
    const bool dead = process->life == GYRE_OBSERVED_DEAD;
    const char *name = strrchr(path, '/');
    process->is_dump = dead && gyre_observation_dump_name(name ? name + 1 : path);
    process->then_ns = dead ? head->alive_ns : gyre_clock_ns();
    process->age_ns = dead ? span(head->alive_real_ns, real_ns()) : span(head->alive_ns, process->then_ns);
    const bool wanted = is_wanted(&process->seen, source->wanted);
    if (wanted && add_process(out, process, path))
        return CLI_OK;
    gyre_observed_finish(&process->seen);
    return wanted ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* Says of a user's file that it is not believed. */
static int pass_over(const observed_source *source, observed_process *process, const char *path,
                     observed_processes *out)
{
    if (!source->quiet)
        cli_error(
            CLI_OK,
            "warning: '%s' belongs to user %u and is passed over: only files of this user, of root and of the "
            "folder's owner are believed",
            path, (unsigned)process->seen.owner);
    out->unread++;
    gyre_observed_finish(&process->seen);
    return CLI_OK;
}

/* Says that a part of the file is not there. A failure where the user named the file: its figures would pass for whole ones. */
static int tell_cut(const observed_source *source, const observed_process *process, const char *path)
{
    if (source->file)
        return cli_error(CLI_FAILED,
                         "'%s' was cut: it has %zu bytes, and its head tells of more: copy the file again",
                         path, process->seen.size);
    if (!source->quiet)
        cli_error(CLI_OK, "warning: '%s' was cut: what lay behind its %zu bytes is not shown", path,
                  process->seen.size);
    return CLI_OK;
}

/* Reads one file; `found` is NULL for one that the user named. A file that is gone meanwhile, or is not finished, is that of a process
 * that ends or begins. Without memory or descriptors nothing is known of any file. */
static int read_one(const observed_source *source, const char *path, const struct gyre_observed_file *found,
                    observed_processes *out)
{
    observed_process process = {0};
    const gyre_status status = gyre_observed_read(path, &process.seen, &process.life);
    const bool stops = source->file || status == GYRE_EXHAUSTED;
    const bool passes = !stops && (source->quiet || status == GYRE_NOT_FOUND || status == GYRE_AGAIN);
    if (status == GYRE_OK && found && !gyre_observed_is_believed(found, &process.seen))
        return pass_over(source, &process, path, out);
    if (status == GYRE_OK && process.seen.is_cut && tell_cut(source, &process, path) != CLI_OK) {
        gyre_observed_finish(&process.seen);
        return CLI_FAILED;
    }
    if (status == GYRE_OK)
        return take_process(source, &process, path, out);
    out->unread++;
    const int code = passes ? CLI_OK : cli_fail(status);
    gyre_error_clear();
    return stops ? code : CLI_OK;
}

int observed_begin(const cli_context *cli, const char *file, const char *wanted, observed_source *out)
{
    struct gyre_config *config = NULL;
    *out = (observed_source){.file = file, .wanted = wanted};
    gyre_libc_give_back(
        256 << 10); /* copies of files are made anew each time, of memory that is zero and not there yet */
    int code = file ? CLI_OK : cli_fail_unless_ok(cli_load(cli, &config));
    if (code != CLI_OK || file)
        return code;
    cli_warn(config);
    const char *folder = gyre_config_text(config, GYRE_SECTION_OBSERVE, NULL, "folder");
    if (snprintf(out->folder, sizeof out->folder, "%s", folder) >= (int)sizeof out->folder)
        code = cli_error(CLI_CONFIG, "observe.folder is longer than %zu bytes", sizeof out->folder - 1);
    gyre_config_destroy(config);
    return code;
}

int observed_open(const observed_source *source, observed_processes *out)
{
    struct gyre_observed_file *files = NULL;
    char sentence[1200];
    size_t count = 0;
    memset(out, 0, sizeof *out);
    if (source->file)
        return read_one(source, source->file, NULL, out);
    if (!source->quiet && gyre_observed_folder_refused(source->folder, sentence, sizeof sentence))
        cli_error(CLI_OK, "warning: %s", sentence);
    int code = cli_fail_unless_ok(gyre_observed_find(source->folder, &files, &count));
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = read_one(source, files[i].path, &files[i], out);
    gyre_observed_files_free(files, count);
    return code;
}

int observed_need(const observed_processes *processes, const char *wanted)
{
    if (processes->count)
        return CLI_OK;
    if (wanted)
        return cli_error(
            CLI_FAILED,
            "no process, program, kernel or queue '%s' can be seen; 'gyre stat' lists those that can",
            wanted);
    (void)cli_error(CLI_OK, "no process can be seen: none has launched a kernel, or observe.enabled is false "
                            "there, or observe.folder is another one");
    return CLI_OK;
}

void observed_finish(observed_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        gyre_observed_finish(&processes->items[i].seen);
        free(processes->items[i].path);
    }
    free(processes->items);
    memset(processes, 0, sizeof *processes);
}

/* ---- times ---- */

bool observed_is_late(const observed_process *process)
{
    const uint64_t every = process->seen.head.every_ns;
    const uint64_t limit = every < LATE_LEAST_NS / LATE_LOOKS ? LATE_LEAST_NS
                           : every < UINT64_MAX / LATE_LOOKS  ? LATE_LOOKS * every
                                                              : UINT64_MAX;
    return process->life == GYRE_OBSERVED_LIVES && process->age_ns > limit;
}

const char *observed_life_word(const observed_process *process)
{
    static const char *const words[] = {"unknown", "lives", "stopped", "dead"};
    if (process->is_dump)
        return "kept";
    return observed_is_late(process) ? "late" : words[process->life];
}

double observed_seconds_since(const observed_process *process, uint64_t at_ns)
{
    return at_ns ? (double)span(at_ns, process->then_ns) / SECOND_NS : 0;
}

double observed_day_seconds(const observed_process *process, uint64_t at_ns)
{
    const gyre_observe_head *head = &process->seen.head;
    return (double)head->alive_real_ns / SECOND_NS - ((double)head->alive_ns - (double)at_ns) / SECOND_NS;
}

const char *observed_time_text(const observed_process *process, uint64_t at_ns, char text[32])
{
    const double seconds = observed_day_seconds(process, at_ns);
    const time_t day = seconds > 0 && seconds < 1e11 ? (time_t)seconds : 0; /* a file may say anything */
    struct tm parts;
    if (!localtime_r(&day, &parts) || !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts))
        snprintf(text, 32, "-");
    return text;
}

const char *observed_seconds_text(double seconds, char text[24])
{
    if (seconds < 10)
        snprintf(text, 24, "%.1f s", seconds);
    else if (seconds < 120)
        snprintf(text, 24, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, 24, "%.0f min", seconds / 60);
    else if (seconds < 172800)
        snprintf(text, 24, "%.0f h", seconds / 3600);
    else
        snprintf(text, 24, "%.0f d", seconds / 86400);
    return text;
}

bool observed_tell_life(FILE *out, const char *life, double age_s, uint32_t pid)
{
    char age[24];
    if (strcmp(life, "lives") == 0)
        return false;
    observed_seconds_text(age_s, age);
    if (strcmp(life, "kept") == 0)
        fprintf(out, "  This is what its process kept of itself %s ago.\n", age);
    else if (strcmp(life, "dead") == 0)
        fprintf(out, "  Its process was killed; what follows is what it said last, %s ago.\n", age);
    else if (strcmp(life, "stopped") == 0)
        fprintf(out, "  Its process is stopped, by SIGSTOP or a debugger, for %s: kill -CONT %" PRIu32 "\n",
                age, pid);
    else
        fprintf(
            out,
            "  Its process has not looked at itself for %s: it hangs, or its machine is too busy. gdb -p %" PRIu32
            " shows where it is.\n",
            age, pid);
    return true;
}

/* ---- records ---- */

uint32_t observed_next(const struct gyre_observed *seen, uint32_t after, uint32_t kind, uint32_t parent,
                       gyre_observe_record *out)
{
    const uint32_t end = gyre_observed_records(seen);
    for (uint32_t number = after + 1; number < end && number > after; number++)
        if (gyre_observed_is(seen, number, kind, parent) && gyre_observed_record(seen, number, out))
            return number;
    return 0;
}

uint64_t observed_length(const struct gyre_observed *seen, uint32_t queue)
{
    return observed_value(seen, queue, GYRE_OBSERVE_QUEUE_UNANSWERED) +
           observed_value(seen, queue, GYRE_OBSERVE_QUEUE_UNRECEIVED);
}

const char *observed_link_end(const struct gyre_observed *seen, uint32_t link, uint32_t word,
                              gyre_observe_record *kernel)
{
    const uint64_t number = observed_value(seen, link, word);
    const bool known = number <= UINT32_MAX && gyre_observed_record(seen, (uint32_t)number, kernel) &&
                       kernel->kind == GYRE_OBSERVE_KERNEL;
    return known ? kernel->name : "nowhere";
}
