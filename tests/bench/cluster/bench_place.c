/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cluster is, and the processes of a measurement (bench_cluster.h). */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_cluster.h"

static char folder[256];
static const char *transport;

void bench_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "bench_cluster: %s\n", what);
    exit(1);
}

void bench_must(gyre_status status, const char *what)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "bench_cluster: %s: %s\n", what, gyre_error_text());
    exit(1);
}

void bench_place_begin(const char *name)
{
    const char *place = getenv("TMPDIR"), *given = getenv("BENCH_CLUSTER_FOLDER");
    transport = name;
    snprintf(folder, sizeof folder, "%s", given ? given : "");
    if (given)
        return;
    snprintf(folder, sizeof folder, "%s/gyre-bench-XXXXXX", place ? place : "/var/tmp");
    bench_require(mkdtemp(folder) != NULL, "no folder can be made in TMPDIR");
    setenv("BENCH_CLUSTER_FOLDER", folder, 1);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void bench_place_end(void)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *bench_transport(void)
{
    return transport;
}

const char *const *bench_settings_of(const char *app, int shards, const char *more)
{
    static char texts[6][320];
    static const char *settings[BENCH_SETTINGS];
    const char *url = getenv("CLUSTER_URL"), *replicas = getenv("CLUSTER_REPLICAS");
    size_t count = 0;
    snprintf(texts[0], sizeof texts[0], "cluster.app=%s", app);
    snprintf(texts[1], sizeof texts[1], "cluster.transport=%s", transport);
    snprintf(texts[2], sizeof texts[2], "cluster.folder=%s", folder);
    snprintf(texts[3], sizeof texts[3], "cluster.shards=%d", shards);
    snprintf(texts[4], sizeof texts[4], "cluster.url=%s", url ? url : "");
    snprintf(texts[5], sizeof texts[5], "cluster.replicas=%s", replicas ? replicas : "1");
    for (; count < 6; count++)
        settings[count] = texts[count];
    settings[count++] = "cluster.settle_ms=500";
    settings[count++] = "cluster.reach_ms=60000";
    settings[count++] = "observe.enabled=false";
    settings[count++] = more;
    settings[count] = NULL;
    return settings;
}

/* ---- processes ---- */

enum { READY = 3 };

pid_t bench_start(const char *const *arguments)
{
    int ready[2];
    char byte = 0;
    bench_require(pipe2(ready, O_CLOEXEC) == 0, "no pipe can be made");
    const pid_t child = fork();
    bench_require(child >= 0, "no process can be started");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ready[1], READY);
        execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(ready[1]);
    bench_require(read(ready[0], &byte, 1) == 1, "a process that takes part did not start");
    close(ready[0]);
    return child;
}

void bench_ready(void)
{
    bench_require(write(READY, "", 1) == 1, "the process that started this one is gone");
    close(READY);
}

void bench_end(pid_t process, bool in_order)
{
    int status = 0;
    kill(process, in_order ? SIGTERM : SIGKILL);
    waitpid(process, &status, 0);
    bench_require(!in_order || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
                  "a process that took part failed");
}

static uint64_t cpu_of(pid_t process)
{
    clockid_t clock;
    struct timespec time = {0};
    if (process <= 0 || clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* CLUSTER_SERVER may name several, separated by blanks. */
uint64_t bench_cpu_of_servers(void)
{
    uint64_t sum = 0;
    char *end = NULL;
    for (const char *at = getenv("CLUSTER_SERVER"); at && *at; at = end) {
        const long server = strtol(at, &end, 10);
        if (end == at)
            break;
        sum += cpu_of((pid_t)server);
    }
    return sum;
}

uint64_t bench_cpu_of_all(pid_t partner)
{
    return cpu_of(getpid()) + cpu_of(partner) + bench_cpu_of_servers();
}
