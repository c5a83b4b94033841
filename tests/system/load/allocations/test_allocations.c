/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts calls of the allocator, from any thread, while messages go there and back in every way that the API
 * has. The program's malloc and its kin stand before the C library's, for the library and the plugin too;
 * they count and pass on. An allocation that is made on purpose shows first that the counting works.
 */
#include <gyre/gyre.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/kernels/bench_messages.h"
#include "../../../patience.h"

enum { BATCH = 64, MESSAGES = 313 * BATCH };

/* ---- the counting allocator --------------------------------------------------------------------------- */

/* The C library's own functions, by the names that it offers for this. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static unsigned long calls;

static void count(void)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

GYRE_API void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

GYRE_API void *calloc(size_t nmemb, size_t size)
{
    count();
    return __libc_calloc(nmemb, size);
}

GYRE_API void *realloc(void *ptr, size_t size)
{
    count();
    return __libc_realloc(ptr, size);
}

GYRE_API void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

GYRE_API void free(void *ptr)
{
    count();
    __libc_free(ptr);
}

/* ---- ways to send and receive ------------------------------------------------------------------------- */

static void fill(words_48 *request, uint64_t number)
{
    for (uint64_t i = 0; i < 6; i++)
        request->word[i] = number + i * 1000003;
}

static bool right(const words_48 *reply, uint64_t number)
{
    for (uint64_t i = 0; i < 6; i++)
        if (reply->word[i] != (number + i * 1000003) * 3 + i)
            return false;
    return true;
}

static uint64_t soon(void)
{
    return gyre_in_ms(patiently(20000));
}

/* Each returns how many right replies came. */
static uint64_t by_calls(gyre_queue *queue)
{
    words_48 request, reply;
    uint64_t good = 0;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        fill(&request, i);
        if (gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()) != GYRE_OK)
            break;
        good += right(&reply, i);
    }
    return good;
}

static uint64_t by_single_messages(gyre_queue *queue)
{
    words_48 request, reply;
    gyre_completion completion;
    uint64_t good = 0;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        fill(&request, i);
        if (gyre_send(queue, &request, sizeof request, NULL, soon()) != GYRE_OK ||
            gyre_receive(queue, &reply, sizeof reply, &completion, soon()) != GYRE_OK)
            break;
        good += right(&reply, i);
    }
    return good;
}

static uint64_t receive_batch(gyre_queue *queue, uint64_t number)
{
    words_48 replies[BATCH];
    uint64_t good = 0;
    size_t received = 0;
    for (size_t done = 0; done < BATCH; done += received) {
        if (gyre_receive_batch(queue, replies, sizeof *replies, BATCH - done, NULL, &received, soon()) !=
            GYRE_OK)
            return good;
        for (size_t i = 0; i < received; i++)
            good += right(&replies[i], number++);
    }
    return good;
}

static uint64_t by_batches(gyre_queue *queue)
{
    words_48 requests[BATCH];
    uint64_t good = 0;
    for (uint64_t number = 0; number < MESSAGES; number += BATCH) {
        size_t sent = 0;
        for (size_t i = 0; i < BATCH; i++)
            fill(&requests[i], number + i);
        for (size_t done = 0; done < BATCH; done += sent)
            if (gyre_send_batch(queue, requests + done, sizeof *requests, BATCH - done, &sent, soon()) !=
                GYRE_OK)
                return good;
        good += receive_batch(queue, number);
    }
    return good;
}

static uint64_t send_in_place(gyre_queue *queue, uint64_t number)
{
    void *requests;
    size_t stride, granted = BATCH;
    if (gyre_reserve(queue, &requests, &stride, &granted, soon()) != GYRE_OK)
        return 0;
    for (size_t i = 0; i < granted; i++)
        fill((words_48 *)((char *)requests + i * stride), number + i);
    return gyre_commit(queue, granted) == GYRE_OK ? granted : 0;
}

static uint64_t by_views(gyre_queue *queue)
{
    gyre_view views[BATCH];
    uint64_t good = 0, sent = 0, received = 0;
    while (received < MESSAGES) {
        size_t found = 0;
        if (sent < MESSAGES)
            sent += send_in_place(queue, sent);
        if (gyre_peek(queue, views, BATCH, &found, soon()) != GYRE_OK)
            break;
        for (size_t i = 0; i < found; i++)
            good += right(views[i].reply, received++);
        if (gyre_release_views(queue, found) != GYRE_OK)
            break;
    }
    return good;
}

/* What a program that polls does most: a try that finds nothing, or no room. */
static uint64_t by_tries(gyre_queue *queue)
{
    words_48 request, reply;
    uint64_t good = 0;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        gyre_status status;
        fill(&request, i);
        if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
            break;
        do
            status = gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT);
        while (status == GYRE_AGAIN);
        good += status == GYRE_OK && right(&reply, i);
    }
    return good;
}

static const struct {
    const char *name;
    uint64_t (*run)(gyre_queue *queue);
} ways[] = {
    {"call", by_calls},
    {"send, receive", by_single_messages},
    {"send_batch, receive_batch", by_batches},
    {"reserve, commit, peek, release", by_views},
    {"tries without waiting", by_tries},
};

/* ---- the test ----------------------------------------------------------------------------------------- */

static bool counting_works(void)
{
    unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    void *volatile memory = malloc(1);
    free(memory);
    return __atomic_load_n(&calls, __ATOMIC_RELAXED) == before + 2;
}

/* Faults found with one queue. */
static int check_queue(gyre_queue *queue, const char *idle)
{
    int faults = 0;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
        uint64_t good = ways[i].run(queue);
        unsigned long made = __atomic_load_n(&calls, __ATOMIC_RELAXED) - before;
        if (good < MESSAGES || made > 0) {
            printf("%s, idle %s: %llu right replies of %d, %lu calls of the allocator; expected none (%s)\n",
                   ways[i].name, idle, (unsigned long long)good, MESSAGES, made, gyre_error_text());
            faults++;
        }
    }
    return faults;
}

static int check_strategy(gyre_kernel *kernel, gyre_idle_strategy idle, const char *word)
{
    gyre_queue *queue = NULL;
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 1024, .idle = idle};
    if (gyre_queue_open(kernel, &desc, &queue) != GYRE_OK) {
        printf("no queue: %s\n", gyre_error_text());
        return 1;
    }
    int faults = check_queue(queue, word);
    gyre_queue_close(queue);
    return faults;
}

int main(int argc, char **argv)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    int faults = 1;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = argc > 1 ? argv[1] : NULL, .kernel = "words_48", .backend = "cpu"};
    if (!counting_works()) {
        printf("calls of the allocator are not counted: another one stands before this program's\n");
        return 1;
    }
    if (gyre_open(NULL, &runtime) != GYRE_OK || gyre_launch(runtime, &desc, &kernel) != GYRE_OK)
        printf("no kernel: %s\n", gyre_error_text());
    else
        faults = check_strategy(kernel, GYRE_WAIT_ADAPTIVE, "adaptive") +
                 check_strategy(kernel, GYRE_WAIT_SPIN, "spin");
    gyre_close(runtime);
    printf("%zu ways, %d faults\n", sizeof ways / sizeof ways[0], faults);
    return faults > 0;
}
