/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are to be a message of a type: checked, emptied, measured, and given parts. */
#ifndef GYRE_CORE_TYPES_MESSAGE_H
#define GYRE_CORE_TYPES_MESSAGE_H

#include "core/types/types.h"

/**
 * Whether `message`, of `length` bytes at any alignment, is one of this type whose parts all lie in it,
 * aligned, and none over another. INVALID and a sentence with the path of the first field that is wrong.
 * Takes time in proportion to `length`, whatever the bytes are.
 */
gyre_status gyre_layout_check_message(const gyre_layout *layout, const void *message, uint64_t length);

/** Whether a far part names memory of this program: gyre_put_large made it. */
bool gyre_far_is_callers(const gyre_far *far);

/** Empties a message (at any alignment, of layout->size bytes): all fields zero, nothing in its tail. */
void gyre_layout_clear_message(const gyre_layout *layout, void *message);

/**
 * Makes room for zeroed items behind what a message of at most `size` bytes holds. False when there is not
 * enough; nothing has changed then.
 */
bool gyre_part_take(void *message, uint64_t size, uint64_t item_size, uint64_t count, gyre_part *part);

/**
 * Whether gyre_put may say in *part where items are: INVALID unless the message, of `size` bytes of which its first word
 * is there, was begun and the part lies in what it holds.
 */
gyre_status gyre_part_check(const void *message, size_t size, const gyre_part *part);
/** gyre_message_put with arguments that were checked, and a part that may lie anywhere. */
gyre_status gyre_part_put(void *message, size_t size, gyre_part *part, const void *items, size_t item_size,
                          size_t count);

/** Bytes of a message: what its first word says, for a type with a tail; else the type's size. */
uint64_t gyre_layout_length(const gyre_layout *layout, const void *message);

#endif
