/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures streams of messages that differ in length, in queues that store messages back to back ("bridged"). In some cases one
 * thread sends and receives copies; their floor is a stream of fixed messages of the same mean length. In the other cases each
 * ring has two threads, which work in place. Checks every word of every reply. The loops allocate nothing.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_layouts.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum {
    RINGS_MAX = 8,
    BURST_MAX = 256,
    HEAD = 16,    /* bytes of a message before its words */
    LEAST = 6,    /* words of the shortest message, which has 64 bytes */
    LENGTHS = 57, /* different lengths, up to 512 bytes */
    DIRECT = 36,  /* words of a fixed message: the mean length, and the head */
    WORDS_65536 = 8190,
    AHEAD = 6,       /* how many messages ahead cache lines are prefetched ... */
    AHEAD_LINES = 5, /* ... and how many lines of each, those of a message of mean length */
};

/* One ring with the counts of its two threads, and the memory to and from which one thread copies. */
struct flow {
    gyre_queue *queue;
    const bench_shape *shape;
    bool direct;   /* fixed messages */
    uint32_t room; /* bytes from message to message in a batch */
    uint64_t duration_ns, deadline_ns;
    unsigned char *requests, *replies;
    gyre_view views[BURST_MAX];
    _Alignas(64) uint64_t sent;
    uint64_t total; /* atomic: what `sent` will be after this round; UINT64_MAX until it is known */
    _Alignas(64) uint64_t received, errors;
    gyre_status status[2];
    char story[2][256];
};

static struct {
    bench_session session;
    unsigned count;
    struct flow *flows; /* RINGS_MAX; the last one is the direct stream's */
} all;

/* ---- messages ----------------------------------------------------------------------------------------- */

static inline uint32_t words_of(const struct flow *flow, uint64_t number)
{
    if (flow->direct)
        return DIRECT;
    if (flow->shape->kind == BENCH_BRIDGED_65536)
        return WORDS_65536;
    return LEAST + (uint32_t)(((number + 1) * BENCH_STEP >> 32) % LENGTHS);
}

/* Writes the beginning of a message, which is the same for all types with a tail and one span. */
static inline uint64_t *begin_message(const struct flow *flow, void *message, uint32_t words)
{
    bridged_512 *head = message;
    if (flow->direct)
        return message;
    head->gyre_used = HEAD + 8 * words;
    head->words = (gyre_part){HEAD, words};
    return (uint64_t *)(void *)((unsigned char *)message + HEAD);
}

static inline void fill_message(const struct flow *flow, void *message, uint64_t number)
{
    const uint32_t words = words_of(flow, number);
    uint64_t *to = begin_message(flow, message, words), word = number;
    for (uint32_t i = 0; i < words; i++, word += BENCH_STEP)
        to[i] = word;
}

static inline bool is_right(const struct flow *flow, const void *reply, uint64_t number)
{
    const uint32_t words = words_of(flow, number);
    const bridged_512 *head = reply;
    const uint64_t *from = (const uint64_t *)(const void *)((const unsigned char *)reply + HEAD);
    uint64_t wrong = 0, right = number * 3;
    if (flow->direct)
        from = reply;
    else if (head->gyre_used != HEAD + 8 * words || head->words.count != words || head->words.offset != HEAD)
        return false;
    for (uint32_t i = 0; i < words; i++, right += BENCH_STEP * 3 + 1)
        wrong |= from[i] ^ right;
    return wrong == 0;
}

/* ---- one thread, copies ------------------------------------------------------------------------------- */

static gyre_status send_burst(struct flow *flow)
{
    size_t sent = 0;
    for (size_t i = 0; i < flow->shape->burst; i++)
        fill_message(flow, flow->requests + i * flow->room, flow->sent + i);
    gyre_status status = gyre_send_batch(flow->queue, flow->requests, flow->room, flow->shape->burst, &sent,
                                         flow->deadline_ns);
    flow->sent += sent;
    return status;
}

static gyre_status receive_burst(struct flow *flow)
{
    size_t received = 0;
    gyre_status status = gyre_receive_batch(flow->queue, flow->replies, flow->room, flow->shape->burst, NULL,
                                            &received, flow->deadline_ns);
    for (size_t i = 0; i < received; i++)
        flow->errors += !is_right(flow, flow->replies + i * flow->room, flow->received++);
    return status;
}

static gyre_status stream_messages(struct flow *flow, uint64_t duration_ns)
{
    const uint64_t end = gyre_clock_ns() + duration_ns;
    gyre_status status = GYRE_OK;
    flow->deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS) + duration_ns;
    do {
        const uint64_t goal = flow->sent + flow->shape->window;
        while (status == GYRE_OK && flow->sent < goal)
            status = flow->shape->window - (flow->sent - flow->received) >= flow->shape->burst
                         ? send_burst(flow)
                         : receive_burst(flow);
    } while (status == GYRE_OK && gyre_clock_ns() < end);
    while (status == GYRE_OK && flow->received != flow->sent)
        status = receive_burst(flow);
    return status;
}

static gyre_status measure_stream(struct flow *flow, uint64_t duration_ns, bench_sample *sample)
{
    const uint64_t messages = flow->received, errors = flow->errors, start = gyre_clock_ns();
    const uint64_t cpu = bench_cpu_ns();
    bench_pin(bench_core_producer(0));
    gyre_status status = stream_messages(flow, duration_ns);
    const double elapsed = (double)(gyre_clock_ns() - start);
    sample->messages = flow->received - messages;
    sample->errors = flow->errors - errors;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    return status;
}

static gyre_status bridged_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    return measure_stream(context, duration_ns, sample);
}

bool bench_floor_direct(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    (void)shape;
    return measure_stream(&all.flows[RINGS_MAX - 1], duration_ns, sample) == GYRE_OK;
}

/* ---- two threads a ring, in place --------------------------------------------------------------------- */

/* Prefetches several cache lines of a later message, because the device's core has the lines of the ring. */
#define ASK_AHEAD(message, to_write)                                                                         \
    for (size_t line = 0; line < AHEAD_LINES; line++)                                                        \
    __builtin_prefetch((const unsigned char *)(message) + 64 * line, to_write)

/* Sends a round's requests. Announces the last batch before it is sent, so that the consumer never waits for another batch. */
static gyre_status produce_requests(struct flow *flow)
{
    const uint64_t end = gyre_clock_ns() + flow->duration_ns;
    gyre_status status = GYRE_OK;
    for (bool last = false; status == GYRE_OK && !last;) {
        void *requests = NULL;
        size_t stride = 0, count = flow->shape->burst;
        status = gyre_reserve(flow->queue, &requests, &stride, &count, flow->deadline_ns);
        if (status != GYRE_OK)
            break;
        for (size_t i = 0; i < count; i++) {
            if (i + AHEAD < count)
                ASK_AHEAD((unsigned char *)requests + (i + AHEAD) * stride, 1);
            fill_message(flow, (unsigned char *)requests + i * stride, flow->sent + i);
        }
        flow->sent += count;
        last = gyre_clock_ns() >= end;
        if (last)
            __atomic_store_n(&flow->total, flow->sent, __ATOMIC_RELEASE); /* pairs with the consumer's loop */
        status = gyre_commit(flow->queue, count);
    }
    return status;
}

static gyre_status consume_replies(struct flow *flow)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && flow->received != __atomic_load_n(&flow->total, __ATOMIC_ACQUIRE)) {
        size_t found = 0;
        status = gyre_peek(flow->queue, flow->views, flow->shape->burst, &found, flow->deadline_ns);
        for (size_t i = 0; i < found; i++) {
            if (i + AHEAD < found)
                ASK_AHEAD(flow->views[i + AHEAD].reply, 0);
            flow->errors += flow->views[i].outcome != GYRE_REPLIED ||
                            !is_right(flow, flow->views[i].reply, flow->received + i);
        }
        flow->received += found;
        if (status == GYRE_OK)
            status = gyre_release_views(flow->queue, found);
    }
    return status;
}

static void *produce_main(void *argument)
{
    struct flow *flow = argument;
    bench_pin(bench_core_producer((unsigned)(flow - all.flows) * 2));
    flow->status[0] = produce_requests(flow);
    if (flow->status[0] != GYRE_OK)
        snprintf(flow->story[0], sizeof flow->story[0], "%s", gyre_error_text());
    return NULL;
}

static void *consume_main(void *argument)
{
    struct flow *flow = argument;
    bench_pin(bench_core_producer((unsigned)(flow - all.flows) * 2 + 1));
    flow->status[1] = consume_replies(flow);
    if (flow->status[1] != GYRE_OK)
        snprintf(flow->story[1], sizeof flow->story[1], "%s", gyre_error_text());
    return NULL;
}

/* Runs both threads of each ring. Starts the producer first, because a consumer without a producer would wait for ever. */
static gyre_status run_pairs(uint64_t duration_ns)
{
    pthread_t threads[2 * RINGS_MAX];
    unsigned started = 0;
    gyre_status status = GYRE_OK;
    for (unsigned i = 0; i < all.count; i++) {
        all.flows[i].duration_ns = duration_ns;
        all.flows[i].deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS) + duration_ns;
        all.flows[i].total = UINT64_MAX;
    }
    while (started < 2 * all.count &&
           pthread_create(&threads[started], NULL, started % 2 ? consume_main : produce_main,
                          &all.flows[started / 2]) == 0)
        started++;
    for (unsigned i = 0; i < started; i++) {
        const struct flow *flow = &all.flows[i / 2];
        pthread_join(threads[i], NULL);
        if (flow->status[i % 2] != GYRE_OK && status == GYRE_OK)
            status = gyre_error_set(flow->status[i % 2], "ring %u: %s", i / 2, flow->story[i % 2]);
    }
    return started < 2 * all.count ? gyre_error_set(GYRE_EXHAUSTED, "too few threads could be started")
                                   : status;
}

static gyre_status pair_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    const uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    uint64_t messages = 0, errors = 0;
    (void)context;
    for (unsigned i = 0; i < all.count; i++)
        messages += all.flows[i].received, errors += all.flows[i].errors;
    gyre_status status = run_pairs(duration_ns);
    const double elapsed = (double)(gyre_clock_ns() - start);
    for (unsigned i = 0; i < all.count; i++)
        sample->messages += all.flows[i].received, sample->errors += all.flows[i].errors;
    sample->messages -= messages;
    sample->errors -= errors;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    return status;
}

/* ---- cases -------------------------------------------------------------------------------------------- */

static gyre_status make_flow(struct flow *flow, gyre_queue *queue, const bench_shape *shape, bool direct)
{
    const size_t room = direct                               ? sizeof(words_288)
                        : shape->kind == BENCH_BRIDGED_65536 ? sizeof(bridged_65536)
                                                             : sizeof(bridged_512);
    *flow = (struct flow){.queue = queue, .shape = shape, .direct = direct, .room = (uint32_t)room};
    flow->requests = aligned_alloc(64, (room * shape->burst + 63) / 64 * 64);
    flow->replies = aligned_alloc(64, (room * shape->burst + 63) / 64 * 64);
    return flow->requests && flow->replies ? GYRE_OK
                                           : gyre_error_set(GYRE_EXHAUSTED, "no memory for a batch");
}

static gyre_status open_rings(const bench_case *self)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    gyre_status status = GYRE_OK;
    for (all.count = 0; status == GYRE_OK && all.count < self->shape.producers; all.count++) {
        gyre_queue *queue = all.session.queue;
        if (all.count > 0)
            status = gyre_queue_open(all.session.kernel, &desc, &queue);
        if (status == GYRE_OK)
            status = make_flow(&all.flows[all.count], queue, &self->shape, false);
    }
    return status;
}

/* Launches the kernel of the fixed messages beside the case's kernel. Each kernel is idle while the other one works. */
static gyre_status open_direct(const bench_case *self)
{
    char path[4096];
    gyre_kernel *kernel = NULL;
    gyre_queue *queue = NULL;
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    gyre_launch_desc launch = {.size = sizeof launch, .source = path, .kernel = "words_288"};
    gyre_status status = bench_file("bridged.gyre.c", path, sizeof path);
    if (status == GYRE_OK)
        status = gyre_launch(all.session.runtime, &launch, &kernel);
    if (status == GYRE_OK)
        status = gyre_queue_open(kernel, &desc, &queue);
    return status == GYRE_OK ? make_flow(&all.flows[RINGS_MAX - 1], queue, &self->shape, true) : status;
}

static gyre_status run_bridged(const bench_case *self, const bench_options *options, bench_row *row,
                               bench_round round)
{
    bench_story story;
    const size_t size = RINGS_MAX * sizeof *all.flows;
    all.flows = aligned_alloc(64, size);
    if (!all.flows)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    memset(all.flows, 0, size);
    gyre_status status = bench_session_open(self, options, &all.session, row);
    if (status == GYRE_OK)
        status = open_rings(self);
    if (status == GYRE_OK && self->floor)
        status = open_direct(self);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, round, &all.flows[0], row);
    bench_story_take(&story, status);
    bench_session_close(&all.session);
    for (unsigned i = 0; i < RINGS_MAX; i++) {
        free(all.flows[i].requests);
        free(all.flows[i].replies);
    }
    free(all.flows);
    all.flows = NULL;
    return bench_story_tell(&story, self);
}

gyre_status bench_run_bridged(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_bridged(self, options, row, bridged_round);
}

/* A processor gets the default number of blocks: its settings were taken away. */
static gyre_status run_pair_here(const bench_case *self, const bench_options *options, bench_row *row)
{
    static const char *const on_processor[] = {"queue.default.layout=bridged", NULL};
    bench_case here = *self;
    if (!here.settings)
        here.settings = on_processor;
    return run_bridged(&here, options, row, pair_round);
}

gyre_status bench_run_bridged_pair(const bench_case *self, const bench_options *options, bench_row *row)
{
    return bench_run_widely(self, options, row, run_pair_here);
}
