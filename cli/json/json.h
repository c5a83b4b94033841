/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and prints JSON documents for the commands (`--json`). */
#ifndef GYRE_CLI_JSON_JSON_H
#define GYRE_CLI_JSON_JSON_H

#include <jansson.h>

/** A JSON string of a text. Bytes that are no UTF-8 become U+FFFD. NULL without memory; cli_print_json reports that. */
json_t *cli_json_text(const char *text);
/**
 * A JSON object with a pair of arguments, key and value, for each letter. The letter tells the type of the value. s: text, as
 * for cli_json_text (NULL becomes null); o: a JSON value, whose reference is taken over; b: bool; i: int; I: json_int_t; f:
 * double (null when it is not finite). NULL without memory; cli_print_json reports that.
 */
json_t *cli_json_object(const char *letters, ...);
/** Prints one JSON document and takes over its reference. CLI_FAILED when memory for the document, or a part of it, was
 * lacking. */
int cli_print_json(json_t *document);
/** The document as one line, which the caller frees; its reference is taken over. NULL when memory was lacking. */
char *cli_write_json(json_t *document);

#endif
