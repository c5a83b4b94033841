/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures streams: each client keeps a window of requests under way and checks every reply. A client has a queue of its own,
 * and sends and receives in one thread: in batches, copied or in place, or one message at a time. The loops allocate nothing.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_messages.h"
#include "cli/bench/rounds.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { PRODUCERS_MAX = 16, VIEWS_MAX = 256 };

struct client {
    gyre_queue *queue;
    const bench_shape *shape;
    unsigned number; /* number among the producers */
    bool in_place;   /* requests are made and replies checked where they lie */
    uint64_t duration_ns, deadline_ns;
    uint64_t began_ns, ended_ns;     /* begin and end of the client's last round */
    uint64_t sent, received, errors; /* over all rounds */
    unsigned char *requests, *replies;
    gyre_status status;
    char story[512]; /* the error of a failure, because each thread has errors of its own */
};

/* ---- a client's loops --------------------------------------------------------------------------------- */

static BENCH_INLINE gyre_status send_some(struct client *client, enum bench_kind kind, size_t count)
{
    const size_t size = bench_request_size(kind);
    size_t sent = 0;
    for (size_t i = 0; i < count; i++)
        bench_fill(kind, client->requests + i * size, client->sent + i);
    gyre_status status =
        gyre_send_batch(client->queue, client->requests, size, count, &sent, client->deadline_ns);
    client->sent += sent; /* requests that were not accepted are made again the next time */
    return status;
}

static BENCH_INLINE gyre_status receive_some(struct client *client, enum bench_kind kind)
{
    const size_t size = bench_reply_size(kind);
    size_t received = 0;
    gyre_status status = gyre_receive_batch(client->queue, client->replies, size, client->shape->burst, NULL,
                                            &received, client->deadline_ns);
    for (size_t i = 0; i < received; i++)
        client->errors += !bench_right(kind, client->replies + i * size, client->received++);
    return status;
}

static BENCH_INLINE gyre_status send_in_place(struct client *client, enum bench_kind kind, size_t count)
{
    void *requests = NULL;
    size_t stride = 0;
    gyre_status status = gyre_reserve(client->queue, &requests, &stride, &count, client->deadline_ns);
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        bench_fill(kind, (unsigned char *)requests + i * stride, client->sent + i);
    client->sent += count;
    return gyre_commit(client->queue, count);
}

static BENCH_INLINE gyre_status receive_in_place(struct client *client, enum bench_kind kind)
{
    gyre_view views[VIEWS_MAX];
    const size_t burst = client->shape->burst < VIEWS_MAX ? client->shape->burst : VIEWS_MAX;
    size_t found = 0;
    gyre_status status = gyre_peek(client->queue, views, burst, &found, client->deadline_ns);
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < found; i++)
        client->errors +=
            views[i].outcome != GYRE_REPLIED || !bench_right(kind, views[i].reply, client->received + i);
    client->received += found;
    return gyre_release_views(client->queue, found);
}

/* One turn of a batch client: a burst goes out whenever the window has room for one. */
static BENCH_INLINE gyre_status batch_turn(struct client *client, enum bench_kind kind, bool in_place)
{
    const uint64_t room = client->shape->window - (client->sent - client->received);
    if (in_place)
        return room >= client->shape->burst ? send_in_place(client, kind, client->shape->burst)
                                            : receive_in_place(client, kind);
    if (room >= client->shape->burst)
        return send_some(client, kind, client->shape->burst);
    return receive_some(client, kind);
}

/* One turn of a client that sends and receives single messages. */
static BENCH_INLINE gyre_status single_turn(struct client *client, enum bench_kind kind)
{
    if (client->sent - client->received < client->shape->window) {
        bench_fill(kind, client->requests, client->sent++);
        return gyre_send(client->queue, client->requests, bench_request_size(kind), NULL,
                         client->deadline_ns);
    }
    gyre_status status =
        gyre_receive(client->queue, client->replies, bench_reply_size(kind), NULL, client->deadline_ns);
    client->errors += !bench_right(kind, client->replies, client->received++);
    return status;
}

/* Runs one round for messages of a kind. Reads the clock once for each window, as the floors do. */
static BENCH_INLINE gyre_status stream_kind(struct client *client, enum bench_kind kind)
{
    const bool single = client->shape->burst == 1, in_place = client->in_place;
    const uint64_t end = (client->began_ns = gyre_clock_ns()) + client->duration_ns;
    gyre_status status = GYRE_OK;
    do {
        uint64_t goal = client->sent + client->shape->window;
        while (status == GYRE_OK && client->sent < goal)
            status = single ? single_turn(client, kind) : batch_turn(client, kind, in_place);
    } while (status == GYRE_OK && gyre_clock_ns() < end);
    while (status == GYRE_OK && client->received != client->sent)
        status = receive_some(client, kind);
    client->ended_ns = gyre_clock_ns();
    return status;
}

static void *client_main(void *argument)
{
    struct client *client = argument;
    bench_pin(bench_core_producer(client->number));
    client->deadline_ns = gyre_in_ms(BENCH_PATIENCE_MS);
    BENCH_FOR_KIND(client->shape->kind, client->status = stream_kind(client, KIND))
    if (client->status != GYRE_OK)
        snprintf(client->story, sizeof client->story, "%s", gyre_error_text());
    return NULL;
}

/* ---- rounds ------------------------------------------------------------------------------------------- */

struct crowd {
    bench_session session;
    unsigned count;
    bool in_place;
    struct client clients[PRODUCERS_MAX];
};

static gyre_status run_clients(struct crowd *crowd, uint64_t duration_ns)
{
    pthread_t threads[PRODUCERS_MAX];
    unsigned started = 0;
    gyre_status status = GYRE_OK;
    for (; started < crowd->count; started++) {
        crowd->clients[started].duration_ns = duration_ns;
        if (pthread_create(&threads[started], NULL, client_main, &crowd->clients[started]) != 0)
            break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (crowd->clients[i].status != GYRE_OK)
            status = gyre_error_set(crowd->clients[i].status, "client %u: %s", i, crowd->clients[i].story);
    }
    if (started < crowd->count)
        status =
            gyre_error_set(GYRE_EXHAUSTED, "only %u of %u threads could be started", started, crowd->count);
    return status;
}

static void add_up(const struct crowd *crowd, uint64_t *messages, uint64_t *errors)
{
    *messages = *errors = 0;
    for (unsigned i = 0; i < crowd->count; i++) {
        *messages += crowd->clients[i].received;
        *errors += crowd->clients[i].errors;
    }
}

/* The time from the start of the first client to the end of the last client. The start of threads does not count, as in the
 * floors. */
static double busy_ns(const struct crowd *crowd)
{
    uint64_t began = UINT64_MAX, ended = 0;
    for (unsigned i = 0; i < crowd->count; i++) {
        const struct client *client = &crowd->clients[i];
        began = client->began_ns < began ? client->began_ns : began;
        ended = client->ended_ns > ended ? client->ended_ns : ended;
    }
    return ended > began ? (double)(ended - began) : 1;
}

static gyre_status stream_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct crowd *crowd = context;
    uint64_t messages_before, errors_before;
    add_up(crowd, &messages_before, &errors_before);
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    gyre_status status = run_clients(crowd, duration_ns);
    double elapsed = (double)(gyre_clock_ns() - start);
    add_up(crowd, &sample->messages, &sample->errors);
    sample->messages -= messages_before;
    sample->errors -= errors_before;
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / busy_ns(crowd);
    return status;
}

/* ---- cases -------------------------------------------------------------------------------------------- */

static gyre_status add_client(const bench_case *self, struct crowd *crowd)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    struct client *client = &crowd->clients[crowd->count];
    *client = (struct client){.queue = crowd->session.queue,
                              .shape = &self->shape,
                              .number = crowd->count,
                              .in_place = crowd->in_place};
    size_t size = (bench_request_size(self->shape.kind) * self->shape.burst + 63) / 64 * 64;
    client->requests = aligned_alloc(64, size);
    client->replies = aligned_alloc(64, size); /* no reply is larger than its request */
    if (crowd->count++ > 0) {
        gyre_status status = gyre_queue_open(crowd->session.kernel, &desc, &client->queue);
        if (status != GYRE_OK)
            return status;
    }
    return client->requests && client->replies ? GYRE_OK
                                               : gyre_error_set(GYRE_EXHAUSTED, "no memory for a batch");
}

static gyre_status run_stream(const bench_case *self, const bench_options *options, bench_row *row,
                              bool in_place)
{
    struct crowd crowd = {.in_place = in_place};
    bench_story story;
    unsigned wanted = self->shape.producers < PRODUCERS_MAX ? self->shape.producers : PRODUCERS_MAX;
    bench_case here = *self;
    gyre_status status = bench_session_open(self, options, &crowd.session, row);
    here.shape = crowd.session.shape;
    while (status == GYRE_OK && crowd.count < wanted)
        status = add_client(&here, &crowd);
    if (status == GYRE_OK)
        status = bench_rounds(&here, options, stream_round, &crowd, row);
    bench_story_take(&story, status);
    bench_session_close(&crowd.session);
    for (unsigned i = 0; i < crowd.count; i++) {
        free(crowd.clients[i].requests);
        free(crowd.clients[i].replies);
    }
    return bench_story_tell(&story, self);
}

gyre_status bench_run_stream(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_stream(self, options, row, false);
}

gyre_status bench_run_stream_in_place(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_stream(self, options, row, true);
}
