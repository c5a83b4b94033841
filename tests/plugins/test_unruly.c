/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends that break a promise of backend.h (unruly.c), through the public API: each is told in words, and a kernel
 * that may still be there is not released; one of which a compile is the end, and one that is busy for long. usage: test_unruly
 */
#include "../patience.h"
#include "gyre/gyre.h"
#include "gyre/observe.h"
#include "gyre/pipeline.h"
#include "stuck.h"
#include "tally.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int problems;

static void expect(const char *way, gyre_status status, gyre_status wanted, const char *words)
{
    const char *said = status == GYRE_OK ? "" : gyre_error_text();
    if (status == wanted && strstr(said, words))
        return;
    problems++;
    fprintf(stderr, "%s: expected %s with '%s', found %s with '%s'\n", way, gyre_status_word(wanted), words,
            gyre_status_word(status), said);
}

static gyre_runtime *open_runtime(const char *way, const char *check)
{
    char setting[64];
    gyre_runtime *runtime = NULL;
    snprintf(setting, sizeof setting, "backend.tried.way=%s", way);
    const char *const settings[] = {"backend=tried",
                                    check,
                                    "cache_size=0",
                                    "remember_probes=false",
                                    "backend.tried.library=" GYRE_TEST_PLUGINS "unruly.so",
                                    "backend.tried.wraps=" GYRE_CPU_PLUGIN,
                                    "kernel.default.launch_timeout_ms=300",
                                    setting,
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings};
    expect(way, gyre_open(&desc, &runtime), GYRE_OK, "");
    return runtime;
}

static gyre_status launch(gyre_runtime *runtime, gyre_kernel **out)
{
    gyre_buffer *buffers[2] = {NULL, NULL};
    *out = NULL;
    for (int i = 0; i < 2; i++)
        if (gyre_buffer_alloc(runtime, NULL, 0, 4 * sizeof(uint32_t), &buffers[i]) != GYRE_OK)
            return GYRE_EXHAUSTED;
    const gyre_binding_name bindings[] = {{"counts", buffers[1]}, {"weights", buffers[0]}};
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = GYRE_TEST_KERNEL, .bindings = bindings, .binding_count = 2};
    return gyre_launch(runtime, &desc, out);
}

/* A kernel with ports, on a device whose kernels are no stages of pipelines: told by the check, and also without it. */
static void ports_are_refused(const char *check, const char *words)
{
    gyre_kernel *kernel;
    gyre_runtime *runtime = open_runtime("portless", check);
    const gyre_launch_desc desc = {.size = sizeof desc, .source = GYRE_TEST_SPLIT};
    gyre_status status = gyre_launch(runtime, &desc, &kernel);
    if (status == GYRE_UNAVAILABLE) /* no libclang here */
        expect("portless", status, GYRE_UNAVAILABLE, "the setting check = on asks for a check");
    else
        expect("portless", status, GYRE_UNIMPLEMENTED, words);
    gyre_close(runtime);
}

static void fails_to_launch(const char *way, gyre_status wanted, const char *words)
{
    gyre_kernel *kernel;
    gyre_runtime *runtime = open_runtime(way, "check=off");
    expect(way, launch(runtime, &kernel), wanted, words);
    gyre_close(runtime);
}

static void a_wait_without_a_status_releases_nothing(void)
{
    gyre_kernel *kernel;
    gyre_runtime *runtime = open_runtime("strange", "check=off");
    expect("strange", launch(runtime, &kernel), GYRE_OK, "");
    expect(
        "strange", gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL), GYRE_INTERNAL,
        "whether kernel 'tally' has stopped is not known: backend 'tried': wait returned -7, which is no status: "
        "the plugin is faulty");
    expect("strange again", gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL), GYRE_OK, "");
    gyre_close(runtime);
}

/* The process would end there. */
static void a_fragile_compiler_is_not_asked_about_what_the_check_refuses(void)
{
    gyre_kernel *kernel;
    gyre_runtime *runtime = open_runtime("fragile", "check=on");
    const gyre_launch_desc desc = {.size = sizeof desc, .source = GYRE_TEST_RECURSIVE};
    gyre_status status = gyre_launch(runtime, &desc, &kernel);
    if (status ==
        GYRE_UNAVAILABLE) /* no libclang here: what was demanded could not be had, nor is it asked then */
        expect("fragile", status, GYRE_UNAVAILABLE, "the setting check = on asks for a check");
    else
        expect("fragile", status, GYRE_INVALID, "recursive.gyre.c:7: recursion: fibonacci -> fibonacci");
    gyre_close(runtime);
}

/* ---- a device that is busy for long ---- */

static gyre_buffer *busied;

static void *keep_busy(void *stuck)
{
    expect("stuck", gyre_buffer_upload(busied, 0, stuck, sizeof(struct stuck)), GYRE_OK, "");
    return NULL;
}

/* How many looks the only observation file of the folder tells of; 0: there is no file yet. */
static uint64_t looks_told(const char *folder)
{
    char pattern[96];
    glob_t files;
    gyre_observe_head head = {.looks = 0};
    snprintf(pattern, sizeof pattern, "%s/*.obs", folder);
    if (glob(pattern, 0, NULL, &files) == 0) {
        const int file = open(files.gl_pathv[0], O_RDONLY | O_CLOEXEC);
        if (read(file, &head, sizeof head) != (ssize_t)sizeof head)
            head.looks = 0;
        close(file);
        globfree(&files);
    }
    return head.looks;
}

static void await_looks(const char *folder, uint64_t more)
{
    const uint64_t goal = looks_told(folder) + more, until = gyre_in_ms(patiently(20000));
    while (looks_told(folder) < goal && gyre_in_ms(0) < until)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (looks_told(folder) < goal) {
        problems++;
        fprintf(stderr, "stuck: nobody looks at the kernels while their device is busy\n");
    }
}

static void open_burst(gyre_runtime *runtime)
{
    static const char *const first = "split", *const last = "count";
    const gyre_link_desc link = {.size = sizeof link, .from = "split.words", .to = "count"};
    const gyre_pipeline_desc pipeline = {.size = sizeof pipeline,
                                         .name = "burst",
                                         .entries = &first,
                                         .entry_count = 1,
                                         .answers = &last,
                                         .answer_count = 1,
                                         .links = &link,
                                         .link_count = 1};
    const char *const names[] = {first, last};
    gyre_kernel *kernel;
    gyre_pipeline *opened;
    for (int i = 0; i < 2; i++) {
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = GYRE_TEST_LINKS, .kernel = names[i], .name = names[i]};
        expect("stuck", gyre_launch(runtime, &desc, &kernel), GYRE_OK, "");
    }
    expect("stuck", gyre_pipeline_open(runtime, &pipeline, &opened), GYRE_OK, "");
}

/* Who looks at pipelines for the observation file holds locks that launches need, so no look may wait for the device. */
static void a_busy_device_stops_no_look_at_its_links(void)
{
    char folder[] = "/tmp/gyre-test-XXXXXX", file[96];
    pthread_t thread;
    struct stuck stuck = {.magic = STUCK_MAGIC};
    expect("stuck", mkdtemp(folder) ? GYRE_OK : GYRE_EXHAUSTED, GYRE_OK, "");
    snprintf(file, sizeof file, "GYRE_OBSERVE__FOLDER=%s", folder);
    putenv(file);
    putenv("GYRE_OBSERVE__EVERY_MS=10");
    gyre_runtime *runtime = open_runtime("stuck", "check=off");
    open_burst(runtime);
    expect("stuck", gyre_buffer_alloc(runtime, NULL, 0, sizeof stuck, &busied), GYRE_OK, "");
    await_looks(folder, 2);
    if (pthread_create(&thread, NULL, keep_busy, &stuck) != 0)
        abort();
    while (!atomic_load(&stuck.entered))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    await_looks(folder, 3);
    atomic_store(&stuck.may_go, 1);
    pthread_join(thread, NULL);
    gyre_close(runtime);
    unsetenv("GYRE_OBSERVE__FOLDER");
    unsetenv("GYRE_OBSERVE__EVERY_MS");
    rmdir(folder);
}

int main(void)
{
    fails_to_launch("mute", GYRE_TIMEOUT, "kernel 'tally' was launched and did not report");
    fails_to_launch("nowhere", GYRE_INTERNAL,
                    "backend 'tried': queue_alloc succeeded without a result: the plugin is faulty");
    fails_to_launch("paperless", GYRE_INTERNAL,
                    "backend 'tried': compile succeeded without a result: the plugin is faulty");
    fails_to_launch("ports-many", GYRE_INTERNAL,
                    "backend 'tried': module_kernel tells 9 ports for kernel 'tally', which has 8 at most");
    fails_to_launch("ports-unlisted", GYRE_INTERNAL,
                    "backend 'tried': module_kernel tells no list of ports for kernel 'tally'");
    fails_to_launch("ports-nameless", GYRE_INTERNAL,
                    "backend 'tried': module_kernel tells no name or type for port 0 of kernel 'tally'");
    fails_to_launch("ports-misnamed", GYRE_INVALID,
                    "verify: port 0 of kernel 'tally' is named '1st', which is no C identifier");
    fails_to_launch("ports-twice", GYRE_INVALID,
                    "verify: two ports of kernel 'tally' are named 'a': rename one");
    fails_to_launch("ports-silent", GYRE_INVALID,
                    "verify: one call of kernel 'tally' may emit 0 messages to port 'a': expected 1 to 4096");
    fails_to_launch("ports-endless", GYRE_INVALID, "may emit 4097 messages to port 'a': expected 1 to 4096");
    ports_are_refused(
        "check=on", "split.gyre.c:26: kernel 'split' has ports, which the backend 'tried' does not run yet");
    ports_are_refused("check=off",
                      "verify: kernel 'split' has ports, which the backend 'tried' does not run yet");
    a_wait_without_a_status_releases_nothing();
    a_fragile_compiler_is_not_asked_about_what_the_check_refuses();
    a_busy_device_stops_no_look_at_its_links();
    return problems != 0;
}
