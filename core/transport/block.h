/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of every block and record that a cluster keeps in a transport. What is read back is foreign: it counts only after
 * gyre_block_check. Little-endian machines only, as all of Gyre. Pure functions over bytes.
 */
#ifndef GYRE_CORE_TRANSPORT_BLOCK_H
#define GYRE_CORE_TRANSPORT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

#define GYRE_BLOCK_MAGIC UINT32_C(0x43525947) /* "GYRC" */
enum { GYRE_BLOCK_VERSION = 1 };

enum gyre_block_kind {
    GYRE_BLOCK_APP = 1,      /* record: what the shards of an app are */
    GYRE_BLOCK_MEMBER = 2,   /* record: a member, alive while it changes */
    GYRE_BLOCK_PLACE = 3,    /* record: who owns a shard */
    GYRE_BLOCK_REQUESTS = 4, /* log in.SHARD */
    GYRE_BLOCK_REPLIES = 5,  /* log out.CLIENT */
    GYRE_BLOCK_FENCE = 6,    /* log state.SHARD, as those below: an owner begins */
    GYRE_BLOCK_BYTES = 7,    /* a piece of a checkpoint's table */
    GYRE_BLOCK_CLIENTS = 8,  /* a piece of a checkpoint's clients */
    GYRE_BLOCK_COMMIT = 9,   /* the checkpoint is whole */
    GYRE_BLOCK_LETTER = 10,  /* log dead.SHARD: a request that was given up */
    GYRE_BLOCK_ORDERS = 11,  /* record: what an operator ordered about placement */
    GYRE_BLOCK_OFFER = 12    /* record: what a member that is to take a shard says about it */
};

struct gyre_block_head {
    uint32_t magic;
    uint16_t version, kind;
    uint64_t size; /* bytes of the whole block */
    uint64_t hash; /* of the whole block, with 0 in this place */
};

/** Fills in the head of a block of `size` bytes, its first member; the rest is written. */
void gyre_block_seal(void *block, size_t size, enum gyre_block_kind kind);
/**
 * INCOMPATIBLE, and a sentence that names `where`, unless the bytes are a block of that kind with `least` bytes or more. `kind` 0: any;
 * *found (may be NULL) is its kind.
 */
gyre_status gyre_block_check(const void *bytes, size_t size, enum gyre_block_kind kind, size_t least,
                             const char *where, enum gyre_block_kind *found);

#endif
