/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every type and every content: both serializers make the same bytes, each reads them back to
 * an equal message, and both refuse the same input.
 */
#include "cli/json/message_json.h"
#include "cli/wire/decode.h"
#include "cli/wire/description.h"
#include "cli/wire/encode.h"
#include "cli/wire/pack.h"
#include "core/base/error.h"
#include "core/types/message.h"
#include "generated.h"
#include "random_message.h"
#include "unit/unit.h"

#include <string.h>

enum { MESSAGE_MAX = 4096, WIRE_MAX = 16384, ROUNDS = 3000 / SHORTENED, BROKEN_ROUNDS = 6000 / SHORTENED };

typedef struct wire_subject {
    const generated_row *row;
    gyre_layout *layout;
} wire_subject;

static gyre_pack wire;
static wire_subject subjects[GENERATED_COUNT];
/* words of 8 bytes: generated functions see typed messages */
static uint64_t first[MESSAGE_MAX / 8], second[MESSAGE_MAX / 8], third[MESSAGE_MAX / 8];
static uint8_t bytes[WIRE_MAX], again[WIRE_MAX];

static void set_up(void)
{
    ck_assert_msg(gyre_pack_scan(&wire, WIRE_TYPES_H) == GYRE_OK, "%s", gyre_error_text());
    for (size_t i = 0; i < GENERATED_COUNT; i++) {
        subjects[i].row = &GENERATED[i];
        ck_assert_int_eq(gyre_layout_create_message(GENERATED[i].type, MESSAGE_MAX, &subjects[i].layout),
                         GYRE_OK);
        ck_assert_msg(gyre_pack_check(&wire, subjects[i].layout) == GYRE_OK, "%s", gyre_error_text());
    }
}

static void tear_down(void)
{
    for (size_t i = 0; i < GENERATED_COUNT; i++)
        gyre_layout_destroy(subjects[i].layout);
    gyre_pack_finish(&wire);
}

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return (random_next(state) >> 8) % limit;
}

static char *json_of(const gyre_layout *layout, const void *message)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    message_json_write(layout, message, out);
    fclose(out);
    return text;
}

static void expect_equal_contents(const gyre_layout *layout, const void *a, const void *b)
{
    char *left = json_of(layout, a), *right = json_of(layout, b);
    ck_assert_str_eq(left, right);
    free(left);
    free(right);
}

static size_t encode(const wire_subject *subject, const void *message, uint8_t *to)
{
    size_t length = 0;
    ck_assert_msg(gyre_pack_encode(&wire, subject->layout, message, to, WIRE_MAX, &length) == GYRE_OK,
                  "%s: %s", subject->layout->name, gyre_error_text());
    return length;
}

static void round_trip(const wire_subject *subject)
{
    const gyre_layout *layout = subject->layout;
    const size_t length = encode(subject, first, bytes);
    gyre_wire_out out = {.bytes = again, .room = WIRE_MAX};
    ck_assert_uint_eq(subject->row->encode(&out, first), length);
    ck_assert_mem_eq(again, bytes, length);

    ck_assert_msg(gyre_pack_decode(&wire, layout, bytes, length, second) == GYRE_OK, "%s: %s", layout->name,
                  gyre_error_text());
    ck_assert_int_eq(gyre_layout_check_message(layout, second, gyre_layout_length(layout, second)), GYRE_OK);
    expect_equal_contents(layout, first, second);
    gyre_wire_in in = {.bytes = bytes, .length = (gyre_u32)length};
    ck_assert_msg(subject->row->decode(&in, third), "%s: %s at %u", layout->name, in.problem, in.at);
    ck_assert_mem_eq(third, second, gyre_layout_length(layout, second));

    ck_assert_uint_eq(encode(subject, second, again), length);
    ck_assert_mem_eq(again, bytes, length);
}

START_TEST(every_message_comes_back_and_both_serializers_agree)
{
    const wire_subject *subject = &subjects[_i];
    uint64_t state = 0x9e3779b97f4a7c15u + (unsigned)_i;
    for (int round = 0; round < ROUNDS; round++) {
        random_message(subject->layout, &state, first);
        round_trip(subject);
    }
}
END_TEST

/* Either reads the same, or refuses for the same reason;
 * a run of fields says where it starts when it is cut. */
static void expect_same_verdict(const wire_subject *subject, const uint8_t *input, size_t length)
{
    const gyre_layout *layout = subject->layout;
    gyre_status status = gyre_pack_decode(&wire, layout, input, length, second);
    gyre_wire_in in = {.bytes = input, .length = (gyre_u32)length};
    const int read = subject->row->decode(&in, third);
    ck_assert_msg((status == GYRE_OK) == (read != 0), "%s: %s against %s", layout->name,
                  status == GYRE_OK ? "read" : gyre_error_text(), read ? "read" : in.problem);
    if (status == GYRE_OK) {
        ck_assert_int_eq(gyre_layout_check_message(layout, second, gyre_layout_length(layout, second)),
                         GYRE_OK);
        ck_assert_mem_eq(third, second, gyre_layout_length(layout, second));
        return;
    }
    char place[40];
    snprintf(place, sizeof place, "byte %u of %zu", in.at, length);
    if (in.at != length || strcmp(in.problem, "the input ends within it") != 0)
        ck_assert_msg(strstr(gyre_error_text(), in.problem) && strstr(gyre_error_text(), place),
                      "'%s' at %u is not what '%s' says", in.problem, in.at, gyre_error_text());
}

/* In a block of its own size, so that a sanitizer sees a byte read beyond it. */
static void try_broken(uint64_t *state, const wire_subject *subject, size_t length)
{
    size_t cut = random_below(state, 3) ? length : random_below(state, length + 1);
    uint8_t *input = malloc(cut ? cut : 1);
    ck_assert_ptr_nonnull(input);
    memcpy(input, bytes, cut);
    for (uint64_t changes = random_below(state, 4); cut > 0 && changes > 0; changes--)
        input[random_below(state, cut)] =
            (uint8_t)(random_below(state, 2) ? random_below(state, 256) : 255 * random_below(state, 2));
    expect_same_verdict(subject, input, cut);
    free(input);
}

START_TEST(broken_input_is_refused_by_both_or_read_alike)
{
    const wire_subject *subject = &subjects[_i];
    uint64_t state = 0xd1b54a32d192ed03u + (unsigned)_i;
    for (int round = 0; round < BROKEN_ROUNDS; round++) {
        random_message(subject->layout, &state, first);
        try_broken(&state, subject, encode(subject, first, bytes));
    }
}
END_TEST

START_TEST(too_little_room_is_refused_by_both)
{
    const wire_subject *subject = &subjects[_i];
    uint64_t state = 0xa0761d6478bd642fu + (unsigned)_i;
    random_message(subject->layout, &state, first);
    const size_t length = encode(subject, first, bytes);
    for (size_t room = 0; room < length; room++) {
        uint8_t *to = malloc(room + 1);
        size_t used;
        ck_assert_ptr_nonnull(to);
        to[room] = 0xa5;
        gyre_wire_out out = {.bytes = to, .room = (gyre_u32)room};
        ck_assert_uint_eq(subject->row->encode(&out, first), 0);
        ck_assert_str_eq(out.problem, "no more room for the encoded message");
        ck_assert_int_eq(gyre_pack_encode(&wire, subject->layout, first, to, room, &used), GYRE_INVALID);
        ck_assert_uint_eq(to[room], 0xa5);
        free(to);
    }
}
END_TEST

START_TEST(what_lies_in_a_buffer_is_refused_by_both)
{
    const wire_subject *subject = &subjects[_i];
    const gyre_part far = {GYRE_PART_FAR, 1000};
    uint64_t state = 0xe7037ed1a0b428dbu + (unsigned)_i;
    for (uint32_t i = 0; i < subject->layout->field_count; i++) {
        const gyre_field *field = &subject->layout->fields[i];
        const gyre_shape shape = field->type->shape;
        size_t used;
        if ((shape != GYRE_SHAPE_SPAN && shape != GYRE_SHAPE_UTF8) || field->type->element->has_parts)
            continue;
        random_message(subject->layout, &state, first);
        memcpy((unsigned char *)first + field->offset, &far, sizeof far);
        gyre_wire_out out = {.bytes = bytes, .room = WIRE_MAX};
        ck_assert_uint_eq(subject->row->encode(&out, first), 0);
        ck_assert_str_eq(out.problem, "its items lie in a device buffer");
        ck_assert_int_eq(gyre_pack_encode(&wire, subject->layout, first, bytes, WIRE_MAX, &used),
                         GYRE_INVALID);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire properties");
    TCase *tests = tcase_create("types");
    tcase_add_unchecked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 50);
    tcase_add_loop_test(tests, every_message_comes_back_and_both_serializers_agree, 0, GENERATED_COUNT);
    tcase_add_loop_test(tests, broken_input_is_refused_by_both_or_read_alike, 0, GENERATED_COUNT);
    tcase_add_loop_test(tests, too_little_room_is_refused_by_both, 0, GENERATED_COUNT);
    tcase_add_loop_test(tests, what_lies_in_a_buffer_is_refused_by_both, 0, GENERATED_COUNT);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
