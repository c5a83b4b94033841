/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre_open: turns the name of a buffer in a message into its address, and checks it. One text for all dialects;
 * included where gyre_context and gyre_fail are known. Before the include the dialect defines
 *
 *   GYRE_HANDLES_INLINE_   how functions are declared
 *   GYRE_LITERAL_          the address space of string literals
 *   GYRE_TABLE_            the address space of the table of handles
 *
 * and after the include
 *
 *   gyre_handle_entry_(table, slot)   reads an entry of the table anew
 *   gyre_handle_at_(address)          turns an address into a pointer
 *
 * The check is always there, not only in tests: it costs one entry of the table for each handle, and nothing for each
 * element.
 */
#ifndef GYRE_DIALECT_HANDLES_H
#define GYRE_DIALECT_HANDLES_H

GYRE_HANDLES_INLINE_ gyre_control_handle gyre_handle_entry_(const GYRE_TABLE_ gyre_control_handle *table,
                                                            gyre_u32 slot);
GYRE_HANDLES_INLINE_ GYRE_GLOBAL void *gyre_handle_at_(gyre_u64 address);

/* Elements are aligned to the largest power of two that divides their size, up to this number. */
#define GYRE_HANDLE_ALIGNMENT_ 16

/* Returns the fault of a handle, as a sentence; NULL: it has none. */
GYRE_HANDLES_INLINE_ GYRE_LITERAL_ const char *
gyre_handle_fault_(gyre_handle asked, gyre_control_handle there, gyre_u64 element_size)
{
    const gyre_u64 power = element_size & (0 - element_size);
    const gyre_u64 alignment = power < GYRE_HANDLE_ALIGNMENT_ ? power : GYRE_HANDLE_ALIGNMENT_;
    if (asked.id == 0)
        return "the message names no buffer";
    if (there.id != asked.id)
        return "the buffer was freed or lies elsewhere";
    if (asked.offset > there.size || asked.size > there.size - asked.offset)
        return "the handle reaches beyond its buffer";
    if (asked.offset % alignment || asked.size % element_size)
        return "the handle holds no whole elements";
    return 0;
}

/*
 * Looks a handle up in the table (NULL: there is no table) and returns its fault; without a fault, *address is where
 * the named bytes lie.
 */
GYRE_HANDLES_INLINE_ GYRE_LITERAL_ const char *gyre_handle_find_(const GYRE_TABLE_ gyre_control_handle *table,
                                                                 gyre_handle asked, gyre_u64 element_size,
                                                                 gyre_u64 *address)
{
    gyre_control_handle there = {0, 0, 0, 0};
    if (!table)
        return "messages name no buffers on this backend";
    if (asked.id)
        there = gyre_handle_entry_(table, (gyre_u32)(asked.id % GYRE_HANDLES_MAX));
    *address = there.address + asked.offset;
    return gyre_handle_fault_(asked, there, element_size);
}

GYRE_HANDLES_INLINE_ GYRE_GLOBAL void *gyre_open_(gyre_context *gyre, const GYRE_GLOBAL gyre_handle *handle,
                                                  gyre_u64 element_size, gyre_u64 *count)
{
    const gyre_handle asked = *handle;
    gyre_u64 address = 0;
    GYRE_LITERAL_ const char *fault = gyre_handle_find_(gyre->handles, asked, element_size, &address);
    *count = 0;
    if (fault) {
        gyre_fail_(gyre, GYRE_FAILURE_BUFFER, fault);
        return 0;
    }
    *count = asked.size / element_size;
    return gyre_handle_at_(address);
}

#define gyre_open(gyre, type, handle, count)                                                                 \
    ((GYRE_GLOBAL type *)gyre_open_((gyre), (handle), sizeof(type), (count)))

#endif
