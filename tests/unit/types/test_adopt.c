/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a type taken over as those of a later one: what is found again by its name, and what is refused. */
#include <string.h>

#include "core/base/error.h"
#include "core/types/adopt.h"
#include "core/types/compare.h"
#include "core/types/convert.h"
#include "core/types/message.h"
#include "core/types/types.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

/* ---- states ---- */

#define OLD_POINT(FIELD) FIELD(f32, x) FIELD(f32, y)
GYRE_MESSAGE(old_point, OLD_POINT)
#define OLD_STATE(FIELD) FIELD(u64, sum) FIELD(old_point, at[2][3]) FIELD(u8, flags[5]) FIELD(u32, count)
GYRE_MESSAGE(old_state, OLD_STATE)

#define NEW_POINT(FIELD) FIELD(u64, id) FIELD(f32, y) FIELD(f32, x)
GYRE_MESSAGE(new_point, NEW_POINT)
#define NEW_STATE(FIELD)                                                                                     \
    FIELD(u32, count) FIELD(u64, limit) FIELD(u64, sum) FIELD(new_point, at[3][4]) FIELD(u8, flags[9])
GYRE_MESSAGE(new_state, NEW_STATE)

#define APPENDED_STATE(FIELD) OLD_STATE(FIELD) FIELD(u64, limit)
GYRE_MESSAGE(appended_state, APPENDED_STATE)

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout;
    gyre_status status = gyre_layout_create_message(type, GYRE_STATE_MAX, &layout);
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    return layout;
}

static gyre_status adopt(const gyre_type *old, const void *value, uint64_t size, const gyre_type *new,
                         void *out, uint64_t *length)
{
    gyre_layout *from = layout_of(old), *to = layout_of(new);
    gyre_status status = gyre_layout_check_adopt(from, to);
    if (status == GYRE_OK)
        status = gyre_layout_adopt(from, value, size, to, out, length);
    gyre_layout_destroy(from);
    gyre_layout_destroy(to);
    return status;
}

static old_state some_state(void)
{
    old_state state = {.sum = 77, .flags = {1, 2, 3, 4, 5}, .count = 9};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            state.at[i][k] = (old_point){(float)(10 * i + k), 0.5f};
    return state;
}

/* Wherever they lie now; what came stays as it was given. */
START_TEST(fields_are_found_by_their_names)
{
    const old_state before = some_state();
    new_state after = {.limit = 1000};
    uint64_t length = 0;
    after.at[0][0].id = 4;
    after.flags[8] = 6;
    ck_assert_int_eq(
        adopt(GYRE_TYPE(old_state), &before, sizeof before, GYRE_TYPE(new_state), &after, &length), GYRE_OK);
    ck_assert(length == sizeof after && after.sum == 77 && after.count == 9 && after.limit == 1000);
    ck_assert(memcmp(after.flags, (unsigned char[]){1, 2, 3, 4, 5, 0, 0, 0, 6}, 9) == 0);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            const bool was = i < 2 && k < 3;
            ck_assert(after.at[i][k].x == (was ? (float)(10 * i + k) : 0));
            ck_assert(after.at[i][k].y == (was ? 0.5f : 0));
            ck_assert(after.at[i][k].id == (i + k == 0 ? 4 : 0));
        }
}
END_TEST

START_TEST(what_was_there_stands_in_front_of_what_was_appended)
{
    const old_state before = some_state();
    appended_state after = {.limit = 5};
    uint64_t length = 0;
    ck_assert_int_eq(
        adopt(GYRE_TYPE(old_state), &before, sizeof before, GYRE_TYPE(appended_state), &after, &length),
        GYRE_OK);
    ck_assert(after.sum == 77 && after.count == 9 && after.limit == 5 && after.at[1][2].x == 12);
}
END_TEST

#define GONE(FIELD) FIELD(u64, sum) FIELD(old_point, at[2][3]) FIELD(u8, flags[5])
GYRE_MESSAGE(gone, GONE)
#define WIDER(FIELD) FIELD(u64, sum) FIELD(old_point, at[2][3]) FIELD(u8, flags[5]) FIELD(u64, count)
GYRE_MESSAGE(wider, WIDER)
#define SHORTER(FIELD) FIELD(u64, sum) FIELD(old_point, at[2][2]) FIELD(u8, flags[5]) FIELD(u32, count)
GYRE_MESSAGE(shorter, SHORTER)
#define FLAT(FIELD) FIELD(u64, sum) FIELD(old_point, at[6]) FIELD(u8, flags[5]) FIELD(u32, count)
GYRE_MESSAGE(flat, FLAT)
#define LESS_POINT(FIELD) FIELD(f32, x)
GYRE_MESSAGE(less_point, LESS_POINT)
#define INSIDE(FIELD) FIELD(u64, sum) FIELD(less_point, at[2][3]) FIELD(u8, flags[5]) FIELD(u32, count)
GYRE_MESSAGE(inside, INSIDE)
#define ONE(FIELD) FIELD(u64, sum) FIELD(u64, at[2][3]) FIELD(u8, flags[5]) FIELD(u32, count)
GYRE_MESSAGE(one, ONE)

static const struct {
    const gyre_type *type;
    const char *words;
} refusals[] = {
    {GYRE_TYPE(gone), "the field 'count' of type u32 is gone"},
    {GYRE_TYPE(wider), "the field 'count' of type u32 is of type u64 now"},
    {GYRE_TYPE(shorter), "the field 'at' of type old_point[2][3] is of type old_point[2][2] now"},
    {GYRE_TYPE(flat), "the field 'at' of type old_point[2][3] is of type old_point[6] now"},
    {GYRE_TYPE(inside), "the field 'at.y' of type f32 is gone"},
    {GYRE_TYPE(one), "the field 'at' of type old_point[2][3] is of type u64[2][3] now"},
    {GYRE_TYPE(u64), "are types of different kinds"},
};

START_TEST(what_would_get_lost_is_refused)
{
    const old_state before = some_state();
    unsigned char after[4096];
    uint64_t length = 0;
    ck_assert_int_eq(adopt(GYRE_TYPE(old_state), &before, sizeof before, refusals[_i].type, after, &length),
                     GYRE_INCOMPATIBLE);
    ck_assert_msg(strstr(gyre_error_text(), refusals[_i].words), "%s", gyre_error_text());
}
END_TEST

/* ---- messages with tails, and of several types ---- */

#define OLD_NOTE(FIELD) FIELD(u32, id) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(old_note, OLD_NOTE, 64)
#define NEW_NOTE(FIELD) OLD_NOTE(FIELD) FIELD(u64, from) FIELD(span_u32, marks)
GYRE_MESSAGE_TAIL(new_note, NEW_NOTE, 128)
GYRE_MESSAGE_TAIL(small_note, NEW_NOTE, 32)
#define OLD_DESK(TAKES) TAKES(old_state, gone) TAKES(old_note, gyre_none)
GYRE_PROTOCOL(old_desk, OLD_DESK)

START_TEST(a_tail_is_taken_along)
{
    old_note before;
    new_note after;
    uint64_t length = 0;
    gyre_begin(&before);
    before.id = 7;
    ck_assert_int_eq(gyre_put_text(&before, &before.text, "hello"), GYRE_OK);
    ck_assert_int_eq(
        adopt(GYRE_TYPE(old_note), &before, before.gyre_used, GYRE_TYPE(new_note), &after, &length), GYRE_OK);
    ck_assert(length == after.gyre_used && after.id == 7 && after.from == 0 && after.marks.count == 0);
    ck_assert(after.text.count == 5 && memcmp((const char *)&after + after.text.offset, "hello", 5) == 0);
    ck_assert_int_eq(
        adopt(GYRE_TYPE(old_note), &before, before.gyre_used, GYRE_TYPE(small_note), &after, &length),
        GYRE_INCOMPATIBLE);
    ck_assert_int_eq(
        adopt(GYRE_TYPE(new_note), &after, after.gyre_used, GYRE_TYPE(old_note), &before, &length),
        GYRE_INCOMPATIBLE);
}
END_TEST

/* What is no message of its type is none of the later one either. */
START_TEST(a_broken_message_is_not_taken_over)
{
    old_note before = {.gyre_used = 4};
    new_note after;
    uint64_t length = 0;
    ck_assert_int_eq(adopt(GYRE_TYPE(old_note), &before, sizeof before, GYRE_TYPE(new_note), &after, &length),
                     GYRE_INVALID);
}
END_TEST

/* The reply of a protocol, of which one choice grew and another one was added. */
static const gyre_type *later_desk(void)
{
    static const gyre_type *types[6];
    static gyre_type grown, desk;
    grown = *GYRE_TYPE(appended_state);
    grown.name = "old_state";
    types[0] = GYRE_TYPE(old_desk_request)->field_types[0];
    types[1] = GYRE_TYPE(u32);
    types[2] = &grown;
    types[3] = GYRE_TYPE(old_note);
    types[4] = GYRE_TYPE(old_point);
    desk = (gyre_type){
        "desk",
        "gyre_used gyre_used;u32 gyre_choice;old_state choice[];old_note choice[];old_point choice[];",
        sizeof(appended_state) + 8, 8, types};
    if (sizeof(old_note) > sizeof(appended_state))
        desk.size = sizeof(old_note) + 8;
    return &desk;
}

START_TEST(the_types_of_a_protocol_grow_each)
{
    old_desk_request before = {.gyre_used = 8 + sizeof(old_state), .gyre_choice = 1};
    const old_state state = some_state();
    unsigned char after[4096] = {0};
    appended_state grown;
    uint64_t length = 0;
    memcpy(&before.gyre_one, &state, sizeof state);
    ck_assert_msg(adopt(GYRE_TYPE(old_desk_request), &before, before.gyre_used, later_desk(), after,
                        &length) == GYRE_OK,
                  "%s", gyre_error_text());
    ck_assert_uint_eq(length, 8 + sizeof grown);
    memcpy(&grown, after + 8, sizeof grown);
    ck_assert(grown.sum == 77 && grown.count == 9 && grown.limit == 0);
    ck_assert_int_eq(adopt(later_desk(), after, length, GYRE_TYPE(old_desk_request), &before, &length),
                     GYRE_INCOMPATIBLE);
}
END_TEST

/* Between programs, too: a message of a type that the other side has goes both ways. */
START_TEST(messages_of_a_protocol_that_grew_are_converted)
{
    gyre_layout *before = layout_of(GYRE_TYPE(old_desk_request)), *now = layout_of(later_desk());
    const old_state state = some_state();
    old_desk_request message = {.gyre_used = 8 + sizeof state, .gyre_choice = 1};
    unsigned char grown[4096], back[4096];
    memset(grown, 0xff, sizeof grown);
    ck_assert(gyre_layout_extends(now, before) && !gyre_layout_extends(before, now));
    memcpy(&message.gyre_one, &state, sizeof state);
    ck_assert(gyre_layout_convert(before, &message, now, grown) == GYRE_OK);
    ck_assert_uint_eq(gyre_layout_length(now, grown), 8 + sizeof(appended_state));
    ck_assert(((const appended_state *)(const void *)(grown + 8))->limit == 0);
    ck_assert(gyre_layout_convert(now, grown, before, back) == GYRE_OK);
    ck_assert(memcmp(back, &message, message.gyre_used) == 0);
    message = (old_desk_request){.gyre_used = 8 + sizeof(old_point), .gyre_choice = 3};
    ck_assert(gyre_layout_convert(now, &message, before, back) == GYRE_INVALID);
    ck_assert_msg(strstr(gyre_error_text(), "type of number 3, 'old_point'"), "%s", gyre_error_text());
    gyre_layout_destroy(before);
    gyre_layout_destroy(now);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("adopt");
    TCase *tcase = tcase_create("adopt");
    tcase_add_test(tcase, fields_are_found_by_their_names);
    tcase_add_test(tcase, what_was_there_stands_in_front_of_what_was_appended);
    tcase_add_loop_test(tcase, what_would_get_lost_is_refused, 0,
                        (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tcase, a_tail_is_taken_along);
    tcase_add_test(tcase, a_broken_message_is_not_taken_over);
    tcase_add_test(tcase, the_types_of_a_protocol_grow_each);
    tcase_add_test(tcase, messages_of_a_protocol_that_grew_are_converted);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
