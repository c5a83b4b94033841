/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory between the pump and a device that does not work in the queues themselves. Private to this folder.
 */
#ifndef GYRE_OPENCL_STAGE_H
#define GYRE_OPENCL_STAGE_H

#include "opencl_backend.h"

/**
 * Finds out whether kernels of the device reach host memory while it is mapped; if so, device->create_reachable
 * is set. The service queue is there.
 */
void opencl_stage_find(gyre_device *device);
/** Room for `wanted` bytes that serves most epochs, so that it is seldom made anew. */
size_t opencl_stage_room(size_t wanted);
/**
 * At least `wanted` bytes; what was there is lost when there were fewer. Zeros at first. `queue` is for maps;
 * waits for it, but only when something is made.
 */
cl_int opencl_stage_grow(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage,
                         size_t wanted);
/** Also of a stage of zeros. No command uses it any more. */
void opencl_stage_release(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage);

#endif
