/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a journal for `gyre journal`: the content of its file and the layouts of its types, and writes them as lines of JSON.
 * One thread. core/journal checks the file. This view checks each message against its type before it prints the message.
 */
#ifndef GYRE_CLI_VIEWS_JOURNAL_VIEW_H
#define GYRE_CLI_VIEWS_JOURNAL_VIEW_H

#include <stdio.h>

#include "cli/wire/type_list.h"
#include "core/journal/content.h"
#include "core/journal/visit.h"

typedef struct journal_view {
    struct gyre_journal_visit visit;
    struct gyre_journal_content content;
    gyre_layout *request, *reply, *state; /* NULL: the type is not known, or the journal has no state */
} journal_view;

/** Opens and reads a journal's file. Close the view also after a failure. Statuses of gyre_journal_visit_begin and
 * gyre_journal_read. */
gyre_status journal_view_open(const char *path, bool makes_lock, journal_view *view);
/** Reads what journal_view_open would read, from the bytes that view->visit already holds. */
gyre_status journal_view_read(journal_view *view);
void journal_view_close(journal_view *view);

/**
 * Gives a journal of version 1, which holds only hashes of its types, the types themselves: finds them in the list by their
 * hashes. The list has to outlive the view. INVALID when the list lacks the type of the requests. No effect on a journal with
 * types.
 */
gyre_status journal_view_add_types(journal_view *view, const type_list *types);

/** Converts the journal's content to the types in the list that have the names of the journal's types, as gyre_journal_adopt
 * does. INVALID for a journal of a pipeline, whose stages' types stay what they are. */
gyre_status journal_view_adopt(journal_view *view, const type_list *types);

/** OK for a journal that a program would go on from without losing anything, or a sentence that says what is wrong. */
gyre_status journal_view_check(const journal_view *view);
/** The word for how the journal ends: "ended", "open" (its program did not end normally), "cut" or "damaged". */
const char *journal_view_end_word(const journal_view *view);

/** Writes which kernel and queue the journal belongs to, and what it holds. */
void journal_view_write_head(const journal_view *view, FILE *out);
/** Writes a request and its outcome. */
void journal_view_write_request(const journal_view *view, uint64_t index, FILE *out);
/** Writes the last checkpoint's state as an object; with `buffer`, the elements of that buffer as an array. INVALID. */
gyre_status journal_view_write_state(const journal_view *view, const char *buffer, FILE *out);
/** The bytes of the last checkpoint's state, or of `buffer`; *size is 0 without a state. INVALID for a buffer that is not in
 * it. */
gyre_status journal_view_state_bytes(const journal_view *view, const char *buffer,
                                     const unsigned char **bytes, uint64_t *size);

#endif
