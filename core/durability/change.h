/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a journal that was written by another handler, or with other types, than those of its kernel now. */
#ifndef GYRE_CORE_DURABILITY_CHANGE_H
#define GYRE_CORE_DURABILITY_CHANGE_H

#include "core/device/runtime.h"
#include "core/journal/content.h"

/**
 * As `on_change` says: INCOMPATIBLE with what to do when another handler would have to handle again what the one that
 * wrote the journal `path` handled; else *content is what is to be gone on from. Without a state nothing is refused.
 */
gyre_status gyre_change_judge(const gyre_kernel *kernel, const char *path,
                              struct gyre_journal_content *content);

#endif
