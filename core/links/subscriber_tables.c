/* SPDX-License-Identifier: Apache-2.0 */
/* What senders are told of subscribers (subscriber.h): branches of the topic that a port leads to. Under pipeline->lock. */
#include "core/links/subscriber.h"

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

uint32_t gyre_subscribers_write(const gyre_pipeline *pipeline, int node, uint32_t port,
                                gyre_link_branch *branches)
{
    uint32_t count = 0;
    for (const struct gyre_subscriber *one = pipeline->subscribers; one; one = one->next) {
        const struct gyre_subscriber_source *source = source_of(one, node, port);
        if (source)
            branches[count++] = (gyre_link_branch){
                .rings = (gyre_u64)(uintptr_t)one->rings[source->first].ring,
                .control = (gyre_u64)(uintptr_t)one->control,
                .gate = one->face.slow == GYRE_SLOW_CUT ? (gyre_u64)(uintptr_t)one->gate : 0,
                .slow = (gyre_u32)one->face.slow,
                .is_client = 1};
    }
    return count;
}
