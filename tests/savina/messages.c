/* SPDX-License-Identifier: Apache-2.0 */
/* ping-pong, counting, fork-join, thread ring, big: kernels/streams.gyre.c, circles.gyre.c and asks.gyre.c. */
#include <math.h>
#include <stdio.h>

#include "runs.h"

static const char streams[] = "streams.gyre.c", circles[] = "circles.gyre.c", asks[] = "asks.gyre.c";

void run_ping_pong(struct run *run)
{
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, circles, "ping", "ping", -1);
    wiring_answers(wiring);
    wiring_stage(wiring, circles, "pong", "pong", -1);
    wiring_link(wiring, "ping.next", "pong");
    wiring_link(wiring, "pong.next", "ping");
    wiring_open(wiring, 1);
    const total told = run_measure(run, (task){.left = run->size}, NULL);
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == run->size;
    wiring_end(wiring);
}

void run_counting(struct run *run)
{
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, streams, "produce", "produce", -1);
    wiring_stage(wiring, streams, "add", "add", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "produce.batch", "add");
    wiring_open(wiring, 0);
    const total told = run_feed(run, (task){.left = run->size}, run->size + 1);
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == run->size * (run->size - 1) / 2;
    wiring_end(wiring);
}

void run_fork_join(struct run *run)
{
    const uint32_t workers = run_kernels(run, 60);
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, streams, "fork", "fork", -1);
    for (int i = 0; i < (int)workers; i++) {
        wiring_stage(wiring, streams, "work", "work", i);
        wiring_link_between(wiring, "fork", -1, "batch", "work", i)->topic = "work";
        wiring_link_between(wiring, "work", i, "next", "join", -1);
    }
    wiring_stage(wiring, streams, "join", "join", -1);
    wiring_answers(wiring);
    wiring_open(wiring, 0);
    const total told = run_feed(run, (task){.left = run->size, .size = workers}, run->size);
    const double sine = sin(37.2), expected = (double)(run->size * workers) * sine * sine;
    run_found(run, told.sum, run->size * workers);
    run->right = run->right && fabs(told.value - expected) < 1e-6 * expected;
    wiring_end(wiring);
}

void run_thread_ring(struct run *run)
{
    int kernels = (int)run_kernels(run, 50); /* two actors each: a pipeline has 64 kernels at most */
    while (RING_ACTORS % kernels)
        kernels--;
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    for (int i = 0; i < kernels; i++) {
        wiring_stage(wiring, circles, "ring", "ring", i);
        wiring_answers(wiring);
        wiring_link_between(wiring, "ring", i, "next", "ring", (i + 1) % kernels);
    }
    wiring_open(wiring, 1);
    const total told = run_measure(run, (task){.left = run->size}, NULL);
    run_found(run, told.count, run->size);
    run->right = run->right && told.sum == run->size / RING_ACTORS;
    wiring_end(wiring);
}

/* The sum of what the keyed actors counted. */
static uint64_t count_pings(gyre_kernel *peer, uint32_t actors)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < actors; i++) {
        total state;
        if (gyre_kernel_key_read(peer, &i, sizeof i, &state, sizeof state) == GYRE_OK)
            count += state.count;
    }
    return count;
}

void run_big(struct run *run)
{
    enum { ACTORS = 120 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, asks, "big", "big", -1);
    wiring_answers(wiring);
    gyre_kernel *peer = wiring_stage(wiring, asks, "peer", "peer", -1);
    wiring_link(wiring, "big.peers", "peer");
    wiring_open(wiring, BIG_ACTORS_MAX);
    const total told = run_measure(run, (task){.left = run->size, .size = ACTORS}, NULL);
    run_found(run, told.count, run->size * ACTORS);
    run->right = run->right && count_pings(peer, ACTORS) == run->size * ACTORS;
    wiring_end(wiring);
}
