/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that does not return: whatever is closed or released then comes back within stop_timeout_ms, with
 * a line in the log, and nobody who waits in a call stays there. Its thread runs until the process ends.
 */
#include "stress.h"
#include "../../../patience.h"

#include <fcntl.h>
#include <gyre/observe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STOP_TIMEOUT_MS = 200, QUICK_MS = 1500 };

static char log_text[65536]; /* error lines */
static uint32_t lines;       /* atomic: lines of any level */
static uint32_t is_closed;   /* atomic: the runtime is gone, and its log must be silent */

_Noreturn void require_(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: required: %s\n  last error: %s\n  log: %s\n", file, line, what, gyre_error_text(),
            log_text);
    _Exit(EXIT_FAILURE);
}

/* Errors come from this thread alone; the handler's own lines are only counted. */
static void keep_log(void *context, int level, const char *text)
{
    (void)context;
    require(!__atomic_load_n(&is_closed, __ATOMIC_ACQUIRE));
    __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED);
    if (level != 1)
        return;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", text);
}

struct stuck {
    gyre_runtime *runtime;
    gyre_buffer *buffer;
    gyre_kernel *kernel;
    gyre_queue *queue;
};

static void get_stuck(struct stuck *stuck, char **settings)
{
    const char *all[16] = {"kernel.default.stop_timeout_ms=200", "log_level=info", NULL};
    for (int i = 2; *settings && i < 15; i++)
        all[i] = *settings++;
    gyre_open_desc open = {.size = sizeof open, .settings = all, .log = keep_log};
    block_1 request = {{1}};
    must(gyre_open(&open, &stuck->runtime));
    must(gyre_buffer_alloc(stuck->runtime, NULL, 0, 64, &stuck->buffer));
    gyre_binding_name binding = {"turns", stuck->buffer};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = STRESS_KERNELS,
                             .kernel = "endless",
                             .blocks = 1,
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(stuck->runtime, &desc, &stuck->kernel));
    stuck->queue = gyre_kernel_queue(stuck->kernel);
    must(gyre_send(stuck->queue, &request, sizeof request, NULL, GYRE_NO_WAIT));
    uint32_t before = __atomic_load_n(&lines, __ATOMIC_RELAXED);
    for (uint64_t limit = gyre_in_ms(patiently(20000)); __atomic_load_n(&lines, __ATOMIC_RELAXED) == before;)
        require(gyre_now_ns() < limit);
}

struct caller {
    pthread_t thread;
    gyre_queue *queue;
    gyre_status status;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    block_1 request = {{0}}, reply;
    caller->status =
        gyre_call(caller->queue, &request, sizeof request, &reply, sizeof reply, NULL, GYRE_FOREVER);
    return NULL;
}

static void *receive(void *argument)
{
    struct caller *caller = argument;
    block_1 reply;
    caller->status = gyre_receive(caller->queue, &reply, sizeof reply, NULL, GYRE_FOREVER);
    return NULL;
}

static void begin(struct caller callers[2], gyre_queue *queue)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    for (int i = 0; i < 2; i++)
        callers[i] = (struct caller){.queue = queue};
    must(gyre_queue_stats_get(queue, &stats));
    uint64_t sent = stats.sent;
    require(pthread_create(&callers[0].thread, NULL, receive, &callers[0]) == 0);
    require(pthread_create(&callers[1].thread, NULL, call, &callers[1]) == 0);
    while (stats.receive_waits == 0 || stats.sent == sent)
        must(gyre_queue_stats_get(queue, &stats));
}

static void end(struct caller callers[2])
{
    for (int i = 0; i < 2; i++) {
        pthread_join(callers[i].thread, NULL);
        require(callers[i].status == GYRE_CLOSED);
    }
}

static void require_quick(uint64_t start)
{
    require(gyre_now_ns() - start < (uint64_t)QUICK_MS * 1000000);
}

static void lifecycle_calls_time_out(const struct stuck *stuck)
{
    uint64_t unhandled = 7, start = gyre_now_ns();
    require(gyre_kernel_deactivate(stuck->kernel, gyre_in_ms(20)) == GYRE_TIMEOUT);
    require(gyre_kernel_terminate(stuck->kernel, GYRE_NO_WAIT, &unhandled) == GYRE_TIMEOUT);
    require(strstr(gyre_error_text(), "did not stop in time"));
    require(unhandled == 0);
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(stuck->kernel, &info));
    require(info.state == GYRE_KERNEL_STOPPING);
    require(gyre_kernel_relaunch(stuck->kernel) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "is stopping"));
    require(gyre_buffer_free(stuck->buffer) == GYRE_INVALID);
    require_quick(start);
}

static void closing_a_queue(const struct stuck *stuck)
{
    gyre_queue *second = NULL;
    struct caller callers[2];
    must(gyre_queue_open(stuck->kernel, NULL, &second));
    begin(callers, second);
    uint64_t start = gyre_now_ns();
    gyre_queue_close(second);
    require_quick(start);
    end(callers);
    require(strstr(log_text, "the memory of the queue stays until the handler returns"));
}

struct pause {
    pthread_t thread;
    gyre_kernel *kernel;
    gyre_status status;
};

static void *deactivate(void *argument)
{
    struct pause *pause = argument;
    pause->status = gyre_kernel_deactivate(pause->kernel, GYRE_FOREVER);
    return NULL;
}

/* Returns when it waits for the handler. */
static void begin_pause(struct pause *pause, gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    *pause = (struct pause){.kernel = kernel};
    require(pthread_create(&pause->thread, NULL, deactivate, pause) == 0);
    while (info.state != GYRE_KERNEL_INACTIVE)
        must(gyre_kernel_info_get(kernel, &info));
}

static void releasing(const struct stuck *stuck)
{
    struct caller callers[2];
    struct pause pause;
    begin(callers, stuck->queue);
    begin_pause(&pause, stuck->kernel);
    lifecycle_calls_time_out(stuck);
    uint64_t start = gyre_now_ns();
    gyre_kernel_release(stuck->kernel);
    require_quick(start);
    end(callers);
    pthread_join(pause.thread, NULL);
    require(pause.status == GYRE_CLOSED);
    require(strstr(log_text, "its device gives it no time; its memory stays behind"));
}

static void closing(const struct stuck *stuck)
{
    uint64_t start = gyre_now_ns();
    gyre_close(stuck->runtime);
    __atomic_store_n(&is_closed, 1, __ATOMIC_RELEASE);
    require_quick(start);
    for (uint64_t until = gyre_in_ms(50); gyre_now_ns() < until;)
        ; /* the handler logs all the while, to nobody */
    __atomic_store_n(&is_closed, 0, __ATOMIC_RELEASE);
}

/* ---- a handler that returns when all is closed ---- */

/* Where this process has its observation file. */
static const unsigned char *find_observation(void)
{
    char line[512];
    void *at = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    require(maps);
    while (!at && fgets(line, sizeof line, maps))
        if (strstr(line, ".obs"))
            require(sscanf(line, "%p", &at) == 1);
    fclose(maps);
    require(at);
    return at;
}

/* Messages that blocks have noted. */
static int count_handled(const unsigned char *observation)
{
    const gyre_observe_head *head = (const void *)observation;
    int count = 0;
    for (uint32_t part = 0; part < head->part_count; part++)
        for (uint64_t i = 0; head->parts[part].kind == GYRE_OBSERVE_TRACE && i < 8; i++) {
            const gyre_observe_span *span =
                (const void *)(observation + head->parts[part].offset + i * head->parts[part].stride);
            const uint64_t mark = __atomic_load_n(&span->mark, __ATOMIC_ACQUIRE);
            count += mark && !(mark & 1) && span->kind == GYRE_OBSERVE_SPAN_HANDLED;
        }
    return count;
}

/* Its block was traced when it began, and notes the end of the message after the file of spans is gone. */
static void returning_late(char **settings)
{
    const char *all[16] = {"kernel.default.stop_timeout_ms=50", "log_level=info", "observe.trace=always",
                           "observe.every_ms=10", "check=off"};
    char until[] = "/tmp/gyre-stuck-XXXXXX";
    for (int i = 5; *settings && i < 15; i++)
        all[i] = *settings++;
    const int file = mkstemp(until);
    require(file >= 0 && unlink(until) == 0 && close(file) == 0 && setenv("STUCK_UNTIL", until, 1) == 0);
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    const gyre_open_desc open_desc = {.size = sizeof open_desc, .settings = all, .log = keep_log};
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = STRESS_RETURNING, .kernel = "returning", .blocks = 1};
    must(gyre_open(&open_desc, &runtime));
    must(gyre_launch(runtime, &desc, &kernel));
    const block_1 request = {{1}};
    block_1 reply;
    const int made = open(until, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    require(made >= 0 && close(made) == 0);
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                   gyre_in_ms(patiently(20000))));
    (void)unlink(until);
    const uint32_t before = __atomic_load_n(&lines, __ATOMIC_RELAXED);
    must(gyre_send(gyre_kernel_queue(kernel), &request, sizeof request, NULL, GYRE_NO_WAIT));
    for (uint64_t limit = gyre_in_ms(patiently(20000)); __atomic_load_n(&lines, __ATOMIC_RELAXED) == before;)
        require(gyre_now_ns() < limit);
    const unsigned char *observation = find_observation();
    gyre_close(runtime);
    require(strstr(log_text, "kernel 'returning' did not stop"));
    const int again = open(until, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    require(again >= 0 && close(again) == 0);
    for (uint64_t limit = gyre_in_ms(patiently(20000)); count_handled(observation) < 2; usleep(1000))
        require(gyre_now_ns() < limit);
    unlink(until);
}

int main(int argc, char **argv)
{
    struct stuck stuck;
    (void)argc;
    if (!argv[1] || !strstr(argv[1], "opencl"))
        returning_late(argv + 1);
    log_text[0] = '\0';
    get_stuck(&stuck, argv + 1);
    closing_a_queue(&stuck);
    releasing(&stuck);
    closing(&stuck);
    log_text[0] = '\0';
    get_stuck(&stuck, argv + 1); /* once more, and nobody releases the kernel */
    closing(&stuck);
    require(strstr(log_text, "its device gives it no time; its memory stays behind"));
    return EXIT_SUCCESS;
}
