/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are handled once more, or later than they were taken (struct opencl_kept): their handlers returned GYRE_MORE, or they
 * stood behind such a message in their block. Each is a copy of its cell, so the epoch that it was taken for ends. While there are
 * any, the kernel takes no other message of its pipeline, which would need the same room.
 */
#ifndef GYRE_OPENCL_KEPT_H
#define GYRE_OPENCL_KEPT_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Makes room for the messages of epochs of so many cells; only kernels with ports need it. False without memory. */
bool opencl_kept_create(struct opencl_links *links, uint32_t cells);
void opencl_kept_destroy(struct opencl_links *links);
/** Whether the messages of one more epoch have room. */
bool opencl_kept_has_room(const struct opencl_links *links);
/** Keeps message i of the epoch, which ends. */
void opencl_kept_add(gyre_resident *resident, uint32_t i);
/** Takes kept messages for an epoch, `most` at most. */
void opencl_kept_fetch(gyre_resident *resident, uint32_t most);
/** Forgets those whose completion has no way any more. */
void opencl_kept_forget(struct opencl_links *links);

#endif
