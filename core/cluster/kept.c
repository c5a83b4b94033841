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
    kept->block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    const gyre_status status = gyre_callers_init(&kept->callers);
    if (status != GYRE_OK || (kept->table && kept->block))
        return status;
    return gyre_error_set(GYRE_EXHAUSTED, "no memory for a checkpoint of %llu bytes: set fewer keys",
                          (unsigned long long)table_size);
}

void gyre_kept_finish(struct gyre_kept *kept)
{
    gyre_callers_finish(&kept->callers);
    free(kept->table);
    free(kept->block);
    kept->table = kept->block = NULL;
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
    return append(kept, kept->block, sizeof piece + length, kind);
}

static gyre_status append_table(struct gyre_kept *kept, const unsigned char *table, bool whole,
                                uint64_t *pieces, uint64_t *bytes)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < kept->table_size; at += GYRE_KEPT_PIECE) {
        const uint64_t left = kept->table_size - at;
        const size_t length = left < GYRE_KEPT_PIECE ? (size_t)left : GYRE_KEPT_PIECE;
        if (whole ? is_zero(table + at, length) : memcmp(table + at, kept->table + at, length) == 0)
            continue;
        status = append_piece(kept, GYRE_BLOCK_BYTES, at, table + at, length);
        *bytes += length;
        ++*pieces;
    }
    return status;
}

static gyre_status append_callers(struct gyre_kept *kept, uint64_t *pieces)
{
    enum { AT_ONCE = GYRE_KEPT_PIECE / sizeof(struct gyre_cluster_caller) };
    gyre_status status = GYRE_OK;
    for (size_t at = 0; status == GYRE_OK && at < kept->callers.count; at += AT_ONCE) {
        const size_t left = kept->callers.count - at, count = left < AT_ONCE ? left : AT_ONCE;
        status = append_piece(kept, GYRE_BLOCK_CLIENTS, at, &kept->callers.list[at],
                              count * sizeof kept->callers.list[0]);
        ++*pieces;
    }
    return status;
}

/* What lies before a whole checkpoint is not needed any more; a purge that fails is made up for by the next one. */
static void purge_before(struct gyre_kept *kept, uint64_t from)
{
    gyre_error_hold();
    gyre_transport_purge(kept->transport, kept->log, from);
    gyre_error_let_go();
}

gyre_status gyre_kept_checkpoint(struct gyre_kept *kept, const unsigned char *table, uint64_t position)
{
    const bool whole = !kept->whole_bytes || kept->changed_bytes >= 2 * kept->whole_bytes;
    const uint64_t from = kept->last;
    uint64_t pieces = 0, bytes = 0;
    gyre_status status = append_table(kept, table, whole, &pieces, &bytes);
    if (status == GYRE_OK)
        status = append_callers(kept, &pieces);
    struct gyre_cluster_commit commit = {.epoch = kept->epoch,
                                         .checkpoint = kept->checkpoint + 1,
                                         .position = position,
                                         .table_size = kept->table_size,
                                         .pieces = pieces,
                                         .is_whole = whole};
    if (status == GYRE_OK)
        status = append(kept, &commit, sizeof commit, GYRE_BLOCK_COMMIT);
    if (status != GYRE_OK)
        return status;
    memcpy(kept->table, table, kept->table_size);
    kept->checkpoint++;
    kept->position = position;
    kept->whole_bytes = whole ? bytes + GYRE_KEPT_PIECE : kept->whole_bytes;
    kept->changed_bytes = whole ? 0 : kept->changed_bytes + bytes + sizeof commit;
    if (whole)
        purge_before(kept, from);
    return GYRE_OK;
}
