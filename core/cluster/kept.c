/* SPDX-License-Identifier: Apache-2.0 */
/* Writes checkpoints of a shard (kept.h). kept_restore.c reads them. */
#include "core/cluster/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

gyre_status gyre_kept_init(struct gyre_kept *kept, struct gyre_transport *transport, uint32_t shard,
                           uint64_t table_size)
{
    *kept = (struct gyre_kept){.transport = transport, .table_size = table_size};
    gyre_cluster_shard_name(kept->log, "state", shard);
    kept->pending_end = &kept->pending;
    kept->table = calloc(1, table_size);
    kept->coming = malloc(table_size);
    kept->block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    const gyre_status status = gyre_callers_init(&kept->callers);
    if (status != GYRE_OK || (kept->table && kept->coming && kept->block))
        return status;
    return gyre_error_set(GYRE_EXHAUSTED, "no memory for a checkpoint of %llu bytes: set fewer keys",
                          (unsigned long long)table_size);
}

void gyre_kept_finish(struct gyre_kept *kept)
{
    gyre_callers_finish(&kept->callers);
    free(kept->table);
    free(kept->coming);
    free(kept->block);
    free(kept->writing.callers);
    kept->table = kept->coming = kept->block = NULL;
    kept->writing = (struct gyre_kept_writing){0};
}

static gyre_status append(struct gyre_kept *kept, void *block, size_t size, enum gyre_block_kind kind)
{
    const gyre_transport_block desc = {
        .size = sizeof desc, .bytes = block, .byte_count = size, .expected = kept->last};
    uint64_t number = 0;
    gyre_block_seal(block, size, kind);
    const gyre_status status = gyre_transport_append(kept->transport, kept->log, &desc, &number);
    if (status == GYRE_OK)
        kept->last = number;
    if (status == GYRE_AGAIN)
        return gyre_error_set(GYRE_LOST,
                              "another member took the shard: what epoch %llu wrote to '%s' was refused",
                              (unsigned long long)kept->epoch, kept->log);
    return status;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static gyre_status append_piece(struct gyre_kept *kept, enum gyre_block_kind kind, uint64_t offset,
                                const void *bytes, uint64_t length)
{
    struct gyre_cluster_piece piece = {
        .epoch = kept->epoch, .checkpoint = kept->checkpoint + 1, .offset = offset, .length = length};
    memcpy(kept->block, &piece, sizeof piece);
    memcpy(kept->block + sizeof piece, bytes, length);
    kept->writing.pieces++;
    return append(kept, kept->block, sizeof piece + length, kind);
}

gyre_status gyre_kept_open(struct gyre_kept *kept, uint64_t position)
{
    struct gyre_kept_writing *writing = &kept->writing;
    struct gyre_cluster_caller *callers = writing->callers;
    if (!callers)
        callers = malloc(GYRE_CALLERS_MAX * sizeof *callers);
    if (!callers)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the clients of a checkpoint");
    memcpy(callers, kept->callers.list, kept->callers.count * sizeof *callers);
    *writing = (struct gyre_kept_writing){.is_open = true,
                                          .is_whole = !kept->whole_bytes ||
                                                      kept->changed_bytes >= 2 * kept->whole_bytes,
                                          .position = position,
                                          .from = kept->last,
                                          .callers = callers,
                                          .caller_count = kept->callers.count};
    return GYRE_OK;
}

static size_t piece_at(const struct gyre_kept *kept, uint64_t at)
{
    const uint64_t left = kept->table_size - at;
    return left < GYRE_KEPT_PIECE ? (size_t)left : GYRE_KEPT_PIECE;
}

static bool is_to_be_written(const struct gyre_kept *kept, uint64_t at, size_t length)
{
    return kept->writing.is_whole ? !is_zero(kept->coming + at, length)
                                  : memcmp(kept->coming + at, kept->table + at, length) != 0;
}

/* Looks for the next pieces that are to be written, and appends those that follow each other as one block. */
static gyre_status write_table(struct gyre_kept *kept)
{
    struct gyre_kept_writing *writing = &kept->writing;
    const uint64_t most = writing->at + GYRE_KEPT_LOOK;
    size_t length = 0, found = 0;
    while (writing->at < kept->table_size && writing->at < most && found < GYRE_KEPT_BLOCK) {
        length = piece_at(kept, writing->at);
        const bool is_wanted = is_to_be_written(kept, writing->at, length);
        if (!is_wanted && found)
            break;
        writing->at += length;
        found += is_wanted ? length : 0;
    }
    writing->has_table = writing->at >= kept->table_size;
    writing->bytes += found;
    return found ? append_piece(kept, GYRE_BLOCK_BYTES, writing->at - found,
                                kept->coming + writing->at - found, found)
                 : GYRE_OK;
}

static gyre_status write_callers(struct gyre_kept *kept)
{
    enum { AT_ONCE = GYRE_KEPT_PIECE / sizeof(struct gyre_cluster_caller) };
    struct gyre_kept_writing *writing = &kept->writing;
    const size_t at = writing->caller_at, left = writing->caller_count - at,
                 count = left < AT_ONCE ? left : AT_ONCE;
    writing->caller_at += count;
    return append_piece(kept, GYRE_BLOCK_CLIENTS, at, &writing->callers[at],
                        count * sizeof writing->callers[0]);
}

/* What lies before a whole checkpoint is not needed any more; a purge that fails is made up for by the next one. */
static void purge_before(struct gyre_kept *kept, uint64_t from)
{
    gyre_error_hold();
    gyre_transport_purge(kept->transport, kept->log, from);
    gyre_error_let_go();
}

static void note_written(struct gyre_kept *kept)
{
    struct gyre_kept_writing *writing = &kept->writing;
    unsigned char *const before = kept->table;
    kept->table = kept->coming;
    kept->coming = before;
    kept->checkpoint++;
    kept->position = writing->position;
    kept->whole_bytes = writing->is_whole ? writing->bytes + GYRE_KEPT_PIECE : kept->whole_bytes;
    kept->changed_bytes =
        writing->is_whole ? 0 : kept->changed_bytes + writing->bytes + sizeof(struct gyre_cluster_commit);
    writing->is_open = false;
    if (writing->is_whole)
        purge_before(kept, writing->from);
}

static gyre_status write_commit(struct gyre_kept *kept)
{
    const struct gyre_kept_writing *writing = &kept->writing;
    struct gyre_cluster_commit commit = {.epoch = kept->epoch,
                                         .checkpoint = kept->checkpoint + 1,
                                         .position = writing->position,
                                         .table_size = kept->table_size,
                                         .pieces = writing->pieces,
                                         .is_whole = writing->is_whole};
    const gyre_status status = append(kept, &commit, sizeof commit, GYRE_BLOCK_COMMIT);
    if (status == GYRE_OK)
        note_written(kept);
    return status;
}

gyre_status gyre_kept_write(struct gyre_kept *kept)
{
    const struct gyre_kept_writing *writing = &kept->writing;
    if (!writing->has_table)
        return write_table(kept);
    return writing->caller_at < writing->caller_count ? write_callers(kept) : write_commit(kept);
}
