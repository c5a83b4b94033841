/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of handlers that take long, of a kernel and of each of its blocks. One case a run. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workers.h"

#include "../../../patience.h"

static gyre_kernel_info info_of(const gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

static void send(gyre_queue *queue, uint64_t number)
{
    crash_request request = {.fault = CRASH_SLOW, .always = 1, .number = number}; /* 60 ms */
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static void receive(gyre_queue *queue, uint64_t number)
{
    crash_reply reply = {0};
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == mixed(number));
}

static void a_stall_without_a_budget_is_told(void)
{
    for (int isolated = 0; isolated < 2; isolated++) {
        gyre_runtime *runtime = open_isolated((const char *[]){
            "kernel.default.stall_told_ms=20",
            isolated ? "backend.cpu.isolation=process" : "backend.cpu.isolation=none", NULL});
        gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
        const size_t over = log_lines_with("goes on: its handler came back");
        const uint64_t limit = soon();
        bool seen = false;
        for (uint64_t number = 0; !seen || log_lines_with("goes on: its handler came back") == over;
             number++) {
            require(gyre_now_ns() < limit); /* a busy machine may look too late, now and then */
            send(gyre_kernel_queue(kernel), number);
            while (info_of(kernel).health != GYRE_HEALTH_IDLE)
                seen = seen || info_of(kernel).health == GYRE_HEALTH_STALLED;
            receive(gyre_kernel_queue(kernel), number); /* it took as long as it liked */
        }
        require(info_of(kernel).stalls > 0 && info_of(kernel).restarts == 0);
        require(log_lines_with(isolated ? "busy; handler_budget_ms would end it"
                                        : "handler_budget_ms and isolation = process would end it") > 0);
        gyre_close(runtime);
    }
}

static void a_stall_is_not_told_when_so_told(void)
{
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.stall_told_ms=0", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    send(gyre_kernel_queue(kernel), 1);
    for (gyre_kernel_health now; (now = info_of(kernel).health) != GYRE_HEALTH_IDLE;)
        require(now == GYRE_HEALTH_BUSY);
    receive(gyre_kernel_queue(kernel), 1);
    require(info_of(kernel).stalls == 0);
    gyre_close(runtime);
}

/* A look falls into most of these handlers, and finds a queue that was never looked at before. */
static void a_queue_that_is_new_is_not_stalled(void)
{
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.handler_budget_ms=800", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    for (uint64_t number = 0; number < 8; number++) {
        gyre_queue *queue = NULL;
        must(gyre_queue_open(kernel, NULL, &queue));
        send(queue, number);
        receive(queue, number);
        gyre_queue_close(queue);
    }
    require(info_of(kernel).stalls == 0 && info_of(kernel).restarts == 0);
    gyre_close(runtime);
}

/* Far more than the handler of a request takes that is held for 300 ms. */
enum { IDLE_BUDGET_MS = 500 };

static void sleep_over_budget(void)
{
    usleep((useconds_t)patiently(IDLE_BUDGET_MS + 100) * 1000);
}

/* However long nobody asked: its next request has the whole budget. */
static void an_idle_queue_is_not_stalled_by_its_next_request(void)
{
    gyre_runtime *runtime = open_isolated(
        (const char *[]){patient_setting("kernel.default.handler_budget_ms", IDLE_BUDGET_MS), NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const crash_request held = {.fault = CRASH_WAIT, .always = 1, .number = 1};
    send(queue, 0);
    receive(queue, 0);
    sleep_over_budget();
    must(gyre_send(queue, &held, sizeof held, NULL, soon()));
    usleep(300000); /* two looks at least */
    let_handlers_go_on();
    receive(queue, 1);
    require(info_of(kernel).stalls == 0 && info_of(kernel).restarts == 0);
    gyre_close(runtime);
}

enum { BUDGET_MS = 500 };

static gyre_kernel *launch_chat(gyre_runtime **runtime, uint32_t blocks)
{
    *runtime =
        open_isolated((const char *[]){"kernel.default.handler_budget_ms=500", "queue.default.bytes=16384",
                                       "backend.cpu.restart_limit=50", NULL});
    return launch_fragile(*runtime, "fragile_chat", blocks);
}

/* Nobody receives, so replies lack room, and nothing is handled for several budgets. */
static void send_more_than_replies_have_room(gyre_kernel *kernel, uint64_t count)
{
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t number = 0; number < count; number++) {
        const crash_request request = {.number = number};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    usleep(3 * BUDGET_MS * 1000);
    require(info_of(kernel).handled < count && info_of(kernel).stalls == 0);
}

static void receive_chat(gyre_queue *queue, uint64_t number)
{
    crash_chat *reply = malloc(sizeof *reply);
    gyre_completion completion;
    must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply->number == number && reply->words.count == 400);
    const uint64_t *words = gyre_items(u64, reply, reply->words);
    for (uint64_t i = 0; i < 400; i++)
        require(words[i] == mixed(number + i));
    free(reply);
}

static void who_receives_late_costs_no_worker(void)
{
    for (uint32_t blocks = 1; blocks <= 2; blocks++) {
        gyre_runtime *runtime = NULL;
        gyre_kernel *kernel = launch_chat(&runtime, blocks);
        send_more_than_replies_have_room(kernel, 40);
        for (uint64_t number = 0; number < 40; number++)
            receive_chat(gyre_kernel_queue(kernel), number);
        require(info_of(kernel).stalls == 0 && info_of(kernel).restarts == 0);
        gyre_close(runtime);
    }
}

/* A loop behind replies that nobody received is found all the same. */
static void a_loop_is_found_while_nobody_receives(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = launch_chat(&runtime, 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const crash_request fine = {.number = 1}, loop = {.fault = CRASH_LOOP, .number = 2};
    must(gyre_send(queue, &fine, sizeof fine, NULL, soon()));
    must(gyre_send(queue, &loop, sizeof loop, NULL, soon()));
    for (const uint64_t limit = soon(); info_of(kernel).restarts == 0;)
        require(gyre_now_ns() < limit);
    require(info_of(kernel).stalls == 1);
    receive_chat(queue, 1);
    receive_chat(queue, 2);
    gyre_close(runtime);
}

static size_t blocks_that_are(gyre_kernel *kernel, gyre_kernel_health health)
{
    size_t count = 0;
    for (uint32_t block = 0; block < info_of(kernel).blocks; block++) {
        gyre_block_info info = {.size = sizeof info};
        must(gyre_kernel_block_get(kernel, block, &info));
        require(info.tells == 1);
        count += info.health == health;
    }
    return count;
}

static void each_block_tells_what_it_does(void)
{
    gyre_runtime *runtime = open_isolated((const char *[]){"kernel.default.stall_told_ms=30", NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 3);
    gyre_block_info info = {.size = sizeof info};
    const uint64_t limit = soon();
    size_t busy = 0, stalled = 0;
    for (uint64_t number = 0; !busy || !stalled; number++) {
        require(gyre_now_ns() < limit);
        while (blocks_that_are(kernel, GYRE_HEALTH_IDLE) != 3)
            require(gyre_now_ns() < limit);
        send(gyre_kernel_queue(kernel), number);
        while (info_of(kernel).health != GYRE_HEALTH_IDLE) {
            busy += blocks_that_are(kernel, GYRE_HEALTH_BUSY) == 1;
            stalled += blocks_that_are(kernel, GYRE_HEALTH_STALLED) == 1;
            require(blocks_that_are(kernel, GYRE_HEALTH_IDLE) >= 2);
        }
        receive(gyre_kernel_queue(kernel), number);
    }
    require(gyre_kernel_block_get(kernel, 3, &info) == GYRE_INVALID);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    require(blocks_that_are(kernel, GYRE_HEALTH_DEAD) == 3);
    gyre_close(runtime);
}

/* ---- a program that is stopped, with its worker ---- */

static void run_to_be_stopped(void)
{
    gyre_runtime *runtime = open_isolated(
        (const char *[]){patient_setting("kernel.default.handler_budget_ms", IDLE_BUDGET_MS), NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    const crash_request held = {.fault = CRASH_WAIT, .always = 1, .number = 1};
    must(gyre_send(gyre_kernel_queue(kernel), &held, sizeof held, NULL, soon()));
    receive(gyre_kernel_queue(kernel), 1);
    require(info_of(kernel).stalls == 0 && info_of(kernel).restarts == 0);
    gyre_close(runtime);
}

/* The program goes on a little before its worker, and looks at what that did not answer. */
static void stop_with_worker(pid_t program)
{
    pid_t worker = 0;
    for (const uint64_t limit = soon(); !worker; worker = worker_of(program))
        require(gyre_now_ns() < limit);
    usleep(300000);
    require(kill(program, SIGSTOP) == 0 && kill(worker, SIGSTOP) == 0);
    sleep_over_budget();
    require(kill(program, SIGCONT) == 0);
    usleep(50000);
    let_handlers_go_on();
    require(kill(worker, SIGCONT) == 0);
}

/* As by Ctrl-Z: no handler used up its budget meanwhile. */
static void a_program_that_was_stopped_finds_nothing_stalled(void)
{
    int status = 0;
    const pid_t program = fork();
    require(program >= 0);
    if (program == 0) {
        run_to_be_stopped();
        _exit(EXIT_SUCCESS);
    }
    stop_with_worker(program);
    require(waitpid(program, &status, 0) == program);
    require(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

/* Where anything in the configuration would put them back, it is known at the launch only. */
static void checkpoints_that_nobody_puts_back_are_told(void)
{
    const char *const told =
        "checkpoints = true of kernel 'fragile_actor' has no effect: nothing puts them back";
    for (int isolated = 0; isolated < 2; isolated++) {
        const size_t before = log_lines_with(told);
        gyre_runtime *runtime = open_isolated((const char *[]){
            "kernel.default.checkpoints=true", "backend.other.isolation=process",
            isolated ? "backend.cpu.isolation=process" : "backend.cpu.isolation=none", NULL});
        launch_fragile(runtime, "fragile_actor", 1);
        launch_fragile(runtime, "fragile", 1);
        require(log_lines_with(told) == before + !isolated);
        require(log_lines_with("kernel 'fragile' has checkpoints = true, and nothing is kept") > 0);
        gyre_close(runtime);
    }
}

static const named_case cases[] = {
    {"a_stall_without_a_budget_is_told", a_stall_without_a_budget_is_told},
    {"a_stall_is_not_told_when_so_told", a_stall_is_not_told_when_so_told},
    {"a_queue_that_is_new_is_not_stalled", a_queue_that_is_new_is_not_stalled},
    {"an_idle_queue_is_not_stalled_by_its_next_request", an_idle_queue_is_not_stalled_by_its_next_request},
    {"who_receives_late_costs_no_worker", who_receives_late_costs_no_worker},
    {"a_loop_is_found_while_nobody_receives", a_loop_is_found_while_nobody_receives},
    {"each_block_tells_what_it_does", each_block_tells_what_it_does},
    {"a_program_that_was_stopped_finds_nothing_stalled", a_program_that_was_stopped_finds_nothing_stalled},
    {"checkpoints_that_nobody_puts_back_are_told", checkpoints_that_nobody_puts_back_are_told},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
