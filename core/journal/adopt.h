/* SPDX-License-Identifier: Apache-2.0 */
/* What a journal says, brought to later types of the same things, for tools: a launch does it by itself. */
#ifndef GYRE_CORE_JOURNAL_ADOPT_H
#define GYRE_CORE_JOURNAL_ADOPT_H

#include "core/journal/content.h"
#include "core/types/types.h"

/** The types that are to be; NULL: as it is. */
struct gyre_journal_target {
    const gyre_layout *request, *reply, *state;
};

/**
 * Takes over requests, replies and the state, by the names of their fields. The layouts outlive the content. INVALID for a
 * journal that does not say its types, INCOMPATIBLE with what is in the way, EXHAUSTED; the content is of no use then.
 */
gyre_status gyre_journal_adopt(struct gyre_journal_content *content, const struct gyre_journal_target *to);

#endif
