/* SPDX-License-Identifier: Apache-2.0 */
/* See double.h. A kernel belongs to its process, and dies with it. */
#include "double.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/help.h"
#include "core/kernel/keyed_table.h"
#include "core/loader/transport_plugin.h"
#include "core/queue/bells.h"
#include "core/queue/queue.h"
#include "fibers.h"
#include "gyre/gyre.h"
#include "memory_transport.h"

enum { CAPACITY = 8, LAUNCH_NS = 20000000 };

struct gyre_kernel_double {
    struct gyre_kernel base; /* of it and of its queue, what inline functions of the core read */
    struct gyre_queue queue;
    unsigned char table[SIM_TABLE];
    bool is_active, is_gone;
    uint64_t first, end; /* the requests that are under way, by number, */
    uint64_t handled;    /* and the first of them that no helper has handled */
    struct {
        sim_request request;
        sim_reply reply;
        gyre_completion completion;
    } ring[CAPACITY];
};

#define WRAP(result, name, ...)                                                                              \
    result __wrap_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__)

static struct gyre_kernel_double *its(const void *kernel)
{
    union {
        const void *constant;
        struct gyre_kernel_double *kernel;
    } cast = {kernel};
    return cast.kernel;
}

static struct gyre_kernel_double *of_queue(const gyre_queue *queue)
{
    return its((const char *)queue - offsetof(struct gyre_kernel_double, queue));
}

static struct sim_health *health(void)
{
    return process_current()->user;
}

static void take_time(uint64_t most_ns)
{
    fiber_sleep(NULL, fibers_now_ns() + 1 + fibers_draw(most_ns));
}

WRAP(gyre_status, gyre_transport_load, const char *path, const gyre_transport_plugin **out)
{
    (void)path;
    *out = &memory_transport;
    return GYRE_OK;
}

/* ---- launch and release ---- */

WRAP(gyre_status, gyre_launch, gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    *out = NULL;
    take_time(LAUNCH_NS);
    health()->launches += desc->name != NULL;
    if (desc->name && health()->cannot_launch)
        return gyre_error_set(GYRE_UNAVAILABLE, "the test lets no kernel be launched here");
    struct gyre_kernel_double *kernel = process_alloc(sizeof *kernel);
    memset(kernel, 0, sizeof *kernel);
    kernel->base.runtime = runtime;
    kernel->queue.ways.direct_size = 1; /* it may be quiet */
    snprintf(kernel->base.name, sizeof kernel->base.name, "%s", desc->name ? desc->name : "sim");
    *out = &kernel->base;
    return GYRE_OK;
}

WRAP(gyre_status, gyre_launch_helped, gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    const gyre_status status = __wrap_gyre_launch(runtime, desc, out);
    if (status == GYRE_OK)
        gyre_kernel_set_helped(*out, health()->is_helped);
    return status;
}

/* A thread may be in a handler of it: it stays until its process ends. */
WRAP(void, gyre_kernel_release, gyre_kernel *kernel)
{
    if (!kernel)
        return;
    if (kernel->helped)
        its(kernel)->is_gone = true;
    else
        process_free(kernel);
}

WRAP(gyre_queue *, gyre_kernel_queue, gyre_kernel *kernel)
{
    return &its(kernel)->queue;
}

WRAP(gyre_status, gyre_keyed_about_get, const gyre_kernel *kernel, struct gyre_keyed_about *out)
{
    (void)kernel;
    *out = (struct gyre_keyed_about){.kernel = "sim",
                                     .key = "account",
                                     .request = GYRE_TYPE(sim_request),
                                     .reply = GYRE_TYPE(sim_reply),
                                     .state = GYRE_TYPE(sim_state),
                                     .table_size = SIM_TABLE};
    return GYRE_OK;
}

WRAP(gyre_status, gyre_keyed_table_check_settings, const gyre_kernel *kernel)
{
    (void)kernel;
    return GYRE_OK;
}

WRAP(gyre_status, gyre_kernel_activate, gyre_kernel *kernel, uint64_t deadline_ns)
{
    (void)deadline_ns;
    if (health()->cannot_activate)
        return gyre_error_set(GYRE_UNAVAILABLE, "the test lets no kernel be activated here");
    its(kernel)->is_active = true;
    return GYRE_OK;
}

WRAP(gyre_status, gyre_queue_stats_get, gyre_queue *queue, gyre_queue_stats *stats)
{
    (void)queue;
    stats->capacity = CAPACITY;
    return GYRE_OK;
}

/* ---- the table ---- */

WRAP(gyre_status, gyre_keyed_table_read, gyre_kernel *kernel, void *table, size_t size)
{
    if (its(kernel)->first != its(kernel)->end || size != SIM_TABLE)
        violation("the kernel's contract", "its table is read while requests are under way");
    memcpy(table, its(kernel)->table, size);
    return GYRE_OK;
}

WRAP(gyre_status, gyre_keyed_table_write, gyre_kernel *kernel, const void *table, size_t size)
{
    if (its(kernel)->is_active || size != SIM_TABLE)
        violation("the kernel's contract", "its table is written while it is active");
    if (health()->cannot_restore)
        return gyre_error_set(GYRE_INCOMPATIBLE, "the test lets no table be written here");
    memcpy(its(kernel)->table, table, size);
    return GYRE_OK;
}

/* ---- messages ---- */

/* What each call behind a first one finds may be less than what is there. */
static size_t some_of(size_t most)
{
    return most < 2 ? most : 1 + (size_t)fibers_draw(most);
}

WRAP(gyre_status, gyre_send, gyre_queue *queue, const void *request, size_t size, uint64_t *index,
     uint64_t deadline_ns)
{
    struct gyre_kernel_double *kernel = of_queue(queue);
    (void)deadline_ns;
    if (size != sizeof(sim_request))
        return gyre_error_set(GYRE_INVALID, "a request has %zu bytes, found %zu", sizeof(sim_request), size);
    if (health()->cannot_send)
        return gyre_error_set(GYRE_EXHAUSTED, "the test lets no request be sent here");
    if (!kernel->is_active || kernel->end - kernel->first == CAPACITY)
        violation("the kernel's contract", "a request is sent that has no room, or to a kernel at rest");
    memcpy(&kernel->ring[kernel->end % CAPACITY].request, request, size);
    if (index)
        *index = kernel->end;
    kernel->end++;
    return GYRE_OK;
}

WRAP(gyre_status, gyre_send_batch, gyre_queue *queue, const void *requests, size_t size, size_t count,
     size_t *sent, uint64_t deadline_ns)
{
    const struct gyre_kernel_double *kernel = of_queue(queue);
    const size_t room = CAPACITY - (size_t)(kernel->end - kernel->first),
                 taken = some_of(count < room ? count : room);
    gyre_status status = GYRE_OK;
    *sent = 0;
    do {
        status = __wrap_gyre_send(queue, (const char *)requests + *sent * size, size, NULL, deadline_ns);
        *sent += status == GYRE_OK;
    } while (status == GYRE_OK && *sent < taken);
    return *sent ? GYRE_OK : status;
}

static sim_state *state_of(struct gyre_kernel_double *kernel, uint64_t account)
{
    return (sim_state *)(void *)(kernel->table + account % SIM_ACCOUNTS * SIM_STRIDE);
}

static void handle(struct gyre_kernel_double *kernel, const sim_request *request, void *reply,
                   gyre_completion *completion)
{
    sim_state *state = state_of(kernel, request->account);
    sim_reply its_reply = {.amount = request->amount};
    *completion = (gyre_completion){.outcome = GYRE_REPLIED, .length = sizeof its_reply};
    switch (SIM_KIND(request->amount)) {
    case SIM_POISON:
        state->count += 1000;
        process_kill(process_current());
        return;
    case SIM_REFUSED:
        *completion = (gyre_completion){.outcome = GYRE_HANDLER_FAILED, .failure_code = SIM_REFUSED_CODE};
        snprintf(completion->failure_text, sizeof completion->failure_text, "refused");
        return;
    case SIM_SILENT:
        *completion = (gyre_completion){.outcome = GYRE_NOT_REPLIED};
        break;
    default:
        break;
    }
    sim_handle(state, request->amount);
    its_reply.count = state->count;
    its_reply.trace = state->trace;
    if (completion->outcome == GYRE_REPLIED)
        memcpy(reply, &its_reply, sizeof its_reply);
}

static uint64_t draw_time(const sim_request *request)
{
    return fibers_draw(SIM_KIND(request->amount) == SIM_TARDY ? health()->tardy_ns : health()->handler_ns);
}

/* Now and then it has no device side for a moment. What becomes of a kernel that is gone meanwhile is nobody's. */
WRAP(gyre_status, gyre_kernel_help, gyre_kernel *helped)
{
    struct gyre_kernel_double *kernel = its(helped);
    if (fibers_draw(16) == 0)
        return GYRE_AGAIN;
    while (kernel->handled < kernel->end && !kernel->is_gone) {
        const uint64_t at = kernel->handled % CAPACITY;
        fiber_sleep(NULL, fibers_now_ns() + draw_time(&kernel->ring[at].request) + 1);
        process_step(false);
        handle(kernel, &kernel->ring[at].request, &kernel->ring[at].reply, &kernel->ring[at].completion);
        kernel->handled++;
    }
    return GYRE_OK;
}

/* Handlers look again and again without a bell. */
WRAP(void, gyre_queue_ring_doorbell, gyre_queue *queue, uint64_t count)
{
    (void)queue;
    (void)count;
}

/* The reply to the first request, which a helper handled. */
static void take_handled(struct gyre_kernel_double *kernel, void *reply, gyre_completion *completion)
{
    const uint64_t at = kernel->first % CAPACITY;
    memcpy(reply, &kernel->ring[at].reply, sizeof kernel->ring[at].reply);
    *completion = kernel->ring[at].completion;
    completion->index = kernel->first++;
}

WRAP(gyre_status, gyre_receive, gyre_queue *queue, void *reply, size_t size, gyre_completion *completion,
     uint64_t deadline_ns)
{
    struct gyre_kernel_double *kernel = of_queue(queue);
    const uint64_t now = fibers_now_ns();
    if (kernel->first == kernel->end || size < sizeof(sim_reply) || kernel->is_gone)
        violation("the kernel's contract", "a reply is received, and no request is under way");
    if (kernel->first < kernel->handled) {
        take_handled(kernel, reply, completion);
        return GYRE_OK;
    }
    if (kernel->queue.ways.quiet)
        violation("the kernel's contract", "a reply to a request is awaited of which nobody was told");
    const sim_request request = kernel->ring[kernel->first % CAPACITY].request;
    const uint64_t takes_ns = draw_time(&request);
    if (now + takes_ns > deadline_ns) {
        fiber_sleep(NULL, deadline_ns);
        return gyre_error_set(GYRE_TIMEOUT, "the handler did not return in time");
    }
    fiber_sleep(NULL, now + takes_ns + 1);
    process_step(false);
    handle(kernel, &request, reply, completion);
    completion->index = kernel->first++;
    kernel->handled = kernel->first;
    return GYRE_OK;
}

WRAP(gyre_status, gyre_receive_batch, gyre_queue *queue, void *replies, size_t size, size_t count,
     gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    const struct gyre_kernel_double *kernel = of_queue(queue);
    const size_t under_way = (size_t)(kernel->end - kernel->first),
                 taken = some_of(count < under_way ? count : under_way);
    gyre_status status = GYRE_OK;
    *received = 0;
    do {
        status = __wrap_gyre_receive(queue, (char *)replies + *received * size, size, &completions[*received],
                                     deadline_ns);
        *received += status == GYRE_OK;
    } while (status == GYRE_OK && *received < taken);
    return *received ? GYRE_OK : status;
}
