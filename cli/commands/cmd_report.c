/* SPDX-License-Identifier: Apache-2.0 */
/* gyre report: one file with all that somebody who is asked for help wants to see first. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/json/json.h"
#include "cli/observed/rates_look.h"
#include "cli/observed/stat_print.h"
#include "cli/observed/why.h"
#include "cli/base/output_file.h"
#include "cli/doctor/report_parts.h"
#include "cli/doctor/tar.h"

static const char HELP[] =
    "usage: gyre report [-o FILE]\n"
    "\n"
    "Writes one archive to send to somebody who is to help: FILE, or gyre-report-TIME.tar here. Read it before you send it:\n"
    "tar xf FILE. In its folder gyre-report are\n"
    "\n"
    "  system.json     versions of Gyre and of the system\n"
    "  config.json     every value of the configuration with its origin; those of passwords, secrets and tokens are hidden\n"
    "  backends.json   each backend, and why it cannot start\n"
    "  doctor.json     what gyre doctor finds\n"
    "  processes.json  what gyre stat shows of each process, also of killed ones: counts, troubles and events\n"
    "  dumps.json      the same of what processes kept of themselves after a stall or a loss (observe.dumps)\n"
    "  metrics.txt     the same counts as text for Prometheus\n"
    "  why.txt         what gyre why says of each kernel and pipeline, of living processes first: read this first\n"
    "\n"
    "No message is in it. Troubles and events are sentences of logs, with names of kernels, programs and files. Asks no process\n"
    "anything. A part that cannot be made says why in its place. Only you may read FILE.\n"
    "\n"
    "Options:\n"
    "  -o, --output FILE    write to FILE\n"
    "  and the options of every command: gyre help\n";

#define FOLDER "gyre-report/"

enum { RATES_MS = 2500 }; /* so long may it take until rates are known */

/* Takes over the document's reference. */
static bool add_json(cli_tar *tar, const char *name, json_t *document)
{
    char *text = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
    const bool added = text && cli_tar_add(tar, name, text, strlen(text));
    json_decref(document);
    free(text);
    return added;
}

static bool add_metrics(cli_tar *tar, const observed_processes *processes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return false;
    bool written = stat_print_prometheus(processes, out) == CLI_OK;
    written = fclose(out) == 0 && written;
    written = written && cli_tar_add(tar, FOLDER "metrics.txt", text, size);
    free(text);
    return written;
}

static bool add_why(cli_tar *tar, const rates_table *table)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return false;
    why_tell(out, table, NULL);
    const bool written = fclose(out) == 0 && cli_tar_add(tar, FOLDER "why.txt", text, size);
    free(text);
    return written;
}

/* Waits for the next look, as long as time is left. */
static bool nap(void *left_ms, uint64_t milliseconds)
{
    uint64_t *left = left_ms;
    if (*left < milliseconds)
        return false;
    *left -= milliseconds;
    usleep((useconds_t)milliseconds * 1000);
    return true;
}

static bool add_processes(cli_tar *tar, const cli_context *cli)
{
    observed_source source;
    observed_processes processes = {0};
    rates_table table = {0};
    uint64_t left_ms = RATES_MS;
    int code = observed_begin(cli, NULL, NULL, &source);
    if (code == CLI_OK)
        code = rates_look_twice(&source, &processes, &table, nap, &left_ms);
    bool added = add_json(tar, FOLDER "processes.json", report_processes(&processes, code));
    added = added && (code != CLI_OK || (add_metrics(tar, &processes) && add_why(tar, &table)));
    rates_finish(&table);
    observed_finish(&processes);
    return added;
}

static bool collect(cli_tar *tar, const cli_context *cli)
{
    return add_json(tar, FOLDER "system.json", report_system(tar->seconds)) &&
           add_json(tar, FOLDER "config.json", report_config(cli)) &&
           add_json(tar, FOLDER "backends.json", report_backends(cli)) &&
           add_json(tar, FOLDER "doctor.json", report_doctor(cli)) && add_processes(tar, cli) &&
           add_json(tar, FOLDER "dumps.json", report_dumps(cli)) && cli_tar_end(tar);
}

/* A file that is replaced keeps its rights, so a report takes them from all but its owner first. */
static void narrow(const char *path)
{
    struct stat there;
    const int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &there) == 0 && S_ISREG(there.st_mode))
        (void)fchmod(descriptor, S_IRUSR | S_IWUSR);
    close(descriptor);
}

static int write_report(const cli_context *cli, const char *path)
{
    cli_tar tar = {.seconds = (uint64_t)time(NULL)};
    int code = CLI_OK;
    const mode_t before = umask(S_IRWXG | S_IRWXO);
    narrow(path);
    if (!collect(&tar, cli))
        code = cli_error(CLI_FAILED, "out of memory: no report was written");
    else if (!output_file_write(path, tar.bytes, tar.size))
        code = cli_error(CLI_FAILED, "cannot write the report '%s': %s", path, strerror(errno));
    else if (cli->json)
        code = cli_print_json(cli_json_object("sI", "file", path, "bytes", (json_int_t)tar.size));
    else
        printf("wrote %s: read it before you send it (tar xf)\n", path);
    umask(before);
    cli_tar_finish(&tar);
    return code;
}

static int run(cli_context *cli)
{
    const char *path = NULL;
    char name[64];
    struct tm date = {0};
    const time_t now = time(NULL);
    const cli_option options[] = {{"--output", .alias = "-o", .text = &path}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count)
        return cli_usage_error(cli, "expected no operand, found '%s'", cli->operands.items[0]);
    gmtime_r(&now, &date);
    strftime(name, sizeof name, "gyre-report-%Y%m%dT%H%M%SZ.tar", &date);
    return write_report(cli, path ? path : name);
}

const cli_command cli_command_report = {"report", "a file to send to somebody who is to help", HELP, run};
