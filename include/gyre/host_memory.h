/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named table "host_memory" of a backend (get_extension of backend.h): buffers that are ordinary memory of this process. For
 * backend authors. A backend without it loses nothing but speed: the core copies buffers with `transfer`.
 *
 * The core reads and writes such a buffer in place while no kernel that it knows uses the buffer. Stability: as backend.h.
 */
#ifndef GYRE_HOST_MEMORY_H
#define GYRE_HOST_MEMORY_H

#include "gyre/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_HOST_MEMORY_NAME    "host_memory"
#define GYRE_HOST_MEMORY_VERSION 1

typedef struct gyre_host_memory_ops {
    size_t size; /* sizeof(gyre_host_memory_ops) as the plugin was compiled */

    /*
     * required   threads: any   blocks: no
     * The first byte of a buffer, aligned to 64 bytes; what is stored there, handlers see after the next message boundary. Constant while
     * the memory is there. NULL: this buffer is elsewhere.
     */
    void *(*place)(gyre_memory *memory);
} gyre_host_memory_ops;

#ifdef __cplusplus
}
#endif
#endif
