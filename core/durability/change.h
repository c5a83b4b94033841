/* SPDX-License-Identifier: Apache-2.0 */
/* Journals that another handler wrote, or that were written with other types than the kernel has now. */
#ifndef GYRE_CORE_DURABILITY_CHANGE_H
#define GYRE_CORE_DURABILITY_CHANGE_H

#include "core/device/runtime.h"
#include "core/journal/content.h"

/**
 * Applies `on_change` to the journal `path`, when another handler wrote it. INCOMPATIBLE, with what to do, when this
 * handler would have to handle requests again that the other one handled. Else *content is what the queue goes on from.
 * A journal without a state is never refused.
 */
gyre_status gyre_change_judge(const gyre_kernel *kernel, const char *path,
                              struct gyre_journal_content *content);

#endif
