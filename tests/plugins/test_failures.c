/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole life of a kernel through the public API, with the n-th call into a backend failing, for all
 * n. usage: test_failures PLUGIN. Each failure reaches the caller with its sentence, nothing is left behind
 * (memory: AddressSanitizer; threads and descriptors: counted), and the contract lines hold: the checking
 * plugin sits on top. The order is checking -> fail-nth -> PLUGIN.
 */
#include "gyre/gyre.h"
#include "tally.h"
#include "../patience.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MAX = 200 };

static int violations, problems;
static const char *plugin;

static void problem(unsigned n, const char *what)
{
    problems++;
    fprintf(stderr, "with call %u failing: %s\n", n, what);
}

static void listen(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    if (strncmp(text, "contract:", 9) != 0)
        return;
    violations++;
    fprintf(stderr, "%s\n", text);
}

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *stream = opendir(folder);
    while (stream && readdir(stream))
        count++;
    if (stream)
        closedir(stream);
    return count;
}

/* A thread that was joined may stand there for a moment more. */
static bool has_more_threads_than(size_t count)
{
    for (int i = 0; i < 2000; i++) {
        if (entries("/proc/self/task") <= count)
            return false;
        usleep(1000);
    }
    return true;
}

static gyre_status open_runtime(const char *cache, unsigned n, gyre_runtime **out)
{
    char cache_dir[256], fail_call[64], wraps[4096];
    snprintf(cache_dir, sizeof cache_dir, "cache_dir=%s", cache);
    snprintf(fail_call, sizeof fail_call, "backend.tried.fail_call=%u", n);
    snprintf(wraps, sizeof wraps, "backend.tried.wraps=%s", plugin);
    const char *const settings[] = {"backend=tried",
                                    "check=off",
                                    "remember_probes=false",
                                    "backend.tried.library=" GYRE_TEST_PLUGINS "checking.so",
                                    "backend.tried.checks=" GYRE_TEST_PLUGINS "fail-nth.so",
                                    wraps,
                                    cache_dir,
                                    fail_call,
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings, .log = listen};
    return gyre_open(&desc, out);
}

static gyre_status make_buffers(gyre_runtime *runtime, gyre_buffer *buffers[2])
{
    const uint32_t weights[4] = {1, 2, 3, 4};
    gyre_status status = gyre_buffer_alloc(runtime, NULL, 0, sizeof weights, &buffers[0]);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(runtime, NULL, 0, sizeof weights, &buffers[1]);
    return status == GYRE_OK ? gyre_buffer_upload(buffers[0], 0, weights, sizeof weights) : status;
}

static gyre_status launch(gyre_runtime *runtime, gyre_buffer *buffers[2], gyre_kernel **out)
{
    const tally_number initial = {100};
    const gyre_binding_name bindings[] = {{"counts", buffers[1]}, {"weights", buffers[0]}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNEL,
                                   .request = GYRE_TYPE(tally_number),
                                   .reply = GYRE_TYPE(tally_number),
                                   .state = &initial,
                                   .state_size = sizeof initial,
                                   .bindings = bindings,
                                   .binding_count = 2};
    return gyre_launch(runtime, &desc, out);
}

static gyre_status call(gyre_queue *queue, uint64_t value, uint64_t expected)
{
    tally_number request = {value}, reply = {0};
    gyre_status status =
        gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(patiently(5000)));
    if (status == GYRE_OK && reply.value != expected)
        problem(0, "a wrong reply");
    return status;
}

/* Two queues, a pause, the end and another beginning. */
static gyre_status live(gyre_kernel *kernel)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "second"};
    gyre_queue *second = NULL;
    gyre_status status = call(gyre_kernel_queue(kernel), 5, 105);
    if (status == GYRE_OK)
        status = gyre_queue_open(kernel, &desc, &second);
    if (status == GYRE_OK)
        status = call(second, 6, 111);
    if (status == GYRE_OK)
        status = gyre_kernel_deactivate(kernel, gyre_in_ms(patiently(5000)));
    if (status == GYRE_OK)
        status = gyre_kernel_activate(kernel, gyre_in_ms(patiently(5000)));
    if (status == GYRE_OK)
        status = gyre_kernel_terminate(kernel, gyre_in_ms(patiently(5000)), NULL);
    if (status == GYRE_OK)
        status = gyre_kernel_relaunch(kernel);
    if (status == GYRE_OK)
        status = call(gyre_kernel_queue(kernel), 1, 101);
    return status;
}

/* One run, with the n-th call failing. OK when no operation of this API failed. */
static gyre_status run(const char *cache, unsigned n, char reason[1024])
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    gyre_buffer *buffers[2] = {NULL, NULL};
    uint32_t counts[4];
    gyre_status status = open_runtime(cache, n, &runtime);
    if (status == GYRE_OK)
        status = make_buffers(runtime, buffers);
    if (status == GYRE_OK)
        status = launch(runtime, buffers, &kernel);
    if (status == GYRE_OK)
        status = live(kernel);
    if (status == GYRE_OK)
        status = gyre_buffer_download(buffers[1], 0, counts, sizeof counts);
    snprintf(reason, 1024, "%s", status == GYRE_OK ? "" : gyre_error_text());
    if (status == GYRE_OK && (counts[0] != 0 || counts[1] != 4 || counts[2] != 3 || counts[3] != 0))
        problem(n, "wrong counts in the buffer");
    gyre_kernel_release(kernel);
    gyre_close(runtime);
    return status;
}

/* Runs until the calls of one life are all behind: several runs in a row in which nothing failed. */
static unsigned run_all(const char *cache)
{
    unsigned failures = 0, calm = 0;
    for (unsigned n = 1; n < CALLS_MAX && calm < 5; n++) {
        char reason[1024];
        size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
        gyre_status status = run(cache, n, reason);
        if (status != GYRE_OK) {
            failures++;
            calm = 0;
            if (!strstr(reason, "fails on purpose"))
                problem(n, reason);
        } else {
            calm++;
        }
        if (n > 1 && entries("/proc/self/fd") != descriptors)
            problem(n, "descriptors are left behind");
        if (n > 1 && has_more_threads_than(threads))
            problem(n, "threads are left behind");
    }
    if (calm < 5)
        problem(CALLS_MAX, "there was no end of calls");
    return failures;
}

int main(int argc, char **argv)
{
    char cache[] = "/tmp/gyre-test-XXXXXX", command[64], reason[1024];
    if (argc != 2 || !mkdtemp(cache))
        return 1;
    plugin = argv[1];
    if (run(cache, 0, reason) != GYRE_OK)
        problem(0, reason);
    unsigned failures = run_all(cache);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (system(command) != 0)
        problem(0, "the cache folder cannot be removed");
    printf("%u calls failed on purpose and were survived, %d problems, %d violations of the contract\n",
           failures, problems, violations);
    return failures < 10 || problems || violations;
}
