/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the session of a case: a queue to a kernel, either in a runtime of this process or in a server's process. */
#include "cli/bench/bench.h"
#include "cli/bench/chain.h"
#include "cli/bench/runtime.h"
#include "cli/bench/serving.h"
#include "cli/bench/session_open.h"

/* Takes the kernel's own queue, or opens a queue when the case wants another capacity. */
static gyre_status open_queue(const bench_case *self, bench_session *session)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = self->shape.capacity};
    session->queue = gyre_kernel_queue(session->kernel);
    gyre_status status = gyre_queue_stats_get(session->queue, &stats);
    if (self->shape.capacity == 0)
        session->shape.capacity = session->shape.window = stats.capacity;
    else if (status == GYRE_OK && stats.capacity != self->shape.capacity)
        status = gyre_queue_open(session->kernel, &desc, &session->queue);
    return status;
}

gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row)
{
    *session = (bench_session){.shape = self->shape};
    if (options->attached)
        return bench_serving_start(self, options, session);
    gyre_status status = bench_runtime_open(self, options, NULL, &session->runtime);
    if (status == GYRE_OK && self->shape.kind == BENCH_LINKED_48) {
        status = bench_chain_open(session);
        if (status == GYRE_OK)
            bench_note_kernel(session->kernel, row);
        return status;
    }
    if (status == GYRE_OK)
        status = bench_launch(session->runtime, self->shape.kind, &session->kernel);
    if (status == GYRE_OK)
        status = open_queue(self, session);
    if (status == GYRE_OK)
        bench_note_kernel(session->kernel, row);
    return status;
}

void bench_session_close(bench_session *session)
{
    bench_serving_end(session);
    gyre_close(session->runtime); /* kernel and queues are the runtime's */
    session->runtime = NULL;
}

gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors)
{
    unsigned char request[sizeof(words_65536)] __attribute__((aligned(64)));
    unsigned char reply[sizeof(words_65536)] __attribute__((aligned(64)));
    BENCH_FOR_KIND(kind, bench_fill(KIND, request, number))
    gyre_status status = gyre_call(queue, request, bench_request_size(kind), reply, bench_reply_size(kind),
                                   NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        BENCH_FOR_KIND(kind, *errors += !bench_right(KIND, reply, number))
    return status;
}
