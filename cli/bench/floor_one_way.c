/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slot ring without replies: the client fills slots that are free (sequence == index), the server checks
 * them and gives them back for the next lap (index + capacity).
 */
#include "cli/bench/floor_rings.h"
#include "cli/bench/floor_server.h"
#include "cli/bench/shape.h"

#include <string.h>

#include "gyre/waiting.h"

struct slot {
    uint64_t sequence; /* index: free; index + 1: filled */
    uint64_t unused;
    unsigned char payload[];
};

struct ring {
    unsigned char *slots;
    uint64_t capacity;
    enum bench_kind kind;
};

BENCH_INLINE size_t stride(enum bench_kind kind)
{
    return (sizeof(struct slot) + bench_request_size(kind) + 63) / 64 * 64;
}

BENCH_INLINE struct slot *slot_at(const struct ring *ring, enum bench_kind kind, uint64_t index)
{
    return (struct slot *)(void *)(ring->slots + (index & (ring->capacity - 1)) * stride(kind));
}

/* Acquire and release pair with each other, both ways: filled slots and free ones. */
BENCH_INLINE uint64_t sequence_of(const struct slot *slot)
{
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
}

BENCH_INLINE void set_sequence(struct slot *slot, uint64_t sequence)
{
    __atomic_store_n(&slot->sequence, sequence, __ATOMIC_RELEASE);
}

BENCH_INLINE void take_all(bench_server *server, const struct ring *ring, enum bench_kind kind)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64))) = {0};
    for (uint64_t index = 0;; index++) {
        struct slot *slot = slot_at(ring, kind, index);
        while (sequence_of(slot) != index + 1)
            if (bench_server_stopped(server))
                return;
        bench_handle(kind, slot->payload, message);
        server->errors += !bench_right(kind, message, index);
        set_sequence(slot, index + ring->capacity);
    }
}

BENCH_INLINE uint64_t put_for(const struct ring *ring, enum bench_kind kind, uint64_t duration_ns)
{
    unsigned char message[sizeof(words_65536)] __attribute__((aligned(64)));
    uint64_t index = 0, end = gyre_clock_ns() + duration_ns;
    do {
        for (uint64_t goal = index + ring->capacity; index < goal; index++) {
            struct slot *slot = slot_at(ring, kind, index);
            bench_fill(kind, message, index);
            while (sequence_of(slot) != index)
                ;
            memcpy(slot->payload, message, bench_request_size(kind));
            set_sequence(slot, index + 1);
        }
    } while (gyre_clock_ns() < end);
    for (uint64_t last = index; sequence_of(slot_at(ring, kind, last - 1)) != last - 1 + ring->capacity;)
        ; /* until the server took the last one */
    return index;
}

static void serve(bench_server *server)
{
    const struct ring *ring = server->context;
    BENCH_FOR_KIND(ring->kind, take_all(server, ring, KIND))
}

static uint64_t play(const struct ring *ring, uint64_t duration_ns)
{
    uint64_t sent = 0;
    BENCH_FOR_KIND(ring->kind, sent = put_for(ring, KIND, duration_ns))
    return sent;
}

bool bench_floor_slots_one_way(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    size_t size = stride(shape->kind) * shape->capacity;
    struct ring ring = {bench_ring_memory(size), shape->capacity, shape->kind};
    bench_server server = {.serve = serve, .context = &ring};
    *sample = (bench_sample){0};
    for (uint64_t i = 0; ring.slots && i < ring.capacity; i++)
        slot_at(&ring, shape->kind, i)->sequence = i;
    bool ok = ring.slots && bench_server_start(&server);
    if (ok) {
        bench_pin(bench_core_client());
        uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
        sample->messages = play(&ring, duration_ns);
        double elapsed = (double)(gyre_clock_ns() - start);
        sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
        sample->per_second = (double)sample->messages * 1e9 / elapsed;
        bench_pin(-1);
        bench_server_stop(&server);
        sample->errors = server.errors;
    }
    bench_ring_free(ring.slots, size);
    return ok;
}
