/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a checkpoint of a shard whose kernel is idle (shard.h). */
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
    if (gyre_transport_purge(shard->site->transport, shard->log, shard->position) == GYRE_OK)
        shard->unpurged = 0;
    gyre_error_let_go();
}

gyre_status gyre_shard_checkpoint(struct gyre_shard *shard)
{
    struct gyre_site *site = shard->site;
    const uint64_t begin_ns = gyre_clock_ns();
    gyre_status status =
        gyre_shard_publish(shard); /* a checkpoint has the effect of blocks whose replies are there */
    if (status == GYRE_OK)
        status = gyre_keyed_table_read(shard->kernel, shard->table, shard->table_size);
    if (status == GYRE_OK)
        status = gyre_kept_checkpoint(&shard->kept, shard->table, shard->position);
    if (status != GYRE_OK)
        return status;
    shard->since = shard->busy_ns = 0;
    shard->checkpoint_ns = gyre_clock_ns();
    shard->checkpoint_cost_ns = shard->checkpoint_ns - begin_ns;
    gyre_site_count(site, &site->info.checkpoints, 1);
    purge_requests(shard);
    return GYRE_OK;
}
