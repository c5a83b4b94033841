/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a journal that another handler wrote, by the setting on_change. Journals of other types: upgrade.h. */
#ifndef GYRE_CORE_DURABILITY_CHANGE_H
#define GYRE_CORE_DURABILITY_CHANGE_H

#include "core/device/runtime.h"
#include "core/journal/content.h"

/**
 * Applies `on_change` of the kernel to the journal `path` when another handler than `mine` (a hash; 0: unknown) wrote it. `whose`: of whom the
 * handler is, for sentences. INCOMPATIBLE, with what to do, when this kernel's
 * handler would have to handle requests again that the other handler handled. Else the queue goes on from *content. A journal
 * without a state is never refused.
 */
gyre_status gyre_change_judge(const gyre_kernel *kernel, const char *whose, uint64_t mine, const char *path,
                              struct gyre_journal_content *content);

#endif
