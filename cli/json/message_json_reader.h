/* SPDX-License-Identifier: Apache-2.0 */
/* The reader object of message_json_read.c and message_json_scalars.c, which read messages from JSON. */
#ifndef GYRE_CLI_JSON_MESSAGE_JSON_READER_H
#define GYRE_CLI_JSON_MESSAGE_JSON_READER_H

#include <jansson.h>

#include "cli/json/json.h"
#include "cli/json/message_json.h"

enum { JSON_PATH_SIZE = 200 };

typedef struct json_reader {
    char path[JSON_PATH_SIZE]; /* "corners[1][2].x", cut; "" for the message itself */
    size_t path_length;        /* length of the path before it was cut, so that leaving a part works */
    unsigned char *message;
    uint64_t message_size;
    const message_json_names *names; /* buffers that the text may name; NULL: none */
} json_reader;

/** Appends a part to the path and returns the length to leave it with. */
size_t reader_enter(json_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
void reader_leave(json_reader *reader, size_t before);

/** Sets the error for a wrong value: INVALID, with the path, what was expected and what was found. */
gyre_status reader_refuse(const json_reader *reader, const char *expected, const json_t *value);

/** True for a number that message_json_quote_numbers made a string. */
bool reader_is_number(const json_t *value);
/** True for a string with \u0000 in it, which would end early as a C string. */
bool reader_holds_nul(const json_t *value);
gyre_status reader_integer(const json_reader *reader, gyre_scalar scalar, const json_t *value, void *target);
gyre_status reader_real(const json_reader *reader, gyre_scalar scalar, const json_t *value, void *target);
/** Copies the bytes of a string into an array of `size` u8; the rest of the array stays zero. */
gyre_status reader_bytes(const json_reader *reader, const json_t *value, uint64_t size, void *target);
gyre_status reader_id128(const json_reader *reader, const json_t *value, unsigned char *target);
/** The value of a hexadecimal digit; -1 for another character. */
int reader_hex_digit(char character);

#endif
