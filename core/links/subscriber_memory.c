/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees subscribers (subscriber.h): which ports they hear, and memory for their rings. Under pipeline->lock. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/links/link_sizes.h"
#include "core/links/pipeline.h"
#include "core/links/subscriber.h"
#include "core/links/subscriber_copies.h"

enum { CONTROL_SIZE = offsetof(gyre_control_region, queues), TOPICS_TOLD = 32 };

/* ---- what it hears ---- */

/* Whether the link is the first of its port, and that leads to the topic. */
static bool begins_source(const gyre_pipeline *pipeline, const struct gyre_link *link, const char *topic)
{
    if (strcmp(link->topic, topic) != 0 || link->retired)
        return false;
    for (const struct gyre_link *other = pipeline->links; other != link; other++)
        if (!other->retired && other->from == link->from && other->port == link->port)
            return false;
    return true;
}

static gyre_status no_such_topic(const gyre_pipeline *pipeline, const char *topic)
{
    const char *names[TOPICS_TOLD] = {NULL};
    char list[256], hint[GYRE_TEXT_HINT_SIZE];
    size_t count = 0;
    for (int i = 0; i < pipeline->link_count && count < TOPICS_TOLD; i++) {
        const char *name = pipeline->links[i].topic;
        if (name[0] && (count == 0 || strcmp(names[count - 1], name) != 0))
            names[count++] = name;
    }
    gyre_text_list(names, count, list, sizeof list);
    return gyre_error_set(GYRE_NOT_FOUND, "pipeline '%s' has no topic and no outlet '%s'%s%s%s",
                          pipeline->name, topic, count ? "; it has: " : ", and no other", list,
                          gyre_text_hint(topic, names, count, hint));
}

/* Finds the ports that send to the topic. *most: what a call of any of them may emit. */
static gyre_status find_sources(struct gyre_subscriber *subscriber, uint32_t *most)
{
    const gyre_pipeline *pipeline = subscriber->pipeline;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        const struct gyre_node_facts *const facts = &pipeline->nodes[link->from].facts;
        if (!begins_source(pipeline, link, subscriber->topic))
            continue;
        const gyre_port_record *port = &facts->record->ports[link->port];
        *most = port->most > *most ? port->most : *most;
        subscriber->sources[subscriber->source_count++] = (struct gyre_subscriber_source){
            .node = link->from, .port = link->port, .first = subscriber->ring_count, .count = facts->movers};
        subscriber->ring_count += facts->movers;
    }
    return subscriber->source_count ? GYRE_OK : no_such_topic(pipeline, subscriber->topic);
}

/* All ports of a topic have messages of one type. */
static gyre_status read_type(struct gyre_subscriber *subscriber, const gyre_type *callers)
{
    const struct gyre_subscriber_source *first = &subscriber->sources[0];
    const gyre_kernel_record *record = subscriber->pipeline->nodes[first->node].facts.record;
    const gyre_status status = gyre_layout_create_message(record->ports[first->port].type, GYRE_MESSAGE_MAX,
                                                          &subscriber->face.layout);
    return status == GYRE_OK ? gyre_subscription_check_type(subscriber->face.layout, callers) : status;
}

/* ---- its memory ---- */

static gyre_status choose_capacity(struct gyre_subscriber *subscriber, uint64_t wanted, uint32_t most)
{
    const uint64_t least = gyre_link_capacity_least(most);
    subscriber->stride = gyre_link_stride(subscriber->face.layout->size);
    subscriber->capacity =
        wanted ? wanted : gyre_link_capacity_usual(subscriber->pipeline->device, least, subscriber->stride);
    if (subscriber->capacity >= least && subscriber->capacity <= GYRE_LINK_CAPACITY_MOST)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "capacity: expected a power of two from %llu (one call of a sender may emit %u messages) to %d, "
        "found %llu",
        (unsigned long long)least, most, GYRE_LINK_CAPACITY_MOST, (unsigned long long)wanted);
}

static void point_rings(struct gyre_subscriber *subscriber, unsigned char *rings, unsigned char *slots)
{
    const gyre_pipeline *pipeline = subscriber->pipeline;
    const uint64_t each = gyre_link_slots_size(subscriber->capacity, subscriber->stride);
    for (uint32_t i = 0; i < subscriber->source_count; i++) {
        const struct gyre_subscriber_source *source = &subscriber->sources[i];
        gyre_control_region *sender = pipeline->nodes[source->node].facts.control_here;
        for (uint32_t j = source->first; j < source->first + source->count; j++) {
            gyre_link_ring *ring = (gyre_link_ring *)(void *)rings + j;
            subscriber->rings[j] =
                (struct gyre_subscriber_ring){.ring = ring, .slots = slots + j * each, .sender = sender};
        }
    }
    gyre_subscriber_point_rings(subscriber);
}

void gyre_subscriber_point_rings(struct gyre_subscriber *subscriber)
{
    subscriber->control->command.parks = 1; /* the readers park without a heavy barrier */
    for (uint32_t i = 0; i < subscriber->ring_count; i++) {
        gyre_link_ring *ring = subscriber->rings[i].ring;
        *ring = (gyre_link_ring){.slots = gyre_subscriber_address(subscriber, subscriber->rings[i].slots),
                                 .capacity = (uint32_t)subscriber->capacity,
                                 .stride = subscriber->stride,
                                 .missed = ring->missed};
    }
}

static gyre_status make_store(struct gyre_subscriber *subscriber, uint64_t bytes)
{
    const gyre_pipeline *pipeline = subscriber->pipeline;
    if (pipeline->nodes[0].facts.in_worker)
        return gyre_link_store_make_shown(pipeline->device, bytes, &subscriber->store);
    return gyre_link_store_make(NULL, true, bytes, &subscriber->store);
}

static gyre_status make_memory(struct gyre_subscriber *subscriber)
{
    const uint64_t rings = CONTROL_SIZE + sizeof(gyre_link_gate),
                   slots = rings + subscriber->ring_count * sizeof(gyre_link_ring),
                   each = gyre_link_slots_size(subscriber->capacity, subscriber->stride);
    subscriber->rings = calloc(subscriber->ring_count, sizeof *subscriber->rings);
    if (!subscriber->rings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
    const gyre_status status = make_store(subscriber, slots + subscriber->ring_count * each);
    if (status != GYRE_OK)
        return status;
    unsigned char *base = (unsigned char *)subscriber->store.host;
    subscriber->control = (gyre_control_region *)(void *)base;
    subscriber->gate = (gyre_link_gate *)(void *)(base + CONTROL_SIZE);
    point_rings(subscriber, base + rings, base + slots);
    return GYRE_OK;
}

/*
 * Rings in memory of a sender's device, where threads of this process do not fill them. Senders of a topic may be on several devices
 * that reach each other's memory: then the rings of all of them lie on that of the first. A device in a worker fills rings of this process.
 */
static gyre_status make_copies(struct gyre_subscriber *subscriber)
{
    struct gyre_dispatch *device = subscriber->pipeline->nodes[subscriber->sources[0].node].facts.device;
    return gyre_dispatch_device_info(device)->knows_links & GYRE_LINKING_COPIES && !subscriber->store.shown
               ? gyre_subscriber_copies_make(subscriber, device)
               : GYRE_OK;
}

/* ---- the object ---- */

gyre_status gyre_subscriber_make(gyre_pipeline *pipeline, const char *topic, const gyre_subscribe_desc *desc,
                                 struct gyre_subscriber **out)
{
    uint32_t most = 0;
    struct gyre_subscriber *subscriber = calloc(1, sizeof *subscriber);
    *out = NULL;
    if (!subscriber)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
    pthread_mutex_init(&subscriber->lock, NULL);
    pthread_cond_init(&subscriber->left, NULL);
    subscriber->pipeline = pipeline;
    subscriber->face.slow = desc->slow;
    snprintf(subscriber->topic, sizeof subscriber->topic, "%s", topic);
    snprintf(subscriber->face.name, sizeof subscriber->face.name, "%s/%s", pipeline->name, topic);
    subscriber->sources = calloc((size_t)pipeline->link_count + 1, sizeof *subscriber->sources);
    gyre_status status = subscriber->sources ? find_sources(subscriber, &most)
                                             : gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
    if (status == GYRE_OK)
        status = read_type(subscriber, desc->type);
    if (status == GYRE_OK)
        status = choose_capacity(subscriber, desc->capacity, most);
    if (status == GYRE_OK)
        status = make_memory(subscriber);
    if (status == GYRE_OK)
        status = make_copies(subscriber);
    if (status == GYRE_OK)
        *out = subscriber;
    else
        gyre_subscriber_free(subscriber);
    return status;
}

void gyre_subscriber_free(struct gyre_subscriber *subscriber)
{
    if (subscriber->pipeline)
        gyre_link_store_hide(&subscriber->store);
    gyre_subscriber_copies_free(subscriber);
    gyre_link_store_release(&subscriber->store);
    gyre_layout_destroy(subscriber->face.layout);
    pthread_cond_destroy(&subscriber->left);
    pthread_mutex_destroy(&subscriber->lock);
    free(subscriber->rings);
    free(subscriber->sources);
    free(subscriber);
}
