/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline, or a part of one (apart.h), whose worker process died and was replaced. All its kernels run in the new worker, know no links
 * and see no queue of the pipeline. Its links are emptied, they get the links with the addresses of the new worker, and then the queues of entries, where they
 * go on at the first request without a completion. What is under way of a flow is nowhere but in links, so each flow without a
 * completion begins once more, in the order of its queue, and none begins twice.
 *
 * Runs in the thread of the worker's keeper, or of the supervisor. Lock: pipeline->lock. A thread that has it may wait for a call of the worker, which the
 * keeper answers for: so this thread looks after its worker while it waits for the lock.
 */
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/links/joined.h"
#include "core/links/kept.h"
#include "core/links/pipeline.h"
#include "core/links/station.h"

enum { LOOK_NS = 1000000, CATCH_UP_NS = 200000 };

/* False when the worker died meanwhile. */
static bool take_lock(gyre_pipeline *pipeline)
{
    while (pthread_mutex_trylock(&pipeline->lock) != 0)
        if (!gyre_dispatch_watch(pipeline->device, gyre_clock_ns() + LOOK_NS))
            return false;
    return true;
}

/* Whether a stage waits for its links. */
static bool is_unwired(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (pipeline->nodes[i].joined && gyre_node_awaits_wires(pipeline->nodes[i].kernel))
            return true;
    return false;
}

/* Under the lock. One that is being closed stays as it is: its kernels need no links any more. */
static gyre_status renew(gyre_pipeline *pipeline, bool by_keeper)
{
    bool lost = false;
    pipeline->keep.by_keeper = by_keeper;
    if (pipeline->closing || !(is_unwired(pipeline) || gyre_stages_are_behind(pipeline, &lost)))
        return GYRE_OK;
    const bool repeats = gyre_keep_prepare(pipeline);
    gyre_status status = gyre_link_memory_renew(pipeline);
    if (status == GYRE_OK && repeats)
        status = gyre_keep_repeat(pipeline);
    if (status == GYRE_OK)
        gyre_keep_caught_up(pipeline);
    gyre_error_hold();
    gyre_link_memory_let_go(pipeline, pipeline->turn);
    gyre_error_let_go();
    return status;
}

static gyre_status lock_and_renew(gyre_pipeline *pipeline, bool by_keeper)
{
    if (!by_keeper)
        pthread_mutex_lock(&pipeline->lock);
    else if (!take_lock(pipeline))
        return gyre_error_set(GYRE_LOST, "the worker process of pipeline '%s' died", pipeline->name);
    const gyre_status status = renew(pipeline, by_keeper);
    pthread_mutex_unlock(&pipeline->lock);
    return status;
}

static bool is_in_worker(const gyre_pipeline *pipeline)
{
    return pipeline && pipeline->nodes[0].facts.in_worker;
}

gyre_status gyre_pipeline_renew(gyre_pipeline *pipeline, const struct gyre_dispatch *device, bool by_keeper)
{
    if (is_in_worker(pipeline))
        return lock_and_renew(pipeline, by_keeper);
    for (const struct gyre_pipeline_part *part = pipeline->parts; part; part = part->next)
        if (part->home == device && is_in_worker(part->inner))
            return lock_and_renew(part->inner, by_keeper);
    return GYRE_OK;
}

static void catch_up(gyre_pipeline *pipeline)
{
    bool lost = false;
    gyre_error_hold();
    pthread_mutex_lock(&pipeline->lock);
    while (gyre_stages_are_behind(pipeline, &lost) && !lost && !pipeline->closing) {
        if (renew(pipeline, false) == GYRE_OK && !gyre_stages_are_behind(pipeline, &lost))
            break;
        pthread_mutex_unlock(&pipeline->lock); /* the keeper's thread may want it */
        nanosleep(&(struct timespec){0, CATCH_UP_NS}, NULL);
        pthread_mutex_lock(&pipeline->lock);
    }
    pthread_mutex_unlock(&pipeline->lock);
    gyre_error_let_go();
}

void gyre_pipeline_catch_up(gyre_pipeline *pipeline)
{
    catch_up(pipeline);
    for (const struct gyre_pipeline_part *part = pipeline->parts; part; part = part->next)
        if (is_in_worker(part->inner))
            catch_up(part->inner);
}
