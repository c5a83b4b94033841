/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types that a journal was written with, so that a later run can tell what became of each field: their
 * declarations as bytes, a type with the types of its fields inside it.
 *
 * Pure functions. What is read is checked for its form alone: gyre_layout_create judges what the texts say.
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
    struct gyre_journal_block *blocks; /* what their texts lie in */
};

/** Adds the contents of a record of kind GYRE_RECORD_TYPE. */
void gyre_journal_type_put(struct gyre_bytes *bytes, const struct gyre_journal_type *type);
/** Reads such contents. INVALID when they are none, or one too many; EXHAUSTED. */
gyre_status gyre_journal_type_get(const unsigned char *contents, size_t size, size_t offset,
                                  struct gyre_journal_types *types);
/** The type of that role, of a buffer the one of that name (else NULL); NULL: there is none. */
const struct gyre_journal_type *gyre_journal_type_of(const struct gyre_journal_types *types,
                                                     enum gyre_type_role role, const char *name);
void gyre_journal_types_release(struct gyre_journal_types *types);

#endif
