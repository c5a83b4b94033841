/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the types that a journal holds (types.c), so that a later run can convert each field. A type is
 * written as its declaration, with the types of its fields inside it.
 *
 * Pure functions. Reading checks only the form of the bytes; gyre_layout_create checks what the declarations say.
 */
#ifndef GYRE_CORE_JOURNAL_TYPES_H
#define GYRE_CORE_JOURNAL_TYPES_H

#include "core/journal/record.h"
#include "gyre/message.h"

enum { GYRE_JOURNAL_TYPES_MAX = 16 /* in a journal */ };

struct gyre_journal_type {
    struct gyre_record_type about;
    const gyre_type *type;
};

/** Types of a journal that was read; zeroed: none. */
struct gyre_journal_types {
    struct gyre_journal_type all[GYRE_JOURNAL_TYPES_MAX];
    size_t count;
    struct gyre_journal_block *blocks; /* the memory of the types' texts */
};

/** Adds the contents of a record of kind GYRE_RECORD_TYPE. */
void gyre_journal_type_put(struct gyre_bytes *bytes, const struct gyre_journal_type *type);
/** Reads the contents of such a record. INVALID when they are no type, or `types` is full; EXHAUSTED. */
gyre_status gyre_journal_type_get(const unsigned char *contents, size_t size, size_t offset,
                                  struct gyre_journal_types *types);
/**
 * Finds the type with that role. `name`: the buffer's name, NULL for other roles. NULL: the journal has no such type.
 */
const struct gyre_journal_type *gyre_journal_type_of(const struct gyre_journal_types *types,
                                                     enum gyre_type_role role, const char *name);
void gyre_journal_types_release(struct gyre_journal_types *types);

#endif
