/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the second reply to a request that is handled again with its first reply, as long as the first reply stands in its
 * slot. A deterministic handler gives the same reply. For another handler a warning names the first request and field that
 * differ, because the state may differ as well.
 *
 * Compares declared fields, so padding does not matter. Does not compare replies with parts, packets, and replies that lie back
 * to back. Runs in the thread that set turn.starting; takes no lock.
 */
#include "core/durability/witness.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/ring.h"
#include "core/ring/ring_message.h"

static const gyre_field *differing_field(const gyre_layout *layout, const unsigned char *a,
                                         const unsigned char *b);

/* True when two elements of a field are equal. */
static bool is_same(const gyre_layout *type, const unsigned char *a, const unsigned char *b)
{
    return type->scalar == GYRE_SCALAR_NO && type->field_count > 0 ? !differing_field(type, a, b)
                                                                   : memcmp(a, b, type->size) == 0;
}

static const gyre_field *differing_field(const gyre_layout *layout, const unsigned char *a,
                                         const unsigned char *b)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        for (uint64_t k = 0; k < field->count; k++) {
            uint64_t place = field->offset + k * field->type->size;
            if (!is_same(field->type, a + place, b + place))
                return field;
        }
    }
    return NULL;
}

void gyre_witness_prepare(gyre_kernel *kernel)
{
    gyre_layout *layout = NULL;
    gyre_error_hold();
    gyre_status status = gyre_layout_create_message(kernel->record->reply, GYRE_MESSAGE_MAX, &layout);
    gyre_error_let_go();
    if (status == GYRE_OK && (layout->shape != GYRE_SHAPE_PLAIN || layout->has_parts || layout->tail)) {
        gyre_layout_destroy(layout);
        layout = NULL;
    }
    kernel->checkpoints->reply = layout; /* NULL without memory: no replies are compared */
}

/* Writes a description of the difference between two replies into `what`; "" when they are equal. */
static void compare_replies(const gyre_kernel *kernel, const gyre_slot *before, const gyre_view *again,
                            char *what, size_t size)
{
    const gyre_layout *layout = kernel->checkpoints->reply;
    what[0] = '\0';
    if (before->info != (uint32_t)again->outcome) {
        snprintf(what, size, "is completed in another way");
        return;
    }
    if (again->outcome != GYRE_REPLIED || before->length != again->length || again->length != layout->size)
        return;
    const gyre_field *field = differing_field(layout, (const unsigned char *)(before + 1), again->reply);
    if (field)
        snprintf(what, size, "has another '%s' in its reply", field->name);
}

/*
 * True when the slot still holds the whole reply to request `index`. Once a later request with the same slot was sent, the dead
 * worker may have begun to write there, although the slot's sequence is still the old one.
 */
static bool still_stands(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    return gyre_reply_ready(ring, index) && gyre_queue_next_index(queue) <= index + ring->capacity;
}

void gyre_witness_compare(gyre_kernel *kernel, const gyre_queue *queue, uint64_t index,
                          const gyre_view *again)
{
    char what[160];
    if (!kernel->checkpoints->reply || gyre_ring_of(queue)->bytes || !still_stands(queue, index))
        return;
    compare_replies(kernel, gyre_reply_slot(gyre_ring_of(queue), index), again, what, sizeof what);
    if (!what[0])
        return;
    if (kernel->checkpoints->differing++ == 0)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_WARNING,
            "the handler of kernel '%s' is not deterministic: the request with index %llu of queue '%s' was handled "
            "again after a crash, and %s; its state may not be what it was: take times and random "
            "numbers from the message",
            kernel->name, (unsigned long long)index, gyre_queue_name(queue), what);
}
