/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of requests and kernels when the worker process dies: one case a run, `test_recovery CASE`.
 * Every request must be completed exactly once, in order, with its own reply.
 */
#include "faults.h"
#include "requests.h"
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream with one request in it that crashes once. */
static void stream_over_a_crash(uint32_t fault, uint32_t blocks)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", blocks);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 900; i++)
        send_one(queue, i == 450 ? fault : CRASH_NOT, 0, i);
    for (uint64_t i = 0; i < 900; i++)
        receive_reply(queue, i, i);
    call_number(queue, 12345);
    require(info_of(kernel).restarts == 1 && info_of(kernel).condemned == 0);
    require(info_of(kernel).state == GYRE_KERNEL_ACTIVE && info_of(kernel).queued == 0);
    gyre_close(runtime);
}

static void every_request_survives_a_segfault(void)
{
    stream_over_a_crash(CRASH_SEGFAULT, 1);
}

static void every_request_survives_with_several_blocks(void)
{
    stream_over_a_crash(CRASH_SEGFAULT, 4);
}

static void every_request_survives_an_abort(void)
{
    stream_over_a_crash(CRASH_ABORT, 1);
}

static void every_request_survives_an_exit(void)
{
    stream_over_a_crash(CRASH_EXIT, 2);
}

/* Poison is a dead letter, with the request that it was. */
static void require_letter(gyre_queue *queue, uint64_t index)
{
    gyre_dead_letter letter = {.size = sizeof letter};
    crash_request request;
    must(gyre_dead_letter_take(queue, &letter, &request, sizeof request, GYRE_NO_WAIT));
    require(letter.index == index && letter.code == -10 && strstr(letter.reason, "signal 11"));
    require(letter.length == sizeof request && request.number == index && request.fault == CRASH_SEGFAULT);
}

/* Requests that crash every time, at the places given, among `count`. */
static void stream_over_poison(uint32_t blocks, uint64_t count, const uint64_t *places)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", blocks);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const uint64_t *next = places;
    for (uint64_t i = 0; i < count; i++) {
        bool poison = i == *next;
        next += poison;
        send_one(queue, poison ? CRASH_SEGFAULT : CRASH_NOT, 1, i);
    }
    next = places;
    for (uint64_t i = 0; i < count; i++) {
        gyre_completion completion = receive_one(queue, i, i);
        bool poison = i == *next;
        next += poison;
        require(completion.outcome == (poison ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        if (poison)
            require(completion.failure_code == -10 && strstr(completion.failure_text, "signal 11"));
    }
    for (const uint64_t *place = places; place != next; place++) {
        char told[64];
        require_letter(queue, *place);
        snprintf(told, sizeof told, "the request with index %llu is failed", (unsigned long long)*place);
        require(log_lines_with(told) == 1);
    }
    require(info_of(kernel).condemned == (uint32_t)(next - places));
    require(log_lines_with("is failed, because its handler took the worker process down 3 times") ==
            (size_t)(next - places));
    call_number(queue, 1);
    gyre_close(runtime);
}

static void a_single_poison_message_is_failed(void)
{
    stream_over_poison(1, 1, (uint64_t[]){0, UINT64_MAX});
}

/* A failure's text has room for 43 letters: for what it says, and for no half of a word. */
static void why_a_request_is_failed_fits_its_text(void)
{
    static const uint32_t faults[] = {CRASH_ABORT, CRASH_DIVIDE, CRASH_EXIT};
    static const char *const texts[] = {"signal 6 (SIGABRT)", "signal 8 (SIGFPE)",
                                        "it ended with exit code 3"};
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    for (uint64_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        send_one(queue, faults[i], 1, i);
        const gyre_completion completion = receive_one(queue, i, i);
        require(completion.failure_code == -10 && !strcmp(completion.failure_text + 12, texts[i]));
    }
    gyre_close(runtime);
}

static void poison_in_a_stream_is_found(void)
{
    stream_over_poison(1, 800, (uint64_t[]){300, 301, 799, UINT64_MAX});
}

static void poison_is_found_among_several_blocks(void)
{
    stream_over_poison(3, 600, (uint64_t[]){100, 130, 500, UINT64_MAX});
}

static void poison_in_one_queue_spares_the_others(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_queue *queues[3] = {gyre_kernel_queue(kernel)};
    for (int q = 1; q < 3; q++)
        must(gyre_queue_open(kernel, NULL, &queues[q]));
    for (uint64_t i = 0; i < 200; i++)
        for (int q = 0; q < 3; q++)
            send_one(queues[q], q == 1 && i == 70 ? CRASH_ABORT : CRASH_NOT, 1, i);
    for (int q = 0; q < 3; q++)
        for (uint64_t i = 0; i < 200; i++)
            require(receive_one(queues[q], i, i).outcome ==
                    (q == 1 && i == 70 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
    gyre_close(runtime);
}

static void a_killed_worker_is_replaced(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    pid_t before = worker_of(getpid());
    for (uint64_t i = 0; i < 20; i++) {
        kill_worker();
        call_number(gyre_kernel_queue(kernel), i);
    }
    require(!is_alive(before) && log_lines_with("signal 9") == 20);
    gyre_close(runtime);
}

static void kernels_and_buffers_of_the_device_come_back(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *first = launch_fragile(runtime, "fragile", 1), *second = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile", .name = "other"};
    gyre_buffer *buffer = NULL;
    uint64_t value = 99;
    must(gyre_launch(runtime, &desc, &second));
    must(gyre_buffer_alloc(runtime, NULL, 0, 64, &buffer));
    must(gyre_buffer_upload(buffer, 8, &value, sizeof value));
    must(gyre_kernel_deactivate(second, soon()));
    send_one(gyre_kernel_queue(first), CRASH_SEGFAULT, 0, 1);
    send_one(gyre_kernel_queue(second), CRASH_NOT, 0, 2);
    receive_reply(gyre_kernel_queue(first), 0, 1);
    value = 0;
    must(gyre_buffer_download(buffer, 8, &value, sizeof value));
    require(value == 99);
    require(info_of(second).state == GYRE_KERNEL_INACTIVE && info_of(second).queued == 1);
    must(gyre_kernel_activate(second, soon()));
    receive_reply(gyre_kernel_queue(second), 0, 2);
    gyre_kernel_release(second);
    call_number(gyre_kernel_queue(first), 3);
    gyre_close(runtime);
}

/* Requests that wait name buffers, which the new worker has at other addresses. */
static void far_spans_are_found_in_a_new_worker(void)
{
    enum { WORDS = 5000, COUNT = 40 };
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_spans", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    static uint64_t words[WORDS];
    gyre_buffer *buffer = NULL, *other = NULL;
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = i;
    must(gyre_buffer_alloc(runtime, NULL, 0, sizeof words, &buffer));
    must(gyre_buffer_upload(buffer, 0, words, sizeof words));
    for (uint64_t i = 0; i < COUNT; i++) {
        crash_span request;
        gyre_begin(&request);
        request.fault = i == 5 || i == 20 ? CRASH_SEGFAULT : CRASH_NOT;
        request.number = i;
        must(gyre_put_buffer(u64, &request, &request.words, buffer, i, 1000));
        if (i == COUNT - 1) /* what comes first in the new worker takes the old place, perhaps */
            must(gyre_buffer_alloc(runtime, NULL, 0, sizeof words, &other));
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        crash_reply reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == i);
        require(reply.check == 1000 * i + 1000 * 999 / 2);
    }
    require(info_of(kernel).restarts >= 1);
    gyre_close(runtime);
}

static void send_large(gyre_queue *queue, const uint64_t *words, uint64_t number)
{
    crash_span request;
    gyre_begin(&request);
    request.fault = number % 13 == 5 ? CRASH_SEGFAULT : CRASH_NOT;
    request.always = number == 18;
    request.number = number;
    must(gyre_put_large(&request, &request.words, words + number, 1000));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

/* Of two sends in a row the second one waits for room, perhaps while the worker is replaced. */
static void large_spans_are_replayed_and_given_back(void)
{
    enum { COUNT = 60, AHEAD = 7 };
    static uint64_t words[COUNT + 1000];
    gyre_runtime *runtime = open_isolated(
        (const char *[]){"queue.default.span_handles=1K", "queue.default.span_memory=64K", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_spans", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_queue_stats stats = {.size = sizeof stats};
    crash_span buried;
    gyre_dead_letter letter = {.size = sizeof letter};
    for (uint64_t i = 0; i < COUNT + 1000; i++)
        words[i] = i;
    for (uint64_t sent = 0, i = 0; i < COUNT; i++) {
        crash_reply reply;
        gyre_completion completion;
        for (; sent < COUNT && sent < i + AHEAD; sent++)
            send_large(queue, words, sent);
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (i == 18 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        require(i == 18 || (reply.number == i && reply.check == 1000 * i + 1000 * 999 / 2));
    }
    require(info_of(kernel).condemned == 1);
    must(gyre_queue_stats_get(queue, &stats));
    require(stats.spans_moved == COUNT && stats.spans_bytes == 0);
    must(gyre_dead_letter_take(queue, &letter, &buried, sizeof buried, GYRE_NO_WAIT));
    require(buried.number == 18 && buried.words.count == 1000 && gyre_is_far(buried.words));
    gyre_close(runtime);
}

static void a_handler_with_state_is_lost_and_can_be_launched_again(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_completion completion;
    crash_reply reply;
    send_one(queue, CRASH_SEGFAULT, 0, 1);
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_WAS_UNHANDLED);
    while (log_lines_with("what its handler keeps between messages") == 0)
        usleep(1000);
    require(info_of(kernel).state == GYRE_KERNEL_LOST);
    crash_request request = {.number = 5};
    require(gyre_send(queue, &request, sizeof request, NULL, soon()) == GYRE_LOST);
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()) == GYRE_LOST);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, soon()) == GYRE_LOST);
    require(gyre_kernel_activate(kernel, soon()) == GYRE_LOST);
    must(gyre_kernel_relaunch(kernel));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1);
    gyre_close(runtime);
}

static void a_worker_that_dies_too_often_is_given_up(void)
{
    gyre_runtime *runtime = open_isolated(
        (const char *[]){"backend.cpu.restart_limit=3", "kernel.default.poison_limit=1000", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    crash_reply reply;
    gyre_completion completion;
    send_one(queue, CRASH_SEGFAULT, 1, 1);
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_WAS_UNHANDLED && info_of(kernel).restarts == 4);
    while (log_lines_with("restart_limit") == 0)
        usleep(1000);
    gyre_buffer *buffer = NULL;
    require(gyre_buffer_alloc(runtime, NULL, 0, 64, &buffer) == GYRE_LOST);
    gyre_close(runtime);
}

/* What dies before it was launched, or never started, has seen no request: no request is accused of it. */
static void a_worker_that_cannot_be_started_accuses_no_request(void)
{
    const struct chosen_fault faults[] = {{GYRE_FAULT_KEEPER_SPAWN, GYRE_FAULT_FAIL, EAGAIN},
                                          {GYRE_FAULT_PROXY_REVIVE, GYRE_FAULT_FAIL, ENOMEM},
                                          {GYRE_FAULT_WORKER_MAP, GYRE_FAULT_FAIL, ENOMEM},
                                          {GYRE_FAULT_WORKER_START, GYRE_FAULT_DIE, 0}};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.poison_limit=2", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        uint64_t before = faults_fired();
        arm_fault(&faults[i], 1, 3);
        send_one(queue, CRASH_SEGFAULT, 0, i);
        receive_reply(queue, i, i);
        require(faults_fired() == before + 3);
    }
    require(info_of(kernel).condemned == 0);
    gyre_close(runtime);
}

/* The kernel ran before: what a device says when it is to launch it again may be of that worker alone. */
static void a_launch_that_a_worker_refuses_is_tried_with_the_next(void)
{
    const struct chosen_fault refuses = {GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, EIO};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.restart_limit=5", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 3; i++) {
        arm_fault(&refuses, 1, 4);
        send_one(queue, CRASH_SEGFAULT, 0, i);
        receive_reply(queue, i, i);
    }
    require(info_of(kernel).condemned == 0);
    gyre_close(runtime);
}

/* The same where a worker dies of the next request before it could say that it launched the kernel: it had answered one. */
static void refusals_before_a_reply_count_no_more(void)
{
    const struct chosen_fault refuses = {GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, EIO},
                              late = {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DELAY, 20};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.restart_limit=5", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    arm_fault(&late, 1, UINT64_MAX / 2);
    for (uint64_t i = 0; i < 3; i++) {
        arm_fault(&refuses, 1, 4);
        send_one(queue, CRASH_SEGFAULT, 0, i);
        receive_reply(queue, i, i);
    }
    disarm_faults();
    gyre_close(runtime);
}

static void a_kernel_that_every_worker_refuses_is_given_up(void)
{
    const struct chosen_fault refuses = {GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, EIO};
    crash_reply reply;
    gyre_completion completion;
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.restart_limit=3", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    arm_fault(&refuses, 1, 1000);
    send_one(queue, CRASH_SEGFAULT, 1, 1);
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_WAS_UNHANDLED);
    while (log_lines_with("is lost with 1 unanswered requests") == 0)
        usleep(1000);
    require(log_lines_with("the device refuses kernel 'fragile'") == 3);
    gyre_close(runtime);
}

/* Who frees a kernel waits for the end of its revival, which nobody is at any more once it is released. */
static void a_kernel_is_released_while_workers_refuse_it(void)
{
    const struct chosen_fault refuses = {GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, EIO};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.restart_limit=1000", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    arm_fault(&refuses, 1, 1000);
    send_one(gyre_kernel_queue(kernel), CRASH_SEGFAULT, 1, 1);
    for (uint64_t limit = soon(); faults_fired() < 2; usleep(500))
        require(gyre_now_ns() < limit);
    gyre_kernel_release(kernel);
    disarm_faults();
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    send_one(queue, CRASH_NOT, 0, 2);
    receive_reply(queue, 0, 2);
    gyre_close(runtime);
}

static void an_operation_that_is_made_again_has_its_time_again(void)
{
    const struct chosen_fault slow = {GYRE_FAULT_WORKER_CALL, GYRE_FAULT_DELAY, 3000};
    uint64_t number = 7, found = 0;
    gyre_buffer *buffer = NULL;
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.worker_timeout_ms=1000", NULL});
    must(gyre_buffer_alloc(runtime, NULL, 0, sizeof number, &buffer));
    arm_fault(&slow, 1, 1);
    must(gyre_buffer_upload(buffer, 0, &number, sizeof number));
    must(gyre_buffer_download(buffer, 0, &found, sizeof found));
    require(found == number && log_lines_with("did not answer 'transfer' in time") >= 1);
    gyre_close(runtime);
}

/* It takes longer than any worker lives, until the request is failed. */
static void an_upload_outlives_workers_that_a_request_takes_down(void)
{
    enum { SIZE = 48 << 20 };
    static unsigned char bytes[SIZE];
    gyre_buffer *buffer = NULL;
    gyre_runtime *runtime =
        open_isolated((const char *[]){"kernel.default.poison_limit=7", "backend.cpu.restart_limit=100",
                                       "backend.cpu.restart_backoff_ms=0", NULL});
    memset(bytes, 7, SIZE);
    must(gyre_buffer_alloc(runtime, NULL, 0, SIZE, &buffer));
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    send_one(gyre_kernel_queue(kernel), CRASH_SEGFAULT, 1, 1);
    must(gyre_buffer_upload(buffer, 0, bytes, SIZE));
    memset(bytes, 0, SIZE);
    must(gyre_buffer_download(buffer, 0, bytes, SIZE));
    for (size_t i = 0; i < SIZE; i += 4096)
        require(bytes[i] == 7);
    require(receive_one(gyre_kernel_queue(kernel), 0, 1).failure_code == -10);
    gyre_close(runtime);
}

static void a_worker_that_dies_before_its_launch_is_answered_counts(void)
{
    const struct chosen_fault slow = {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DELAY, 30};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.poison_limit=5", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    arm_fault(&slow, 1, 1000);
    send_one(queue, CRASH_SEGFAULT, 1, 7);
    require(receive_one(queue, 0, 7).failure_code == -10);
    require(info_of(kernel).restarts == 5);
    gyre_close(runtime);
}

/* Stops and closes at any moment of a crash and what follows. */
static void stopping_and_closing_take_precedence(void)
{
    for (unsigned round = 0; round < 40; round++) {
        gyre_runtime *runtime = open_isolated(NULL);
        gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1 + round % 2);
        gyre_queue *queue = gyre_kernel_queue(kernel);
        uint64_t unhandled = 0, told = 0;
        for (uint64_t i = 0; i < 50; i++)
            send_one(queue, i == 10 ? CRASH_SEGFAULT : CRASH_NOT, round % 4 == 3, i);
        usleep(round * 500);
        must(gyre_kernel_terminate(kernel, round % 3 ? GYRE_NO_WAIT : gyre_in_ms(20), &unhandled));
        for (uint64_t i = 0; i < 50; i++)
            told += receive_one(queue, i, i).outcome == GYRE_WAS_UNHANDLED;
        require(told == unhandled);
        if (round % 5 == 0) {
            must(gyre_kernel_relaunch(kernel));
            call_number(queue, round);
        }
        gyre_close(runtime);
    }
    require(worker_of(getpid()) == 0);
}

/* A handler that has no processor for so long is taken for one that does not return. */
static gyre_runtime *open_impatient(void)
{
    return open_isolated(
        (const char *const[]){patient_setting("kernel.default.handler_budget_ms", 100), NULL});
}

static void an_endless_loop_is_ended_and_everything_answered(void)
{
    for (uint32_t blocks = 1; blocks <= 3; blocks += 2) {
        gyre_runtime *runtime = open_impatient();
        gyre_kernel *kernel = launch_fragile(runtime, "fragile", blocks);
        gyre_queue *queue = gyre_kernel_queue(kernel);
        for (uint64_t i = 0; i < 500; i++)
            send_one(queue, i == 200 ? CRASH_LOOP : CRASH_NOT, 0, 1000 * blocks + i);
        uint64_t start = gyre_now_ns();
        for (uint64_t i = 0; i < 500; i++)
            receive_reply(queue, i, 1000 * blocks + i);
        require(gyre_now_ns() - start < patiently(UINT64_C(2000000000)));
        require(info_of(kernel).stalls == 1 && info_of(kernel).restarts == 1);
        for (uint64_t limit = soon(); info_of(kernel).health != GYRE_HEALTH_IDLE;)
            require(gyre_now_ns() < limit); /* replies may come before the launch is known to have worked */
        require(log_lines_with("is stalled") == 1 + blocks / 2);
        gyre_close(runtime);
    }
}

static void a_stopped_worker_is_replaced(void)
{
    gyre_runtime *runtime = open_impatient();
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    send_one(gyre_kernel_queue(kernel), CRASH_STOP, 0, 1);
    receive_reply(gyre_kernel_queue(kernel), 0, 1);
    gyre_close(runtime);
}

static void a_request_that_always_loops_is_failed(void)
{
    gyre_runtime *runtime = open_impatient();
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    for (uint64_t i = 0; i < 100; i++)
        send_one(gyre_kernel_queue(kernel), i == 30 ? CRASH_LOOP : CRASH_NOT, 1, i);
    for (uint64_t i = 0; i < 100; i++) {
        gyre_completion completion = receive_one(gyre_kernel_queue(kernel), i, i);
        require(completion.outcome == (i == 30 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        if (i == 30)
            require(strstr(completion.failure_text, "over handler_budget_ms"));
    }
    gyre_close(runtime);
}

/* What waits behind it makes that the culprit has to be found first: more than one death, one soon after
 * another. */
static void a_loop_with_others_behind_it_is_failed(void)
{
    for (uint32_t blocks = 1; blocks <= 2; blocks++) {
        gyre_runtime *runtime = open_impatient();
        gyre_kernel *kernel = launch_fragile(runtime, "fragile", blocks);
        gyre_queue *queue = gyre_kernel_queue(kernel);
        for (uint64_t i = 0; i < 4; i++)
            send_one(queue, i == 1 ? CRASH_LOOP : CRASH_NOT, 1, i);
        for (uint64_t i = 0; i < 4; i++)
            require(receive_one(queue, i, i).outcome == (i == 1 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        require(info_of(kernel).stalls == info_of(kernel).restarts && info_of(kernel).condemned == 1);
        gyre_close(runtime);
    }
}

static void a_busy_kernel_is_not_stalled(void)
{
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.handler_budget_ms=400", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 20; i++)
        send_one(queue, CRASH_SLOW, 1, i); /* 60 ms each */
    require(info_of(kernel).health == GYRE_HEALTH_BUSY);
    must(gyre_kernel_deactivate(kernel, soon()));
    usleep(600000); /* a pause is no stall */
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < 20; i++)
        receive_reply(queue, i, i);
    require(info_of(kernel).stalls == 0 && info_of(kernel).restarts == 0);
    gyre_close(runtime);
}

static void a_stall_is_only_reported_when_so_told(void)
{
    gyre_runtime *runtime = open_isolated(
        (const char *[]){"kernel.default.handler_budget_ms=20", "kernel.default.on_stall=report", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    const uint64_t limit = soon();
    send_one(gyre_kernel_queue(kernel), CRASH_WAIT, 1, 1);
    while (info_of(kernel).health != GYRE_HEALTH_STALLED) {
        require(gyre_now_ns() < limit);
        usleep(1000); /* whoever asks all the time keeps the watchdog from looking */
    }
    usleep(60000); /* for several budgets */
    require(info_of(kernel).health == GYRE_HEALTH_STALLED);
    let_handlers_go_on();
    receive_reply(gyre_kernel_queue(kernel), 0, 1);
    require(info_of(kernel).stalls == 1 && info_of(kernel).restarts == 0);
    gyre_close(runtime);
}

static void a_stalled_kernel_is_given_up_when_so_told(void)
{
    gyre_runtime *runtime = open_isolated(
        (const char *[]){"kernel.default.handler_budget_ms=50", "kernel.default.on_stall=stop", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    send_one(gyre_kernel_queue(kernel), CRASH_LOOP, 1, 1);
    require(receive_one(gyre_kernel_queue(kernel), 0, 1).outcome == GYRE_WAS_UNHANDLED);
    while (log_lines_with("on_stall = stop") == 0)
        usleep(1000);
    require(info_of(kernel).state == GYRE_KERNEL_LOST && info_of(kernel).health == GYRE_HEALTH_DEAD);
    must(gyre_kernel_relaunch(kernel));
    call_number(gyre_kernel_queue(kernel), 2);
    gyre_close(runtime);
}

struct churn {
    gyre_runtime *runtime;
    bool stop;
};

static void *churn_kernels(void *argument)
{
    struct churn *churn = argument;
    char name[32];
    for (unsigned i = 0; !__atomic_load_n(&churn->stop, __ATOMIC_ACQUIRE); i++) {
        gyre_kernel *kernel = NULL;
        snprintf(name, sizeof name, "churn%u", i);
        gyre_launch_desc desc = {
            .size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile", .name = name, .blocks = 2};
        must(gyre_launch(churn->runtime, &desc, &kernel));
        call_number(gyre_kernel_queue(kernel), i);
        gyre_queue *queue = NULL;
        must(gyre_queue_open(kernel, NULL, &queue));
        call_number(queue, i);
        gyre_queue_close(queue);
        gyre_kernel_release(kernel);
    }
    return NULL;
}

static void launching_goes_on_while_workers_die(void)
{
    struct churn churn = {.runtime = open_isolated(NULL)};
    gyre_kernel *kernel = launch_fragile(churn.runtime, "fragile", 1);
    pthread_t thread;
    require(pthread_create(&thread, NULL, churn_kernels, &churn) == 0);
    for (uint64_t i = 0; i < 40; i++) {
        usleep((useconds_t)patiently(7000)); /* a launch is lost with three workers in a row */
        kill_worker();
        call_number(gyre_kernel_queue(kernel), i);
    }
    __atomic_store_n(&churn.stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    gyre_close(churn.runtime);
}

/*
 * Two requests take their worker down, and the one between them was answered before that. When the first one is
 * failed, both can be received, and their places sent into, while the second one is handed out alone.
 */
static void a_place_that_is_used_again_keeps_its_request(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "queue.default.capacity=4", patient_setting("kernel.default.handler_budget_ms", 200),
        "kernel.default.poison_limit=1", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 2));
    send_one(queue, CRASH_LOOP, 1, 0);
    send_one(queue, CRASH_NOT, 0, 1);
    must(gyre_await(queue, 1, GYRE_PROCESSED, soon()));
    send_one(queue, CRASH_LOOP, 1, 2);
    send_one(queue, CRASH_NOT, 0, 3);
    for (uint64_t i = 0; i < 6; i++) {
        const gyre_completion completion = receive_one(queue, i, i);
        require(completion.outcome == (i == 0 || i == 2 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        if (i == 1)
            for (uint64_t next = 4; next < 6; next++)
                send_one(queue, CRASH_NOT, 0, next);
    }
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"every_request_survives_a_segfault", every_request_survives_a_segfault},
    {"every_request_survives_with_several_blocks", every_request_survives_with_several_blocks},
    {"every_request_survives_an_abort", every_request_survives_an_abort},
    {"every_request_survives_an_exit", every_request_survives_an_exit},
    {"a_single_poison_message_is_failed", a_single_poison_message_is_failed},
    {"why_a_request_is_failed_fits_its_text", why_a_request_is_failed_fits_its_text},
    {"poison_in_a_stream_is_found", poison_in_a_stream_is_found},
    {"poison_is_found_among_several_blocks", poison_is_found_among_several_blocks},
    {"poison_in_one_queue_spares_the_others", poison_in_one_queue_spares_the_others},
    {"a_place_that_is_used_again_keeps_its_request", a_place_that_is_used_again_keeps_its_request},
    {"a_killed_worker_is_replaced", a_killed_worker_is_replaced},
    {"kernels_and_buffers_of_the_device_come_back", kernels_and_buffers_of_the_device_come_back},
    {"far_spans_are_found_in_a_new_worker", far_spans_are_found_in_a_new_worker},
    {"large_spans_are_replayed_and_given_back", large_spans_are_replayed_and_given_back},
    {"a_handler_with_state_is_lost_and_can_be_launched_again",
     a_handler_with_state_is_lost_and_can_be_launched_again},
    {"a_worker_that_dies_too_often_is_given_up", a_worker_that_dies_too_often_is_given_up},
    {"a_worker_that_cannot_be_started_accuses_no_request",
     a_worker_that_cannot_be_started_accuses_no_request},
    {"a_launch_that_a_worker_refuses_is_tried_with_the_next",
     a_launch_that_a_worker_refuses_is_tried_with_the_next},
    {"refusals_before_a_reply_count_no_more", refusals_before_a_reply_count_no_more},
    {"a_kernel_is_released_while_workers_refuse_it", a_kernel_is_released_while_workers_refuse_it},
    {"a_kernel_that_every_worker_refuses_is_given_up", a_kernel_that_every_worker_refuses_is_given_up},
    {"an_upload_outlives_workers_that_a_request_takes_down",
     an_upload_outlives_workers_that_a_request_takes_down},
    {"an_operation_that_is_made_again_has_its_time_again",
     an_operation_that_is_made_again_has_its_time_again},
    {"a_worker_that_dies_before_its_launch_is_answered_counts",
     a_worker_that_dies_before_its_launch_is_answered_counts},
    {"stopping_and_closing_take_precedence", stopping_and_closing_take_precedence},
    {"an_endless_loop_is_ended_and_everything_answered", an_endless_loop_is_ended_and_everything_answered},
    {"a_stopped_worker_is_replaced", a_stopped_worker_is_replaced},
    {"a_request_that_always_loops_is_failed", a_request_that_always_loops_is_failed},
    {"a_loop_with_others_behind_it_is_failed", a_loop_with_others_behind_it_is_failed},
    {"a_busy_kernel_is_not_stalled", a_busy_kernel_is_not_stalled},
    {"a_stall_is_only_reported_when_so_told", a_stall_is_only_reported_when_so_told},
    {"a_stalled_kernel_is_given_up_when_so_told", a_stalled_kernel_is_given_up_when_so_told},
    {"launching_goes_on_while_workers_die", launching_goes_on_while_workers_die},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
