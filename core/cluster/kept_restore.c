/* SPDX-License-Identifier: Apache-2.0 */
/* Fences earlier owners of a shard off and reads its last checkpoint (kept.h). Everything that is read is checked first. */
#include "core/cluster/kept.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

#define LOOK_NS UINT64_C(20000000)
enum { FENCE_NAP_NS = 2000000 };

static gyre_status damaged(const struct gyre_kept *kept, uint64_t number, const char *what)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "block %llu of the cluster's log '%s': %s: put back a copy of what the transport keeps, or "
        "begin another app",
        (unsigned long long)number, kept->log, what);
}

/* ---- the fence ---- */

static gyre_status was_overtaken(const struct gyre_kept *kept, uint64_t epoch)
{
    return gyre_error_set(GYRE_LOST, "another member took the shard of '%s' with epoch %llu, later than %llu",
                          kept->log, (unsigned long long)epoch, (unsigned long long)kept->epoch);
}

/*
 * LOST when the log's last block is of a later owner. An owner may come to its fence long after it took the place, as when its kernel was launched
 * slowly or its process stood still: a fence behind that of a later owner would end that owner, and nobody could read the log any more. AGAIN while the transport does not show the block.
 */
static gyre_status check_last(struct gyre_kept *kept, uint64_t last)
{
    uint64_t epoch, number;
    size_t size;
    if (!last)
        return GYRE_OK;
    gyre_status status = gyre_transport_read(kept->transport, kept->log, last - 1, kept->block,
                                             GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
    if (status != GYRE_OK)
        return status;
    status = gyre_block_check(kept->block, size, 0, sizeof(struct gyre_block_head) + sizeof epoch, kept->log,
                              NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(&epoch, kept->block + sizeof(struct gyre_block_head), sizeof epoch);
    return epoch > kept->epoch ? was_overtaken(kept, epoch) : GYRE_OK;
}

static gyre_status try_fence(struct gyre_kept *kept)
{
    struct gyre_cluster_fence fence = {.epoch = kept->epoch, .incarnation = kept->incarnation};
    uint64_t last = 0;
    memcpy(fence.owner, kept->owner, sizeof fence.owner);
    gyre_block_seal(&fence, sizeof fence, GYRE_BLOCK_FENCE);
    gyre_status status = gyre_transport_last(kept->transport, kept->log, &last);
    if (status == GYRE_OK)
        status = check_last(kept, last);
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = &fence, .byte_count = sizeof fence, .expected = last};
    return status == GYRE_OK ? gyre_transport_append(kept->transport, kept->log, &block, &kept->last)
                             : status;
}

static gyre_status append_fence(struct gyre_kept *kept, uint64_t deadline_ns)
{
    gyre_status status = try_fence(kept);
    while (status == GYRE_AGAIN && gyre_clock_ns() < deadline_ns) {
        nanosleep(&(struct timespec){.tv_nsec = FENCE_NAP_NS}, NULL);
        status = try_fence(kept);
    }
    return status == GYRE_AGAIN
               ? gyre_error_set(GYRE_TIMEOUT,
                                "the cluster's log '%s' changed all the time, or did not show "
                                "its last block",
                                kept->log)
               : status;
}

/* ---- pieces ---- */

void gyre_kept_drop(struct gyre_kept *kept)
{
    while (kept->pending) {
        struct gyre_kept_pending *piece = kept->pending;
        kept->pending = piece->next;
        free(piece);
    }
    kept->pending_end = &kept->pending;
    kept->pending_bytes = kept->pending_count = 0;
}

/* Whether the piece's bytes belong where it says. */
static bool fits(const struct gyre_kept *kept, enum gyre_block_kind kind,
                 const struct gyre_cluster_piece *piece)
{
    const size_t entry = sizeof(struct gyre_cluster_caller);
    if (kind == GYRE_BLOCK_BYTES)
        return piece->length <= kept->table_size && piece->offset <= kept->table_size - piece->length;
    return piece->length % entry == 0 && piece->length / entry <= GYRE_CALLERS_MAX &&
           piece->offset <= GYRE_CALLERS_MAX - piece->length / entry;
}

static gyre_status take_piece(struct gyre_kept *kept, uint64_t number, enum gyre_block_kind kind, size_t size)
{
    struct gyre_cluster_piece piece;
    if (size < sizeof piece)
        return damaged(kept, number, "expected a piece of a checkpoint");
    memcpy(&piece, kept->block, sizeof piece);
    if (piece.length != size - sizeof piece || !fits(kept, kind, &piece))
        return damaged(
            kept, number,
            "a piece of a checkpoint lies outside of the table: let `keys` and the handler be as they were");
    if (piece.epoch != kept->pending_epoch || piece.checkpoint != kept->pending_checkpoint) {
        gyre_kept_drop(kept);
        kept->pending_epoch = piece.epoch;
        kept->pending_checkpoint = piece.checkpoint;
    }
    kept->pending_bytes += piece.length;
    if (kept->pending_bytes > kept->table_size + GYRE_CALLERS_MAX * sizeof(struct gyre_cluster_caller))
        return damaged(kept, number, "a checkpoint has more bytes than the table");
    struct gyre_kept_pending *pending = malloc(sizeof *pending + piece.length);
    if (!pending)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read the checkpoint of '%s'", kept->log);
    *pending = (struct gyre_kept_pending){.kind = kind, .offset = piece.offset, .length = piece.length};
    memcpy(pending->bytes, kept->block + sizeof piece, piece.length);
    *kept->pending_end = pending;
    kept->pending_end = &pending->next;
    kept->pending_count++;
    return GYRE_OK;
}

static void apply_pending(struct gyre_kept *kept, bool whole)
{
    if (whole)
        memset(kept->table, 0, kept->table_size);
    kept->callers.count = 0;
    for (const struct gyre_kept_pending *piece = kept->pending; piece; piece = piece->next) {
        if (piece->kind == GYRE_BLOCK_BYTES) {
            memcpy(kept->table + piece->offset, piece->bytes, piece->length);
            continue;
        }
        const size_t count = piece->length / sizeof kept->callers.list[0];
        memcpy(&kept->callers.list[piece->offset], piece->bytes, piece->length);
        if (piece->offset + count > kept->callers.count)
            kept->callers.count = piece->offset + count;
    }
}

static gyre_status take_commit(struct gyre_kept *kept, uint64_t number, size_t size)
{
    struct gyre_cluster_commit commit;
    if (size != sizeof commit)
        return damaged(kept, number, "expected the end of a checkpoint");
    memcpy(&commit, kept->block, sizeof commit);
    const bool follows = commit.pieces == 0 || (commit.epoch == kept->pending_epoch &&
                                                commit.checkpoint == kept->pending_checkpoint);
    if (commit.pieces == 0)
        gyre_kept_drop(kept);
    if (commit.table_size != kept->table_size)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster's log '%s' has states for a table of %llu bytes, and the kernel has one of %llu: "
            "let `keys` in its section, and the types, be those of the other members",
            kept->log, (unsigned long long)commit.table_size, (unsigned long long)kept->table_size);
    if (!follows || commit.pieces != kept->pending_count)
        return damaged(kept, number, "a checkpoint lacks pieces");
    if (!commit.is_whole && commit.checkpoint != kept->checkpoint + 1)
        return damaged(kept, number, "the checkpoint before this one is missing");
    if (commit.position < kept->position)
        return damaged(kept, number, "a checkpoint has the effect of fewer requests than the one before");
    apply_pending(kept, commit.is_whole);
    gyre_kept_drop(kept);
    kept->applied++;
    kept->checkpoint = commit.checkpoint;
    kept->position = commit.position;
    return GYRE_OK;
}

/* Purging may have taken the beginning of a checkpoint and left its end, in front of a whole one: it is passed over. */
static bool may_be_cut(const struct gyre_kept *kept)
{
    return kept->checkpoint == 0;
}

static gyre_status take_state(struct gyre_kept *kept, uint64_t number, enum gyre_block_kind kind, size_t size)
{
    struct gyre_cluster_commit commit;
    if (kind != GYRE_BLOCK_COMMIT)
        return take_piece(kept, number, kind, size);
    if (size == sizeof commit && may_be_cut(kept)) {
        memcpy(&commit, kept->block, sizeof commit);
        const uint64_t pieces =
            kept->pending_epoch == commit.epoch && kept->pending_checkpoint == commit.checkpoint
                ? kept->pending_count
                : 0;
        if (!commit.is_whole || pieces != commit.pieces) {
            gyre_kept_drop(kept);
            return GYRE_OK;
        }
    }
    return take_commit(kept, number, size);
}

/* ---- reading ---- */

gyre_status gyre_kept_take(struct gyre_kept *kept, uint64_t number, size_t size)
{
    enum gyre_block_kind kind;
    uint64_t epoch;
    const size_t least = sizeof(struct gyre_block_head) + sizeof epoch;
    gyre_status status = gyre_block_check(kept->block, size, 0, least, kept->log, &kind);
    if (status != GYRE_OK)
        return status;
    memcpy(&epoch, kept->block + sizeof(struct gyre_block_head), sizeof epoch);
    if (epoch > kept->epoch)
        return was_overtaken(kept, epoch);
    if (epoch < kept->seen_epoch)
        return damaged(kept, number, "an earlier owner wrote behind a later one");
    kept->seen_epoch = epoch;
    if (kind == GYRE_BLOCK_FENCE) {
        gyre_kept_drop(kept);
        return GYRE_OK;
    }
    if (kind != GYRE_BLOCK_BYTES && kind != GYRE_BLOCK_CLIENTS && kind != GYRE_BLOCK_COMMIT)
        return damaged(kept, number, "expected a block of a checkpoint");
    return take_state(kept, number, kind, size);
}

uint64_t gyre_kept_first(struct gyre_kept *kept)
{
    size_t size;
    uint64_t number = 0;
    const gyre_status status = gyre_transport_read(kept->transport, kept->log, 0, kept->block,
                                                   GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
    return status == GYRE_OK ? number : 0;
}

/* Reads all blocks up to this owner's fence. A transport of several servers may show them late. */
static gyre_status read_states(struct gyre_kept *kept, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && kept->at < kept->last) {
        size_t size;
        uint64_t number = kept->at;
        status = gyre_transport_read(kept->transport, kept->log, kept->at, kept->block,
                                     GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
        if (status == GYRE_AGAIN) {
            status =
                gyre_clock_ns() < deadline_ns
                    ? gyre_transport_wait(kept->transport, kept->log, kept->at, gyre_clock_ns() + LOOK_NS)
                    : gyre_error_set(GYRE_TIMEOUT, "the cluster's log '%s' ended before block %llu",
                                     kept->log, (unsigned long long)kept->last);
            if ((status == GYRE_TIMEOUT || status == GYRE_AGAIN) && gyre_clock_ns() < deadline_ns)
                status = GYRE_OK;
            continue;
        }
        if (status == GYRE_OK)
            status = gyre_kept_take(kept, number, size);
        kept->at = number;
    }
    return status;
}

static gyre_status read_present(struct gyre_kept *kept, uint64_t last)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && kept->at < last) {
        size_t size;
        uint64_t number = kept->at;
        status = gyre_transport_read(kept->transport, kept->log, kept->at, kept->block,
                                     GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
        if (status == GYRE_AGAIN) /* servers may show a block late */
            return GYRE_OK;
        if (status == GYRE_OK)
            status = gyre_kept_take(kept, number, size);
        kept->at = number;
    }
    return status;
}

static void forget(struct gyre_kept *kept)
{
    gyre_kept_drop(kept);
    memset(kept->table, 0, kept->table_size);
    kept->callers.count = 0;
    kept->at = kept->checkpoint = kept->position = kept->seen_epoch = 0;
}

gyre_status gyre_kept_read_ahead(struct gyre_kept *kept)
{
    uint64_t last;
    gyre_status status = gyre_transport_last(kept->transport, kept->log, &last);
    kept->epoch = UINT64_MAX; /* no owner is later */
    if (status == GYRE_OK)
        status = read_present(kept, last);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    forget(kept); /* the owner purged what was not read yet */
    return read_present(kept, last);
}

/*
 * Whoever read ahead may have read on behind blocks that the owner purged, and an earlier owner may purge what this one reads: what does not agree then is
 * read again, from the beginning that the log has by now.
 */
static gyre_status read_rest(struct gyre_kept *kept, uint64_t deadline_ns)
{
    bool was_purged = kept->at > 0;
    for (;;) {
        const uint64_t first = gyre_kept_first(kept);
        const gyre_status status = read_states(kept, deadline_ns);
        if (status != GYRE_INCOMPATIBLE || gyre_clock_ns() >= deadline_ns ||
            (!was_purged && gyre_kept_first(kept) == first))
            return status;
        was_purged = false;
        forget(kept);
    }
}

gyre_status gyre_kept_begin(struct gyre_kept *kept, uint64_t deadline_ns)
{
    gyre_status status = append_fence(kept, deadline_ns);
    if (status == GYRE_OK)
        status = read_rest(kept, deadline_ns);
    gyre_kept_drop(kept);
    return status;
}

gyre_status gyre_kept_read(struct gyre_kept *kept, uint64_t deadline_ns)
{
    kept->epoch = UINT64_MAX; /* no owner is later */
    gyre_status status = gyre_transport_last(kept->transport, kept->log, &kept->last);
    if (status == GYRE_OK)
        status = read_states(kept, deadline_ns);
    gyre_kept_drop(kept);
    return status;
}
