/* SPDX-License-Identifier: Apache-2.0 */
/* Names of fields by their offsets, and messages as JSON. */
#include "backends/cpu/check/cpu_fields.h"
#include "unit/unit.h"

#include <string.h>

#define POINT(FIELD) FIELD(u8, kind) FIELD(f32, x) FIELD(f32, y)
GYRE_MESSAGE(point, POINT)
#define SCENE(FIELD)                                                                                         \
    FIELD(u16, number)                                                                                       \
    FIELD(point, points[3]) FIELD(i8, grid[2][3]) FIELD(u64, large) FIELD(i64, small) FIELD(f64, precise)
GYRE_MESSAGE(scene, SCENE)
#define LETTER(FIELD) FIELD(u32, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(letter, LETTER, 64)
#define SUMMED(FIELD) FIELD(u32, cells[2 + 2])
GYRE_MESSAGE(summed, SUMMED)

#define EITHER(TAKES) TAKES(point, gyre_none) TAKES(letter, point)
GYRE_PROTOCOL(either, EITHER)

static char text[512];

static void check_name(size_t offset, const char *name)
{
    ck_assert(cpu_fields_name(GYRE_TYPE(scene), offset, text, sizeof text));
    ck_assert_str_eq(text, name);
}

START_TEST(fields_have_names)
{
    check_name(offsetof(scene, number) + 1, "number");
    check_name(offsetof(scene, points[2].y) + 3, "points[2].y");
    check_name(offsetof(scene, points), "points[0].kind");
    check_name(offsetof(scene, grid[1][2]), "grid[1][2]");
    check_name(offsetof(scene, precise), "precise");
}
END_TEST

START_TEST(other_bytes_have_none)
{
    ck_assert(
        !cpu_fields_name(GYRE_TYPE(scene), offsetof(scene, number) + 2, text, sizeof text)); /* padding */
    ck_assert(!cpu_fields_name(GYRE_TYPE(scene), sizeof(scene), text, sizeof text));
    ck_assert(!cpu_fields_name(GYRE_TYPE(scene), offsetof(scene, points[2].y), text, 6)); /* no room */
    ck_assert(!cpu_fields_name(GYRE_TYPE(summed), 0, text, sizeof text));
    ck_assert(!cpu_fields_name(GYRE_TYPE(gyre_none), 0, text, sizeof text));
}
END_TEST

START_TEST(messages_become_json)
{
    static const char expected[] =
        "{\"number\":7,\"points\":[{\"kind\":1,\"x\":0.5,\"y\":-2},{\"kind\":0,\"x\":0,\"y\":0},"
        "{\"kind\":0,\"x\":0,\"y\":\"NaN\"}],\"grid\":[[1,2,3],[-1,-2,-3]],\"large\":18446744073709551615,"
        "\"small\":-9223372036854775808,\"precise\":0.10000000000000001}";
    scene message;
    memset(&message, 0, sizeof message);
    message.number = 7;
    message.points[0] = (point){1, 0.5f, -2};
    message.points[2].y = __builtin_nanf("");
    message.grid[0][0] = 1, message.grid[0][1] = 2, message.grid[0][2] = 3;
    message.grid[1][0] = -1, message.grid[1][1] = -2, message.grid[1][2] = -3;
    message.large = UINT64_MAX;
    message.small = INT64_MIN;
    message.precise = 0.1;
    ck_assert(cpu_fields_json(GYRE_TYPE(scene), &message, &message, text, sizeof text));
    ck_assert_str_eq(text, expected);
    for (size_t size = 0; size < sizeof expected; size++) /* cut, and nothing is written behind the room */
        ck_assert(!cpu_fields_json(GYRE_TYPE(scene), &message, &message, text + sizeof text - size, size));
    ck_assert(cpu_fields_json(GYRE_TYPE(scene), &message, &message, text, sizeof expected));
}
END_TEST

START_TEST(other_messages_do_not)
{
    letter message;
    gyre_begin(&message);
    ck_assert(!cpu_fields_json(GYRE_TYPE(letter), &message, &message, text, sizeof text));
    summed sum = {{1, 2, 3, 4}};
    ck_assert(!cpu_fields_json(GYRE_TYPE(summed), &sum, &sum, text, sizeof text));
}
END_TEST

START_TEST(one_of_several_types_is_named)
{
    either_request request;
    uint64_t skip;
    memset(&request, 0, sizeof request);
    request.gyre_choice = GYRE_NUMBER(either, point);
    request.gyre_one.gyre_of_point = (point){3, 1, 2};
    ck_assert(cpu_fields_json(GYRE_TYPE(either_request), &request, &request, text, sizeof text));
    ck_assert_str_eq(text, "{\"type\":\"point\",\"kind\":3,\"x\":1,\"y\":2}");
    ck_assert_ptr_eq(cpu_fields_chosen(GYRE_TYPE(either_reply), &request, &skip), GYRE_TYPE(gyre_none));
    ck_assert_uint_eq(skip, GYRE_CHOICE_FRONT);
    request.gyre_choice = GYRE_NUMBER(either, letter);
    ck_assert(!cpu_fields_json(GYRE_TYPE(either_request), &request, &request, text, sizeof text));
    ck_assert_ptr_eq(cpu_fields_chosen(GYRE_TYPE(either_reply), &request, &skip), GYRE_TYPE(point));
    for (request.gyre_choice = 0; request.gyre_choice <= 3; request.gyre_choice += 3) /* of no type */
        ck_assert_ptr_eq(cpu_fields_chosen(GYRE_TYPE(either_request), &request, &skip),
                         GYRE_TYPE(either_request));
    ck_assert_uint_eq(skip, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_fields");
    TCase *tests = tcase_create("types");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, fields_have_names);
    tcase_add_test(tests, other_bytes_have_none);
    tcase_add_test(tests, messages_become_json);
    tcase_add_test(tests, other_messages_do_not);
    tcase_add_test(tests, one_of_several_types_is_named);
    return unit_run(suite);
}
