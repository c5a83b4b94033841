/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads at the life of one kernel: a wait keeps no stop out, and an end lets everybody return. */
#include "conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SLOW_MESSAGES = 400, SLOW_US = 20000, LONG_US = 400000 };

static const uint64_t quick_ns = 300000000; /* far below what the slow messages take */

/* One lifecycle call in a thread of its own. */
struct operation {
    pthread_t thread;
    gyre_kernel *kernel;
    gyre_status (*run)(struct operation *operation);
    gyre_status status;
    uint64_t unhandled;
};

static void *run_operation(void *argument)
{
    struct operation *operation = argument;
    operation->status = operation->run(operation);
    return NULL;
}

static void begin(struct operation *operation)
{
    require(pthread_create(&operation->thread, NULL, run_operation, operation) == 0);
}

static gyre_status drain_for_ever(struct operation *operation)
{
    return gyre_kernel_terminate(operation->kernel, GYRE_FOREVER, &operation->unhandled);
}

static gyre_status deactivate_for_ever(struct operation *operation)
{
    return gyre_kernel_deactivate(operation->kernel, GYRE_FOREVER);
}

static void send_slow(gyre_queue *queue, uint32_t microseconds)
{
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = microseconds};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static void await_state(gyre_kernel *kernel, gyre_kernel_state state)
{
    for (uint64_t limit = soon(); info_of(kernel).state != state;)
        require(gyre_now_ns() < limit);
}

/* The first message is inside its handler. */
static void await_a_busy_handler(gyre_kernel *kernel)
{
    for (uint64_t limit = gyre_in_ms(50); gyre_now_ns() < limit;)
        require(info_of(kernel).handled == 0);
}

static void a_terminate_cuts_another_ones_drain_short(struct conformance *test)
{
    struct operation drain = {.kernel = launch(test, "behave.gyre.c", "behave_in_turn"),
                              .run = drain_for_ever};
    uint64_t unhandled = 0;
    for (int i = 0; i < SLOW_MESSAGES; i++)
        send_slow(gyre_kernel_queue(drain.kernel), SLOW_US);
    begin(&drain);
    await_state(drain.kernel, GYRE_KERNEL_STOPPING);
    uint64_t start = gyre_now_ns();
    require(info_of(drain.kernel).queued > 0);
    must(gyre_kernel_terminate(drain.kernel, GYRE_NO_WAIT, &unhandled));
    require(gyre_now_ns() - start < quick_ns);
    pthread_join(drain.thread, NULL);
    require(drain.status == GYRE_OK && unhandled > 0 && drain.unhandled == unhandled);
    require(info_of(drain.kernel).state == GYRE_KERNEL_TERMINATED);
}

static void a_terminate_ends_the_wait_of_a_deactivate(struct conformance *test)
{
    struct operation pause = {.kernel = launch(test, "behave.gyre.c", "behave"), .run = deactivate_for_ever};
    send_slow(gyre_kernel_queue(pause.kernel), LONG_US);
    await_a_busy_handler(pause.kernel);
    begin(&pause);
    await_state(pause.kernel, GYRE_KERNEL_INACTIVE);
    must(gyre_kernel_terminate(pause.kernel, GYRE_NO_WAIT, NULL));
    pthread_join(pause.thread, NULL);
    require(pause.status == GYRE_CLOSED);
}

static void a_busy_handler_keeps_nobody_from_asking(struct conformance *test)
{
    struct operation pause = {.kernel = launch(test, "behave.gyre.c", "behave"), .run = deactivate_for_ever};
    gyre_queue *queue = NULL;
    send_slow(gyre_kernel_queue(pause.kernel), LONG_US);
    await_a_busy_handler(pause.kernel);
    begin(&pause);
    await_state(pause.kernel, GYRE_KERNEL_INACTIVE);
    uint64_t start = gyre_now_ns();
    require(info_of(pause.kernel).queues == 1);
    must(gyre_queue_open(pause.kernel, NULL, &queue));
    require(info_of(pause.kernel).queues == 2);
    require(gyre_kernel_activate(pause.kernel, gyre_in_ms(5)) == GYRE_TIMEOUT);
    require(gyre_now_ns() - start < quick_ns && info_of(pause.kernel).handled == 0);
    pthread_join(pause.thread, NULL);
    require(pause.status == GYRE_OK);
}

static void a_relaunch_and_a_terminate_take_turns(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    for (int round = 0; round < 20; round++) {
        struct operation first = {.kernel = kernel, .run = drain_for_ever}, second = first;
        begin(&first);
        begin(&second);
        pthread_join(first.thread, NULL);
        pthread_join(second.thread, NULL);
        require(first.status == GYRE_OK && second.status == GYRE_OK);
        must(gyre_kernel_relaunch(kernel));
        require(call_word(gyre_kernel_queue(kernel), 7) == 21);
    }
}

/* A message in a thread of its own, and what came of it. */
struct waiting {
    pthread_t thread;
    gyre_queue *queue;
    gyre_status status;
    char sentence[256]; /* of the error that ended it */
};

/* It ends its thread. */
static void note_sentence(struct waiting *waiting)
{
    snprintf(waiting->sentence, sizeof waiting->sentence, "%s", gyre_error_text());
}

static void *receive_for_ever(void *argument)
{
    struct waiting *waiting = argument;
    words_1 reply;
    gyre_completion completion;
    do
        waiting->status = gyre_receive(waiting->queue, &reply, sizeof reply, &completion, GYRE_FOREVER);
    while (waiting->status == GYRE_OK);
    note_sentence(waiting);
    return NULL;
}

static void *send_for_ever(void *argument)
{
    struct waiting *waiting = argument;
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = SLOW_US};
    do
        waiting->status = gyre_send(waiting->queue, &request, sizeof request, NULL, GYRE_FOREVER);
    while (waiting->status == GYRE_OK);
    note_sentence(waiting);
    return NULL;
}

static void *call_for_ever(void *argument)
{
    struct waiting *waiting = argument;
    behaviour request = {.what = BEHAVE_WAIT, .microseconds = SLOW_US};
    words_1 reply;
    do
        waiting->status =
            gyre_call(waiting->queue, &request, sizeof request, &reply, sizeof reply, NULL, GYRE_FOREVER);
    while (waiting->status == GYRE_OK);
    note_sentence(waiting);
    return NULL;
}

static void terminating_lets_those_who_wait_return(struct conformance *test)
{
    static void *(*const ways[])(void *) = {receive_for_ever, send_for_ever, call_for_ever};
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave");
    struct waiting waiting[3];
    gyre_queue *queues[3];
    for (int i = 0; i < 3; i++) {
        gyre_queue_desc desc = {.size = sizeof desc, .capacity = 2};
        must(gyre_queue_open(kernel, &desc, &queues[i]));
        waiting[i] = (struct waiting){.queue = queues[i], .status = GYRE_OK};
        require(pthread_create(&waiting[i].thread, NULL, ways[i], &waiting[i]) == 0);
    }
    while (stats_of(queues[1]).send_waits == 0 || stats_of(queues[0]).receive_waits == 0 ||
           stats_of(queues[2]).sent == 0)
        ;
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    for (int i = 0; i < 3; i++) {
        pthread_join(waiting[i].thread, NULL);
        require(waiting[i].status == GYRE_CLOSED);
    }
    require(strstr(waiting[0].sentence, "is closed, and no request is under way"));
    require(strstr(waiting[1].sentence,
                   "is closed: its kernel was terminated; relaunch the kernel to send again"));
}

/* They are inside their calls when the kernel is released, which waits for them. */
static void releasing_lets_those_who_wait_return(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "behave.gyre.c", "behave");
    struct waiting receiver = {.queue = gyre_kernel_queue(kernel)};
    require(pthread_create(&receiver.thread, NULL, receive_for_ever, &receiver) == 0);
    while (stats_of(receiver.queue).receive_waits == 0)
        ;
    gyre_kernel_release(kernel);
    pthread_join(receiver.thread, NULL);
    require(receiver.status == GYRE_CLOSED);
}

const struct conformance_case overtaking_cases[] = {
    {"a_terminate_cuts_another_ones_drain_short", a_terminate_cuts_another_ones_drain_short},
    {"a_terminate_ends_the_wait_of_a_deactivate", a_terminate_ends_the_wait_of_a_deactivate},
    {"a_busy_handler_keeps_nobody_from_asking", a_busy_handler_keeps_nobody_from_asking},
    {"a_relaunch_and_a_terminate_take_turns", a_relaunch_and_a_terminate_take_turns},
    {"terminating_lets_those_who_wait_return", terminating_lets_those_who_wait_return},
    {"releasing_lets_those_who_wait_return", releasing_lets_those_who_wait_return},
    {NULL, NULL},
};
