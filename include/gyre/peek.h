/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named table "peek" of a backend (get_extension of backend.h): reads memory of a device for those who must not wait for it. For
 * backend authors. Of a backend without it, whose device is no threads of this process, links of pipelines are not shown to other
 * programs (docs/observation.md).
 *
 * Stability: as backend.h.
 */
#ifndef GYRE_PEEK_H
#define GYRE_PEEK_H

#include "gyre/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_PEEK_NAME    "peek"
#define GYRE_PEEK_VERSION 1

typedef struct gyre_peek_ops {
    size_t size; /* sizeof(gyre_peek_ops) as the plugin was compiled */

    /*
     * required   threads: any   blocks: no
     * Stores in `words` the copy of the bytes of a buffer that was made after the call before, and asks for a newer copy, which a thread of the backend makes
     * soon, while kernels run. A word that a kernel writes meanwhile is copied as it was or as it is. `offset` and `byte_count` are whole
     * words. AGAIN: there is no copy yet. EXHAUSTED. memory_release forgets the copies, and is not called meanwhile.
     */
    gyre_status (*peek)(gyre_device *device, gyre_memory *memory, uint64_t offset, gyre_u64 *words,
                        uint64_t byte_count);
} gyre_peek_ops;

#ifdef __cplusplus
}
#endif
#endif
