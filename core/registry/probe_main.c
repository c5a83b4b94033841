/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program gyre-probe: loads one plugin, probes it, answers with a verdict on standard output.
 *
 *     gyre-probe LIBRARY [KEY VALUE ORIGIN]...
 *
 * The core runs it as a child process (probe.c), so that a driver that crashes, hangs, prints or leaves threads
 * behind does so here. Exit code 0 when there is a verdict, also a verdict that the backend cannot start. The program
 * ends without running exit handlers, because the driver registered them.
 */
#include "core/base/error.h"
#include "core/loader/host.h"
#include "core/loader/loader.h"
#include "core/registry/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Keeps standard output for the answer alone: what the plugin prints goes to standard error. */
static int take_output(void)
{
    int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return -1;
    return answer;
}

static void describe(const gyre_backend_plugin *table, struct gyre_verdict *verdict)
{
    verdict->abi_major = table->abi_major;
    verdict->abi_minor = table->abi_minor;
    snprintf(verdict->plugin_name, sizeof verdict->plugin_name, "%s", table->name);
    snprintf(verdict->build, sizeof verdict->build, "%s", table->build ? table->build : "");
}

static void take_info(const gyre_probe_info *info, struct gyre_verdict *verdict)
{
    verdict->score = info->score;
    verdict->device_count = info->device_count;
    snprintf(verdict->vendor_library, sizeof verdict->vendor_library, "%.*s", (int)sizeof info->library,
             info->library);
    snprintf(verdict->summary, sizeof verdict->summary, "%.*s", (int)sizeof info->summary, info->summary);
    snprintf(verdict->fingerprint, sizeof verdict->fingerprint, "%.*s", (int)sizeof info->fingerprint,
             info->fingerprint);
    snprintf(verdict->notes, sizeof verdict->notes, "%.*s", (int)sizeof info->notes, info->notes);
    snprintf(verdict->watch, sizeof verdict->watch, "%.*s", (int)sizeof info->watch, info->watch);
}

static gyre_status probe(const char *library, const gyre_probe_desc *desc, struct gyre_verdict *verdict)
{
    struct gyre_plugin *plugin;
    gyre_status status = gyre_plugin_load(library, &plugin);
    if (status != GYRE_OK)
        return status;
    const gyre_backend_plugin *table = gyre_plugin_table(plugin);
    gyre_probe_info info = {.size = sizeof info};
    describe(table, verdict);
    gyre_error_clear();
    status = table->ops->probe(desc, &info);
    take_info(&info, verdict);
    if (status == GYRE_OK && info.device_count == 0)
        return gyre_error_set(GYRE_INTERNAL, "plugin '%s' says that it can start, but with no device",
                              library);
    if (status < GYRE_OK || status > GYRE_INTERNAL)
        return gyre_error_set(GYRE_INTERNAL, "plugin '%s' answered its probe with %d, which is no status",
                              library, (int)status);
    if (status != GYRE_OK && gyre_error_cause()[0] == '\0')
        return gyre_error_set(status, "plugin '%s' cannot start and does not say why", library);
    return status;
}

/* Reads the parameters from the arguments. NULL without memory, with an error set. */
static gyre_parameter *read_parameters(char **words, size_t count)
{
    gyre_parameter *parameters = calloc(count + 1, sizeof *parameters);
    if (!parameters)
        gyre_error_set(GYRE_EXHAUSTED, "no memory to probe a plugin; raise the limit of memory (ulimit -v)");
    for (size_t i = 0; parameters && i < count; i++)
        parameters[i] = (gyre_parameter){words[3 * i], words[3 * i + 1], words[3 * i + 2]};
    return parameters;
}

static int answer_with(int descriptor, const struct gyre_verdict *verdict)
{
    char text[GYRE_VERDICT_TEXT_MAX];
    size_t length = gyre_verdict_write(verdict, text, sizeof text), done = 0;
    while (done < length) {
        ssize_t wrote = write(descriptor, text + done, length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return 1;
        done += (size_t)wrote;
    }
    return length > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: gyre-probe LIBRARY [KEY VALUE ORIGIN]...\nRun by Gyre itself.\n";
    const struct rlimit no_core = {0, 0};
    struct gyre_verdict verdict = {0};
    struct gyre_host_services host;
    int answer = take_output();
    if (argc < 2 || (argc - 2) % 3 != 0 || answer < 0) {
        ssize_t ignored = write(STDERR_FILENO, usage, sizeof usage - 1);
        return ignored < 0 ? 1 : 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody waits for the answer of an orphan */
    setrlimit(RLIMIT_CORE, &no_core);
    gyre_host_init(&host, NULL, NULL);
    size_t count = ((size_t)argc - 2) / 3;
    gyre_probe_desc desc = {.size = sizeof desc,
                            .host = &host.table,
                            .parameters = read_parameters(argv + 2, count),
                            .parameter_count = count};
    gyre_status status = desc.parameters ? probe(argv[1], &desc, &verdict) : GYRE_EXHAUSTED;
    if (status != GYRE_OK)
        gyre_verdict_refuse(&verdict, status, gyre_error_text());
    _exit(answer_with(answer, &verdict));
}
