/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floors (work_shape.h) of a chain: a thread for each kernel, and a bare ring of slots of 48 bytes between each two. A slot holds
 * its sequence, written last. The client's window is the only flow control: no ring is larger than the window.
 */
#include "cli/bench/cases_chain.h"
#include "cli/bench/floor_server.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "gyre/waiting.h"

enum { RINGS = BENCH_CHAIN_KERNELS + 1, LOOKS_PER_YIELD = 64, STAGES = BENCH_CHAIN_KERNELS };

struct slot {
    uint64_t sequence; /* index of the message plus 1, when the slot is filled */
    uint64_t unused;
    words_48 payload;
};

struct chain {
    struct slot *rings[RINGS]; /* ring 0 is the client's, the last one leads to it */
    uint64_t mask;
    uint32_t stop;
};

struct stage {
    struct chain *chain;
    int number;
    pthread_t thread;
};

static bool filled(const struct slot *slot, uint64_t index)
{
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == index + 1; /* pairs with publish */
}

static void publish(struct slot *slot, uint64_t index)
{
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with filled */
}

/* A look that found nothing; gives the processor away now and then. */
static void look_again(unsigned *looks)
{
    if (++*looks % LOOKS_PER_YIELD == 0)
        sched_yield();
    else
        gyre_spin_pause();
}

static void *serve_stage(void *argument)
{
    const struct stage *stage = argument;
    struct chain *chain = stage->chain;
    unsigned looks = 0;
    for (uint64_t index = 0; !__atomic_load_n(&chain->stop, __ATOMIC_RELAXED);) {
        const struct slot *in = &chain->rings[stage->number][index & chain->mask];
        struct slot *out = &chain->rings[stage->number + 1][index & chain->mask];
        if (!filled(in, index)) {
            look_again(&looks);
            continue;
        }
        if (stage->number == STAGES - 1)
            bench_handle(BENCH_48, &in->payload, &out->payload);
        else
            out->payload = in->payload;
        publish(out, index++);
    }
    return NULL;
}

/* ---- the client ---- */

struct client {
    struct chain *chain;
    uint64_t sent, received, errors;
    unsigned looks;
};

static void send_one(struct client *client)
{
    struct slot *slot = &client->chain->rings[0][client->sent & client->chain->mask];
    bench_fill(BENCH_48, &slot->payload, client->sent);
    publish(slot, client->sent++);
}

static bool receive_one(struct client *client)
{
    const struct slot *slot = &client->chain->rings[RINGS - 1][client->received & client->chain->mask];
    if (!filled(slot, client->received))
        return false;
    client->errors += !bench_right(BENCH_48, &slot->payload, client->received++);
    return true;
}

static void ping_pong(struct client *client, uint64_t duration_ns, bench_histogram *histogram)
{
    const uint64_t start = gyre_clock_ns();
    for (uint64_t before = start; before - start < duration_ns;) {
        send_one(client);
        while (!receive_one(client))
            look_again(&client->looks);
        const uint64_t now = gyre_clock_ns();
        bench_histogram_add(histogram, now - before);
        before = now;
    }
}

static void there_and_back(struct client *client, uint64_t window, uint64_t duration_ns)
{
    const uint64_t end = gyre_clock_ns() + duration_ns;
    while (gyre_clock_ns() < end) {
        bool moved = client->sent - client->received < window;
        while (client->sent - client->received < window)
            send_one(client);
        while (receive_one(client))
            moved = true;
        if (!moved)
            look_again(&client->looks);
    }
    while (client->received != client->sent)
        if (!receive_one(client))
            look_again(&client->looks);
}

/* ---- rounds ---- */

static bool run_chain(const bench_shape *shape, uint64_t duration_ns, bool one_by_one, bench_sample *sample)
{
    static bench_histogram histogram; /* 60 kB; floors run one at a time */
    const size_t size = shape->capacity * sizeof(struct slot);
    unsigned char *memory = bench_ring_memory(size * RINGS);
    struct chain chain = {.mask = shape->capacity - 1};
    struct stage stages[STAGES];
    struct client client = {.chain = &chain};
    int started = 0;
    if (!memory)
        return false;
    histogram = (bench_histogram){0};
    *sample = (bench_sample){0};
    for (int i = 0; i < RINGS; i++)
        chain.rings[i] = (struct slot *)(void *)(memory + size * (size_t)i);
    for (; started < STAGES; started++) {
        stages[started] = (struct stage){.chain = &chain, .number = started};
        if (pthread_create(&stages[started].thread, NULL, serve_stage, &stages[started]) != 0)
            break;
    }
    const uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    if (started == STAGES && one_by_one)
        ping_pong(&client, duration_ns, &histogram);
    else if (started == STAGES)
        there_and_back(&client, shape->window, duration_ns);
    const double elapsed = (double)(gyre_clock_ns() - start);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    __atomic_store_n(&chain.stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < started; i++)
        pthread_join(stages[i].thread, NULL);
    sample->messages = client.received;
    sample->errors = client.errors;
    sample->per_second = (double)client.received * 1e9 / elapsed;
    bench_sample_latencies(sample, &histogram);
    bench_ring_free(memory, size * RINGS);
    return started == STAGES;
}

bool bench_floor_chain_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return run_chain(shape, duration_ns, true, sample);
}

bool bench_floor_chain_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return run_chain(shape, duration_ns, false, sample);
}
