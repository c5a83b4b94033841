/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are lost with their worker, and what `on_loss` brings back: one case a run, `test_supervision CASE`. */
#include "faults.h"
#include "requests.h"
#include "workers.h"

#include <stdio.h>
#include <unistd.h>

/* An actor's worker dies, for which an actor is lost; false when it is not back in time. */
static void crash_actor(gyre_kernel *actor, bool always)
{
    crash_request request = {.fault = CRASH_SEGFAULT, .always = always, .number = 77};
    gyre_completion completion;
    crash_reply reply;
    gyre_status status = gyre_call(gyre_kernel_queue(actor), &request, sizeof request, &reply, sizeof reply,
                                   &completion, soon());
    require(status != GYRE_OK || completion.outcome == GYRE_WAS_UNHANDLED);
}

static void await_relaunches(gyre_kernel *kernel, uint32_t relaunches)
{
    for (uint64_t i = 0; info_of(kernel).relaunches < relaunches && i < patiently(10000); i++)
        usleep(1000);
    require(info_of(kernel).relaunches == relaunches && info_of(kernel).state == GYRE_KERNEL_ACTIVE);
}

/* Four kernels, of which the second is lost; which ones are launched again is a bit each. */
static void lose_the_second(const char *policy, uint32_t expected)
{
    static const char *const names[] = {"first", "second", "third", "other"};
    gyre_kernel *kernels[4];
    char on_loss[64];
    snprintf(on_loss, sizeof on_loss, "kernel.second.on_loss=%s", policy);
    gyre_runtime *runtime = open_isolated((const char *const[]){
        on_loss, "kernel.first.group=g", "kernel.second.group=g", "kernel.third.group=g", NULL});
    for (int i = 0; i < 4; i++)
        kernels[i] = launch_as(runtime, names[i], i == 1 ? "fragile_actor" : "fragile");
    must(gyre_kernel_deactivate(kernels[2], soon()));
    crash_actor(kernels[1], false);
    await_relaunches(kernels[1], 1);
    for (uint64_t i = 0; i < patiently(10000) && (expected & 4) && info_of(kernels[2]).relaunches == 0; i++)
        usleep(1000);
    for (uint32_t i = 0; i < 4; i++)
        require(info_of(kernels[i]).relaunches == (expected >> i & 1));
    for (uint64_t i = 0; i < patiently(10000) && info_of(kernels[2]).state != GYRE_KERNEL_INACTIVE; i++)
        usleep(1000);
    require(info_of(kernels[2]).state == GYRE_KERNEL_INACTIVE); /* as it was */
    call_number(gyre_kernel_queue(kernels[0]), 5);
    call_number(gyre_kernel_queue(kernels[3]), 6);
    gyre_close(runtime);
}

static void a_lost_kernel_is_launched_again_alone(void)
{
    lose_the_second("one", 2);
}

static void a_lost_kernel_takes_its_group_along(void)
{
    lose_the_second("all", 7);
}

static void a_lost_kernel_takes_the_later_ones_along(void)
{
    lose_the_second("rest", 6);
}

static void a_kernel_that_is_lost_too_often_is_left(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "kernel.actor.on_loss=one", "kernel.actor.loss_limit=3", "backend.cpu.restart_limit=100", NULL});
    gyre_kernel *actor = launch_as(runtime, "actor", "fragile_actor");
    for (uint32_t i = 1; i <= 3; i++) {
        crash_actor(actor, true);
        await_relaunches(actor, i);
    }
    crash_actor(actor, true);
    for (uint64_t i = 0; i < patiently(10000) && !log_lines_with("is left as it is (loss_limit)"); i++)
        usleep(1000);
    require(info_of(actor).state == GYRE_KERNEL_LOST && info_of(actor).relaunches == 3);
    must(gyre_kernel_relaunch(actor)); /* by the application, it may be */
    crash_request request = {.number = 1};
    crash_reply reply;
    must(gyre_call(gyre_kernel_queue(actor), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1); /* its state began anew */
    gyre_close(runtime);
}

/* The supervisor ended a kernel of the group, and the device refuses it once: it was left terminated for good. */
static void a_kernel_that_was_taken_along_is_tried_again(void)
{
    const struct chosen_fault refuses = {GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, EIO};
    need_fault_board();
    gyre_runtime *runtime = open_isolated((const char *const[]){"kernel.actor.on_loss=all", NULL});
    gyre_kernel *plain = launch_as(runtime, "plain", "fragile");
    gyre_kernel *actor = launch_as(runtime, "actor", "fragile_actor");
    arm_fault(&refuses, 2, 1); /* at first the next worker launches the plain one, which lives on */
    crash_actor(actor, false);
    await_relaunches(actor, 1);
    await_relaunches(plain, 1);
    require(faults_fired() == 1 && log_lines_with("kernel 'plain' could not be launched again"));
    call_number(gyre_kernel_queue(plain), 5);
    gyre_close(runtime);
}

/* Closing and releasing while the supervisor is at it. */
static void a_runtime_is_closed_while_its_kernels_are_lost(void)
{
    for (int i = 0; i < 15; i++) {
        gyre_runtime *runtime = open_isolated(
            (const char *const[]){"kernel.actor.on_loss=all", "kernel.actor.loss_limit=1000", NULL});
        gyre_kernel *actor = launch_as(runtime, "actor", "fragile_actor");
        gyre_kernel *plain = launch_as(runtime, "plain", "fragile");
        crash_actor(actor, true);
        usleep((useconds_t)i * 2000);
        if (i % 2)
            gyre_kernel_release(plain);
        gyre_close(runtime);
    }
}

static const named_case cases[] = {
    {"a_lost_kernel_is_launched_again_alone", a_lost_kernel_is_launched_again_alone},
    {"a_lost_kernel_takes_its_group_along", a_lost_kernel_takes_its_group_along},
    {"a_lost_kernel_takes_the_later_ones_along", a_lost_kernel_takes_the_later_ones_along},
    {"a_kernel_that_was_taken_along_is_tried_again", a_kernel_that_was_taken_along_is_tried_again},
    {"a_kernel_that_is_lost_too_often_is_left", a_kernel_that_is_lost_too_often_is_left},
    {"a_runtime_is_closed_while_its_kernels_are_lost", a_runtime_is_closed_while_its_kernels_are_lost},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
