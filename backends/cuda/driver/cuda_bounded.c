/* SPDX-License-Identifier: Apache-2.0 */
/* Lock: that of the call, which the caller and the thread share until the later of them is through with it. */
#include "backends/cuda/driver/cuda_bounded.h"

#include <stdlib.h>

#include "gyre/thread.h"
#include "gyre/waiting.h"

struct cuda_bounded_call {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    void (*work)(void *argument);
    void *argument;
    bool is_over, is_stopped, is_given_up; /* under `lock` */
};

static void free_call(struct cuda_bounded_call *call)
{
    pthread_cond_destroy(&call->ended);
    pthread_mutex_destroy(&call->lock);
    free(call);
}

static void *run(void *argument)
{
    struct cuda_bounded_call *call = argument;
    pthread_mutex_lock(&call->lock);
    const bool is_stopped = call->is_stopped;
    pthread_mutex_unlock(&call->lock);
    if (!is_stopped)
        call->work(call->argument);
    pthread_mutex_lock(&call->lock);
    call->is_over = true;
    const bool is_given_up = call->is_given_up;
    pthread_cond_signal(&call->ended);
    pthread_mutex_unlock(&call->lock);
    if (is_given_up) {
        free(call->argument);
        free_call(call);
    }
    return NULL;
}

struct cuda_bounded_call *cuda_bounded_start(void (*work)(void *argument), void *argument)
{
    pthread_condattr_t clock;
    struct cuda_bounded_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->work = work;
    call->argument = argument;
    pthread_mutex_init(&call->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&call->ended, &clock);
    pthread_condattr_destroy(&clock);
    if (gyre_thread_start(&call->thread, NULL, run, call) == 0)
        return call;
    free_call(call);
    return NULL;
}

bool cuda_bounded_await(struct cuda_bounded_call *call, uint64_t deadline_ns)
{
    const struct timespec until = {(time_t)(deadline_ns / UINT64_C(1000000000)),
                                   (long)(deadline_ns % UINT64_C(1000000000))};
    int error = 0;
    pthread_mutex_lock(&call->lock);
    while (!call->is_over && error == 0)
        error = pthread_cond_timedwait(&call->ended, &call->lock, &until);
    const bool is_over = call->is_over;
    pthread_mutex_unlock(&call->lock);
    return is_over;
}

void cuda_bounded_stop(struct cuda_bounded_call *call)
{
    pthread_mutex_lock(&call->lock);
    call->is_stopped = true;
    pthread_mutex_unlock(&call->lock);
}

bool cuda_bounded_end(struct cuda_bounded_call *call)
{
    const pthread_t thread = call->thread;
    pthread_mutex_lock(&call->lock);
    const bool is_over = call->is_over;
    call->is_stopped = call->is_given_up = !is_over;
    pthread_mutex_unlock(&call->lock);
    if (!is_over) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    free_call(call);
    return true;
}

enum cuda_bounded cuda_bounded_run(void (*work)(void *argument), void *argument, uint64_t deadline_ns)
{
    struct cuda_bounded_call *call = cuda_bounded_start(work, argument);
    if (!call)
        return CUDA_BOUNDED_NO_THREAD;
    (void)cuda_bounded_await(call, deadline_ns);
    return cuda_bounded_end(call) ? CUDA_BOUNDED_DONE : CUDA_BOUNDED_LATE;
}
