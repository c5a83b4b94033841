/* SPDX-License-Identifier: Apache-2.0 */
/* What is written to a journal when its disk refuses now and then, and when it lags far behind: read, it says what was. */
#include <string.h>

#include "../../patience.h"
#include "core/base/error.h"
#include "core/journal/journal.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/side.h"
#include "core/queue/state.h"
#include "core/ring/ring.h"
#include "core/stages/expiry.h"
#include "core/stages/log.h"
#include "unit/ring/ring_device.h"
#include "unit/unit.h"

/* ---- a disk in memory ---- */

static struct gyre_bytes bytes;
static size_t behind; /* bytes of it that the next append goes over */
static bool refuses;

static gyre_status append(void *context, const void *more, size_t size, size_t tail)
{
    (void)context;
    if (refuses)
        return gyre_error_set(GYRE_FAILED, "the disk refuses");
    bytes.size -= behind;
    ck_assert_ptr_nonnull(gyre_bytes_add(&bytes, more, size));
    behind = tail;
    return GYRE_OK;
}

static gyre_status sync_nothing(void *context)
{
    (void)context;
    return GYRE_OK;
}

static gyre_status begin_anew(void *context)
{
    (void)context;
    bytes.size = behind = 0;
    return GYRE_OK;
}

static gyre_status end_anew(void *context, bool keep)
{
    (void)context;
    ck_assert(keep);
    return GYRE_OK;
}

static const struct gyre_journal_disk disk = {append, sync_nothing, begin_anew, end_anew};

static struct ring_device device;
static struct gyre_journal journal;

static void begin_with(struct gyre_queue_options options, uint32_t words, uint64_t log_entries)
{
    refuses = false;
    ring_device_start(&device, options, words);
    ck_assert_int_eq(gyre_queue_log_create(device.queue, gyre_queue_log_bytes(device.queue, log_entries)),
                     GYRE_OK);
    ck_assert_int_eq(gyre_journal_init(&journal, &disk, NULL, device.queue), GYRE_OK);
}

static void begin(uint64_t capacity, uint32_t words, uint64_t log_entries)
{
    struct gyre_queue_options options = ring_options();
    options.capacity = capacity;
    begin_with(options, words, log_entries);
}

static void end(void)
{
    ring_device_stop(&device);
    gyre_journal_release(&journal);
    gyre_queue_log_destroy(device.queue);
    ring_device_finish(&device);
    gyre_bytes_release(&bytes);
}

static struct gyre_journal_content read_back(void)
{
    struct gyre_journal_content content;
    ck_assert_msg(gyre_journal_read(bytes.data, bytes.size, &content) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(content.lost, 0);
    return content;
}

/* ---- far behind ---- */

/*
 * More than a group takes was sent and received since: a group says of no reply that it was taken whose request stands in the
 * next.
 */
START_TEST(no_reply_is_noted_before_its_request)
{
    enum { COUNT = 128, WORDS = 8000 };
    static uint64_t message[WORDS];
    const uint64_t deadline = gyre_now_ns() + patiently(UINT64_C(30000000000));
    bool more = true;
    begin(COUNT, WORDS, 0);
    ck_assert_int_eq(gyre_journal_renew(&journal, device.queue, NULL), GYRE_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        message[0] = i;
        ck_assert_int_eq(gyre_send(device.queue, message, sizeof message, NULL, deadline), GYRE_OK);
    }
    for (uint64_t i = 0; i < COUNT; i++)
        ck_assert_int_eq(gyre_receive(device.queue, message, sizeof message, NULL, deadline), GYRE_OK);
    for (int groups = 0; more; groups++) {
        ck_assert_int_eq(gyre_journal_gather(&journal, device.queue, &more), GYRE_OK);
        ck_assert(more || groups > 0); /* else there is nothing to be seen */
        struct gyre_journal_content content = read_back();
        ck_assert(content.received == content.sent && content.sent == journal.sent);
        for (uint64_t i = 0; i < content.sent; i++)
            ck_assert_int_eq(memcmp(content.requests[i].payload, &i, sizeof i), 0);
        gyre_journal_content_release(&content);
    }
    ck_assert_uint_eq(journal.sent, COUNT);
    end();
}
END_TEST

/* ---- a disk that refuses ---- */

static void take(struct gyre_store *store, size_t place, unsigned char value)
{
    const unsigned char *last = gyre_store_last(store);
    unsigned char *next = gyre_store_next(store);
    memset(next, 0, store->size);
    if (last)
        memcpy(next, last, store->size);
    next[place] = value;
    gyre_store_seal(store);
    gyre_store_commit(store);
    gyre_queue_log_look(device.queue);
    gyre_queue_log_commit(device.queue, 1);
}

/* Only what changed is written; what changed in the one that the disk refused is part of the next. */
START_TEST(what_a_refused_checkpoint_changed_is_in_the_next_one)
{
    struct gyre_store store;
    begin(8, 1, 8);
    ck_assert_int_eq(gyre_store_create(3 * GYRE_STORE_BLOCK, &store), GYRE_OK);
    journal.open.state_size = store.size;
    take(&store, 0, 1);
    ck_assert_int_eq(gyre_journal_renew(&journal, device.queue, &store), GYRE_OK);
    take(&store, GYRE_STORE_BLOCK, 2);
    refuses = true;
    ck_assert_int_eq(gyre_journal_checkpoint(&journal, device.queue, &store, false), GYRE_FAILED);
    refuses = false;
    take(&store, 2 * GYRE_STORE_BLOCK, 3);
    ck_assert_int_eq(gyre_journal_checkpoint(&journal, device.queue, &store, false), GYRE_OK);
    struct gyre_journal_content content = read_back();
    ck_assert(content.state && memcmp(content.state, gyre_store_last(&store), store.size) == 0);
    gyre_journal_content_release(&content);
    const size_t before = bytes.size;
    take(&store, 2 * GYRE_STORE_BLOCK, 4);
    ck_assert_int_eq(gyre_journal_checkpoint(&journal, device.queue, &store, false), GYRE_OK);
    ck_assert_uint_lt(bytes.size - before, 2 * GYRE_STORE_BLOCK); /* the one block that changed */
    content = read_back();
    ck_assert(content.state && memcmp(content.state, gyre_store_last(&store), store.size) == 0);
    gyre_journal_content_release(&content);
    gyre_store_destroy(&store);
    end();
}
END_TEST

/* ---- replies that nobody looked at ---- */

/* The device knows of a wrong length alone; the receiver, who would have made that "expired", comes in the next life. */
START_TEST(what_expired_before_anybody_looked_is_kept_as_that)
{
    struct gyre_queue_options options = ring_options();
    gyre_failure failure;
    options.header_size = sizeof(gyre_header);
    begin_with(options, 8, 8);
    ring_device_hold(&device, true);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t message[8] = {i};
        ck_assert_int_eq(gyre_send(device.queue, message, sizeof message, NULL, gyre_in_ms(patiently(2000))),
                         GYRE_OK);
    }
    gyre_producer_take(device.queue);
    gyre_expiry_take_back(device.queue, 0);
    gyre_producer_give(device.queue);
    for (uint64_t i = 0; i < 2; i++)
        gyre_queue_fail(device.queue, i, GYRE_FAILURE_LENGTH, "a wrong length");
    gyre_queue_log_look(device.queue);
    gyre_queue_log_commit(device.queue, 1);
    ck_assert_int_eq(gyre_journal_renew(&journal, device.queue, NULL), GYRE_OK);
    ck_assert_int_eq(gyre_journal_checkpoint(&journal, device.queue, NULL, true), GYRE_OK);
    struct gyre_journal_content content = read_back();
    ck_assert_uint_eq(content.sent, 2);
    for (uint64_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(content.replies[i].info, GYRE_OUTCOME_FAILED);
        ck_assert_uint_eq(content.replies[i].length, sizeof failure);
        memcpy(&failure, content.replies[i].payload, sizeof failure);
        ck_assert_int_eq(failure.code, i == 0 ? GYRE_FAILURE_EXPIRED : GYRE_FAILURE_LENGTH);
    }
    gyre_journal_content_release(&content);
    end();
}
END_TEST

/* ---- what is offered again ---- */

/* It may have been handled before the program died, and the state may say so. */
START_TEST(what_is_offered_again_has_no_deadline)
{
    enum { DAY_NS_LOG = 46 }; /* 2^46 ns are 19 hours */
    struct gyre_queue_options options = ring_options();
    struct ring_device next;
    options.header_size = sizeof(gyre_header);
    options.ttl_ns = UINT64_C(1) << DAY_NS_LOG;
    begin_with(options, 8, 8);
    ring_device_hold(&device, true);
    for (uint64_t i = 0; i < 2; i++) { /* of the queue's time to live, and of the sender's deadline */
        const uint64_t message[8] = {i};
        const gyre_header header = {.deadline_ns = i * (gyre_now_ns() + options.ttl_ns)};
        ck_assert_int_eq(
            gyre_send_with(device.queue, message, sizeof message, &header, NULL, gyre_in_ms(patiently(2000))),
            GYRE_OK);
    }
    ck_assert_int_eq(gyre_journal_renew(&journal, device.queue, NULL), GYRE_OK);
    struct gyre_journal_content content = read_back();
    ring_device_start(&next, options, 8);
    ring_device_hold(&next, true);
    ck_assert_int_eq(gyre_queue_log_create(next.queue, gyre_queue_log_bytes(next.queue, 8)), GYRE_OK);
    ck_assert_int_eq(gyre_journal_restore(&content, next.queue), GYRE_OK);
    ck_assert_uint_eq(gyre_queue_next_index(next.queue), 2);
    gyre_producer_take(next.queue);
    struct gyre_due due = {.until = UINT64_MAX};
    gyre_expiry_attend(next.queue, gyre_now_ns() + 2 * options.ttl_ns, &due);
    gyre_producer_give(next.queue);
    ck_assert_uint_eq(due.until, UINT64_MAX);
    for (uint64_t i = 0; i < 2; i++)
        ck_assert_uint_eq(gyre_request_slot(gyre_ring_of(next.queue), i)->length, 64);
    ck_assert_uint_ne(gyre_expiry_deadline(next.queue, 1), 0); /* of what is sent from now on */
    ring_device_stop(&next);
    gyre_queue_log_destroy(next.queue);
    ring_device_finish(&next);
    gyre_journal_content_release(&content);
    end();
}
END_TEST

/* A file may say any size of its requests: they would lie over other slots, and behind the ring. */
START_TEST(requests_that_are_longer_than_the_queues_are_refused)
{
    struct ring_device next;
    const uint64_t message[8] = {1};
    begin_with(ring_options(), 8, 8);
    ring_device_hold(&device, true);
    ck_assert_int_eq(gyre_send(device.queue, message, sizeof message, NULL, gyre_in_ms(patiently(2000))),
                     GYRE_OK);
    ck_assert_int_eq(gyre_journal_renew(&journal, device.queue, NULL), GYRE_OK);
    struct gyre_journal_content content = read_back();
    ring_device_start(&next, ring_options(), 4);
    ring_device_hold(&next, true);
    ck_assert_int_eq(gyre_queue_log_create(next.queue, gyre_queue_log_bytes(next.queue, 8)), GYRE_OK);
    ck_assert_int_eq(gyre_journal_restore(&content, next.queue), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "holds request 0 of 64 bytes, and the queue's have 32"));
    ck_assert_uint_eq(gyre_queue_next_index(next.queue), 0);
    ring_device_stop(&next);
    gyre_queue_log_destroy(next.queue);
    ring_device_finish(&next);
    gyre_journal_content_release(&content);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal");
    TCase *tcase = tcase_create("journal");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, no_reply_is_noted_before_its_request);
    tcase_add_test(tcase, what_a_refused_checkpoint_changed_is_in_the_next_one);
    tcase_add_test(tcase, what_expired_before_anybody_looked_is_kept_as_that);
    tcase_add_test(tcase, what_is_offered_again_has_no_deadline);
    tcase_add_test(tcase, requests_that_are_longer_than_the_queues_are_refused);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
