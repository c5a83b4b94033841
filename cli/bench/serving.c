/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the server for a case that measures a client: starts `gyre serve` in a process of its own, with the settings that the
 * case would have in this process, and attaches a queue. The server ends with this process, also when this process is killed.
 * The server's socket and its output are in a folder of its own, removed at the end. One thread.
 */
#include "cli/bench/serving.h"
#include "cli/bench/bench.h"
#include "cli/bench/kernels.h"
#include "cli/bench/runtime.h"
#include "cli/bench/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/temporary.h"
#include "gyre/attach.h"

enum { ARGUMENTS_MAX = 16 + 2 * BENCH_SETTINGS_MAX };

struct bench_serving {
    struct gyre_temporary folder;
    char socket[GYRE_TEMPORARY_MAX + 16], said[GYRE_TEMPORARY_MAX + 16];
    char program[PATH_MAX], operand[PATH_MAX + 64], pin[64];
    const char *settings[BENCH_SETTINGS_MAX + 1];
    const char *arguments[ARGUMENTS_MAX];
    pid_t process;
    int words; /* descriptor of the server's output */
};

/* ---- the command ---- */

static gyre_status find_program(struct bench_serving *serving)
{
    ssize_t length = readlink("/proc/self/exe", serving->program, sizeof serving->program - 1);
    return length > 0 ? GYRE_OK : gyre_error_set(GYRE_UNAVAILABLE, "/proc/self/exe cannot be read");
}

static gyre_status find_kernel(struct bench_serving *serving, enum bench_kind kind)
{
    char path[PATH_MAX];
    gyre_status status = bench_kernel_file(kind, path, sizeof path);
    snprintf(serving->operand, sizeof serving->operand, "%s:%s", path, bench_kernel_name(kind));
    return status;
}

static void add_option(struct bench_serving *serving, size_t *count, const char *option, const char *value)
{
    if (!value)
        return;
    serving->arguments[(*count)++] = option;
    serving->arguments[(*count)++] = value;
}

static void fill_arguments(struct bench_serving *serving, const cli_context *cli)
{
    size_t count = 0;
    serving->arguments[count++] = serving->program;
    add_option(serving, &count, "serve", serving->operand);
    add_option(serving, &count, "--socket", serving->socket);
    add_option(serving, &count, "--config", cli->config_path);
    add_option(serving, &count, "--backend", cli->backend);
    for (const char *const *setting = serving->settings; *setting; setting++)
        add_option(serving, &count, "--set", *setting);
    serving->arguments[count] = NULL;
}

static gyre_status prepare_command(struct bench_serving *serving, const bench_case *self,
                                   const bench_options *options)
{
    gyre_status status = gyre_temporary_make(&serving->folder, "/tmp");
    if (status == GYRE_OK)
        status = find_program(serving);
    if (status == GYRE_OK)
        status = find_kernel(serving, self->shape.kind);
    if (status == GYRE_OK)
        status = bench_settings(self, options, NULL, serving->pin, serving->settings);
    if (status != GYRE_OK)
        return status;
    snprintf(serving->socket, sizeof serving->socket, "%s/socket", serving->folder.path);
    snprintf(serving->said, sizeof serving->said, "%s/said", serving->folder.path);
    fill_arguments(serving, options->cli);
    return GYRE_OK;
}

/* ---- the process ---- */

/* Runs in a forked child, and calls only functions that are safe there. */
static void become_server(const struct bench_serving *serving, pid_t parent, int words)
{
    const int errors = open(serving->said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || errors < 0 || dup2(errors, STDERR_FILENO) < 0 ||
        dup2(words, STDOUT_FILENO) < 0)
        _exit(CLI_FAILED);
    execv(serving->program, (char *const *)(uintptr_t)serving->arguments);
    _exit(CLI_FAILED);
}

static gyre_status start_process(struct bench_serving *serving)
{
    int ends[2];
    const pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no pipe for a server: %s", strerror(errno));
    serving->process = fork();
    if (serving->process == 0)
        become_server(serving, self, ends[1]);
    close(ends[1]);
    serving->words = ends[0];
    if (serving->process > 0)
        return GYRE_OK;
    serving->process = 0;
    return gyre_error_set(GYRE_EXHAUSTED, "no process for a server: %s", strerror(errno));
}

/* Fails with the words of the server, on one line. */
static gyre_status tell_failed(const struct bench_serving *serving)
{
    char text[400];
    FILE *file = fopen(serving->said, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text; (at = strchr(at, '\n')); at++)
        *at = at[1] ? ';' : '\0';
    return gyre_error_set(GYRE_FAILED, "a server did not start within %d ms: %s", BENCH_PATIENCE_MS, text);
}

/* Waits for the line that the server prints when it is ready. */
static gyre_status await_ready(const struct bench_serving *serving)
{
    char line[512];
    struct pollfd wait = {.fd = serving->words, .events = POLLIN};
    int ready;
    do
        ready = poll(&wait, 1, BENCH_PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    ssize_t length = ready > 0 ? read(serving->words, line, sizeof line) : 0;
    return length > 0 ? GYRE_OK : tell_failed(serving);
}

/* ---- the session ---- */

gyre_status bench_serving_start(const bench_case *self, const bench_options *options, bench_session *session)
{
    struct bench_serving *serving = calloc(1, sizeof *serving);
    if (!serving)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a server");
    session->serving = serving;
    serving->words = -1;
    gyre_status status = prepare_command(serving, self, options);
    if (status == GYRE_OK)
        status = start_process(serving);
    if (status == GYRE_OK)
        status = await_ready(serving);
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = serving->socket,
                             .capacity = self->shape.capacity,
                             .deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS)};
    if (status == GYRE_OK)
        status = gyre_attach(bench_kernel_name(self->shape.kind), &desc, &session->queue);
    if (status == GYRE_OK)
        bench_cpu_with(serving->process);
    return status;
}

static void end_process(const struct bench_serving *serving)
{
    kill(serving->process, SIGTERM);
    while (waitpid(serving->process, NULL, 0) < 0 && errno == EINTR)
        ;
}

void bench_serving_end(bench_session *session)
{
    struct bench_serving *serving = session->serving;
    if (!serving)
        return;
    session->serving = NULL;
    bench_cpu_with(0);
    gyre_queue_close(session->queue);
    if (serving->process)
        end_process(serving);
    if (serving->words >= 0)
        close(serving->words);
    gyre_temporary_remove(&serving->folder);
    free(serving);
}
