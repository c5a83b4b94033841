/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every shape of shapes.h, host -> handler -> host, with random contents: the reply has to be the request,
 * byte for byte. Then the same with bytes changed at random: what the host's check refuses, the device has to
 * fail with GYRE_FAILURE_PART, and nothing else; a handler never sees it.
 *
 * usage: test_shapes BACKEND MESSAGES [SECTION.KEY=VALUE...]; exits with 77 when the backend cannot start
 * here. With SHAPES_TOGETHER in the environment every shape has a thread, and all kernels run at once: for a
 * machine with many cores. SHAPES_KERNELS says where shapes.gyre.c is, when it was moved.
 */
#include <gyre/gyre.h>
#include <gyre/ring_layout.h>
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_message.h"
#include "shapes.h"

enum { IN_FLIGHT = 64, PATIENCE_MS = 20000, SKIPPED = 77 };

struct shape {
    const char *name;
    const gyre_type *type;
};

struct run {
    const char *name;
    gyre_layout *layout;
    gyre_kernel *kernel;
    gyre_queue *queue;
    unsigned char *requests, *reply; /* IN_FLIGHT requests */
    gyre_status verdicts[IN_FLIGHT]; /* of the host's check */
    uint64_t random;
    uint64_t count; /* messages to send; as many again with changed bytes */
    uint64_t wrong, refused;
    int corrupt, bad;
    int has_thread;
    pthread_t thread;
};

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gyre_error_text());
    return 1;
}

/* Changes a few bytes behind the first word, most of them where the parts are said to be. */
static void corrupt(struct run *run, unsigned char *request, uint64_t length)
{
    uint64_t fixed = run->layout->least;
    for (uint64_t i = random_next(&run->random) % 3 + 1; i > 0 && run->layout->tail; i--) {
        uint64_t roll = random_next(&run->random), range = roll % 4 ? fixed : length;
        if (range > 4)
            request[4 + (roll >> 8) % (range - 4)] = (unsigned char)(roll >> 40 & (roll & 64 ? 0xff : 0x0f));
    }
}

static void make_one(struct run *run, uint64_t number)
{
    unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    uint64_t length = random_message(run->layout, &run->random, request);
    if (run->corrupt)
        corrupt(run, request, length);
    run->verdicts[number % IN_FLIGHT] = gyre_layout_check_message(run->layout, request, length);
}

/* AGAIN: there is no room for it yet; in a ring of bytes also while few are under way. */
static gyre_status send_one(struct run *run, uint64_t number)
{
    return gyre_send(run->queue, run->requests + number % IN_FLIGHT * run->layout->size, run->layout->size,
                     NULL, GYRE_NO_WAIT);
}

static int is_right(const struct run *run, uint64_t number, const gyre_completion *completion)
{
    const unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    if (run->verdicts[number % IN_FLIGHT] != GYRE_OK)
        return completion->outcome == GYRE_HANDLER_FAILED &&
               (completion->failure_code == GYRE_FAILURE_PART ||
                (run->corrupt && completion->failure_code == GYRE_FAILURE_BUFFER)); /* names one by chance */
    if (run->corrupt) /* still well formed, but not as this program builds them */
        return completion->outcome == GYRE_REPLIED || completion->failure_code == GYRE_FAILURE_TAIL;
    return completion->outcome == GYRE_REPLIED &&
           completion->length == gyre_layout_length(run->layout, request) &&
           memcmp(run->reply, request, completion->length) == 0;
}

static gyre_status receive_one(struct run *run, uint64_t number)
{
    gyre_completion completion = {0};
    gyre_status status =
        gyre_receive(run->queue, run->reply, run->layout->size, &completion, gyre_in_ms(PATIENCE_MS));
    if (status != GYRE_OK)
        return status;
    run->refused += run->verdicts[number % IN_FLIGHT] != GYRE_OK;
    if (!is_right(run, number, &completion) && run->wrong++ == 0)
        fprintf(stderr, "%s: message %llu: outcome %d, failure %d '%s', %u bytes%s\n", run->name,
                (unsigned long long)number, completion.outcome, completion.failure_code,
                completion.failure_text, completion.length,
                run->verdicts[number % IN_FLIGHT] == GYRE_OK ? "" : "; the host's check had refused it");
    return GYRE_OK;
}

static void exchange(struct run *run)
{
    gyre_status status = GYRE_OK;
    run->wrong = run->refused = 0;
    for (uint64_t made = 0, sent = 0, received = 0; status == GYRE_OK && received < run->count;) {
        const bool room = sent < run->count && sent - received < IN_FLIGHT;
        if (room && made == sent)
            make_one(run, made++);
        if (room)
            status = send_one(run, sent);
        sent += room && status == GYRE_OK;
        if (!room || (status == GYRE_AGAIN && sent > received))
            status = receive_one(run, received++);
    }
    if (status != GYRE_OK) {
        run->bad = fail(run->name);
        return;
    }
    printf("%-10s %8llu messages%s, %llu refused, %llu wrong\n", run->name, (unsigned long long)run->count,
           run->corrupt ? " with changed bytes" : "", (unsigned long long)run->refused,
           (unsigned long long)run->wrong);
    run->bad |= run->wrong != 0 || (run->corrupt && run->count >= 1000 && run->refused == 0);
}

/* A thread, or called by one. */
static void *run_shape(void *argument)
{
    struct run *run = argument;
    exchange(run);
    run->corrupt = 1;
    if (run->layout->tail && !run->bad)
        exchange(run);
    return NULL;
}

static int open_shape(gyre_runtime *runtime, const struct shape *shape, const char *source, struct run *run)
{
    char kernel_name[64];
    run->name = shape->name;
    run->random = 88172645463325252u;
    snprintf(kernel_name, sizeof kernel_name, "%s_echo", shape->name);
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = source ? source : SHAPES_KERNELS,
                                     .kernel = kernel_name,
                                     .request = shape->type,
                                     .reply = shape->type};
    if (gyre_layout_create_message(shape->type, GYRE_MESSAGE_MAX, &run->layout) != GYRE_OK ||
        gyre_launch(runtime, &launch, &run->kernel) != GYRE_OK)
        return fail(shape->name);
    run->queue = gyre_kernel_queue(run->kernel);
    run->requests = calloc(IN_FLIGHT, run->layout->size);
    run->reply = calloc(1, run->layout->size);
    return !run->requests || !run->reply;
}

static int close_shape(struct run *run)
{
    gyre_kernel_release(run->kernel);
    free(run->requests);
    free(run->reply);
    gyre_layout_destroy(run->layout);
    return run->bad;
}

static int run_alone(gyre_runtime *runtime, const struct shape *shapes, size_t shape_count, uint64_t count)
{
    int bad = 0;
    for (size_t i = 0; i < shape_count; i++) {
        struct run run = {.count = count};
        run.bad = open_shape(runtime, &shapes[i], getenv("SHAPES_KERNELS"), &run);
        if (!run.bad)
            run_shape(&run);
        bad |= close_shape(&run);
    }
    return bad;
}

static int run_together(gyre_runtime *runtime, const struct shape *shapes, size_t shape_count, uint64_t count)
{
    struct run *runs = calloc(shape_count, sizeof *runs);
    int bad = runs == NULL;
    for (size_t i = 0; !bad && i < shape_count; i++) {
        runs[i].count = count;
        bad = open_shape(runtime, &shapes[i], getenv("SHAPES_KERNELS"), &runs[i]);
    }
    for (size_t i = 0; !bad && i < shape_count; i++)
        runs[i].has_thread = pthread_create(&runs[i].thread, NULL, run_shape, &runs[i]) == 0;
    for (size_t i = 0; runs && i < shape_count; i++) {
        bad |= !runs[i].has_thread;
        if (runs[i].has_thread)
            pthread_join(runs[i].thread, NULL);
        bad |= close_shape(&runs[i]);
    }
    free(runs);
    return bad;
}

int main(int argc, char **argv)
{
#define SHAPE(name) {#name, GYRE_TYPE(name)},
    static const struct shape shapes[] = {S_SHAPES(SHAPE)};
    gyre_runtime *runtime = NULL;
    gyre_backend_choice choice = {.size = sizeof choice};
    if (argc < 3)
        return fprintf(stderr, "usage: test_shapes BACKEND MESSAGES [SETTING...]\n"), 2;
    const gyre_open_desc open = {
        .size = sizeof open, .backend = argv[1], .settings = (const char *const *)(argv + 3)};
    if (gyre_open(&open, &runtime) != GYRE_OK)
        return fail("open");
    if (gyre_backend_choose(runtime, argv[1], &choice) != GYRE_OK) {
        fail("skipped");
        gyre_close(runtime);
        return SKIPPED;
    }
    int (*run)(gyre_runtime *, const struct shape *, size_t, uint64_t) =
        getenv("SHAPES_TOGETHER") ? run_together : run_alone;
    int bad = run(runtime, shapes, sizeof shapes / sizeof shapes[0], strtoull(argv[2], NULL, 10));
    gyre_close(runtime);
    return bad;
}
