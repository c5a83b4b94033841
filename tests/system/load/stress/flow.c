/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in large numbers: every reply is checked, and none is lost, doubled or out of its producer's
 * order. */
#include "stress.h"

#include <stdlib.h>
#include <string.h>

enum { PRODUCERS = 3, CONSUMERS = 2 };

/* Indices start just below the 32-bit wrap, so that most of a run lies behind it. */
#define NEAR_WRAP (UINT64_C(0xffffffff) - 5000)

static void one_stream(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 1);
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.first_sequence = NEAR_WRAP});
    uint64_t count = scaled(stress, 3000000, 100000000);
    stream(queue, 1, 0, count);
    gyre_queue_stats stats = stats_of(queue);
    require(stats.sent == count && stats.received == count && handles(kernel, count));
    note(stress, "messages", (double)count);
}

/* ---- several threads on one queue ---- */

struct crowd {
    gyre_queue *queue;
    uint64_t each;       /* messages of each producer */
    uint64_t received;   /* atomic: by all consumers */
    uint64_t *seen;      /* one bit a message */
    uint64_t seen_twice; /* atomic */
};

struct member {
    struct crowd *crowd;
    pthread_t thread;
    uint64_t id;
};

static void *produce(void *argument)
{
    const struct member *member = argument;
    stamp requests[STREAM_BATCH];
    for (uint64_t next = 0; next < member->crowd->each;) {
        uint64_t left = member->crowd->each - next;
        size_t wanted = left < STREAM_BATCH ? (size_t)left : STREAM_BATCH, sent = 0;
        for (size_t i = 0; i < wanted; i++)
            requests[i] = make_stamp(member->id, next + i);
        must(gyre_send_batch(member->crowd->queue, requests, sizeof requests[0], wanted, &sent, far_off()));
        next += sent;
    }
    return NULL;
}

static void note_seen(struct crowd *crowd, uint64_t producer, uint64_t number)
{
    uint64_t place = producer * crowd->each + number, bit = UINT64_C(1) << place % 64;
    uint64_t before = __atomic_fetch_or(&crowd->seen[place / 64], bit, __ATOMIC_RELAXED);
    if (before & bit)
        __atomic_fetch_add(&crowd->seen_twice, 1, __ATOMIC_RELAXED);
}

/* Until the kernel is terminated. What one consumer gets of one producer is in order. */
static void *consume(void *argument)
{
    struct crowd *crowd = ((struct member *)argument)->crowd;
    uint64_t next[PRODUCERS] = {0};
    stamp replies[STREAM_BATCH];
    size_t received = 0;
    while (gyre_receive_batch(crowd->queue, replies, sizeof replies[0], STREAM_BATCH, NULL, &received,
                              GYRE_FOREVER) == GYRE_OK) {
        for (size_t i = 0; i < received; i++) {
            uint64_t producer = replies[i].producer, number = replies[i].number;
            require(producer < PRODUCERS && number >= next[producer] && number < crowd->each);
            require(is_reply(&replies[i], producer, number));
            note_seen(crowd, producer, number);
            next[producer] = number + 1;
        }
        __atomic_fetch_add(&crowd->received, received, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void run_crowd(struct crowd *crowd, gyre_kernel *kernel)
{
    struct member producers[PRODUCERS], consumers[CONSUMERS];
    for (uint64_t i = 0; i < CONSUMERS; i++) {
        consumers[i] = (struct member){.crowd = crowd, .id = i};
        start_thread(&consumers[i].thread, consume, &consumers[i]);
    }
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct member){.crowd = crowd, .id = i};
        start_thread(&producers[i].thread, produce, &producers[i]);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i].thread, NULL);
    must(gyre_kernel_terminate(kernel, far_off(), NULL));
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i].thread, NULL);
}

static void share(struct stress *stress, uint32_t blocks)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", blocks);
    struct crowd crowd = {.each = scaled(stress, 200000, 10000000)};
    crowd.queue = open_queue(kernel, (gyre_queue_desc){.capacity = 256, .first_sequence = NEAR_WRAP});
    crowd.seen = calloc((size_t)(crowd.each * PRODUCERS / 64 + 1), sizeof *crowd.seen);
    require(crowd.seen != NULL);
    run_crowd(&crowd, kernel);
    require(crowd.received == crowd.each * PRODUCERS && crowd.seen_twice == 0);
    free(crowd.seen);
}

static void shared_queue(struct stress *stress)
{
    share(stress, 1);
}

static void several_blocks(struct stress *stress)
{
    share(stress, 3);
}

/* ---- a queue each, and calls ---- */

struct own {
    pthread_t thread;
    gyre_kernel *kernel;
    gyre_queue *queue; /* shared; NULL: opens one of its own */
    uint64_t id, count;
};

static void *stream_alone(void *argument)
{
    const struct own *own = argument;
    gyre_queue *queue = open_queue(own->kernel, (gyre_queue_desc){.first_sequence = NEAR_WRAP});
    stream(queue, own->id, 0, own->count);
    gyre_queue_close(queue);
    return NULL;
}

static void *call_many(void *argument)
{
    const struct own *own = argument;
    for (uint64_t i = 0; i < own->count; i++) {
        stamp request = make_stamp(own->id, i), reply;
        must(gyre_call(own->queue, &request, sizeof request, &reply, sizeof reply, NULL, far_off()));
        require(is_reply(&reply, own->id, i));
    }
    return NULL;
}

static void join_all(struct own *threads, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
}

static void a_queue_each(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 1);
    struct own threads[PRODUCERS];
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        threads[i] = (struct own){.kernel = kernel, .id = i, .count = scaled(stress, 300000, 20000000)};
        start_thread(&threads[i].thread, stream_alone, &threads[i]);
    }
    join_all(threads, PRODUCERS);
    require(info_of(kernel).queues == 1 && handles(kernel, PRODUCERS * threads[0].count));
}

static void callers_beside_a_stream(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 1);
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 64, .first_sequence = NEAR_WRAP});
    struct own threads[PRODUCERS];
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        threads[i] = (struct own){.queue = queue, .id = i, .count = scaled(stress, 15000, 1000000)};
        start_thread(&threads[i].thread, call_many, &threads[i]);
    }
    stream(queue, PRODUCERS, 0, threads[0].count);
    join_all(threads, PRODUCERS);
    gyre_queue_stats stats = stats_of(queue);
    require(stats.sent == stats.received && stats.received == 4 * threads[0].count);
}

/* ---- sizes ---- */

struct sized {
    const char *kernel;
    gyre_queue *queue;
    size_t words;
};

static void fill(uint64_t *words, size_t count, uint64_t round)
{
    for (size_t i = 0; i < count; i++)
        words[i] = round * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static void exchange_burst(const struct sized *sized, uint64_t round, uint64_t *request, uint64_t *reply)
{
    enum { BURST = 8 };
    for (uint64_t i = 0; i < BURST; i++) {
        fill(request, sized->words, round + i);
        must(gyre_send(sized->queue, request, sized->words * 8, NULL, far_off()));
    }
    for (uint64_t i = 0; i < BURST; i++) {
        fill(request, sized->words, round + i);
        must(gyre_receive(sized->queue, reply, sized->words * 8, NULL, far_off()));
        for (size_t w = 0; w < sized->words; w++)
            require(reply[w] == request[w] * 3 + w);
    }
}

static void mixed_sizes(struct stress *stress)
{
    static uint64_t request[8192], reply[8192];
    struct sized sizes[] = {{"blocks_of_1", NULL, 1},
                            {"blocks_of_7", NULL, 7},
                            {"blocks_of_128", NULL, 128},
                            {"blocks_of_8192", NULL, 8192}};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (int i = 0; i < SIZES; i++)
        sizes[i].queue = open_queue(launch(stress->runtime, sizes[i].kernel, 1),
                                    (gyre_queue_desc){.capacity = 16, .first_sequence = NEAR_WRAP});
    uint64_t rounds = scaled(stress, 300, 30000);
    for (uint64_t round = 0; round < rounds; round++)
        for (int i = 0; i < SIZES; i++)
            exchange_burst(&sizes[i], round * 16 + (uint64_t)i, request, reply);
}

/* ---- every idle strategy of both sides ---- */

static void stream_and_call(gyre_queue *queue, uint64_t count)
{
    struct own caller = {.queue = queue, .id = 2, .count = count / 100};
    stream(queue, 1, 0, count);
    call_many(&caller);
}

static void every_idle_strategy(struct stress *stress)
{
    static const char *const devices[] = {"spin", "yield", "adaptive", "park"};
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        char setting[64] = "kernel.default.idle=";
        const char *const more[] = {setting, NULL};
        strcat(setting, devices[d]);
        gyre_runtime *runtime = open_runtime(stress, more);
        gyre_kernel *kernel = launch(runtime, "stamper", 1);
        for (int idle = GYRE_WAIT_SPIN; idle <= GYRE_WAIT_PARK; idle++)
            stream_and_call(open_queue(kernel, (gyre_queue_desc){.idle = (gyre_idle_strategy)idle}),
                            scaled(stress, 100000, 5000000));
        gyre_close(runtime);
    }
}

const struct stress_mode flow_modes[] = {
    {"stream", "one thread, batches, small messages", one_stream},
    {"shared", "several producers and consumers on one queue", shared_queue},
    {"blocks", "the same, with several workers behind it", several_blocks},
    {"apart", "several threads with a queue each", a_queue_each},
    {"calls", "callers beside a stream on one queue", callers_beside_a_stream},
    {"sizes", "messages of 8 to 65,536 bytes, all kernels at once", mixed_sizes},
    {"idle", "every idle strategy of either side", every_idle_strategy},
    {NULL, NULL, NULL},
};
