/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers with state whose worker process dies: with checkpoints, state and replies are as if nothing had
 * happened. One case a run, `test_state CASE`.
 */
#include "faults.h"
#include "tests/sanitizers.h"
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stray.h"

/* What fragile_actor keeps, without any crash. */
struct model {
    uint64_t count, hash;
};

static void advance(struct model *model, uint64_t number)
{
    model->count++;
    model->hash = mixed(model->hash + number);
}

static void send_one(gyre_queue *queue, uint32_t fault, uint32_t always, uint64_t number)
{
    crash_request request = {.fault = fault, .always = always, .number = number};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static void receive_one(gyre_queue *queue, struct model *model, uint64_t number)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED);
    advance(model, number);
    require(reply.number == model->count && reply.check == model->hash);
}

static gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

static void require_state(gyre_kernel *kernel, const struct model *model)
{
    crash_state state;
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == model->count && state.hash == model->hash);
    must(gyre_kernel_activate(kernel, soon()));
}

static gyre_runtime *open_with(const char *first, const char *second)
{
    const char *settings[] = {"kernel.default.checkpoints=true",
                              patient_setting("backend.cpu.worker_timeout_ms", 500), first, second, NULL};
    return open_isolated(settings);
}

/* Requests one after the other, some of which crash once. */
static uint64_t stream_with_crashes(gyre_runtime *runtime, uint64_t count, uint64_t crash_every,
                                    uint64_t window)
{
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t sent = 0, received = 0; received < count;) {
        for (; sent < count && sent - received < window; sent++)
            send_one(queue, sent % crash_every == crash_every / 2 ? CRASH_SEGFAULT : CRASH_NOT, 0, sent);
        receive_one(queue, &model, received++);
        if (received % 50 == 0)
            usleep(1000); /* the thread that takes checkpoints gets its turn */
    }
    require_state(kernel, &model);
    gyre_kernel_info info = info_of(kernel);
    require(info.restarts == count / crash_every && info.condemned == 0);
    gyre_close(runtime);
    return info.checkpoints;
}

static void state_survives_crashes(void)
{
    stream_with_crashes(open_with(NULL, NULL), 4000, 800, 1000);
}

static void state_survives_without_any_checkpoint_but_the_first(void)
{
    require(stream_with_crashes(open_with("kernel.default.checkpoint_ms=0", NULL), 5000, 1000, 700) == 0);
}

static void state_survives_with_a_checkpoint_for_every_message(void)
{
    require(stream_with_crashes(open_with("kernel.default.checkpoint_messages=1", NULL), 3000, 600, 100) > 0);
}

static void a_full_replay_log_forces_checkpoints(void)
{
    enum { IN_ALL = 6000, DIES_AT = 5700, LOGGED = 1024 + 4096 / 24 };
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", "kernel.default.replay_log=4096");
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < IN_ALL; i++) {
        send_one(queue, i == DIES_AT ? CRASH_ABORT : CRASH_NOT, 0, i);
        receive_one(queue, &model, i);
    }
    gyre_kernel_info info = info_of(kernel);
    require(info.checkpoints >= IN_ALL / LOGGED && info.restarts == 1);
    require(info.replayed <= LOGGED);
    require_state(kernel, &model);
    gyre_close(runtime);
}

/* Whoever asks finds nobody at home, and does not ask again. */
static void a_checkpoint_that_is_asked_for_during_a_recovery_is_taken(void)
{
    enum { BEFORE = 300, AT_ONCE = 900, IN_ALL = 4000 };
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", "kernel.default.replay_log=4096");
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < IN_ALL; i++) {
        const bool at_once = i >= BEFORE && i < BEFORE + AT_ONCE;
        send_one(queue, i == BEFORE ? CRASH_ABORT : CRASH_NOT, 0, i);
        while (i == BEFORE && info_of(kernel).restarts == 0)
            ; /* those that follow are sent while nobody is there */
        for (uint64_t first = BEFORE; i == BEFORE + AT_ONCE - 1 && first <= i; first++)
            receive_one(queue, &model, first);
        if (!at_once)
            receive_one(queue, &model, i);
    }
    require(info_of(kernel).checkpoints >= 2 && info_of(kernel).restarts == 1);
    require_state(kernel, &model);
    gyre_close(runtime);
}

static void a_checkpoint_on_request_spares_the_replay(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", NULL);
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 100; i++) {
        send_one(queue, CRASH_NOT, 0, i);
        receive_one(queue, &model, i);
    }
    must(gyre_kernel_checkpoint(kernel, soon()));
    require(info_of(kernel).checkpoints == 1 && info_of(kernel).checkpoint_ns > 0);
    send_one(queue, CRASH_TRAP, 0, 100);
    receive_one(queue, &model, 100);
    require(info_of(kernel).replayed == 0);
    send_one(queue, CRASH_TRAP, 0, 101);
    receive_one(queue, &model, 101);
    require(info_of(kernel).replayed == 1 && info_of(kernel).restarts == 2);
    gyre_close(runtime);
}

static void poison_leaves_no_trace_in_the_state(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_messages=50", NULL);
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 400; i++)
        send_one(queue, i == 150 || i == 390 ? CRASH_SEGFAULT : CRASH_NOT, i != 390, i);
    for (uint64_t i = 0; i < 400; i++) {
        gyre_completion completion = {0};
        crash_reply reply;
        if (i == 150) {
            must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -10);
        } else {
            receive_one(queue, &model, i);
        }
    }
    require(info_of(kernel).condemned == 1);
    require_state(kernel, &model);
    gyre_close(runtime);
}

static void a_paused_kernel_comes_back_paused_with_its_state(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", NULL);
    struct model model = {0};
    crash_state state;
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 300; i++) {
        send_one(queue, CRASH_NOT, 0, i);
        receive_one(queue, &model, i);
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    kill_worker();
    for (uint64_t limit = soon();
         info_of(kernel).restarts == 0 || info_of(kernel).health == GYRE_HEALTH_DEAD;)
        require(gyre_now_ns() < limit);
    require(info_of(kernel).state == GYRE_KERNEL_INACTIVE && info_of(kernel).replayed == 300);
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == model.count && state.hash == model.hash);
    send_one(queue, CRASH_NOT, 0, 300);
    usleep(20000);
    require(info_of(kernel).queued == 1);
    must(gyre_kernel_activate(kernel, soon()));
    receive_one(queue, &model, 300);
    gyre_close(runtime);
}

static void a_relaunched_kernel_begins_anew(void)
{
    gyre_runtime *runtime = open_with(NULL, NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (int round = 0; round < 3; round++) {
        struct model model = {0};
        for (uint64_t i = 0; i < 50; i++) {
            send_one(queue, i == 30 ? CRASH_EXIT : CRASH_NOT, 0, 1000 * (uint64_t)round + i);
            receive_one(queue, &model, 1000 * (uint64_t)round + i);
        }
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        must(gyre_kernel_relaunch(kernel));
    }
    gyre_close(runtime);
}

/* Also who does not wait; else a program that asks now and then asks for ever. */
static void a_request_that_no_checkpoint_will_cover_is_told(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    struct model model = {0};
    send_one(queue, CRASH_NOT, 0, 0);
    receive_one(queue, &model, 0);
    require(gyre_await(queue, 0, GYRE_CHECKPOINTED, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(strstr(gyre_error_text(), "request 0 has not come as far as") != NULL);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    require(gyre_await(queue, 0, GYRE_CHECKPOINTED, soon()) == GYRE_CLOSED);
    require(gyre_await(queue, 0, GYRE_CHECKPOINTED, GYRE_NO_WAIT) == GYRE_CLOSED);
    must(gyre_await(queue, 0, GYRE_PROCESSED, GYRE_NO_WAIT));
    gyre_close(runtime);
}

static void *relaunch(void *argument)
{
    must(gyre_kernel_relaunch(argument));
    return NULL;
}

/* Sends are accepted before the kernel is there: whoever asks then finds nobody at home, too. */
static void a_checkpoint_that_is_asked_for_during_a_relaunch_is_taken(void)
{
    enum { AT_ONCE = 900, IN_ALL = 4000 };
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", "kernel.default.replay_log=4096");
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const crash_request first = {.number = 0};
    gyre_status status = GYRE_CLOSED;
    pthread_t thread;
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    stop_worker(worker_of(getpid()), 200); /* so that the launch takes as long */
    require(pthread_create(&thread, NULL, relaunch, kernel) == 0);
    while (status == GYRE_CLOSED)
        status = gyre_send(queue, &first, sizeof first, NULL, GYRE_NO_WAIT);
    must(status);
    for (uint64_t i = 1; i < AT_ONCE; i++)
        send_one(queue, CRASH_NOT, 0, i);
    pthread_join(thread, NULL);
    for (uint64_t i = 0; i < AT_ONCE; i++)
        receive_one(queue, &model, i);
    for (uint64_t i = AT_ONCE; i < IN_ALL; i++) {
        send_one(queue, CRASH_NOT, 0, i);
        receive_one(queue, &model, i);
    }
    require(info_of(kernel).checkpoints >= 2);
    go_on_stopped();
    require_state(kernel, &model);
    gyre_close(runtime);
}

static void an_endless_loop_in_a_replay_is_ended(void)
{
    gyre_runtime *runtime =
        open_with("kernel.default.handler_budget_ms=100", "kernel.default.checkpoint_ms=0");
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 600; i++)
        send_one(queue, i == 500 ? CRASH_LOOP : CRASH_NOT, 0, i);
    for (uint64_t i = 0; i < 600; i++)
        receive_one(queue, &model, i);
    for (int round = 0; round < 6; round++) { /* stopped at any moment, also in the midst of a replay */
        kill_worker();
        usleep((unsigned)round * 3000);
        pid_t worker = worker_of(getpid());
        if (worker)
            kill(worker, SIGSTOP);
        send_one(queue, CRASH_NOT, 0, 600 + (uint64_t)round);
        receive_one(queue, &model, 600 + (uint64_t)round);
    }
    pid_t last = worker_of(getpid());
    if (last)
        kill(last, SIGCONT); /* it may have answered just before it stopped: then nobody misses it */
    require_state(kernel, &model);
    gyre_close(runtime);
}

/* The worker dies again and again before it sees the one request that waits: that one is not to blame. */
static void deaths_in_a_replay_accuse_no_request(void)
{
    need_fault_board();
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", "backend.cpu.restart_limit=50");
    struct model model = {0};
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const struct chosen_fault in_replay = {GYRE_FAULT_RECOVERY_REPLAY, GYRE_FAULT_FAIL, EIO};
    for (uint64_t i = 0; i < 50; i++) {
        send_one(queue, CRASH_NOT, 0, i);
        receive_one(queue, &model, i);
    }
    arm_fault(&in_replay, 1, UINT64_MAX / 2);
    send_one(queue, CRASH_SEGFAULT, 0, 50); /* crashes once, for which it is suspected once */
    while (info_of(kernel).restarts < 6)
        usleep(1000);
    disarm_faults();
    receive_one(queue, &model, 50);
    require(info_of(kernel).condemned == 0);
    require_state(kernel, &model);
    gyre_close(runtime);
}

static void an_actor_has_one_queue(void)
{
    gyre_runtime *runtime = open_with(NULL, NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = NULL;
    require(gyre_queue_open(kernel, NULL, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "one queue"));
    gyre_close(runtime);
    runtime = open_isolated(NULL);
    kernel = launch_fragile(runtime, "fragile_actor", 1);
    must(gyre_queue_open(kernel, NULL, &queue));
    require(gyre_kernel_checkpoint(kernel, soon()) == GYRE_INVALID);
    gyre_close(runtime);
}

/* ---- device buffers ---- */

enum { SUMS = 1000 };

static gyre_kernel *launch_sums(gyre_runtime *runtime, uint32_t blocks, gyre_buffer **sums)
{
    gyre_kernel *kernel = NULL;
    must(gyre_buffer_alloc(runtime, NULL, 0, SUMS * sizeof(uint64_t), sums));
    gyre_binding_name binding = {"sums", *sums};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = CRASH_KERNELS,
                             .kernel = "fragile_sums",
                             .blocks = blocks,
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void require_sums(gyre_kernel *kernel, const gyre_buffer *sums, uint64_t numbers)
{
    static uint64_t found[SUMS], expected[SUMS];
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_buffer_download(sums, 0, found, sizeof found));
    memset(expected, 0, sizeof expected);
    for (uint64_t i = 0; i < numbers; i++)
        expected[i % SUMS] += mixed(i);
    require(memcmp(found, expected, sizeof found) == 0);
    must(gyre_kernel_activate(kernel, soon()));
}

static void sums_over_queues(uint32_t blocks, const char *setting)
{
    gyre_buffer *sums = NULL;
    gyre_runtime *runtime = open_with(setting, NULL);
    gyre_kernel *kernel = launch_sums(runtime, blocks, &sums);
    gyre_queue *queues[3] = {gyre_kernel_queue(kernel)};
    must(gyre_queue_open(kernel, NULL, &queues[1]));
    must(gyre_queue_open(kernel, NULL, &queues[2]));
    for (uint64_t i = 0; i < 9000; i++) {
        crash_reply reply;
        send_one(queues[i % 3], i % 1500 == 700 ? CRASH_SEGFAULT : CRASH_NOT, 0, i);
        if (i < 900)
            continue; /* that many are under way */
        must(gyre_receive(queues[i % 3], &reply, sizeof reply, NULL, soon()));
        require(reply.number == i - 900 && reply.check == mixed(i - 900));
    }
    gyre_queue_close(queues[1]); /* some of its requests may not be handled: they are numbers of a third */
    gyre_kernel_info info = info_of(kernel);
    require(info.restarts >= 5 && info.condemned == 0);
    gyre_close(runtime);
}

static void buffers_are_part_of_the_state(void)
{
    sums_over_queues(1, NULL);
}

static void buffers_survive_with_several_blocks(void)
{
    sums_over_queues(3, "kernel.default.checkpoint_ms=5");
}

static void buffers_are_right_to_the_last_byte(void)
{
    for (uint32_t blocks = 1; blocks <= 3; blocks += 2) {
        gyre_buffer *sums = NULL;
        gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=3", NULL);
        gyre_kernel *kernel = launch_sums(runtime, blocks, &sums);
        gyre_queue *queue = NULL;
        must(gyre_queue_open(kernel, NULL, &queue));
        for (uint64_t i = 0; i < 6000; i++) {
            crash_reply reply;
            gyre_queue *one = i % 2 ? queue : gyre_kernel_queue(kernel);
            send_one(one, i % 997 == 500 ? CRASH_ABORT : CRASH_NOT, 0, 10000 * blocks + i);
            if (i >= 600)
                must(gyre_receive(one, &reply, sizeof reply, NULL, soon()));
            if (i == 3333)
                kill_worker();
        }
        for (uint64_t i = 6000; i < 6600; i++) {
            crash_reply reply;
            must(gyre_receive(i % 2 ? queue : gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, soon()));
        }
        gyre_queue_close(queue); /* what it did is in a checkpoint */
        kill_worker();
        static uint64_t found[SUMS], expected[SUMS];
        memset(expected, 0, sizeof expected);
        for (uint64_t i = 0; i < 6000; i++)
            expected[(10000 * blocks + i) % SUMS] += mixed(10000 * blocks + i);
        must(gyre_kernel_deactivate(kernel, soon()));
        must(gyre_buffer_download(sums, 0, found, sizeof found));
        require(memcmp(found, expected, sizeof found) == 0);
        gyre_close(runtime);
    }
}

static void buffers_that_are_no_state_are_as_the_program_gave_them(void)
{
    gyre_buffer *sums = NULL;
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_buffers=false", NULL);
    gyre_kernel *kernel = launch_sums(runtime, 1, &sums);
    crash_reply reply;
    send_one(gyre_kernel_queue(kernel), CRASH_NOT, 0, 0);
    must(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, soon()));
    require_sums(kernel, sums, 1);
    must(gyre_kernel_checkpoint(kernel, soon()));
    kill_worker();
    for (uint64_t limit = soon();
         info_of(kernel).restarts == 0 || info_of(kernel).health == GYRE_HEALTH_DEAD;)
        require(gyre_now_ns() < limit);
    require_sums(kernel, sums, 0);
    gyre_close(runtime);
}

/* ---- checkpoints that take a while ---- */

enum { LARGE = 8 << 20, BETWEEN = 200 };

static gyre_kernel *launch_large(gyre_runtime *runtime, gyre_buffer *sums)
{
    gyre_kernel *kernel = NULL;
    gyre_binding_name binding = {"sums", sums};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = CRASH_KERNELS,
                             .kernel = "fragile_sums",
                             .blocks = 1,
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void add_numbers(gyre_kernel *kernel, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        crash_reply reply;
        send_one(gyre_kernel_queue(kernel), CRASH_NOT, 0, i);
        must(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.check == mixed(i));
    }
}

static void require_numbers(gyre_kernel *kernel, const gyre_buffer *sums, uint64_t count)
{
    uint64_t *found = malloc(LARGE * sizeof *found), wrong = 0;
    require(found != NULL);
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_buffer_download(sums, 0, found, LARGE * sizeof *found));
    for (uint64_t i = 0; i < LARGE; i++)
        wrong += found[i] != (i < count ? mixed(i) : 0);
    require(wrong == 0);
    free(found);
}

static void *take_checkpoint(void *kernel)
{
    must(gyre_kernel_checkpoint(kernel, soon()));
    return NULL;
}

/* Kills the worker when a checkpoint was copied and is not stored. False when it was stored already. */
static bool kill_between(gyre_kernel *kernel)
{
    pthread_t thread;
    gyre_kernel_info before = info_of(kernel), now = before;
    require(pthread_create(&thread, NULL, take_checkpoint, kernel) == 0);
    for (uint64_t limit = soon(); now.checkpoint_ns == before.checkpoint_ns; now = info_of(kernel))
        require(gyre_now_ns() < limit);
    kill_worker();
    pthread_join(thread, NULL);
    return now.checkpoints == before.checkpoints && info_of(kernel).replayed >= before.replayed + BETWEEN;
}

/* What came since the one before is handled again, so that one was good. */
static void a_crash_before_a_checkpoint_is_stored_leaves_the_one_before(void)
{
    enum { ROUNDS = 6, MOST = 60 };
    gyre_buffer *sums = NULL;
    gyre_runtime *runtime =
        open_with("kernel.default.checkpoint_ms=0", "backend.cpu.worker_timeout_ms=20000");
    must(gyre_buffer_alloc(runtime, NULL, 0, LARGE * sizeof(uint64_t), &sums));
    gyre_kernel *kernel = launch_large(runtime, sums);
    uint64_t between = 0, rounds = 0;
    for (; rounds < ROUNDS || (between == 0 && rounds < MOST); rounds++) { /* a busy machine kills too late */
        add_numbers(kernel, rounds * BETWEEN, BETWEEN);
        between += kill_between(kernel);
    }
    for (uint64_t limit = soon(); info_of(kernel).restarts < rounds;
         usleep(1000)) /* the last one is to be noticed */
        require(gyre_now_ns() < limit);
    require(between > 0 && info_of(kernel).restarts == rounds);
    require_numbers(kernel, sums, rounds * BETWEEN);
    gyre_close(runtime);
}

/* Memory that the process may still take of its own. */
static void leave_room(pid_t process, uint64_t size)
{
    char path[64], line[256];
    unsigned long long used = 0;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "re");
    require(file != NULL);
    while (!used && fgets(line, sizeof line, file))
        if (strncmp(line, "VmData:", 7) == 0)
            used = strtoull(line + 7, NULL, 10) * 1024;
    fclose(file);
    limit.rlim_cur = used + size;
    require(used > 0 && prlimit(process, RLIMIT_DATA, &limit, NULL) == 0);
}

static void without_room_for_a_copy_checkpoints_take_longer(void)
{
    if (SANITIZED) {
        printf("not here: a sanitizer ends a process that gets no memory\n");
        exit(77);
    }
    gyre_buffer *sums = NULL;
    if (UNDER_ADDRESS_SANITIZER)
        exit(77); /* whose shadow leaves no room to limit */
    gyre_runtime *runtime =
        open_with("kernel.default.checkpoint_ms=0", "backend.cpu.worker_timeout_ms=20000");
    must(gyre_buffer_alloc(runtime, NULL, 0, LARGE * sizeof(uint64_t), &sums));
    leave_room(worker_of(getpid()), LARGE * sizeof(uint64_t) * 3 / 4);
    gyre_kernel *kernel = launch_large(runtime, sums);
    require(log_lines_with("pause it while its state of 67108864 bytes is downloaded") == 1);
    add_numbers(kernel, 0, BETWEEN);
    must(gyre_kernel_checkpoint(kernel, soon()));
    require(log_lines_with("is downloaded") == 1 && info_of(kernel).checkpoints == 1);
    add_numbers(kernel, BETWEEN, 10);
    kill_worker();
    add_numbers(kernel, BETWEEN + 10, 1);
    require(info_of(kernel).replayed == 10);
    require_numbers(kernel, sums, BETWEEN + 11);
    gyre_close(runtime);
}

/* Its reply tells the time. */
static gyre_kernel *launch_stray_actor(gyre_runtime *runtime)
{
    gyre_buffer *near = NULL;
    gyre_kernel *kernel = NULL;
    must(gyre_buffer_alloc(runtime, NULL, 0, 64, &near));
    gyre_binding_name binding = {"near", near};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = STRAY_KERNELS ":stray_actor",
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void a_clock_in_a_handler_is_pointed_out(void)
{
    gyre_runtime *runtime = open_with(NULL, NULL);
    launch_stray_actor(runtime);
    require(log_lines_with("its source uses gyre_time_ns") == 1);
    launch_fragile(runtime, "fragile_actor", 1);
    require(log_lines_with("its source uses") == 1);
    gyre_close(runtime);
}

/* Handled again, it is another time. */
static void a_handler_that_is_not_deterministic_is_pointed_out(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoint_ms=0", NULL);
    gyre_kernel *kernel = launch_stray_actor(runtime);
    for (uint64_t i = 0; i < 20; i++) {
        stray_request request = {.number = i};
        stray_reply reply;
        if (i == 10)
            kill_worker();
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
    }
    require(log_lines_with("the request with index 0 of queue 'stray_actor' was handled again after a crash, "
                           "and has another 'now_ns' in its reply") == 1);
    gyre_close(runtime);
    stream_with_crashes(open_with("kernel.default.checkpoint_ms=0", NULL), 2000, 500, 100);
    require(log_lines_with("is not deterministic") == 1);
}

static const named_case cases[] = {
    {"state_survives_crashes", state_survives_crashes},
    {"state_survives_without_any_checkpoint_but_the_first",
     state_survives_without_any_checkpoint_but_the_first},
    {"state_survives_with_a_checkpoint_for_every_message",
     state_survives_with_a_checkpoint_for_every_message},
    {"a_full_replay_log_forces_checkpoints", a_full_replay_log_forces_checkpoints},
    {"a_checkpoint_that_is_asked_for_during_a_recovery_is_taken",
     a_checkpoint_that_is_asked_for_during_a_recovery_is_taken},
    {"a_checkpoint_on_request_spares_the_replay", a_checkpoint_on_request_spares_the_replay},
    {"poison_leaves_no_trace_in_the_state", poison_leaves_no_trace_in_the_state},
    {"a_paused_kernel_comes_back_paused_with_its_state", a_paused_kernel_comes_back_paused_with_its_state},
    {"a_relaunched_kernel_begins_anew", a_relaunched_kernel_begins_anew},
    {"a_request_that_no_checkpoint_will_cover_is_told", a_request_that_no_checkpoint_will_cover_is_told},
    {"a_checkpoint_that_is_asked_for_during_a_relaunch_is_taken",
     a_checkpoint_that_is_asked_for_during_a_relaunch_is_taken},
    {"an_endless_loop_in_a_replay_is_ended", an_endless_loop_in_a_replay_is_ended},
    {"deaths_in_a_replay_accuse_no_request", deaths_in_a_replay_accuse_no_request},
    {"an_actor_has_one_queue", an_actor_has_one_queue},
    {"a_clock_in_a_handler_is_pointed_out", a_clock_in_a_handler_is_pointed_out},
    {"a_handler_that_is_not_deterministic_is_pointed_out",
     a_handler_that_is_not_deterministic_is_pointed_out},
    {"buffers_are_part_of_the_state", buffers_are_part_of_the_state},
    {"buffers_survive_with_several_blocks", buffers_survive_with_several_blocks},
    {"buffers_are_right_to_the_last_byte", buffers_are_right_to_the_last_byte},
    {"buffers_that_are_no_state_are_as_the_program_gave_them",
     buffers_that_are_no_state_are_as_the_program_gave_them},
    {"a_crash_before_a_checkpoint_is_stored_leaves_the_one_before",
     a_crash_before_a_checkpoint_is_stored_leaves_the_one_before},
    {"without_room_for_a_copy_checkpoints_take_longer", without_room_for_a_copy_checkpoints_take_longer},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
