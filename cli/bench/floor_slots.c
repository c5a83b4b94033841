/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floors (work_shape.h) with a bare ring of slots. Each slot holds its sequence. The writer stores it last (release), the reader
 * looks at it first (acquire), and nothing else passes between the two threads. A reply has the index of its request, so the
 * client's count of requests under way is the only flow control.
 */
#include "cli/bench/floor_rings.h"
#include "cli/bench/floor_server.h"
#include "cli/bench/work_shape.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "gyre/waiting.h"

enum { PRODUCERS_MAX = 16, LOOKS_PER_YIELD = 256 };

struct slot {
    uint64_t sequence; /* index of the message plus 1, when the slot is filled */
    uint64_t unused;
    unsigned char payload[];
};

/* One direction of a client's traffic. */
struct ring {
    unsigned char *slots;
    uint64_t mask;
};

struct pair {
    struct ring requests, replies;
    void *memory;
    size_t memory_size;
    _Alignas(64) uint64_t served; /* requests served; only the server uses it */
};

static BENCH_INLINE size_t stride(size_t payload)
{
    return (sizeof(struct slot) + payload + 63) / 64 * 64;
}

static BENCH_INLINE struct slot *slot_at(const struct ring *ring, size_t payload, uint64_t index)
{
    return (struct slot *)(void *)(ring->slots + (index & ring->mask) * stride(payload));
}

static BENCH_INLINE bool filled(const struct slot *slot, uint64_t index)
{
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == index + 1; /* pairs with publish */
}

static BENCH_INLINE void publish(struct slot *slot, uint64_t index)
{
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with filled */
}

static bool pair_init(struct pair *pair, const bench_shape *shape)
{
    size_t request = stride(bench_request_size(shape->kind)), reply = stride(bench_reply_size(shape->kind));
    pair->memory_size = (request + reply) * shape->capacity;
    pair->memory = bench_ring_memory(pair->memory_size);
    pair->requests = (struct ring){pair->memory, shape->capacity - 1};
    pair->replies =
        (struct ring){(unsigned char *)pair->memory + request * shape->capacity, shape->capacity - 1};
    pair->served = 0;
    return pair->memory != NULL;
}

/* ---- server ---- */

struct served {
    const bench_shape *shape;
    struct pair *pairs;
    unsigned pair_count;
};

/*
 * Makes the reply to a request. A reply that shares its cache line with the sequence is made beside the ring and copied in one
 * go: the client polls that line, and would take it away between two stores.
 */
static BENCH_INLINE void handle(enum bench_kind kind, const void *request, void *reply)
{
    words_48 small;
    if (bench_reply_size(kind) > sizeof small) {
        bench_handle(kind, request, reply);
        return;
    }
    bench_handle(kind, request, &small);
    /* keeps the compiler from building the reply in the ring after all */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(reply, &small, bench_reply_size(kind));
}

/* Answers the requests that are there, up to a burst. Returns the number of answered requests. */
static BENCH_INLINE uint64_t answer(struct pair *pair, enum bench_kind kind)
{
    enum { AT_ONCE = 256 };
    uint64_t index = pair->served, end = index + AT_ONCE;
    for (; index != end; index++) {
        const struct slot *in = slot_at(&pair->requests, bench_request_size(kind), index);
        if (!filled(in, index))
            break;
        struct slot *out = slot_at(&pair->replies, bench_reply_size(kind), index);
        handle(kind, in->payload, out->payload);
        publish(out, index);
    }
    uint64_t count = index - pair->served;
    pair->served = index;
    return count;
}

static BENCH_INLINE void serve_kind(bench_server *server, enum bench_kind kind)
{
    const struct served *served = server->context;
    while (!bench_server_stopped(server))
        for (unsigned i = 0; i < served->pair_count; i++)
            if (!answer(&served->pairs[i], kind))
                gyre_spin_pause();
}

static void serve_rings(bench_server *server)
{
    const struct served *served = server->context;
    BENCH_FOR_KIND(served->shape->kind, serve_kind(server, KIND))
}

/* ---- clients ---- */

struct client {
    _Alignas(64) struct pair *pair;
    const bench_shape *shape;
    uint64_t duration_ns, sent, received, errors;
    uint64_t began_ns, ended_ns; /* begin and end of a producer's round */
    unsigned number;
    bench_histogram *histogram;
};

/* Makes a request and copies it into the ring, as a user of a ring does. */
static BENCH_INLINE void send_one(struct client *client, enum bench_kind kind)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64)));
    struct slot *slot = slot_at(&client->pair->requests, bench_request_size(kind), client->sent);
    bench_fill(kind, message, client->sent);
    memcpy(slot->payload, message, bench_request_size(kind));
    publish(slot, client->sent++);
}

static BENCH_INLINE bool receive_one(struct client *client, enum bench_kind kind)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64)));
    const struct slot *slot = slot_at(&client->pair->replies, bench_reply_size(kind), client->received);
    if (!filled(slot, client->received))
        return false;
    memcpy(message, slot->payload, bench_reply_size(kind));
    client->errors += !bench_right(kind, message, client->received++);
    return true;
}

static BENCH_INLINE void ping_pong(struct client *client, enum bench_kind kind)
{
    uint64_t start = gyre_clock_ns(), before = start;
    while (before - start < client->duration_ns) {
        send_one(client, kind);
        while (!receive_one(client, kind))
            gyre_spin_pause();
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(client->histogram, now - before);
        before = now;
    }
}

static BENCH_INLINE void burst(struct client *client, enum bench_kind kind)
{
    const uint64_t count = client->shape->burst;
    uint64_t start = gyre_clock_ns(), before = start;
    while (before - start < client->duration_ns) {
        for (uint64_t i = 0; i < count; i++)
            send_one(client, kind);
        while (client->received != client->sent)
            receive_one(client, kind);
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(client->histogram, now - before);
        before = now;
    }
}

static BENCH_INLINE uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sends up to a burst within the window, then takes up to a burst of replies. */
static BENCH_INLINE void turn(struct client *client, enum bench_kind kind, bool crowded, unsigned *idle)
{
    const bench_shape *shape = client->shape;
    uint64_t room = min_of(shape->window - (client->sent - client->received), shape->burst), got = 0;
    for (uint64_t i = 0; i < room; i++)
        send_one(client, kind);
    while (got < shape->burst && receive_one(client, kind))
        got++;
    *idle = got ? 0 : *idle + 1;
    if (crowded && *idle == LOOKS_PER_YIELD) { /* others wait for this core */
        sched_yield();
        *idle = 0;
    }
}

/* Runs one round for messages of a kind. Reads the clock once for each window. */
static BENCH_INLINE void there_and_back(struct client *client, enum bench_kind kind)
{
    unsigned idle = 0;
    bool crowded = client->shape->producers > 1;
    uint64_t end = gyre_clock_ns() + client->duration_ns;
    do {
        uint64_t goal = client->sent + client->shape->window;
        while (client->sent < goal)
            turn(client, kind, crowded, &idle);
    } while (gyre_clock_ns() < end);
    while (client->received != client->sent)
        receive_one(client, kind);
}

/* ---- rounds ---- */

static void play_ping_pong(struct client *client)
{
    BENCH_FOR_KIND(client->shape->kind, ping_pong(client, KIND))
}

static void play_burst(struct client *client)
{
    BENCH_FOR_KIND(client->shape->kind, burst(client, KIND))
}

static void play_there_and_back(struct client *client)
{
    BENCH_FOR_KIND(client->shape->kind, there_and_back(client, KIND))
}

static bool round_of(void (*play)(struct client *), const bench_shape *shape, uint64_t duration_ns,
                     bench_sample *sample)
{
    static bench_histogram histogram; /* 60 kB; floors run one at a time */
    struct pair pair;
    struct served served = {shape, &pair, 1};
    bench_server server = {.serve = serve_rings, .context = &served};
    struct client client = {
        .pair = &pair, .shape = shape, .duration_ns = duration_ns, .histogram = &histogram};
    histogram = (bench_histogram){0};
    *sample = (bench_sample){0};
    bool ok = pair_init(&pair, shape) && bench_server_start(&server);
    if (ok) {
        bench_pin(bench_core_client());
        uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
        play(&client);
        double elapsed = (double)(gyre_clock_ns() - start);
        sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
        bench_pin(-1);
        bench_server_stop(&server);
        sample->messages = client.received;
        sample->errors = client.errors;
        sample->per_second = (double)client.received * 1e9 / elapsed;
        bench_sample_latencies(sample, &histogram);
    }
    bench_ring_free(pair.memory, pair.memory_size);
    return ok;
}

bool bench_floor_slots_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return round_of(play_ping_pong, shape, duration_ns, sample);
}

bool bench_floor_slots_burst(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    return round_of(play_burst, shape, duration_ns, sample);
}

/* ---- several clients ---- */

static void *producer_main(void *argument)
{
    struct client *client = argument;
    bench_pin(bench_core_producer(client->number));
    client->began_ns = gyre_clock_ns();
    play_there_and_back(client);
    client->ended_ns = gyre_clock_ns();
    return NULL;
}

/* Runs all producers to their end, and adds up their counts. */
static bool play_producers(struct client *clients, unsigned count, bench_sample *sample)
{
    pthread_t threads[PRODUCERS_MAX];
    unsigned started = 0;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns(), began = UINT64_MAX, ended = 0;
    while (started < count && pthread_create(&threads[started], NULL, producer_main, &clients[started]) == 0)
        started++;
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        sample->messages += clients[i].received;
        sample->errors += clients[i].errors;
        began = clients[i].began_ns < began ? clients[i].began_ns : began;
        ended = clients[i].ended_ns > ended ? clients[i].ended_ns : ended;
    }
    double elapsed = (double)(gyre_clock_ns() - start);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = ended > began ? (double)sample->messages * 1e9 / (double)(ended - began) : 0;
    return started == count;
}

static bool round_of_producers(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    struct pair pairs[PRODUCERS_MAX] = {0};
    struct client clients[PRODUCERS_MAX] = {0};
    unsigned count = shape->producers < PRODUCERS_MAX ? shape->producers : PRODUCERS_MAX;
    struct served served = {shape, pairs, count};
    bench_server server = {.serve = serve_rings, .context = &served};
    bool ok = true;
    *sample = (bench_sample){0};
    for (unsigned i = 0; i < count; i++) {
        ok = ok && pair_init(&pairs[i], shape);
        clients[i] =
            (struct client){.pair = &pairs[i], .shape = shape, .duration_ns = duration_ns, .number = i};
    }
    if (ok && (ok = bench_server_start(&server))) {
        ok = play_producers(clients, count, sample);
        bench_server_stop(&server);
    }
    for (unsigned i = 0; i < count; i++)
        bench_ring_free(pairs[i].memory, pairs[i].memory_size);
    return ok;
}

bool bench_floor_slots_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    if (shape->producers > 1)
        return round_of_producers(shape, duration_ns, sample);
    return round_of(play_there_and_back, shape, duration_ns, sample);
}
