/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text around OpenCL's compilers: makes one text out of a unit and its headers, and reads a compiler's
 * messages. No state.
 */
#ifndef GYRE_OPENCL_SOURCE_H
#define GYRE_OPENCL_SOURCE_H

#include <stddef.h>

/**
 * Returns one text of the unit and the headers that it includes, directly or not, each behind a #line that
 * names it. So the device's compiler needs no files, and can compile the text again without them. An #include
 * stays as it is if its header is in none of the folders.
 *
 * Writes the files read to `list_path`, one a line, unless it is NULL. The caller frees the text. NULL with
 * errno set when it fails.
 */
char *opencl_source_flatten(const char *unit_path, const char *const *folders, const char *list_path);

/**
 * Writes the first error in the log of compiling `source` as "FILE:LINE: text", cut; "" when there is none.
 * Corrects the place if a compiler counts the lines of the whole text in spite of #line.
 */
void opencl_first_error(const char *source, const char *log, char *sentence, size_t size);

#endif
