/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what two files include leaves both their meaning when they stand in one unit (canary_included.c). */
#ifndef GYRE_CORE_PIPELINE_CANARY_INCLUDED_H
#define GYRE_CORE_PIPELINE_CANARY_INCLUDED_H

#include "core/pipeline/canary_text.h"
#include "core/pipeline/source.h"

/** Two files of a canary's unit. Folders: where they lie. */
struct gyre_canary_pair {
    const char *old_path, *old_folder, *old_text;
    const struct gyre_canary_text *old_words;
    const char *new_path, *new_folder, *new_text;
    const struct gyre_canary_text *new_words;
};

/**
 * INCOMPATIBLE, with a sentence, unless it is sure that each file has the same meaning in the unit, behind or before the other one, as alone.
 */
gyre_status gyre_canary_check_included(const struct gyre_canary_pair *pair);

#endif
