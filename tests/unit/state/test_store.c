/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints in memory: the last one stays while the next is written, and one that was damaged is none. */
#include <string.h>

#include "core/state/store.h"
#include "unit/unit.h"

enum { SIZE = 2 * GYRE_STORE_BLOCK + 100 };

static struct gyre_store store;

static void begin(void)
{
    ck_assert_int_eq(gyre_store_create(SIZE, &store), GYRE_OK);
}

static void end(void)
{
    gyre_store_destroy(&store);
}

static void write_next(unsigned char value)
{
    memset(gyre_store_next(&store), value, SIZE);
    gyre_store_seal(&store);
}

static void last_is(unsigned char value)
{
    const unsigned char *last = gyre_store_last(&store);
    ck_assert_ptr_nonnull(last);
    for (size_t i = 0; i < SIZE; i++)
        ck_assert_uint_eq(last[i], value);
}

START_TEST(the_last_one_stays_until_the_next_is_committed)
{
    ck_assert_ptr_null(gyre_store_last(&store));
    write_next(1);
    ck_assert_ptr_null(gyre_store_last(&store));
    gyre_store_commit(&store);
    for (unsigned char value = 2; value < 6; value++) {
        write_next(value);
        last_is((unsigned char)(value - 1));
        gyre_store_commit(&store);
        last_is(value);
    }
    gyre_store_clear(&store);
    ck_assert_ptr_null(gyre_store_last(&store));
}
END_TEST

START_TEST(one_with_any_byte_changed_is_none)
{
    write_next(7);
    gyre_store_commit(&store);
    unsigned char *bytes = (unsigned char *)(uintptr_t)gyre_store_last(&store);
    static const size_t places[] = {0, GYRE_STORE_BLOCK - 1, GYRE_STORE_BLOCK, 2 * GYRE_STORE_BLOCK,
                                    SIZE - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bytes[places[i]] ^= 1;
        ck_assert_ptr_null(gyre_store_last(&store));
        bytes[places[i]] ^= 1;
        last_is(7);
    }
}
END_TEST

/* Bytes and their hash, of another time: a hash of the hashes tells. */
START_TEST(a_block_with_its_hash_from_elsewhere_is_found)
{
    write_next(1);
    gyre_store_commit(&store);
    write_next(2);
    gyre_store_commit(&store);
    unsigned char *bytes = (unsigned char *)(uintptr_t)gyre_store_last(&store);
    memset(bytes, 1, GYRE_STORE_BLOCK);
    store.hashes[store.number % 2][0] = store.hashes[1 - store.number % 2][0];
    ck_assert_ptr_null(gyre_store_last(&store));
}
END_TEST

START_TEST(blocks_that_changed_are_told)
{
    write_next(1);
    gyre_store_commit(&store);
    for (uint64_t block = 0; block < 3; block++)
        ck_assert(gyre_store_changed(&store, block)); /* there is none before */
    write_next(1);
    unsigned char *next = gyre_store_next(&store);
    next[GYRE_STORE_BLOCK] = 9;
    gyre_store_seal(&store);
    gyre_store_commit(&store);
    ck_assert(!gyre_store_changed(&store, 0) && gyre_store_changed(&store, 1) &&
              !gyre_store_changed(&store, 2));
    ck_assert(gyre_store_block_size(&store, 1) == GYRE_STORE_BLOCK &&
              gyre_store_block_size(&store, 2) == 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *tcase = tcase_create("store");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, the_last_one_stays_until_the_next_is_committed);
    tcase_add_test(tcase, one_with_any_byte_changed_is_none);
    tcase_add_test(tcase, a_block_with_its_hash_from_elsewhere_is_found);
    tcase_add_test(tcase, blocks_that_changed_are_told);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
