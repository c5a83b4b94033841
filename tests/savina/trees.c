/* SPDX-License-Identifier: Apache-2.0 */
/* fibonacci, skynet, queens: kernels/trees.gyre.c. */
#include "runs.h"

/* A kernel that sends to itself, and the actor that adds what its leaves say. */
static total run_tree(struct run *run, const char *kernel, task request, uint32_t quota)
{
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, "trees.gyre.c", kernel, "tree", -1);
    gyre_kernel *add = wiring_stage(wiring, "streams.gyre.c", "add", "add", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "tree.more", "tree");
    wiring_link(wiring, "tree.leaves", "add");
    wiring_open(wiring, quota);
    const total told = run_measure(run, request, add);
    wiring_end(wiring);
    return told;
}

void run_fibonacci(struct run *run)
{
    uint64_t last = 0, expected = 1;
    for (uint64_t i = 1; i < run->size; i++) {
        const uint64_t next = last + expected;
        last = expected;
        expected = next;
    }
    /* nodes that are alive at once are fewer than there are leaves */
    const total told = run_tree(run, "fibonacci", (task){.number = run->size}, (uint32_t)expected + 2);
    run_found(run, told.sum, expected);
    run->right = run->right && told.count == expected;
}

void run_skynet(struct run *run)
{
    const total told = run_tree(run, "skynet", (task){.left = run->size}, (uint32_t)run->size + 1);
    run_found(run, told.sum, run->size * (run->size - 1) / 2);
    run->right = run->right && told.count == run->size;
}

void run_queens(struct run *run)
{
    static const uint32_t solutions[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};
    const uint64_t size = run->size < sizeof solutions / sizeof *solutions ? run->size : 0;
    const total told =
        run_tree(run, "queens", (task){.size = (uint32_t)run->size, .left = run->size}, 1u << 18);
    run_found(run, told.sum, solutions[size]);
}
