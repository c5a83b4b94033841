/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of links: of their device or, where threads of this process move messages for the device (GYRE_LINKING_HOST), of
 * this process. No lock: the core writes what no block knows yet, and reads words that blocks write.
 */
#ifndef GYRE_CORE_LINKS_LINK_STORE_H
#define GYRE_CORE_LINKS_LINK_STORE_H

#include "core/dispatch/dispatch.h"
#include "core/ring/region.h"

/** A piece of it. All zeros: there is none. */
struct gyre_link_store {
    struct gyre_dispatch *device; /* whose memory it is, or who sees it; NULL: it is the process's alone */
    gyre_memory *memory;          /* of the device; NULL: it is the process's */
    uint64_t *host;
    uint64_t address;          /* as those see it who move messages */
    gyre_queue_memory *shown;  /* `host` is a region that a worker process sees as well; NULL: it is not */
    struct gyre_region region; /* that one */
};

/** Makes zeroed memory, which begins at a line. EXHAUSTED. */
gyre_status gyre_link_store_make(struct gyre_dispatch *device, bool in_host, uint64_t bytes,
                                 struct gyre_link_store *out);
/** Makes zeroed memory of this process that a device in a worker process sees as well. EXHAUSTED, LOST. */
gyre_status gyre_link_store_make_shown(struct gyre_dispatch *device, uint64_t bytes,
                                       struct gyre_link_store *out);
/** Of such memory: clears it, and finds out where the present worker sees it. Does nothing where there is none. */
void gyre_link_store_renew(struct gyre_link_store *store);
/** Of such memory: the device does not see it any more. */
void gyre_link_store_hide(struct gyre_link_store *store);
/** Frees the memory, if there is any. The device of memory that was hidden may be closed. */
void gyre_link_store_release(struct gyre_link_store *store);
gyre_status gyre_link_store_write(const struct gyre_link_store *store, uint64_t offset, const void *bytes,
                                  uint64_t count);
/** Reads `count` bytes; offset and count are whole words. A word that is written meanwhile is read as before or after that. */
gyre_status gyre_link_store_read(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                 uint64_t count);
/**
 * As gyre_link_store_read, but without a wait for the device: AGAIN at once while it is busy, and the words may be those of a
 * moment ago. UNIMPLEMENTED where its memory cannot be read so.
 */
gyre_status gyre_link_store_peek(const struct gyre_link_store *store, uint64_t offset, uint64_t *words,
                                 uint64_t count);

#endif
