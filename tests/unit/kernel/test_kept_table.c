/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of keys that were kept elsewhere: those whose numbers do not fit each other are found. */
#include <stdlib.h>
#include <string.h>

#include "core/kernel/keyed.h"
#include "core/kernel/keyed_table.h"
#include "unit/unit.h"

static gyre_keyed_table head;
static unsigned char *table;
static gyre_keyed_part *part;

/* A table with two keys, and an entry that is free again. */
static void make(void)
{
    head = (gyre_keyed_table){.magic = GYRE_KEYED_MAGIC, .keys = 10, .key_size = 8, .state_size = 16};
    gyre_keyed_plan(&head, false);
    table = calloc(1, head.size);
    ck_assert_ptr_nonnull(table);
    part = (gyre_keyed_part *)(void *)(table + head.parts_offset);
    part->fresh = 3;
    part->count = 2;
    part->free = 2; /* entry 1 */
    gyre_keyed_entry_at(&head, part, 1)->is_free = 1;
    for (gyre_u32 number = 0; number < 3; number += 2) {
        gyre_keyed_entry_at(&head, part, number)->hash = 100 + number;
        gyre_keyed_places(part)[number] = (gyre_u64)(100 + number) << 32 | (number + 1);
    }
}

static void judge(bool whole)
{
    ck_assert_int_eq(gyre_keyed_table_is_whole(&head, table), whole);
    free(table);
}

START_TEST(a_good_table_and_an_empty_one_are_whole)
{
    make();
    judge(true);
    make();
    memset(part, 0, head.part_size);
    judge(true);
}
END_TEST

START_TEST(numbers_out_of_range_are_found)
{
    make();
    part->fresh = head.capacity + 1;
    judge(false);
    make();
    part->hand = head.capacity;
    judge(false);
    make();
    part->count = 3;
    judge(false);
    make();
    part->free = 4;
    judge(false);
    make();
    part->reminders = 1;
    judge(false);
    make();
    gyre_keyed_places(part)[0] = (gyre_u64)100 << 32 | 4;
    judge(false);
    make();
    gyre_keyed_places(part)[head.places - 1] = 0xffffffffu;
    judge(false);
}
END_TEST

START_TEST(entries_that_do_not_fit_their_places_are_found)
{
    make();
    gyre_keyed_entry_at(&head, part, 0)->hash = 7;
    judge(false);
    make();
    gyre_keyed_entry_at(&head, part, 2)->is_free = 1;
    judge(false);
    make();
    gyre_keyed_places(part)[5] = gyre_keyed_places(part)[0]; /* the same entry twice */
    part->count = 3;
    judge(false);
}
END_TEST

START_TEST(lists_of_free_entries_that_go_wrong_are_found)
{
    make();
    gyre_keyed_entry_at(&head, part, 1)->is_free = 3; /* back to itself */
    judge(false);
    make();
    gyre_keyed_entry_at(&head, part, 1)->is_free = 2; /* to an entry that has a key */
    judge(false);
    make();
    gyre_keyed_entry_at(&head, part, 1)->is_free = 0; /* it has a key itself */
    judge(false);
    make();
    part->free = 0; /* the free entry is lost */
    judge(false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kept_table");
    TCase *cases = tcase_create("kept_table");
    tcase_add_test(cases, a_good_table_and_an_empty_one_are_whole);
    tcase_add_test(cases, numbers_out_of_range_are_found);
    tcase_add_test(cases, entries_that_do_not_fit_their_places_are_found);
    tcase_add_test(cases, lists_of_free_entries_that_go_wrong_are_found);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
