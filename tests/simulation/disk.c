/* SPDX-License-Identifier: Apache-2.0 */
/* A disk in memory: see world.h. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

static void add(unsigned char **bytes, size_t *size, const void *more, size_t count, size_t tail)
{
    *bytes = realloc(*bytes, *size + count + GYRE_MARK_SIZE);
    if (!*bytes)
        abort();
    memcpy(*bytes + *size, more, count);
    *size += count - tail;
}

/* Sizes are without the tail, which stands behind them. */
static gyre_status disk_append(void *context, const void *bytes, size_t size, size_t tail)
{
    struct sim_disk *disk = context;
    if (disk->refuses())
        return gyre_error_set(GYRE_FAILED, "the disk refuses");
    if (disk->renewing)
        add(&disk->fresh, &disk->fresh_size, bytes, size, tail);
    else
        add(&disk->bytes, &disk->size, bytes, size, tail);
    return GYRE_OK;
}

static void keep_mark(struct sim_disk *disk)
{
    memcpy(disk->mark, disk->bytes + disk->size, sizeof disk->mark);
    disk->synced = disk->size;
}

/* What was not on the disk when a sync failed is not there after the next one either. */
static gyre_status disk_sync(void *context)
{
    struct sim_disk *disk = context;
    if (disk->refuses()) {
        disk->doubtful = disk->doubtful ? disk->doubtful : disk->synced + 1;
        return gyre_error_set(GYRE_FAILED, "the disk refuses");
    }
    keep_mark(disk);
    return GYRE_OK;
}

static gyre_status disk_begin_anew(void *context)
{
    struct sim_disk *disk = context;
    disk->renewing = true;
    disk->fresh_size = 0;
    return GYRE_OK;
}

static gyre_status disk_end_anew(void *context, bool keep)
{
    struct sim_disk *disk = context;
    disk->renewing = false;
    if (!keep)
        return GYRE_OK;
    free(disk->bytes);
    disk->bytes = disk->fresh;
    disk->size = disk->fresh_size;
    keep_mark(disk);
    disk->fresh = NULL;
    disk->fresh_size = disk->doubtful = 0;
    return GYRE_OK;
}

const struct gyre_journal_disk sim_disk_functions = {
    .append = disk_append,
    .sync = disk_sync,
    .begin_anew = disk_begin_anew,
    .end_anew = disk_end_anew,
};

void sim_disk_begin(struct sim_disk *disk)
{
    disk->size = disk->synced = disk->fresh_size = disk->doubtful = 0;
}

void sim_disk_crash(struct sim_disk *disk, uint64_t random)
{
    if (disk->doubtful)
        disk->synced = disk->doubtful - 1;
    /* where the last sync failed, what it covered is loose as well, and no mark that it had is known */
    const size_t tail = disk->doubtful ? 0 : GYRE_MARK_SIZE;
    size_t loose = disk->size > disk->synced ? disk->size + GYRE_MARK_SIZE - disk->synced : 0;
    size_t kept = loose ? random % (loose + 1) : 0;
    if (kept < tail) /* there the old mark still stands */
        memcpy(disk->bytes + disk->synced + kept, disk->mark + kept, tail - kept);
    if (kept && (random >> 32) % 4 == 0)
        disk->bytes[disk->synced + (random >> 34) % kept] ^= (unsigned char)(1u << (random >> 20) % 8);
    disk->size = disk->synced + (kept < tail ? tail : kept);
    disk->synced = disk->size; /* what is there after the crash stays there */
    disk->renewing = false;
    disk->fresh_size = disk->doubtful = 0;
}

void sim_disk_finish(struct sim_disk *disk)
{
    free(disk->bytes);
    free(disk->fresh);
    *disk = (struct sim_disk){0};
}
