/* SPDX-License-Identifier: Apache-2.0 */
/* The log of states of a shard whose owner, or an earlier one, purges it while another one reads. */
#include "core/base/error.h"
#include "core/cluster/kept.h"
#include "core/cluster/verify.h"
#include "core/transport/transport.h"
#include "gyre/waiting.h"
#include "system/survival/cluster/checkpoints.h"
#include "unit/unit.h"

enum { TABLE = 64, BLOCKS_MAX = 32 };
#define SOON_NS UINT64_C(10000000000)

/* The one log of the transport; others are empty. */
static struct {
    unsigned char *bytes[BLOCKS_MAX];
    size_t sizes[BLOCKS_MAX];
    uint64_t last, first;         /* first: what lies before it is purged */
    uint64_t purge_at, purges_to; /* before the read that finds block `purge_at`; 0: never */
    bool is_kept;                 /* what owners purge stays */
    uint64_t grows;               /* by so much whenever somebody asks for the last block */
} states;

gyre_status __wrap_gyre_transport_append(struct gyre_transport *transport, const char *log,
                                         const gyre_transport_block *block, uint64_t *number);
gyre_status __wrap_gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                       void *bytes, size_t room, size_t *byte_count, uint64_t *number);
gyre_status __wrap_gyre_transport_last(struct gyre_transport *transport, const char *log, uint64_t *number);
gyre_status __wrap_gyre_transport_purge(struct gyre_transport *transport, const char *log, uint64_t below);
gyre_status __wrap_gyre_place_read(struct gyre_transport *transport, uint32_t shard,
                                   struct gyre_shard_place *out);

static bool is_of_states(const char *log)
{
    return strcmp(log, "state.0") == 0;
}

gyre_status __wrap_gyre_transport_append(struct gyre_transport *transport, const char *log,
                                         const gyre_transport_block *block, uint64_t *number)
{
    (void)transport;
    (void)log;
    ck_assert_uint_eq(block->expected, states.last);
    ck_assert_uint_lt(++states.last, BLOCKS_MAX);
    states.bytes[states.last] = malloc(block->byte_count);
    states.sizes[states.last] = block->byte_count;
    memcpy(states.bytes[states.last], block->bytes, block->byte_count);
    *number = states.last;
    return GYRE_OK;
}

gyre_status __wrap_gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                       void *bytes, size_t room, size_t *byte_count, uint64_t *number)
{
    (void)transport;
    if (!is_of_states(log))
        return GYRE_AGAIN;
    if (states.purge_at && after + 1 == states.purge_at)
        states.first = states.purges_to;
    const uint64_t found = after + 1 > states.first ? after + 1 : states.first;
    if (found > states.last)
        return GYRE_AGAIN;
    ck_assert_uint_le(states.sizes[found], room);
    memcpy(bytes, states.bytes[found], states.sizes[found]);
    *byte_count = states.sizes[found];
    *number = found;
    return GYRE_OK;
}

gyre_status __wrap_gyre_transport_last(struct gyre_transport *transport, const char *log, uint64_t *number)
{
    static uint64_t more;
    (void)transport;
    more += states.grows;
    *number = is_of_states(log) ? states.last + more : strcmp(log, "in.0") == 0 ? 3 : 0;
    return GYRE_OK;
}

gyre_status __wrap_gyre_place_read(struct gyre_transport *transport, uint32_t shard,
                                   struct gyre_shard_place *out)
{
    (void)transport;
    (void)shard;
    *out = (struct gyre_shard_place){.epoch = 1, .is_kept = true};
    return GYRE_OK;
}

gyre_status __wrap_gyre_transport_purge(struct gyre_transport *transport, const char *log, uint64_t below)
{
    (void)transport;
    (void)log;
    if (!states.is_kept && below > states.first)
        states.first = below;
    return GYRE_OK;
}

/*
 * What an owner wrote: its fence (1), whole checkpoint 1 (2 - 3), 2 that follows it (4 - 5), whole checkpoint 3 (6 - 7), behind which it
 * purges what lies before block 5.
 */
static void write_checkpoints(void)
{
    struct gyre_kept owner;
    unsigned char table[TABLE] = {0};
    states.is_kept = true;
    ck_assert_int_eq(gyre_kept_init(&owner, NULL, 0, TABLE), GYRE_OK);
    owner.epoch = 1;
    ck_assert_int_eq(gyre_kept_begin(&owner, gyre_clock_ns() + SOON_NS), GYRE_OK);
    for (unsigned char i = 1; i <= 3; i++) {
        table[i] = i;
        if (i == 3)
            owner.whole_bytes = 0;
        ck_assert_int_eq(keep_checkpoint(&owner, table, i), GYRE_OK);
    }
    ck_assert_uint_eq(states.last, 7);
    gyre_kept_finish(&owner);
}

static void require_last_checkpoint(struct gyre_kept *kept, gyre_status status)
{
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(kept->checkpoint, 3);
    ck_assert_uint_eq(kept->position, 3);
    for (unsigned char i = 1; i <= 3; i++)
        ck_assert_uint_eq(kept->table[i], i);
}

/* At each block that the reader comes to. */
START_TEST(what_an_earlier_owner_purges_is_read_again)
{
    struct gyre_kept kept;
    write_checkpoints();
    states.purge_at = (uint64_t)_i;
    states.purges_to = 5;
    ck_assert_int_eq(gyre_kept_init(&kept, NULL, 0, TABLE), GYRE_OK);
    kept.epoch = 2;
    require_last_checkpoint(&kept, gyre_kept_begin(&kept, gyre_clock_ns() + SOON_NS));
    gyre_kept_finish(&kept);
}
END_TEST

/* And nobody reads for ever what does not agree by itself. */
START_TEST(what_nobody_purged_is_told)
{
    struct gyre_kept kept;
    write_checkpoints();
    states.sizes[4] = states.sizes[5];
    memcpy(states.bytes[4], states.bytes[5], states.sizes[5]);
    ck_assert_int_eq(gyre_kept_init(&kept, NULL, 0, TABLE), GYRE_OK);
    kept.epoch = 2;
    ck_assert_int_eq(gyre_kept_begin(&kept, gyre_clock_ns() + SOON_NS), GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "lacks pieces"));
    gyre_kept_finish(&kept);
}
END_TEST

static void problem(void *context, const char *sentence)
{
    (void)context;
    ck_abort_msg("%s", sentence);
}

START_TEST(what_is_verified_may_be_purged_meanwhile)
{
    struct gyre_verified verified = {.problem = problem};
    const struct gyre_cluster_app app = {.shards = 1, .table_size = TABLE};
    write_checkpoints();
    states.purge_at = (uint64_t)_i;
    states.purges_to = 5;
    ck_assert_int_eq(gyre_cluster_verify(NULL, &app, 0, &verified), GYRE_OK);
    ck_assert_uint_eq(verified.checkpoint, 3);
}
END_TEST

static void note_problem(void *context, const char *sentence)
{
    snprintf(context, GYRE_VERIFY_PROBLEM_SIZE, "%s", sentence);
}

/* Its owner writes on meanwhile. */
START_TEST(what_is_damaged_in_a_busy_log_is_told)
{
    char text[GYRE_VERIFY_PROBLEM_SIZE] = "";
    struct gyre_verified verified = {.problem = note_problem, .context = text};
    const struct gyre_cluster_app app = {.shards = 1, .table_size = TABLE};
    write_checkpoints();
    states.bytes[4][states.sizes[4] - 1] ^= 1;
    states.grows = 1;
    ck_assert_msg(gyre_cluster_verify(NULL, &app, 0, &verified) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_msg(strstr(text, "state.0") != NULL, "found: %s", text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kept");
    TCase *purged = tcase_create("purged");
    tcase_add_loop_test(purged, what_an_earlier_owner_purges_is_read_again, 1, 9);
    tcase_add_test(purged, what_nobody_purged_is_told);
    tcase_add_loop_test(purged, what_is_verified_may_be_purged_meanwhile, 1, 9);
    tcase_add_test(purged, what_is_damaged_in_a_busy_log_is_told);
    suite_add_tcase(suite, purged);
    return unit_run(suite);
}
