/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the table of all configuration keys. A row describes a key: type, range, default, meaning.
 *
 * The checks of values, the reference page, typo hints and `gyre config` all read this table. To add a key, add a row.
 * Constant data; any thread.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_H
#define GYRE_CORE_CONFIG_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum gyre_section_kind {
    GYRE_SECTION_GYRE = 0,
    GYRE_SECTION_BACKEND = 1,
    GYRE_SECTION_KERNEL = 2,
    GYRE_SECTION_QUEUE = 3,
    GYRE_SECTION_PIPELINE = 4,
    GYRE_SECTION_LINK = 5,
    GYRE_SECTION_TOPIC = 6,
    GYRE_SECTION_POOL = 7,
    GYRE_SECTION_OBSERVE = 8,
    GYRE_SECTION_CLUSTER = 9
};
enum { GYRE_SECTION_KINDS = 10 };

enum gyre_value_type {
    GYRE_VALUE_BOOL,   /* true, yes, on, 1; false, no, off, 0 */
    GYRE_VALUE_INT,    /* decimal, from min to max */
    GYRE_VALUE_POWER,  /* an integer that is a power of two, or 0 when min is 0 */
    GYRE_VALUE_SIZE,   /* bytes: a number with K, M, G, T or KiB, MiB, GiB, TiB (powers of 1024) */
    GYRE_VALUE_MS,     /* an integer in milliseconds */
    GYRE_VALUE_CHOICE, /* one of the words of `choices` */
    GYRE_VALUE_TEXT,   /* any text, or none */
    GYRE_VALUE_NAME,   /* letters, digits, '_', '-' and '.' */
    GYRE_VALUE_TARGET, /* a name, or two with a colon in between */
    GYRE_VALUE_NAMES,  /* names separated by commas, or none; kept as "a, b" */
    GYRE_VALUE_PATH,   /* "~/" is the home folder; relative: to the folder of the file that says it, else to
                          the current directory; "" stays "" */
    GYRE_VALUE_PATHS,  /* paths separated by ':' */
    GYRE_VALUE_CPUS    /* "none", "spread", or CPU numbers and ranges: 0,2-5 */
};

enum { GYRE_CHOICES_MAX = 6 };

struct gyre_config_row {
    enum gyre_section_kind kind;
    enum gyre_value_type type;
    const char *backend; /* the only backend that has this key; NULL: every backend */
    const char *key;
    int64_t min, max; /* of INT, POWER, SIZE, MS; for PATH `max` limits its bytes, 0: any */
    const char *choices[GYRE_CHOICES_MAX]; /* the words of a CHOICE; the rest NULL */
    const char *preset;                    /* the default; "@home", "@plugins", ... are found at run time */
    const char *doc;                       /* what the key does, in sentences */
    const char *
        needs; /* the setting of the same section, key first, without which this one has no effect; NULL: none */
};

/** All rows, ordered by kind. */
const struct gyre_config_row *gyre_config_rows(size_t *count);
/** The row of a key in a section of that kind and name, or NULL. */
const struct gyre_config_row *gyre_config_row_find(enum gyre_section_kind kind, const char *name,
                                                   const char *key);
/** Whether a section of that kind and name may have this row's key. [backend.default] has no key that only one backend
 * knows. */
int gyre_config_row_fits(const struct gyre_config_row *row, enum gyre_section_kind kind, const char *name);
/** The word of a kind in section names: "gyre", "backend", "kernel", "queue", "pipeline", "link", "topic", "pool", "observe",
 * "cluster". */
const char *gyre_section_kind_word(enum gyre_section_kind kind);
/** True for a kind whose one section has no name: [gyre], [observe], [cluster]. */
int gyre_section_kind_is_single(enum gyre_section_kind kind);

#endif
