/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, opens and frees the memory of rings (ring.h). layout.c and bytes.c decide where messages lie in it. */
#include "core/ring/ring_make.h"

#include "core/base/error.h"
#include "core/ring/bytes.h"
#include "core/ring/layout.h"

/* Fills in the first lines of a new region: its shape, and the words of the host. */
static void region_write(gyre_queue_region *shared, const struct gyre_queue_options *options,
                         const gyre_queue_shape *shape)
{
    shared->shape = *shape;
    shared->host.drop_before = options->first_sequence;
    shared->host.parks = options->idle == GYRE_WAIT_PARK;
    shared->claim.next = options->first_sequence;
}

static void ring_adopt(struct gyre_ring *ring, const gyre_queue_slots *slots,
                       const struct gyre_queue_options *options)
{
    unsigned char *base = ring->region.address;
    ring->shared = ring->region.address;
    ring->slots = *slots;
    ring->requests = base + slots->request_offset;
    ring->replies = base + slots->reply_offset;
    if (options->express)
        ring->express = (gyre_express_line *)(void *)ring->requests - slots->express_requests;
    if (options->express_replies)
        ring->express_replies = ring->express - slots->express_replies;
    if (slots->header_size)
        ring->headers = base + slots->headers_offset;
    if (slots->sealed)
        ring->seals = (gyre_u32 *)(void *)(base + GYRE_SEALS_OFFSET(slots));
}

static void ring_describe(struct gyre_ring *ring, const struct gyre_queue_options *options,
                          const uint64_t *received)
{
    ring->control = options->control;
    ring->capacity = options->capacity;
    ring->mask = options->capacity - 1;
    ring->request_size = options->request_size;
    ring->reply_size = options->reply_size;
    ring->request_least = options->request_least;
    ring->first_sequence = options->first_sequence;
    ring->received = received;
}

gyre_status gyre_ring_create(struct gyre_ring *ring, const struct gyre_queue_options *options, int descriptor,
                             const char *label, const uint64_t *received)
{
    gyre_queue_shape shape;
    gyre_queue_slots slots;
    gyre_bridge bytes;
    ring_describe(ring, options, received);
    if (options->capacity > SIZE_MAX / (2 * (GYRE_PAYLOAD_MAX + (uint64_t)GYRE_LINE_SIZE)))
        return gyre_error_set(GYRE_EXHAUSTED, "%s: a capacity of %llu slots is more than any machine holds",
                              label, (unsigned long long)options->capacity);
    gyre_queue_lay_out(options, &shape, &slots);
    const uint64_t told_times = gyre_layout_told_times(&shape);
    gyre_bytes_plan(options, &shape, &bytes);
    gyre_status status = descriptor < 0
                             ? gyre_region_create(label, shape.region_size, &ring->region)
                             : gyre_region_open(label, descriptor, shape.region_size, &ring->region);
    if (status != GYRE_OK)
        return status;
    if (descriptor < 0)
        region_write(ring->region.address, options, &shape);
    ring_adopt(ring, &slots, options);
    if (gyre_layout_tells_times(options))
        ring->told_times = (void *)((unsigned char *)ring->region.address + told_times);
    return bytes.words_offset ? gyre_bytes_create(ring, &bytes) : GYRE_OK;
}

void gyre_ring_destroy(struct gyre_ring *ring)
{
    gyre_bytes_destroy(ring->bytes);
    ring->bytes = NULL;
    gyre_region_destroy(&ring->region);
}
