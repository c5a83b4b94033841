/* SPDX-License-Identifier: Apache-2.0 */
/* Text work around the compiler: one text out of a unit and its headers, and a compiler's messages. No state. */
#ifndef GYRE_OPENCL_SOURCE_H
#define GYRE_OPENCL_SOURCE_H

#include <stddef.h>

/**
 * One text of the unit and the headers that it includes, directly or not, each behind a #line that names it: the
 * device's compiler needs no files, and can compile the text again without them. A header that is in none of the
 * folders keeps its #include.
 *
 * Writes the files read to `list_path`, one a line, unless it is NULL. For free; NULL with errno set.
 */
char *opencl_source_flatten(const char *unit_path, const char *const *folders, const char *list_path);

/**
 * The first error in the log of compiling `source` as "FILE:LINE: text", cut; "" when there is none. A
 * compiler that counts the lines of the whole text, whatever #line says, is put right.
 */
void opencl_first_error(const char *source, const char *log, char *sentence, size_t size);

#endif
