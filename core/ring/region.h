/* SPDX-License-Identifier: Apache-2.0 */
/* Shared-memory regions (memfd): queues and control words lie in them, so that they outlive a crashed backend. */
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

/** EXHAUSTED with the numbers when `size` bytes are not to be had, as far as can be known before they are asked for. */
gyre_status gyre_region_check_room(const char *name, size_t size);

/** Regions up to this size take their pages when they are used; larger ones have all of them from the begin on. */
#define GYRE_REGION_SMALL ((size_t)1 << 20)

/**
 * Creates and maps zeroed memory of `size` bytes (rounded up to pages); a large region's is reserved, so that a later
 * store cannot fail. Its size is sealed, and only programs of the same user can open it anew. EXHAUSTED with
 * the numbers when the machine or a limit does not allow it. `name` is for /proc and messages.
 */
gyre_status gyre_region_create(const char *name, size_t size, struct gyre_region *out);

/**
 * OK when memory that another program made may be mapped: it has `size` bytes, and no program can cut them, which would
 * be a SIGBUS for readers. INVALID otherwise, with the fault.
 */
gyre_status gyre_region_check(const char *name, int descriptor, size_t size);

/** Maps a region that another program made, once it is checked so. The descriptor is dup'ed. */
gyre_status gyre_region_open(const char *name, int descriptor, size_t size, struct gyre_region *out);

/** A second mapping of a region, for reading and writing. NULL with errno. munmap(). */
void *gyre_region_map(int descriptor, size_t size);

/**
 * A descriptor through which the region can only be read. Owner: the caller, close(). EXHAUSTED.
 */
gyre_status gyre_region_reader(const struct gyre_region *region, int *descriptor);

/** Unmaps and closes; a region that is GYRE_REGION_NONE is accepted. */
void gyre_region_destroy(struct gyre_region *region);

#endif
