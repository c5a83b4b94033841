/* SPDX-License-Identifier: Apache-2.0 */
/* Checks tables of keys and puts them back (keyed_table.h). state_read.c reads them. Takes kernel->lock to write one. */
#include "core/kernel/keyed_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/keyed.h"
#include "core/kernel/turn.h"

gyre_status gyre_keyed_table_supported(const gyre_kernel *kernel)
{
    if (!kernel->memory.keyed)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is no keyed actor (GYRE_KEYED_ACTOR), and only those have shards in a "
            "cluster: docs/keyed.md",
            kernel->name);
    if (kernel->record->reminds)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' reminds its keys (GYRE_REMINDED), and such kernels have no shards in a "
            "cluster: keep the times in the state, and send a message when they are due",
            kernel->name);
    return GYRE_OK;
}

gyre_status gyre_keyed_about_get(const gyre_kernel *kernel, struct gyre_keyed_about *out)
{
    const gyre_status status = gyre_keyed_table_supported(kernel);
    if (status == GYRE_OK)
        *out = (struct gyre_keyed_about){.kernel = kernel->record->name,
                                         .key = kernel->record->key,
                                         .request = kernel->record->request,
                                         .reply = kernel->record->reply,
                                         .state = kernel->record->state,
                                         .table_size = gyre_kernel_state_size(kernel)};
    return status;
}

gyre_status gyre_keyed_table_check_settings(const gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    if (gyre_kernel_setting(kernel, "checkpoints"))
        return gyre_config_blame(
            config, GYRE_SECTION_KERNEL, kernel->name, "checkpoints",
            gyre_error_set(
                GYRE_CONFIG,
                "kernel '%s' has checkpoints = true, and in a cluster its shards keep theirs in the "
                "transport: leave it out",
                kernel->name));
    if (gyre_kernel_queue_setting(kernel, kernel->name, "durability"))
        return gyre_config_blame(config, GYRE_SECTION_QUEUE, kernel->name, "durability",
                                 gyre_error_set(GYRE_CONFIG,
                                                "queue '%s' has a journal, and in a cluster the transport "
                                                "keeps what is sent: leave `durability` out",
                                                kernel->name));
    return GYRE_OK;
}

static gyre_keyed_part *part_of(const gyre_keyed_table *head, const unsigned char *table, uint32_t number)
{
    return (gyre_keyed_part *)(uintptr_t)(table + head->parts_offset + number * head->part_size);
}

/* Whether each place of the index names an entry of its own that has a key. `named`: a byte for each entry. */
static bool is_index_whole(const gyre_keyed_table *head, gyre_keyed_part *part, unsigned char *named)
{
    const gyre_u64 *places = gyre_keyed_places(part);
    uint32_t count = 0;
    memset(named, 0, head->capacity);
    for (uint32_t i = 0; i < head->places; i++) {
        const uint32_t number = (uint32_t)places[i] - 1;
        if (!places[i])
            continue;
        if (number >= part->fresh || named[number])
            return false;
        const gyre_keyed_entry *entry = gyre_keyed_entry_at(head, part, number);
        if (entry->is_free || entry->hash != (uint32_t)(places[i] >> 32))
            return false;
        named[number] = 1;
        count++;
    }
    return count == part->count;
}

/* Whether the list of free entries has each entry that was used and has no key, once. */
static bool are_free_whole(const gyre_keyed_table *head, gyre_keyed_part *part, unsigned char *named)
{
    uint32_t left = part->fresh - part->count;
    for (uint32_t at = part->free; at; left--) {
        if (at > part->fresh || named[at - 1] || !left)
            return false;
        named[at - 1] = 1;
        const uint32_t next = gyre_keyed_entry_at(head, part, at - 1)->is_free;
        if (!next)
            return false;
        at = next - 1;
    }
    return left == 0;
}

static bool is_part_whole(const gyre_keyed_table *head, gyre_keyed_part *part, unsigned char *named)
{
    return part->fresh <= head->capacity && part->count <= part->fresh && part->hand < head->capacity &&
           part->reminders == 0 && is_index_whole(head, part, named) && are_free_whole(head, part, named);
}

bool gyre_keyed_table_is_whole(const gyre_keyed_table *head, const unsigned char *table)
{
    unsigned char *named = malloc((size_t)head->capacity + 1);
    bool whole = named != NULL;
    for (uint32_t i = 0; whole && i < 1u << head->parts_log2; i++)
        whole = is_part_whole(head, part_of(head, table, i), named);
    free(named);
    return whole;
}

static gyre_status check_table(const gyre_kernel *kernel, const unsigned char *table, size_t size)
{
    if (size != gyre_kernel_state_size(kernel))
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the states of kernel '%s' have %llu bytes, and those that were kept %zu: let `keys` in "
            "[kernel.NAME] and the handler be as they were",
            kernel->name, (unsigned long long)gyre_kernel_state_size(kernel), size);
    const gyre_status status = gyre_keyed_check_saved(kernel, table);
    if (status != GYRE_OK)
        return status;
    return gyre_keyed_table_is_whole(&kernel->memory.keyed->table, table)
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_INCOMPATIBLE,
                     "what was kept for kernel '%s' is damaged: the numbers in its table of keys do not "
                     "fit each other",
                     kernel->name);
}

gyre_status gyre_keyed_table_write(gyre_kernel *kernel, const void *table, size_t size)
{
    gyre_status status = gyre_keyed_table_supported(kernel);
    if (status == GYRE_OK)
        status = check_table(kernel, table, size);
    if (status != GYRE_OK)
        return status;
    const gyre_transfer_desc upload = {.size = sizeof upload,
                                       .kind = GYRE_TRANSFER_UPLOAD,
                                       .memory = kernel->memory.state,
                                       .byte_count = size,
                                       .source = table};
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    /* into the worker that is up: to wait for the next one with the lock would keep recovery from bringing it */
    status = gyre_kernel_get_state(kernel) == GYRE_KERNEL_INACTIVE
                 ? gyre_dispatch_transfer_in(kernel->dispatch, &upload,
                                             gyre_dispatch_incarnation(kernel->dispatch))
                 : gyre_error_set(GYRE_INVALID, "kernel '%s' is %s, expected inactive", kernel->name,
                                  gyre_kernel_state_word(gyre_kernel_get_state(kernel)));
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
