/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a cluster's client without memory to keep them: what may have been sent is never told to be there. The linker sends the
 * allocations and the transport's calls of the code under test here (--wrap).
 */
#include "core/base/error.h"
#include "core/cluster/client.h"
#include "core/transport/transport.h"
#include "gyre/waiting.h"
#include "unit/unit.h"

enum { REQUEST = 8 };

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
gyre_status __wrap_gyre_transport_append(struct gyre_transport *transport, const char *log,
                                         const gyre_transport_block *block, uint64_t *number);
void __wrap_gyre_transport_append_each(struct gyre_transport *transport, gyre_transport_entry *entries,
                                       size_t count);
gyre_status __wrap_gyre_transport_begin(struct gyre_transport *transport, gyre_transport_entry *entries,
                                        size_t count, gyre_transport_ticket **ticket);
void __wrap_gyre_transport_drop(struct gyre_transport *transport, gyre_transport_ticket *ticket);

static bool is_out_of_memory;
static gyre_status answer; /* of the transport */
static int begun;

void *__wrap_malloc(size_t size)
{
    return is_out_of_memory ? NULL : __real_malloc(size);
}

gyre_status __wrap_gyre_transport_append(struct gyre_transport *transport, const char *log,
                                         const gyre_transport_block *block, uint64_t *number)
{
    (void)transport;
    (void)log;
    (void)block;
    (void)number;
    return answer;
}

void __wrap_gyre_transport_append_each(struct gyre_transport *transport, gyre_transport_entry *entries,
                                       size_t count)
{
    (void)transport;
    for (size_t i = 0; i < count; i++)
        entries[i].status = answer;
}

gyre_status __wrap_gyre_transport_begin(struct gyre_transport *transport, gyre_transport_entry *entries,
                                        size_t count, gyre_transport_ticket **ticket)
{
    (void)transport;
    (void)entries;
    (void)count;
    *ticket = NULL;
    begun++;
    return GYRE_OK;
}

void __wrap_gyre_transport_drop(struct gyre_transport *transport, gyre_transport_ticket *ticket)
{
    (void)transport;
    (void)ticket;
}

static void send_without_memory(bool goes_ahead, gyre_status sent, gyre_status settled)
{
    struct gyre_client_shard shard = {.next = 1};
    uint32_t unsettled[1] = {0};
    struct gyre_cluster cluster = {.app.shards = 1,
                                   .key = {.size = REQUEST, .scalar = GYRE_SCALAR_U64, .count = 1},
                                   .least = REQUEST,
                                   .request_size = REQUEST,
                                   .shards = &shard,
                                   .unsettled = unsettled,
                                   .goes_ahead = goes_ahead,
                                   .blocks = calloc(1, GYRE_CLIENT_ROUND_BYTES)};
    const uint64_t request = 7;
    pthread_mutex_init(&cluster.lock, NULL);
    begun = 0;
    is_out_of_memory = true;
    ck_assert_int_eq(gyre_cluster_send(&cluster, &request, sizeof request, NULL, GYRE_NO_WAIT), sent);
    is_out_of_memory = false;
    ck_assert_int_eq(begun, 0);
    answer = GYRE_OK;
    ck_assert_int_eq(gyre_cluster_settle(&cluster, GYRE_NO_WAIT), settled);
    ck_assert_int_eq(gyre_cluster_settle(&cluster, GYRE_NO_WAIT), settled);
    gyre_client_drop(&cluster);
    free(shard.indices);
    free(cluster.blocks);
    pthread_mutex_destroy(&cluster.lock);
}

START_TEST(a_block_that_may_be_sent_is_not_settled)
{
    answer = GYRE_TIMEOUT;
    send_without_memory(false, GYRE_TIMEOUT, GYRE_LOST);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "no memory to keep a block"));
}
END_TEST

START_TEST(what_cannot_be_kept_does_not_go_ahead)
{
    answer = GYRE_OK;
    send_without_memory(true, GYRE_OK, GYRE_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unsettled");
    TCase *tcase = tcase_create("memory");
    tcase_add_test(tcase, a_block_that_may_be_sent_is_not_settled);
    tcase_add_test(tcase, what_cannot_be_kept_does_not_go_ahead);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
