/* SPDX-License-Identifier: Apache-2.0 */
/* Training on several parts with gyre_all_reduce: docs/devices.md explains it. usage: training [BACKEND[:DEVICE]...] */
#include <gyre/collect.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "training.h"

enum { PARTS_MAX = 8, SAMPLES = 64, STEPS = 200 };

struct part {
    gyre_kernel *kernel;
    gyre_buffer *weights, *gradients;
};

/* Every call that can fail says why. */
static void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "training: %s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static struct part launch(gyre_runtime *runtime, const char *place, uint32_t number)
{
    struct part part;
    char name[32], backend[32];
    const char *colon = strchr(place, ':');
    const uint32_t device = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    snprintf(name, sizeof name, "observe%u", number);
    snprintf(backend, sizeof backend, "%.*s", (int)strcspn(place, ":"), place);
    must(gyre_buffer_alloc(runtime, backend, device, TRAINING_WEIGHTS * sizeof(double), &part.weights));
    must(gyre_buffer_alloc(runtime, backend, device, TRAINING_WEIGHTS * sizeof(double), &part.gradients));
    const gyre_binding_name bindings[] = {{"weights", part.weights}, {"gradients", part.gradients}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = "training.gyre.c",
                                   .name = name,
                                   .backend = backend,
                                   .device = device,
                                   .lanes = 1, /* observations of a part one after the other */
                                   .blocks = 1,
                                   .request = GYRE_TYPE(sample),
                                   .reply = GYRE_TYPE(loss),
                                   .bindings = bindings,
                                   .binding_count = 2};
    must(gyre_launch(runtime, &desc, &part.kernel));
    return part;
}

/* The samples of a step, dealt out to the parts. */
static void observe(const struct part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const double x = (double)i / SAMPLES;
        const sample what = {.x = x, .y = 3.0 + 2.0 * x};
        must(gyre_send(gyre_kernel_queue(parts[i % count].kernel), &what, sizeof what, NULL,
                       gyre_in_ms(10000)));
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        loss got;
        must(gyre_receive(gyre_kernel_queue(parts[i % count].kernel), &got, sizeof got, NULL,
                          gyre_in_ms(10000)));
    }
}

/* Part 0 takes the step; all parts get its weights, and begin with gradients of zero. */
static void take_step(const struct part *parts, uint32_t count, const gyre_collect_desc *weights)
{
    double now[TRAINING_WEIGHTS], gradients[TRAINING_WEIGHTS];
    must(gyre_buffer_download(parts[0].weights, 0, now, sizeof now));
    must(gyre_buffer_download(parts[0].gradients, 0, gradients, sizeof gradients));
    for (uint32_t i = 0; i < TRAINING_WEIGHTS; i++)
        now[i] -= gradients[i] / SAMPLES;
    must(gyre_buffer_upload(parts[0].weights, 0, now, sizeof now));
    for (uint32_t i = 0; i < count; i++)
        must(gyre_buffer_fill(parts[i].gradients, 0, 0, sizeof gradients));
    must(gyre_broadcast(weights, 0, gyre_in_ms(10000)));
}

int main(int argc, char **argv)
{
    static char *usual[] = {"", "cpu", "cpu"};
    char **places = argc > 2 ? argv : usual;
    const uint32_t count = argc > 2 ? (uint32_t)argc - 1 : 2;
    struct part parts[PARTS_MAX];
    gyre_kernel *kernels[PARTS_MAX];
    gyre_runtime *runtime;
    double found[TRAINING_WEIGHTS];
    if (count > PARTS_MAX)
        return 2;
    must(gyre_open(NULL, &runtime));
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = launch(runtime, places[i + 1], i);
        kernels[i] = parts[i].kernel;
    }
    const gyre_collect_desc weights = {.size = sizeof weights,
                                       .kernels = kernels,
                                       .kernel_count = count,
                                       .buffer = "weights",
                                       .element = GYRE_COLLECT_F64};
    gyre_collect_desc gradients = weights;
    gradients.buffer = "gradients";
    for (uint32_t step = 0; step < STEPS; step++) {
        observe(parts, count);
        must(gyre_all_reduce(&gradients, GYRE_COLLECT_SUM, gyre_in_ms(10000)));
        take_step(parts, count, &weights);
    }
    must(gyre_buffer_download(parts[count - 1].weights, 0, found, sizeof found));
    printf("%u parts: y = %.4f + %.4f x\n", count, found[0], found[1]);
    gyre_close(runtime);
    return 0;
}
