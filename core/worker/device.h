/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the one device of the worker process (device.c). It is opened once, before any other operation, and closed
 * after the last operation. Threads: any.
 */
#ifndef GYRE_CORE_WORKER_DEVICE_H
#define GYRE_CORE_WORKER_DEVICE_H

#include "core/dispatch/dispatch.h"
#include "core/worker/operation.h"

/** The worker's device. NULL while no device is open. */
struct gyre_dispatch *worker_device(void);

worker_operation worker_open, worker_close;

#endif
