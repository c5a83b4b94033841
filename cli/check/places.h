/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the place and the owner (the user, Gyre, the system) of a piece of source text. */
#ifndef GYRE_CHECK_PLACES_H
#define GYRE_CHECK_PLACES_H

#include "cli/check/checker.h"

/** The place where a location takes effect, for messages. The body of a macro takes effect where the macro is used. */
struct place check_place_of(CXSourceLocation location);
/** The owner of the file that a location takes effect in. libclang does not tell whose macro a piece of text came from. */
enum owner check_owner_of_use(const struct checker *checker, CXSourceLocation location);
enum owner check_owner_of_file(const struct checker *checker, CXFile file);
/** Copies a string of libclang into `text` and disposes of it; returns `text`. */
char *check_take_string(CXString string, char *text, size_t size);

/** The owner of the first word of a cursor's text, in a macro or not. */
enum owner check_owner_of_text(const struct checker *checker, CXCursor cursor);
/** Copies the first word of a cursor's text; returns `text`, which is "" where there is none. */
char *check_first_token(const struct checker *checker, CXCursor cursor, char *text, size_t size);
/** The offset where a location takes effect, in bytes from the beginning of its file. *file: that file, unless
 * `file` is NULL. */
unsigned check_offset_of(CXSourceLocation location, CXFile *file);
/** True when a cursor stands inside the text of the cursor `outer`. */
bool check_is_inside(CXCursor cursor, CXCursor outer);

#endif
