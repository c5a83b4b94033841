/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a journal says to the bytes of a journal that says the same, or less, in the present format. For tools: the queue
 * that a journal is of is not there. Pure functions.
 */
#ifndef GYRE_CORE_JOURNAL_REWRITE_H
#define GYRE_CORE_JOURNAL_REWRITE_H

#include "core/journal/content.h"

/**
 * Adds a journal that holds the requests below `end`, which is neither below content->covered nor above content->sent, with
 * its last checkpoint, as one whose program ended in order. EXHAUSTED; `bytes` is released by the caller in any case.
 */
gyre_status gyre_journal_rewrite(const struct gyre_journal_content *content, uint64_t end,
                                 struct gyre_bytes *bytes);

#endif
