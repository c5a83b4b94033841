/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses one configuration file, whole or not at all. Only this part of Gyre uses the library inih.
 *
 * The format: "[section]" and "key = value" begin in the first column, each in a line of at most GYRE_INI_LINE_MAX
 * bytes. A comment is a line that starts with ';' or '#', or the text behind white space and ';' after a section or a
 * value. Blanks around key and value do not count. The file is UTF-8, with or without byte order
 * mark, with LF or CRLF. A key may be set once a section; a section may be opened again. Threads: any.
 */
#ifndef GYRE_CORE_CONFIG_INI_FILE_H
#define GYRE_CORE_CONFIG_INI_FILE_H

#include <stddef.h>

#include "core/config/pool.h"
#include "gyre/status.h"

enum { GYRE_INI_LINE_MAX = 190, GYRE_INI_SECTION_MAX = 49, GYRE_INI_ENTRIES_MAX = 4096 };

/** "[section]" (key is NULL) or "key = value", with its line, counted from 1. */
struct gyre_ini_entry {
    const char *section, *key, *value;
    int line;
};

/** The entries of a file, in their order. Their memory lives in the pool. */
struct gyre_ini_file {
    struct gyre_ini_entry *entries;
    size_t count;
};

/** Reads and parses a file. NOT_FOUND when there is no such file; CONFIG with FILE:LINE and the reason otherwise. */
gyre_status gyre_ini_file_read(const char *path, struct gyre_pool *pool, struct gyre_ini_file *out);
/** As gyre_ini_file_read, for bytes in memory. `path`: the name of the file in sentences. */
gyre_status gyre_ini_file_parse(const char *path, const char *bytes, size_t size, struct gyre_pool *pool,
                                struct gyre_ini_file *out);

#endif
