/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are released while their worker dies: one case a run, `test_releases CASE`. */
#include "faults.h"
#include "requests.h"
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *kill_worker_later(void *argument)
{
    usleep(700000);
    kill(worker_of(getpid()), SIGKILL);
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
    kill(worker_of(getpid()), SIGKILL);
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

static const named_case cases[] = {
    {"a_kernel_released_during_a_recovery_leaves_nothing_behind",
     a_kernel_released_during_a_recovery_leaves_nothing_behind},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
