/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a keyed actor (dialect/c11_keyed.h) beside a model of it: the bytes of a script say which key comes, and what its
 * handler does. After each message both have the same keys with the same states. For the unit test, with scripts by chance, and
 * for the fuzzer.
 *
 * The tables are small, so that keys share the places of an index all the time and each look for the oldest key sees all.
 */
#ifndef GYRE_TESTS_KEYED_MODEL_H
#define GYRE_TESTS_KEYED_MODEL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/keyed.h"

#include <gyre/kernel.h> /* behind the host's headers: a handler's GYRE_FAILED is another one */

enum { MODEL_KEYS_MAX = 16, MODEL_KEYS = 64 };

#define MODEL_ASK(FIELD) FIELD(u16, key) FIELD(u8, what)
GYRE_MESSAGE(model_ask, MODEL_ASK)
#define MODEL_STATE(FIELD) FIELD(u32, count) FIELD(u32, stays) FIELD(u64, reminded) FIELD(u64, due_ns)
GYRE_MESSAGE(model_state, MODEL_STATE)

/*
 * What a message does: it counts; it counts and fails; its key leaves; its key stays, or does not, when room is needed; its key is
 * reminded, or is not.
 */
enum {
    MODEL_COUNTS,
    MODEL_FAILS,
    MODEL_FORGETS,
    MODEL_STAYS,
    MODEL_LEAVES,
    MODEL_REMINDS,
    MODEL_UNREMINDS,
    MODEL_ACTS
};

/* Nanoseconds that the model counts in. */
static uint64_t model_unit_ns = 1;

/* In how many of them a key is reminded: the higher, the earlier, so that orders are turned round. */
static inline uint64_t model_delay(uint16_t key, uint32_t count)
{
    return 1 + (100000u - key * 77u + count * 131u) % 499;
}

GYRE_KEYED_ACTOR_LIVES_REMINDED(keyed_model, model_ask, model_state, model_state, key)
{
    state->count++;
    if (request->what == MODEL_STAYS || request->what == MODEL_LEAVES)
        state->stays = request->what == MODEL_STAYS;
    if (request->what == MODEL_REMINDS)
        gyre_remind(gyre, model_delay(request->key, state->count) * model_unit_ns);
    if (request->what == MODEL_UNREMINDS)
        gyre_unremind(gyre);
    if (request->what == MODEL_FAILS)
        return gyre_fail(gyre, 1, "as it was asked to");
    if (request->what == MODEL_FORGETS)
        gyre_forget(gyre);
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(keyed_model)
{
    state->count = 100 * request->key;
}

/* Two of three reminders ask for another one, and now and then the key leaves. */
GYRE_REMINDED(keyed_model)
{
    state->due_ns = reminder->due_ns;
    if (++state->reminded % 3)
        gyre_remind(gyre, 50 * model_unit_ns);
    if (state->reminded % 5 == 4)
        gyre_forget(gyre);
}

GYRE_PASSIVE(keyed_model)
{
    return state->stays ? GYRE_STAYS : GYRE_LEAVES;
}

struct model_key {
    bool there;
    model_state state;
    uint64_t used;
    uint64_t due_ns; /* 0: it has no reminder */
};

struct keyed_model {
    gyre_keyed_table *table;
    gyre_context context;
    struct model_key keys[MODEL_KEYS];
    uint64_t clock;
    uint32_t count, capacity;
};

static uint64_t model_time_ns = 1;

static gyre_u64 model_clock(void)
{
    return model_time_ns;
}

static void model_require(bool holds)
{
    if (!holds)
        abort();
}

/** Makes a table; `seed`: of its hash. Also for other tests than those of the model. */
static gyre_keyed_table *model_table_of(uint64_t keys, uint32_t key_size, uint32_t state_size, uint64_t seed,
                                        bool reminds)
{
    gyre_keyed_table head = {.magic = GYRE_KEYED_MAGIC,
                             .version = GYRE_KEYED_VERSION,
                             .keys = keys,
                             .key_size = key_size,
                             .state_size = state_size,
                             .seed = {seed, ~seed}};
    gyre_keyed_plan(&head, reminds);
    gyre_keyed_table *table = calloc(1, head.size);
    model_require(table != NULL);
    *table = head;
    return table;
}

static inline gyre_keyed_table *model_table(uint64_t keys, uint32_t key_size, uint32_t state_size,
                                            uint64_t seed)
{
    return model_table_of(keys, key_size, state_size, seed, false);
}

/*
 * Makes room as the table does: the key that was not used for longest is asked first, and one that stays, or has a reminder, counts as
 * used.
 */
static bool model_make_room(struct keyed_model *model)
{
    for (int asked = 0; asked < GYRE_KEYED_LOOKS_; asked++) {
        struct model_key *oldest = NULL;
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            if (model->keys[i].there && (!oldest || model->keys[i].used < oldest->used))
                oldest = &model->keys[i];
        if (!oldest->due_ns && !oldest->state.stays) {
            oldest->there = false;
            model->count--;
            return true;
        }
        oldest->used = ++model->clock;
    }
    return false;
}

/* What the handler replies, or that the message fails. */
static bool model_handle(struct keyed_model *model, const model_ask *ask, model_state *reply)
{
    struct model_key *key = &model->keys[ask->key];
    const bool is_new = !key->there;
    if (is_new) {
        if (model->count == model->capacity && !model_make_room(model))
            return false;
        *key = (struct model_key){.there = true, .state.count = 100u * ask->key};
        model->count++;
    }
    key->used = ++model->clock;
    key->state.count++;
    if (ask->what == MODEL_STAYS || ask->what == MODEL_LEAVES)
        key->state.stays = ask->what == MODEL_STAYS;
    if (ask->what == MODEL_REMINDS)
        key->due_ns = model_time_ns + model_delay(ask->key, key->state.count);
    if (ask->what == MODEL_UNREMINDS)
        key->due_ns = 0;
    *reply = key->state;
    if (ask->what == MODEL_FORGETS || (is_new && ask->what == MODEL_FAILS)) {
        key->there = false;
        model->count--;
    }
    return ask->what != MODEL_FAILS;
}

/* Lets time pass: what is due comes, what is due first before the others. */
static void model_pass(struct keyed_model *model, uint64_t ns)
{
    model_time_ns += ns;
    for (;;) {
        struct model_key *first = NULL;
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            if (model->keys[i].there && model->keys[i].due_ns &&
                (!first || model->keys[i].due_ns < first->due_ns))
                first = &model->keys[i];
        if (!first || first->due_ns > model_time_ns)
            break;
        first->state.due_ns = first->due_ns;
        first->due_ns = ++first->state.reminded % 3 ? first->due_ns + 50 : 0;
        if (first->due_ns && first->due_ns < model_time_ns)
            first->due_ns = model_time_ns;
        if (first->state.reminded % 5 == 4) {
            first->there = false;
            model->count--;
        }
    }
    while (gyre_fires_keyed_model(model->table, &model->context, model_time_ns))
        ;
}

/* The heap has the keys with a reminder, none before the one at half its place, and each knows its place. */
static void model_compare_heap(const struct keyed_model *model, gyre_keyed_part *part)
{
    const gyre_keyed_table *table = model->table;
    uint32_t reminders = 0;
    for (uint32_t i = 0; i < MODEL_KEYS; i++)
        reminders += model->keys[i].there && model->keys[i].due_ns;
    model_require(part->reminders == reminders);
    for (uint32_t i = 0; i < reminders; i++) {
        model_require(gyre_due_at_(table, part, i)->place == i + 1);
        model_require(i == 0 ||
                      gyre_due_at_(table, part, (i - 1) / 2)->due_ns <= gyre_due_at_(table, part, i)->due_ns);
    }
}

static void model_compare(struct keyed_model *model)
{
    gyre_keyed_part *part = gyre_keyed_part_at(model->table, 0);
    model_require(part->count == model->count);
    model_compare_heap(model, part);
    for (uint16_t key = 0; key < MODEL_KEYS; key++) {
        const uint64_t hash = gyre_keyed_hash(model->table, &key);
        const uint32_t at = gyre_keyed_find(model->table, part, &key, hash);
        model_require((at != GYRE_KEYED_NOWHERE) == model->keys[key].there);
        if (at == GYRE_KEYED_NOWHERE)
            continue;
        gyre_keyed_entry *entry =
            gyre_keyed_entry_at(model->table, part, (uint32_t)gyre_keyed_places(part)[at] - 1);
        const gyre_keyed_due *due = gyre_keyed_due_of(model->table, entry);
        model_require(
            memcmp(gyre_keyed_state(model->table, entry), &model->keys[key].state, sizeof(model_state)) == 0);
        model_require((due->place ? (uint64_t)due->due_ns : 0) == model->keys[key].due_ns);
    }
}

/** Runs a script: its first two bytes choose the size of the table and the secret of its hash. */
static void model_run(const uint8_t *script, size_t size)
{
    if (size < 2)
        return;
    static const gyre_cpu_services services = {.time_ns = model_clock};
    struct keyed_model model = {.table = model_table_of(1u + script[0] % MODEL_KEYS_MAX, sizeof(uint16_t),
                                                        sizeof(model_state), script[1], true),
                                .context = {.lane_count = 1, .block_count = 1, .services = &services}};
    model_time_ns = 1;
    model.capacity = model.table->capacity;
    model_require(model.table->parts_log2 == 0 && model.capacity == model.table->keys);
    for (size_t i = 2; i + 1 < size; i += 2) {
        const model_ask ask = {script[i] % MODEL_KEYS, script[i + 1] % MODEL_ACTS};
        model_state expected = {0}, reply = {0};
        const bool fine = model_handle(&model, &ask, &expected);
        gyre_keyed_handler_keyed_model(&ask, &reply, model.table, NULL, NULL, &model.context);
        model_require(fine == !model.context.failed);
        model_require(!fine || (reply.count == expected.count && reply.stays == expected.stays));
        model.context.failed = 0;
        model_compare(&model);
        model_pass(&model, script[i + 1] / MODEL_ACTS);
        model_compare(&model);
    }
    free(model.table);
}

/* ---- replays ---- */

/* Handles the message of a script at `at`, which was sent at that time. Returns what the handler said. */
static inline uint64_t replay_one(gyre_keyed_table *table, gyre_context *context, const uint8_t *at,
                                  uint64_t sent_ns)
{
    const gyre_header header = {.sent_ns = sent_ns};
    const model_ask ask = {at[0] % MODEL_KEYS, at[1] % MODEL_ACTS};
    model_state reply = {0};
    context->header = (const unsigned char *)&header;
    context->header_size = sizeof header;
    context->failed = 0;
    gyre_keyed_handler_keyed_model(&ask, &reply, table, NULL, NULL, context);
    context->header = NULL;
    return context->failed ? UINT64_MAX : reply.count + (reply.reminded << 32);
}

static void nothing_logged(gyre_context *context, const char *text, gyre_i64 value)
{
    (void)context;
    (void)text;
    (void)value;
}

/* A clock that nothing may depend on. */
static gyre_u64 restless_clock(void)
{
    static gyre_u64 now_ns;
    return now_ns += 7;
}

/**
 * Messages of a script, the first sent at `now_ns`, go to two tables. In one, keys are reminded as a block with time to spare does it; in
 * the other, as in a replay, only because of what is sent. Both say the same, and end alike. Returns a hash of what they said.
 */
static inline uint64_t model_replay_from(const uint8_t *script, size_t size, int64_t now_ns)
{
    static const gyre_cpu_services services = {.time_ns = restless_clock, .log = nothing_logged};
    gyre_keyed_table *tables[2];
    gyre_context contexts[2];
    uint64_t said = 0;
    model_unit_ns = 1000000; /* so that a reminder may ask for the next one 50 later */
    now_ns *= (int64_t)model_unit_ns;
    for (int i = 0; i < 2; i++) {
        tables[i] = model_table_of(24, sizeof(uint16_t), sizeof(model_state), script[1], true);
        contexts[i] = (gyre_context){.lane_count = 1, .block_count = 1, .services = &services, .by_sent = 1};
    }
    for (size_t i = 2; i + 1 < size; i += 2) {
        const int64_t idle_ns = now_ns + script[i + 1] % 5 * (int64_t)model_unit_ns;
        now_ns += script[i + 1] % 16 * (int64_t)model_unit_ns;
        if (script[i] % 3 == 0 && idle_ns <= now_ns)
            while (gyre_fires_keyed_model(tables[0], &contexts[0], (uint64_t)idle_ns))
                ;
        const uint64_t first = replay_one(tables[0], &contexts[0], &script[i], (uint64_t)now_ns);
        model_require(first == replay_one(tables[1], &contexts[1], &script[i], (uint64_t)now_ns));
        said = said * 31 + first;
    }
    for (int i = 0; i < 2; i++)
        while (gyre_fires_keyed_model(tables[i], &contexts[i], (uint64_t)now_ns + 200 * model_unit_ns))
            ;
    model_require(memcmp(tables[0], tables[1], tables[0]->size) == 0);
    free(tables[0]);
    free(tables[1]);
    model_unit_ns = 1;
    return said;
}

/** As above; and after another start of the machine, whose clock was behind that at which messages were sent, nothing is different. */
static inline void model_replay(const uint8_t *script, size_t size)
{
    const uint64_t said = model_replay_from(script, size, 1);
    model_require(said == model_replay_from(script, size, -2000)); /* some are sent behind 0 then */
    model_require(said == model_replay_from(script, size, -3600000));
}

#endif
