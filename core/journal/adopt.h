/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the content of a journal (its requests, replies and state) to later versions of their types, for tools
 * (adopt.c). A kernel that starts with a journal converts by itself and does not call this.
 */
#ifndef GYRE_CORE_JOURNAL_ADOPT_H
#define GYRE_CORE_JOURNAL_ADOPT_H

#include "core/journal/content.h"
#include "core/types/types.h"

/** The layouts to convert to. NULL: these messages, or the state, stay as they are. */
struct gyre_journal_target {
    const gyre_layout *request, *reply, *state;
};

/**
 * Converts the requests, replies and state of `content`, field by field by name. The layouts must outlive the content.
 * INVALID for a journal that does not hold its types, INCOMPATIBLE with a sentence about the field that cannot be
 * converted, EXHAUSTED. After a failure the content can only be released.
 */
gyre_status gyre_journal_adopt(struct gyre_journal_content *content, const struct gyre_journal_target *to);

#endif
