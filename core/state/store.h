/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where checkpoints are kept: two halves in shared memory of the core's, which no worker process maps. One
 * holds the last checkpoint, the other one takes the next, so that one that is never finished costs nothing.
 *
 * A checkpoint is hashed in blocks. A checkpoint whose hash is not what it was is not given out; and two
 * checkpoints tell which of their blocks differ, so that a journal writes only these.
 *
 * Threads: one at a time, which the runtime sees to.
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
    uint64_t blocks;     /* of a checkpoint; the last one may be shorter */
    uint64_t *hashes[2]; /* of each block of each half */
    uint64_t sums[2];    /* of each half: a hash of its hashes */
    uint64_t number;     /* of the last checkpoint; 0: there is none. Its half is number % 2 */
};

gyre_status gyre_store_create(uint64_t size, struct gyre_store *out);
/** Accepts an empty one. */
void gyre_store_destroy(struct gyre_store *store);

/** Where the next checkpoint is to be written, `size` bytes. */
unsigned char *gyre_store_next(const struct gyre_store *store);
/** Hashes what was written there; nothing else changes before the commit. */
void gyre_store_seal(struct gyre_store *store);
/** The sealed checkpoint is the last one now. */
void gyre_store_commit(struct gyre_store *store);
/** Forgets all checkpoints. */
void gyre_store_clear(struct gyre_store *store);

/** The last checkpoint; NULL when there is none, or when its bytes are not what they were. */
const unsigned char *gyre_store_last(const struct gyre_store *store);
/** Whether a block of the last checkpoint differs from the one before, or there is none before. */
bool gyre_store_changed(const struct gyre_store *store, uint64_t block);
/** Bytes of a block. */
uint64_t gyre_store_block_size(const struct gyre_store *store, uint64_t block);

#endif
