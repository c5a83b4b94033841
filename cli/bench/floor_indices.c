/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A floor (work_shape.h): a bare ring with an index, requests and replies. Messages lie side by side. Each direction has an index,
 * its tail, in a cache line of its own. The writer publishes the tail once for each burst, and the reader keeps the value until
 * it has read that far. A reply uses the place of its request, so the client's window is the only flow control, and the ring
 * needs no head.
 */
#include "cli/bench/floor_rings.h"
#include "cli/bench/floor_server.h"
#include "cli/bench/work_shape.h"

#include <string.h>

#include "gyre/waiting.h"

struct tails {
    _Alignas(64) uint64_t requests; /* written by the client */
    _Alignas(64) uint64_t replies;  /* written by the server */
};

struct rings {
    struct tails tails;
    const bench_shape *shape;
    unsigned char *requests, *replies;
    uint64_t mask;
};

static BENCH_INLINE size_t stride(size_t payload)
{
    return (payload + 15) / 16 * 16;
}

/* Reads a tail. Acquire pairs with the writer's release: a reader that sees the tail sees the messages below it. */
static BENCH_INLINE uint64_t tail_read(const uint64_t *tail)
{
    return __atomic_load_n(tail, __ATOMIC_ACQUIRE);
}

static BENCH_INLINE void tail_publish(uint64_t *tail, uint64_t value)
{
    __atomic_store_n(tail, value, __ATOMIC_RELEASE);
}

static BENCH_INLINE void serve_kind(bench_server *server, enum bench_kind kind)
{
    enum { AT_ONCE = 64 };
    struct rings *rings = server->context;
    uint64_t done = 0, known = 0;
    while (!bench_server_stopped(server)) {
        if (done == known)
            known = tail_read(&rings->tails.requests);
        uint64_t end = known - done < AT_ONCE ? known : done + AT_ONCE;
        if (done == end)
            continue;
        for (; done != end; done++)
            bench_handle(kind, rings->requests + (done & rings->mask) * stride(bench_request_size(kind)),
                         rings->replies + (done & rings->mask) * stride(bench_reply_size(kind)));
        tail_publish(&rings->tails.replies, done);
    }
}

static void serve_rings(bench_server *server)
{
    const struct rings *rings = server->context;
    BENCH_FOR_KIND(rings->shape->kind, serve_kind(server, KIND))
}

struct client {
    struct rings *rings;
    uint64_t sent, received, known, errors;
};

static BENCH_INLINE void send_burst(struct client *client, enum bench_kind kind)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64)));
    const size_t size = bench_request_size(kind);
    struct rings *rings = client->rings;
    uint64_t room = rings->shape->window - (client->sent - client->received);
    uint64_t end = client->sent + (room < rings->shape->burst ? room : rings->shape->burst);
    if (client->sent == end)
        return;
    for (; client->sent != end; client->sent++) {
        bench_fill(kind, message, client->sent);
        memcpy(rings->requests + (client->sent & rings->mask) * stride(size), message, size);
    }
    tail_publish(&rings->tails.requests, end);
}

static BENCH_INLINE void receive_burst(struct client *client, enum bench_kind kind)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64)));
    const size_t size = bench_reply_size(kind);
    const struct rings *rings = client->rings;
    if (client->received == client->known)
        client->known = tail_read(&rings->tails.replies);
    uint64_t ready = client->known - client->received;
    uint64_t end = client->received + (ready < rings->shape->burst ? ready : rings->shape->burst);
    for (; client->received != end; client->received++) {
        memcpy(message, rings->replies + (client->received & rings->mask) * stride(size), size);
        client->errors += !bench_right(kind, message, client->received);
    }
}

/* Runs one round for messages of a kind. Reads the clock once for each window. */
static BENCH_INLINE void there_and_back(struct client *client, enum bench_kind kind, uint64_t duration_ns)
{
    uint64_t end = gyre_clock_ns() + duration_ns;
    do {
        uint64_t goal = client->sent + client->rings->shape->window;
        while (client->sent < goal) {
            send_burst(client, kind);
            receive_burst(client, kind);
        }
    } while (gyre_clock_ns() < end);
    while (client->received != client->sent)
        receive_burst(client, kind);
}

static void play_round(struct rings *rings, uint64_t duration_ns, bench_sample *sample)
{
    struct client client = {.rings = rings};
    bench_pin(bench_core_client());
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    BENCH_FOR_KIND(rings->shape->kind, there_and_back(&client, KIND, duration_ns))
    double elapsed = (double)(gyre_clock_ns() - start);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->messages = client.received;
    sample->errors = client.errors;
    sample->per_second = (double)client.received * 1e9 / elapsed;
    bench_pin(-1);
}

bool bench_floor_indices_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    size_t requests_size = stride(bench_request_size(shape->kind)) * shape->capacity;
    size_t size = requests_size + stride(bench_reply_size(shape->kind)) * shape->capacity;
    unsigned char *memory = bench_ring_memory(size);
    struct rings rings = {.shape = shape, .requests = memory, .mask = shape->capacity - 1};
    bench_server server = {.serve = serve_rings, .context = &rings};
    *sample = (bench_sample){0};
    bool ok = memory != NULL;
    if (ok) {
        rings.replies = memory + requests_size;
        ok = bench_server_start(&server);
    }
    if (ok) {
        play_round(&rings, duration_ns, sample);
        bench_server_stop(&server);
    }
    bench_ring_free(memory, size);
    return ok;
}

bool bench_floor_better_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    bench_sample other;
    if (!bench_floor_slots_there_and_back(shape, duration_ns / 2, sample) ||
        !bench_floor_indices_there_and_back(shape, duration_ns / 2, &other))
        return false;
    uint64_t errors = sample->errors + other.errors;
    if (other.per_second > sample->per_second)
        *sample = other;
    sample->errors = errors;
    return true;
}
