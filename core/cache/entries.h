/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the cache as a whole: listing, eviction. Shared by the files of this folder. */
#ifndef GYRE_CORE_CACHE_ENTRIES_H
#define GYRE_CORE_CACHE_ENTRIES_H

#include "core/cache/cache.h"

#define GYRE_CACHE_SUFFIX ".kernel"

/** Whether a file of this name is an entry (and not one in the making). */
bool gyre_cache_is_entry(const char *name);

/** Brings the cache below its size, oldest use first; never removes `keep`. Gives way to another process. */
void gyre_cache_evict(const struct gyre_cache *cache, const char *keep);

#endif
