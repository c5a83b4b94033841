/* SPDX-License-Identifier: Apache-2.0 */
/* See keyed.h. Takes no lock: the plan is constant, and the table is read while the kernel stands. */
#include "core/kernel/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory_left.h"
#include "core/base/secret.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"

enum {
    KEYS_OF_PART = 16, /* fewer keys than this get no part of their own */
    PLACES_READ = 32   /* places of an index that one look fetches */
};

/* ---- the plan ---- */

static uint64_t root_of(uint64_t number)
{
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= number)
        root++;
    return root;
}

/*
 * Keys fall into parts at random. Six times the standard deviation above the mean leaves room for as many keys as were asked for,
 * except once in some hundred million tables.
 */
static uint64_t capacity_of(uint64_t keys, uint32_t parts_log2)
{
    const uint64_t mean = (keys + (1u << parts_log2) - 1) >> parts_log2;
    return parts_log2 ? mean + 6 * (root_of(mean) + 1) : mean;
}

/* Adds room for a reminder of each key. */
static void plan_reminders(gyre_keyed_table *table)
{
    table->due_offset = table->entry_size;
    table->entry_size += sizeof(gyre_keyed_due);
}

void gyre_keyed_plan(gyre_keyed_table *table, bool reminds)
{
    enum { LINE = 64 };
    const uint64_t keys = table->keys;
    while (table->parts_log2 < GYRE_KEYED_PARTS_LOG2_MAX && keys >> (table->parts_log2 + 1) >= KEYS_OF_PART)
        table->parts_log2++;
    table->capacity = (uint32_t)capacity_of(keys, table->parts_log2);
    table->places = 2 * table->capacity;
    table->state_offset = (uint32_t)(sizeof(gyre_keyed_entry) + GYRE_KEYED_ALIGN(table->key_size));
    table->entry_size = table->state_offset + GYRE_KEYED_ALIGN(table->state_size);
    if (reminds)
        plan_reminders(table);
    const uint64_t index = sizeof(gyre_keyed_part) + (uint64_t)table->places * sizeof(gyre_u64);
    table->entries_offset = (uint32_t)((index + LINE - 1) / LINE * LINE);
    table->part_size = table->entries_offset + (uint64_t)table->capacity * table->entry_size;
    if (reminds) {
        table->heap_offset = table->part_size;
        table->part_size += (uint64_t)table->capacity * sizeof(gyre_u32);
    }
    table->part_size = (table->part_size + LINE - 1) / LINE * LINE;
    table->initial_offset = (sizeof *table + LINE - 1) / LINE * LINE;
    table->parts_offset = (table->initial_offset + table->state_size + LINE - 1) / LINE * LINE;
    table->size = table->parts_offset + (table->part_size << table->parts_log2);
}

/* A hash of the state's type, and of the key's name and size. */
static gyre_status hash_types(const gyre_kernel *kernel, struct gyre_keyed *keyed)
{
    static const gyre_u64 seed[2] = {0, 0};
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(kernel->record->state, GYRE_STATE_MAX, &layout);
    if (status != GYRE_OK)
        return status;
    keyed->table.types = layout->hash ^ keyed->key.size ^
                         gyre_keyed_hash_bytes(seed, keyed->key.path, (gyre_u32)strlen(keyed->key.path));
    gyre_layout_destroy(layout);
    return GYRE_OK;
}

static gyre_status plan_table(const gyre_kernel *kernel, struct gyre_keyed *keyed)
{
    gyre_keyed_table *table = &keyed->table;
    if (kernel->record->state->size > UINT32_MAX)
        return gyre_error_set(
            GYRE_CONFIG, "kernel '%s': the state of a key has %llu bytes, and %u at most: make it smaller",
            kernel->name, (unsigned long long)kernel->record->state->size, UINT32_MAX);
    *table = (gyre_keyed_table){.magic = GYRE_KEYED_MAGIC,
                                .version = GYRE_KEYED_VERSION,
                                .keys = (uint64_t)gyre_kernel_setting(kernel, "keys"),
                                .key_size = (uint32_t)keyed->key.size,
                                .state_size = (uint32_t)kernel->record->state->size};
    if (kernel->record->reminds)
        gyre_keyed_clock(table);
    gyre_keyed_plan(table, kernel->record->reminds != 0);
    if (table->size > GYRE_KEYED_TABLE_MAX)
        return gyre_error_set(
            GYRE_CONFIG,
            "kernel '%s': the states of %llu keys need %llu bytes, and a table has %llu at most: "
            "fewer keys in [kernel.%s], or a smaller state than %u bytes",
            kernel->name, (unsigned long long)table->keys, (unsigned long long)table->size,
            (unsigned long long)GYRE_KEYED_TABLE_MAX, kernel->name, table->state_size);
    if (!gyre_secret_draw(table->seed, sizeof table->seed))
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "the system has no random numbers for the keys of kernel '%s'", kernel->name);
    return hash_types(kernel, keyed);
}

static gyre_status copy_initial(struct gyre_keyed *keyed, const void *initial)
{
    if (!initial)
        return GYRE_OK;
    keyed->initial = malloc(keyed->table.state_size + 1);
    if (!keyed->initial)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the state that keys begin with");
    memcpy(keyed->initial, initial, keyed->table.state_size);
    return GYRE_OK;
}

gyre_status gyre_keyed_create(const gyre_kernel *kernel, const void *initial, struct gyre_keyed **out)
{
    struct gyre_keyed *keyed = *out = calloc(1, sizeof *keyed);
    if (!keyed)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the keys of kernel '%s'", kernel->name);
    gyre_status status = gyre_message_key_find(kernel->record->request, kernel->record->key, &keyed->key);
    if (status == GYRE_OK)
        status = gyre_config_blame(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "keys",
                                   plan_table(kernel, keyed));
    if (status == GYRE_OK)
        status = gyre_memory_left_check("the states of a kernel's keys", keyed->table.size, "memory",
                                        "set fewer keys in its section");
    return status == GYRE_OK ? copy_initial(keyed, initial) : status;
}

void gyre_keyed_destroy(struct gyre_keyed *keyed)
{
    if (!keyed)
        return;
    free(keyed->initial);
    free(keyed);
}

/* ---- the table on the device ---- */

static gyre_status upload(const gyre_kernel *kernel, uint64_t offset, const void *bytes, uint64_t size)
{
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_UPLOAD,
                                     .memory = kernel->memory.state,
                                     .offset = offset,
                                     .byte_count = size,
                                     .source = bytes};
    return gyre_dispatch_transfer(kernel->dispatch, &desc);
}

static gyre_status download(const gyre_kernel *kernel, uint64_t offset, void *bytes, uint64_t size)
{
    return gyre_memory_read(kernel->dispatch, kernel->memory.state, offset, bytes, size);
}

gyre_status gyre_keyed_write(const gyre_kernel *kernel)
{
    const struct gyre_keyed *keyed = kernel->memory.keyed;
    gyre_status status = gyre_memory_fill_zero(kernel->dispatch, kernel->memory.state, keyed->table.size);
    if (status == GYRE_OK)
        status = upload(kernel, 0, &keyed->table, sizeof keyed->table);
    if (status == GYRE_OK && keyed->initial)
        status = upload(kernel, keyed->table.initial_offset, keyed->initial, keyed->table.state_size);
    return status;
}

/* `saved`: the head of an earlier run's table, which has another secret. */
static gyre_status compare_heads(const gyre_kernel *kernel, const gyre_keyed_table *saved,
                                 const gyre_keyed_table *now)
{
    gyre_keyed_table as_now = *saved;
    memcpy(as_now.seed, now->seed, sizeof now->seed);
    as_now.boot = now->boot;
    as_now.clock_ns = now->clock_ns;
    if (memcmp(&as_now, now, sizeof *now) == 0)
        return GYRE_OK;
    if (saved->magic != now->magic || saved->version != now->version)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "what kernel '%s' kept is no table of keys that this version of Gyre knows",
                              kernel->name);
    if (saved->keys != now->keys)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' kept a table for %llu keys, and has keys = %llu now: set keys = %llu in "
            "[kernel.%s] to go on with it, or move its journal away to begin without it",
            kernel->name, (unsigned long long)saved->keys, (unsigned long long)now->keys,
            (unsigned long long)saved->keys, kernel->name);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "kernel '%s' kept states of another type, or by another key, than '%s' by '%s', which it has "
        "now: launch the handler that wrote them, or move its journal away to begin without them",
        kernel->name, kernel->record->state->name, kernel->record->key);
}

gyre_status gyre_keyed_check_saved(const gyre_kernel *kernel, const unsigned char *saved)
{
    gyre_keyed_table head;
    if (!kernel->memory.keyed)
        return GYRE_OK;
    memcpy(&head, saved, sizeof head);
    gyre_status status = compare_heads(kernel, &head, &kernel->memory.keyed->table);
    return status == GYRE_OK ? gyre_keyed_check_reminders(kernel, saved) : status;
}

/* ---- one key ---- */

static gyre_status no_keys(const gyre_kernel *kernel)
{
    return gyre_error_set(
        GYRE_INVALID, "kernel '%s' has no keys: only a keyed actor (GYRE_KEYED_ACTOR) keeps a state for each",
        kernel->name);
}

gyre_status gyre_keyed_parse(const gyre_kernel *kernel, const char *text,
                             unsigned char bytes[GYRE_KEYED_KEY_MAX], size_t *size)
{
    const struct gyre_keyed *keyed = kernel->memory.keyed;
    if (!keyed)
        return no_keys(kernel);
    *size = keyed->key.size;
    return gyre_message_key_parse(&keyed->key, text, bytes);
}

gyre_status gyre_keyed_check_key(const gyre_kernel *kernel, size_t size)
{
    const struct gyre_keyed *keyed = kernel->memory.keyed;
    if (!keyed)
        return no_keys(kernel);
    if (size != keyed->key.size)
        return gyre_error_set(GYRE_INVALID, "the key '%s' of kernel '%s' has %llu bytes, found %zu",
                              keyed->key.path, kernel->name, (unsigned long long)keyed->key.size, size);
    return GYRE_OK;
}

static gyre_status no_such_key(const gyre_kernel *kernel)
{
    return gyre_error_set(GYRE_NOT_FOUND,
                          "kernel '%s' has no state for this key: no message of it came, or it left",
                          kernel->name);
}

/* Reads the entry if it is the key's. *found: it is. The entry's number comes from memory that a handler can write. */
static gyre_status read_entry(const gyre_kernel *kernel, uint64_t part_at, uint32_t number, const void *key,
                              void *state, bool *found)
{
    const gyre_keyed_table *table = &kernel->memory.keyed->table;
    unsigned char its[GYRE_KEYED_KEY_MAX];
    const uint64_t at = part_at + table->entries_offset + (uint64_t)number * table->entry_size;
    *found = false;
    if (number >= table->capacity)
        return GYRE_OK;
    gyre_status status = download(kernel, at + sizeof(gyre_keyed_entry), its, table->key_size);
    *found = status == GYRE_OK && memcmp(its, key, table->key_size) == 0;
    return *found && table->state_size ? download(kernel, at + table->state_offset, state, table->state_size)
                                       : status;
}

gyre_status gyre_keyed_read(const gyre_kernel *kernel, const void *key, void *state)
{
    gyre_keyed_table table = kernel->memory.keyed->table;
    gyre_u64 places[PLACES_READ];
    /* the seed is that of the table, which a checkpoint may have brought back */
    gyre_status status = download(kernel, offsetof(gyre_keyed_table, seed), table.seed, sizeof table.seed);
    const uint64_t hash = gyre_keyed_hash(&table, key);
    const uint64_t part_at = table.parts_offset + gyre_keyed_part_of(&table, hash) * table.part_size;
    uint32_t at = gyre_keyed_home(&table, (uint32_t)(hash >> 32));
    for (uint32_t looks = 0, count; status == GYRE_OK && looks < table.places; looks += count) {
        count = table.places - at < PLACES_READ ? table.places - at : PLACES_READ;
        status = download(kernel, part_at + sizeof(gyre_keyed_part) + at * sizeof places[0], places,
                          count * sizeof places[0]);
        for (uint32_t i = 0; status == GYRE_OK && i < count; i++) {
            bool found = false;
            if (!places[i])
                return no_such_key(kernel);
            if (places[i] >> 32 == hash >> 32)
                status = read_entry(kernel, part_at, (uint32_t)places[i] - 1, key, state, &found);
            if (found)
                return status;
        }
        at = at + count == table.places ? 0 : at + count;
    }
    return status == GYRE_OK ? no_such_key(kernel) : status;
}
