/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, opens and maps regions of shared memory (memfd). Queues and control words lie in regions, so that they outlive a
 * crashed backend. */
#ifndef GYRE_CORE_RING_REGION_H
#define GYRE_CORE_RING_REGION_H

#include <stddef.h>
#include "gyre/status.h"

struct gyre_region {
    void *address;
    size_t size;
    int descriptor; /* -1: no region */
};

#define GYRE_REGION_NONE ((struct gyre_region){NULL, 0, -1})

/** EXHAUSTED, with the numbers, when the machine, a limit of file sizes or a control group cannot give `size` bytes. Allocates
 * nothing. */
gyre_status gyre_region_check_room(const char *name, size_t size);

/** Regions up to this size take their pages when they are first used; larger regions have all pages from the beginning. */
#define GYRE_REGION_SMALL ((size_t)1 << 20)

/**
 * Creates and maps zeroed memory of `size` bytes (rounded up to pages). The pages of a large region are allocated, so that
 * a later store cannot fail. Its size is sealed, and only programs of the same user can open it anew. EXHAUSTED with
 * the numbers when the machine or a limit does not allow it. `name` is for /proc and messages.
 */
gyre_status gyre_region_create(const char *name, size_t size, struct gyre_region *out);

/**
 * OK when memory that another program made may be mapped: it has `size` bytes, and no program can shrink it, which would
 * end readers by SIGBUS. INVALID otherwise, with the reason.
 */
gyre_status gyre_region_check(const char *name, int descriptor, size_t size);

/** Maps a region that another program made, after gyre_region_check. Duplicates the descriptor. */
gyre_status gyre_region_open(const char *name, int descriptor, size_t size, struct gyre_region *out);

/** Maps a region once more, for reading and writing. NULL with errno. The caller calls munmap. */
void *gyre_region_map(int descriptor, size_t size);

/**
 * Opens a descriptor through which the region can only be read. The caller closes it. EXHAUSTED.
 */
gyre_status gyre_region_reader(const struct gyre_region *region, int *descriptor);

/** Unmaps and closes a region. Accepts GYRE_REGION_NONE. */
void gyre_region_destroy(struct gyre_region *region);

#endif
