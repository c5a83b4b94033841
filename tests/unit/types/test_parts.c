/* SPDX-License-Identifier: Apache-2.0 */
/* Messages with tails on the host: their layouts, building them, and refusing what is malformed. */
#include "core/types/types.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

#include <stddef.h>
#include <string.h>

#define ROW(FIELD) FIELD(u16, number) FIELD(utf8, name)
GYRE_MESSAGE(row, ROW)
GYRE_SPAN(rows, row)
#define TABLE(FIELD) FIELD(u8, kind) FIELD(id128, id) FIELD(rows, rows) FIELD(optional_f64, limit)
GYRE_MESSAGE_TAIL(table, TABLE, 100)
_Static_assert(gyre_least_table == offsetof(table, gyre_tail), "where the tail starts");
_Static_assert(gyre_parts_table &&gyre_parts_row && !gyre_parts_id128, "what has parts");

#define BARE(FIELD) FIELD(utf8, text)
GYRE_MESSAGE(bare, BARE)
#define AROUND(FIELD) FIELD(u8, a) FIELD(table, inside)
GYRE_MESSAGE(around, AROUND)

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout;
    ck_assert_msg(gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout) == GYRE_OK, "%s",
                  gyre_error_text());
    return layout;
}

static void expect_error(gyre_status found, gyre_status expected, const char *sentence)
{
    ck_assert_int_eq(found, expected);
    ck_assert_msg(strstr(gyre_error_text(), sentence) != NULL, "'%s' is not in '%s'", sentence,
                  gyre_error_text());
}

/* Two rows, named, and a limit. */
static void fill(table *message)
{
    static const row two[2] = {{.number = 1}, {.number = 2}};
    gyre_begin(message);
    ck_assert_int_eq(gyre_put(message, &message->rows, two, 2), GYRE_OK);
    row *items = gyre_items(row, message, message->rows);
    ck_assert_ptr_nonnull(items);
    ck_assert_int_eq(gyre_put_text(message, &items[0].name, "one"), GYRE_OK);
    ck_assert_int_eq(gyre_put_text(message, &items[1].name, "z\xc3\xbc"), GYRE_OK);
    ck_assert_int_eq(gyre_put(message, &message->limit, &(double){2.5}, 1), GYRE_OK);
}

START_TEST(the_tail_is_no_field)
{
    gyre_layout *layout = layout_of(GYRE_TYPE(table));
    ck_assert_uint_eq(layout->size, sizeof(table));
    ck_assert_uint_eq(layout->tail, 104); /* words of 8 bytes */
    ck_assert_uint_eq(layout->least, offsetof(table, gyre_tail));
    ck_assert_uint_eq(layout->field_count, 4);
    ck_assert_uint_eq(gyre_layout_field(layout, "rows")->offset, offsetof(table, rows));
    ck_assert_int_eq(gyre_layout_field(layout, "rows")->type->shape, GYRE_SHAPE_SPAN);
    ck_assert_int_eq(gyre_layout_field(layout, "limit")->type->shape, GYRE_SHAPE_OPTIONAL);
    ck_assert_int_eq(gyre_layout_field(layout, "id")->type->shape, GYRE_SHAPE_ID128);
    ck_assert_ptr_nonnull(strstr(layout->text, "span({u16 number@0;utf8(u8) name@4;}12/4) rows@24;"));
    ck_assert_ptr_nonnull(strstr(layout->text, "tail[104]@40;"));
    gyre_layout *again = layout_of(layout->type);
    ck_assert_str_eq(again->text, layout->text);
    gyre_layout_destroy(again);
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(parts_need_a_tail_and_tails_do_not_nest)
{
    gyre_layout *layout;
    expect_error(gyre_layout_create_message(GYRE_TYPE(bare), GYRE_MESSAGE_MAX, &layout), GYRE_INVALID,
                 "declare it with GYRE_MESSAGE_TAIL(bare");
    ck_assert_ptr_null(layout);
    expect_error(gyre_layout_create(GYRE_TYPE(around), GYRE_MESSAGE_MAX, &layout), GYRE_INVALID,
                 "a message with a tail cannot be a field");
}
END_TEST

START_TEST(what_is_put_can_be_read)
{
    table message;
    fill(&message);
    ck_assert_int_eq(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_OK);
    const row *items = gyre_items(row, &message, message.rows);
    ck_assert_uint_eq(items[1].number, 2);
    ck_assert_mem_eq(gyre_items(u8, &message, items[1].name), "z\xc3\xbc", 3);
    ck_assert_double_eq(*gyre_items(f64, &message, message.limit), 2.5);
    ck_assert_uint_eq(message.limit.offset % 8, 0);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_changes_nothing)
{
    table message, before;
    fill(&message);
    before = message;
    expect_error(gyre_put(&message, &message.limit, (double[12]){0}, 12), GYRE_INVALID,
                 "12 items of 8 bytes do not fit behind the");
    ck_assert_mem_eq(&message, &before, sizeof message);
    message.gyre_used = UINT32_MAX; /* of memory that was not cleared, and not begun */
    expect_error(gyre_put(&message, &message.limit, (double[1]){0}, 1), GYRE_INVALID,
                 "begin it with gyre_begin(&message)");
    message = before;
    expect_error(gyre_put_text(&message, &message.rows, "\xff"), GYRE_INVALID,
                 "byte 0, 0xff, starts no character");
}
END_TEST

/* The first item would lie where the message says how long it is. */
START_TEST(a_message_of_zeros_was_not_begun)
{
    table message = {0}, before = {0};
    expect_error(gyre_put(&message, &message.limit, &(double){2.5}, 1), GYRE_INVALID,
                 "the message was not begun: gyre_begin(&message) before gyre_put");
    expect_error(gyre_put_text(&message, &message.rows, "one"), GYRE_INVALID, "was not begun");
    ck_assert_mem_eq(&message, &before, sizeof message);
}
END_TEST

/* Of another message, say, or of an item that was not put yet. */
START_TEST(a_part_that_lies_elsewhere_is_refused_and_stays)
{
    struct {
        table first, second;
    } both;
    const gyre_part other = {7, 7};
    fill(&both.first);
    fill(&both.second);
    row *items = gyre_items(row, &both.second, both.second.rows);
    gyre_part *const parts[] = {
        &both.first.rows, (gyre_part *)(void *)((unsigned char *)&both.second - 4),
        (gyre_part *)(void *)&both.second,
        (gyre_part *)(void *)((unsigned char *)&both.second + both.second.gyre_used - 4), &items[4].name};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const bool first_word = i == 1 || i == 2; /* which says how long the message is */
        if (!first_word)
            memcpy(parts[i], &other, sizeof other);
        const table before = both.second;
        expect_error(gyre_put(&both.second, parts[i], "x", 1), GYRE_INVALID, "does not lie in the message");
        expect_error(gyre_put(&both.second, parts[i], "", 0), GYRE_INVALID, "does not lie in the message");
        expect_error(gyre_put_text(&both.second, parts[i], "x"), GYRE_INVALID, "does not lie in the message");
        expect_error(gyre_put_large(&both.second, parts[i], "x", 1), GYRE_INVALID,
                     "does not lie in the message");
        expect_error(gyre_put_large(&both.second, parts[i], "", 0), GYRE_INVALID,
                     "does not lie in the message");
        ck_assert_mem_eq(&both.second, &before, sizeof before);
        if (!first_word)
            ck_assert_mem_eq(parts[i], &other, sizeof other);
    }
}
END_TEST

START_TEST(of_no_items_a_part_is_empty)
{
    table message;
    fill(&message);
    const uint32_t used = message.gyre_used;
    ck_assert_int_eq(gyre_put(&message, &message.rows, (const row *)NULL, 0), GYRE_OK);
    ck_assert_int_eq(gyre_put_large(&message, &message.limit, (const double *)NULL, 0), GYRE_OK);
    ck_assert_uint_eq(message.rows.count + message.rows.offset, 0);
    ck_assert_uint_eq(message.limit.count + message.limit.offset, 0);
    ck_assert_uint_eq(message.gyre_used, used);
    message.gyre_used = 0;
    expect_error(gyre_put(&message, &message.rows, (const row *)NULL, 0), GYRE_INVALID, "was not begun");
    expect_error(gyre_put_large(&message, &message.rows, (const row *)NULL, 0), GYRE_INVALID,
                 "was not begun");
}
END_TEST

START_TEST(wrong_offsets_and_counts_are_named)
{
    table message;
    fill(&message);
    message.rows.count = 7;
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "field 'rows': offset 40 and count 7 do not lie, aligned, in the tail");
    ck_assert_ptr_null(gyre_items(row, &message, message.rows));
    fill(&message);
    gyre_items(row, &message, message.rows)[1].name.offset = 4000000000u;
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "field 'rows[1].name'");
    fill(&message);
    gyre_items(row, &message, message.rows)[1].name.offset = GYRE_PART_FAR | 4000u;
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "field 'rows[1].name': the name of a buffer, offset 4000 and count 3 do not lie");
    fill(&message);
    message.limit.count = 2;
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "more than one");
    fill(&message);
    gyre_items(row, &message, message.rows)[0].name = message.rows;
    gyre_items(row, &message, message.rows)[0].name.count = 60;
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "field 'rows[0].name'");
    fill(&message);
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used - 1u), GYRE_INVALID,
                 "says so in its first word");
}
END_TEST

/* Three rows that each say that their name is the row list itself: only one of them may have it. */
START_TEST(parts_may_not_lie_over_each_other)
{
    table message;
    gyre_begin(&message);
    ck_assert_int_eq(gyre_put(&message, &message.rows, (row[3]){{0}}, 3), GYRE_OK);
    for (int i = 0; i < 3; i++)
        gyre_items(row, &message, message.rows)[i].name = (gyre_part){message.rows.offset, 20};
    expect_error(gyre_message_check(GYRE_TYPE(table), &message, message.gyre_used), GYRE_INVALID,
                 "lie over another part");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_test(tcase, the_tail_is_no_field);
    tcase_add_test(tcase, parts_need_a_tail_and_tails_do_not_nest);
    tcase_add_test(tcase, what_is_put_can_be_read);
    tcase_add_test(tcase, what_does_not_fit_is_refused_and_changes_nothing);
    tcase_add_test(tcase, a_message_of_zeros_was_not_begun);
    tcase_add_test(tcase, a_part_that_lies_elsewhere_is_refused_and_stays);
    tcase_add_test(tcase, of_no_items_a_part_is_empty);
    tcase_add_test(tcase, wrong_offsets_and_counts_are_named);
    tcase_add_test(tcase, parts_may_not_lie_over_each_other);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
