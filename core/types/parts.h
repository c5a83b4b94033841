/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of types that are more than a list of fields: parts, tails, messages that may be one of several, packets. */
#ifndef GYRE_CORE_TYPES_PARTS_H
#define GYRE_CORE_TYPES_PARTS_H

#include "core/types/arena.h"
#include "core/types/place.h"
#include "core/types/types.h"

/* the fields, and their types, that GYRE_MESSAGE_TAIL adds before and behind the user's */
#define GYRE_TAIL_USED  "gyre_used"
#define GYRE_TAIL_BYTES "gyre_tail"

/** "f32 span[]", the last of a part's fields: a field of the text, not of the struct. */
bool gyre_text_is_element(gyre_span text, gyre_shape *shape);
/** Whether the fields before make a part, and `type` is the one that the text names. INVALID. */
gyre_status gyre_element_check(const gyre_field_place *place, const gyre_type *type,
                               const gyre_layout *layout);
/** Once gyre_element_check passed: makes `element`, the layout of that type, the part's. INVALID when no part has such items. */
gyre_status gyre_element_take(const gyre_field_place *place, const gyre_layout *element, gyre_layout *layout);
/** Takes the two fields that GYRE_MESSAGE_TAIL added out of the fields of the struct. */
gyre_status gyre_tail_take(gyre_layout *layout);

/** "order choice[]", "order gyre_wire[1259]": what a message may be, or carries; no field of the struct either. */
bool gyre_text_is_choice(gyre_span text, gyre_shape *shape);
/** Whether a choice may stand at this place, and `type` is the one that the text names. INVALID. */
gyre_status gyre_choice_check(const gyre_field_place *place, const gyre_type *type,
                              const gyre_layout *layout);
/** Once gyre_choice_check passed: adds `choice`, the layout of that type. INVALID when no message of it can be sent alone. */
gyre_status gyre_choice_take(gyre_arena *arena, const gyre_field_place *place, const gyre_layout *choice,
                             gyre_layout *layout);
/** Size and tail, once all choices are there. INVALID above `size_max` bytes. */
gyre_status gyre_choices_end(uint64_t size_max, const gyre_type *source, gyre_layout *layout);

#endif
