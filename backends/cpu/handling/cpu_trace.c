/* SPDX-License-Identifier: Apache-2.0 */
/* Notes what a worker handles (cpu_trace.h). */
#include "backends/cpu/handling/cpu_trace.h"

#include <string.h>

#include "backends/cpu/cpu_ready.h"
#include "gyre/header.h"
#include "gyre/waiting.h"

void cpu_trace_arrival(struct cpu_worker *worker, const gyre_link_ring *ring, gyre_u64 place)
{
    worker->traced.span.ring = gyre_trace_key(worker->traced.ring, ring);
    worker->traced.span.place = place;
}

/* Takes from the header what a trace shows of it. Another program may have written anything there. */
static void take_header(gyre_observe_span *span, const unsigned char *header, gyre_u32 size)
{
    if (!header)
        return;
    if (size >= offsetof(gyre_header, sent_ns) + sizeof span->sent_ns)
        memcpy(&span->sent_ns, header + offsetof(gyre_header, sent_ns), sizeof span->sent_ns);
    if (size >= offsetof(gyre_header, trace) + sizeof span->trace)
        memcpy(span->trace, header + offsetof(gyre_header, trace), sizeof span->trace);
}

/* Whether the message is one of those of which one in `every` is noted. Each turn of a message is noted as its first one is. */
static bool is_sampled(struct cpu_worker *worker, const void *region, gyre_u64 index)
{
    const gyre_u32 mask = worker->resident->trace->every - 1;
    if (!region && worker->context.turn == 0)
        worker->traced.apart++;
    return ((region ? index : worker->traced.apart) & mask) == 0;
}

void cpu_trace_begin(struct cpu_worker *worker, const void *region, gyre_u64 index,
                     const unsigned char *header, gyre_u32 header_size, gyre_u32 links)
{
    struct cpu_traced *traced = &worker->traced;
    const gyre_trace_point *point = worker->resident->trace;
    const gyre_u64 ring = traced->span.ring, place = traced->span.place;
    traced->span.ring = traced->span.place = 0;
    traced->open = traced->ring && is_sampled(worker, region, index);
    if (!traced->open)
        return;
    traced->span = (gyre_observe_span){.kind = GYRE_OBSERVE_SPAN_HANDLED,
                                       .record = point->record,
                                       .block = worker->block,
                                       .count = links,
                                       .queue = region ? gyre_trace_key(traced->ring, region) : 0,
                                       .index = index,
                                       .ring = ring,
                                       .place = place,
                                       .turn = worker->context.turn};
    take_header(&traced->span, header, header_size);
    const gyre_u64 now = gyre_clock_ns();
    if (traced->span.sent_ns > now)
        traced->span.sent_ns = 0;
    traced->span.started_ns = gyre_trace_stamp(traced->ring, now, traced->span.sent_ns);
}

void cpu_trace_end(struct cpu_worker *worker, bool failed)
{
    struct cpu_traced *traced = &worker->traced;
    if (traced->open) {
        traced->span.finished_ns = gyre_trace_stamp(traced->ring, gyre_clock_ns(), 0);
        traced->span.failed = failed;
        gyre_trace_write(traced->ring, &traced->span);
    }
    traced->span.ring = traced->span.place = 0; /* of the next message: it may come by no link */
    traced->open = false;
}

void cpu_trace_emitted(const struct cpu_worker *worker, gyre_u64 link, const gyre_link_ring *ring,
                       gyre_u64 first, gyre_u32 count)
{
    const struct cpu_traced *traced = &worker->traced;
    gyre_observe_span span = traced->span;
    if (!traced->open || !count)
        return;
    span.kind = GYRE_OBSERVE_SPAN_EMITTED;
    span.count = count;
    span.link = gyre_trace_key(traced->ring, (const void *)(uintptr_t)link);
    span.ring = gyre_trace_key(traced->ring, ring);
    span.place = first;
    span.finished_ns = gyre_trace_stamp(traced->ring, gyre_clock_ns(), 0);
    gyre_trace_write(traced->ring, &span);
}

/* Whether the queue's worker goes elsewhere before the next message. Relaxed: as in the runner. */
static bool is_called_away(const gyre_cpu_run *run)
{
    return __atomic_load_n(run->command, __ATOMIC_RELAXED) != run->expected ||
           __atomic_load_n(&run->host->waiting, __ATOMIC_RELAXED);
}

static void begin_request(struct cpu_worker *worker, const struct cpu_queue *queue, const gyre_cpu_run *run,
                          gyre_u64 index)
{
    const unsigned char *header = run->headers ? run->headers + (index & run->mask) * run->header_size : NULL;
    if (index < __atomic_load_n(&run->host->drop_before, __ATOMIC_RELAXED))
        return; /* no handler sees it */
    cpu_trace_begin(worker, queue->region, index, header, run->header_size, 0);
}

gyre_u64 cpu_trace_run(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run,
                       cpu_trace_runner runner)
{
    const gyre_u64 first = run->first, limit = run->limit;
    gyre_u64 index = first;
    run->limit = 1;
    while (index != first + limit && cpu_request_ready(queue, index)) {
        const gyre_u64 failed = run->failed;
        run->first = index;
        run->pace.pass = 0; /* whoever traces wants to see each message whose turn it is */
        begin_request(worker, queue, run, index);
        const bool handled = runner(worker, run) != 0;
        worker->traced.open = worker->traced.open && handled;
        cpu_trace_end(worker, run->failed != failed);
        index += handled;
        if (!handled || is_called_away(run))
            break;
    }
    run->first = first;
    run->limit = limit;
    return index - first;
}
