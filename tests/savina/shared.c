/* SPDX-License-Identifier: Apache-2.0 */
/* chameneos, dictionary, philosophers: kernels/circles.gyre.c and asks.gyre.c. */
#include "runs.h"

static const char circles[] = "circles.gyre.c", asks[] = "asks.gyre.c";

void run_chameneos(struct run *run)
{
    enum { CREATURES = 100 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, circles, "creatures", "creatures", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, circles, "mall", "mall", -1);
    wiring_link(wiring, "creatures.mall", "mall");
    wiring_link(wiring, "mall.creatures", "creatures");
    wiring_open(wiring, 2 * CREATURES_MAX);
    const total told = run_measure(run, (task){.left = run->size, .size = CREATURES}, NULL);
    run_found(run, told.count, 2 * run->size);
    wiring_end(wiring);
}

struct word_state {
    uint64_t uses, writes, value;
};

void run_dictionary(struct run *run)
{
    enum { WORKERS = 20, WORDS = 512 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, asks, "workers", "workers", -1);
    wiring_answers(wiring);
    gyre_kernel *words = wiring_stage(wiring, asks, "words", "words", -1);
    wiring_link(wiring, "workers.words", "words");
    wiring_open(wiring, 64);
    const total told = run_measure(run, (task){.left = run->size, .size = WORKERS}, NULL);
    uint64_t uses = 0, writes = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
        struct word_state state;
        if (gyre_kernel_key_read(words, &i, sizeof i, &state, sizeof state) != GYRE_OK)
            continue;
        uses += state.uses;
        writes += state.writes;
    }
    run_found(run, uses, run->size * WORKERS);
    run->right = run->right && writes == told.count && writes > 0;
    wiring_end(wiring);
}

void run_philosophers(struct run *run)
{
    enum { PHILOSOPHERS = 20 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, asks, "philosophers", "philosophers", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, asks, "table", "table", -1);
    wiring_link(wiring, "philosophers.table", "table");
    wiring_open(wiring, 64);
    const total told = run_measure(run, (task){.left = run->size, .size = PHILOSOPHERS}, NULL);
    run_found(run, told.count, run->size * PHILOSOPHERS);
    wiring_end(wiring);
}
