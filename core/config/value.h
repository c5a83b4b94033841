/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the text of a setting as a value of its row's type, or says what is wrong.
 *
 * No state, except that the resulting text lives in a pool; any thread that owns the pool.
 */
#ifndef GYRE_CORE_CONFIG_VALUE_H
#define GYRE_CORE_CONFIG_VALUE_H

#include "core/config/pool.h"
#include "core/config/table.h"
#include "gyre/status.h"

/** The folders that relative paths and "~/" start from. */
struct gyre_value_place {
    const char *folder; /* absolute: the folder of the file with the setting, or the current directory */
    const char *home;   /* the user's home folder; NULL when unknown */
};

struct gyre_value {
    const char *text;
    int64_t number;
};

/** What to say behind a refused value that seems to have a comment: only ';' begins one there. "": it does not seem so. */
const char *gyre_value_hint(const char *text);

/**
 * Reads `text` as `row` says. CONFIG with the reason as the error's sentence ("is not a whole number;
 * expected
 * ..."), for the caller to put the place in front; EXHAUSTED without memory.
 */
gyre_status gyre_value_read(const struct gyre_config_row *row, const char *text,
                            const struct gyre_value_place *place, struct gyre_pool *pool,
                            struct gyre_value *out);

/** Writes which values the row takes, e.g. "a whole number from 0 to 1024"; `size` bytes at most, cut beyond. */
void gyre_value_expected(const struct gyre_config_row *row, char *text, size_t size);

/** Whether every character may stand in a name: letters, digits, '_', '-', '.'. False for "". */
int gyre_value_is_name(const char *text);

#endif
