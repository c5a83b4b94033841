/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a journal holds (durable_types.h). */
#include "core/durability/durable_types.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/kernel/keyed.h"
#include "core/types/buffers.h"

gyre_status gyre_durable_hash_type(const gyre_type *type, uint64_t *hash)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(type, GYRE_STATE_MAX, &layout);
    if (status == GYRE_OK)
        *hash = layout->hash;
    gyre_layout_destroy(layout);
    return status;
}

static void add_type(struct gyre_durable *durable, enum gyre_type_role role, const gyre_type *type,
                     const char *name, uint64_t size)
{
    struct gyre_journal_type *added = &durable->types[durable->type_count++];
    const struct gyre_journal_type *before = added - 1;
    *added = (struct gyre_journal_type){.about = {.role = (uint32_t)role, .size = size}, .type = type};
    if (size && before->about.size)
        added->about.offset = before->about.offset + before->about.size;
    snprintf(added->about.name, sizeof added->about.name, "%s", name);
}

/* Describes what the handler keeps. A table of keys is bytes: its head says what they are (gyre/keyed_layout.h). */
static void add_state(struct gyre_durable *durable, const gyre_kernel *kernel, const gyre_type *state)
{
    if (gyre_kernel_is_keyed(kernel))
        add_type(durable, GYRE_ROLE_BUFFER, GYRE_TYPE(u8), "gyre_keys", gyre_kernel_state_size(kernel));
    else
        add_type(durable, GYRE_ROLE_STATE, state, "", state->size);
}

gyre_status gyre_durable_describe_kept(struct gyre_durable *durable, const gyre_kernel *kernel)
{
    const gyre_kernel_record *record = kernel->record;
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, record->buffers, record->buffer_types);
    if (status == GYRE_OK && durable->type_count + 1 + list.count > GYRE_JOURNAL_TYPES_MAX)
        status =
            gyre_error_set(GYRE_INVALID,
                           "a journal holds %d states and buffers at most, and kernel '%s' has one more: "
                           "set checkpoint_buffers = false where buffers need not be kept",
                           GYRE_JOURNAL_TYPES_MAX - 2, kernel->name);
    if (status == GYRE_OK && kernel->memory.state)
        add_state(durable, kernel, record->state);
    for (uint32_t i = 0; status == GYRE_OK && i < list.count; i++)
        if (list.slots[i].writable && gyre_kernel_setting(kernel, "checkpoint_buffers"))
            add_type(durable, GYRE_ROLE_BUFFER, record->buffer_types[i], list.slots[i].name,
                     kernel->memory.buffers[i]->size);
    gyre_buffer_list_finish(&list);
    return status;
}

gyre_status gyre_durable_describe_messages(struct gyre_durable *durable, const gyre_kernel_record *record,
                                           struct gyre_record_open *open)
{
    durable->described = record;
    add_type(durable, GYRE_ROLE_REQUEST, record->request, "", 0);
    add_type(durable, GYRE_ROLE_REPLY, record->reply, "", 0);
    const gyre_status status = gyre_durable_hash_type(record->request, &open->request_hash);
    return status == GYRE_OK ? gyre_durable_hash_type(record->reply, &open->reply_hash) : status;
}

void gyre_durable_forget_queue(struct gyre_durable *durable)
{
    gyre_journal_content_release(&durable->content);
    free(durable->data);
    durable->data = NULL;
}
