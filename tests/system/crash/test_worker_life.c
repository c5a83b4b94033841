/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes come and go with what needs them: none stays, no zombie, no descriptor. */
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "victim"))
        return be_victim();
    a_worker_dies_with_its_program();
    nothing_stays_after_closing();
    return EXIT_SUCCESS;
}
