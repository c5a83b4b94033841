/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal as `gyre journal` sees it: the content of its file, the layouts of its types, and lines of JSON. One thread. core/journal
 * checks the file; here each message is checked against its type before it is printed.
 */
#ifndef GYRE_CLI_JOURNAL_VIEW_H
#define GYRE_CLI_JOURNAL_VIEW_H

#include <stdio.h>

#include "cli/type_list.h"
#include "core/journal/content.h"
#include "core/journal/visit.h"

typedef struct journal_view {
    struct gyre_journal_visit visit;
    struct gyre_journal_content content;
    gyre_layout *request, *reply, *state; /* NULL: not known, and of a state that there is none */
} journal_view;

/** Opens and reads the file. Close it also after a failure. Statuses of gyre_journal_visit_begin and gyre_journal_read. */
gyre_status journal_view_open(const char *path, bool makes_lock, journal_view *view);
/** The same of bytes that are in view->visit already. */
gyre_status journal_view_read(journal_view *view);
void journal_view_close(journal_view *view);

/**
 * Gives a journal of version 1 the types that it was written with, found by their hashes in the list, which has to outlive
 * the view. INVALID when its requests' type is not there; a journal that has its types is left as it is.
 */
gyre_status journal_view_add_types(journal_view *view, const type_list *types);

/** Brings its content to the types of the list that go by the names of its own; as gyre_journal_adopt. */
gyre_status journal_view_adopt(journal_view *view, const type_list *types);

/** OK for a journal that a program would go on from without losing anything, or a sentence that says what is wrong. */
gyre_status journal_view_check(const journal_view *view);
/** "ended", "open" (its program did not end in order), "cut", "damaged". */
const char *journal_view_end_word(const journal_view *view);

/** Writes whose journal it is and what it holds. */
void journal_view_write_head(const journal_view *view, FILE *out);
/** Writes a request and its outcome. */
void journal_view_write_request(const journal_view *view, uint64_t index, FILE *out);
/** Writes the last checkpoint's state as an object; with `buffer`, the elements of that buffer as an array. INVALID. */
gyre_status journal_view_write_state(const journal_view *view, const char *buffer, FILE *out);
/** Its bytes; *size 0 when there are none. INVALID for a buffer that is not in it. */
gyre_status journal_view_state_bytes(const journal_view *view, const char *buffer,
                                     const unsigned char **bytes, uint64_t *size);

#endif
