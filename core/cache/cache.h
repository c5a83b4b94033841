/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache keeps compiled kernels on disk (cache.c). An entry is a file FOLDER/kernels/KEY/CONTENT.kernel, an
 * artifact (artifact.h).
 *
 * KEY is a hash of all that is known before compiling: source text, options, compiler, device, versions. The note of
 * an entry names every other file that the compiler read, with its hash. So a key may have several entries, and an
 * entry is a hit only if all its files are unchanged. A path never gets other content, because a loader takes a path
 * that it has loaded before for the same file.
 *
 * Safe for threads and processes at once, without waiting. Entries appear by rename. Only eviction takes a lock, and
 * it does nothing when another process holds this lock. A cache that cannot be used costs time, and is never an
 * error: `trouble` says why. No file in the cache is trusted: a damaged entry is removed and compiled again.
 */
#ifndef GYRE_CORE_CACHE_CACHE_H
#define GYRE_CORE_CACHE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "core/cache/artifact.h"

enum { GYRE_CACHE_KEY_SIZE = 33, GYRE_CACHE_TROUBLE_SIZE = 320 };

struct gyre_cache {
    char folder[PATH_MAX - 128];
    uint64_t size_max;
    bool usable;
    char trouble[GYRE_CACHE_TROUBLE_SIZE]; /* why the cache cannot be used or written; "" when all is well */
};

/**
 * Opens the cache in FOLDER/kernels, and makes this folder when it is missing. `folder` "" or `size_max` 0 turns the
 * cache off. Refuses a folder that other users can write, because entries are loaded as code.
 */
void gyre_cache_open(struct gyre_cache *cache, const char *folder, uint64_t size_max);

/** One ingredient of a key. */
struct gyre_cache_part {
    const void *bytes;
    size_t size;
};

/**
 * Makes a key of 32 hexadecimal digits. The lengths of the parts count, so that two lists of parts with one text
 * differ.
 */
void gyre_cache_key(const struct gyre_cache_part *parts, size_t count, char key[GYRE_CACHE_KEY_SIZE]);

/**
 * Looks for an entry of the key whose files are unchanged. True on a hit: the entry counts as used now, *artifact is
 * open, and `path` names its file. Another process may evict the file at any time; *artifact stays valid.
 */
bool gyre_cache_find(const struct gyre_cache *cache, const char *key, char path[PATH_MAX],
                     struct gyre_artifact *artifact);

/** A compiled kernel to keep. */
struct gyre_cache_item {
    const char *key;
    const void *image;
    size_t image_size;
    const char *note;         /* whole lines */
    const char *dependencies; /* a file that lists the paths that the compiler read, one a line */
    const char *unit;         /* the generated unit, which is no dependency though it is listed */
    struct timespec started; /* CLOCK_REALTIME before the compiler ran: files changed later spoil the entry */
};

/** Keeps an item, and evicts the entries that were used longest ago. False: cache->trouble says why. */
bool gyre_cache_store(struct gyre_cache *cache, const struct gyre_cache_item *item, char path[PATH_MAX]);

/** An entry of the cache as `gyre` lists it. */
struct gyre_cache_entry {
    char path[PATH_MAX];
    uint64_t size;
    int64_t used_at; /* seconds since 1970 */
    bool damaged;    /* the entry is damaged: its texts are "" */
    char source[PATH_MAX], backend[32], architecture[64], compiler[256];
};

/**
 * Lists all entries, the one used last first. EXHAUSTED without memory, FAILED when a folder cannot be read. The
 * caller frees *entries.
 */
gyre_status gyre_cache_list(const struct gyre_cache *cache, struct gyre_cache_entry **entries, size_t *count);

/**
 * Removes all entries, and tells how many and how large they were. FAILED when an entry or folder could not be
 * removed or read.
 */
gyre_status gyre_cache_clear(const struct gyre_cache *cache, size_t *count, uint64_t *size);

#endif
