/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a kernel's state, and binds buffers to the names that the kernel declares. Lock: runtime->lock for buffer->bound, the
 * number of kernels that use a buffer.
 */
#include "core/kernel/binding.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/memory_left.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/keyed.h"
#include "core/kernel/named_buffer.h"
#include "core/types/buffers.h"

static gyre_status prepare_keyed(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_status status = gyre_keyed_create(kernel, desc->state, &kernel->memory.keyed);
    if (status != GYRE_OK)
        return status;
    kernel->memory.state_size = kernel->memory.keyed->table.size;
    return gyre_dispatch_memory_alloc(kernel->dispatch, gyre_lines_size(kernel->memory.state_size),
                                      &kernel->memory.state);
}

gyre_status gyre_kernel_prepare_state(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    uint64_t size = kernel->record->state->size;
    if (desc->state && desc->state_size != size)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' has a state of %llu bytes (%s), found %zu bytes",
                              kernel->name, (unsigned long long)size, kernel->record->state->name,
                              desc->state_size);
    if (kernel->record->form == GYRE_FORM_KEYED)
        return prepare_keyed(kernel, desc);
    kernel->memory.state_size = size;
    if (size == 0)
        return GYRE_OK;
    if (desc->state) {
        gyre_status status =
            gyre_memory_left_check("the state of a kernel", size, "memory", "use a smaller state");
        if (status != GYRE_OK)
            return status;
        kernel->memory.initial_state = malloc(size);
        if (!kernel->memory.initial_state)
            return gyre_error_set(GYRE_EXHAUSTED, "no memory for a state of %llu bytes",
                                  (unsigned long long)size);
        memcpy(kernel->memory.initial_state, desc->state, size);
    }
    /* whole lines: in host memory a handler that writes its state must not slow down the users of the next line */
    return gyre_dispatch_memory_alloc(kernel->dispatch, gyre_lines_size(size), &kernel->memory.state);
}

static const gyre_binding_name *find_binding(const gyre_launch_desc *desc, const char *name)
{
    for (size_t i = 0; i < desc->binding_count; i++)
        if (desc->bindings[i].name && !strcmp(desc->bindings[i].name, name))
            return &desc->bindings[i];
    return NULL;
}

static gyre_status bind_one(gyre_kernel *kernel, const gyre_launch_desc *desc, const gyre_buffer_slot *slot)
{
    const gyre_binding_name *binding = find_binding(desc, slot->name);
    if (!binding || !binding->buffer)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has a buffer '%s' of %s, and nothing is bound to it: bind a buffer under that name",
            kernel->name, slot->name, slot->type->name);
    if (binding->buffer->dispatch != kernel->dispatch)
        return gyre_error_set(GYRE_INVALID, "buffer '%s' lies on another device than kernel '%s'", slot->name,
                              kernel->name);
    if (binding->buffer->size % slot->type->size)
        return gyre_error_set(GYRE_INVALID,
                              "buffer '%s' of kernel '%s' has %llu bytes, which is no multiple of %s (%llu)",
                              slot->name, kernel->name, (unsigned long long)binding->buffer->size,
                              slot->type->name, (unsigned long long)slot->type->size);
    kernel->memory.buffers[kernel->memory.buffer_count++] = binding->buffer;
    return GYRE_OK;
}

/* INVALID unless the kernel declares every name of the descriptor, and each name occurs once. */
static gyre_status check_binding_names(const gyre_kernel *kernel, const gyre_launch_desc *desc,
                                       const gyre_buffer_list *list)
{
    for (size_t i = 0; i < desc->binding_count; i++) {
        uint32_t slot = 0;
        const char *name = desc->bindings[i].name ? desc->bindings[i].name : "";
        while (slot < list->count && strcmp(list->slots[slot].name, name) != 0)
            slot++;
        if (slot == list->count)
            return gyre_kernel_unknown_buffer(kernel->name, list, name, NULL);
        if (find_binding(desc, name) != &desc->bindings[i])
            return gyre_error_set(GYRE_INVALID,
                                  "buffer '%s' of kernel '%s' is bound twice: bind one buffer to each name",
                                  name, kernel->name);
    }
    return GYRE_OK;
}

gyre_status gyre_kernel_check_bindings(const gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK)
        status = check_binding_names(kernel, desc, &list);
    gyre_buffer_list_finish(&list);
    return status;
}

gyre_status gyre_kernel_bind(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK)
        status = check_binding_names(kernel, desc, &list);
    kernel->memory.buffers = calloc((size_t)list.count + 1, sizeof(gyre_buffer *));
    if (status == GYRE_OK && !kernel->memory.buffers)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for %u bindings", list.count);
    for (uint32_t i = 0; status == GYRE_OK && i < list.count; i++)
        status = bind_one(kernel, desc, &list.slots[i]);
    gyre_buffer_list_finish(&list);
    return status;
}

static bool is_bound_before(const gyre_kernel *kernel, uint32_t slot)
{
    for (uint32_t i = 0; i < slot; i++)
        if (kernel->memory.buffers[i] == kernel->memory.buffers[slot])
            return true;
    return false;
}

/* A buffer counts its kernels, not the names that it is bound to. Under runtime->lock. */
static void count_kernel(const gyre_kernel *kernel, bool in)
{
    for (uint32_t i = 0; i < kernel->memory.buffer_count; i++)
        if (!is_bound_before(kernel, i))
            kernel->memory.buffers[i]->bound += in ? 1u : UINT32_MAX; /* adds 1 or takes 1 away */
}

/* Whether the kernel may be launched with its buffers as they are. Under runtime->lock. */
static gyre_status check_held(const gyre_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->memory.buffer_count; i++) {
        const gyre_buffer *buffer = kernel->memory.buffers[i];
        if (!buffer || buffer->going)
            return gyre_error_set(
                GYRE_NOT_FOUND,
                "a buffer that is bound to kernel '%s' was freed since it ended; release the "
                "kernel and launch it with another one",
                kernel->name);
        if (buffer->moving)
            return gyre_error_set(
                GYRE_AGAIN,
                "a buffer that is bound to kernel '%s' is moving to another device with another kernel; "
                "launch it when that kernel has moved",
                kernel->name);
        if (buffer->dispatch != kernel->dispatch)
            return gyre_error_set(
                GYRE_INVALID,
                "a buffer that is bound to kernel '%s' moved to another device with another kernel; "
                "launch it there",
                kernel->name);
    }
    return GYRE_OK;
}

gyre_status gyre_kernel_hold_buffers(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->runtime->lock);
    const gyre_status status = check_held(kernel);
    if (status == GYRE_OK)
        count_kernel(kernel, true);
    pthread_mutex_unlock(&kernel->runtime->lock);
    return status;
}

void gyre_kernel_let_buffers_go(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->runtime->lock);
    count_kernel(kernel, false);
    pthread_mutex_unlock(&kernel->runtime->lock);
}

void gyre_kernel_forget_buffer(gyre_kernel *kernel, const gyre_buffer *buffer)
{
    for (uint32_t i = 0; i < kernel->memory.buffer_count; i++)
        if (kernel->memory.buffers[i] == buffer)
            __atomic_store_n(&kernel->memory.buffers[i], NULL, __ATOMIC_RELAXED); /* transfer.c reads it */
}
