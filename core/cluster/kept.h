/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shard keeps in its log state.SHARD: fences, and checkpoints (the table of keys, the clients, and the position in in.SHARD).
 *
 * Every block is appended with the number of the block that has to be the last one. An owner begins with a fence, so whatever an earlier
 * owner appends afterwards is refused (AGAIN): the effect is fenced, not the owner's clock. A checkpoint counts from its commit on. A
 * checkpoint holds the pieces of the table that changed since the one before, and now and then all of them; what lies before that is purged.
 *
 * One thread: the shard's.
 */
#ifndef GYRE_CORE_CLUSTER_KEPT_H
#define GYRE_CORE_CLUSTER_KEPT_H

#include "core/cluster/callers.h"
#include "core/transport/transport.h"

enum { GYRE_KEPT_PIECE = 65536 };

struct gyre_kept_pending {
    struct gyre_kept_pending *next;
    enum gyre_block_kind kind;
    uint64_t offset, length;
    unsigned char bytes[];
};

struct gyre_kept {
    struct gyre_transport *transport;
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t epoch, incarnation;
    char owner[GYRE_MEMBER_NAME_MAX];
    uint64_t last;        /* the number of the log's last block, as this owner knows */
    uint64_t at;          /* of the last block that was read */
    uint64_t checkpoint;  /* the number of the last checkpoint; 0: there is none */
    uint64_t position;    /* of it */
    unsigned char *table; /* of it */
    uint64_t table_size;
    struct gyre_callers
        callers; /* as of the checkpoint after a restore; then the shard's own, which it changes */
    uint64_t whole_bytes, changed_bytes; /* of the last whole checkpoint, and of those since */
    unsigned char *block;                /* room for a block */
    /* of a restore: pieces of a checkpoint whose commit was not read yet */
    struct gyre_kept_pending *pending, **pending_end;
    uint64_t pending_bytes, pending_count, pending_epoch, pending_checkpoint, seen_epoch;
};

/** Makes room; `table_size`: that of the kernel's table. EXHAUSTED. */
gyre_status gyre_kept_init(struct gyre_kept *kept, struct gyre_transport *transport, uint32_t shard,
                           uint64_t table_size);
void gyre_kept_finish(struct gyre_kept *kept);
/**
 * Appends the fence of kept->epoch, and reads the last checkpoint up to it: kept->checkpoint is 0 when there is none. LOST when an owner
 * with a later epoch was here; INCOMPATIBLE when the log is damaged or of another table.
 */
gyre_status gyre_kept_begin(struct gyre_kept *kept, uint64_t deadline_ns);
/**
 * Before gyre_kept_begin, as often as wanted: reads what is there while another member owns the shard, so that gyre_kept_begin reads the rest only.
 * What comes of it is no more than an opinion until then.
 */
gyre_status gyre_kept_read_ahead(struct gyre_kept *kept);
/** The number of the first block that the log has now; 0: it has none, or the transport cannot tell. The block's room is used. */
uint64_t gyre_kept_first(struct gyre_kept *kept);
/** Reads the last checkpoint without a fence, of the log as it is now: for who looks from outside. As gyre_kept_begin. */
gyre_status gyre_kept_read(struct gyre_kept *kept, uint64_t deadline_ns);
/**
 * The steps of gyre_kept_begin: takes block `number` of the log, the first `size` bytes of kept->block; and forgets pieces whose commit did not
 * come.
 */
gyre_status gyre_kept_take(struct gyre_kept *kept, uint64_t number, size_t size);
void gyre_kept_drop(struct gyre_kept *kept);
/** Keeps a checkpoint of `table`, kept->callers and `position`. LOST when another owner was fenced in meanwhile. After any failure the
 * owner has to give the shard up. */
gyre_status gyre_kept_checkpoint(struct gyre_kept *kept, const unsigned char *table, uint64_t position);

#endif
