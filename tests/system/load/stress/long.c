/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What shows only in large numbers or after a long time: 10^9 messages of four producers, 10^6 of 64 KiB, and
 * full load for minutes, in which neither the host's memory nor the device's may grow.
 */
#include "stress.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRODUCERS = 4, WORDS = 8192 };

struct producer {
    pthread_t thread;
    gyre_kernel *kernel;
    uint64_t id, count;
    uint64_t end_ns;   /* of load until a time, else 0 */
    uint64_t streamed; /* atomic while it runs */
};

static void join_producers(struct producer *producers)
{
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i].thread, NULL);
}

static void start_producers(struct producer *producers, gyre_kernel *kernel, void *(*run)(void *),
                            uint64_t count, uint64_t end_ns)
{
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){.kernel = kernel, .id = i, .count = count, .end_ns = end_ns};
        start_thread(&producers[i].thread, run, &producers[i]);
    }
}

static uint64_t streamed_by(struct producer *producers)
{
    uint64_t count = 0;
    for (int i = 0; i < PRODUCERS; i++)
        count += __atomic_load_n(&producers[i].streamed, __ATOMIC_RELAXED);
    return count;
}

/* ---- many small messages ---- */

/* A queue of its own; until its count or its time is reached. */
static void *stream_small(void *argument)
{
    enum { PIECE = 100000 };
    struct producer *producer = argument;
    gyre_queue *queue = open_queue(producer->kernel, (gyre_queue_desc){.size = 0});
    uint64_t done = 0;
    while (producer->end_ns ? gyre_now_ns() < producer->end_ns : done < producer->count) {
        uint64_t piece = producer->end_ns || producer->count - done > PIECE ? PIECE : producer->count - done;
        stream(queue, producer->id, done, done + piece);
        done += piece;
        __atomic_store_n(&producer->streamed, done, __ATOMIC_RELAXED);
    }
    gyre_queue_stats stats = stats_of(queue);
    require(stats.sent == done && stats.received == done);
    gyre_queue_close(queue);
    return NULL;
}

static void four_producers(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", PRODUCERS);
    struct producer producers[PRODUCERS];
    uint64_t each = scaled(stress, 1200000, 1000000000) / PRODUCERS, start = gyre_now_ns();
    start_producers(producers, kernel, stream_small, each, 0);
    join_producers(producers);
    require(streamed_by(producers) == PRODUCERS * each && handles(kernel, PRODUCERS * each));
    note(stress, "messages", (double)(PRODUCERS * each));
    note(stress, "messages_per_s", (double)(PRODUCERS * each) * 1e9 / (double)(gyre_now_ns() - start));
}

/* ---- many large messages ---- */

static uint64_t large_word(uint64_t id, uint64_t number, uint64_t i)
{
    return (number * PRODUCERS + id + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static void send_large(gyre_queue *queue, uint64_t id, uint64_t number, uint64_t *words)
{
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = large_word(id, number, i);
    must(gyre_send(queue, words, WORDS * sizeof *words, NULL, far_off()));
}

static void receive_large(gyre_queue *queue, uint64_t id, uint64_t number, uint64_t *words)
{
    uint64_t wrong = 0;
    must(gyre_receive(queue, words, WORDS * sizeof *words, NULL, far_off()));
    for (uint64_t i = 0; i < WORDS; i++)
        wrong |= words[i] ^ (large_word(id, number, i) * 3 + i);
    require(wrong == 0);
}

static void *stream_large(void *argument)
{
    enum { WINDOW = 16 };
    struct producer *producer = argument;
    gyre_queue *queue = open_queue(producer->kernel, (gyre_queue_desc){.capacity = WINDOW});
    uint64_t *words = malloc(WORDS * sizeof *words), sent = 0;
    require(words != NULL);
    for (uint64_t received = 0; received < producer->count; received++) {
        for (; sent < producer->count && sent - received < WINDOW; sent++)
            send_large(queue, producer->id, sent, words);
        receive_large(queue, producer->id, received, words);
    }
    free(words);
    gyre_queue_close(queue);
    return NULL;
}

static void large_messages(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "pages", PRODUCERS);
    struct producer producers[PRODUCERS];
    uint64_t each = scaled(stress, 1600, 1000000) / PRODUCERS, start = gyre_now_ns();
    start_producers(producers, kernel, stream_large, each, 0);
    join_producers(producers);
    require(handles(kernel, PRODUCERS * each));
    note(stress, "messages", (double)(PRODUCERS * each));
    note(stress, "bytes_per_s_each_way",
         (double)(PRODUCERS * each * WORDS * 8) * 1e9 / (double)(gyre_now_ns() - start));
}

/* ---- a long time ---- */

struct memory {
    uint64_t host_kib, device_kib;
};

static struct memory look(void)
{
    return (struct memory){resident_kib(), device_memory_used_kib()};
}

static void require_no_growth(const struct memory *first, const struct memory *now)
{
    enum { GROWTH_KIB = 4096 };
    require(!memory_tells() || now->host_kib <= first->host_kib + GROWTH_KIB);
    require(now->device_kib <= first->device_kib + GROWTH_KIB);
}

/* A kernel and a buffer that come and go: so that there is something that could pile up. */
static void visit(gyre_runtime *runtime, uint64_t round)
{
    gyre_kernel *kernel = NULL;
    gyre_buffer *buffer = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = stress_kernels(), .kernel = "stamper", .name = "visitor"};
    must(gyre_launch(runtime, &desc, &kernel));
    stream(gyre_kernel_queue(kernel), round, 0, 100);
    must(gyre_buffer_alloc(runtime, NULL, 0, 1 << 20, &buffer));
    must(gyre_buffer_free(buffer));
    gyre_kernel_release(kernel);
}

static void tell(const struct stress *stress, uint64_t start_ns, uint64_t messages,
                 const struct memory *memory)
{
    if (stress->json)
        return;
    const double seconds = (double)(gyre_now_ns() - start_ns) / 1e9;
    printf("  after %5.1f s: %.3g messages, %.1f M a second, host %.1f MiB, device %.1f MiB\n", seconds,
           (double)messages, (double)messages / seconds / 1e6, (double)memory->host_kib / 1024,
           (double)memory->device_kib / 1024);
    fflush(stdout);
}

/* Looked at twenty times; the first two looks are warm-up. */
static void flat_memory(struct stress *stress)
{
    enum { LOOKS = 20, WARM_UP = 2 };
    gyre_kernel *kernel = launch(stress->runtime, "stamper", PRODUCERS);
    struct producer producers[PRODUCERS];
    struct memory first = {0, 0}, now = {0, 0};
    const uint64_t seconds = stress->seconds ? stress->seconds : scaled(stress, 8, 540);
    mallopt(M_MMAP_THRESHOLD,
            128 * 1024); /* a buffer that was freed leaves no hole in the heap that looks grown */
    const uint64_t start = gyre_now_ns(), length = seconds * 1000000000;
    start_producers(producers, kernel, stream_small, 0, start + length);
    for (uint64_t round = 0; round < LOOKS; round++) {
        while (gyre_now_ns() < start + length * (round + 1) / (LOOKS + 1))
            sleep_ms(10);
        visit(stress->runtime, round);
        now = look();
        tell(stress, start, streamed_by(producers), &now);
        if (round == WARM_UP)
            first = now;
        else if (round > WARM_UP)
            require_no_growth(&first, &now);
    }
    join_producers(producers);
    require(handles(kernel, streamed_by(producers)));
    note(stress, "messages", (double)streamed_by(producers));
    note(stress, "load_seconds", (double)seconds);
    note(stress, "host_kib_first", (double)first.host_kib);
    note(stress, "host_kib_last", (double)now.host_kib);
    note(stress, "device_kib_first", (double)first.device_kib);
    note(stress, "device_kib_last", (double)now.device_kib);
}

const struct stress_mode long_modes[] = {
    {"four", "four producers with a queue each, 10^9 small messages in a long run", four_producers},
    {"large", "10^6 messages of 65,536 bytes in a long run, from four producers", large_messages},
    {"flat", "full load for --seconds, kernels and buffers that come and go: no memory grows", flat_memory},
    {NULL, NULL, NULL},
};
