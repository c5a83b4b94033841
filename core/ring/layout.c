/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out a queue's region and computes its size (layout.h). Only this file decides, for callers that make a region, that
 * open one, or that ask for its size beforehand. A device learns the places from gyre_queue_slots and gyre_bridge. No
 * state.
 */
#include "core/ring/layout.h"

#include "core/ring/bytes.h"
#include "core/ring/told_times.h"

/* The bytes from slot to slot. A slot of a bridged direction (messages stored back to back) is one cache line: it holds a
 * message that fits, or says where the message lies. */
static uint32_t layout_stride(uint32_t payload, bool bridged)
{
    return gyre_slot_stride(bridged ? GYRE_SLOT_SMALL_PAYLOAD : payload);
}

/* Appends `size` bytes, in whole cache lines, to a region that ends at *end; returns where they begin. */
static uint64_t region_carve(uint64_t *end, uint64_t size)
{
    const uint64_t offset = *end;
    *end = gyre_whole_lines(offset + size);
    return offset;
}

static void count_express_lines(const struct gyre_queue_options *options, gyre_queue_slots *slots)
{
    if (options->express)
        slots->express_requests = (gyre_u8)GYRE_EXPRESS_LINES(options->request_size);
    if (options->express_replies)
        slots->express_replies = (gyre_u8)GYRE_EXPRESS_LINES(options->reply_size);
}

bool gyre_layout_tells_times(const struct gyre_queue_options *options)
{
    return options->timed && options->times_told;
}

uint64_t gyre_layout_told_times(const gyre_queue_shape *shape)
{
    return shape->region_size - gyre_whole_lines(sizeof(struct gyre_told_times));
}

/* Sets the places of slots, headers and seals in the region; returns the region's size. */
static uint64_t lay_out(const struct gyre_queue_options *options, gyre_queue_slots *slots)
{
    const uint64_t capacity = options->capacity;
    uint64_t end = sizeof(gyre_queue_region);
    *slots =
        (gyre_queue_slots){.capacity = capacity,
                           .request_stride = layout_stride(options->request_size, options->bridged_requests),
                           .reply_stride = layout_stride(options->reply_size, options->bridged_replies)};
    if (options->lent && !options->trusted)
        slots->foreign = GYRE_FOREIGN_RING | GYRE_FOREIGN_REPLIES;
    else if (options->lent || options->passed_on)
        slots->foreign = GYRE_FOREIGN_REPLIES;
    count_express_lines(options, slots);
    region_carve(&end, (slots->express_requests + slots->express_replies) * sizeof(gyre_express_line));
    slots->request_offset = region_carve(&end, capacity * slots->request_stride);
    slots->reply_offset = region_carve(&end, capacity * slots->reply_stride);
    if (options->timed)
        slots->stamps_offset = region_carve(&end, capacity * sizeof(gyre_stamp));
    if (options->header_size) {
        slots->header_size = options->header_size;
        slots->headers_offset = region_carve(&end, capacity * options->header_size);
    }
    if (options->sealed) { /* right behind the headers, where GYRE_SEALS_OFFSET finds them */
        slots->sealed = 1;
        region_carve(&end, 2 * GYRE_SEALS_ROUND(capacity) * sizeof(gyre_u32));
    }
    if (gyre_layout_tells_times(options)) /* last, where gyre_layout_told_times finds them */
        region_carve(&end, sizeof(struct gyre_told_times));
    return end;
}

void gyre_queue_lay_out(const struct gyre_queue_options *options, gyre_queue_shape *shape,
                        gyre_queue_slots *slots)
{
    const uint64_t end = lay_out(options, slots);
    *shape = (gyre_queue_shape){.magic = GYRE_QUEUE_MAGIC,
                                .version = 1,
                                .capacity = options->capacity,
                                .request_stride = slots->request_stride,
                                .reply_stride = slots->reply_stride,
                                .request_size = options->request_size,
                                .reply_size = options->reply_size,
                                .request_offset = slots->request_offset,
                                .reply_offset = slots->reply_offset,
                                .region_size = end,
                                .first = options->first_sequence};
}

void gyre_queue_measure(const struct gyre_queue_options *options, struct gyre_queue_cost *cost)
{
    gyre_queue_shape shape;
    gyre_queue_slots slots;
    gyre_bridge bridge;
    gyre_queue_lay_out(options, &shape, &slots);
    const uint64_t without = shape.region_size;
    gyre_bytes_plan(options, &shape, &bridge);
    *cost = (struct gyre_queue_cost){
        .capacity = options->capacity,
        .request_size = options->request_size,
        .reply_size = options->reply_size,
        .request_stride = shape.request_stride,
        .reply_stride = shape.reply_stride,
        .slots = options->capacity * (shape.request_stride + shape.reply_stride),
        .headers = options->capacity * options->header_size,
        .bridged = shape.region_size - without,
        .memory = shape.region_size,
    };
}
