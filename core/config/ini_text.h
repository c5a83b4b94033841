/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of a configuration file, and checks that they are clean text. ini_file.h parses them. No state; any
 * thread.
 */
#ifndef GYRE_CORE_CONFIG_INI_TEXT_H
#define GYRE_CORE_CONFIG_INI_TEXT_H

#include <stddef.h>

#include "gyre/status.h"

enum { GYRE_INI_SIZE_MAX = 1024 * 1024 };

/**
 * Reads a regular file (or the null device, which is empty) of at most GYRE_INI_SIZE_MAX bytes. NOT_FOUND
 * when there is no such file; CONFIG with the reason when it cannot be read. The caller frees *out.
 */
gyre_status gyre_ini_text_read(const char *path, char **out, size_t *size);

/**
 * CONFIG unless the bytes are UTF-8 without NUL and without control characters, except tab and line end (LF or CRLF). The
 * sentence names `path`, line and column. A byte order mark is not accepted, so the caller skips it first.
 */
gyre_status gyre_ini_text_check(const char *path, const char *bytes, size_t size);

/** How many bytes the UTF-8 byte order mark takes in front of the text: 3 or 0. */
size_t gyre_ini_text_mark(const char *bytes, size_t size);

/** Whether a single line of text (a variable, a setting) is UTF-8 without control characters. */
int gyre_ini_text_is_clean(const char *text);

#endif
