/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device of this process: opened once, before any other operation, and closed behind the last one. Threads: any.
 */
#ifndef GYRE_CORE_WORKER_DEVICE_H
#define GYRE_CORE_WORKER_DEVICE_H

#include "core/dispatch/dispatch.h"
#include "core/worker/operations.h"

/** NULL while no device is open. */
struct gyre_dispatch *worker_device(void);

worker_operation worker_open, worker_close;

#endif
