/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the swap of a kernel's handler: builds the other file, and compares it with what works (change.c carries it out). A
 * difference that clients, memory or journals could not take is refused here, while nothing has been touched.
 *
 * Lock: kernel->changer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/probe.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/change/change.h"
#include "core/kernel/keeper.h"
#include "core/kernel/kernel_build.h"
#include "core/kernel/keyed.h"
#include "core/change/swap.h"
#include "core/kernel/type_registry.h"
#include "core/pipeline/build.h"
#include "core/plan/shape.h"
#include "core/types/buffers.h"
#include "core/types/compare.h"
#include "core/types/types.h"

enum { BUILDS_MAX = 3 };

/* ---- the other handler ---- */

/* A kernel that is never listed nor started: it only has what is built. */
static gyre_status create_successor(gyre_kernel *kernel, gyre_kernel **out)
{
    *out = gyre_kernel_create(kernel->runtime);
    if (!*out)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to swap kernel '%s'", kernel->name);
    memcpy((*out)->name, kernel->name, sizeof kernel->name);
    (*out)->dispatch = kernel->dispatch;
    (*out)->keeper = kernel->keeper;
    return GYRE_OK;
}

/* Builds the source: the kernel that it names, else its only kernel, else the one that is named as the present one. */
static gyre_status try_to_build(const gyre_kernel *kernel, const char *source, gyre_kernel *successor)
{
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .name = kernel->name,
                                   .source = source,
                                   .stage = gyre_kernel_stage_of(kernel->record)};
    gyre_status status = gyre_kernel_build(successor, &desc);
    if (status != GYRE_OK && successor->build && !successor->record && !strrchr(source, ':'))
        status = gyre_build_kernel(successor->build, kernel->record->name, &successor->record);
    return status == GYRE_OK ? gyre_kernel_check_compiled(successor) : status;
}

/* A worker process may die over other messages while it compiles. */
static gyre_status build_successor(const gyre_kernel *kernel, const char *source, gyre_kernel *successor)
{
    gyre_status status = GYRE_LOST;
    for (int tries = 0; tries < BUILDS_MAX && status == GYRE_LOST; tries++) {
        gyre_build_release(successor->build);
        successor->build = NULL;
        successor->record = NULL;
        status = try_to_build(kernel, source, successor);
    }
    return status;
}

/* ---- whether it may take the place ---- */

static gyre_status check_message(const gyre_kernel *kernel, const char *role, const gyre_type *was,
                                 const gyre_type *is)
{
    gyre_layout *before = NULL, *after = NULL;
    gyre_status status = gyre_layout_create_message(was, GYRE_MESSAGE_MAX, &before);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(is, GYRE_MESSAGE_MAX, &after);
    if (status == GYRE_OK)
        status = gyre_layout_compare(before, "the kernel that works", after, "the new file");
    gyre_layout_destroy(before);
    gyre_layout_destroy(after);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    return gyre_error_add(
        status,
        "kernel '%s' cannot be swapped, because its %s have another layout, and its queues are in use: end the "
        "kernel and launch the new file",
        kernel->name, role);
}

static gyre_status check_form(const gyre_kernel *kernel, const gyre_kernel_record *is)
{
    const gyre_kernel_record *was = kernel->record;
    const char *const before = was->queries ? was->queries : "", *const after =
                                                                     is->queries ? is->queries : "";
    if (is->form != was->form)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' is of the form '%s', and '%s' in the new file of the form '%s': a handler keeps its form in a swap",
            kernel->name, gyre_form_word(was->form), is->name, gyre_form_word(is->form));
    if (gyre_kernel_setting(kernel, "checkpoints") &&
        gyre_record_keeps_something(is) != gyre_record_keeps_something(was))
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' has checkpoints = true, and only one of the two handlers keeps something: end the "
            "kernel and launch the new file",
            kernel->name);
    if (is->port_count || was->port_count)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' has ports, and a kernel with ports is not swapped: launch the new file",
            kernel->name);
    if (strcmp(before, after) != 0)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' has the queries '%s', and the new file '%s': senders know which messages are queries, so these "
            "stay in a swap",
            kernel->name, before, after);
    return GYRE_OK;
}

/* The table of a keyed actor is made for a key and a state, and stays as it is. */
static gyre_status check_keys(const gyre_kernel *kernel, const gyre_kernel_record *is)
{
    const gyre_kernel_record *was = kernel->record;
    if (strcmp(was->key, is->key) != 0)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' has the key '%s', and the new file '%s': the states that it has are found by the first one",
            kernel->name, was->key, is->key);
    if (!was->reminds != !is->reminds)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "only one of the two handlers of kernel '%s' reminds its keys (GYRE_REMINDED), and the table of its states has "
            "room for that or not: end the kernel and launch the new file",
            kernel->name);
    return GYRE_OK;
}

static gyre_status refuse_other_states(const gyre_kernel *kernel, const gyre_kernel_record *is)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "kernel '%s' is a keyed actor with a state '%s' for each key, and '%s' of the new file has another layout: a "
        "table of keys keeps its states in a swap",
        kernel->name, kernel->record->state->name, is->state->name);
}

static gyre_status check_state(const gyre_kernel *kernel, const gyre_kernel *successor, bool *converts)
{
    const gyre_type *was = kernel->record->state, *is = successor->record->state;
    gyre_layout *before = NULL, *after = NULL;
    gyre_status status = gyre_layout_create_message(was, GYRE_STATE_MAX, &before);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(is, GYRE_STATE_MAX, &after);
    *converts = status == GYRE_OK && (before->hash != after->hash || strcmp(before->text, after->text) != 0);
    if (*converts && was->size && !is->size)
        status = gyre_error_set(GYRE_INCOMPATIBLE, "the kernel '%s' of the new file keeps none",
                                successor->record->name);
    else if (*converts && gyre_kernel_is_keyed(kernel))
        status = refuse_other_states(kernel, successor->record);
    else if (*converts && was->size)
        status = kernel->keeper->check_convert(successor, was);
    gyre_layout_destroy(before);
    gyre_layout_destroy(after);
    if (status != GYRE_INCOMPATIBLE || gyre_kernel_is_keyed(kernel))
        return status;
    return gyre_error_add(
        status,
        "kernel '%s' cannot be swapped, because its state '%s' cannot become '%s': keep its fields, or say "
        "how with GYRE_MIGRATE(old, new) in the new file",
        kernel->name, was->name, is->name);
}

/* ---- buffers, by their names ---- */

static gyre_status refuse_buffers(const gyre_kernel *kernel, const gyre_kernel_record *is)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "kernel '%s' has the buffers '%s', and the new file '%s': a swap keeps names and types of buffers",
        kernel->name, kernel->record->buffers, is->buffers);
}

static gyre_status match_slot(const gyre_kernel *kernel, const gyre_buffer_list *was,
                              const gyre_buffer_slot *slot, struct gyre_buffer **out)
{
    for (uint32_t i = 0; i < was->count; i++)
        if (strcmp(was->slots[i].name, slot->name) == 0) {
            *out = kernel->memory.buffers[i];
            return gyre_layout_compare(was->slots[i].type, "the kernel that works", slot->type,
                                       "the new file");
        }
    return GYRE_INCOMPATIBLE;
}

static gyre_status match_buffers(const gyre_kernel *kernel, const gyre_kernel_record *is,
                                 struct gyre_buffer ***out)
{
    gyre_buffer_list before = {0}, after = {0};
    gyre_status status =
        gyre_buffer_list_init(&before, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK)
        status = gyre_buffer_list_init(&after, is->buffers, is->buffer_types);
    *out = calloc((size_t)after.count + 1, sizeof(struct gyre_buffer *));
    if (status == GYRE_OK && !*out)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for %u bindings", after.count);
    if (status == GYRE_OK && after.count != before.count)
        status = GYRE_INCOMPATIBLE;
    for (uint32_t i = 0; status == GYRE_OK && i < after.count; i++)
        status = match_slot(kernel, &before, &after.slots[i], &(*out)[i]);
    gyre_buffer_list_finish(&before);
    gyre_buffer_list_finish(&after);
    return status == GYRE_INCOMPATIBLE ? refuse_buffers(kernel, is) : status;
}

/* ---- the swap ---- */

/* A place for a state of another type, and that type's initial content. */
static gyre_status make_state(const gyre_kernel *kernel, const gyre_kernel *successor,
                              struct gyre_kernel_memory *memory)
{
    const uint64_t size = successor->record->state->size;
    gyre_status status = GYRE_OK;
    memory->state = NULL;
    memory->initial_state = NULL;
    memory->state_size = size;
    if (kernel->memory.initial_state) {
        memory->initial_state = calloc(1, size + 1);
        status = memory->initial_state
                     ? kernel->keeper->convert(successor, kernel->record->state, kernel->memory.initial_state,
                                               memory->initial_state)
                     : gyre_error_set(GYRE_EXHAUSTED, "no memory for a state of %llu bytes",
                                      (unsigned long long)size);
    }
    return status == GYRE_OK && size
               ? gyre_dispatch_memory_alloc(kernel->dispatch, gyre_lines_size(size), &memory->state)
               : status;
}

gyre_status gyre_swap_check(const gyre_kernel *kernel, const gyre_kernel *successor, bool *converts)
{
    const gyre_kernel_record *was = kernel->record, *is = successor->record;
    gyre_status status = check_form(kernel, is);
    if (status == GYRE_OK && gyre_kernel_is_keyed(kernel))
        status = check_keys(kernel, is);
    if (status == GYRE_OK)
        status = check_message(kernel, "requests", was->request, is->request);
    if (status == GYRE_OK)
        status = check_message(kernel, "replies", was->reply, is->reply);
    return status == GYRE_OK ? check_state(kernel, successor, converts) : status;
}

/* Compares, and prepares the other body. Of a canary's unit the messages are those of the old handler, and its state are its counts. */
static gyre_status prepare_body(struct gyre_kernel_change *change, const struct gyre_swap *swap)
{
    gyre_kernel *kernel = change->kernel;
    gyre_kernel *successor = swap->successor;
    struct gyre_kernel_memory *memory = &change->other.memory;
    gyre_status status = GYRE_OK;
    if (swap->kind == GYRE_SWAP_PLAIN)
        status = gyre_swap_check(kernel, successor, &change->converts);
    else
        change->converts = kernel->record->state->size != successor->record->state->size;
    if (status != GYRE_OK)
        return status;
    status = match_buffers(kernel, successor->record, &memory->buffers);
    if (status == GYRE_OK)
        status = gyre_types_of_kernel(successor);
    if (status == GYRE_OK && change->converts)
        status = make_state(kernel, successor, memory);
    return status;
}

static void tell(const struct gyre_kernel_change *change, const char *file)
{
    const gyre_kernel *kernel = change->kernel;
    GYRE_PROBE2(swapped, kernel->name, file);
    gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                     "the handler of kernel '%s' is that of '%s' now: it stood for %llu us", kernel->name,
                     file, (unsigned long long)((gyre_clock_ns() - change->stood_ns) / 1000));
}

/* Remembers what the change took out of the kernel, so that it can come back. Its build stays until the kernel is released. */
static void remember(const struct gyre_kernel_change *change)
{
    gyre_kernel *kernel = change->kernel;
    pthread_mutex_lock(&kernel->lock);
    kernel->past.replaced = change->other.build;
    kernel->past.replaced_record = change->other.record;
    pthread_mutex_unlock(&kernel->lock);
}

/* Takes the handler that was replaced as the successor, without a look at its file. */
static gyre_status take_replaced(gyre_kernel *kernel, gyre_kernel *successor)
{
    pthread_mutex_lock(&kernel->lock);
    struct gyre_build *replaced = kernel->past.replaced;
    const bool is_here = replaced && gyre_build_device(replaced) == kernel->dispatch;
    if (is_here) {
        successor->build = gyre_build_retain(replaced);
        successor->record = kernel->past.replaced_record;
    }
    pthread_mutex_unlock(&kernel->lock);
    if (is_here)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        replaced ? "kernel '%s' was moved since it was swapped, and the handler before is compiled "
                   "for the other device: swap it for its file"
                 : "kernel '%s' was never swapped: there is no handler to bring back",
        kernel->name);
}

gyre_status gyre_swap_build(gyre_kernel *kernel, const char *source, const struct gyre_canary_unit *unit,
                            gyre_kernel **out)
{
    gyre_status status = create_successor(kernel, out);
    if (status != GYRE_OK)
        return status;
    (*out)->unit = unit;
    return source ? build_successor(kernel, source, *out) : take_replaced(kernel, *out);
}

gyre_status gyre_swap_present(gyre_kernel *kernel, gyre_kernel **out)
{
    const gyre_status status = create_successor(kernel, out);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    (*out)->build = gyre_build_retain(kernel->build);
    (*out)->record = kernel->record;
    pthread_mutex_unlock(&kernel->lock);
    return GYRE_OK;
}

void gyre_swap_discard(gyre_kernel *successor)
{
    gyre_error_hold(); /* a release clears it */
    gyre_kernel_release(successor);
    gyre_error_let_go();
}

gyre_status gyre_swap_put(gyre_kernel *kernel, const struct gyre_swap *swap, uint64_t deadline_ns)
{
    struct gyre_kernel_change change = {.kernel = kernel,
                                        .other = {.dispatch = kernel->dispatch, .memory = kernel->memory}};
    change.other.memory.buffers = NULL;
    gyre_change_adopt(&change, swap->successor);
    gyre_status status = prepare_body(&change, swap);
    if (status == GYRE_OK)
        status = gyre_change_run(&change, deadline_ns);
    if (status == GYRE_OK && swap->kind == GYRE_SWAP_PLAIN) {
        remember(&change);
        tell(&change, gyre_build_report(swap->successor->build)->file);
    }
    gyre_change_finish(&change);
    return status;
}

/* `source` NULL: the handler before the last swap. */
static gyre_status swap_alone(gyre_kernel *kernel, const char *source, uint64_t deadline_ns)
{
    struct gyre_swap swap = {.kind = GYRE_SWAP_PLAIN};
    pthread_mutex_lock(&kernel->changer);
    gyre_status status = gyre_change_check(kernel, false);
    if (status == GYRE_OK)
        status = gyre_swap_build(kernel, source, NULL, &swap.successor);
    if (status == GYRE_OK)
        status = gyre_swap_put(kernel, &swap, deadline_ns);
    gyre_swap_discard(swap.successor);
    pthread_mutex_unlock(&kernel->changer);
    return status;
}

gyre_status gyre_change_swap(gyre_kernel *kernel, const char *source, uint64_t deadline_ns)
{
    return swap_alone(kernel, source, deadline_ns);
}

gyre_status gyre_change_swap_back(gyre_kernel *kernel, uint64_t deadline_ns)
{
    return swap_alone(kernel, NULL, deadline_ns);
}
