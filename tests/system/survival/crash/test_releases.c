/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are launched, released or ended while their worker dies or others need them: one case a run, `test_releases
 * CASE`.
 */
#include "faults.h"
#include "requests.h"
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *kill_worker_later(void *argument)
{
    usleep(700000);
    kill_worker();
    return argument;
}

/*
 * Its handler does not return, so its release gives it up, and waits for the recovery that still has another kernel to
 * launch. The worker dies under that, and the handler with it.
 */
static void a_kernel_released_during_a_recovery_leaves_nothing_behind(void)
{
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *const[]){"kernel.hung.stop_timeout_ms=100", NULL});
    gyre_kernel *hung = launch_as(runtime, "hung", "fragile");
    gyre_kernel *other = launch_as(runtime, "other", "fragile");
    pthread_t killer;
    send_one(gyre_kernel_queue(hung), CRASH_WAIT, 1, 0);
    arm_fault(&(struct chosen_fault){GYRE_FAULT_RECOVERY_LAUNCH, GYRE_FAULT_DELAY, 2500}, 2, 1);
    kill_worker();
    while (!faults_fired())
        usleep(1000);
    usleep(100000); /* until the handler has its request */
    require(pthread_create(&killer, NULL, kill_worker_later, NULL) == 0);
    gyre_kernel_release(hung);
    pthread_join(killer, NULL);
    require(log_lines_with("stays behind") == 0);
    call_number(gyre_kernel_queue(other), 1);
    gyre_close(runtime);
}

/* What it keeps cannot be brought back, so the kernel is lost: nobody terminated it. */
static void a_worker_that_dies_under_a_launch_is_told_as_lost(void)
{
    need_fault_board();
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile_actor"};
    for (int i = 0; i < 5; i++) {
        gyre_kernel *kernel = NULL;
        arm_fault(&(struct chosen_fault){GYRE_FAULT_LAUNCH_REPORT, GYRE_FAULT_FAIL, EIO}, 1, 1);
        require(gyre_launch(runtime, &desc, &kernel) == GYRE_LOST);
        require(strstr(gyre_error_text(), "died") && !strstr(gyre_error_text(), "terminated"));
        disarm_faults();
    }
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    const crash_request request = {.number = 1};
    crash_reply reply = {0};
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1);
    gyre_close(runtime);
}

struct freer {
    gyre_buffer *buffer;
    pthread_t thread;
    gyre_status status;
    bool over;
};

static void *free_buffer(void *argument)
{
    struct freer *freer = argument;
    freer->status = gyre_buffer_free(freer->buffer);
    if (freer->status != GYRE_OK)
        fprintf(stderr, "%s\n", gyre_error_text());
    __atomic_store_n(&freer->over, true, __ATOMIC_RELEASE);
    return NULL;
}

/* A handler that has the buffer by name returns, its kernel ends, and another thread launches it again at once. */
static void a_buffer_is_freed_beside_a_relaunch(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    for (uint64_t round = 0; round < 40; round++) {
        struct freer freer = {.status = GYRE_OK};
        gyre_handle handle;
        must(gyre_buffer_alloc(runtime, NULL, 0, 64, &freer.buffer));
        must(gyre_buffer_handle(freer.buffer, 0, 0, &handle));
        send_one(gyre_kernel_queue(kernel), CRASH_SLOW, 1, round + 1);
        usleep(5000); /* until the handler has it */
        require(pthread_create(&freer.thread, NULL, free_buffer, &freer) == 0);
        usleep(5000); /* until it waits for the handler */
        must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
        must(gyre_kernel_relaunch(kernel));
        while (!__atomic_load_n(&freer.over, __ATOMIC_ACQUIRE))
            usleep(1000);
        pthread_join(freer.thread, NULL);
        must(freer.status);
        receive_one(gyre_kernel_queue(kernel), round, round + 1);
    }
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_worker_that_dies_under_a_launch_is_told_as_lost", a_worker_that_dies_under_a_launch_is_told_as_lost},
    {"a_buffer_is_freed_beside_a_relaunch", a_buffer_is_freed_beside_a_relaunch},
    {"a_kernel_released_during_a_recovery_leaves_nothing_behind",
     a_kernel_released_during_a_recovery_leaves_nothing_behind},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
