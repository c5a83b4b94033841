/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sleeps when a worker process dies. The test stops the worker and stores in its place what it would have
 * stored before it died: that moment is too short to be met. One case a run, `test_wakes CASE`.
 */
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/queue/queue.h"
#include "core/ring/ring.h"
#include "core/ring/bytes.h"

struct caller {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t number;
    uint32_t returned; /* atomic */
};

/* For ever: a deadline would look once more when it has passed. */
static void *call_number(void *argument)
{
    struct caller *caller = argument;
    crash_request request = {.number = caller->number};
    crash_reply reply = {0};
    must(gyre_call(caller->queue, &request, sizeof request, &reply, sizeof reply, NULL, GYRE_FOREVER));
    require(reply.number == caller->number && reply.check == mixed(caller->number));
    __atomic_store_n(&caller->returned, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void await_word(const uint32_t *word)
{
    const uint64_t limit = soon();
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
        require(gyre_now_ns() < limit);
        usleep(1000);
    }
}

/* What a worker does at last with request `index`, but for the bell. */
static void complete(const gyre_queue *queue, uint64_t index, uint64_t number)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    const crash_reply reply = {.number = number, .check = mixed(number)};
    memcpy(slot + 1, &reply, sizeof reply);
    slot->length = sizeof reply;
    slot->info = GYRE_OUTCOME_REPLY;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the caller's acquire */
}

static void a_reply_is_told_whose_worker_died_before_the_bell(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    struct caller caller = {.queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1))};
    for (uint64_t index = 0; index < 6; index += 2) {
        caller.number = index;
        call_number(&caller); /* the worker is there and serves */
        const pid_t worker = worker_of(getpid());
        caller.number = index + 1;
        caller.returned = 0;
        halt_worker(worker);
        require(pthread_create(&caller.thread, NULL, call_number, &caller) == 0);
        await_word(&gyre_ring_of(caller.queue)->shared->host.waiting);
        usleep(20000); /* it sleeps by then */
        complete(caller.queue, index + 1, caller.number);
        require(kill(worker, SIGKILL) == 0);
        await_word(&caller.returned);
        pthread_join(caller.thread, NULL);
    }
    gyre_close(runtime);
}

/* A worker that sleeps for want of room counts itself; who receives rings as long as one is counted. */
static void a_worker_that_died_for_want_of_room_waits_no_more(void)
{
    enum { COUNT = 40 };
    gyre_runtime *runtime = open_isolated((const char *[]){"queue.default.bytes=16384", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_chat", 1));
    for (uint64_t number = 0; number < COUNT; number++) {
        const crash_request request = {.number = number};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    await_word(&gyre_ring_of(queue)->bytes->words->starved);
    require(kill_worker());
    for (uint64_t number = 0; number < COUNT; number++) {
        crash_chat reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.index == number && completion.outcome == GYRE_REPLIED && reply.number == number);
    }
    for (const uint64_t limit = soon();
         __atomic_load_n(&gyre_ring_of(queue)->bytes->words->starved, __ATOMIC_ACQUIRE);)
        require(gyre_now_ns() < limit); /* the new worker may have slept, too, and wakes */
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_reply_is_told_whose_worker_died_before_the_bell", a_reply_is_told_whose_worker_died_before_the_bell},
    {"a_worker_that_died_for_want_of_room_waits_no_more", a_worker_that_died_for_want_of_room_waits_no_more},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
