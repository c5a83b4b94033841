/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a keyed actor: scripts by chance against a model, keys that somebody chose, and how much room there is. */
#include "keyed_model.h"

#include <stdio.h>

#include "random.h"
#include "unit/unit.h"

START_TEST(scripts_by_chance_do_as_the_model)
{
    uint8_t script[1200];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t chance = random_begin(seed);
        /* few keys in some scripts, so that they come again, and many in others, so that room is made all the time */
        const uint64_t keys = 1 + random_below(&chance, MODEL_KEYS);
        for (size_t i = 0; i < sizeof script; i += 2) {
            script[i] = (uint8_t)random_below(&chance, i == 0 ? 256 : keys);
            script[i + 1] = (uint8_t)random_below(&chance, 256);
        }
        model_run(script, sizeof script);
        model_replay(script, sizeof script);
    }
}
END_TEST

/* How many places a search for the key looks at. */
static uint32_t looks_for(const gyre_keyed_table *table, const uint64_t *key)
{
    const uint64_t hash = gyre_keyed_hash(table, key);
    gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    const uint32_t at = gyre_keyed_find(table, part, key, hash);
    const uint32_t home = gyre_keyed_home(table, (uint32_t)(hash >> 32));
    ck_assert_uint_ne(at, GYRE_KEYED_NOWHERE);
    return 1 + (at >= home ? at - home : at + table->places - home);
}

/* Fills a table with as many keys as it was made for, `step` apart: each finds room, and no search is long. */
static void fill_with(uint64_t keys, uint64_t step)
{
    gyre_keyed_table *table = model_table(keys, sizeof(uint64_t), sizeof(uint64_t), step * 77 + keys);
    uint64_t all = 0;
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t key = i * step, hash = gyre_keyed_hash(table, &key);
        gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
        ck_assert(gyre_keyed_add_(table, part, &key, hash) != NULL);
    }
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t key = i * step;
        const uint32_t looks = looks_for(table, &key);
        ck_assert_uint_lt(looks, 80);
        all += looks;
    }
    ck_assert_uint_lt(all, keys * 2); /* half of the places are free: 1.5 looks on average */
    free(table);
}

START_TEST(keys_that_somebody_chose_are_found_as_fast_as_others)
{
    static const uint64_t steps[] = {
        1, 2, 64, 4096, UINT64_C(1) << 32, UINT64_C(1) << 40, 0x9e3779b97f4a7c15};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        fill_with(50000, steps[i]);
}
END_TEST

START_TEST(tables_of_every_size_hold_what_they_were_made_for)
{
    for (uint64_t keys = 1; keys < 3000; keys += 1 + keys / 7)
        fill_with(keys, 3);
}
END_TEST

/* Nothing of a part lies over anything else of it, also where a state, or a part, has gigabytes. */
START_TEST(large_tables_have_room_for_all)
{
    static const uint32_t states[] = {1u << 29, UINT32_MAX};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        gyre_keyed_table head = {.keys = 16, .key_size = 8, .state_size = states[i]};
        gyre_keyed_plan(&head, true);
        ck_assert_uint_ge(head.due_offset, (uint64_t)head.state_offset + head.state_size);
        ck_assert_uint_ge(head.entry_size, head.due_offset + sizeof(gyre_keyed_due));
        ck_assert_uint_ge(head.heap_offset, head.entries_offset + head.capacity * head.entry_size);
        ck_assert_uint_ge(head.part_size, head.heap_offset + head.capacity * sizeof(gyre_u32));
    }
}
END_TEST

/* A block owns whole parts, each part has one owner, and blocks own about as many. */
START_TEST(every_part_has_one_owner)
{
    gyre_keyed_table *table = model_table(100000, sizeof(uint64_t), 8, 5);
    ck_assert_uint_eq(table->parts_log2, 8);
    for (uint32_t blocks = 1; blocks <= 64; blocks++) {
        uint32_t owned[64] = {0};
        for (uint64_t part = 0; part < 256; part++)
            owned[gyre_keyed_owner(table, part | UINT64_C(0xabc) << 40, blocks)]++;
        for (uint32_t block = 0; block < blocks; block++)
            ck_assert(owned[block] >= 256 / blocks && owned[block] <= 256 / blocks + 1);
    }
    free(table);
}
END_TEST

/* The vectors are those of SipHash-1-3 with the key 00 01 .. 0f, of 0, 1, 8 and 15 bytes that count up. */
START_TEST(the_hash_is_siphash)
{
    static const struct {
        uint32_t size;
        uint64_t hash;
    } vectors[] = {
        {0, 0xabac0158050fc4dc}, {1, 0xc9f49bf37d57ca93}, {8, 0x369095118d299a8e}, {15, 0xd320d86d2a519956}};
    const gyre_u64 seed[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    uint8_t bytes[16];
    for (uint8_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        ck_assert_uint_eq(gyre_keyed_hash_bytes(seed, bytes, vectors[i].size), vectors[i].hash);
}
END_TEST

/* Makes the table that the kernel kept one of an earlier start of the machine, whose clock was `earlier` ahead. */
static void age(gyre_keyed_table *kept, uint64_t earlier)
{
    kept->boot ^= 1;
    kept->clock_ns -= earlier;
}

/* ---- reminders ---- */

GYRE_KEYED_ACTOR_REMINDED(keyed_hasty, model_ask, model_state, model_state, key)
{
    state->count = request->what;
    gyre_remind(gyre, request->what);
    *reply = *state;
    return GYRE_REPLY;
}

/* Asks for the next one `what` nanoseconds later. */
GYRE_REMINDED(keyed_hasty)
{
    static model_state spare;
    model_require(++state->reminded < 1000);
    model_require(!gyre->header && !gyre->header_size && !gyre->origin && !gyre->flow && !gyre->token);
    if (state->count == 2)
        model_require(gyre_flow_(gyre, sizeof spare, &spare) == &spare);
    gyre_remind(gyre, state->count);
}

static const char *logged;

static void note_log(gyre_context *context, const char *text, gyre_i64 value)
{
    static char copy[200];
    (void)context;
    (void)value;
    snprintf(copy, sizeof copy, "%s", text);
    logged = copy;
}

/* A key is told at 1, and again at 1 second: how often it was reminded by then. It sees nothing of the message that it came before. */
static uint64_t reminded_in_a_second(uint8_t what)
{
    static const gyre_cpu_services services = {.log = note_log};
    gyre_keyed_table *table = model_table_of(4, sizeof(uint16_t), sizeof(model_state), 1, true);
    gyre_context context = {.lane_count = 1, .block_count = 1, .by_sent = 1, .services = &services};
    model_state reply = {0}, memory = {0};
    for (uint64_t sent_ns = 1; sent_ns <= 1000000001; sent_ns += 1000000000) {
        const gyre_header header = {.sent_ns = sent_ns};
        const model_ask ask = {3, what};
        context.header = (const unsigned char *)&header;
        context.header_size = sizeof header;
        context.memory = &memory;
        context.memory_size = sizeof memory;
        context.origin = context.flow = context.token = 5;
        gyre_keyed_handler_keyed_hasty(&ask, &reply, table, NULL, NULL, &context);
        ck_assert_uint_eq(context.failed, 0);
        ck_assert(context.header == (const unsigned char *)&header && context.header_size == sizeof header);
        ck_assert(context.memory == &memory && context.origin == 5 && context.flow == 5 &&
                  context.token == 5);
    }
    free(table);
    return reply.reminded;
}

START_TEST(reminders_that_ask_too_soon_end)
{
    ck_assert_uint_eq(reminded_in_a_second(1), 100); /* after 1 ns, and then each 10 ms */
    ck_assert_ptr_null(logged);
    ck_assert_uint_eq(reminded_in_a_second(2), 100);
    ck_assert_ptr_nonnull(strstr(logged, "a reminder failed: gyre_flow: a reminder is of no flow"));
    ck_assert_uint_eq(reminded_in_a_second(0), 1);
    ck_assert_ptr_nonnull(strstr(logged, "a reminder failed: gyre_remind by 0 ns in GYRE_REMINDED"));
}
END_TEST

static uint64_t fired;

static void count_fired(void *state, const gyre_reminder *reminder, gyre_context *context)
{
    (void)state;
    ck_assert_int_le((int64_t)reminder->due_ns, 0);
    ck_assert_uint_eq(context->failed, 0);
    fired++;
}

/* Of 500 keys, due a nanosecond apart, the first 251 were due before the start or at it, but one never is. */
static void require_past_ones_come(const gyre_keyed_table *table)
{
    gyre_context context = {.lane_count = 1, .block_count = 1, .by_sent = 1};
    fired = 0;
    ck_assert_int_eq(gyre_keyed_fire_(table, count_fired, &context, INT64_MIN),
                     0); /* no time was announced yet */
    ck_assert_int_eq(context.next_due_ns, -250);
    while (gyre_keyed_fire_(table, count_fired, &context, 0))
        ;
    ck_assert_uint_eq(fired, 250);
    ck_assert_int_eq(context.next_due_ns, 1);
}

/* Damages a number of a kept table, and sees that no start goes on with it. */
static void require_refused(const gyre_kernel *kernel, gyre_keyed_table *kept, gyre_u32 *number,
                            gyre_u32 wrong)
{
    const gyre_u32 right = *number;
    *number = wrong;
    ck_assert_int_eq(gyre_keyed_check_saved(kernel, (unsigned char *)kept), GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "the reminders that kernel 'alarms' kept are damaged"));
    *number = right;
    ck_assert_int_eq(gyre_keyed_check_saved(kernel, (unsigned char *)kept), GYRE_OK);
}

/* Of the same start of the machine as well: a block believes what the heap says. */
START_TEST(damaged_reminders_are_refused)
{
    const gyre_kernel_record record = {.reminds = 1};
    struct gyre_keyed keyed = {.initial = NULL};
    static gyre_kernel kernel;
    gyre_keyed_table *kept = model_table_of(8, sizeof(uint64_t), 8, 1, true);
    gyre_keyed_part *part = gyre_keyed_part_at(kept, 0);
    kernel.record = &record;
    kernel.memory.keyed = &keyed;
    snprintf(kernel.name, sizeof kernel.name, "alarms");
    keyed.table = *kept;
    for (uint64_t key = 0; key < 4; key++) {
        gyre_keyed_entry *entry = gyre_keyed_add_(kept, part, &key, gyre_keyed_hash(kept, &key));
        if (key < 3)
            gyre_due_set_(kept, part, entry, (int64_t)key);
    }
    gyre_u32 *const heap = gyre_keyed_heap(kept, part);
    require_refused(&kernel, kept, &part->reminders, kept->capacity + 1);
    require_refused(&kernel, kept, &part->reminders, 2);
    require_refused(&kernel, kept, &part->fresh, kept->capacity + 1);
    require_refused(&kernel, kept, &heap[1], kept->capacity);
    require_refused(&kernel, kept, &heap[1], heap[2]);
    require_refused(&kernel, kept, &gyre_due_at_(kept, part, 0)->place, 0);
    require_refused(&kernel, kept, &gyre_keyed_entry_at(kept, part, heap[0])->is_free, 1);
    require_refused(&kernel, kept, &gyre_keyed_due_of(kept, gyre_keyed_entry_at(kept, part, 3))->place, 1);
    free(kept);
}
END_TEST

START_TEST(reminders_outlive_a_start_of_the_machine)
{
    const gyre_kernel_record record = {.reminds = 1};
    struct gyre_keyed keyed = {.initial = NULL};
    static gyre_kernel kernel;
    gyre_keyed_table *kept = model_table_of(1000, sizeof(uint64_t), 8, 1, true);
    uint32_t reminders = 0;
    kernel.record = &record;
    kernel.memory.keyed = &keyed;
    gyre_keyed_clock(kept);
    keyed.table = *kept;
    for (uint64_t key = 0; key < 500; key++) {
        const uint64_t hash = gyre_keyed_hash(kept, &key);
        gyre_keyed_part *part = gyre_keyed_part_at(kept, gyre_keyed_part_of(kept, hash));
        gyre_keyed_entry *entry = gyre_keyed_add_(kept, part, &key, hash);
        gyre_due_set_(kept, part, entry, key == 7 ? GYRE_KEYED_NO_DUE - 1 : (int64_t)(100000 + key));
    }
    gyre_keyed_shift(&kernel, (unsigned char *)kept); /* the same start */
    ck_assert_uint_eq(gyre_keyed_clock_shift(&kernel, (unsigned char *)kept), 0);
    age(kept, 40000); /* what was 100,000 after that start is 60,000 after this one */
    gyre_keyed_shift(&kernel, (unsigned char *)kept);
    ck_assert(kept->boot == keyed.table.boot && kept->clock_ns == keyed.table.clock_ns);
    for (uint32_t i = 0; i < 1u << kept->parts_log2; i++) {
        gyre_keyed_part *part = gyre_keyed_part_at(kept, i);
        for (uint32_t place = 0; place < part->reminders; place++, reminders++) {
            const gyre_u32 number = gyre_keyed_heap(kept, part)[place];
            uint64_t key;
            memcpy(&key, gyre_keyed_entry_at(kept, part, number) + 1, sizeof key);
            ck_assert_int_eq(gyre_due_at_(kept, part, place)->due_ns,
                             key == 7 ? GYRE_KEYED_NO_DUE - 1 : (int64_t)(60000 + key));
        }
    }
    ck_assert_uint_eq(reminders, 500);
    age(kept, 60250); /* the machine was started after some of them were due */
    gyre_keyed_shift(&kernel, (unsigned char *)kept);
    require_past_ones_come(kept);
    free(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keyed");
    TCase *tcase = tcase_create("table");
    tcase_set_timeout(tcase, 0); /* ctest has one */
    tcase_add_test(tcase, scripts_by_chance_do_as_the_model);
    tcase_add_test(tcase, keys_that_somebody_chose_are_found_as_fast_as_others);
    tcase_add_test(tcase, tables_of_every_size_hold_what_they_were_made_for);
    tcase_add_test(tcase, large_tables_have_room_for_all);
    tcase_add_test(tcase, every_part_has_one_owner);
    tcase_add_test(tcase, the_hash_is_siphash);
    tcase_add_test(tcase, reminders_that_ask_too_soon_end);
    tcase_add_test(tcase, damaged_reminders_are_refused);
    tcase_add_test(tcase, reminders_outlive_a_start_of_the_machine);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
