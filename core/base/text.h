/* SPDX-License-Identifier: Apache-2.0 */
/* Small text helpers: status names, lists of names, the nearest name for a typo. No state, any thread. */
#ifndef GYRE_CORE_BASE_TEXT_H
#define GYRE_CORE_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

/** "ok", "invalid", ...: the status as a lower-case word; "unknown" for a number that is none. */
const char *gyre_status_word(gyre_status status);

/** The ending of a noun that is counted: "" for 1, else "s". */
static inline const char *gyre_text_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/**
 * The candidate closest to `typed` by edit distance (with transpositions), or NULL when none is close enough
 * to be what was meant (at most about a third of its letters differ: one of 4, two of 5, at least one, but never all).
 */
const char *gyre_text_nearest(const char *typed, const char *const *candidates, size_t count);

enum { GYRE_TEXT_HINT_SIZE = 96 };
/** Returns `hint`: "; did you mean 'NEAREST'?", or "" when none of the candidates is near, or that one was typed. */
const char *gyre_text_hint(const char *typed, const char *const *candidates, size_t count,
                           char hint[GYRE_TEXT_HINT_SIZE]);

/** Returns `text`: "a, b, c", cut where it does not fit; "" for no names. */
const char *gyre_text_list(const char *const *names, size_t count, char *text, size_t size);

/**
 * Bytes of the UTF-8 character at the front of `left` bytes: 1 to 4; 0 when there is none (overlong, a
 * surrogate, beyond U+10FFFF, cut).
 */
size_t gyre_text_character(const unsigned char *text, size_t left);

/** Ends `text`, which fills its room, before a UTF-8 character that the end of the room cut. */
void gyre_text_end_whole(char *text);

#endif
