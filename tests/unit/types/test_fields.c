/* SPDX-License-Identifier: Apache-2.0 */
/* gyre/fields.h: what programs are told of a type is what the compiler laid out, for each kind of field. */
#include "gyre/fields.h"
#include "unit/unit.h"

#include <stddef.h>
#include <string.h>

#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define MIXED(FIELD)                                                                                         \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b)                                                                                            \
    FIELD(i32, c)                                                                                            \
    FIELD(i64, d)                                                                                            \
    FIELD(u8, e[3])                                                                                          \
    FIELD(u16, f)                                                                                            \
    FIELD(u32, g) FIELD(u64, h) FIELD(f32, i) FIELD(f64, j) FIELD(id128, k) FIELD(point, corners[2][3])
GYRE_MESSAGE(mixed, MIXED)
GYRE_SPAN(points, point)
#define TICKS(FIELD) FIELD(u32, number) FIELD(utf8, symbol) FIELD(points, path) FIELD(optional_u16, halted)
GYRE_MESSAGE_TAIL(ticks, TICKS, 512)
#define DESK(TAKES) TAKES(point, mixed) TAKES(mixed, gyre_none)
GYRE_PROTOCOL(desk, DESK)

static gyre_fields *read_fields(const gyre_type *type)
{
    gyre_fields *fields;
    gyre_status status = gyre_fields_read(type, &fields);
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    return fields;
}

static gyre_field_info field_at(const gyre_fields *fields, size_t number)
{
    gyre_field_info field = {.size = sizeof field};
    ck_assert_int_eq(gyre_field_get(fields, number, &field), GYRE_OK);
    return field;
}

static gyre_fields_info info_of(const gyre_fields *fields)
{
    gyre_fields_info info = {.size = sizeof info};
    ck_assert_int_eq(gyre_fields_info_get(fields, &info), GYRE_OK);
    return info;
}

START_TEST(each_field_lies_where_the_compiler_put_it)
{
    static const struct {
        const char *name;
        gyre_type_kind kind;
        size_t offset, bytes, count;
    } expected[] = {{"a", GYRE_KIND_I8, offsetof(mixed, a), 1, 1},
                    {"b", GYRE_KIND_I16, offsetof(mixed, b), 2, 1},
                    {"c", GYRE_KIND_I32, offsetof(mixed, c), 4, 1},
                    {"d", GYRE_KIND_I64, offsetof(mixed, d), 8, 1},
                    {"e", GYRE_KIND_U8, offsetof(mixed, e), 1, 3},
                    {"f", GYRE_KIND_U16, offsetof(mixed, f), 2, 1},
                    {"g", GYRE_KIND_U32, offsetof(mixed, g), 4, 1},
                    {"h", GYRE_KIND_U64, offsetof(mixed, h), 8, 1},
                    {"i", GYRE_KIND_F32, offsetof(mixed, i), 4, 1},
                    {"j", GYRE_KIND_F64, offsetof(mixed, j), 8, 1},
                    {"k", GYRE_KIND_ID128, offsetof(mixed, k), 16, 1},
                    {"corners", GYRE_KIND_RECORD, offsetof(mixed, corners), sizeof(point), 6}};
    gyre_fields *fields = read_fields(GYRE_TYPE(mixed));
    ck_assert_uint_eq(gyre_fields_count(fields), sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < gyre_fields_count(fields); i++) {
        const gyre_field_info field = field_at(fields, i);
        ck_assert_str_eq(field.name, expected[i].name);
        ck_assert_int_eq(field.kind, expected[i].kind);
        ck_assert_uint_eq(field.offset, expected[i].offset);
        ck_assert_uint_eq(field.bytes, expected[i].bytes);
        ck_assert_uint_eq(field.count, expected[i].count);
    }
    const gyre_field_info corners = field_at(fields, 11);
    ck_assert_uint_eq(corners.dimension_count, 2);
    ck_assert_uint_eq(corners.dimensions[0], 2);
    ck_assert_uint_eq(corners.dimensions[1], 3);
    ck_assert_uint_eq(field_at(fields, 0).dimension_count, 0);
    gyre_fields_release(fields);
}
END_TEST

START_TEST(the_type_of_a_field_has_fields_of_its_own)
{
    gyre_fields *fields = read_fields(GYRE_TYPE(mixed)), *inner = read_fields(field_at(fields, 11).type);
    const gyre_fields_info info = info_of(inner);
    ck_assert_str_eq(info.name, "point");
    ck_assert_int_eq(info.kind, GYRE_KIND_RECORD);
    ck_assert_uint_eq(info.bytes, sizeof(point));
    ck_assert_uint_eq(info.alignment, _Alignof(point));
    ck_assert_uint_eq(field_at(inner, 1).offset, offsetof(point, y));
    gyre_fields_release(inner);
    gyre_fields_release(fields);
}
END_TEST

START_TEST(a_tail_is_told_and_its_own_fields_are_not)
{
    gyre_fields *fields = read_fields(GYRE_TYPE(ticks));
    const gyre_fields_info info = info_of(fields);
    ck_assert_uint_eq(info.fields, 4);
    ck_assert_uint_eq(info.tail, 512);
    ck_assert_uint_eq(info.least, offsetof(ticks, gyre_tail));
    ck_assert_uint_eq(info.bytes, sizeof(ticks));
    ck_assert_uint_eq(field_at(fields, 0).offset, offsetof(ticks, number));
    ck_assert_int_eq(field_at(fields, 1).kind, GYRE_KIND_UTF8);
    ck_assert_int_eq(field_at(fields, 2).kind, GYRE_KIND_SPAN);
    ck_assert_int_eq(field_at(fields, 3).kind, GYRE_KIND_OPTIONAL);
    ck_assert_uint_eq(field_at(fields, 3).offset, offsetof(ticks, halted));
    gyre_fields *path = read_fields(field_at(fields, 2).type);
    ck_assert_str_eq(info_of(path).items->name, "point");
    gyre_fields *symbol = read_fields(field_at(fields, 1).type);
    ck_assert_str_eq(info_of(symbol).items->name, "u8");
    ck_assert_ptr_null(info.items);
    gyre_fields_release(symbol);
    gyre_fields_release(path);
    gyre_fields_release(fields);
}
END_TEST

START_TEST(the_choices_of_a_protocol_have_their_numbers)
{
    gyre_fields *requests = read_fields(GYRE_TYPE(desk_request)),
                *replies = read_fields(GYRE_TYPE(desk_reply));
    ck_assert_int_eq(info_of(requests).kind, GYRE_KIND_CHOICE);
    ck_assert_uint_eq(info_of(requests).choices, 2);
    ck_assert_str_eq(gyre_fields_choice(requests, GYRE_NUMBER(desk, point))->name, "point");
    ck_assert_str_eq(gyre_fields_choice(requests, GYRE_NUMBER(desk, mixed))->name, "mixed");
    ck_assert_str_eq(gyre_fields_choice(replies, GYRE_NUMBER(desk, mixed))->name, "gyre_none");
    ck_assert_ptr_null(gyre_fields_choice(requests, 0));
    ck_assert_ptr_null(gyre_fields_choice(requests, 3));
    ck_assert_str_eq(gyre_error_text(),
                     "the type 'desk_request' has 2 choices, counted from 1; there is no choice 3");
    gyre_fields_release(replies);
    gyre_fields_release(requests);
}
END_TEST

START_TEST(scalars_and_nothing_have_no_fields)
{
    gyre_fields *fields = read_fields(GYRE_TYPE(u16));
    ck_assert_int_eq(info_of(fields).kind, GYRE_KIND_U16);
    ck_assert_uint_eq(gyre_fields_count(fields), 0);
    gyre_fields_release(fields);
    fields = read_fields(GYRE_TYPE(gyre_none));
    ck_assert_int_eq(info_of(fields).kind, GYRE_KIND_NONE);
    ck_assert_uint_eq(info_of(fields).bytes, 0);
    gyre_fields_release(fields);
    gyre_fields_release(NULL);
    ck_assert_uint_eq(gyre_fields_count(NULL), 0);
}
END_TEST

START_TEST(the_fields_outlive_their_type)
{
    char name[] = "made", text[] = "u32 first;u64 second;";
    const gyre_type *types[] = {GYRE_TYPE(u32), GYRE_TYPE(u64), NULL};
    gyre_type type = {name, text, 16, 8, types};
    gyre_fields *fields = read_fields(&type);
    memset(name, '?', sizeof name);
    memset(text, '?', sizeof text);
    memset(&type, 0, sizeof type);
    ck_assert_str_eq(info_of(fields).name, "made");
    ck_assert_str_eq(field_at(fields, 1).name, "second");
    gyre_fields_release(fields);
}
END_TEST

START_TEST(what_cannot_be_read_is_refused)
{
    gyre_fields *fields = (gyre_fields *)(void *)&fields;
    const gyre_type *types[] = {GYRE_TYPE(u32), NULL};
    const gyre_type garbled = {"garbled", "u32 first[;", 4, 4, types},
                    wrong = {"wrong", "u32 first;", 5, 4, types};
    ck_assert_int_eq(gyre_fields_read(&garbled, &fields), GYRE_INVALID);
    ck_assert_ptr_null(fields);
    ck_assert_int_eq(gyre_fields_read(&wrong, &fields), GYRE_INCOMPATIBLE);
    ck_assert_int_eq(gyre_fields_read(NULL, &fields), GYRE_INVALID);
    ck_assert_int_eq(gyre_fields_read(GYRE_TYPE(point), NULL), GYRE_INVALID);
    fields = read_fields(GYRE_TYPE(point));
    gyre_field_info field = {.size = sizeof field};
    ck_assert_int_eq(gyre_field_get(fields, 2, &field), GYRE_INVALID);
    ck_assert_str_eq(gyre_error_text(), "the type 'point' has 2 fields, counted from 0; there is no field 2");
    ck_assert_int_eq(gyre_field_get(fields, 0, NULL), GYRE_INVALID);
    ck_assert_int_eq(gyre_fields_info_get(NULL, &(gyre_fields_info){.size = sizeof(gyre_fields_info)}),
                     GYRE_INVALID);
    gyre_fields_release(fields);
}
END_TEST

START_TEST(a_smaller_struct_of_an_older_program_is_filled_as_far_as_it_goes)
{
    gyre_fields *fields = read_fields(GYRE_TYPE(mixed));
    gyre_field_info field;
    memset(&field, 0x5a, sizeof field);
    field.size = offsetof(gyre_field_info, dimensions);
    ck_assert_int_eq(gyre_field_get(fields, 11, &field), GYRE_OK);
    ck_assert_uint_eq(field.size, offsetof(gyre_field_info, dimensions));
    ck_assert_uint_eq(field.count, 6);
    ck_assert_uint_eq(field.dimensions[0], 0x5a5a5a5a5a5a5a5aull);
    gyre_fields_release(fields);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields");
    TCase *cases = tcase_create("fields");
    tcase_add_test(cases, each_field_lies_where_the_compiler_put_it);
    tcase_add_test(cases, the_type_of_a_field_has_fields_of_its_own);
    tcase_add_test(cases, a_tail_is_told_and_its_own_fields_are_not);
    tcase_add_test(cases, the_choices_of_a_protocol_have_their_numbers);
    tcase_add_test(cases, scalars_and_nothing_have_no_fields);
    tcase_add_test(cases, the_fields_outlive_their_type);
    tcase_add_test(cases, what_cannot_be_read_is_refused);
    tcase_add_test(cases, a_smaller_struct_of_an_older_program_is_filled_as_far_as_it_goes);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
