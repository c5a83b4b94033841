/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pump: the thread of a kernel, which sends its epochs (batches of requests) to the device and completes
 * them.
 */
#ifndef GYRE_OPENCL_PUMP_H
#define GYRE_OPENCL_PUMP_H

#include "backends/opencl/epochs/opencl_resident.h"

/**
 * The thread's function; `argument` is the resident. Returns when the control word says STOP or YIELD, or
 * when the device is lost.
 */
void *opencl_pump_main(void *argument);

#endif
