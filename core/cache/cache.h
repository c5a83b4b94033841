/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernels on disk: FOLDER/kernels/KEY/CONTENT.kernel, each an artifact (artifact.h).
 *
 * KEY covers what is known before compiling: source text, options, compiler, device, versions. The note of an
 * entry names every file that the compiler read besides, with its hash, so one key may have several entries,
 * and only one whose files are all unchanged is a hit. A path never gets other content, because loaders take
 * a path that they know for the file that they know.
 *
 * Safe for threads and processes at once without waiting: entries appear by rename; only eviction takes a
 * lock, and gives way when another process holds it. A cache that cannot be used costs time, never an error:
 * `trouble` says why. Nothing in it is trusted; what is damaged is removed and rebuilt.
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
    char trouble[GYRE_CACHE_TROUBLE_SIZE]; /* why it cannot be used, or not be written; "" when all is well */
};

/**
 * Prepares FOLDER/kernels, made when it is missing. An empty folder or size 0 turn the cache off. Refuses
 * folders that other users can write, because entries are loaded as code.
 */
void gyre_cache_open(struct gyre_cache *cache, const char *folder, uint64_t size_max);

/** One ingredient of a key. */
struct gyre_cache_part {
    const void *bytes;
    size_t size;
};

/** 32 hexadecimal digits; parts are told apart by their lengths. */
void gyre_cache_key(const struct gyre_cache_part *parts, size_t count, char key[GYRE_CACHE_KEY_SIZE]);

/**
 * Looks for an entry whose files are unchanged. On a hit it counts as used now, *artifact is open and `path`
 * names it. It may be evicted at any time by others, but stays mapped.
 */
bool gyre_cache_find(const struct gyre_cache *cache, const char *key, char path[PATH_MAX],
                     struct gyre_artifact *artifact);

/** What to keep. */
struct gyre_cache_item {
    const char *key;
    const void *image;
    size_t image_size;
    const char *note;         /* whole lines */
    const char *dependencies; /* file with the paths that the compiler read, one a line */
    const char *unit;         /* the generated unit, which is not one of them */
    struct timespec started; /* CLOCK_REALTIME before the compiler ran: files changed later spoil the entry */
};

/** Keeps an item and evicts what was used longest ago. On failure cache->trouble says why. */
bool gyre_cache_store(struct gyre_cache *cache, const struct gyre_cache_item *item, char path[PATH_MAX]);

/** One entry, for people. */
struct gyre_cache_entry {
    char path[PATH_MAX];
    uint64_t size;
    int64_t used_at; /* seconds since 1970 */
    bool damaged;    /* then the texts are "" */
    char source[PATH_MAX], backend[32], architecture[64], compiler[256];
};

/**
 * All entries, used last first. EXHAUSTED without memory, FAILED when a folder cannot be read. The caller frees
 * *entries.
 */
gyre_status gyre_cache_list(const struct gyre_cache *cache, struct gyre_cache_entry **entries, size_t *count);

/** Removes all entries; tells how many and how large they were. FAILED when some could not be removed, or read. */
gyre_status gyre_cache_clear(const struct gyre_cache *cache, size_t *count, uint64_t *size);

#endif
