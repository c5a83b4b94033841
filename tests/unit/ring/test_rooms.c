/* SPDX-License-Identifier: Apache-2.0 */
/* Rooms of a memory: never two in one place, and what was given back is there again. */
#include <stdlib.h>

#include "core/stages/rooms.h"
#include "unit/unit.h"

enum { UNITS = 64, ROOMS = 40 };

START_TEST(rooms_are_whole_units_and_no_more_than_there_are)
{
    struct gyre_rooms rooms;
    uint64_t offset = 1;
    ck_assert_int_eq(gyre_rooms_init(&rooms, 3 * GYRE_ROOM_UNIT + 5), GYRE_OK);
    ck_assert(!gyre_rooms_take(&rooms, 0, &offset));
    ck_assert(!gyre_rooms_take(&rooms, 3 * GYRE_ROOM_UNIT + 1, &offset));
    ck_assert(!gyre_rooms_take(&rooms, UINT64_MAX, &offset));
    ck_assert(gyre_rooms_take(&rooms, GYRE_ROOM_UNIT + 1, &offset));
    ck_assert_uint_eq(offset, 0);
    ck_assert_uint_eq(rooms.in_use, 2 * GYRE_ROOM_UNIT);
    ck_assert(!gyre_rooms_take(&rooms, GYRE_ROOM_UNIT + 1, &offset));
    ck_assert(gyre_rooms_take(&rooms, 1, &offset));
    ck_assert_uint_eq(offset, 2 * GYRE_ROOM_UNIT);
    gyre_rooms_give(&rooms, 100 * GYRE_ROOM_UNIT);
    gyre_rooms_give(&rooms, 0);
    gyre_rooms_give(&rooms, 0); /* nobody has it: nothing happens */
    ck_assert_uint_eq(rooms.in_use, GYRE_ROOM_UNIT);
    ck_assert(gyre_rooms_take(&rooms, 2 * GYRE_ROOM_UNIT, &offset));
    ck_assert_uint_eq(offset, 0);
    gyre_rooms_finish(&rooms);
}
END_TEST

static bool apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a + a_size <= b || b + b_size <= a;
}

START_TEST(rooms_never_lie_over_each_other)
{
    struct gyre_rooms rooms;
    uint64_t offsets[ROOMS], sizes[ROOMS] = {0};
    srand(7);
    ck_assert_int_eq(gyre_rooms_init(&rooms, UNITS * GYRE_ROOM_UNIT), GYRE_OK);
    for (int round = 0; round < 20000; round++) {
        const int i = rand() % ROOMS;
        if (sizes[i]) {
            gyre_rooms_give(&rooms, offsets[i]);
            sizes[i] = 0;
            continue;
        }
        const uint64_t size = (uint64_t)rand() % (5 * GYRE_ROOM_UNIT) + 1;
        if (!gyre_rooms_take(&rooms, size, &offsets[i]))
            continue;
        ck_assert(offsets[i] + size <= UNITS * GYRE_ROOM_UNIT);
        for (int k = 0; k < ROOMS; k++)
            ck_assert(sizes[k] == 0 || apart(offsets[i], size, offsets[k], sizes[k]));
        sizes[i] = size;
    }
    for (int i = 0; i < ROOMS; i++)
        if (sizes[i])
            gyre_rooms_give(&rooms, offsets[i]);
    ck_assert_uint_eq(rooms.in_use, 0);
    ck_assert(gyre_rooms_take(&rooms, UNITS * GYRE_ROOM_UNIT, &offsets[0]));
    gyre_rooms_finish(&rooms);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rooms");
    TCase *tcase = tcase_create("rooms");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, rooms_are_whole_units_and_no_more_than_there_are);
    tcase_add_test(tcase, rooms_never_lie_over_each_other);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
