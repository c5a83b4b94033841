/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every shape of shapes.h, host -> handler -> host, with random contents: the reply has to be the request,
 * byte for byte. Then the same with bytes changed at random: what the host's check refuses, the device has to
 * fail with GYRE_FAILURE_PART, and nothing else; a handler never sees it.
 *
 * usage: test_shapes BACKEND MESSAGES [SECTION.KEY=VALUE...]; exits with 77 when the backend cannot start
 * here
 */
#include <gyre/gyre.h>
#include <gyre/ring_layout.h>
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
    gyre_queue *queue;
    unsigned char *requests, *reply; /* IN_FLIGHT requests */
    gyre_status verdicts[IN_FLIGHT]; /* of the host's check */
    uint64_t random;
    uint64_t wrong, refused;
    int corrupt;
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

static gyre_status send_one(struct run *run, uint64_t number)
{
    unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    uint64_t length = random_message(run->layout, &run->random, request);
    if (run->corrupt)
        corrupt(run, request, length);
    run->verdicts[number % IN_FLIGHT] = gyre_layout_check_message(run->layout, request, length);
    return gyre_send(run->queue, request, run->layout->size, NULL, gyre_in_ms(PATIENCE_MS));
}

static int is_right(const struct run *run, uint64_t number, const gyre_completion *completion)
{
    const unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    if (run->verdicts[number % IN_FLIGHT] != GYRE_OK)
        return completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == GYRE_FAILURE_PART;
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

static int exchange(struct run *run, uint64_t count)
{
    gyre_status status = GYRE_OK;
    for (uint64_t sent = 0, received = 0; status == GYRE_OK && received < count;) {
        if (sent < count && sent - received < IN_FLIGHT)
            status = send_one(run, sent++);
        else
            status = receive_one(run, received++);
    }
    if (status != GYRE_OK)
        return fail(run->name);
    printf("%-10s %8llu messages%s, %llu refused, %llu wrong\n", run->name, (unsigned long long)count,
           run->corrupt ? " with changed bytes" : "", (unsigned long long)run->refused,
           (unsigned long long)run->wrong);
    return run->wrong != 0;
}

static int run_shape(gyre_runtime *runtime, const struct shape *shape, uint64_t count)
{
    char kernel_name[64];
    gyre_kernel *kernel = NULL;
    struct run run = {.name = shape->name, .random = 88172645463325252u};
    snprintf(kernel_name, sizeof kernel_name, "%s_echo", shape->name);
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = SHAPES_KERNELS,
                                     .kernel = kernel_name,
                                     .request = shape->type,
                                     .reply = shape->type};
    if (gyre_layout_create_message(shape->type, GYRE_MESSAGE_MAX, &run.layout) != GYRE_OK ||
        gyre_launch(runtime, &launch, &kernel) != GYRE_OK)
        return fail(shape->name);
    run.queue = gyre_kernel_queue(kernel);
    run.requests = calloc(IN_FLIGHT, run.layout->size);
    run.reply = calloc(1, run.layout->size);
    int bad = !run.requests || !run.reply || exchange(&run, count);
    run.corrupt = 1;
    if (run.layout->tail)
        bad = bad || exchange(&run, count) || (count >= 1000 && run.refused == 0);
    gyre_kernel_release(kernel);
    free(run.requests);
    free(run.reply);
    gyre_layout_destroy(run.layout);
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
    int bad = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        bad |= run_shape(runtime, &shapes[i], strtoull(argv[2], NULL, 10));
    gyre_close(runtime);
    return bad;
}
