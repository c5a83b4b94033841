/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process in the midst of a message (cpu_crash.h). The crash_file gets one line: where that was. */
#include "backends/cpu/check/cpu_crash.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"

static struct cpu_crash *crash_of(const struct cpu_worker *worker)
{
    return &worker->resident->device->checks->crash;
}

bool cpu_crash_was(const struct cpu_settings *settings)
{
    struct stat file;
    return settings->checks & CPU_CHECK_CRASH && settings->crash_file[0] &&
           stat(settings->crash_file, &file) == 0 && file.st_size > 0;
}

/* Who sets them by hand learns why nothing happens. */
static void tell_no_crash(const struct cpu_settings *settings, const gyre_host *host)
{
    char text[512];
    snprintf(text, sizeof text,
             "check crash: nothing ends in message %" PRIu64
             ", because the crash_file '%.300s' is not empty, as after a crash: empty it first",
             settings->crash_message, settings->crash_file);
    host->log(host->context, GYRE_LOG_INFO, text);
}

void cpu_crash_open(struct cpu_crash *crash, const struct cpu_settings *settings, const gyre_host *host)
{
    const bool ends = settings->checks & CPU_CHECK_CRASH && settings->crash_file[0];
    *crash = (struct cpu_crash){0};
    if (!ends || !settings->crash_message)
        return;
    if (cpu_crash_was(settings)) {
        tell_no_crash(settings, host);
        return;
    }
    crash->message = settings->crash_message;
    crash->step = settings->crash_step;
}

void cpu_crash_close(const struct cpu_settings *settings, uint64_t messages)
{
    if (!(settings->checks & CPU_CHECK_CRASH) || !settings->crash_file[0] || settings->crash_message ||
        !messages || cpu_crash_was(settings))
        return;
    FILE *const file = fopen(settings->crash_file, "we");
    if (!file)
        return;
    fprintf(file, "%" PRIu64 " messages\n", messages);
    fclose(file);
}

/* `where`: "at FILE:LINE (`...`)". A process that cannot say so does not end: else each one after it would end there, too. */
static void end_process(const struct cpu_worker *worker, const char *where)
{
    struct cpu_crash *const crash = crash_of(worker);
    FILE *const file = fopen(worker->resident->device->settings.crash_file, "we");
    const int written = file ? fprintf(file, "in message %" PRIu64 " of '%s', block %u, %s\n", crash->message,
                                       worker->resident->kernel->name, worker->block, where)
                             : -1;
    crash->message = 0;
    if (file && fclose(file) == 0 && written > 0)
        kill(getpid(), SIGKILL);
}

void cpu_crash_begin(struct cpu_worker *worker)
{
    struct cpu_crash *const crash = crash_of(worker);
    if (!crash->message || worker->watched->message != crash->message)
        return;
    crash->taken = 0;
    if (crash->step == 0)
        end_process(worker, "before its handler began");
}

void cpu_crash_touch(struct cpu_worker *worker, const struct cpu_touch *touch)
{
    struct cpu_crash *const crash = crash_of(worker);
    char place[512], where[544];
    if (!crash->message || worker->watched->message != crash->message || ++crash->taken != crash->step)
        return;
    cpu_finding_place(worker, touch->code, place, sizeof place);
    snprintf(where, sizeof where, "before %s", place);
    end_process(worker, where);
}

void cpu_crash_end(struct cpu_worker *worker)
{
    const struct cpu_crash *const crash = crash_of(worker);
    if (crash->message && worker->watched->message == crash->message)
        end_process(worker, "after its handler returned");
}
