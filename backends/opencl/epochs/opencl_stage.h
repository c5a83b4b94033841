/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: memory between the pump and a device that does not work in the queues themselves. Private to this
 * folder.
 */
#ifndef GYRE_OPENCL_STAGE_H
#define GYRE_OPENCL_STAGE_H

#include "backends/opencl/opencl_backend.h"

/**
 * Finds out whether kernels of the device reach host memory while it is mapped. If so, sets
 * device->create_reachable. The service queue exists already.
 */
void opencl_stage_find(gyre_device *device);
/**
 * Returns a size of at least `wanted` bytes that is enough for most epochs, so that a stage is seldom made
 * anew.
 */
size_t opencl_stage_room(size_t wanted);
/**
 * Makes the stage hold at least `wanted` bytes; its contents are lost if it held fewer. A new stage is all
 * zeros before the first call. `queue` is used to map memory; the function waits for it only when the stage
 * is made anew.
 */
cl_int opencl_stage_grow(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage,
                         size_t wanted);
/** Frees a stage that no command uses any more. Accepts a stage of zeros. */
void opencl_stage_release(const gyre_device *device, cl_command_queue queue, struct opencl_stage *stage);

#endif
