/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives over buffers of several kernels (gyre/collect.h). Where a backend has one device here, the kernels share it. */
#include "conformance.h"

#include "kernels/collect.h"

#include <gyre/change.h>
#include <gyre/collect.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3, CELLS = 1000, NUMBERS = 1103 }; /* so many numbers that devices combine by themselves */

/* ---- kernels that fill their cells ---- */

struct filler {
    gyre_kernel *kernel;
    gyre_buffer *cells, *weights;
};

static struct filler launch_filler(gyre_runtime *runtime, const char *backend, const char *kernel,
                                   const char *name, uint64_t cells)
{
    struct filler filler = {0};
    must(gyre_buffer_alloc(runtime, backend, 0, cells * sizeof(uint32_t), &filler.cells));
    must(gyre_buffer_alloc(runtime, backend, 0, 5 * sizeof(double), &filler.weights));
    const gyre_binding_name bindings[] = {{"cells", filler.cells}, {"weights", filler.weights}};
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = kernel_path("collect.gyre.c"),
                                     .kernel = kernel,
                                     .name = name,
                                     .backend = backend,
                                     .lanes = 1,
                                     .blocks = 1,
                                     .bindings = bindings,
                                     .binding_count = 2};
    must(gyre_launch(runtime, &launch, &filler.kernel));
    return filler;
}

/* `kernels`: PARTS of them. The last one is on `last`. */
static void launch_fillers(struct conformance *test, const char *last, struct filler *fillers,
                           gyre_kernel **kernels)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%u", i);
        fillers[i] =
            launch_filler(test->runtime, i + 1 < PARTS ? test->backend : last, "collect_fill", name, CELLS);
        kernels[i] = fillers[i].kernel;
    }
}

static gyre_collect_desc cells_of(gyre_kernel *const *kernels)
{
    return (gyre_collect_desc){
        .size = sizeof(gyre_collect_desc), .kernels = kernels, .kernel_count = PARTS, .buffer = "cells"};
}

static filled fill_cells(gyre_kernel *kernel, uint32_t value)
{
    const fill request = {.value = value};
    filled reply;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.uneven == 0);
    return reply;
}

static void require_cells(const struct filler *filler, uint32_t value)
{
    static uint32_t cells[CELLS];
    must(gyre_buffer_download(filler->cells, 0, cells, sizeof cells));
    for (uint32_t i = 0; i < CELLS; i++)
        require(cells[i] == value);
}

static void parts_are_summed_and_spread(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    static uint32_t gathered[PARTS][CELLS];
    launch_fillers(test, test->backend, fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 10 + i);
    must(gyre_gather(&cells, gathered, sizeof gathered, soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        require(gathered[i][0] == 10 + i && gathered[i][CELLS - 1] == 10 + i);
    must(gyre_reduce(&cells, GYRE_COLLECT_MAX, 1, soon()));
    require_cells(&fillers[0], 10);
    require_cells(&fillers[1], 12);
    require_cells(&fillers[2], 12);
    must(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(kernels[i], 5 + i).before == 34);
    must(gyre_broadcast(&cells, 2, soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(kernels[i], 0).before == 7);
}

static void some_elements_take_part(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    uint32_t seen[5];
    launch_fillers(test, test->backend, fillers, kernels);
    gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], i + 1);
    cells.first = 7;
    cells.count = 3;
    must(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()));
    for (uint32_t i = 0; i < PARTS; i++) {
        must(gyre_buffer_download(fillers[i].cells, 6 * sizeof seen[0], seen, sizeof seen));
        require(seen[0] == i + 1 && seen[1] == 6 && seen[2] == 6 && seen[3] == 6 && seen[4] == i + 1);
    }
    cells.first = CELLS - 1;
    cells.count = 0;
    must(gyre_reduce(&cells, GYRE_COLLECT_MIN, 0, soon()));
    must(gyre_broadcast(&cells, 0, soon()));
    must(gyre_buffer_download(fillers[2].cells, (CELLS - 2) * sizeof seen[0], seen, 2 * sizeof seen[0]));
    require(seen[0] == 3 && seen[1] == 1);
}

static void parts_may_be_of_other_backends(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, "cpu", fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 100u << i);
    must(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(kernels[i], 0).before == 700);
}

/* IN buffers get what the host writes, too: weights are sent to all before a step. */
static void weights_go_to_all(struct conformance *test)
{
    const double weights[5] = {1.5, -2.5, 1e300, 0.0, 3.0};
    double seen[5];
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    must(gyre_buffer_upload(fillers[1].weights, 0, weights, sizeof weights));
    gyre_collect_desc desc = cells_of(kernels);
    desc.buffer = "weights";
    desc.element = GYRE_COLLECT_F64;
    must(gyre_broadcast(&desc, 1, soon()));
    for (uint32_t i = 0; i < PARTS; i++) {
        must(gyre_buffer_download(fillers[i].weights, 0, seen, sizeof seen));
        require(memcmp(seen, weights, sizeof seen) == 0);
    }
}

/* ---- numbers of every type ---- */

struct numbers {
    uint32_t words[NUMBERS];
    int32_t signs[NUMBERS];
    uint64_t wide[NUMBERS];
    int64_t wide_signs[NUMBERS];
    float floats[NUMBERS];
    double doubles[NUMBERS];
};

static const struct member {
    const char *name;
    gyre_collect_element element;
    size_t offset, size;
} MEMBERS[] = {
#define MEMBER(name, element, type)                                                                          \
    {                                                                                                        \
#name, element, offsetof(struct numbers, name), sizeof(type)                                         \
    }
    MEMBER(words, GYRE_COLLECT_U32, uint32_t), MEMBER(signs, GYRE_COLLECT_I32, int32_t),
    MEMBER(wide, GYRE_COLLECT_U64, uint64_t),  MEMBER(wide_signs, GYRE_COLLECT_I64, int64_t),
    MEMBER(floats, GYRE_COLLECT_F32, float),   MEMBER(doubles, GYRE_COLLECT_F64, double),
#undef MEMBER
};
enum { MEMBER_COUNT = sizeof MEMBERS / sizeof MEMBERS[0] };

static uint64_t mix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double some_double(uint64_t *state)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310, 1e-40, 1.0};
    const uint64_t drawn = mix(state);
    if (drawn % 4 == 0)
        return special[drawn / 4 % (sizeof special / sizeof special[0])];
    return ((double)(int64_t)mix(state)) * ldexp(1.0, (int)(drawn % 120) - 100);
}

static void draw_numbers(struct numbers *numbers, uint64_t seed)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers->words[i] = (uint32_t)mix(&seed);
        numbers->signs[i] = (int32_t)mix(&seed);
        numbers->wide[i] = mix(&seed);
        numbers->wide_signs[i] = (int64_t)mix(&seed);
        numbers->floats[i] = (float)some_double(&seed);
        numbers->doubles[i] = some_double(&seed);
    }
}

/* What gyre/collect.h promises, one element at a time. */
#define EXPECTED(type, is_float)                                                                             \
    static type expected_##type(gyre_collect_rule rule, type a, type b)                                      \
    {                                                                                                        \
        if ((is_float) && (a != a || b != b))                                                                \
            return (type)NAN;                                                                                \
        if (rule == GYRE_COLLECT_SUM)                                                                        \
            return (type)(a + b);                                                                            \
        if ((is_float) && a == 0 && b == 0)                                                                  \
            return (signbit((double)a) != 0) == (rule == GYRE_COLLECT_MIN) ? a : b;                          \
        return (a < b) == (rule == GYRE_COLLECT_MIN) ? a : b;                                                \
    }
EXPECTED(float, 1)
EXPECTED(double, 1)
EXPECTED(uint32_t, 0)
EXPECTED(uint64_t, 0)

static int32_t expected_int32_t(gyre_collect_rule rule, int32_t a, int32_t b)
{
    if (rule == GYRE_COLLECT_SUM)
        return (int32_t)((uint32_t)a + (uint32_t)b);
    return (a < b) == (rule == GYRE_COLLECT_MIN) ? a : b;
}

static int64_t expected_int64_t(gyre_collect_rule rule, int64_t a, int64_t b)
{
    if (rule == GYRE_COLLECT_SUM)
        return (int64_t)((uint64_t)a + (uint64_t)b);
    return (a < b) == (rule == GYRE_COLLECT_MIN) ? a : b;
}

static void expect_numbers(gyre_collect_rule rule, struct numbers *sum, const struct numbers *part)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        sum->words[i] = expected_uint32_t(rule, sum->words[i], part->words[i]);
        sum->signs[i] = expected_int32_t(rule, sum->signs[i], part->signs[i]);
        sum->wide[i] = expected_uint64_t(rule, sum->wide[i], part->wide[i]);
        sum->wide_signs[i] = expected_int64_t(rule, sum->wide_signs[i], part->wide_signs[i]);
        sum->floats[i] = expected_float(rule, sum->floats[i], part->floats[i]);
        sum->doubles[i] = expected_double(rule, sum->doubles[i], part->doubles[i]);
    }
}

/* NaN without sign and payload, as it is promised: inf - inf has a sign on some processors. */
static void plain_nans(struct numbers *numbers)
{
    const uint32_t plain_float = 0x7fc00000;
    const uint64_t plain_double = UINT64_C(0x7ff8000000000000);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers->floats[i] != numbers->floats[i])
            memcpy(&numbers->floats[i], &plain_float, sizeof plain_float);
        if (numbers->doubles[i] != numbers->doubles[i])
            memcpy(&numbers->doubles[i], &plain_double, sizeof plain_double);
    }
}

struct number_part {
    gyre_kernel *kernel;
    gyre_buffer *buffers[MEMBER_COUNT + 1];
};

/* Parts take turns on two devices, where there are two. */
static uint32_t device_of(const struct conformance *test, uint32_t part)
{
    gyre_buffer *buffer = NULL;
    if (part % 2 == 0 || gyre_buffer_alloc(test->runtime, test->backend, 1, 64, &buffer) != GYRE_OK)
        return 0;
    must(gyre_buffer_free(buffer));
    return 1;
}

static void launch_numbers(struct conformance *test, uint32_t part, struct number_part *out)
{
    const uint32_t device = device_of(test, part);
    gyre_binding_name bindings[MEMBER_COUNT + 1];
    gyre_launch_desc launch = launch_desc(test, "collect.gyre.c", "collect_numbers");
    char name[16];
    snprintf(name, sizeof name, "numbers%u", part);
    for (size_t i = 0; i <= MEMBER_COUNT; i++) {
        const size_t size = i < MEMBER_COUNT ? MEMBERS[i].size : 8;
        must(gyre_buffer_alloc(test->runtime, test->backend, device, NUMBERS * size, &out->buffers[i]));
        bindings[i] = (gyre_binding_name){i < MEMBER_COUNT ? MEMBERS[i].name : "pairs", out->buffers[i]};
    }
    launch.name = name;
    launch.device = device;
    launch.blocks = 1;
    launch.bindings = bindings;
    launch.binding_count = MEMBER_COUNT + 1;
    must(gyre_launch(test->runtime, &launch, &out->kernel));
}

static void check_rule(const struct number_part *parts, gyre_collect_rule rule)
{
    static struct numbers drawn[PARTS], expected;
    static unsigned char seen[NUMBERS * sizeof(uint64_t)];
    gyre_kernel *kernels[PARTS];
    for (uint32_t p = 0; p < PARTS; p++) {
        kernels[p] = parts[p].kernel;
        draw_numbers(&drawn[p], 100 * (uint64_t)rule + p);
        for (size_t i = 0; i < MEMBER_COUNT; i++)
            must(gyre_buffer_upload(parts[p].buffers[i], 0, (unsigned char *)&drawn[p] + MEMBERS[i].offset,
                                    NUMBERS * MEMBERS[i].size));
        if (p == 0)
            expected = drawn[0];
        else
            expect_numbers(rule, &expected, &drawn[p]);
        plain_nans(&expected);
    }
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        gyre_collect_desc desc = cells_of(kernels);
        desc.buffer = MEMBERS[i].name;
        desc.element = MEMBERS[i].element;
        must(gyre_all_reduce(&desc, rule, soon()));
        for (uint32_t p = 0; p < PARTS; p++) {
            must(gyre_buffer_download(parts[p].buffers[i], 0, seen, NUMBERS * MEMBERS[i].size));
            require(memcmp(seen, (unsigned char *)&expected + MEMBERS[i].offset, NUMBERS * MEMBERS[i].size) ==
                    0);
        }
    }
}

static void numbers_of_every_type_are_combined(struct conformance *test)
{
    struct number_part parts[PARTS];
    for (uint32_t p = 0; p < PARTS; p++)
        launch_numbers(test, p, &parts[p]);
    check_rule(parts, GYRE_COLLECT_SUM);
    check_rule(parts, GYRE_COLLECT_MIN);
    check_rule(parts, GYRE_COLLECT_MAX);
}

/* ---- beside handlers and other threads ---- */

struct load {
    pthread_t thread;
    gyre_kernel *kernel;
    uint32_t value, calls; /* `calls` is atomic */
    uint32_t stop;         /* atomic */
};

static void *fill_on(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_RELAXED)) {
        fill_cells(load->kernel, load->value);
        __atomic_fetch_add(&load->calls, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void await_calls(const struct load *load, uint32_t more)
{
    const uint32_t until = __atomic_load_n(&load->calls, __ATOMIC_RELAXED) + more;
    while ((int32_t)(until - __atomic_load_n(&load->calls, __ATOMIC_RELAXED)) > 0)
        sleep_ms(1);
}

/* Every handler finds all cells equal, and so does everybody who looks between messages. */
static void handlers_see_whole_collectives(struct conformance *test)
{
    static uint32_t gathered[PARTS][CELLS];
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    struct load loads[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++) {
        loads[i] = (struct load){.kernel = kernels[i], .value = 1u << (8 * i)};
        require(pthread_create(&loads[i].thread, NULL, fill_on, &loads[i]) == 0);
        await_calls(&loads[i], 1);
    }
    for (uint32_t round = 0; round < 20; round++) {
        must(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()));
        await_calls(&loads[round % PARTS], 2);
        must(gyre_gather(&cells, gathered, sizeof gathered, soon()));
        for (uint32_t i = 0; i < PARTS; i++)
            for (uint32_t cell = 0; cell < CELLS; cell++)
                require(gathered[i][cell] == gathered[i][0]);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        __atomic_store_n(&loads[i].stop, 1, __ATOMIC_RELAXED);
        pthread_join(loads[i].thread, NULL);
    }
}

struct collector {
    pthread_t thread;
    gyre_kernel *kernels[PARTS];
};

static void *take_maxima(void *argument)
{
    const struct collector *collector = argument;
    const gyre_collect_desc cells = cells_of(collector->kernels);
    for (uint32_t i = 0; i < 15; i++)
        must(gyre_all_reduce(&cells, GYRE_COLLECT_MAX, soon()));
    return NULL;
}

/* Two threads with the same kernels in opposite orders, and a third that swaps one of them meanwhile. */
static void collectives_of_several_threads_take_turns(struct conformance *test)
{
    struct filler fillers[PARTS];
    struct collector collectors[2];
    launch_fillers(test, test->backend, fillers, collectors[0].kernels);
    for (uint32_t i = 0; i < PARTS; i++) {
        collectors[1].kernels[i] = collectors[0].kernels[PARTS - 1 - i];
        fill_cells(fillers[i].kernel, i + 40);
    }
    for (uint32_t i = 0; i < 2; i++)
        require(pthread_create(&collectors[i].thread, NULL, take_maxima, &collectors[i]) == 0);
    for (uint32_t i = 0; i < 3; i++)
        must(gyre_kernel_swap(fillers[1].kernel, kernel_path("collect.gyre.c"), soon()));
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(collectors[i].thread, NULL);
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(fillers[i].kernel, 0).before == 40 + PARTS - 1);
}

static void kernels_that_are_inactive_take_part(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 1 + i);
    must(gyre_kernel_deactivate(kernels[1], soon()));
    must(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()));
    require(info_of(kernels[1]).state == GYRE_KERNEL_INACTIVE);
    must(gyre_kernel_activate(kernels[1], soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(kernels[i], 0).before == 6);
}

/* A collective that waits for a handler of the first kernel. */
struct waiting {
    pthread_t thread;
    gyre_kernel *kernels[PARTS];
    gyre_status status;
    bool tells_release;
    uint32_t ended; /* atomic */
};

static void *sum_and_tell(void *argument)
{
    struct waiting *waiting = argument;
    const gyre_collect_desc cells = cells_of(waiting->kernels);
    waiting->status = gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon());
    waiting->tells_release =
        waiting->status != GYRE_OK && strstr(gyre_error_text(), "being released") != NULL;
    __atomic_store_n(&waiting->ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Until it has the first kernel, which another collective is told then; or is over, on a slow machine. */
static void await_waiting(const struct waiting *waiting)
{
    const gyre_collect_desc cells = cells_of(waiting->kernels);
    while (!__atomic_load_n(&waiting->ended, __ATOMIC_ACQUIRE)) {
        const gyre_status status = gyre_all_reduce(&cells, GYRE_COLLECT_SUM, GYRE_NO_WAIT);
        require(status == GYRE_TIMEOUT);
        if (strstr(gyre_error_text(), "by other threads until the deadline"))
            return;
        sleep_ms(1);
    }
}

/* Kernels are made to stand in the order of their addresses: the last one is released while the collective is at the first. */
static void a_part_may_be_released_meanwhile(struct conformance *test)
{
    struct filler fillers[PARTS];
    struct waiting waiting = {.status = GYRE_OK};
    uint32_t first = 0, last = 0;
    launch_fillers(test, test->backend, fillers, waiting.kernels);
    for (uint32_t i = 0; i < PARTS; i++) {
        fill_cells(fillers[i].kernel, 1 + i);
        first = (uintptr_t)fillers[i].kernel < (uintptr_t)fillers[first].kernel ? i : first;
        last = (uintptr_t)fillers[i].kernel > (uintptr_t)fillers[last].kernel ? i : last;
    }
    const fill stays = {.value = 50, .microseconds = 400000};
    must(gyre_send(gyre_kernel_queue(fillers[first].kernel), &stays, sizeof stays, NULL, soon()));
    require(pthread_create(&waiting.thread, NULL, sum_and_tell, &waiting) == 0);
    await_waiting(&waiting);
    gyre_kernel_release(fillers[last].kernel);
    pthread_join(waiting.thread, NULL);
    require(waiting.status == GYRE_OK || (waiting.status == GYRE_CLOSED && waiting.tells_release));
    filled reply;
    must(gyre_receive(gyre_kernel_queue(fillers[first].kernel), &reply, sizeof reply, NULL, soon()));
    for (uint32_t i = 0; i < PARTS; i++)
        if (i != last)
            require(fill_cells(fillers[i].kernel, 0).uneven == 0);
}

/* ---- several devices ---- */

enum { LARGE = 1000003 }; /* cells: more than a chunk, and no multiple of one */

static void a_spread_is_summed(struct conformance *test)
{
    static const uint32_t devices[] = {0, 1};
    static uint32_t cells[2][LARGE], seen[LARGE];
    gyre_buffer *buffers[2][2] = {{NULL}};
    gyre_binding_name names[2][2];
    const gyre_binding_name *const bindings[] = {names[0], names[1]};
    gyre_spread *spread = NULL;
    if (gyre_buffer_alloc(test->runtime, test->backend, 1, 64, &buffers[1][1]) != GYRE_OK)
        not_on_this_machine("a second device");
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t cell = 0; cell < LARGE; cell++)
            cells[i][cell] = (cell + 1) * (i ? 2654435761u : 40503u);
        must(gyre_buffer_alloc(test->runtime, test->backend, i, sizeof cells[i], &buffers[i][0]));
        must(gyre_buffer_alloc(test->runtime, test->backend, i, 64, &buffers[i][1]));
        must(gyre_buffer_upload(buffers[i][0], 0, cells[i], sizeof cells[i]));
        names[i][0] = (gyre_binding_name){"cells", buffers[i][0]};
        names[i][1] = (gyre_binding_name){"weights", buffers[i][1]};
    }
    gyre_launch_desc launch = launch_desc(test, "collect.gyre.c", "collect_fill");
    launch.name = "spread";
    launch.lanes = launch.blocks = 1;
    const gyre_spread_desc desc = {.size = sizeof desc,
                                   .launch = &launch,
                                   .devices = devices,
                                   .device_count = 2,
                                   .rule = GYRE_SHARD_ROUND_ROBIN,
                                   .bindings = bindings,
                                   .binding_count = 2};
    must(gyre_spread_launch(test->runtime, &desc, &spread));
    const gyre_collect_desc of_spread = {.size = sizeof of_spread, .spread = spread, .buffer = "cells"};
    must(gyre_all_reduce(&of_spread, GYRE_COLLECT_SUM, soon()));
    for (uint32_t i = 0; i < 2; i++) {
        must(gyre_buffer_download(buffers[i][0], 0, seen, sizeof seen));
        for (uint32_t cell = 0; cell < LARGE; cell++)
            require(seen[cell] == cells[0][cell] + cells[1][cell]);
    }
    gyre_spread_release(spread);
}

/* ---- what fails ---- */

static void a_collective_without_time_changes_nothing(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 1 + i);
    require(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, GYRE_NO_WAIT) == GYRE_TIMEOUT);
    require_sentence("gyre_all_reduce");
    require(gyre_broadcast(&cells, 0, gyre_now_ns()) == GYRE_TIMEOUT);
    for (uint32_t i = 0; i < PARTS; i++)
        require(fill_cells(kernels[i], 1 + i).before == 1 + i); /* and the kernels go on */
}

static void a_part_that_does_not_run_is_named(struct conformance *test)
{
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    const gyre_collect_desc cells = cells_of(kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 1 + i);
    must(gyre_kernel_terminate(kernels[1], soon(), NULL));
    require(gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon()) == GYRE_CLOSED);
    require_sentence("kernel 'part1' is terminated");
    require(fill_cells(kernels[0], 0).before == 1 && fill_cells(kernels[2], 0).before == 3);
}

struct mistake {
    gyre_collect_desc desc;
    const char *sentence;
};

static void require_mistakes(const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(gyre_all_reduce(&mistakes[i].desc, GYRE_COLLECT_SUM, soon()) == GYRE_INVALID);
        require_sentence(mistakes[i].sentence);
    }
}

static void wrong_collectives_are_told(struct conformance *test)
{
    static uint32_t room[PARTS * CELLS];
    struct filler fillers[PARTS];
    gyre_kernel *kernels[PARTS];
    launch_fillers(test, test->backend, fillers, kernels);
    for (uint32_t i = 0; i < PARTS; i++)
        fill_cells(kernels[i], 1 + i);
    const struct filler other = launch_filler(test->runtime, test->backend, "collect_other", "other", CELLS),
                        shorter = launch_filler(test->runtime, test->backend, "collect_fill", "shorter", 5);
    gyre_kernel *with_other[] = {kernels[0], other.kernel}, *with_shorter[] = {kernels[0], shorter.kernel},
                *twice[] = {kernels[0], kernels[1], kernels[0]}, *missing[] = {kernels[0], NULL};
    const size_t size = sizeof(gyre_collect_desc);
    const struct mistake mistakes[] = {
        {{size, NULL, kernels, 1, "cells", 0, 0, 0}, "needs two kernels or more, found 1"},
        {{size, NULL, kernels, 17, "cells", 0, 0, 0}, "at most 16 kernels, found 17"},
        {{size, NULL, NULL, 0, "cells", 0, 0, 0}, "either a spread or a list of kernels, found neither"},
        {{size, NULL, kernels, PARTS, NULL, 0, 0, 0}, "the name of a buffer"},
        {{size, NULL, kernels, PARTS, "cell", 0, 0, 0},
         "no buffer 'cell'; it declares weights, cells; did you mean"},
        {{size, NULL, kernels, PARTS, "cells", GYRE_COLLECT_F32, 0, 0},
         "elements of f32, found elements of u32"},
        {{size, NULL, kernels, PARTS, "cells", (gyre_collect_element)9, 0, 0},
         "an element from 0 to 6, found 9"},
        {{size, NULL, kernels, PARTS, "cells", 0, CELLS + 1, 0}, "0 elements from 1001 on, found 1000"},
        {{size, NULL, kernels, PARTS, "cells", 0, CELLS, 0}, "no elements from 1000 on"},
        {{size, NULL, kernels, PARTS, "cells", 0, 1, CELLS}, "1000 elements from 1 on, found 1000"},
        {{size, NULL, kernels, PARTS, "cells", 0, 1, UINT64_MAX}, "18446744073709551615 elements"},
        {{size, NULL, with_other, 2, "cells", 0, 0, 0}, "u32 in kernel 'part0', and of i32"},
        {{size, NULL, with_shorter, 2, "cells", 0, 0, 0},
         "1000 elements in kernel 'part0' and 5 in kernel 'shorter'"},
        {{size, NULL, twice, 3, "cells", 0, 0, 0}, "kernel 'part0' is in the list twice"},
        {{size, NULL, missing, 2, "cells", 0, 0, 0}, "kernel 1 of the list is NULL"},
    };
    require_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
    const gyre_collect_desc cells = cells_of(kernels);
    require(gyre_all_reduce(&cells, (gyre_collect_rule)4, soon()) == GYRE_INVALID);
    require_sentence("a rule from 1 to 3, found 4");
    require(gyre_reduce(&cells, GYRE_COLLECT_SUM, PARTS, soon()) == GYRE_INVALID);
    require_sentence("a root from 0 to 2, found 3");
    require(gyre_broadcast(&cells, UINT32_MAX, soon()) == GYRE_INVALID);
    require(gyre_gather(&cells, room, sizeof room - 4, soon()) == GYRE_INVALID);
    require_sentence("room for 3 times 4000 bytes, found room for 11996 bytes");
    require(gyre_gather(&cells, NULL, sizeof room, soon()) == GYRE_INVALID);
    require(gyre_all_reduce(NULL, GYRE_COLLECT_SUM, soon()) == GYRE_INVALID);
    for (uint32_t i = 0; i < PARTS; i++)
        require_cells(&fillers[i], 1 + i);
}

/* Elements that are no numbers are copied, and not combined. */
static void pairs_are_copied_and_not_summed(struct conformance *test)
{
    const pair pairs[] = {{1, 2}, {3, 4}};
    pair seen[2];
    struct number_part parts[PARTS];
    gyre_kernel *kernels[PARTS];
    for (uint32_t p = 0; p < PARTS; p++) {
        launch_numbers(test, p, &parts[p]);
        kernels[p] = parts[p].kernel;
    }
    gyre_collect_desc desc = cells_of(kernels);
    desc.buffer = "pairs";
    must(gyre_buffer_upload(parts[0].buffers[MEMBER_COUNT], 0, pairs, sizeof pairs));
    require(gyre_all_reduce(&desc, GYRE_COLLECT_MAX, soon()) == GYRE_INVALID);
    require_sentence("with elements of pair");
    must(gyre_broadcast(&desc, 0, soon()));
    must(gyre_buffer_download(parts[2].buffers[MEMBER_COUNT], 0, seen, sizeof seen));
    require(memcmp(seen, pairs, sizeof seen) == 0);
}

const struct conformance_case collect_cases[] = {
    {"parts_are_summed_and_spread", parts_are_summed_and_spread},
    {"some_elements_take_part", some_elements_take_part},
    {"parts_may_be_of_other_backends", parts_may_be_of_other_backends},
    {"weights_go_to_all", weights_go_to_all},
    {"numbers_of_every_type_are_combined", numbers_of_every_type_are_combined},
    {"handlers_see_whole_collectives", handlers_see_whole_collectives},
    {"collectives_of_several_threads_take_turns", collectives_of_several_threads_take_turns},
    {"kernels_that_are_inactive_take_part", kernels_that_are_inactive_take_part},
    {"a_part_may_be_released_meanwhile", a_part_may_be_released_meanwhile},
    {"a_spread_is_summed", a_spread_is_summed},
    {"a_collective_without_time_changes_nothing", a_collective_without_time_changes_nothing},
    {"a_part_that_does_not_run_is_named", a_part_that_does_not_run_is_named},
    {"wrong_collectives_are_told", wrong_collectives_are_told},
    {"pairs_are_copied_and_not_summed", pairs_are_copied_and_not_summed},
    {NULL, NULL},
};
