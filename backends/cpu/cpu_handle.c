/* SPDX-License-Identifier: Apache-2.0 */
/* Gives one message to the handler of a worker (cpu_handle.h). No state. */
#include "cpu_handle.h"
#include "cpu_check.h"
#include "cpu_explore.h"
#include "cpu_lane.h"
#include "cpu_resident.h"
#include "cpu_watched.h"

/* In a block kernel all lanes run the block's handler for the message. */
static int handle_by_lanes(const void *request, void *reply, void *state, const gyre_binding *buffers,
                           gyre_context *context)
{
    struct cpu_worker *worker = context->owner;
    const struct cpu_lanes_message message = {
        worker->resident->kernel->handle, request, reply, state, worker->scratch, buffers};
    cpu_check_begin(worker, request, worker->resident->kernel->sizes.request);
    const int result = worker->watched && worker->watched->explored
                           ? cpu_explore(worker, &message, context)
                           : cpu_lanes_run(worker->lanes, &message, context);
    cpu_check_end(worker);
    return result;
}

int cpu_handle(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
               gyre_context *context)
{
    const struct cpu_worker *worker = context->owner;
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    if (kernel->form == GYRE_FORM_BLOCK)
        return handle_by_lanes(request, reply, state, buffers, context);
    return kernel->handle(request, reply, state, scratch, buffers, context);
}
