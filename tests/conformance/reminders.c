/* SPDX-License-Identifier: Apache-2.0 */
/* Reminders of keyed actors: when they come, how often, and what holds them up. */
#include "conformance.h"
#include "kernels/keyed.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gyre/keyed.h>

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

#define MS UINT64_C(1000000)

static alarm_state tell_alarm(gyre_queue *queue, uint64_t key, uint32_t what, uint64_t ns)
{
    const mark request = {.key = key, .number = ns, .what = what};
    alarm_state reply;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply;
}

/* The key's state, once it was reminded so often. */
static alarm_state await_alarm(gyre_kernel *kernel, uint64_t key, uint64_t reminded)
{
    alarm_state state;
    const uint64_t deadline = soon();
    do
        must(gyre_kernel_key_read(kernel, &key, sizeof key, &state, sizeof state));
    while (state.reminded < reminded && gyre_now_ns() < deadline);
    require(state.reminded == reminded);
    return state;
}

static uint64_t cpu_ns(void)
{
    struct timespec used;
    require(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
    return (uint64_t)used.tv_sec * 1000 * MS + (uint64_t)used.tv_nsec;
}

/* The thread that serves a device sleeps at last, whatever time it sleeps until. One that does not may be without a processor for once. */
static void await_rest(void)
{
    const uint64_t deadline = soon();
    for (int quiet = 0; quiet < 8;) {
        require(gyre_now_ns() < deadline);
        const uint64_t before = cpu_ns();
        usleep(50000);
        quiet = cpu_ns() - before < 2 * MS ? quiet + 1 : 0;
    }
}

/* None comes before its time, and one takes the place of another. */
static void keys_are_reminded(struct conformance *test)
{
    enum { MANY = 80 };
    gyre_kernel *kernel = launch_as(test, "keyed_alarms", "alarms", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const alarm_state far = tell_alarm(queue, 1, MARK_REMINDS, UINT64_MAX);
    if (strcmp(test->backend, "opencl") == 0)
        await_rest();
    tell_alarm(queue, 2, MARK_REMINDS, 3600000 * MS);
    const alarm_state asked = tell_alarm(queue, 2, MARK_REMINDS, 30 * MS);
    const alarm_state told = await_alarm(kernel, 2, 1);
    require(told.due_ns <= asked.now_ns + 30 * MS && told.at_ns >= told.due_ns);
    require(told.due_ns > far.now_ns + 30 * MS);
    for (uint64_t key = 0; key < MANY; key++)
        tell_alarm(queue, 100 + key, MARK_REMINDS, (key * 7 % 50) * MS);
    for (uint64_t key = 0; key < MANY; key++) {
        const alarm_state state = await_alarm(kernel, 100 + key, 1);
        require(state.at_ns >= state.due_ns);
    }
    require(await_alarm(kernel, 1, 0).now_ns == far.now_ns);
    require(tell_alarm(queue, 2, MARK_ADDS, 0).reminded == 1);
}

/* A reminder that asks for the next one counts from when it was due. */
static void reminders_follow_each_other(struct conformance *test)
{
    gyre_kernel *kernel = launch_as(test, "keyed_alarms", "alarms", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const alarm_state before = tell_alarm(queue, 4, MARK_ADDS, 0);
    tell_alarm(queue, 5, MARK_RINGS, 40 * MS);
    require(await_alarm(kernel, 5, 3).due_ns >= before.now_ns + 120 * MS);
}

/* What is not to come does not: a later reminder is there by then. */
static void reminders_are_taken_back(struct conformance *test)
{
    gyre_kernel *kernel = launch_as(test, "keyed_alarms", "alarms", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    tell_alarm(queue, 1, MARK_REMINDS, 50 * MS);
    tell_alarm(queue, 1, MARK_UNREMINDS, 0);
    tell_alarm(queue, 2, MARK_REMINDS, 50 * MS);
    tell_alarm(queue, 2, MARK_FORGETS, 0);
    tell_alarm(queue, 2, MARK_ADDS, 0);
    tell_alarm(queue, 3, MARK_REMINDS, 60 * MS);
    await_alarm(kernel, 3, 1);
    require(await_alarm(kernel, 1, 0).reminded == 0 && await_alarm(kernel, 2, 0).reminded == 0);
}

/* What was due in a pause comes afterwards, once. */
static void a_paused_kernel_reminds_later(struct conformance *test)
{
    gyre_kernel *kernel = launch_as(test, "keyed_alarms", "alarms", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    must(gyre_kernel_deactivate(kernel, soon()));
    const mark request = {.key = 1, .number = MS, .what = MARK_REMINDS};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    must(gyre_kernel_activate(kernel, soon()));
    alarm_state reply;
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    must(gyre_kernel_deactivate(kernel, soon()));
    const uint64_t replied_ns = gyre_now_ns(); /* the device's clock may count from another start */
    while (gyre_now_ns() < replied_ns + 2 * MS)
        sleep_ms(1);
    must(gyre_kernel_activate(kernel, soon()));
    await_alarm(kernel, 1, 1);
}

static void keys_with_a_reminder_stay(struct conformance *test)
{
    const char *const settings[] = {"kernel.keyed_alarms.keys=2", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "keyed.gyre.c", "keyed_alarms");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const mark third = {.key = 3};
    alarm_state reply;
    tell_alarm(queue, 1, MARK_REMINDS, 3600000 * MS);
    tell_alarm(queue, 2, MARK_ADDS, 0);
    tell_alarm(queue, 3, MARK_REMINDS, 3600000 * MS); /* 2 left, although 1 was used before it */
    require(gyre_call(queue, &(mark){.key = 4}, sizeof(mark), &reply, sizeof reply, NULL, soon()) ==
            GYRE_FAILED);
    require_sentence("no room for another key");
    tell_alarm(queue, third.key, MARK_UNREMINDS, 0);
    tell_alarm(queue, 4, MARK_ADDS, 0);
    gyre_close(runtime);
}

/* The log tells, and nothing else wakes the block that sleeps until the reminder is due. */
static void reminders_that_fail_are_told(struct conformance *test)
{
    gyre_kernel *kernel = launch_as(test, "keyed_alarms", "alarms", 1);
    gyre_kernel *deaf = launch_as(test, "keyed_deaf", "deaf", 1);
    marks reply;
    tell_alarm(gyre_kernel_queue(kernel), 1, MARK_REFUSES, 50 * MS);
    const uint64_t deadline = soon();
    while (!has_logged(test, "a reminder failed: not now") && gyre_now_ns() < deadline)
        sleep_ms(1);
    require(has_logged(test, "a reminder failed: not now"));
    await_alarm(kernel, 1, 1);
    require(gyre_call(gyre_kernel_queue(deaf), &(mark){.key = 1}, sizeof(mark), &reply, sizeof reply, NULL,
                      soon()) == GYRE_FAILED);
    require_sentence("gyre_remind without a GYRE_REMINDED");
}

static void require_checkpoints_refused(const struct conformance *test, const char *setting,
                                        const char *sentence)
{
    const char *const settings[] = {"kernel.keyed_alarms.checkpoints=true", setting, NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = kernel_path("keyed.gyre.c"), .kernel = "keyed_alarms"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_CONFIG);
    require_sentence(sentence);
    gyre_close(runtime);
}

/* Then messages and reminders go by the times at which messages were sent. */
static void reminders_come_with_checkpoints(struct conformance *test)
{
    const char *const settings[] = {"kernel.keyed_alarms.checkpoints=true", "queue.keyed_alarms.header=sent",
                                    "queue.second.header=sent", NULL};
    require_checkpoints_refused(test, NULL, "set header = sent in [queue.keyed_alarms]");
    require_checkpoints_refused(test, "queue.default.header=priority",
                                "set header = sent in [queue.keyed_alarms]");
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "keyed.gyre.c", "keyed_alarms");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    tell_alarm(queue, 1, MARK_REMINDS, 20 * MS);
    require(await_alarm(kernel, 1, 1).at_ns >= await_alarm(kernel, 1, 1).due_ns);
    tell_alarm(queue, 2, MARK_RINGS, 3 * MS);
    await_alarm(kernel, 2, 3);
    tell_alarm(queue, 1, MARK_REMINDS, 0); /* the next message is sent later than that */
    require(tell_alarm(queue, 1, MARK_ADDS, 0).reminded == 2);
    tell_alarm(queue, 3, MARK_REMINDS, 200 * MS);
    gyre_queue_close(
        queue); /* what was asked for by a queue that is gone comes nevertheless, once there is another one */
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "second"};
    must(gyre_queue_open(kernel, &desc, &queue));
    await_alarm(kernel, 3, 1);
    gyre_close(runtime);
}

const struct conformance_case reminder_cases[] = {
    {"keys_are_reminded", keys_are_reminded},
    {"reminders_follow_each_other", reminders_follow_each_other},
    {"reminders_are_taken_back", reminders_are_taken_back},
    {"a_paused_kernel_reminds_later", a_paused_kernel_reminds_later},
    {"keys_with_a_reminder_stay", keys_with_a_reminder_stay},
    {"reminders_that_fail_are_told", reminders_that_fail_are_told},
    {"reminders_come_with_checkpoints", reminders_come_with_checkpoints},
    {NULL, NULL},
};
