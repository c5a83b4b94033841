/* SPDX-License-Identifier: Apache-2.0 */
/* Terminate and drop in the middle of traffic: what was accepted is accounted for, to the last message. */
#include "stress.h"

#include <gyre/ring_layout.h>

enum { SENDERS = 3, RECEIVERS = 2 };

struct side {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t id;
    uint64_t sent, replied, dropped, unhandled;
};

static void *send_until_closed(void *argument)
{
    struct side *side = argument;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK) {
        stamp request = make_stamp(side->id, side->sent);
        status = gyre_send(side->queue, &request, sizeof request, NULL, GYRE_FOREVER);
        side->sent += status == GYRE_OK;
    }
    require(status == GYRE_CLOSED);
    return NULL;
}

static void *receive_until_closed(void *argument)
{
    struct side *side = argument;
    gyre_completion completion;
    gyre_status status;
    stamp reply;
    uint64_t next = 0; /* the least index that may come: what comes twice comes out of order */
    while ((status = gyre_receive(side->queue, &reply, sizeof reply, &completion, GYRE_FOREVER)) == GYRE_OK) {
        require(completion.index >= next);
        next = completion.index + 1;
        bool replied = completion.outcome == GYRE_REPLIED;
        require(!replied || is_reply(&reply, reply.producer, reply.number));
        side->replied += replied;
        side->dropped += completion.outcome == GYRE_WAS_DROPPED;
        side->unhandled += completion.outcome == GYRE_WAS_UNHANDLED;
    }
    require(status == GYRE_CLOSED);
    return NULL;
}

struct traffic {
    struct side senders[SENDERS], receivers[RECEIVERS];
    uint64_t sent, replied, dropped, unhandled;
};

static void begin_traffic(struct traffic *traffic, gyre_queue *queue)
{
    *traffic = (struct traffic){.sent = 0};
    for (uint64_t i = 0; i < SENDERS; i++) {
        traffic->senders[i] = (struct side){.queue = queue, .id = i};
        start_thread(&traffic->senders[i].thread, send_until_closed, &traffic->senders[i]);
    }
    for (int i = 0; i < RECEIVERS; i++) {
        traffic->receivers[i] = (struct side){.queue = queue};
        start_thread(&traffic->receivers[i].thread, receive_until_closed, &traffic->receivers[i]);
    }
}

static void join_traffic(struct traffic *traffic)
{
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(traffic->senders[i].thread, NULL);
        traffic->sent += traffic->senders[i].sent;
    }
    for (int i = 0; i < RECEIVERS; i++) {
        pthread_join(traffic->receivers[i].thread, NULL);
        traffic->replied += traffic->receivers[i].replied;
        traffic->dropped += traffic->receivers[i].dropped;
        traffic->unhandled += traffic->receivers[i].unhandled;
    }
}

/* Asleep, so that the traffic has the processors. */
static void let_run(uint64_t microseconds)
{
    const struct timespec duration = {0, (long)microseconds * 1000};
    nanosleep(&duration, NULL);
}

static void terminates_in_traffic(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 2);
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 64});
    const uint64_t rounds = scaled(stress, 150, 10000);
    uint64_t left_over = 0;
    for (uint64_t round = rounds; round > 0; round--) {
        struct traffic traffic;
        uint64_t unhandled = 0, drain = round % 3 ? GYRE_NO_WAIT : far_off();
        begin_traffic(&traffic, queue);
        let_run(round % 7 * 300);
        must(gyre_kernel_terminate(kernel, drain, &unhandled));
        join_traffic(&traffic);
        require(traffic.dropped == 0 && traffic.unhandled == unhandled);
        require(drain == GYRE_NO_WAIT || unhandled == 0);
        require(traffic.sent == traffic.replied + traffic.unhandled);
        must(gyre_kernel_relaunch(kernel));
        left_over += unhandled;
    }
    gyre_queue_stats stats = stats_of(queue);
    require(stats.sent == stats.received && stats.sent > 0);
    note(stress, "relaunches", (double)rounds);
    note(stress, "messages", (double)stats.sent);
    note(stress, "unhandled", (double)left_over);
}

static void drops_in_traffic(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 2);
    gyre_queue_desc desc = {.capacity = 8, .policy = GYRE_FULL_DROP_OLDEST};
    uint64_t dropped = 0;
    for (uint64_t round = scaled(stress, 60, 3000); round > 0; round--) {
        gyre_queue *queue = open_queue(kernel, desc);
        struct traffic traffic;
        begin_traffic(&traffic, queue);
        let_run(3000);
        must(gyre_kernel_terminate(kernel, round % 2 ? GYRE_NO_WAIT : far_off(), NULL));
        join_traffic(&traffic);
        gyre_queue_stats stats = stats_of(queue);
        require(stats.sent == traffic.sent);
        require(stats.received == traffic.replied + traffic.unhandled && stats.dropped >= traffic.dropped);
        require(stats.sent == stats.received + stats.dropped + stats.abandoned);
        dropped += stats.dropped;
        gyre_queue_close(queue);
        must(gyre_kernel_relaunch(kernel));
    }
    require(dropped > 0);
}

static void *terminate(void *kernel)
{
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    return NULL;
}

/* A queue that is closed when its kernel has just left: nobody is there who could still let go of it. */
static void closes_while_ending(struct stress *stress)
{
    enum { STOP_TIMEOUT_MS = 10000 }; /* what a close waits for a handler that does not return */
    const char *const settings[] = {"kernel.default.stop_timeout_ms=10000", NULL};
    gyre_runtime *runtime = open_runtime(stress, settings);
    gyre_kernel *kernel = launch(runtime, "stamper", 1);
    uint64_t longest = 0;
    for (uint64_t round = scaled(stress, 800, 10000); round > 0; round--) {
        pthread_t thread;
        gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 4});
        start_thread(&thread, terminate, kernel);
        for (uint64_t begun = gyre_now_ns(), wait = round * 797 % 150000; gyre_now_ns() < begun + wait;)
            ; /* a sleep is too coarse */
        uint64_t start = gyre_now_ns();
        gyre_queue_close(queue);
        uint64_t took = gyre_now_ns() - start;
        longest = took > longest ? took : longest;
        pthread_join(thread, NULL);
        must(gyre_kernel_relaunch(kernel));
    }
    gyre_close(runtime);
    note(stress, "longest_close_ms", (double)longest / 1e6);
    require(longest < (uint64_t)STOP_TIMEOUT_MS * 500000);
}

static void send_parcel(gyre_queue *queue, uint64_t number)
{
    static const u64 words[100];
    parcel request;
    gyre_begin(&request);
    request.number = number;
    request.lasts_ns = 1500000;
    must(gyre_put(&request, &request.words, words, (uint32_t)(number % 100)));
    must(gyre_send(queue, &request, sizeof request, NULL, far_off()));
}

/*
 * Deadlines that pass before a handler is at the message, and, of each round's second one, while it is: each message
 * is told once, and what is told is what became of it.
 */
static void expires_in_traffic(struct stress *stress)
{
    enum { EACH = 4 };
    static const char *const settings[] = {"queue.default.ttl_ms=2", "queue.default.dead_letters=0", NULL};
    gyre_runtime *runtime = open_runtime(stress, settings);
    gyre_queue *queue = gyre_kernel_queue(launch(runtime, "parcels", 1));
    uint64_t number = 0, expired = 0;
    for (uint64_t round = scaled(stress, 200, 10000); round > 0; round--) {
        for (uint64_t i = 0; i < EACH; i++)
            send_parcel(queue, number + i);
        for (uint64_t i = 0; i < EACH; i++, number++) {
            block_1 reply;
            gyre_completion completion;
            must(gyre_receive(queue, &reply, sizeof reply, &completion, far_off()));
            const bool late = completion.outcome == GYRE_HANDLER_FAILED;
            require(late ? completion.failure_code == GYRE_FAILURE_EXPIRED
                         : completion.outcome == GYRE_REPLIED && reply.w[0] == number * 3 + number % 100);
            expired += late;
        }
    }
    gyre_close(runtime);
    note(stress, "messages", (double)number);
    note(stress, "expired", (double)expired); /* none where all lanes take one up at once */
}

const struct stress_mode end_modes[] = {
    {"ends", "terminate and relaunch in the middle of traffic", terminates_in_traffic},
    {"closes", "queues are closed while their kernel ends", closes_while_ending},
    {"drops", "several senders that drop the oldest, several receivers", drops_in_traffic},
    {"expires", "deadlines that pass while messages wait, and while they are handled", expires_in_traffic},
    {NULL, NULL, NULL},
};
