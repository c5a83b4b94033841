/* SPDX-License-Identifier: Apache-2.0 */
/* Helps to write sentences: status names, lists of names, the nearest name to a typo. No state, any thread. */
#ifndef GYRE_CORE_BASE_TEXT_H
#define GYRE_CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** The status as a lower-case word: "ok", "invalid", ...; "unknown" for a number that is no status. */
const char *gyre_status_word(gyre_status status);

/** The ending of a noun that is counted: "" for 1, else "s". */
static inline const char *gyre_text_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/**
 * The candidate closest to `typed` by edit distance (with transpositions). NULL when no candidate is close enough: at most
 * about a third of the letters may differ (one of 4, two of 5, at least one, but never all).
 */
const char *gyre_text_nearest(const char *typed, const char *const *candidates, size_t count);

enum { GYRE_TEXT_HINT_SIZE = 96 };
/** Writes and returns `hint`: "; did you mean 'NEAREST'?", or "" when no candidate is near, or `typed` is itself the nearest. */
const char *gyre_text_hint(const char *typed, const char *const *candidates, size_t count,
                           char hint[GYRE_TEXT_HINT_SIZE]);

/** Writes and returns `text`: "a, b, c", cut where it does not fit; "" for no names. */
const char *gyre_text_list(const char *const *names, size_t count, char *text, size_t size);

/**
 * How many bytes the UTF-8 character at `text` has, 1 to 4, within `left` bytes. 0 when there is no valid character
 * (overlong, a surrogate, beyond U+10FFFF, cut).
 */
size_t gyre_text_character(const unsigned char *text, size_t left);

/** Whether a text is UTF-8 without control characters, so that a name of a kernel or a queue cannot pass for a line of a log. */
bool gyre_text_is_plain(const char *text);

/** Puts '?' for each byte that is no printable UTF-8 text, so that the text can be shown on a terminal and neither steers it nor passes
 * for another one: controls, ends of lines, letters that show nothing, and marks that turn the direction of writing. */
void gyre_text_clean(char *text);

/** Removes a UTF-8 character at the end of `text` that was cut because the text filled its room. */
void gyre_text_end_whole(char *text);

#endif
