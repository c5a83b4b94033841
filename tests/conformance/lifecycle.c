/* SPDX-License-Identifier: Apache-2.0 */
/* Launch, activate, deactivate, terminate, relaunch, close: in every order a user may try. */
#include "conformance.h"
#include "../patience.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void launch_call_close(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    require(call_word(queue, 14) == 42);
}

static void kernels_are_listed_with_state_and_metrics(struct conformance *test)
{
    gyre_kernel *kernels[4];
    gyre_kernel *first = launch(test, "words.gyre.c", "words_of_1");
    gyre_kernel *second = launch(test, "behave.gyre.c", "behave");
    require(gyre_kernels(test->runtime, kernels, 4) == 2);
    require(kernels[0] == first && kernels[1] == second);
    require(gyre_kernel_find(test->runtime, "behave") == second);
    require(gyre_kernel_find(test->runtime, "nobody") == NULL);
    for (uint64_t i = 0; i < 5; i++)
        call_word(gyre_kernel_queue(first), i);
    const uint64_t deadline_ns = soon();
    while (info_of(first).handled < 5) /* counts may come a little after the replies */
        require(gyre_now_ns() < deadline_ns);
    gyre_kernel_info info = info_of(first);
    require(!strcmp(info.name, "words_of_1") && info.state == GYRE_KERNEL_ACTIVE);
    require(info.handled == 5 && info.failed == 0 && info.queued == 0 && info.queues == 1);
    info =
        (gyre_kernel_info){.size = offsetof(gyre_kernel_info, lanes), .lanes = 7777}; /* an older caller's */
    must(gyre_kernel_info_get(first, &info));
    require(info.size == offsetof(gyre_kernel_info, lanes) && info.lanes == 7777);
    require(!strcmp(info.name, "words_of_1") && info.state == GYRE_KERNEL_ACTIVE);
    gyre_kernel_release(first);
    require(gyre_kernels(test->runtime, kernels, 4) == 1 && kernels[0] == second);
}

/* As many as the device has room for, and more than a GPU's driver has hardware queues for to begin with. */
static void many_kernels_run_side_by_side(struct conformance *test)
{
    enum { KERNELS = 36 };
    gyre_kernel *kernels[KERNELS];
    uint64_t count = 0;
    for (gyre_status status = GYRE_OK; count < KERNELS && status == GYRE_OK; count += status == GYRE_OK) {
        char name[16];
        gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
        snprintf(name, sizeof name, "many%llu", (unsigned long long)count);
        desc.name = name;
        status = gyre_launch(test->runtime, &desc, &kernels[count]);
        require(status == GYRE_OK || strstr(gyre_error_text(), "multiprocessors") ||
                strstr(gyre_error_text(), "compute units"));
    }
    require(count > 0);
    for (uint64_t turn = 0; turn < 3; turn++)
        for (uint64_t i = 0; i < count; i++)
            require(call_word(gyre_kernel_queue(kernels[i]), i + turn) == (i + turn) * 3);
}

/* The driver of a GPU makes memory for the threads of a kernel that needs more of it than those before, once no kernel is there. */
static void a_deep_kernel_starts_beside_others(struct conformance *test)
{
    static const char *const names[] = {"deep", "deep_again"};
    gyre_queue *first = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    require(call_word(first, 14) == 42);
    for (uint64_t i = 0; i < 2; i++) {
        gyre_kernel *deep = NULL;
        gyre_launch_desc desc = launch_desc(test, "deep.gyre.c", "deep");
        desc.name = names[i];
        must(gyre_launch(test->runtime, &desc, &deep));
        for (uint64_t word = 0; word < 100; word++) {
            require(call_word(gyre_kernel_queue(deep), word) == word + word * 7 % 400);
            require(call_word(first, word) == word * 3);
        }
    }
}

static void send_number(gyre_queue *queue, uint32_t what, uint64_t number)
{
    behaviour request = {.what = what, .microseconds = 2000, .number = number};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static uint64_t receive_number(gyre_queue *queue)
{
    words_1 reply = {{0}};
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    return reply.w[0];
}

static void an_inactive_launch_serves_after_activate(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "behave.gyre.c", "behave");
    words_1 reply;
    desc.start_inactive = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    require(info_of(kernel).state == GYRE_KERNEL_INACTIVE);
    send_number(queue, BEHAVE_REPLY, 1);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(50)) == GYRE_TIMEOUT);
    must(gyre_kernel_activate(kernel, soon()));
    require(receive_number(queue) == 2);
}

static void deactivate_keeps_what_is_queued(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    words_1 reply;
    for (uint64_t round = 0; round < 20; round++) {
        must(gyre_kernel_deactivate(kernel, soon()));
        require(info_of(kernel).state == GYRE_KERNEL_INACTIVE);
        for (uint64_t i = 0; i < 10; i++)
            send_number(queue, BEHAVE_REPLY, i);
        require(info_of(kernel).queued == 10);
        require(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(5)) == GYRE_TIMEOUT);
        must(gyre_kernel_activate(kernel, soon()));
        for (uint64_t i = 0; i < 10; i++)
            require(receive_number(queue) == i + 1);
    }
}

static void deactivate_acts_at_the_next_message(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave_in_turn");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < 200; i++)
        send_number(queue, BEHAVE_WAIT, i); /* 2 ms each */
    must(gyre_kernel_deactivate(kernel, soon()));
    require(info_of(kernel).queued > 50); /* it did not work off the queue first */
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < 200; i++)
        require(receive_number(queue) == i + 1);
}

static void terminate_drains_until_its_deadline(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    uint64_t unhandled = 99;
    for (uint64_t i = 0; i < 20; i++)
        send_number(queue, BEHAVE_WAIT, i);
    must(gyre_kernel_terminate(kernel, soon(), &unhandled));
    require(unhandled == 0 && info_of(kernel).state == GYRE_KERNEL_TERMINATED);
    for (uint64_t i = 0; i < 20; i++)
        require(receive_number(queue) == i + 1);
}

static void terminate_reports_what_was_left(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave_in_turn");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_completion completion;
    words_1 reply;
    uint64_t unhandled = 0, replied = 0, told = 0;
    for (uint64_t i = 0; i < 100; i++)
        send_number(queue, BEHAVE_WAIT, i);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, &unhandled));
    require(unhandled > 0 && unhandled <= 100);
    for (uint64_t i = 0; i < 100; i++) {
        must(gyre_receive(queue, &reply, sizeof reply, &completion, GYRE_NO_WAIT));
        require(completion.index == i);
        replied += completion.outcome == GYRE_REPLIED && reply.w[0] == i + 1;
        told += completion.outcome == GYRE_WAS_UNHANDLED;
    }
    require(told == unhandled && replied + told == 100);
    require(gyre_receive(queue, &reply, sizeof reply, &completion, soon()) == GYRE_CLOSED);
}

static void a_terminated_kernel_refuses_sends(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    words_1 request = {{1}}, reply;
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    require(gyre_send(queue, &request, sizeof request, NULL, GYRE_FOREVER) == GYRE_CLOSED);
    require_sentence("terminated");
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, GYRE_FOREVER) ==
            GYRE_CLOSED);
    require(gyre_kernel_activate(kernel, soon()) == GYRE_CLOSED);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL)); /* again: nothing to do */
}

static void relaunch_starts_over_with_the_initial_state(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", "tally_actor");
    tally initial = {.count = 100, .sum = 0}, reply;
    words_1 request = {{5}};
    desc.state = &initial;
    desc.state_size = sizeof initial;
    must(gyre_launch(test->runtime, &desc, &kernel));
    require(gyre_kernel_relaunch(kernel) == GYRE_INVALID);
    for (int round = 0; round < 20; round++) {
        gyre_queue *queue = gyre_kernel_queue(kernel);
        for (uint64_t i = 1; i <= 3; i++) {
            must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
            require(reply.count == 100 + i);
        }
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        must(gyre_kernel_state_read(kernel, &reply, sizeof reply));
        require(reply.count == 104);
        must(gyre_kernel_relaunch(kernel));
        require(info_of(kernel).state == GYRE_KERNEL_ACTIVE);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon())); /* of before the relaunch */
        require(reply.count == 104);
    }
}

static void closing_ends_whatever_runs(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "behave.gyre.c", "behave_in_turn"));
    launch(test, "words.gyre.c", "words_of_6");
    for (uint64_t i = 0; i < 100; i++)
        send_number(queue, BEHAVE_WAIT, i);
    uint64_t start = gyre_now_ns();
    gyre_close(test->runtime);
    require(gyre_now_ns() - start < patiently(UINT64_C(5000000000)));
    test->runtime = NULL;
}

static void two_runtimes_do_not_meet(struct conformance *test)
{
    gyre_runtime *other = NULL;
    gyre_kernel *theirs = NULL;
    gyre_open_desc open = {.size = sizeof open, .backend = test->backend};
    gyre_kernel *ours = launch(test, "words.gyre.c", "words_of_1");
    must(gyre_open(&open, &other));
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    must(gyre_launch(other, &desc, &theirs));
    require(call_word(gyre_kernel_queue(ours), 1) == 3 && call_word(gyre_kernel_queue(theirs), 2) == 6);
    gyre_close(other);
    require(call_word(gyre_kernel_queue(ours), 3) == 9);
}

static void launch_and_terminate_many_times(struct conformance *test)
{
    for (uint64_t i = 0; i < 50; i++) {
        gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
        require(call_word(gyre_kernel_queue(kernel), i) == i * 3);
        gyre_kernel_release(kernel);
    }
}

/* What a child may ask for: 0 when every answer was as it should be, else which was not. */
static int ask_as_a_child(struct conformance *test, gyre_kernel *kernel, gyre_buffer *buffer)
{
    gyre_queue *queue = gyre_kernel_queue(kernel), *other = NULL;
    gyre_buffer *another = NULL;
    int descriptor;
    gyre_handle handle;
    char byte = 2;
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    words_1 request = {{5}}, reply;
    if (gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()) != GYRE_CLOSED ||
        !strstr(gyre_error_text(), "belongs to the process that forked this one"))
        return 1;
    if (gyre_send(queue, &request, sizeof request, NULL, soon()) != GYRE_CLOSED)
        return 2;
    if (gyre_receive(queue, &reply, sizeof reply, NULL, soon()) != GYRE_CLOSED)
        return 3;
    if (gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL) != GYRE_INVALID ||
        gyre_queue_open(kernel, NULL, &other) != GYRE_INVALID)
        return 4;
    if (gyre_queue_descriptor(queue, &descriptor) != GYRE_CLOSED)
        return 7;
    if (gyre_launch(test->runtime, &desc, &kernel) != GYRE_INVALID)
        return 5;
    if (gyre_buffer_alloc(test->runtime, NULL, 0, 1, &another) != GYRE_INVALID ||
        gyre_buffer_upload(buffer, 0, &byte, 1) != GYRE_INVALID ||
        gyre_buffer_handle(buffer, 0, 0, &handle) != GYRE_INVALID || gyre_buffer_free(buffer) != GYRE_OK)
        return 6;
    gyre_queue_close(queue);
    gyre_kernel_release(kernel);
    gyre_close(test->runtime);
    return 0;
}

static void a_forked_child_leaves_its_parents_kernels_alone(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_buffer *buffer = NULL;
    char byte = 1;
    int state = -1;
    require(call_word(gyre_kernel_queue(kernel), 1) == 3);
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 1, &buffer));
    must(gyre_buffer_upload(buffer, 0, &byte, 1));
    pid_t child = fork();
    if (child == 0)
        _exit(ask_as_a_child(test, kernel, buffer));
    require(child > 0 && waitpid(child, &state, 0) == child);
    require(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    for (uint64_t i = 0; i < 100; i++)
        require(call_word(gyre_kernel_queue(kernel), i) == i * 3);
    must(gyre_buffer_download(buffer, 0, &byte, 1));
    require(byte == 1);
}

const struct conformance_case lifecycle_cases[] = {
    {"a_forked_child_leaves_its_parents_kernels_alone", a_forked_child_leaves_its_parents_kernels_alone},
    {"launch_call_close", launch_call_close},
    {"kernels_are_listed_with_state_and_metrics", kernels_are_listed_with_state_and_metrics},
    {"many_kernels_run_side_by_side", many_kernels_run_side_by_side},
    {"a_deep_kernel_starts_beside_others", a_deep_kernel_starts_beside_others},
    {"an_inactive_launch_serves_after_activate", an_inactive_launch_serves_after_activate},
    {"deactivate_keeps_what_is_queued", deactivate_keeps_what_is_queued},
    {"deactivate_acts_at_the_next_message", deactivate_acts_at_the_next_message},
    {"terminate_drains_until_its_deadline", terminate_drains_until_its_deadline},
    {"terminate_reports_what_was_left", terminate_reports_what_was_left},
    {"a_terminated_kernel_refuses_sends", a_terminated_kernel_refuses_sends},
    {"relaunch_starts_over_with_the_initial_state", relaunch_starts_over_with_the_initial_state},
    {"closing_ends_whatever_runs", closing_ends_whatever_runs},
    {"two_runtimes_do_not_meet", two_runtimes_do_not_meet},
    {"launch_and_terminate_many_times", launch_and_terminate_many_times},
    {NULL, NULL},
};
