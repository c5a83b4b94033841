/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures streams with two threads for each ring: one thread makes requests, the other checks replies. Both work in place and
 * in batches, like a program that does other work between a request and its reply. The loops allocate nothing.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_layouts.h"
#include "cli/bench/chain.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { RINGS_MAX = 16, BURST_MAX = 1024 };

/* One side of a ring: a thread. */
struct side {
    struct ring *ring;
    void *(*main)(void *side);
    unsigned number; /* number among all sides, which chooses the processor */
    gyre_status status;
    char story[512]; /* the error of a failure, because each thread has errors of its own */
};

struct ring {
    gyre_queue *queue;
    const bench_shape *shape;
    uint64_t duration_ns, deadline_ns;
    struct side sides[2];
    _Alignas(64) uint64_t sent; /* over all rounds; written by the producer */
    uint64_t total; /* atomic: what `sent` will be after this round; UINT64_MAX until it is known */
    _Alignas(64) uint64_t received, errors; /* over all rounds; written by the consumer */
    gyre_view views[BURST_MAX];
};

/* ---- the two loops ------------------------------------------------------------------------------------ */

/* Sends a round's requests. Announces the last batch before it is sent, so that the consumer never waits for another batch. */
static BENCH_INLINE gyre_status produce(struct ring *ring, enum bench_kind kind)
{
    const uint64_t end = gyre_clock_ns() + ring->duration_ns;
    gyre_status status = GYRE_OK;
    for (bool last = false; status == GYRE_OK && !last;) {
        void *requests = NULL;
        size_t stride = 0, count = ring->shape->burst;
        status = gyre_reserve(ring->queue, &requests, &stride, &count, ring->deadline_ns);
        if (status != GYRE_OK)
            break;
        for (size_t i = 0; i < count; i++)
            bench_fill(kind, (unsigned char *)requests + i * stride, ring->sent + i);
        ring->sent += count;
        last = gyre_clock_ns() >= end;
        if (last)
            __atomic_store_n(&ring->total, ring->sent, __ATOMIC_RELEASE); /* pairs with the consumer's loop */
        status = gyre_commit(ring->queue, count);
    }
    return status;
}

static BENCH_INLINE gyre_status consume(struct ring *ring, enum bench_kind kind)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && ring->received != __atomic_load_n(&ring->total, __ATOMIC_ACQUIRE)) {
        size_t found = 0;
        status = gyre_peek(ring->queue, ring->views, ring->shape->burst, &found, ring->deadline_ns);
        for (size_t i = 0; i < found; i++)
            ring->errors += ring->views[i].outcome != GYRE_REPLIED ||
                            !bench_right(kind, ring->views[i].reply, ring->received + i);
        ring->received += found;
        if (status == GYRE_OK)
            status = gyre_release_views(ring->queue, found);
    }
    return status;
}

static void *producer_main(void *argument)
{
    struct side *side = argument;
    bench_pin(bench_core_producer(side->number));
    BENCH_FOR_KIND(side->ring->shape->kind, side->status = produce(side->ring, KIND))
    if (side->status != GYRE_OK)
        snprintf(side->story, sizeof side->story, "%s", gyre_error_text());
    return NULL;
}

static void *consumer_main(void *argument)
{
    struct side *side = argument;
    bench_pin(bench_core_producer(side->number));
    BENCH_FOR_KIND(side->ring->shape->kind, side->status = consume(side->ring, KIND))
    if (side->status != GYRE_OK)
        snprintf(side->story, sizeof side->story, "%s", gyre_error_text());
    return NULL;
}

/* ---- rounds ------------------------------------------------------------------------------------------- */

struct rings {
    bench_session session;
    unsigned count;
    struct ring rings[RINGS_MAX];
};

static gyre_status join_threads(struct rings *all, pthread_t *threads, unsigned started)
{
    gyre_status status = GYRE_OK;
    for (unsigned i = 0; i < started; i++) {
        const struct side *side = &all->rings[i / 2].sides[i % 2];
        pthread_join(threads[i], NULL);
        if (side->status != GYRE_OK && status == GYRE_OK)
            status = gyre_error_set(side->status, "%s of ring %u: %s", i % 2 ? "consumer" : "producer", i / 2,
                                    side->story);
    }
    return status;
}

/* Runs both sides of each ring. Starts the producer first, because a consumer without a producer would wait for ever. */
static gyre_status run_sides(struct rings *all, uint64_t duration_ns)
{
    pthread_t threads[2 * RINGS_MAX];
    unsigned started = 0;
    for (unsigned i = 0; i < all->count; i++) {
        all->rings[i].duration_ns = duration_ns;
        all->rings[i].deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS) + duration_ns;
        all->rings[i].total = UINT64_MAX;
    }
    for (; started < 2 * all->count; started++) {
        struct side *side = &all->rings[started / 2].sides[started % 2];
        if (pthread_create(&threads[started], NULL, side->main, side) != 0)
            break;
    }
    gyre_status status = join_threads(all, threads, started);
    if (started < 2 * all->count)
        status =
            gyre_error_set(GYRE_EXHAUSTED, "only %u of %u threads could be started", started, 2 * all->count);
    return status;
}

static void add_up(const struct rings *all, uint64_t *messages, uint64_t *errors)
{
    *messages = *errors = 0;
    for (unsigned i = 0; i < all->count; i++) {
        *messages += all->rings[i].received;
        *errors += all->rings[i].errors;
    }
}

static gyre_status pair_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct rings *all = context;
    uint64_t messages_before, errors_before;
    add_up(all, &messages_before, &errors_before);
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    gyre_status status = run_sides(all, duration_ns);
    double elapsed = (double)(gyre_clock_ns() - start);
    add_up(all, &sample->messages, &sample->errors);
    sample->messages -= messages_before;
    sample->errors -= errors_before;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    return status;
}

/* ---- cases -------------------------------------------------------------------------------------------- */

static gyre_status add_ring(const bench_case *self, struct rings *all)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    struct ring *ring = &all->rings[all->count];
    const uint64_t first = self->shape.kind == BENCH_KEYED_RINGS ? (uint64_t)all->count << BENCH_RING_BIT : 0;
    *ring =
        (struct ring){.queue = all->session.queue, .shape = &self->shape, .sent = first, .received = first};
    ring->sides[0] = (struct side){.ring = ring, .main = producer_main, .number = 2 * all->count};
    ring->sides[1] = (struct side){.ring = ring, .main = consumer_main, .number = 2 * all->count + 1};
    if (all->count++ == 0)
        return GYRE_OK;
    return all->session.pipeline ? bench_chain_queue(&all->session, &ring->queue)
                                 : gyre_queue_open(all->session.kernel, &desc, &ring->queue);
}

gyre_status bench_run_pair(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    unsigned wanted = self->shape.producers < RINGS_MAX ? self->shape.producers : RINGS_MAX;
    struct rings *all = aligned_alloc(64, (sizeof *all + 63) / 64 * 64);
    if (!all)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    all->count = 0;
    gyre_status status = bench_session_open(self, options, &all->session, row);
    while (status == GYRE_OK && all->count < wanted)
        status = add_ring(self, all);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, pair_round, all, row);
    bench_story_take(&story, status);
    bench_session_close(&all->session);
    free(all);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_wide(const bench_case *self, const bench_options *options, bench_row *row)
{
    return bench_run_widely(self, options, row, bench_run_pair);
}
