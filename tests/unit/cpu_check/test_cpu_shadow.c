/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses race: each rule of cpu_shadow.h, and random histories against a rule that remembers everything. */
#include "backends/cpu/check/cpu_shadow.h"
#include "backends/cpu/lanes/cpu_lane.h"
#include "random.h"
#include "unit/unit.h"

enum { READ = 0, WRITE = 1, ATOMIC_READ = 2, ATOMIC_WRITE = 3 };

static struct cpu_shadow shadow;
static struct cpu_earlier earlier;

static void begin(void)
{
    shadow = (struct cpu_shadow){0};
}

static void end(void)
{
    ck_assert(!shadow.full);
    cpu_shadow_free(&shadow);
}

static struct cpu_access access_of(uint64_t message, uint32_t lane, uint32_t phase, uint64_t address,
                                   uint64_t size, int how)
{
    return (struct cpu_access){.address = address,
                               .size = size,
                               .message = message,
                               .since = message,
                               .phase = phase,
                               .lane = lane,
                               .write = how & WRITE,
                               .atomic = how & ATOMIC_READ,
                               .code = (const void *)(uintptr_t)(0x1000 + lane)};
}

/* Of message 1, by a lane, in a phase. */
static bool touch(uint32_t lane, uint32_t phase, uint64_t address, uint64_t size, int how)
{
    const struct cpu_access access = access_of(1, lane, phase, address, size, how);
    return cpu_shadow_note(&shadow, &access, &earlier);
}

static bool touch_since(uint64_t message, uint64_t since, uint64_t address, int how)
{
    struct cpu_access access = access_of(message, 0, 0, address, 4, how);
    access.since = since;
    return cpu_shadow_note(&shadow, &access, &earlier);
}

START_TEST(two_lanes_race_when_one_writes)
{
    begin();
    ck_assert(!touch(3, 0, 100, 4, WRITE));
    ck_assert(touch(5, 0, 100, 4, READ));
    ck_assert_uint_eq(earlier.lane, 3);
    ck_assert_uint_eq(earlier.message, 1);
    ck_assert(earlier.write && !earlier.atomic);
    ck_assert_ptr_eq(earlier.code, (const void *)(uintptr_t)0x1003);
    ck_assert(!touch(1, 0, 200, 4, READ));
    ck_assert(!touch(2, 0, 200, 4, READ));
    ck_assert(touch(4, 0, 200, 4, WRITE));
    end();
}
END_TEST

START_TEST(a_barrier_orders_lanes)
{
    begin();
    ck_assert(!touch(3, 0, 100, 4, WRITE));
    ck_assert(!touch(5, 1, 100, 4, WRITE));
    ck_assert(touch(3, 1, 100, 4, READ));
    end();
}
END_TEST

/* Lanes 0 to 3 and 4 to 7 are two blocks: a barrier of theirs orders the lanes of one, and one of the grid all of them. */
START_TEST(a_barrier_of_a_block_orders_its_own_lanes)
{
    static const struct {
        uint32_t lane, phase;
        bool races;
    } steps[] = {{3, 0, false},
                 {2, 1, false},
                 {5, 1, true},
                 {5, 2, true},
                 {4, CPU_PHASES_MAX, false},
                 {7, CPU_PHASES_MAX + 1, false},
                 {1, CPU_PHASES_MAX + 3, true}};
    begin();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct cpu_access access = access_of(1, steps[i].lane, steps[i].phase, 100, 4, WRITE);
        access.block_lanes = 4;
        ck_assert_int_eq(cpu_shadow_note(&shadow, &access, &earlier), steps[i].races);
    }
    end();
}
END_TEST

START_TEST(a_lane_does_not_race_with_itself)
{
    begin();
    ck_assert(!touch(3, 0, 100, 4, READ));
    ck_assert(!touch(3, 0, 100, 4, WRITE));
    ck_assert(!touch(3, 0, 100, 8, READ));
    end();
}
END_TEST

START_TEST(bytes_of_a_word_are_apart)
{
    begin();
    for (uint32_t lane = 0; lane < 4; lane++)
        ck_assert(!touch(lane, 0, 100 + lane, 1, WRITE));
    ck_assert(touch(9, 0, 102, 2, READ));
    ck_assert_uint_ge(earlier.address, 102);
    ck_assert(!touch(2, 1, 98, 4, WRITE)); /* over the border of two words */
    ck_assert(touch(7, 1, 101, 1, READ));
    ck_assert_uint_eq(earlier.address, 101);
    end();
}
END_TEST

START_TEST(atomics_race_with_others_only)
{
    begin();
    ck_assert(!touch(1, 0, 100, 4, ATOMIC_WRITE));
    ck_assert(!touch(2, 0, 100, 4, ATOMIC_WRITE));
    ck_assert(!touch(3, 0, 100, 4, ATOMIC_READ));
    ck_assert(touch(4, 0, 100, 4, READ));
    ck_assert(!touch(1, 0, 200, 4, ATOMIC_READ));
    ck_assert(!touch(2, 0, 200, 4, READ));
    /* a lane's atomic access does not hide what it did before */
    ck_assert(!touch(1, 0, 300, 4, READ));
    ck_assert(!touch(1, 0, 300, 4, ATOMIC_WRITE));
    ck_assert(touch(2, 0, 300, 4, ATOMIC_WRITE));
    ck_assert(!earlier.atomic);
    end();
}
END_TEST

START_TEST(messages_race_unless_one_was_over)
{
    begin();
    ck_assert(!touch_since(5, 5, 100, WRITE));
    ck_assert(touch_since(6, 4, 100, WRITE)); /* its request was there before message 4 began */
    ck_assert_uint_eq(earlier.message, 5);
    ck_assert(!touch_since(7, 7, 100, WRITE));
    ck_assert(touch_since(9, 7, 100, READ)); /* 8 touched nothing */
    end();
}
END_TEST

/* Of two blocks: one handles the odd messages, the other one the even ones. */
static bool is_of_same_block(const void *who, uint64_t message)
{
    return *(const uint64_t *)who % 2 == message % 2;
}

static bool touch_in_block(uint64_t message, uint64_t address, int how)
{
    struct cpu_access access = access_of(message, 0, 0, address, 4, how);
    access.since = 1;
    access.follows = is_of_same_block;
    access.who = &message;
    return cpu_shadow_note(&shadow, &access, &earlier);
}

START_TEST(messages_of_one_block_follow_each_other)
{
    begin();
    ck_assert(!touch_in_block(1, 100, WRITE));
    ck_assert(!touch_in_block(3, 100, WRITE));
    ck_assert(!touch_in_block(
        5, 100, READ)); /* keeps what wrote before: another block's message may race with that */
    ck_assert(touch_in_block(6, 100, READ));
    ck_assert(earlier.write && earlier.message % 2 == 1);
    end();
}
END_TEST

START_TEST(many_readers_do_not_hide_from_a_writer)
{
    begin();
    for (uint32_t lane = 0; lane < 1024; lane++)
        ck_assert(!touch(lane, 0, 4096, 4, READ));
    ck_assert(touch(1023, 0, 4096, 4, WRITE));
    ck_assert(touch(0, 0, 4096, 4, WRITE));
    end();
}
END_TEST

START_TEST(many_pages)
{
    begin();
    for (uint64_t page = 0; page < 1000; page++)
        ck_assert(!touch(1, 0, page * 4096 + 4094, 4, WRITE)); /* over the border of two */
    for (uint64_t page = 0; page < 1000; page++)
        ck_assert(touch(2, 0, page * 4096 + 4097, 1, READ));
    ck_assert_uint_eq(shadow.used, 1001);
    end();
}
END_TEST

/* Everything that happened to a word, and the rule of two accesses. */
enum { STEPS = 24 };
static struct cpu_access all[STEPS];

static bool really_race(const struct cpu_access *a, const struct cpu_access *b)
{
    const bool overlap = a->address < b->address + b->size && b->address < a->address + a->size;
    if (!overlap || !(a->write || b->write) || (a->atomic && b->atomic))
        return false;
    if (a->message == b->message)
        return a->phase == b->phase && a->lane != b->lane;
    return a->message >= b->since;
}

static bool same_access(const struct cpu_access *a, const struct cpu_access *b)
{
    return a->message == b->message && a->phase == b->phase && a->lane == b->lane && a->write == b->write &&
           a->atomic == b->atomic;
}

/*
 * Nothing is told falsely, nor twice of an access that is repeated, and as long as a word has no more than four accesses of two
 * lanes nothing is missed.
 */
START_TEST(random_histories)
{
    uint64_t random = random_begin((uint64_t)_i + 1);
    uint32_t found = 0;
    for (int run = 0; run < 400; run++) {
        const bool small = run % 2;
        uint64_t message = 1;
        uint32_t phase = 0;
        begin();
        for (int step = 0; step < (small ? 4 : STEPS); step++) {
            if (random_below(&random, 6) == 0)
                message++, phase = 0;
            else if (random_below(&random, 5) == 0)
                phase++;
            struct cpu_access *now = &all[step];
            *now = access_of(message, (uint32_t)random_below(&random, small ? 2 : 5), phase,
                             4000 + (small ? 0 : random_below(&random, 12)),
                             small ? 4 : 1 + random_below(&random, 8), (int)random_below(&random, 4));
            now->since = message - (message > 2);
            bool races = false, repeated = false;
            for (int i = 0; i < step; i++) {
                races = races || really_race(&all[i], now);
                repeated = repeated || same_access(&all[i], now);
            }
            const bool told = cpu_shadow_note(&shadow, now, &earlier);
            ck_assert_msg(races || !told, "run %d, step %d: told falsely", run, step);
            ck_assert_msg(!small || repeated || told == races, "run %d, step %d: missed", run, step);
            found += told;
        }
        end();
    }
    ck_assert_uint_gt(found, 400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_shadow");
    TCase *tests = tcase_create("rules");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, two_lanes_race_when_one_writes);
    tcase_add_test(tests, a_barrier_orders_lanes);
    tcase_add_test(tests, a_barrier_of_a_block_orders_its_own_lanes);
    tcase_add_test(tests, a_lane_does_not_race_with_itself);
    tcase_add_test(tests, bytes_of_a_word_are_apart);
    tcase_add_test(tests, atomics_race_with_others_only);
    tcase_add_test(tests, messages_race_unless_one_was_over);
    tcase_add_test(tests, messages_of_one_block_follow_each_other);
    tcase_add_test(tests, many_readers_do_not_hide_from_a_writer);
    tcase_add_test(tests, many_pages);
    tcase_add_loop_test(tests, random_histories, 0, 20);
    return unit_run(suite);
}
