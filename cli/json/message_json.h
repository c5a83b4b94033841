/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts messages to JSON and back: between a line of text and the bytes that a layout describes.
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
 *   optional        null, or the value; a missing field is null
 *   gyre_handle     an object with id, offset and size; where buffers have names also "NAME" (the whole
 *                   buffer), or {"buffer":"NAME","offset":BYTES,"size":BYTES}; offset and size may be missing
 *   protocol        (one of several messages) the message with a member "type" that has its name, or {"NAME":
 *                   message}; a message that has a field "type" is written in the second form
 *   packet          a string of hexadecimal digits, also without quotes
 *
 * A number out of the range of its field is refused. A number between two floats is rounded.
 * NaN's sign and payload are not kept. Padding is zero. Threads: any. Nothing blocks.
 */
#ifndef GYRE_CLI_JSON_MESSAGE_JSON_H
#define GYRE_CLI_JSON_MESSAGE_JSON_H

#include <stdio.h>

#include "core/types/types.h"

/**
 * Reads one message. The content of its parts goes into its tail, in the order of the fields. INVALID with the
 * place in the text or the path of the field, what was expected and what was found; `message` (layout->size
 * bytes, any alignment) is then unspecified.
 */
gyre_status message_json_read(const gyre_layout *layout, const char *text, size_t length, void *message);

/** The device buffers that a text may name. `resolve` makes a handle like gyre_buffer_handle; INVALID for an unknown name. */
typedef struct message_json_names {
    gyre_status (*resolve)(const void *context, const char *name, uint64_t offset, uint64_t size,
                           gyre_handle *out);
    const void *context;
} message_json_names;

/** Reads one message as message_json_read does; the text may name buffers of `names` (NULL: none). */
gyre_status message_json_read_named(const gyre_layout *layout, const char *text, size_t length,
                                    const message_json_names *names, void *message);

/**
 * Writes one message on one line, without a newline. The caller has checked a message with a tail
 * (gyre_layout_check_message). Bytes that are no UTF-8 become U+FFFD. A write error stays in the stream, for
 * the caller that closes it.
 */
void message_json_write(const gyre_layout *layout, const void *message, FILE *out);

/** Writes the value of one field of the message, as message_json_write would. */
void message_json_write_field(const gyre_field *field, const void *message, FILE *out);

/** Writes bytes as a string of hexadecimal digits. */
void message_json_write_hex(const unsigned char *bytes, size_t length, FILE *out);

/** Writes a string of UTF-8 with quotes and escapes; bytes that are no UTF-8 become U+FFFD. */
void message_json_write_text(const char *text, FILE *out);

/**
 * Rewrites JSON so that jansson (the JSON library) reads it without losing digits: integers that may not fit a
 * signed 64-bit number, and "-0", become strings that begin with MESSAGE_JSON_NUMBER. The caller frees the
 * result with free(). NULL without memory.
 */
char *message_json_quote_numbers(const char *text, size_t length, size_t *quoted_length);

/** Converts an offset in the text of message_json_quote_numbers to the offset in the original text. */
size_t message_json_unquoted_offset(const char *text, size_t length, size_t offset);

/* The member of a JSON object that names the message of a protocol. */
#define MESSAGE_JSON_TYPE "type"

/* The mark of a number that became a string: U+FDD0, which Unicode keeps for a program's own use. */
#define MESSAGE_JSON_NUMBER      "\xef\xb7\x90"
#define MESSAGE_JSON_NUMBER_SIZE 3

#endif
