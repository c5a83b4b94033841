/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the texts of types that are more than a list of fields: parts (fields with items in the message's tail), tails,
 * messages of one of several types, packets (encoded bytes of a message). Called by layout.c. */
#ifndef GYRE_CORE_TYPES_PARTS_H
#define GYRE_CORE_TYPES_PARTS_H

#include "core/types/arena.h"
#include "core/types/place.h"
#include "core/types/types.h"

/* GYRE_MESSAGE_TAIL adds one field before the user's fields and one behind them; these are the names of their types */
#define GYRE_TAIL_USED  "gyre_used"
#define GYRE_TAIL_BYTES "gyre_tail"

/** Whether the text declares a part's element: "f32 span[]". It is the last field of the text, and no field of the struct. */
bool gyre_text_is_element(gyre_span text, gyre_shape *shape);
/** INVALID unless the fields before this one make a part, and `type` is the type that the text names. */
gyre_status gyre_element_check(const gyre_field_place *place, const gyre_type *type,
                               const gyre_layout *layout);
/** Makes `element` the layout of the part's items. gyre_element_check must have said OK. INVALID when a part cannot have
 * items of this type. */
gyre_status gyre_element_take(const gyre_field_place *place, const gyre_layout *element, gyre_layout *layout);
/** Removes the two fields that GYRE_MESSAGE_TAIL added from the layout's fields, and sets its tail. */
gyre_status gyre_tail_take(gyre_layout *layout);

/** Whether the text declares a type that the message may be ("order choice[]") or that a packet carries ("order
 * gyre_wire[1259]"). Neither is a field of the struct. */
bool gyre_text_is_choice(gyre_span text, gyre_shape *shape);
/** INVALID unless a choice may stand at this place, and `type` is the type that the text names. */
gyre_status gyre_choice_check(const gyre_field_place *place, const gyre_type *type,
                              const gyre_layout *layout);
/** Adds `choice` to the types that the message may be. gyre_choice_check must have said OK. INVALID when a message of that
 * type cannot be sent by itself. */
gyre_status gyre_choice_take(gyre_arena *arena, const gyre_field_place *place, const gyre_layout *choice,
                             gyre_layout *layout);
/** Computes the layout's size and tail, once all choices are added. INVALID above `size_max` bytes. */
gyre_status gyre_choices_end(uint64_t size_max, const gyre_type *source, gyre_layout *layout);

#endif
