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
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "shapes.h"

enum { SKIPPED = 77 };

struct shape {
    const char *name;
    const gyre_type *type;
};

struct run {
    struct exchange exchange;
    gyre_kernel *kernel;
    bool bad, has_thread;
    pthread_t thread;
};

/* A thread, or called by one. */
static void *run_shape(void *argument)
{
    struct run *run = argument;
    run->bad = !exchange_run(&run->exchange);
    /* of so many, some have to be refused */
    run->bad |= run->exchange.corrupt && run->exchange.layout->tail && run->exchange.count >= 1000 &&
                run->exchange.refused == 0;
    return NULL;
}

static bool open_shape(gyre_runtime *runtime, const struct shape *shape, const char *source, struct run *run)
{
    char kernel_name[64];
    snprintf(kernel_name, sizeof kernel_name, "%s_echo", shape->name);
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = source ? source : SHAPES_KERNELS,
                                     .kernel = kernel_name,
                                     .request = shape->type,
                                     .reply = shape->type};
    if (gyre_launch(runtime, &launch, &run->kernel) != GYRE_OK)
        return exchange_tell(shape->name);
    return exchange_begin(&run->exchange, shape->name, shape->type, gyre_kernel_queue(run->kernel));
}

static bool close_shape(struct run *run)
{
    gyre_kernel_release(run->kernel);
    exchange_end(&run->exchange);
    return run->bad;
}

static bool run_alone(gyre_runtime *runtime, const struct shape *shapes, size_t shape_count, uint64_t count)
{
    bool bad = false;
    for (size_t i = 0; i < shape_count; i++) {
        struct run run = {.exchange.count = count};
        run.bad = !open_shape(runtime, &shapes[i], getenv("SHAPES_KERNELS"), &run);
        if (!run.bad)
            run_shape(&run);
        bad |= close_shape(&run);
    }
    return bad;
}

static bool run_together(gyre_runtime *runtime, const struct shape *shapes, size_t shape_count,
                         uint64_t count)
{
    struct run *runs = calloc(shape_count, sizeof *runs);
    bool bad = runs == NULL;
    for (size_t i = 0; !bad && i < shape_count; i++) {
        runs[i].exchange.count = count;
        bad = !open_shape(runtime, &shapes[i], getenv("SHAPES_KERNELS"), &runs[i]);
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
        return exchange_tell("open"), 1;
    if (gyre_backend_choose(runtime, argv[1], &choice) != GYRE_OK) {
        exchange_tell("skipped");
        gyre_close(runtime);
        return SKIPPED;
    }
    bool (*run)(gyre_runtime *, const struct shape *, size_t, uint64_t) =
        getenv("SHAPES_TOGETHER") ? run_together : run_alone;
    const bool bad = run(runtime, shapes, sizeof shapes / sizeof shapes[0], strtoull(argv[2], NULL, 10));
    gyre_close(runtime);
    return bad;
}
