/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads do whatever comes to their minds to one kernel: every call returns, with a status that its
 * contract names, and the kernel still works afterwards.
 */
#include "stress.h"

enum { OPERATORS = 4 };

struct operator_thread {
    pthread_t thread;
    gyre_kernel *kernel;
    uint64_t random, turns;
    uint64_t calls; /* of the handler, answered */
};

static uint64_t next_random(struct operator_thread *self)
{
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    return self->random;
}

static uint64_t some_deadline(struct operator_thread *self)
{
    return next_random(self) % 2 ? gyre_in_ms(next_random(self) % 3) : far_off();
}

/* It may be paused, resumed or ended by somebody else at any moment. */
static void call_once(struct operator_thread *self, gyre_queue *queue)
{
    stamp request = make_stamp(self->turns, self->calls), reply;
    gyre_completion completion;
    gyre_status status =
        gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, gyre_in_ms(2));
    require(status == GYRE_OK || status == GYRE_CLOSED || status == GYRE_TIMEOUT);
    if (status != GYRE_OK || completion.outcome == GYRE_WAS_UNHANDLED)
        return;
    require(completion.outcome == GYRE_REPLIED && is_reply(&reply, self->turns, self->calls));
    self->calls++;
}

static void use_a_queue(struct operator_thread *self)
{
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = 4};
    gyre_queue *queue = NULL;
    gyre_status status = gyre_queue_open(self->kernel, &desc, &queue);
    require(status == GYRE_OK || status == GYRE_CLOSED);
    if (status != GYRE_OK)
        return;
    call_once(self, queue);
    gyre_queue_close(queue);
}

static void do_something(struct operator_thread *self)
{
    gyre_kernel *kernel = self->kernel;
    gyre_status status = GYRE_OK;
    switch (next_random(self) % 8) {
    case 0:
        status = gyre_kernel_deactivate(kernel, some_deadline(self));
        break;
    case 1:
        status = gyre_kernel_terminate(kernel, some_deadline(self), NULL);
        require(status == GYRE_OK);
        break;
    case 2:
        status = gyre_kernel_relaunch(kernel);
        require(status != GYRE_TIMEOUT);
        break;
    case 3:
        use_a_queue(self);
        break;
    case 4:
        require(info_of(kernel).blocks == 2);
        break;
    case 5:
        status = gyre_kernel_activate(kernel, some_deadline(self));
        break;
    default:
        call_once(self, gyre_kernel_queue(kernel));
    }
    require(status == GYRE_OK || status == GYRE_CLOSED || status == GYRE_TIMEOUT || status == GYRE_INVALID);
}

static void *operate(void *argument)
{
    struct operator_thread *self = argument;
    while (self->turns-- > 0)
        do_something(self);
    return NULL;
}

static void everything_at_once(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 2);
    struct operator_thread threads[OPERATORS];
    uint64_t calls = 0;
    for (uint64_t i = 0; i < OPERATORS; i++) {
        threads[i] = (struct operator_thread){.kernel = kernel,
                                              .random = (i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                                              .turns = scaled(stress, 4000, 400000)};
        start_thread(&threads[i].thread, operate, &threads[i]);
    }
    for (int i = 0; i < OPERATORS; i++) {
        pthread_join(threads[i].thread, NULL);
        calls += threads[i].calls;
    }
    require(calls > 0);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    must(gyre_kernel_relaunch(kernel));
    stamp reply;
    gyre_completion completion; /* of calls that nobody waited for there is nothing left to receive */
    require(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, &completion, GYRE_NO_WAIT) ==
            GYRE_AGAIN);
    stream(gyre_kernel_queue(kernel), 1, 0, 1000);
    require(info_of(kernel).queues == 1);
}

const struct stress_mode chaos_modes[] = {
    {"chaos", "threads that launch, pause, end, open, close, call as they like", everything_at_once},
    {NULL, NULL, NULL},
};
