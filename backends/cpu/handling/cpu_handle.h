/* SPDX-License-Identifier: Apache-2.0 */
/* Gives one message to the handler of a worker, whatever the form of its kernel. */
#ifndef GYRE_CPU_HANDLE_H
#define GYRE_CPU_HANDLE_H

#include "gyre/dialect/cpu_module.h"

/** As gyre_cpu_handle; the context's owner is the worker. In a block kernel all lanes run the handler, on the worker's scratch. */
int cpu_handle(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
               gyre_context *context);

#endif
