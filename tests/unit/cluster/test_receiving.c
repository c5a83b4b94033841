/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of a cluster that its client receives together. The linker sends the reads of the code under test here (--wrap). */
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/client.h"
#include "core/transport/transport.h"
#include "unit/unit.h"

enum { SHARDS = 2, PLACES = 16, BLOCKS_MAX = 4, BLOCK_SIZE = 1024, ROOM = 12 };

gyre_status __wrap_gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                       void *bytes, size_t room, size_t *byte_count, uint64_t *number);
gyre_status __wrap_gyre_transport_wait(struct gyre_transport *transport, const char *log, uint64_t after,
                                       uint64_t deadline_ns);

/* The client's log, and the client. */
static unsigned char blocks[BLOCKS_MAX][BLOCK_SIZE];
static size_t sizes[BLOCKS_MAX], block_count;
static struct gyre_cluster cluster;
static struct gyre_client_shard shards[SHARDS];
static uint64_t indices[SHARDS][PLACES];
static uint32_t unsettled[SHARDS];

/* What the client received. */
static uint64_t replies[ROOM];
static gyre_completion completions[ROOM];
static size_t received;

gyre_status __wrap_gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                       void *bytes, size_t room, size_t *byte_count, uint64_t *number)
{
    (void)transport;
    (void)log;
    (void)room;
    if (after >= block_count)
        return GYRE_AGAIN;
    memcpy(bytes, blocks[after], sizes[after]);
    *byte_count = sizes[after];
    *number = after + 1;
    return GYRE_OK;
}

gyre_status __wrap_gyre_transport_wait(struct gyre_transport *transport, const char *log, uint64_t after,
                                       uint64_t deadline_ns)
{
    (void)transport;
    (void)log;
    (void)deadline_ns;
    return after < block_count ? GYRE_OK : GYRE_TIMEOUT;
}

/* Ten requests to each shard are unanswered; request `number` of shard 1 has the index 100 + number. */
static void open_client(void)
{
    block_count = received = 0;
    cluster = (struct gyre_cluster){.app.shards = SHARDS,
                                    .shards = shards,
                                    .unsettled = unsettled,
                                    .unanswered = 20,
                                    .replies = malloc(GYRE_TRANSPORT_BLOCK_MAX)};
    cluster.kept_end = &cluster.kept;
    ck_assert_ptr_nonnull(cluster.replies);
    pthread_mutex_init(&cluster.lock, NULL);
    for (uint32_t i = 0; i < SHARDS; i++) {
        shards[i] = (struct gyre_client_shard){.next = 11, .indices = indices[i], .room = PLACES};
        for (uint64_t number = 1; number <= 10; number++)
            indices[i][number & (PLACES - 1)] = 100 * i + number;
    }
}

static void close_client(void)
{
    pthread_mutex_destroy(&cluster.lock);
    free(cluster.replies);
}

/* A block with the replies to requests `first` to `last` of a shard, each of which is the request's number. */
static void publish(uint32_t shard, uint64_t first, uint64_t last, uint32_t reply_size)
{
    const unsigned char contents[64] = {0};
    unsigned char *block = blocks[block_count];
    const struct gyre_cluster_replies head = {.shard = shard, .count = (uint32_t)(last - first + 1)};
    size_t at = sizeof head;
    memcpy(block, &head, sizeof head);
    for (uint64_t number = first; number <= last; number++) {
        const struct gyre_cluster_message message = {
            .length = reply_size, .outcome = GYRE_REPLIED, .number = number};
        at = gyre_cluster_message_add(block, at, &message,
                                      reply_size == sizeof number ? (const void *)&number : contents);
    }
    gyre_block_seal(block, at, GYRE_BLOCK_REPLIES);
    sizes[block_count++] = at;
}

static gyre_status receive(size_t count)
{
    return gyre_cluster_receive_batch(&cluster, replies, sizeof replies[0], count, completions, &received,
                                      GYRE_NO_WAIT);
}

/* The last call received the replies to requests `first` to `last` of a shard, and nothing else. */
static void check_received(uint32_t shard, uint64_t first, uint64_t last)
{
    ck_assert_uint_eq(received, last - first + 1);
    for (size_t i = 0; i < received; i++) {
        ck_assert_uint_eq(replies[i], first + i);
        ck_assert_uint_eq(completions[i].index, 100 * shard + first + i);
        ck_assert_int_eq(completions[i].outcome, GYRE_REPLIED);
        ck_assert_uint_eq(completions[i].length, sizeof replies[0]);
    }
}

START_TEST(what_is_at_hand_comes_together)
{
    open_client();
    publish(1, 1, 5, sizeof replies[0]);
    publish(0, 1, 2, sizeof replies[0]);
    ck_assert_int_eq(receive(3), GYRE_OK);
    check_received(1, 1, 3);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(1, 4, 5);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(0, 1, 2);
    ck_assert_uint_eq(cluster.unanswered, 13);
    ck_assert_int_eq(receive(ROOM), GYRE_AGAIN);
    ck_assert_uint_eq(received, 0);
    ck_assert_int_eq(receive(0), GYRE_OK);
    ck_assert_uint_eq(received, 0);
    close_client();
}
END_TEST

START_TEST(replies_that_came_before_are_passed_over)
{
    open_client();
    publish(1, 1, 3, sizeof replies[0]);
    publish(1, 2, 6, sizeof replies[0]);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(1, 1, 3);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(1, 4, 6);
    close_client();
}
END_TEST

START_TEST(a_reply_without_room_comes_alone_and_stays)
{
    unsigned char larger[64];
    open_client();
    publish(1, 1, 2, sizeof replies[0]);
    publish(1, 3, 3, sizeof larger);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(1, 1, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(receive(ROOM), GYRE_INVALID);
        ck_assert_uint_eq(received, 0);
    }
    ck_assert_int_eq(
        gyre_cluster_receive_batch(&cluster, larger, sizeof larger, 1, completions, &received, GYRE_NO_WAIT),
        GYRE_OK);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(completions[0].index, 103);
    close_client();
}
END_TEST

START_TEST(a_reply_to_what_was_not_sent_is_told_behind_those_before_it)
{
    open_client();
    publish(1, 1, 11, sizeof replies[0]);
    ck_assert_int_eq(receive(ROOM), GYRE_OK);
    check_received(1, 1, 10);
    ck_assert_int_eq(receive(ROOM), GYRE_INCOMPATIBLE);
    ck_assert_uint_eq(received, 0);
    close_client();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("receiving");
    TCase *tcase = tcase_create("batches");
    tcase_add_test(tcase, what_is_at_hand_comes_together);
    tcase_add_test(tcase, replies_that_came_before_are_passed_over);
    tcase_add_test(tcase, a_reply_without_room_comes_alone_and_stays);
    tcase_add_test(tcase, a_reply_to_what_was_not_sent_is_told_behind_those_before_it);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
