/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a pipeline's subscribers (subscriber.h): what senders are told of them, branches of the topic that a port leads
 * to; and how they part from a pipeline that ends. Under pipeline->lock.
 */
#include "core/base/error.h"
#include "core/links/pipeline.h"
#include "core/links/subscriber.h"
#include "core/links/subscriber_copies.h"

static const struct gyre_subscriber_source *source_of(const struct gyre_subscriber *subscriber, int node,
                                                      uint32_t port)
{
    for (uint32_t i = 0; i < subscriber->source_count && !subscriber->dropped; i++)
        if (subscriber->sources[i].node == node && subscriber->sources[i].port == port)
            return &subscriber->sources[i];
    return NULL;
}

uint32_t gyre_subscribers_count(const gyre_pipeline *pipeline, int node, uint32_t port)
{
    uint32_t count = 0;
    for (const struct gyre_subscriber *one = pipeline->subscribers; one; one = one->next)
        count += source_of(one, node, port) != NULL;
    return count;
}

uint32_t gyre_branches_count(const gyre_pipeline *pipeline, int node)
{
    uint32_t count = 0;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        count += link->from == node && (link->topic[0] || link->pool[0]) && link->to != GYRE_NODE_NOWHERE &&
                 !link->retired;
    }
    for (uint32_t port = 0; port < pipeline->nodes[node].facts.record->port_count; port++)
        count += gyre_subscribers_count(pipeline, node, port);
    return count;
}

static gyre_link_branch near_branch(const struct gyre_subscriber *one,
                                    const struct gyre_subscriber_source *source)
{
    return (gyre_link_branch){
        .rings = gyre_subscriber_address(one, one->rings[source->first].ring),
        .control = gyre_subscriber_address(one, one->control),
        .gate = one->face.slow == GYRE_SLOW_CUT ? gyre_subscriber_address(one, one->gate) : 0,
        .slow = (gyre_u32)one->face.slow,
        .is_client = 1};
}

/* Of one whose rings lie in the device's memory. Its control region is the sender's: nobody is woken there. */
static gyre_link_branch far_branch(const gyre_pipeline *pipeline, const struct gyre_subscriber *one,
                                   const struct gyre_subscriber_source *source)
{
    return (gyre_link_branch){.rings = gyre_subscriber_copies_ring(one, source->first),
                              .control = pipeline->nodes[source->node].facts.control,
                              .gate = one->face.slow == GYRE_SLOW_CUT ? gyre_subscriber_copies_gate(one) : 0,
                              .slow = (gyre_u32)one->face.slow,
                              .is_client = 1};
}

uint32_t gyre_subscribers_write(const gyre_pipeline *pipeline, int node, uint32_t port,
                                gyre_link_branch *branches)
{
    uint32_t count = 0;
    for (const struct gyre_subscriber *one = pipeline->subscribers; one; one = one->next) {
        const struct gyre_subscriber_source *source = source_of(one, node, port);
        if (source)
            branches[count++] = one->copies ? far_branch(pipeline, one, source) : near_branch(one, source);
    }
    return count;
}

/* ---- ends ---- */

void gyre_subscriber_tell_end(const gyre_pipeline *pipeline, const struct gyre_subscriber *subscriber)
{
    const uint64_t missed = gyre_subscriber_missed(subscriber);
    if (missed)
        gyre_runtime_log(pipeline->runtime, GYRE_LOG_INFO,
                         "topic '%s': a subscription received %llu messages and missed %llu%s",
                         subscriber->topic, (unsigned long long)subscriber->received,
                         (unsigned long long)missed,
                         __atomic_load_n(&subscriber->gate->cut, __ATOMIC_RELAXED) ? ": it was cut off" : "");
}

/* Tells the owner that the pipeline ended. Under pipeline->lock. */
static void part_from(struct gyre_subscriber *subscriber, bool left_behind)
{
    pthread_mutex_lock(&subscriber->lock);
    gyre_error_hold();
    gyre_subscriber_copies_look(subscriber); /* what came last */
    gyre_error_let_go();
    gyre_subscriber_tell_end(subscriber->pipeline, subscriber);
    if (!left_behind) { /* the owner may free it when the device is closed */
        gyre_subscriber_copies_part(subscriber);
        gyre_link_store_hide(&subscriber->store);
    }
    subscriber->pipeline = NULL;
    subscriber->left_behind = left_behind;
    gyre_subscriber_wake(subscriber);
    pthread_mutex_unlock(&subscriber->lock); /* now its owner may free it */
}

void gyre_subscribers_part(gyre_pipeline *pipeline)
{
    while (pipeline->subscribers) {
        struct gyre_subscriber *one = pipeline->subscribers;
        pipeline->subscribers = one->next;
        if (one->orphaned) {
            gyre_subscriber_free(one);
            continue;
        }
        part_from(one, false);
    }
}

void gyre_subscribers_abandon(gyre_pipeline *pipeline)
{
    for (struct gyre_subscriber *one = pipeline->subscribers; one; one = one->next)
        if (!one->orphaned)
            part_from(one, true);
}
