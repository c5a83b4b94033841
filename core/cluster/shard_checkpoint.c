/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes checkpoints of a shard whose kernel is idle (shard.h). The kernel stands for a copy of its table; the copy is written between blocks of
 * requests, so that none of them waits for more than a block of it.
 */
#include "core/base/error.h"
#include "core/cluster/shard.h"
#include "core/cluster/shard_replies.h"
#include "core/kernel/keyed_table.h"

enum { PURGE_EVERY = 64 }; /* blocks: a purge costs a server as much as many of them */

/* A failure is made up for later. */
static void purge_requests(struct gyre_shard *shard)
{
    if (shard->unpurged < PURGE_EVERY)
        return;
    gyre_error_hold();
    if (gyre_transport_purge(shard->site->transport, shard->log, shard->kept.position) == GYRE_OK)
        shard->unpurged = 0;
    gyre_error_let_go();
}

static void note_checkpoint(struct gyre_shard *shard)
{
    struct gyre_site *site = shard->site;
    shard->checkpoint_ns = gyre_clock_ns();
    shard->checkpoint_cost_ns = shard->writing_ns;
    gyre_site_count(site, &site->info.checkpoints, 1);
    purge_requests(shard);
}

gyre_status gyre_shard_begin_checkpoint(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_status status =
        gyre_shard_publish(shard); /* a checkpoint has the effect of blocks whose replies are there */
    if (status == GYRE_OK)
        status = gyre_keyed_table_read(shard->kernel, shard->kept.coming, shard->table_size);
    if (status == GYRE_OK)
        status = gyre_kept_open(&shard->kept, shard->position);
    shard->since = shard->busy_ns = 0;
    shard->writing_ns = gyre_clock_ns() - begin_ns;
    return status;
}

gyre_status gyre_shard_write_checkpoint(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    const gyre_status status = gyre_kept_write(&shard->kept);
    shard->writing_ns += gyre_clock_ns() - begin_ns;
    if (status == GYRE_OK && !shard->kept.writing.is_open)
        note_checkpoint(shard);
    return status;
}

static gyre_status end_checkpoint(struct gyre_shard *shard)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && shard->kept.writing.is_open)
        status = gyre_shard_write_checkpoint(shard);
    return status;
}

gyre_status gyre_shard_checkpoint(struct gyre_shard *shard)
{
    gyre_status status = end_checkpoint(shard);
    if (status != GYRE_OK || (shard->kept.checkpoint && shard->position == shard->kept.position))
        return status;
    status = gyre_shard_begin_checkpoint(shard);
    return status == GYRE_OK ? end_checkpoint(shard) : status;
}
