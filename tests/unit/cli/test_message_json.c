/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as JSON: exact both ways, and one sentence for everything that is no message. */
#include "cli/json/message_json.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define SHAPE(FIELD) FIELD(u8, name[8]) FIELD(point, corners[2]) FIELD(i16, grid[2][3])
GYRE_MESSAGE(shape, SHAPE)
#define INTEGERS(FIELD)                                                                                      \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b) FIELD(i32, c) FIELD(i64, d) FIELD(u8, e) FIELD(u16, f) FIELD(u32, g) FIELD(u64, h)
GYRE_MESSAGE(integers, INTEGERS)
#define ONE_F32(FIELD) FIELD(f32, x)
GYRE_MESSAGE(one_f32, ONE_F32)
#define FRIEND(FIELD) FIELD(utf8, name) FIELD(optional_u16, age)
GYRE_MESSAGE(friend_, FRIEND)
GYRE_SPAN(friends, friend_)
#define CARD(FIELD) FIELD(id128, id) FIELD(utf8, lines[2]) FIELD(friends, friends) FIELD(span_u8, raw)
GYRE_MESSAGE_TAIL(card, CARD, 120)

static gyre_status read_text(const gyre_type *type, const char *text, void *message)
{
    gyre_layout *layout;
    ck_assert_msg(gyre_layout_create(type, GYRE_MESSAGE_MAX, &layout) == GYRE_OK, "%s", gyre_error_text());
    gyre_status status = message_json_read(layout, text, strlen(text), message);
    gyre_layout_destroy(layout);
    return status;
}

static void accepted(const gyre_type *type, const char *text, void *message)
{
    ck_assert_msg(read_text(type, text, message) == GYRE_OK, "%s: %s", text, gyre_error_text());
}

static void refused(const gyre_type *type, const char *text, const char *sentence)
{
    unsigned char message[256];
    ck_assert_uint_le(type->size, sizeof message);
    ck_assert_msg(read_text(type, text, message) == GYRE_INVALID, "%s was accepted", text);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

/* What a message looks like; valid until the next call. */
static const char *written(const gyre_type *type, const void *message)
{
    static char *text;
    static size_t length;
    gyre_layout *layout;
    ck_assert_int_eq(gyre_layout_create(type, GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    free(text);
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    message_json_write(layout, message, out);
    fclose(out);
    gyre_layout_destroy(layout);
    return text;
}

START_TEST(nested_messages_and_arrays_are_read_and_written)
{
    shape s;
    const char *text =
        "{\"name\":[104,105,0,0,0,0,0,0],\"corners\":[{\"x\":0.5,\"y\":-1.0},{\"x\":3.0,\"y\":0.1}],"
        "\"grid\":[[1,-2,3],[4,5,-32768]]}";
    accepted(GYRE_TYPE(shape), text, &s);
    ck_assert_str_eq((const char *)s.name, "hi");
    ck_assert(s.corners[0].x == 0.5f && s.corners[1].y == 0.1);
    ck_assert_int_eq(s.grid[1][2], -32768);
    ck_assert_str_eq(written(GYRE_TYPE(shape), &s), text);
}
END_TEST

START_TEST(fields_may_come_in_any_order_and_text_fills_bytes)
{
    shape s;
    memset(&s, 0xff, sizeof s);
    accepted(GYRE_TYPE(shape),
             " { \"grid\" : [[1,2,3],[4,5,6]], "
             "\"corners\":[{\"y\":1,\"x\":2},{\"x\":0,\"y\":0}], \"name\":\"\\u00e9\" } ",
             &s);
    ck_assert_mem_eq(s.name, "\xc3\xa9\0\0\0\0\0\0", 8);
    ck_assert(s.corners[0].x == 2.0f);
}
END_TEST

START_TEST(integers_are_exact_to_both_ends_of_their_range)
{
    integers n;
    const char *lowest =
        "{\"a\":-128,\"b\":-32768,\"c\":-2147483648,\"d\":-9223372036854775808,\"e\":0,\"f\":0,"
        "\"g\":0,\"h\":0}";
    const char *highest = "{\"a\":127,\"b\":32767,\"c\":2147483647,\"d\":9223372036854775807,\"e\":255,"
                          "\"f\":65535,\"g\":4294967295,\"h\":18446744073709551615}";
    accepted(GYRE_TYPE(integers), lowest, &n);
    ck_assert(n.d == INT64_MIN && n.c == INT32_MIN);
    ck_assert_str_eq(written(GYRE_TYPE(integers), &n), lowest);
    accepted(GYRE_TYPE(integers), highest, &n);
    ck_assert(n.h == UINT64_MAX && n.d == INT64_MAX);
    ck_assert_str_eq(written(GYRE_TYPE(integers), &n), highest);
    u64 beyond_double;
    accepted(GYRE_TYPE(u64), "9007199254740993", &beyond_double);
    ck_assert_uint_eq(beyond_double, 9007199254740993u);
    accepted(GYRE_TYPE(u64), "\"18446744073709551615\"", &beyond_double);
    ck_assert_uint_eq(beyond_double, UINT64_MAX);
    i64 negative;
    accepted(GYRE_TYPE(i64), "\"-9223372036854775808\"", &negative);
    ck_assert_int_eq(negative, INT64_MIN);
    accepted(GYRE_TYPE(i64), "-0", &negative);
    ck_assert_int_eq(negative, 0);
}
END_TEST

START_TEST(integers_beyond_their_range_are_refused)
{
    refused(GYRE_TYPE(u8), "256", "expected an integer from 0 to 255 (u8), found 256");
    refused(GYRE_TYPE(u8), "-1", "expected an integer from 0 to 255 (u8), found -1");
    refused(GYRE_TYPE(i8), "-129", "expected an integer from -128 to 127 (i8), found -129");
    refused(GYRE_TYPE(i16), "32768", "expected an integer from -32768 to 32767 (i16), found 32768");
    refused(GYRE_TYPE(u32), "4294967296", "expected an integer from 0 to 4294967295 (u32), found 4294967296");
    refused(GYRE_TYPE(u64), "18446744073709551616",
            "expected an integer from 0 to 18446744073709551615 (u64), found 18446744073709551616");
    refused(GYRE_TYPE(u64), "-1", "expected an integer from 0 to 18446744073709551615 (u64), found -1");
    refused(GYRE_TYPE(i64), "9223372036854775808",
            "expected an integer from -9223372036854775808 to "
            "9223372036854775807 (i64), found 9223372036854775808");
    refused(GYRE_TYPE(i64), "-9223372036854775809",
            "expected an integer from -9223372036854775808 to "
            "9223372036854775807 (i64), found -9223372036854775809");
    refused(GYRE_TYPE(i32), "99999999999999999999",
            "expected an integer from -2147483648 to 2147483647 (i32), found 99999999999999999999");
}
END_TEST

START_TEST(values_of_the_wrong_kind_are_refused)
{
    refused(GYRE_TYPE(u8), "1.0", "expected an integer from 0 to 255 (u8), found 1.0000000000000000");
    refused(GYRE_TYPE(u8), "\"1\"", "expected an integer from 0 to 255 (u8), found the text \"1\"");
    refused(GYRE_TYPE(u64), "\"1x\"",
            "expected an integer from 0 to 18446744073709551615 (u64), found the text \"1x\"");
    refused(GYRE_TYPE(u64), "\"\"",
            "expected an integer from 0 to 18446744073709551615 (u64), found the text \"\"");
    refused(GYRE_TYPE(u8), "true", "expected an integer from 0 to 255 (u8), found true");
    refused(GYRE_TYPE(u8), "null", "expected an integer from 0 to 255 (u8), found null");
    refused(GYRE_TYPE(point), "[1,2]", "expected an object with the fields of 'point', found an array of 2");
    refused(GYRE_TYPE(point), "{\"x\":{},\"y\":1}",
            "field 'x': expected a number up to 3.4e38, \"NaN\", "
            "\"Infinity\" or \"-Infinity\" (f32), found an object");
    refused(GYRE_TYPE(gyre_none), "1", "expected null or {} (gyre_none), found 1");
}
END_TEST

#define CORNERS "\"corners\":[{\"x\":0,\"y\":0},{\"x\":0,\"y\":0}]"
#define GRID    "\"grid\":[[1,2,3],[4,5,6]]"

START_TEST(the_path_of_a_field_is_named)
{
    const gyre_type *type = GYRE_TYPE(shape);
    refused(type, "{\"name\":\"\"," GRID ",\"corners\":[{\"x\":0,\"y\":0},{\"x\":0,\"y\":[]}]}",
            "field 'corners[1].y': expected a number up to 1.8e308, \"NaN\", "
            "\"Infinity\" or \"-Infinity\" (f64), found an array of 0");
    refused(type, "{\"name\":\"\"," GRID ",\"corners\":[{\"x\":0,\"y\":0},{\"x\":0}]}",
            "missing field 'corners[1].y' (f64)");
    refused(type, "{\"name\":\"\"," GRID ",\"corners\":[{\"x\":0,\"yy\":0},{\"x\":0}]}",
            "unknown field 'corners[0].yy'; did you mean 'y'?");
    refused(type, "{\"name\":\"\"," CORNERS ",\"grid\":[[1,2,3],[4,5]]}",
            "field 'grid[1]': expected an array of 3 (i16), found an array of 2");
    refused(type, "{\"name\":\"\"," CORNERS ",\"grid\":[[1,2,3],[4,5,6],[7,8,9]]}",
            "field 'grid': expected an array of 2 (i16), found an array of 3");
    refused(type, "{\"name\":\"\"," CORNERS ",\"grid\":7}",
            "field 'grid': expected an array of 2 (i16), found 7");
    refused(type, "{\"name\":\"123456789\"," CORNERS "," GRID "}",
            "field 'name': expected a text of at most 8 bytes, found the text \"123456789\"");
    refused(type, "{\"name\":99999999999999999999," CORNERS "," GRID "}",
            "field 'name': expected an array of 8 (u8), found 99999999999999999999");
    refused(GYRE_TYPE(point), "{\"x\":1,\"y\":2,\"something\":3}",
            "unknown field 'something': 'point' has the fields x, y");
}
END_TEST

START_TEST(floats_keep_every_bit_but_those_of_nan)
{
    static const float values[] = {0.0f,        -0.0f,    0.1f,         1.0f / 3,      FLT_MAX,
                                   -FLT_MAX,    FLT_MIN,  FLT_TRUE_MIN, 1e10f,         1e-10f,
                                   16777216.0f, INFINITY, -INFINITY,    0x1.fffffep-1f};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        float back = 7;
        accepted(GYRE_TYPE(f32), written(GYRE_TYPE(f32), &values[i]), &back);
        ck_assert_mem_eq(&back, &values[i], sizeof back);
        double wide = (double)values[i] / 3, wide_back = 7;
        accepted(GYRE_TYPE(f64), written(GYRE_TYPE(f64), &wide), &wide_back);
        ck_assert_mem_eq(&wide_back, &wide, sizeof wide);
    }
    float value = 0.1f;
    ck_assert_str_eq(written(GYRE_TYPE(f32), &value), "0.1");
    value = -0.0f;
    ck_assert_str_eq(written(GYRE_TYPE(f32), &value), "-0.0");
    value = (float)NAN;
    ck_assert_str_eq(written(GYRE_TYPE(f32), &value), "\"NaN\"");
    accepted(GYRE_TYPE(f32), "\"NaN\"", &value);
    ck_assert(isnan(value));
    accepted(GYRE_TYPE(f32), "-0", &value);
    ck_assert(value == 0 && signbit(value));
    accepted(GYRE_TYPE(f32), "100000000000000000000", &value);
    ck_assert(value == 1e20f);
}
END_TEST

START_TEST(random_bit_patterns_of_f32_survive)
{
    uint32_t bits = 12345;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 1664525u + 1013904223u;
        float value, back;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        accepted(GYRE_TYPE(f32), written(GYRE_TYPE(f32), &value), &back);
        ck_assert_mem_eq(&back, &value, sizeof back);
    }
}
END_TEST

START_TEST(floats_beyond_their_range_are_refused)
{
    refused(GYRE_TYPE(f32), "1e39",
            "expected a number up to 3.4e38, \"NaN\", "
            "\"Infinity\" or \"-Infinity\" (f32), found 9.9999999999999994e+38");
    refused(GYRE_TYPE(f32), "\"nan\"",
            "expected a number up to 3.4e38, \"NaN\", "
            "\"Infinity\" or \"-Infinity\" (f32), found the text \"nan\"");
    refused(GYRE_TYPE(f64), "1e999", "malformed JSON at byte 5: real number overflow");
    char huge[402];
    memset(huge, '9', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    double value;
    ck_assert_int_eq(read_text(GYRE_TYPE(f64), huge, &value), GYRE_INVALID);
}
END_TEST

START_TEST(text_that_is_no_json_is_refused_with_its_place)
{
    refused(GYRE_TYPE(one_f32), "", "malformed JSON at byte 0: unexpected token");
    refused(GYRE_TYPE(one_f32), "{\"x\":}", "malformed JSON at byte 6: unexpected token");
    refused(GYRE_TYPE(one_f32), "{\"x\":1}}", "malformed JSON at byte 8: end of file expected");
    refused(GYRE_TYPE(one_f32), "{\"x\":18446744073709551615 oops}",
            "malformed JSON at byte 30: '}' expected");
    refused(GYRE_TYPE(one_f32), "{\"x\":1,\"x\":2}", "malformed JSON at byte 10: duplicate object key");
    refused(GYRE_TYPE(one_f32), "{\"x\":NaN}", "malformed JSON at byte 8: invalid token");
    refused(GYRE_TYPE(one_f32), "{\"x\":01}", "malformed JSON at byte 6: invalid token");
    refused(GYRE_TYPE(one_f32), "{\"\xff\":1}", "malformed JSON at byte 2: unable to decode byte 0xff");
    refused(
        GYRE_TYPE(one_f32), "{\"x\":\"NaN\\u0000\"}",
        "field 'x': expected a value without \\u0000, which texts alone may have, found the text \"NaN\"");
    refused(GYRE_TYPE(one_f32), "{\"\\u0000\":1}",
            "malformed JSON at byte 9: \\u0000 is a NUL byte, which no name of a field has; leave it out");
    refused(GYRE_TYPE(one_f32), "{\"x\":00000000000000000000001}", "malformed JSON at byte 6: invalid token");
}
END_TEST

START_TEST(a_nul_byte_is_refused)
{
    unsigned char message[sizeof(one_f32)];
    gyre_layout *layout;
    ck_assert_int_eq(gyre_layout_create(GYRE_TYPE(one_f32), GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    ck_assert_int_eq(message_json_read(layout, "{\"x\":1\0}", 8, message), GYRE_INVALID);
    ck_assert_str_eq(gyre_error_text(), "malformed JSON at byte 6: a NUL byte");
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(texts_are_written_as_valid_json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    message_json_write_text("a\"b\\c\n\x01\xc3\xa9\xff\xed\xa0\x80", out);
    fclose(out);
    ck_assert_str_eq(text,
                     "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    free(text);
}
END_TEST

START_TEST(nothing_is_null_or_an_empty_object)
{
    char none;
    accepted(GYRE_TYPE(gyre_none), "{}", &none);
    accepted(GYRE_TYPE(gyre_none), "null", &none);
    ck_assert_str_eq(written(GYRE_TYPE(gyre_none), &none), "null");
}
END_TEST

START_TEST(parts_are_read_into_the_tail_and_written_again)
{
    static const char text[] =
        "{\"id\":\"00112233-4455-6677-8899-aabbccddeeff\",\"lines\":[\"\",\"z\\u00fc\"],"
        "\"friends\":[{\"name\":\"a\\\"b\",\"age\":7},{\"name\":\"c\"}],\"raw\":[1,2,255]}";
    card message;
    accepted(GYRE_TYPE(card), text, &message);
    ck_assert_int_eq(message.id.bytes[15], 0xff);
    ck_assert_uint_eq(message.lines[0].count, 0);
    ck_assert_mem_eq(gyre_items(u8, &message, message.lines[1]), "z\xc3\xbc", 3);
    ck_assert_uint_eq(*gyre_items(u16, &message, gyre_items(friend_, &message, message.friends)[0].age), 7);
    ck_assert(!gyre_has(gyre_items(friend_, &message, message.friends)[1].age));
    ck_assert_int_eq(gyre_message_check(GYRE_TYPE(card), &message, message.gyre_used), GYRE_OK);
    ck_assert_str_eq(written(GYRE_TYPE(card), &message),
                     "{\"id\":\"00112233-4455-6677-8899-aabbccddeeff\",\"lines\":[\"\",\"z\xc3\xbc\"],"
                     "\"friends\":[{\"name\":\"a\\\"b\",\"age\":7},{\"name\":\"c\",\"age\":null}],"
                     "\"raw\":[1,2,255]}");
}
END_TEST

START_TEST(parts_that_are_wrong_or_too_long_are_refused)
{
    static const char *const fields =
        "{\"id\":\"00112233-4455-6677-8899-aabbccddeeff\",\"lines\":[\"\",\"\"],\"friends\":%s,\"raw\":%s}";
    static const struct {
        const char *friends, *raw, *sentence;
    } cases[] = {
        {"3", "[]", "field 'friends': expected an array of any length (friend_), found 3"},
        {"[{\"name\":3}]", "[]", "field 'friends[0].name': expected a text (utf8), found 3"},
        {"[{\"name\":\"\",\"age\":-1}]", "[]",
         "field 'friends[0].age': expected an integer from 0 to 65535 (u16), found -1"},
        {"[]",
         "\"0123456789012345678901234567890123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789012345678901234567890123456789\"",
         "field 'raw': 140 items of 1 bytes do not fit into the tail: the message holds at most 176 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, fields, cases[i].friends, cases[i].raw);
        refused(GYRE_TYPE(card), text, cases[i].sentence);
    }
    refused(GYRE_TYPE(card), "{\"id\":\"0011\"}",
            "field 'id': expected an id like "
            "\"00112233-4455-6677-8899-aabbccddeeff\" (id128), found the text \"0011\"");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("message_json");
    TCase *tcase = tcase_create("message_json");
    tcase_add_test(tcase, nested_messages_and_arrays_are_read_and_written);
    tcase_add_test(tcase, fields_may_come_in_any_order_and_text_fills_bytes);
    tcase_add_test(tcase, integers_are_exact_to_both_ends_of_their_range);
    tcase_add_test(tcase, integers_beyond_their_range_are_refused);
    tcase_add_test(tcase, values_of_the_wrong_kind_are_refused);
    tcase_add_test(tcase, the_path_of_a_field_is_named);
    tcase_add_test(tcase, floats_keep_every_bit_but_those_of_nan);
    tcase_add_test(tcase, random_bit_patterns_of_f32_survive);
    tcase_add_test(tcase, floats_beyond_their_range_are_refused);
    tcase_add_test(tcase, text_that_is_no_json_is_refused_with_its_place);
    tcase_add_test(tcase, a_nul_byte_is_refused);
    tcase_add_test(tcase, texts_are_written_as_valid_json);
    tcase_add_test(tcase, nothing_is_null_or_an_empty_object);
    tcase_add_test(tcase, parts_are_read_into_the_tail_and_written_again);
    tcase_add_test(tcase, parts_that_are_wrong_or_too_long_are_refused);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
