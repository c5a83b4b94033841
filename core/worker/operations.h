/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of a device that the core asks the worker for by messages. Each operation reads its arguments from
 * the message and writes its answer into it. If it returns a status other than OK without an answer, serve.c makes
 * this status the answer. Threads: any.
 */
#ifndef GYRE_CORE_WORKER_OPERATIONS_H
#define GYRE_CORE_WORKER_OPERATIONS_H

#include "core/worker/operation.h"

/* operations.c */
worker_operation worker_compile, worker_module_load, worker_module_kernel, worker_queue_alloc,
    worker_memory_alloc, worker_transfer, worker_memory_copy, worker_promote;

/* launches.c */
worker_operation worker_launch, worker_wait, worker_notify;

#endif
