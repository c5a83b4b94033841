/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of handlers that take long on a device, and what is done about them there: `PROGRAM BACKEND CASE`.
 * Exit code 77 where the backend cannot start. The same of the CPU's is in test_watchdog.c.
 */
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>

#include "stray.h"

enum { SKIP = 77, BLOCKS = 2, SETTINGS_MAX = 8 };
#define LOOP_NS UINT64_C(90000000)

static const char *backend;

struct watched {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_queue *queue;
    uint64_t number;
};

static struct watched open_watched(const char *const *settings)
{
    const char *file = getenv("CRASH_KERNEL_FILE");
    const char *all[SETTINGS_MAX] = {"log_level=error", "gyre.check=off"};
    struct watched watched = {0};
    gyre_buffer *near = NULL;
    for (size_t i = 0; settings[i]; i++)
        all[2 + i] = settings[i];
    gyre_open_desc open = {.size = sizeof open, .settings = all, .backend = backend};
    must(gyre_open(&open, &watched.runtime));
    gyre_status status = gyre_buffer_alloc(watched.runtime, NULL, 0, 4096, &near);
    if (status == GYRE_UNAVAILABLE) {
        printf("%s\n", gyre_error_text());
        exit(SKIP);
    }
    must(status);
    gyre_binding_name binding = {"near", near};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = file ? file : STRAY_KERNELS,
                             .kernel = "strays",
                             .blocks = BLOCKS,
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(watched.runtime, &desc, &watched.kernel));
    watched.queue = gyre_kernel_queue(watched.kernel);
    return watched;
}

static gyre_kernel_info info_of(const struct watched *watched)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(watched->kernel, &info));
    return info;
}

/* A handler that loops until the device's clock says so. */
static void send_loop(struct watched *watched, uint64_t until_ns)
{
    stray_request request = {.fault = STRAY_LOOP, .number = ++watched->number, .until_ns = until_ns};
    must(gyre_send(watched->queue, &request, sizeof request, NULL, soon()));
}

static stray_reply receive(const struct watched *watched, gyre_completion_outcome expected)
{
    stray_reply reply = {0};
    gyre_completion completion = {0};
    must(gyre_receive(watched->queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == expected);
    require(expected != GYRE_REPLIED ||
            (reply.number == watched->number && reply.check == mixed(reply.number)));
    return reply;
}

static uint64_t device_now(struct watched *watched)
{
    stray_request request = {.number = ++watched->number};
    must(gyre_send(watched->queue, &request, sizeof request, NULL, soon()));
    return receive(watched, GYRE_REPLIED).now_ns;
}

static size_t blocks_that_are(const struct watched *watched, gyre_kernel_health health)
{
    size_t count = 0;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        gyre_block_info info = {.size = sizeof info};
        must(gyre_kernel_block_get(watched->kernel, block, &info));
        require(info.tells == 1);
        count += info.health == health;
    }
    return count;
}

/* One message keeps one block at work, until its epoch is through. */
static void each_block_tells_what_it_does(void)
{
    struct watched watched = open_watched((const char *[]){"kernel.default.stall_told_ms=30", NULL});
    const uint64_t limit = soon();
    size_t busy = 0, stalled = 0;
    while (!busy || !stalled) {
        require(gyre_now_ns() < limit); /* a busy machine may look too late, now and then */
        const uint64_t now = device_now(&watched);
        while (blocks_that_are(&watched, GYRE_HEALTH_IDLE) != BLOCKS)
            require(gyre_now_ns() < limit);
        send_loop(&watched, now + LOOP_NS);
        while (info_of(&watched).health != GYRE_HEALTH_IDLE) {
            busy += blocks_that_are(&watched, GYRE_HEALTH_BUSY) == 1;
            stalled += blocks_that_are(&watched, GYRE_HEALTH_STALLED) == 1;
            require(blocks_that_are(&watched, GYRE_HEALTH_IDLE) >= BLOCKS - 1);
        }
        receive(&watched, GYRE_REPLIED);
    }
    require(info_of(&watched).stalls > 0 && info_of(&watched).restarts == 0);
    must(gyre_kernel_terminate(watched.kernel, soon(), NULL));
    require(blocks_that_are(&watched, GYRE_HEALTH_DEAD) == BLOCKS);
    gyre_close(watched.runtime);
}

static void an_endless_loop_is_ended_after_its_budget(void)
{
    char isolation[64];
    snprintf(isolation, sizeof isolation, "backend.%s.isolation=process", backend);
    struct watched watched = open_watched((const char *[]){isolation, "kernel.default.handler_budget_ms=100",
                                                           "kernel.default.poison_limit=1",
                                                           "kernel.default.checkpoints=true", NULL});
    device_now(&watched);
    const uint64_t begun = gyre_now_ns();
    send_loop(&watched, UINT64_MAX);
    receive(&watched, GYRE_HANDLER_FAILED);
    device_now(&watched);
    const uint64_t took = gyre_now_ns() - begun;
    printf("%.3f s from the send to the first reply of the new worker\n", (double)took / 1e9);
    require(took >= UINT64_C(100000000));
    require(info_of(&watched).restarts == 1 && info_of(&watched).condemned == 1);
    gyre_close(watched.runtime);
}

static const named_case cases[] = {
    {"each_block_tells_what_it_does", each_block_tells_what_it_does},
    {"an_endless_loop_is_ended_after_its_budget", an_endless_loop_is_ended_after_its_budget},
};

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s BACKEND CASE\n", argv[0]);
        return 2;
    }
    backend = argv[1];
    return RUN_NAMED(argc - 1, argv + 1, make_fault_folder, cases);
}
