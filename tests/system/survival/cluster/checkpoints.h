/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint that is written in one go, for tests of what is kept. */
#ifndef GYRE_TESTS_CLUSTER_CHECKPOINTS_H
#define GYRE_TESTS_CLUSTER_CHECKPOINTS_H

#include <string.h>

#include "core/cluster/kept.h"

static inline gyre_status keep_checkpoint(struct gyre_kept *kept, const unsigned char *table,
                                          uint64_t position)
{
    memcpy(kept->coming, table, kept->table_size);
    gyre_status status = gyre_kept_open(kept, position);
    while (status == GYRE_OK && kept->writing.is_open)
        status = gyre_kept_write(kept);
    return status;
}

#endif
