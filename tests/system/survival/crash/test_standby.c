/* SPDX-License-Identifier: Apache-2.0 */
/* A second worker stands by: it takes over, may die itself, and is followed by another. `test_standby CASE`. */
#include "workers.h"
#include "../../../patience.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static gyre_runtime *open_with(const char *setting)
{
    const char *settings[] = {"backend.cpu.standby=on", "backend.cpu.restart_limit=1000", setting, NULL};
    return open_isolated(settings);
}

static gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

static void call_right(gyre_kernel *kernel, uint32_t fault, uint64_t number)
{
    crash_request request = {.fault = fault, .number = number};
    crash_reply reply = {0};
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == mixed(number));
}

/* The process that stands by, once it is ready. */
static pid_t await_standby(gyre_kernel *kernel)
{
    for (uint64_t limit = soon(); !info_of(kernel).standby; usleep(500))
        require(gyre_now_ns() < limit);
    pid_t standby = standby_of(getpid());
    require(standby != 0);
    return standby;
}

static void a_standby_worker_takes_over(void)
{
    gyre_runtime *runtime = open_with(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    for (uint64_t round = 0; round < 5; round++) {
        pid_t standby = await_standby(kernel);
        call_right(kernel, round % 2 ? CRASH_SEGFAULT : CRASH_EXIT, round);
        require(worker_of(getpid()) == standby && info_of(kernel).restarts == round + 1);
    }
    gyre_close(runtime);
}

/* What was launched after it was ready is loaded there, and what was released before it took over is not. */
static void a_standby_worker_has_every_kernel(void)
{
    gyre_runtime *runtime = open_with("kernel.default.checkpoints=true");
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    await_standby(kernel);
    gyre_kernel *gone = NULL, *late = launch_fragile(runtime, "fragile_actor", 1);
    gyre_launch_desc desc = {.size = sizeof desc, .source = STRAY_KERNELS ":strays"};
    gyre_buffer *near = NULL;
    must(gyre_buffer_alloc(runtime, NULL, 0, 64, &near));
    gyre_binding_name binding = {"near", near};
    desc.bindings = &binding;
    desc.binding_count = 1;
    must(gyre_launch(runtime, &desc, &gone));
    await_standby(kernel);
    gyre_kernel_release(gone);
    pid_t standby = await_standby(kernel);
    for (uint64_t i = 1; i <= 3; i++) {
        crash_request request = {.fault = i == 2 ? CRASH_ABORT : CRASH_NOT, .number = 100 + i};
        crash_reply reply = {0};
        must(
            gyre_call(gyre_kernel_queue(late), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i);
    }
    call_right(kernel, CRASH_NOT, 7);
    require(worker_of(getpid()) == standby);
    gyre_close(runtime);
}

static void a_standby_worker_that_dies_is_replaced(void)
{
    gyre_runtime *runtime = open_with(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    pid_t worker = worker_of(getpid()), standby = await_standby(kernel);
    kill(standby, SIGKILL);
    for (uint64_t limit = soon(); is_alive(standby) || info_of(kernel).standby; usleep(500))
        require(gyre_now_ns() < limit);
    for (uint64_t i = 0; i < 1000; i++)
        call_right(kernel, CRASH_NOT, i);
    require(await_standby(kernel) != standby);
    require(worker_of(getpid()) == worker && info_of(kernel).restarts == 0);
    require(log_lines_with("the standby worker of backend 'cpu' died: signal 9") == 1);
    gyre_close(runtime);
}

static void both_workers_may_die_at_once(void)
{
    gyre_runtime *runtime = open_with(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    for (uint64_t round = 0; round < 6; round++) {
        pid_t standby = await_standby(kernel), worker = worker_of(getpid());
        kill(round % 2 ? worker : standby, SIGKILL);
        kill(round % 2 ? standby : worker, SIGKILL);
        call_right(kernel, CRASH_NOT, round);
        require(info_of(kernel).condemned == 0);
    }
    gyre_close(runtime);
}

/* It is given a second, and then one is started as without it. */
static void a_standby_worker_that_is_stopped_is_passed_over(void)
{
    gyre_runtime *runtime = open_with(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    pid_t standby = await_standby(kernel);
    kill(standby, SIGSTOP);
    uint64_t begun = gyre_now_ns();
    call_right(kernel, CRASH_TRAP, 1);
    require(gyre_now_ns() - begun < patiently(UINT64_C(8000000000)) && worker_of(getpid()) != standby);
    require(await_standby(kernel) != standby && !is_alive(standby));
    gyre_close(runtime);
}

/* At any moment of its being started and made ready. */
static void workers_die_while_a_standby_is_made_ready(void)
{
    gyre_runtime *runtime = open_with(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    for (uint64_t round = 0; round < 40; round++) {
        usleep((unsigned)(round * 5000)); /* the next one is asked for after 100 ms */
        if (round % 3 == 2) {
            pid_t standby = standby_of(getpid());
            if (standby)
                kill(standby, SIGKILL);
        }
        call_right(kernel, round % 2 ? CRASH_SEGFAULT : CRASH_ABORT, round);
    }
    require(info_of(kernel).restarts >= 40 && info_of(kernel).condemned == 0);
    gyre_close(runtime);
}

static void nothing_of_a_standby_worker_stays(void)
{
    size_t before = open_descriptors();
    for (int round = 0; round < 12; round++) {
        gyre_runtime *runtime = open_with(NULL);
        gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
        if (round % 3 == 0)
            await_standby(kernel);
        usleep((unsigned)round * 1000); /* it is closed at any moment of its start */
        gyre_close(runtime);
        require(!standby_of(getpid()) && !worker_of(getpid()));
    }
    require(open_descriptors() == before);
    require(log_lines_with("standby worker") == 0); /* nobody is told of one that the program ended itself */
}

/* From now on the process can map no thread's stack more, and little else. */
static void leave_no_room(pid_t process)
{
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", process);
    FILE *file = fopen(path, "re");
    require(file && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    rlim_t size = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (3 << 20);
    require(prlimit(process, RLIMIT_AS, &(struct rlimit){size, size}, NULL) == 0);
}

/* A launch that fails half-way stops the threads that it started, and by that alone the next one must not be. */
static void a_standby_worker_without_memory_for_threads_is_passed_over(void)
{
    if (SANITIZED)
        exit(77); /* the sanitizer itself needs room, and ends the process */
    gyre_runtime *runtime =
        open_with(patient_setting("backend.cpu.worker_timeout_ms", 500)); /* it may not even fail */
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 4);
    for (uint64_t round = 0; round < 3; round++) {
        leave_no_room(await_standby(kernel));
        call_right(kernel, CRASH_SEGFAULT, round);
    }
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_standby_worker_takes_over", a_standby_worker_takes_over},
    {"a_standby_worker_has_every_kernel", a_standby_worker_has_every_kernel},
    {"a_standby_worker_that_dies_is_replaced", a_standby_worker_that_dies_is_replaced},
    {"both_workers_may_die_at_once", both_workers_may_die_at_once},
    {"a_standby_worker_that_is_stopped_is_passed_over", a_standby_worker_that_is_stopped_is_passed_over},
    {"a_standby_worker_without_memory_for_threads_is_passed_over",
     a_standby_worker_without_memory_for_threads_is_passed_over},
    {"workers_die_while_a_standby_is_made_ready", workers_die_while_a_standby_is_made_ready},
    {"nothing_of_a_standby_worker_stays", nothing_of_a_standby_worker_stays},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
