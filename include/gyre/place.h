/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of a device buffer lie, for programs that hand them to other libraries without a copy: DLPack, NumPy, CuPy.
 * Included by applications. gyre_buffer_upload and _download need none of it.
 *
 *     gyre_buffer_place place = {.size = sizeof place};
 *     if (gyre_buffer_hold(buffer, &place) == GYRE_OK) {
 *         if (place.host)
 *             fill(place.host, place.bytes);
 *         gyre_buffer_let_go(buffer);
 *     }
 *
 * Threads: any function from any thread. Stability: as gyre.h.
 */
#ifndef GYRE_PLACE_H
#define GYRE_PLACE_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_buffer_place {
    size_t size;
    /* where this process reads and writes the bytes; NULL: they are not in its memory */
    void *host;
    /* where the device finds the bytes: on cuda a CUdeviceptr of its primary context; 0: the backend tells none */
    uint64_t address;
    uint64_t bytes;
    char backend[32];
    uint32_t device; /* its number there, as a launch counts */
} gyre_buffer_place;

/**
 * Tells where the buffer lies, and holds it there until gyre_buffer_let_go was called as often. A held buffer is not freed:
 * gyre_buffer_free is INVALID. A kernel does not move to another device with it. A launch whose checkpoints would have it is INVALID.
 * gyre_close ends all holds.
 *
 * Handlers see what is stored in place from their next message on. A handler that runs may see a part of it, as with an upload.
 *
 * UNIMPLEMENTED for a device in a worker process, whose memory is not this program's. INVALID for a buffer that is in the checkpoints of
 * a kernel, which have to know of each change, and for one that was: the kernel may be launched again. AGAIN while the buffer is on its
 * way to another device, or is being freed.
 */
GYRE_API gyre_status gyre_buffer_hold(gyre_buffer *buffer, gyre_buffer_place *out);
/** Ends one hold. A call too many does nothing. Accepts NULL. */
GYRE_API void gyre_buffer_let_go(gyre_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
