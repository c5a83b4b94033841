/* SPDX-License-Identifier: Apache-2.0 */
/* bounded buffer, sleeping barber, cigarette smokers: kernels/shops.gyre.c. */
#include <math.h>

#include "runs.h"

static const char shops[] = "shops.gyre.c";

/* ---- bounded buffer ---- */

/* What one item comes to, as process_item of the kernels. */
static double item_worth(uint32_t cost)
{
    uint64_t random = cost;
    double value = 0;
    for (uint32_t i = 0; i < cost * 100; i++) {
        random = savina_random(random);
        value += log((double)(random >> 11) / 9007199254740992.0 + 0.01);
    }
    return value;
}

void run_bounded_buffer(struct run *run)
{
    enum { SAVINA_ITEMS = 1000, SAVINA_COST = 25 };
    const uint32_t cost = run->size < SAVINA_ITEMS ? 1 : SAVINA_COST;
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, shops, "buffer", "buffer", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, shops, "producer", "producer", -1);
    wiring_stage(wiring, shops, "consumer", "consumer", -1);
    wiring_link(wiring, "buffer.make", "producer");
    wiring_link(wiring, "buffer.eat", "consumer");
    wiring_link(wiring, "producer.back", "buffer");
    wiring_link(wiring, "consumer.back", "buffer");
    wiring_open(wiring, 3 * BUFFER_ACTORS_MAX);
    const task go = {.left = run->size, .size = BUFFER_ACTORS_MAX, .number = cost};
    const total told = run_measure(run, go, NULL);
    run_found(run, told.count, run->size * BUFFER_ACTORS_MAX);
    /* the n-th item of a producer is worth n times as much as one, and each is consumed at the worth of one more */
    const double items = (double)run->size,
                 expected = BUFFER_ACTORS_MAX * item_worth(cost) * (items * (items + 1) / 2 + items);
    run_agrees(run, told.value, expected, 1e-9);
    wiring_end(wiring);
}

/* ---- sleeping barber ---- */

static uint64_t wait_busily(uint64_t random, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        random = savina_random(random);
    return random;
}

/* The random number behind `*random`, of which actors use the upper half. */
static uint64_t next_random(uint64_t *random)
{
    *random = savina_random(*random);
    return *random >> 33;
}

void run_barber(struct run *run)
{
    const uint32_t chairs = run->size < ROOM_CHAIRS ? (uint32_t)run->size / 8 + 1 : ROOM_CHAIRS;
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, shops, "customers", "customers", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, shops, "room", "room", -1);
    wiring_stage(wiring, shops, "barber", "barber", -1);
    wiring_link(wiring, "customers.room", "room");
    wiring_link(wiring, "customers.next", "customers");
    wiring_link(wiring, "room.barber", "barber");
    wiring_link(wiring, "room.full", "customers");
    wiring_link(wiring, "barber.room", "room");
    wiring_link(wiring, "barber.served", "customers");
    wiring_open(wiring, (uint32_t)run->size + 16);
    const total told = run_measure(run, (task){.left = run->size, .size = chairs}, NULL);
    uint64_t random = 0;
    for (uint64_t i = 0; i < run->size; i++) {
        const uint64_t steps = next_random(&random) % BARBER_STEPS + 10;
        random = wait_busily(random, steps);
    }
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == random;
    wiring_end(wiring);
}

/* ---- cigarette smokers ---- */

void run_smokers(struct run *run)
{
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, shops, "arbiter", "arbiter", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, shops, "smokers", "smokers", -1);
    wiring_link(wiring, "arbiter.smokers", "smokers");
    wiring_link(wiring, "smokers.arbiter", "arbiter");
    wiring_link(wiring, "smokers.smoke", "smokers");
    wiring_open(wiring, 2 * (uint32_t)run->size + 16);
    const total told = run_measure(run, (task){.left = run->size, .size = SMOKERS_MAX}, NULL);
    uint64_t random = 1, expected = 0;
    for (uint64_t i = 0; i < run->size; i++) {
        next_random(&random); /* which smoker */
        const uint64_t steps = next_random(&random) % SMOKER_STEPS + 10;
        expected += wait_busily(steps, steps);
    }
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == expected;
    wiring_end(wiring);
}
