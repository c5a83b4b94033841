/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a collective: out of the devices, combined, and into them. The kernels stand. */
#ifndef GYRE_CORE_API_COLLECT_COPY_H
#define GYRE_CORE_API_COLLECT_COPY_H

#include "core/api/collecting.h"

enum { GYRE_COLLECT_CHUNK = 128 << 10 }; /* bytes that are combined at once */

/**
 * Reads the elements that lie on devices into `before` of their parts, and computes the result behind the devices; where all parts have their
 * place in this process, nothing. TIMEOUT; else as gyre_standing_transfer.
 */
gyre_status gyre_collect_read(struct gyre_collecting *all);
/** Writes the result into the buffers on devices that get it. As gyre_standing_transfer. */
gyre_status gyre_collect_write(struct gyre_collecting *all);
/** Writes the result, which counts for the devices, into the buffers in this process that get it. Cannot fail. */
void gyre_collect_store(struct gyre_collecting *all);
/** Puts back what was before into each buffer that may have some of the result. The calling thread's error stays. */
void gyre_collect_put_back(struct gyre_collecting *all);

#endif
