/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes come and go with what needs them: none stays, no zombie, no descriptor. */
#include "faults.h"
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10 };

static void call_once(gyre_kernel *kernel, uint64_t number)
{
    crash_request request = {.number = number};
    crash_reply reply = {0};
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == mixed(number));
}

static void nothing_stays_after_closing(void)
{
    size_t before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        gyre_runtime *runtime = open_isolated(NULL);
        require(worker_of(getpid()) == 0); /* it starts with the first need of a device */
        call_once(launch_fragile(runtime, "fragile", 1), 5);
        pid_t worker = worker_of(getpid());
        require(worker != 0);
        gyre_close(runtime);
        require(!is_alive(worker) && waitpid(-1, NULL, WNOHANG) < 0);
        if (round == 0)
            before = open_descriptors();
        require(open_descriptors() == before);
    }
}

static void do_nothing(int signal)
{
    (void)signal;
}

/* A timer's signals ended the wait for the guard, which then stayed as a zombie. */
static void nothing_stays_where_signals_interrupt_closing(void)
{
    const struct sigaction interrupts = {.sa_handler = do_nothing}; /* without SA_RESTART */
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    require(sigaction(SIGALRM, &interrupts, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        gyre_runtime *runtime = open_isolated(NULL);
        call_once(launch_fragile(runtime, "fragile", 1), 5);
        require(setitimer(ITIMER_REAL, &often, NULL) == 0);
        gyre_close(runtime);
        require(setitimer(ITIMER_REAL, &never, NULL) == 0);
        require(waitpid(-1, NULL, WNOHANG) < 0);
    }
}

/* In a program of its own: tells its worker's number and then waits to be killed. */
static int be_victim(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    call_once(launch_fragile(runtime, "fragile", 1), 7);
    printf("%ld\n", (long)worker_of(getpid()));
    fflush(stdout);
    pause();
    gyre_close(runtime);
    return EXIT_SUCCESS;
}

static void a_worker_dies_with_its_program(void)
{
    int ends[2];
    char text[32] = "";
    require(pipe(ends) == 0);
    pid_t victim = fork(); /* before any thread of this program */
    if (victim == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "test_worker_life", "victim", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    require(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    pid_t worker = (pid_t)strtol(text, NULL, 10);
    require(worker > 0 && is_alive(worker));
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
    for (uint64_t deadline_ns = soon(); is_alive(worker);) {
        require(gyre_now_ns() < deadline_ns);
        usleep(1000);
    }
}

static gyre_status alloc(gyre_runtime *runtime)
{
    gyre_buffer *buffer = NULL;
    return gyre_buffer_alloc(runtime, NULL, 0, 64, &buffer);
}

/* As one that dies later is; once, because somebody waits. */
static void a_worker_that_dies_while_it_opens_its_device_is_replaced(enum gyre_fault_point point)
{
    const struct chosen_fault dies = {point, GYRE_FAULT_DIE, 0};
    const uint64_t fired = faults_fired(), told = log_lines_with("backend 'cpu': device_open: the worker");
    gyre_runtime *runtime = open_isolated(NULL);
    arm_fault(&dies, 1, 1);
    call_once(launch_fragile(runtime, "fragile", 1), 9);
    gyre_close(runtime);
    require(faults_fired() == fired + 1);
    require(log_lines_with("backend 'cpu': device_open: the worker") == told + 1);
    runtime = open_isolated(NULL);
    arm_fault(&dies, 1, 2);
    require(alloc(runtime) == GYRE_LOST && strstr(gyre_error_text(), "device_open: the worker"));
    must(alloc(runtime)); /* asked again */
    gyre_close(runtime);
}

static void no_worker_is_replaced_when_so_told(void)
{
    const struct chosen_fault dies = {GYRE_FAULT_WORKER_START, GYRE_FAULT_DIE, 0};
    gyre_runtime *runtime = open_isolated((const char *[]){"backend.cpu.restart_limit=0", NULL});
    arm_fault(&dies, 1, 1);
    require(alloc(runtime) == GYRE_LOST);
    gyre_close(runtime);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "victim"))
        return be_victim();
    a_worker_dies_with_its_program();
    nothing_stays_after_closing();
    nothing_stays_where_signals_interrupt_closing();
    if (!make_fault_board())
        return EXIT_SUCCESS; /* the rest is about fault points; of a build without: driver_failures/worker */
    a_worker_that_dies_while_it_opens_its_device_is_replaced(GYRE_FAULT_WORKER_START);
    a_worker_that_dies_while_it_opens_its_device_is_replaced(GYRE_FAULT_WORKER_CALL);
    a_worker_that_dies_while_it_opens_its_device_is_replaced(GYRE_FAULT_WORKER_ANSWER);
    no_worker_is_replaced_when_so_told();
    return EXIT_SUCCESS;
}
