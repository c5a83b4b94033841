/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of handlers that take long on a device, and what is done about them there: `PROGRAM BACKEND CASE`,
 * or `--list`.
 * Exit code 77 where the backend cannot start. The same of the CPU's is in test_watchdog.c.
 */
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stray.h"
#include "../../../patience.h"

enum { SKIP = 77, BLOCKS = 2, SETTINGS_MAX = 8 };
#define LOOP_NS UINT64_C(90000000)

static const char *backend;

struct watched {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_queue *queue;
    uint32_t blocks;
    uint64_t number;
};

static struct watched open_watched(const char *kernel, uint32_t blocks, const char *const *settings)
{
    const char *file = getenv("CRASH_KERNEL_FILE");
    const char *all[SETTINGS_MAX] = {"log_level=error", "gyre.check=off"};
    struct watched watched = {.blocks = blocks};
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
                             .kernel = kernel,
                             .blocks = blocks,
                             .bindings = &binding,
                             .binding_count = strcmp(kernel, "stray_chats") != 0};
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

static void send_fault(struct watched *watched, enum stray_fault fault, uint64_t until_ns)
{
    stray_request request = {.fault = fault, .number = ++watched->number, .until_ns = until_ns};
    must(gyre_send(watched->queue, &request, sizeof request, NULL, soon()));
}

/* A handler that loops until the device's clock says so. */
static void send_loop(struct watched *watched, uint64_t until_ns)
{
    send_fault(watched, STRAY_LOOP, until_ns);
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
    send_fault(watched, STRAY_NOT, 0);
    return receive(watched, GYRE_REPLIED).now_ns;
}

static size_t blocks_that_are(const struct watched *watched, gyre_kernel_health health)
{
    size_t count = 0;
    for (uint32_t block = 0; block < watched->blocks; block++) {
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
    struct watched watched =
        open_watched("strays", BLOCKS, (const char *[]){"kernel.default.stall_told_ms=30", NULL});
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
    const uint32_t blocks = strcmp(backend, "cuda") == 0 ? 1 : BLOCKS; /* of what it can take up again */
    struct watched watched = open_watched("strays", blocks,
                                          (const char *[]){isolation, "kernel.default.handler_budget_ms=100",
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

/* ---- replies that nobody receives ---- */

enum { LATE = 40, LATE_BUDGET_MS = 200 };

static struct watched open_chats(uint32_t blocks)
{
    return open_watched(
        "stray_chats", blocks,
        (const char *[]){"kernel.default.handler_budget_ms=200", "queue.default.bytes=16384", NULL});
}

static void send_chat(struct watched *watched, uint64_t until_ns)
{
    const stray_request request = {
        .fault = until_ns ? STRAY_LOOP : STRAY_NOT, .number = ++watched->number, .until_ns = until_ns};
    must(gyre_send(watched->queue, &request, sizeof request, NULL, soon()));
}

static uint64_t receive_chat(const struct watched *watched, uint64_t number)
{
    stray_chat *reply = malloc(sizeof *reply);
    gyre_completion completion = {0};
    must(gyre_receive(watched->queue, reply, sizeof *reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply->number == number && reply->words.count == 400);
    const uint64_t *words = gyre_items(u64, reply, reply->words);
    for (uint64_t i = 0; i < 400; i++)
        require(words[i] == mixed(number + i));
    const uint64_t now_ns = reply->now_ns;
    free(reply);
    return now_ns;
}

static bool all_rest(const struct watched *watched)
{
    return blocks_that_are(watched, GYRE_HEALTH_IDLE) == watched->blocks;
}

/* Until no block was at anything for several budgets, for want of room; how many stalls were told meanwhile. */
static uint64_t await_full(const struct watched *watched)
{
    const uint64_t limit = soon();
    for (;;) {
        const gyre_kernel_info before = info_of(watched);
        const bool rested = all_rest(watched);
        usleep(3 * LATE_BUDGET_MS * 1000);
        const gyre_kernel_info after = info_of(watched);
        require(after.handled < LATE && gyre_now_ns() < limit);
        if (rested && all_rest(watched) && after.handled > 0 && after.handled == before.handled)
            return after.stalls - before.stalls;
    }
}

/* Replies lack room, so nothing is handled for several budgets, and no block is at anything. */
static void who_receives_late_is_no_stall(void)
{
    for (uint32_t blocks = 1; blocks <= BLOCKS; blocks++) {
        struct watched watched = open_chats(blocks);
        for (uint64_t i = 0; i < LATE; i++)
            send_chat(&watched, 0);
        require(await_full(&watched) == 0); /* a busy machine may have told one before */
        for (uint64_t number = 1; number <= LATE; number++)
            receive_chat(&watched, number);
        gyre_close(watched.runtime);
    }
}

/* A loop takes a processor: it is as short as it can be, and longer where a busy machine looks too late. */
static const uint64_t first_loop_ns = 3 * (uint64_t)LATE_BUDGET_MS * 1000000;

static uint64_t longer_loop(uint64_t loop_ns)
{
    require(loop_ns < patiently(8 * first_loop_ns));
    return 2 * loop_ns;
}

/* Behind a reply that nobody received. */
static void a_loop_is_told_while_nobody_receives(void)
{
    struct watched watched = open_chats(1);
    const uint64_t stalls = info_of(&watched).stalls;
    for (uint64_t loop_ns = first_loop_ns;; loop_ns = longer_loop(loop_ns)) {
        send_chat(&watched, 0);
        const uint64_t now = receive_chat(&watched, watched.number);
        const uint64_t handled = info_of(&watched).handled;
        send_chat(&watched, 0);
        while (info_of(&watched).handled < handled + 1)
            usleep(1000); /* whoever asks all the time keeps the watchdog from looking */
        const uint64_t before = info_of(&watched).stalls;
        send_chat(&watched, now + loop_ns);
        while (info_of(&watched).handled < handled + 2)
            usleep(1000);
        const bool told = info_of(&watched).stalls > before;
        receive_chat(&watched, watched.number - 1);
        receive_chat(&watched, watched.number);
        if (told)
            break;
    }
    require(info_of(&watched).stalls > stalls);
    gyre_close(watched.runtime);
}

/* ---- several queues ---- */

/* One block loops, while another answers all the time. */
static void a_loop_is_told_while_others_are_answered(void)
{
    struct watched watched =
        open_watched("strays", BLOCKS, (const char *[]){"kernel.default.handler_budget_ms=200", NULL});
    struct watched other = watched;
    must(gyre_queue_open(watched.kernel, NULL, &other.queue));
    const uint64_t stalls = info_of(&watched).stalls;
    for (uint64_t loop_ns = first_loop_ns;; loop_ns = longer_loop(loop_ns)) {
        const uint64_t now = device_now(&watched), begun = gyre_now_ns();
        send_loop(&watched, now + loop_ns);
        while (info_of(&watched).stalls == stalls && gyre_now_ns() - begun < loop_ns)
            device_now(&other);
        printf("%.3f s from the send until it was told\n", (double)(gyre_now_ns() - begun) / 1e9);
        receive(&watched, GYRE_REPLIED);
        if (info_of(&watched).stalls > stalls)
            break;
    }
    gyre_close(watched.runtime);
}

enum { CALLERS = 24, TURN_MS = 120 };

/* One request of each of many callers: one after the other they take longer than the budget, and none does. */
static void who_waits_for_its_turn_is_no_stall(void)
{
    struct watched watched =
        open_watched("stray_actor", 1, (const char *[]){"kernel.default.handler_budget_ms=2000", NULL});
    const stray_request request = {.fault = STRAY_LAST, .until_ns = (uint64_t)TURN_MS * 1000000};
    gyre_queue *queues[CALLERS];
    device_now(&watched);
    const uint64_t stalls = info_of(&watched).stalls;
    for (int i = 0; i < CALLERS; i++)
        must(gyre_queue_open(watched.kernel, NULL, &queues[i]));
    for (int i = 0; i < CALLERS; i++)
        must(gyre_send(queues[i], &request, sizeof request, NULL, soon()));
    for (int i = 0; i < CALLERS; i++) {
        stray_reply reply = {0};
        gyre_completion completion = {0};
        must(gyre_receive(queues[i], &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED);
    }
    require(info_of(&watched).stalls == stalls);
    gyre_close(watched.runtime);
}

enum { RUNS = 32, RUN_MS = 60, RUNS_BUDGET_MS = 400 };
#define RUNS_BUDGET_NS (RUNS_BUDGET_MS * UINT64_C(1000000))

/* One request for each queue; for how long the longest of them kept its worker. */
static uint64_t run_each(struct watched queues[RUNS])
{
    uint64_t first = UINT64_MAX, last = 0, longest = 0;
    for (int i = 0; i < RUNS; i++)
        send_fault(&queues[i], STRAY_LAST, RUN_MS * UINT64_C(1000000));
    for (int i = 0; i < RUNS; i++) {
        const stray_reply reply = receive(&queues[i], GYRE_REPLIED);
        first = reply.now_ns < first ? reply.now_ns : first;
        last = reply.now_ns > last ? reply.now_ns : last;
        longest = reply.took_ns > longest ? reply.took_ns : longest;
    }
    if (strcmp(backend, "opencl") != 0) /* whose devices may handle those of several queues at once */
        require(last - first >= 2 * RUNS_BUDGET_NS); /* in CUDA's blocks two at a time */
    return longest;
}

/* The block is at work for longer than two budgets, and queues wait for longer than one, but every handler comes back
 * soon. All runs begin at the same index of their queues. */
static void many_short_runs_are_no_stall(void)
{
    struct watched queues[RUNS];
    queues[0] = open_watched("strays", 1, (const char *[]){"kernel.default.handler_budget_ms=400", NULL});
    for (int i = 1; i < RUNS; i++) {
        queues[i] = queues[0];
        must(gyre_queue_open(queues[0].kernel, NULL, &queues[i].queue));
    }
    const uint64_t limit = soon();
    for (bool disturbed = true; disturbed;) {
        require(gyre_now_ns() < limit); /* a busy machine may make a handler take as long as its budget */
        const uint64_t stalls = info_of(&queues[0]).stalls;
        disturbed = run_each(queues) >= RUNS_BUDGET_NS / 2;
        require(disturbed || info_of(&queues[0]).stalls == stalls);
    }
    gyre_close(queues[0].runtime);
}

static const named_case cases[] = {
    {"each_block_tells_what_it_does", each_block_tells_what_it_does},
    {"an_endless_loop_is_ended_after_its_budget", an_endless_loop_is_ended_after_its_budget},
    {"who_receives_late_is_no_stall", who_receives_late_is_no_stall},
    {"a_loop_is_told_while_nobody_receives", a_loop_is_told_while_nobody_receives},
    {"a_loop_is_told_while_others_are_answered", a_loop_is_told_while_others_are_answered},
    {"who_waits_for_its_turn_is_no_stall", who_waits_for_its_turn_is_no_stall},
    {"many_short_runs_are_no_stall", many_short_runs_are_no_stall},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            puts(cases[i].name);
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: %s BACKEND CASE | --list\n", argv[0]);
        return 2;
    }
    backend = argv[1];
    return RUN_NAMED(argc - 1, argv + 1, make_fault_folder, cases);
}
