/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the checkpoints of a kernel's state in memory (store.c). The store is two halves of shared memory that no
 * worker process maps. One half holds the last checkpoint, the next checkpoint is written to the other half. So a
 * checkpoint that is never finished does not harm the last one.
 *
 * A checkpoint is hashed in blocks. A checkpoint whose hash has changed is not given out. The hashes of two
 * checkpoints tell which blocks differ, so that a journal writes only the blocks that changed.
 *
 * Threads: one at a time; the runtime sees to that.
 */
#ifndef GYRE_CORE_STATE_STORE_H
#define GYRE_CORE_STATE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ring/region.h"

enum { GYRE_STORE_BLOCK = 65536 };

struct gyre_store {
    struct gyre_region region;
    uint64_t size;       /* bytes of a checkpoint */
    uint64_t blocks;     /* blocks of a checkpoint; the last block may be shorter */
    uint64_t *hashes[2]; /* for each half: the hash of each block */
    uint64_t sums[2];    /* for each half: the hash of its blocks' hashes */
    uint64_t number;     /* number of the last checkpoint, in half number % 2; 0: there is none */
};

gyre_status gyre_store_create(uint64_t size, struct gyre_store *out);
/** Frees the store's memory. Accepts a zeroed store. */
void gyre_store_destroy(struct gyre_store *store);

/** The memory that the caller writes the next checkpoint to: `size` bytes. */
unsigned char *gyre_store_next(const struct gyre_store *store);
/** Hashes the next checkpoint after it was written. The last checkpoint stays the last one until the commit. */
void gyre_store_seal(struct gyre_store *store);
/** Makes the sealed checkpoint the last one. */
void gyre_store_commit(struct gyre_store *store);
/** Forgets all checkpoints. */
void gyre_store_clear(struct gyre_store *store);

/** The bytes of the last checkpoint; NULL when there is none, or when its bytes changed since they were hashed. */
const unsigned char *gyre_store_last(const struct gyre_store *store);
/**
 * Whether a block of the last checkpoint differs from the checkpoint before. True where there is no checkpoint
 * before.
 */
bool gyre_store_changed(const struct gyre_store *store, uint64_t block);
/** The size of the block in bytes. */
uint64_t gyre_store_block_size(const struct gyre_store *store, uint64_t block);

#endif
