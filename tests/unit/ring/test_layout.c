/* SPDX-License-Identifier: Apache-2.0 */
/* What lies where in a queue's region: one behind the other, in lines of its own, whatever a queue has of it. */
#include "unit/unit.h"

#include "core/ring/bytes.h"
#include "core/ring/layout.h"
#include "core/ring/ring_options.h"
#include "core/ring/slot.h"

enum { TIMED = 1, HEADED = 2, SEALED = 4, EXPRESS = 8, BRIDGED = 16, ALL = 32 };

static struct gyre_queue_options options_of(unsigned what, uint64_t capacity, uint32_t header)
{
    const bool bridged = (what & BRIDGED) != 0, express = !bridged && (what & EXPRESS);
    return (struct gyre_queue_options){.capacity = capacity,
                                       .request_size = 1000,
                                       .reply_size = 200,
                                       .first_sequence = 77,
                                       .timed = (what & TIMED) != 0,
                                       .header_size = what & (HEADED | SEALED) ? header : 0,
                                       .sealed = (what & SEALED) != 0,
                                       .express = express,
                                       .express_replies = express,
                                       .bridged_requests = bridged,
                                       .bridged_replies = bridged,
                                       .tracks = bridged ? 3 : 0};
}

/* `size` bytes lie at `offset`, not before what came last, which ends there. */
static void ck_piece(uint64_t *end, uint64_t offset, uint64_t size)
{
    ck_assert_uint_eq(offset % GYRE_LINE_SIZE, 0);
    ck_assert_uint_ge(offset, *end);
    ck_assert_uint_lt(offset - *end, GYRE_LINE_SIZE); /* and nothing is left out */
    *end = offset + size;
}

static void ck_layout(const struct gyre_queue_options *options)
{
    gyre_queue_shape shape;
    gyre_queue_slots slots;
    struct gyre_queue_cost cost;
    gyre_bridge bridge;
    uint64_t end = sizeof(gyre_queue_region);
    const uint64_t capacity = options->capacity;
    gyre_queue_lay_out(options, &shape, &slots);
    const uint64_t lines = slots.express_requests + slots.express_replies;
    ck_assert_uint_eq(lines, options->express ? GYRE_EXPRESS_LINES(1000) + GYRE_EXPRESS_LINES(200) : 0);
    ck_piece(&end, slots.request_offset - lines * sizeof(gyre_express_line),
             lines * sizeof(gyre_express_line) + capacity * slots.request_stride);
    ck_piece(&end, slots.reply_offset, capacity * slots.reply_stride);
    if (options->timed)
        ck_piece(&end, slots.stamps_offset, capacity * sizeof(gyre_stamp));
    if (options->header_size)
        ck_piece(&end, slots.headers_offset, capacity * options->header_size);
    if (options->sealed)
        ck_piece(&end, GYRE_SEALS_OFFSET(&slots), 2 * GYRE_SEALS_ROUND(capacity) * sizeof(gyre_u32));
    ck_assert_uint_eq(shape.region_size, gyre_whole_lines(end));
    ck_assert(shape.request_offset == slots.request_offset && shape.reply_offset == slots.reply_offset);
    ck_assert(slots.capacity == capacity && slots.sealed == options->sealed && shape.first == 77);
    gyre_queue_measure(options, &cost);
    gyre_bytes_plan(options, &shape, &bridge);
    if (options->bridged_requests)
        ck_piece(&end, bridge.words_offset, 1);
    ck_assert_uint_eq(cost.memory, shape.region_size);
}

START_TEST(what_a_queue_has_lies_in_its_region_piece_by_piece)
{
    for (unsigned what = 0; what < ALL; what++)
        for (uint64_t capacity = 1; capacity <= 64; capacity *= 2)
            for (uint32_t header = 16; header <= 64; header += 16) {
                const struct gyre_queue_options options = options_of(what, capacity, header);
                ck_layout(&options);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tcase = tcase_create("layout");
    tcase_add_test(tcase, what_a_queue_has_lies_in_its_region_piece_by_piece);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
