/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and evicts the cache's entries (entries.c). Private to this folder; gyre_cache_list and gyre_cache_clear:
 * cache.h.
 */
#ifndef GYRE_CORE_CACHE_ENTRIES_H
#define GYRE_CORE_CACHE_ENTRIES_H

#include "core/cache/cache.h"

#define GYRE_CACHE_SUFFIX ".kernel"

/** Whether a file with this name is an entry. A file that is being written is none. */
bool gyre_cache_is_entry(const char *name);

/**
 * Removes the entries that were used longest ago, until the cache is below its size. Never removes `keep`. Does
 * nothing while another process evicts.
 */
void gyre_cache_evict(const struct gyre_cache *cache, const char *keep);

#endif
