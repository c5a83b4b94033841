/* SPDX-License-Identifier: Apache-2.0 */
/* From the name of a buffer to the buffer, and what its elements are. Lock: kernel->lock, since a swap or a move replaces both. */
#include "core/kernel/named_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

gyre_status gyre_kernel_unknown_buffer(const char *kernel, const gyre_buffer_list *list, const char *name,
                                       const char *call)
{
    char declared[256], hint[GYRE_TEXT_HINT_SIZE];
    const char **names = calloc((size_t)list->count + 1, sizeof *names);
    if (!names)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to find a buffer");
    for (uint32_t i = 0; i < list->count; i++)
        names[i] = list->slots[i].name;
    gyre_text_list(names, list->count, declared, sizeof declared);
    gyre_text_hint(name, names, list->count, hint);
    free(names);
    return gyre_error_set(GYRE_INVALID, "%s%skernel '%s' has no buffer '%s'; it declares %s%s",
                          call ? call : "", call ? ": " : "", kernel, name,
                          declared[0] ? declared : "no buffer", hint);
}

static gyre_status find(const gyre_kernel *kernel, const gyre_buffer_list *list, const char *name,
                        const char *call, struct gyre_named_buffer *out)
{
    uint32_t slot = 0;
    while (slot < list->count && strcmp(list->slots[slot].name, name) != 0)
        slot++;
    if (slot == list->count || slot >= kernel->memory.buffer_count)
        return gyre_kernel_unknown_buffer(kernel->name, list, name, call);
    const gyre_layout *type = list->slots[slot].type;
    gyre_buffer *buffer = kernel->memory.buffers[slot];
    if (!buffer)
        return gyre_error_set(GYRE_CLOSED, "%s: buffer '%s' of kernel '%s' was freed", call, name,
                              kernel->name);
    *out = (struct gyre_named_buffer){.buffer = buffer,
                                      .elements = buffer->size / type->size,
                                      .element_size = type->size,
                                      .scalar = type->scalar,
                                      .hash = type->hash};
    snprintf(out->element, sizeof out->element, "%s", type->name);
    return GYRE_OK;
}

gyre_status gyre_kernel_named_buffer(gyre_kernel *kernel, const char *name, const char *call,
                                     struct gyre_named_buffer *out)
{
    gyre_buffer_list list = {0};
    pthread_mutex_lock(&kernel->lock);
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK)
        status = find(kernel, &list, name, call, out);
    pthread_mutex_unlock(&kernel->lock);
    gyre_buffer_list_finish(&list);
    return status;
}
