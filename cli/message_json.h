/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as JSON: between a line of text and the bytes that a layout describes.
 *
 *   message         object with every field, in any order, no other
 *   array           array of exactly its length; [2][3] is two arrays of three
 *   array of u8     also a string: its UTF-8 bytes, then zero bytes; written as numbers
 *   i8..i64 u8..u64 integer without fraction or exponent, exact over the whole range
 *   i64, u64        also a string of decimal digits, for writers that lose digits above 2^53
 *   f32, f64        number, or "NaN", "Infinity", "-Infinity"; written with as many digits as tell it apart
 *   gyre_none       null or {}; written as null
 *   utf8            string, also with \u0000, which others cannot have
 *   id128           string, as in "00112233-4455-6677-8899-aabbccddeeff"
 *   span            array of any length; of u8 also a string, as above
 *   optional        null, or the value; a field that is left out is null
 *   gyre_handle     an object with id, offset and size; where buffers have names also "NAME", all of that
 *                   buffer, or {"buffer":"NAME","offset":BYTES,"size":BYTES}, the last two as wanted
 *   one of several  the message with a member "type" that names it; or {"NAME": message}, which is how one is
 *                   written that has a field of the name "type"
 *   packet          a string of hexadecimal digits, also without quotes
 *
 * A number that no value of its field equals (out of range) is refused; one between two floats is rounded.
 * NaN's sign and payload are not kept. Padding is zero. Threads: any. Nothing blocks.
 */
#ifndef GYRE_CLI_MESSAGE_JSON_H
#define GYRE_CLI_MESSAGE_JSON_H

#include <stdio.h>

#include "core/types/types.h"

/**
 * Reads one message; what its parts hold goes into its tail, in the order of the fields. INVALID with the
 * place in the text or the path of the field, what was expected and what was found; `message` (layout->size
 * bytes, any alignment) is then unspecified.
 */
gyre_status message_json_read(const gyre_layout *layout, const char *text, size_t length, void *message);

/** Device buffers that a text may name. `resolve` is as gyre_buffer_handle; INVALID for a name of none. */
typedef struct message_json_names {
    gyre_status (*resolve)(const void *context, const char *name, uint64_t offset, uint64_t size,
                           gyre_handle *out);
    const void *context;
} message_json_names;

/** The same; `names` may be NULL. */
gyre_status message_json_read_named(const gyre_layout *layout, const char *text, size_t length,
                                    const message_json_names *names, void *message);

/**
 * Writes one message on one line, without a newline. One with a tail was checked (gyre_layout_check_message).
 * Text that is no UTF-8 is written with U+FFFD in its place. The stream keeps its error for whoever closes
 * it.
 */
void message_json_write(const gyre_layout *layout, const void *message, FILE *out);

/** The same with the value of one of the message's own fields. */
void message_json_write_field(const gyre_field *field, const void *message, FILE *out);

/** Writes bytes as a string of hexadecimal digits. */
void message_json_write_hex(const unsigned char *bytes, size_t length, FILE *out);

/** Writes a string of UTF-8 with quotes and escapes; bytes that are no UTF-8 become U+FFFD. */
void message_json_write_text(const char *text, FILE *out);

/**
 * JSON as jansson can read it without losing digits: integers that may not fit 64 bits signed, and "-0",
 * become strings behind MESSAGE_JSON_NUMBER. Owner of the result: the caller, free(); NULL without memory.
 */
char *message_json_quote_numbers(const char *text, size_t length, size_t *quoted_length);

/** The offset in the text itself of an offset into the quoted text that was made from it. */
size_t message_json_unquoted_offset(const char *text, size_t length, size_t offset);

/* The member that tells which message of a protocol it is. */
#define MESSAGE_JSON_TYPE "type"

/* U+FDD0, a noncharacter: Unicode keeps it for a program's own use. */
#define MESSAGE_JSON_NUMBER      "\xef\xb7\x90"
#define MESSAGE_JSON_NUMBER_SIZE 3

#endif
