/* SPDX-License-Identifier: Apache-2.0 */
/* Works on the bytes of a message with a tail: checks them, empties them, measures them, and adds parts (fields with items
 * in the tail). */
#ifndef GYRE_CORE_TYPES_MESSAGE_H
#define GYRE_CORE_TYPES_MESSAGE_H

#include "core/types/types.h"

/**
 * Whether `message`, of `length` bytes at any alignment, is a message of this type: all its parts lie in it, aligned, and
 * no part overlaps another. INVALID and a sentence with the path of the first field that is wrong.
 * Takes time in proportion to `length`, whatever the bytes are.
 */
gyre_status gyre_layout_check_message(const gyre_layout *layout, const void *message, uint64_t length);

/** Whether a far part names memory of this program: gyre_put_large made it. */
bool gyre_far_is_callers(const gyre_far *far);

/** Empties a message (at any alignment, of layout->size bytes): all fields zero, nothing in its tail. */
void gyre_layout_clear_message(const gyre_layout *layout, void *message);

/**
 * Makes room for `count` zeroed items in a message's tail, behind the bytes in use. `size`: the message's room. False when
 * the items do not fit; then the message is unchanged.
 */
bool gyre_part_take(void *message, uint64_t size, uint64_t item_size, uint64_t count, gyre_part *part);

/**
 * Whether gyre_put may write to *part where its items are. INVALID unless the message was begun (gyre_begin) and the part
 * lies in the bytes in use. `size`: the message's room, at least its first word.
 */
gyre_status gyre_part_check(const void *message, size_t size, const gyre_part *part);
/** Does what gyre_message_put does, without checking the arguments. The part itself may lie anywhere. */
gyre_status gyre_part_put(void *message, size_t size, gyre_part *part, const void *items, size_t item_size,
                          size_t count);

/** The length of a message: its first word, for a type with a tail; else the type's size. */
uint64_t gyre_layout_length(const gyre_layout *layout, const void *message);

#endif
