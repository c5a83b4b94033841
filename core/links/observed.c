/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pipelines and their links into the observation file (observed.h). The thread that watches over kernels does it, which
 * must never wait for a device: it holds the locks of the runtime and of the pipeline. It reads links in memory that this process
 * reaches, also those that a worker process writes, and of others the copies that the device's own thread makes (gyre/peek.h). A
 * link that cannot be read now keeps its last values. How long flows take is known on every device: clients see them begin and end.
 */
#include "core/links/observed.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/kernel/observed.h"
#include "core/links/lend.h"
#include "core/links/apart.h"
#include "core/links/link_times.h"
#include "core/links/pipeline.h"
#include "core/observation/observation.h"
#include "core/stages/told.h"
#include "gyre/waiting.h"

static struct gyre_observation *observation_of(const gyre_pipeline *pipeline)
{
    return gyre_runtime_observation(pipeline->runtime);
}

static void enter_pipeline(gyre_pipeline *pipeline)
{
    const uint64_t now = gyre_clock_ns();
    gyre_observe_record about = {.kind = GYRE_OBSERVE_PIPELINE,
                                 .parent = pipeline->runtime->observed,
                                 .made_ns = now,
                                 .state_ns = now};
    snprintf(about.name, sizeof about.name, "%.*s", (int)sizeof about.name - 1, pipeline->name);
    pipeline->observed = gyre_observation_enter(observation_of(pipeline), &about);
}

/* Whether the flows of an earlier pipeline are forgotten; not while an entry is being changed. */
static bool forget_flows(const gyre_pipeline *pipeline)
{
    bool forgot = true;
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].enters)
            forgot = gyre_kernel_flows_forget(pipeline->nodes[i].kernel) && forgot;
    return forgot;
}

/* How long flows took, from end to end: those of clients of this program, where the kernel that they enter by has `timing`. */
static void observe_flows(const gyre_pipeline *pipeline)
{
    struct gyre_kernel_flows flows = {.timed = false};
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].enters && !gyre_kernel_flows_add(pipeline->nodes[i].kernel, &flows))
            return; /* it is being changed, and the next look comes soon */
    if (!flows.timed)
        return;
    flows.handled.record = flows.round_trips.record = pipeline->observed;
    flows.handled.time = GYRE_OBSERVE_HANDLED;
    flows.round_trips.time = GYRE_OBSERVE_ROUND_TRIP;
    gyre_observation_histogram(observation_of(pipeline), &flows.handled, false);
    gyre_observation_histogram(observation_of(pipeline), &flows.round_trips, false);
}

static void enter_link(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    const uint64_t now = gyre_clock_ns();
    gyre_observe_record about = {
        .kind = GYRE_OBSERVE_LINK, .parent = pipeline->observed, .made_ns = now, .state_ns = now};
    snprintf(about.name, sizeof about.name, "%.*s", (int)sizeof about.name - 1, link->name);
    snprintf(about.detail, sizeof about.detail, "%s", link->sends.name);
    link->observed = gyre_observation_enter(observation_of(pipeline), &about);
}

/* Where a worker process writes, there may be anything: what no link can have counted is not shown. */
static bool is_possible(const struct gyre_link_counts *counts)
{
    return counts->sent <= GYRE_TOLD_MOST && counts->missed <= GYRE_TOLD_MOST;
}

static bool are_possible(const gyre_observe_histogram *times)
{
    bool possible = times->sum_ns <= INT64_MAX;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        possible &= times->buckets[i] <= GYRE_TOLD_MOST;
    return possible;
}

/* How long its messages waited for their handlers, where they are timed. */
static void observe_waits(const gyre_pipeline *home, const struct gyre_link *own,
                          const struct gyre_link *link, struct gyre_observation *observation)
{
    gyre_observe_histogram waited = {.record = link->observed, .time = GYRE_OBSERVE_WAITED};
    if (gyre_link_memory_times(home, own, &waited) == GYRE_OK && gyre_link_times_size(home, own) &&
        are_possible(&waited))
        gyre_observation_histogram(observation, &waited, false);
}

static void observe_link(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    uint64_t words[GYRE_OBSERVE_LINK_WORDS] = {0};
    struct gyre_link_counts counts;
    const struct gyre_node *from = &pipeline->nodes[link->from];
    const gyre_trace *trace = gyre_observation_trace(observation_of(pipeline));
    const struct gyre_link *own = link;
    const gyre_pipeline *home = gyre_parts_home(pipeline, &own);
    if (gyre_link_memory_peek(home, own, &counts) != GYRE_OK || !is_possible(&counts))
        return;
    if (!link->observed)
        enter_link(pipeline, link);
    words[GYRE_OBSERVE_LINK_FROM] = gyre_kernel_observed_record(from->kernel);
    words[GYRE_OBSERVE_LINK_TO] =
        link->to == GYRE_NODE_NOWHERE ? 0 : gyre_kernel_observed_record(pipeline->nodes[link->to].kernel);
    words[GYRE_OBSERVE_LINK_CAPACITY] = link->capacity * from->facts.movers;
    words[GYRE_OBSERVE_LINK_SENT] = counts.sent;
    words[GYRE_OBSERVE_LINK_WAITING] = counts.waiting;
    words[GYRE_OBSERVE_LINK_MISSED] = counts.missed;
    words[GYRE_OBSERVE_LINK_CUT] = counts.is_cut;
    words[GYRE_OBSERVE_LINK_KEY] = trace ? gyre_trace_key(trace, (const void *)(uintptr_t)counts.address) : 0;
    gyre_observation_values(observation_of(pipeline), link->observed, words, GYRE_OBSERVE_LINK_WORDS);
    observe_waits(home, own, link, observation_of(pipeline));
}

/* Its target may work on what it got for as long as it likes, but no port leads there any more. */
static void forget_link(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    gyre_observation_leave(observation_of(pipeline), link->observed);
    link->observed = 0;
}

static void observe_pipeline(gyre_pipeline *pipeline)
{
    if (!observation_of(pipeline))
        return;
    if (pthread_mutex_trylock(&pipeline->lock) != 0)
        return; /* it is being changed, and the next look comes soon */
    if (!pipeline->observed && forget_flows(pipeline))
        enter_pipeline(pipeline);
    if (!pipeline->observed) {
        pthread_mutex_unlock(&pipeline->lock);
        return;
    }
    observe_flows(pipeline);
    gyre_error_hold();
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].retired)
            forget_link(pipeline, &pipeline->links[i]);
        else if (!pipeline->links[i].is_own)
            observe_link(pipeline, &pipeline->links[i]);
    gyre_error_let_go();
    pthread_mutex_unlock(&pipeline->lock);
}

void gyre_pipelines_observe(gyre_runtime *runtime)
{
    gyre_pipelines_each(runtime, observe_pipeline);
}
