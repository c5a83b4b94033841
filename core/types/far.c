/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the parts of a message whose items lie in device buffers. Only messages whose parts were checked are
 * walked. No state.
 */
#include "core/types/far.h"
#include "core/types/message.h"
#include "core/types/types.h"

#include <string.h>

struct walk {
    unsigned char *message;
    void (*visit)(void *context, gyre_far *far);
    void *context;
};

static void visit_value(const struct walk *walk, const gyre_layout *layout, uint64_t at);

static void visit_part(const struct walk *walk, const gyre_layout *element, uint64_t at)
{
    gyre_part part;
    gyre_far far;
    memcpy(&part, walk->message + at, sizeof part);
    if (gyre_is_far(part)) {
        unsigned char *place = walk->message + (part.offset & ~GYRE_PART_FAR);
        memcpy(&far, place, sizeof far);
        walk->visit(walk->context, &far);
        memcpy(place, &far, sizeof far);
        return;
    }
    for (uint32_t i = 0; element->has_parts && i < part.count; i++)
        visit_value(walk, element, part.offset + i * element->size);
}

static void visit_value(const struct walk *walk, const gyre_layout *layout, uint64_t at)
{
    if (layout->element)
        visit_part(walk, layout->element, at);
    for (uint32_t i = 0; !layout->element && i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        for (uint64_t k = 0; field->type->has_parts && k < field->count; k++)
            visit_value(walk, field->type, at + field->offset + k * field->type->size);
    }
}

void gyre_layout_visit_far(const gyre_layout *layout, void *message, uint64_t length,
                           void (*visit)(void *context, gyre_far *far), void *context)
{
    unsigned char *at = message;
    uint32_t number = 0;
    if (layout->shape == GYRE_SHAPE_CHOICE && length >= GYRE_CHOICE_FRONT) {
        memcpy(&number, at + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
        if (number == 0 || number > layout->choice_count)
            return;
        layout = layout->choices[number - 1];
        at += GYRE_CHOICE_FRONT;
        length -= GYRE_CHOICE_FRONT;
    }
    const struct walk walk = {at, visit, context};
    if (layout->tail && gyre_layout_check_message(layout, at, length) == GYRE_OK)
        visit_value(&walk, layout, 0);
}
