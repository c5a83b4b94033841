/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the content of a journal (content.h) as a new journal in the present format, with all requests or only the
 * first ones (rewrite.c). For tools, which have no queue: a running program writes by journal.h. Pure functions.
 */
#ifndef GYRE_CORE_JOURNAL_REWRITE_H
#define GYRE_CORE_JOURNAL_REWRITE_H

#include "core/journal/content.h"

/**
 * Adds to `bytes` a journal with the last checkpoint of `content` and its requests below `end`, marked as a journal
 * whose program ended normally. content->covered <= end <= content->sent. EXHAUSTED. The caller releases `bytes` in
 * any case.
 */
gyre_status gyre_journal_rewrite(const struct gyre_journal_content *content, uint64_t end,
                                 struct gyre_bytes *bytes);

#endif
