/* SPDX-License-Identifier: Apache-2.0 */
/* JSON documents of the command. */
#ifndef GYRE_CLI_JSON_H
#define GYRE_CLI_JSON_H

#include <jansson.h>

/** Text as JSON: bytes that are no UTF-8 become U+FFFD. NULL without memory, which cli_print_json tells. */
json_t *cli_json_text(const char *text);
/**
 * An object of as many pairs as there are letters: a key, and a value of its letter. s: text as of cli_json_text, or
 * NULL, which is null; o: another JSON value, whose reference is taken over; b: bool; i: int; I: json_int_t; f: double,
 * null where it is not finite. NULL without memory, which cli_print_json tells.
 */
json_t *cli_json_object(const char *letters, ...);
/** Prints one JSON document and takes over the reference; CLI_FAILED when it, or something in it, had no memory. */
int cli_print_json(json_t *document);

#endif
