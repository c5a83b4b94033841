/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user would write today without Gyre for a chain of five kernels on a processor: a thread a stage, and a bounded queue
 * (mutex and condition variables) between each two. Four stages pass a message of 48 bytes on, the last one makes each word * 3 +
 * its place. Every reply is checked. The rows:
 *
 *   call            one message at a time, there and back
 *   stream          1,024 under way, each put and taken on its own
 *   stream/batched  the same in batches of up to 256, with one turn of the lock each
 *
 * Prints one JSON document; exits 1 when a reply is wrong.
 *
 * usage: peer_chain [SECONDS]      for each row
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAGES = 5, QUEUES = STAGES + 1, CAPACITY = 1024, WORDS = 6, BATCH = 256, SAMPLES_MAX = 1 << 20 };

struct message {
    uint64_t words[WORDS];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    size_t first, count;
    bool closed;
    struct message slots[CAPACITY];
};

/* Queue 0 leads to the first stage, the last one back to the client. */
static struct queue queues[QUEUES];
static size_t batch; /* messages that a stage takes at once */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void put(struct queue *queue, const struct message *messages, size_t count)
{
    pthread_mutex_lock(&queue->lock);
    for (size_t i = 0; i < count; i++) {
        while (queue->count == CAPACITY) {
            pthread_cond_signal(&queue->filled);
            pthread_cond_wait(&queue->emptied, &queue->lock);
        }
        queue->slots[(queue->first + queue->count++) % CAPACITY] = messages[i];
    }
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

/* Waits for messages, and takes as many as there are, up to `most`. 0: the queue is closed. */
static size_t take(struct queue *queue, struct message *messages, size_t most)
{
    size_t taken = 0;
    pthread_mutex_lock(&queue->lock);
    while (!queue->count && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    for (; taken < most && queue->count; taken++, queue->count--) {
        messages[taken] = queue->slots[queue->first];
        queue->first = (queue->first + 1) % CAPACITY;
    }
    pthread_cond_signal(&queue->emptied);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

static void *serve_stage(void *argument)
{
    struct queue *in = argument, *out = in + 1;
    struct message messages[BATCH];
    size_t count;
    while ((count = take(in, messages, batch))) {
        for (size_t i = 0; in == &queues[STAGES - 1] && i < count; i++)
            for (uint64_t word = 0; word < WORDS; word++)
                messages[i].words[word] = messages[i].words[word] * 3 + word;
        put(out, messages, count);
    }
    return NULL;
}

/* ---- the client ---- */

static struct message make(uint64_t number)
{
    struct message message;
    for (uint64_t word = 0; word < WORDS; word++)
        message.words[word] = number * WORDS + word;
    return message;
}

static uint64_t wrong; /* replies */

static void check(const struct message *reply, uint64_t number)
{
    bool right = true;
    for (uint64_t word = 0; word < WORDS; word++)
        right &= reply->words[word] == (number * WORDS + word) * 3 + word;
    wrong += !right;
}

static int compare(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static void call_one_by_one(uint64_t duration_ns)
{
    static uint64_t samples[SAMPLES_MAX];
    const uint64_t start = now_ns();
    uint64_t number = 0;
    for (uint64_t before = start; before - start < duration_ns && number < SAMPLES_MAX; number++) {
        struct message message = make(number);
        put(&queues[0], &message, 1);
        take(&queues[STAGES], &message, 1);
        check(&message, number);
        const uint64_t now = now_ns();
        samples[number] = now - before;
        before = now;
    }
    qsort(samples, number, sizeof samples[0], compare);
    printf("{\"row\": \"call\", \"messages\": %llu, \"p50_ns\": %llu, \"p99_ns\": %llu}",
           (unsigned long long)number, (unsigned long long)samples[number / 2],
           (unsigned long long)samples[number - 1 - number / 100]);
}

static void stream(const char *row, uint64_t duration_ns)
{
    struct message messages[BATCH];
    uint64_t sent = 0, received = 0;
    const uint64_t start = now_ns();
    for (bool sending = true; sending || received != sent;) {
        size_t count = 0;
        sending = sending && now_ns() - start < duration_ns;
        for (; sending && count < batch && sent - received < CAPACITY; count++)
            messages[count] = make(sent++);
        if (count) {
            put(&queues[0], messages, count);
            if (sent - received < CAPACITY)
                continue;
        }
        if (received == sent)
            continue;
        count = take(&queues[STAGES], messages, batch);
        for (size_t i = 0; i < count; i++)
            check(&messages[i], received++);
    }
    printf("{\"row\": \"%s\", \"messages\": %llu, \"per_second\": %.0f}", row, (unsigned long long)received,
           (double)received * 1e9 / (double)(now_ns() - start));
}

/* ---- rows ---- */

static bool begin(pthread_t *threads, size_t taken_at_once)
{
    batch = taken_at_once;
    for (int i = 0; i < QUEUES; i++) {
        queues[i].first = queues[i].count = 0;
        queues[i].closed = false;
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].filled, NULL);
        pthread_cond_init(&queues[i].emptied, NULL);
    }
    for (int i = 0; i < STAGES; i++)
        if (pthread_create(&threads[i], NULL, serve_stage, &queues[i]) != 0)
            return false;
    return true;
}

static void end(const pthread_t *threads)
{
    for (int i = 0; i < STAGES; i++) {
        pthread_mutex_lock(&queues[i].lock);
        queues[i].closed = true;
        pthread_cond_broadcast(&queues[i].filled);
        pthread_mutex_unlock(&queues[i].lock);
        pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    static const char *const rows[] = {"call", "stream", "stream/batched"};
    pthread_t threads[STAGES];
    if (!(seconds > 0 && seconds < 3600)) {
        fprintf(stderr, "usage: peer_chain [SECONDS]: a number above 0 is expected, found '%s'\n", argv[1]);
        return 2;
    }
    printf("{\"peer\": \"five threads, queues of pthreads\", \"rows\": [");
    for (int i = 0; i < 3; i++) {
        if (!begin(threads, i == 2 ? BATCH : 1)) {
            fprintf(stderr, "peer_chain: five threads could not be started; raise the limit of processes\n");
            return 1;
        }
        printf(i ? ",\n" : "\n");
        if (i == 0)
            call_one_by_one((uint64_t)(seconds * 1e9));
        else
            stream(rows[i], (uint64_t)(seconds * 1e9));
        end(threads);
    }
    printf("\n]}\n");
    if (wrong)
        fprintf(stderr, "peer_chain: %llu replies were wrong\n", (unsigned long long)wrong);
    return wrong != 0;
}
