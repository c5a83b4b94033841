/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subscriptions of this program to topics of an open pipeline: begun and ended (subscriber.h). Senders hear of a subscriber
 * by a new table of links, and its memory is freed when every block obeyed a table without it, as an entry's is (entries.c).
 */
#include <string.h>

#include "core/base/error.h"
#include "core/links/lend.h"
#include "core/links/pipeline.h"
#include "core/links/subscriber.h"
#include "core/links/subscriber_copies.h"

/* ---- ending ---- */

/* Under pipeline->lock. */
static void unlist(gyre_pipeline *pipeline, struct gyre_subscriber *subscriber)
{
    struct gyre_subscriber **link = &pipeline->subscribers;
    while (*link != subscriber)
        link = &(*link)->next;
    *link = subscriber->next;
}

/*
 * Takes a subscriber off the tables. Returns whether no block knows it any more: then it is in no list. Never waits for a
 * handler that it waited for before. Under pipeline->lock.
 */
static bool take_back(gyre_pipeline *pipeline, struct gyre_subscriber *subscriber)
{
    if (pipeline->closing)
        return false;
    if (!subscriber->dropped) {
        subscriber->dropped = true;
        const gyre_status status = gyre_link_memory_distribute(pipeline);
        subscriber->turn = pipeline->turn;
        subscriber->dropped = status == GYRE_OK || status == GYRE_TIMEOUT;
    }
    if (!subscriber->dropped || !gyre_link_memory_let_go(pipeline, subscriber->turn))
        return false;
    unlist(pipeline, subscriber);
    gyre_subscriber_copies_part(subscriber); /* the device may be closed by the time that the rest is freed */
    return true;
}

/* Frees what was left to handlers that have returned since. Returns whether something is left. Under pipeline->lock. */
static bool take_orphans_back(gyre_pipeline *pipeline)
{
    bool left = false;
    struct gyre_subscriber *next;
    for (struct gyre_subscriber *one = pipeline->subscribers; one; one = next) {
        next = one->next;
        if (!one->orphaned)
            continue;
        if (take_back(pipeline, one))
            gyre_subscriber_free(one);
        else
            left = true;
    }
    return left;
}

/* Waits until threads that receive have left, and visits the pipeline, if it is there. */
static gyre_pipeline *begin_end(struct gyre_subscriber *subscriber)
{
    pthread_mutex_lock(&subscriber->lock);
    subscriber->closing = true;
    gyre_subscriber_wake(subscriber);
    while (subscriber->inside)
        pthread_cond_wait(&subscriber->left, &subscriber->lock);
    gyre_pipeline *pipeline = subscriber->pipeline;
    if (pipeline) /* its end takes this lock before it waits for visitors */
        __atomic_fetch_add(&pipeline->visitors, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&subscriber->lock);
    return pipeline;
}

/* Returns whether nobody else knows the subscriber. */
static bool leave_pipeline(gyre_pipeline *pipeline, struct gyre_subscriber *subscriber)
{
    pthread_mutex_lock(&pipeline->lock);
    const bool ended = subscriber->pipeline == NULL; /* meanwhile: it is in no list, or was left behind */
    if (!ended)
        gyre_subscriber_tell_end(pipeline, subscriber);
    const bool alone = ended ? !subscriber->left_behind : take_back(pipeline, subscriber);
    subscriber->orphaned = !ended && !alone;
    pthread_mutex_unlock(&pipeline->lock);
    gyre_pipeline_leave(pipeline);
    return alone;
}

static void end(gyre_subscription *subscription)
{
    struct gyre_subscriber *subscriber = (struct gyre_subscriber *)(void *)subscription;
    gyre_error_hold();
    gyre_pipeline *pipeline = begin_end(subscriber);
    const bool alone = pipeline ? leave_pipeline(pipeline, subscriber) : !subscriber->left_behind;
    if (alone)
        gyre_subscriber_free(subscriber);
    gyre_error_let_go();
}

/* ---- beginning ---- */

static const struct gyre_subscription_kind kind = {gyre_subscriber_receive, gyre_subscriber_look, end};

/* Whether the kernel can send to one more. Under pipeline->lock. */
static gyre_status check_sender(const gyre_pipeline *pipeline, int node)
{
    const struct gyre_node_facts *const facts = &pipeline->nodes[node].facts;
    const uint32_t links = gyre_dispatch_device_info(facts->device)->knows_links;
    if (!(links & (GYRE_LINKING_CLIENTS | GYRE_LINKING_COPIES)) || pipeline->nodes[node].part)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "kernel '%s' is on backend '%s', whose topics have kernels alone as "
                              "subscribers: run the pipeline on backend 'cpu'",
                              facts->name, gyre_dispatch_backend(facts->device));
    if (facts->record->is_unlimited)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' was compiled without what sends to programs: launch it with "
            "gyre_launch_desc.stage = GYRE_STAGE_COUNTED, or name its port in a section [topic.NAME], or in a "
            "[link.NAME] with to = host",
            facts->name);
    if (gyre_branches_count(pipeline, node) < GYRE_BRANCHES_MAX)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED,
                          "the topics of kernel '%s' have %d subscribers, which is the most: try again when "
                          "one has left",
                          facts->name, GYRE_BRANCHES_MAX);
}

static gyre_status check_senders(const gyre_pipeline *pipeline, const struct gyre_subscriber *subscriber)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < subscriber->source_count && status == GYRE_OK; i++)
        status = check_sender(pipeline, subscriber->sources[i].node);
    return status;
}

/* Lists the subscriber and tells the senders. Under pipeline->lock. */
static gyre_status begin(gyre_pipeline *pipeline, struct gyre_subscriber *subscriber)
{
    gyre_status status = check_senders(pipeline, subscriber);
    if (status != GYRE_OK) {
        gyre_subscriber_free(subscriber);
        return status;
    }
    subscriber->face.kind = &kind;
    subscriber->next = pipeline->subscribers;
    pipeline->subscribers = subscriber;
    status = gyre_link_memory_distribute(pipeline);
    if (status == GYRE_OK)
        return GYRE_OK;
    if (status == GYRE_TIMEOUT) { /* a block may know it */
        subscriber->orphaned = true;
        return status;
    }
    unlist(pipeline, subscriber);
    gyre_subscriber_free(subscriber);
    return status;
}

/* Under pipeline->lock. */
static gyre_status subscribe(gyre_pipeline *pipeline, const char *topic, const gyre_subscribe_desc *desc,
                             struct gyre_subscriber **out)
{
    if (pipeline->shut)
        return gyre_error_set(GYRE_CLOSED, "the pipeline is being closed, or was drained");
    if (take_orphans_back(pipeline)) /* one at most: who asks again and again takes no more memory */
        return gyre_error_set(
            GYRE_TIMEOUT,
            "a handler has not returned since the last subscription was begun or ended: topics have new "
            "subscribers again when it has");
    gyre_status status = gyre_subscriber_make(pipeline, topic, desc, out);
    if (status == GYRE_OK)
        status = begin(pipeline, *out);
    if (status != GYRE_OK)
        *out = NULL;
    return status;
}

gyre_status gyre_subscribe(gyre_pipeline *pipeline, const char *topic, const gyre_subscribe_desc *desc,
                           gyre_subscription **out)
{
    gyre_subscribe_desc given;
    struct gyre_subscriber *made = NULL;
    if (!pipeline || !topic || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_subscribe", {"pipeline", pipeline}, {"topic", topic}, {"out", out},
                              GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    gyre_status status = gyre_subscription_read_desc("gyre_subscribe", desc, &given);
    if (status == GYRE_OK)
        status = gyre_runtime_check_own(pipeline->runtime, "gyre_subscribe");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&pipeline->lock);
    status = subscribe(pipeline, topic, &given, &made);
    pthread_mutex_unlock(&pipeline->lock);
    if (status == GYRE_OK)
        *out = &made->face;
    return status == GYRE_OK
               ? status
               : gyre_error_add(status, "subscribing to '%s' of pipeline '%s'", topic, pipeline->name);
}

bool gyre_pipeline_has_topic(const gyre_pipeline *pipeline, const char *topic)
{
    bool found = false;
    pthread_mutex_t *lock = &((gyre_pipeline *)(uintptr_t)pipeline)->lock;
    pthread_mutex_lock(lock);
    for (int i = 0; i < pipeline->link_count && !found; i++)
        found = topic[0] && strcmp(pipeline->links[i].topic, topic) == 0;
    pthread_mutex_unlock(lock);
    return found;
}
