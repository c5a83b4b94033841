/* SPDX-License-Identifier: Apache-2.0 */
/* See workers.h. The log is written by threads of the library, so it has a lock. */
#include "workers.h"
#include "../../../patience.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES_MAX = 4096, SETTINGS_MAX = 16, SKIPPED = 77 };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char *lines[LINES_MAX];
static size_t line_count;

void require_(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: required: %s\n  last error: %s\n", file, line, what, gyre_error_text());
    pthread_mutex_lock(&log_lock);
    for (size_t i = line_count > 20 ? line_count - 20 : 0; i < line_count; i++)
        fprintf(stderr, "  log: %s\n", lines[i]);
    _Exit(EXIT_FAILURE);
}

int run_named(int argc, char **argv, void (*prepare)(void), const named_case *cases, size_t count)
{
    for (size_t i = 0; argc == 2 && i < count; i++) {
        if (strcmp(cases[i].name, argv[1]) != 0)
            continue;
        prepare();
        cases[i].run();
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
}

static void keep_line(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    pthread_mutex_lock(&log_lock);
    if (line_count < LINES_MAX)
        lines[line_count++] = strdup(text);
    pthread_mutex_unlock(&log_lock);
}

size_t log_lines_with(const char *text)
{
    size_t found = 0;
    pthread_mutex_lock(&log_lock);
    for (size_t i = 0; i < line_count; i++)
        found += strstr(lines[i], text) != NULL;
    pthread_mutex_unlock(&log_lock);
    return found;
}

struct process {
    char command[64], state;
    long parent;
    unsigned long long begun; /* in ticks of the machine's clock */
};

/* False: the process is gone. */
static bool read_process(const char *pid, struct process *process)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    char *open = strchr(text, '('), *end = strrchr(text, ')');
    if (!open || !end)
        return false;
    *end = '\0';
    snprintf(process->command, sizeof process->command, "%.63s", open + 1);
    return sscanf(end + 2, "%c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                  &process->state, &process->parent, &process->begun) == 3;
}

/* The guard has the name of a worker too until it takes its own. */
static bool is_guard(const char *pid)
{
    char path[300], text[512] = "";
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    return memmem(text, length, "guard", sizeof "guard") != NULL;
}

/* Whether the first is to be taken for the worker: the one that lives, and of those that do the older one. */
static bool comes_before(const struct process *process, const struct process *other)
{
    const bool lives = process->state != 'Z', other_lives = other->state != 'Z';
    return lives != other_lives ? lives : process->begun < other->begun;
}

/*
 * The oldest such child: a standby worker that has just been started has the name of a worker until it takes its own,
 * and may have a lower number, since numbers begin again at pid_max. One that died stays a while, until it is reaped.
 */
static pid_t child_of(pid_t parent, const char *name)
{
    pid_t found = 0;
    struct process process, oldest = {.state = 'Z', .begun = UINT64_MAX};
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &process) &&
            process.parent == parent && !strcmp(process.command, name) && comes_before(&process, &oldest) &&
            !is_guard(entry->d_name)) {
            oldest = process;
            found = (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    if (folder)
        closedir(folder);
    return found;
}

pid_t worker_of(pid_t parent)
{
    return child_of(parent, "gyre-worker");
}

pid_t standby_of(pid_t parent)
{
    return child_of(parent, "gyre-standby");
}

bool kill_worker(void)
{
    const pid_t worker = worker_of(getpid());
    return worker > 0 && kill(worker, SIGKILL) == 0; /* 0 would be this program, and who runs it */
}

/* ---- stopping ---- */

void halt_worker(pid_t worker)
{
    siginfo_t about = {0};
    require(worker > 0 && kill(worker, SIGSTOP) == 0);
    /* a parent is told when all threads have stopped: the one that takes the signal may get its processor late */
    require(waitid(P_PID, (id_t)worker, &about, WSTOPPED | WNOWAIT) == 0 && about.si_code == CLD_STOPPED);
}

static struct {
    pthread_t thread;
    int process; /* a descriptor, since numbers are used again */
    int bell;    /* a pipe's end: closed to end the wait */
    unsigned length_ms;
    bool runs;
} stopped;

static void *continue_later(void *argument)
{
    int wake = (int)(intptr_t)argument;
    struct pollfd bell = {.fd = wake, .events = POLLIN};
    poll(&bell, 1, (int)stopped.length_ms);
    syscall(SYS_pidfd_send_signal, stopped.process, SIGCONT, NULL, 0);
    close(stopped.process);
    close(wake);
    return NULL;
}

void go_on_stopped(void)
{
    if (!stopped.runs)
        return;
    close(stopped.bell);
    pthread_join(stopped.thread, NULL);
    stopped.runs = false;
}

void stop_worker(pid_t worker, unsigned length_ms)
{
    int ends[2];
    go_on_stopped();
    stopped.process = (int)syscall(SYS_pidfd_open, worker, 0);
    if (stopped.process < 0)
        return; /* it died this very moment */
    require(pipe2(ends, O_CLOEXEC) == 0);
    stopped.length_ms = length_ms;
    stopped.bell = ends[1];
    syscall(SYS_pidfd_send_signal, stopped.process, SIGSTOP, NULL, 0);
    stopped.runs = pthread_create(&stopped.thread, NULL, continue_later, (void *)(intptr_t)ends[0]) == 0;
    require(stopped.runs);
}

bool is_alive(pid_t pid)
{
    char number[32];
    struct process process;
    snprintf(number, sizeof number, "%ld", (long)pid);
    return read_process(number, &process) && process.state != 'Z';
}

size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static char fault_folder[64];

static void remove_fault_folder(void)
{
    char path[sizeof fault_folder + 264];
    DIR *folder = opendir(fault_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", fault_folder, entry->d_name);
        unlink(path); /* not the folder itself and its parent, which are none of its files */
    }
    if (folder)
        closedir(folder);
    rmdir(fault_folder);
}

void make_fault_folder(void)
{
    snprintf(fault_folder, sizeof fault_folder, "/tmp/gyre-crash-XXXXXX");
    require(mkdtemp(fault_folder) != NULL);
    setenv("CRASH_FOLDER", fault_folder, 1);
    atexit(remove_fault_folder);
}

void let_handlers_go_on(void)
{
    char path[sizeof fault_folder + 8];
    snprintf(path, sizeof path, "%s/go_on", fault_folder);
    const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    require(file >= 0);
    close(file);
}

const char *patient_setting(const char *key, uint64_t ms)
{
    static char settings[4][96];
    static unsigned next;
    char *setting = settings[next++ % 4];
    snprintf(setting, sizeof settings[0], "%s=%llu", key, (unsigned long long)patiently(ms));
    return setting;
}

gyre_runtime *open_isolated(const char *const *settings)
{
    char isolated[64];
    const char *all[SETTINGS_MAX + 4] = {isolated, "gyre.check=off", "log_level=info"};
    gyre_runtime *runtime = NULL;
    for (size_t i = 0; settings && settings[i] && i < SETTINGS_MAX; i++)
        all[3 + i] = settings[i];
    const char *const crash = getenv("CRASH_BACKEND"), *const attach = getenv("ATTACH_BACKEND");
    const char *const backend = crash ? crash : attach ? attach : "cpu";
    snprintf(isolated, sizeof isolated, "backend.%.32s.isolation=process", crash ? crash : "cpu");
    gyre_open_desc open = {.size = sizeof open, .settings = all, .backend = backend, .log = keep_line};
    const gyre_status status = gyre_open(&open, &runtime);
    if (crash && (status == GYRE_UNAVAILABLE || status == GYRE_NOT_FOUND)) {
        printf("%s\n", gyre_error_text());
        exit(SKIPPED);
    }
    require(status == GYRE_OK);
    return runtime;
}

gyre_kernel *launch_as(gyre_runtime *runtime, const char *name, const char *kernel)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = kernel, .name = name};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

gyre_kernel *launch_fragile(gyre_runtime *runtime, const char *kernel, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = CRASH_KERNELS, .kernel = kernel, .blocks = blocks};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

uint64_t mixed(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

uint64_t soon(void)
{
    return gyre_in_ms(patiently(20000));
}
