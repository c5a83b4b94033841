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
 * Makes the stage hold at least `wanted` bytes; its contents are lost when it held fewer. A stage is zeros at first. `queue`
 * is for maps; the function waits for it only when the stage is made anew.
 */
cl_int opencl_stage_grow(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage,
                         size_t wanted);
/** Frees a stage that no command uses any more; also a stage of zeros. */
void opencl_stage_release(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage);

#endif
