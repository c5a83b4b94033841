/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the values in a JSON document smaller, for `gyre shrink`. Numbers that message_json_quote_numbers made strings are numbers
 * here. No state, any thread.
 */
#ifndef GYRE_CLI_CASES_SHRINK_VALUES_H
#define GYRE_CLI_CASES_SHRINK_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** How many numbers and texts that are not 0 or empty a document has. */
size_t shrink_values_count(const json_t *document);
/**
 * Sets `count` of these, from the one numbered `first`, to 0 or to an empty text. The others keep their places, not their
 * numbers.
 */
void shrink_values_clear(json_t *document, size_t first, size_t count);
/** Halves the number, or the text, of that number. False when that changes nothing. */
bool shrink_values_halve(json_t *document, size_t which);

/** How many arrays with items a document has. */
size_t shrink_arrays_count(const json_t *document);
/** Takes the second half of the items out of the array of that number; of one item, that one. */
void shrink_arrays_cut(json_t *document, size_t which);

/** The text of a document on one line, with the numbers as they were. NULL without memory; free(). */
char *shrink_values_text(const json_t *document);

#endif
