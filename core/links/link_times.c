/* SPDX-License-Identifier: Apache-2.0 */
/* The memory in which blocks count how long messages of links wait (link_times.h). No locks of its own. */
#include "core/links/link_times.h"

#include <stddef.h>

#include "core/dispatch/dispatch.h"
#include "core/kernel/kernel.h"
#include "core/links/link_sizes.h"

/* One message of so many is timed; 0: none. */
static uint32_t timed_every(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const gyre_kernel *target = link->to == GYRE_NODE_NOWHERE ? NULL : pipeline->nodes[link->to].kernel;
    if (!target || !gyre_kernel_setting(target, "timing") ||
        !(gyre_dispatch_device_info(pipeline->nodes[link->to].facts.device)->knows_links &
          GYRE_LINKING_TIMES))
        return 0;
    return (uint32_t)gyre_kernel_setting(target, "timing_every");
}

/* As many as messages that are timed fit into the ring: an entry is used again when its message's slot is. */
static uint32_t places_of(const struct gyre_link *link, uint32_t every)
{
    return link->capacity > every ? (uint32_t)link->capacity / every : 1;
}

uint64_t gyre_link_times_size(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const uint32_t every = timed_every(pipeline, link);
    if (!every)
        return 0;
    return gyre_whole_lines(sizeof(gyre_link_times) + places_of(link, every) * sizeof(gyre_link_sent));
}

gyre_status gyre_link_times_write(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                  const struct gyre_link_store *store, uint32_t rings)
{
    const uint64_t size = gyre_link_times_size(pipeline, link);
    const uint32_t every = timed_every(pipeline, link);
    const gyre_link_times head = {.every = every, .places = places_of(link, every ? every : 1)};
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < rings && size && status == GYRE_OK; i++)
        status =
            gyre_link_store_write(store, link->times + i * size, &head, offsetof(gyre_link_times, sum_ns));
    return status;
}

gyre_status gyre_link_times_peek(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                 const struct gyre_link_store *store, uint32_t rings,
                                 gyre_observe_histogram *out)
{
    const uint64_t size = gyre_link_times_size(pipeline, link);
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < rings && size && status == GYRE_OK; i++) {
        gyre_link_times times;
        status =
            gyre_link_store_peek(store, link->times + i * size, (uint64_t *)(void *)&times, sizeof times);
        if (status != GYRE_OK)
            break;
        out->sum_ns += times.sum_ns;
        for (uint32_t bucket = 0; bucket < GYRE_TIMES_BUCKETS; bucket++)
            out->buckets[bucket] += times.buckets[bucket];
    }
    return status;
}
