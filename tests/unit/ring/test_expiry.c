/* SPDX-License-Identifier: Apache-2.0 */
/* A request that was taken back: its bytes and its length, which dead letters and recordings tell, and that it is not handled again. */
#include <stdlib.h>
#include <string.h>

#include "core/queue/life.h"
#include "core/queue/resume.h"
#include "core/queue/side.h"
#include "core/ring/ready.h"
#include "core/ring/ring_message.h"
#include "core/ring/slot.h"
#include "core/stages/again.h"
#include "core/stages/expiry.h"
#include "core/stages/make.h"
#include "ring_device.h"
#include "unit/unit.h"

enum { MOST = 256, LEAST = 8 };

static gyre_control_region *control;

static gyre_queue *make_queue(bool bridged)
{
    gyre_queue *queue = NULL;
    struct gyre_queue_options options = ring_options();
    options.request_size = options.reply_size = MOST;
    options.request_least = options.reply_least = LEAST;
    options.bridged_requests = options.bridged_replies = bridged;
    options.tracks = bridged;
    options.header_size = sizeof(gyre_header);
    options.ttl_ns = UINT64_C(3600) * 1000000000;
    options.sealed = !bridged;
    control = aligned_alloc(GYRE_LINE_SIZE, sizeof *control);
    memset(control, 0, sizeof *control);
    options.control = control;
    ck_assert_msg(gyre_queue_create(&options, &queue) == GYRE_OK, "%s", gyre_error_text());
    return queue;
}

/* No device is there: the requests stay where they are. */
static void ck_keeps_its_bytes(bool bridged, uint32_t length)
{
    unsigned char bytes[MOST];
    gyre_queue *queue = make_queue(bridged);
    const struct gyre_ring *ring = gyre_ring_of(queue);
    uint64_t index;
    memset(bytes, 0xa5, sizeof bytes);
    memcpy(bytes, &length, sizeof length);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(gyre_send(queue, bytes, sizeof bytes, &index, GYRE_NO_WAIT) == GYRE_OK, "%s",
                      gyre_error_text());
        gyre_producer_take(queue);
        gyre_expiry_take_back(queue, index);
        gyre_producer_give(queue);
        ck_assert_uint_gt(gyre_slot_length(gyre_request_slot(ring, index)), MOST);
        ck_assert_uint_eq(gyre_queue_request_length(queue, index), length);
        ck_assert_mem_eq(gyre_request_payload(ring, gyre_request_slot(ring, index)), bytes, length);
    }
    gyre_queue_destroy(queue);
    free(control);
}

START_TEST(a_request_that_was_taken_back_keeps_its_bytes)
{
    ck_keeps_its_bytes(false, 40);
    ck_keeps_its_bytes(false, 200);
    ck_keeps_its_bytes(true, 40);
    ck_keeps_its_bytes(true, 200);
}
END_TEST

START_TEST(a_length_that_a_worker_wrote_is_not_believed)
{
    const uint32_t written = UINT32_C(0x10000000);
    unsigned char bytes[MOST] = {40};
    gyre_queue *queue = make_queue(false);
    uint64_t index;
    ck_assert_int_eq(gyre_send(queue, bytes, sizeof bytes, &index, GYRE_NO_WAIT), GYRE_OK);
    gyre_request_slot(gyre_ring_of(queue), index)->length = written;
    gyre_producer_take(queue);
    gyre_expiry_take_back(queue, index);
    gyre_producer_give(queue);
    ck_assert_uint_le(gyre_queue_request_length(queue, index), MOST);
    gyre_queue_destroy(queue);
    free(control);
}
END_TEST

/* The third request is damaged, the second is late. */
START_TEST(what_is_late_or_damaged_is_not_handled_again)
{
    unsigned char bytes[MOST] = {40}, copy[MOST];
    struct gyre_logged_request request = {.payload = copy};
    gyre_queue *queue = make_queue(false);
    const struct gyre_ring *ring = gyre_ring_of(queue);
    uint64_t index[3];
    gyre_completion completion;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(gyre_send(queue, bytes, sizeof bytes, &index[i], GYRE_NO_WAIT), GYRE_OK);
    gyre_producer_take(queue);
    gyre_expiry_take_back(queue, index[1]);
    gyre_producer_give(queue);
    ((unsigned char *)(gyre_request_slot(ring, index[2]) + 1))[20] ^= 1;
    ck_assert(gyre_again_read(queue, index[0], &request));
    ck_assert_uint_eq(request.length, 40);
    ck_assert_mem_eq(copy, bytes, 40);
    ck_assert(!gyre_reply_ready(ring, index[0]));
    for (int i = 1; i < 3; i++)
        ck_assert(!gyre_again_read(queue, index[i], &request) && gyre_reply_ready(ring, index[i]));
    gyre_queue_fail(queue, index[0], GYRE_FAILURE_CRASH, "not handled here");
    for (int i = 0; i < 3; i++) {
        const int codes[] = {GYRE_FAILURE_CRASH, GYRE_FAILURE_EXPIRED, GYRE_FAILURE_SEAL};
        ck_assert_int_eq(gyre_receive(queue, copy, sizeof copy, &completion, GYRE_NO_WAIT), GYRE_OK);
        ck_assert_int_eq(completion.outcome, GYRE_HANDLER_FAILED);
        ck_assert_int_eq(completion.failure_code, codes[i]);
    }
    gyre_queue_destroy(queue);
    free(control);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expiry");
    TCase *tcase = tcase_create("expiry");
    tcase_add_test(tcase, a_request_that_was_taken_back_keeps_its_bytes);
    tcase_add_test(tcase, a_length_that_a_worker_wrote_is_not_believed);
    tcase_add_test(tcase, what_is_late_or_damaged_is_not_handled_again);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
