/* SPDX-License-Identifier: Apache-2.0 */
/* quicksort: kernels/quicksort.gyre.c. */
#include <stdio.h>
#include <stdlib.h>

#include "runs.h"

static uint64_t *make_numbers(uint64_t count, uint64_t *sum)
{
    uint64_t *numbers = calloc(count, sizeof *numbers), random = 1024;
    if (numbers == NULL) {
        fprintf(stderr, "savina: there is no memory left\n");
        exit(1);
    }
    for (uint64_t i = 0; i < count; i++) {
        random = savina_random(random);
        numbers[i] = random >> 4;
        *sum += numbers[i];
    }
    return numbers;
}

/* How many numbers are not smaller than the one before them; also their sum. */
static uint64_t count_in_order(const uint64_t *numbers, uint64_t count, uint64_t *sum)
{
    uint64_t in_order = 0;
    for (uint64_t i = 0; i < count; i++) {
        in_order += i == 0 || numbers[i - 1] <= numbers[i];
        *sum += numbers[i];
    }
    return in_order;
}

void run_quicksort(struct run *run)
{
    struct wiring *wiring = &run->wiring;
    uint64_t before = 0, after = 0;
    uint64_t *numbers = make_numbers(run->size, &before);
    wiring_begin(wiring, run->backend, NULL);
    gyre_buffer *buffer = wiring_buffer(wiring, "numbers", run->size * sizeof *numbers);
    must(gyre_buffer_upload(buffer, 0, numbers, run->size * sizeof *numbers));
    wiring_stage(wiring, "quicksort.gyre.c", "quicksort", "sort", -1);
    gyre_kernel *add = wiring_stage(wiring, "streams.gyre.c", "add", "add", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "sort.more", "sort");
    wiring_link(wiring, "sort.leaves", "add");
    wiring_open(wiring, (uint32_t)(run->size / 64) + 64);
    const total told = run_measure(run, (task){.left = run->size}, add);
    must(gyre_buffer_download(buffer, 0, numbers, run->size * sizeof *numbers));
    run_found(run, count_in_order(numbers, run->size, &after), run->size);
    run->right = run->right && told.sum == run->size && before == after;
    free(numbers);
    wiring_end(wiring);
}
