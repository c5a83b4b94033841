/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches many kernels on the CPU backend, lets them idle, and counts threads and memory; calls each, lets them idle
 * again and counts again; deactivates and ends them. Exit code 77: this system cannot watch several kernels from one
 * thread (Linux before 5.16), so each has its own.
 */
#include <gyre/gyre.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "examples/vector_add/vector_add.h"
#include "tests/sanitizers.h"

#define UNDER_SANITIZER (UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER)

enum { THREADS_MOST = 64, RESIDENT_MOST_MB = 150, DESCRIPTORS = 4096, LEFT_OUT = 77 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A number of /proc/self/status. */
static long status_of(const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* Kernels give their threads back a moment after their last message: until there are few, or the test's time is up. */
static void await_few_threads(const char *when)
{
    const struct timespec nap = {0, 5000000};
    while (status_of("Threads:") > THREADS_MOST)
        nanosleep(&nap, NULL);
    printf("%s: %ld threads, %ld MB\n", when, status_of("Threads:"), status_of("VmRSS:") / 1024);
}

static int wrong(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gyre_error_text());
    return 1;
}

static int launch_all(gyre_runtime *runtime, const char *source, gyre_kernel **kernels, int count)
{
    double since_ms = 0;
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "add_%d", i);
        const gyre_launch_desc desc = {.size = sizeof desc, .source = source, .name = name};
        if (gyre_launch(runtime, &desc, &kernels[i]) != GYRE_OK)
            return wrong("launch");
        if (i == 0)
            since_ms = now_ms(); /* the first one is compiled */
    }
    printf("%d launches, %.2f ms each\n", count, (now_ms() - since_ms) / (count - 1));
    return 0;
}

static int call_all(gyre_kernel **kernels, int count)
{
    for (int i = 0; i < count; i++) {
        const add_request request = {.a = {(float)i}, .b = {1}};
        add_reply reply = {0};
        if (gyre_call(gyre_kernel_queue(kernels[i]), &request, sizeof request, &reply, sizeof reply, NULL,
                      GYRE_FOREVER) != GYRE_OK)
            return wrong("call");
        if ((int)reply.sum[0] != i + 1)
            return fprintf(stderr, "kernel %d replied %g, expected %d\n", i, (double)reply.sum[0], i + 1);
    }
    return 0;
}

/* Kernels at rest hear orders as others do. */
static int turn_off_and_on(gyre_kernel **kernels, int count)
{
    for (int i = 0; i < count; i++)
        if (gyre_kernel_deactivate(kernels[i], GYRE_FOREVER) != GYRE_OK)
            return wrong("deactivate");
    for (int i = 0; i < count; i++)
        if (gyre_kernel_activate(kernels[i], GYRE_FOREVER) != GYRE_OK)
            return wrong("activate");
    return 0;
}

static int try_all(gyre_runtime *runtime, const char *source, gyre_kernel **kernels, int count)
{
    if (launch_all(runtime, source, kernels, count))
        return 1;
    await_few_threads("idle");
    if (call_all(kernels, count))
        return 1;
    await_few_threads("idle after a call of each");
    const long resident_mb = status_of("VmRSS:") / 1024;
    if (!UNDER_SANITIZER && resident_mb > RESIDENT_MOST_MB)
        return fprintf(stderr, "%d idle kernels hold %ld MB, expected %d at most\n", count, resident_mb,
                       RESIDENT_MOST_MB);
    if (turn_off_and_on(kernels, count))
        return 1;
    return call_all(kernels, count);
}

static int can_watch(void)
{
    return syscall(449 /* futex_waitv */, NULL, 0, 0, NULL, CLOCK_MONOTONIC) >= 0 || errno != ENOSYS;
}

int main(int argc, char **argv)
{
    const int count = UNDER_SANITIZER ? 200 : 1000;
    static const char *const settings[] = {"gyre.backend=cpu", "backend.cpu.isolation=none", NULL};
    const gyre_open_desc open = {.size = sizeof open, .settings = settings};
    const struct rlimit descriptors = {DESCRIPTORS, DESCRIPTORS};
    gyre_runtime *runtime;
    if (argc != 2)
        return fprintf(stderr, "usage: test_many FILE\n");
    if (!can_watch() || setrlimit(RLIMIT_NOFILE, &descriptors) != 0) {
        printf("this system cannot watch several kernels from one thread, or open %d files\n", DESCRIPTORS);
        return LEFT_OUT;
    }
    if (gyre_open(&open, &runtime) != GYRE_OK)
        return wrong("open");
    gyre_kernel **kernels = calloc((size_t)count, sizeof *kernels);
    const int failed = !kernels || try_all(runtime, argv[1], kernels, count);
    gyre_close(runtime);
    free(kernels);
    return failed != 0;
}
