/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of gyre.h that change a kernel while it is used (core/kernel/change.h). */
#include "core/kernel/change.h"

#include "core/base/error.h"
#include "gyre/change.h"

static gyre_status check_own(const gyre_kernel *kernel, const char *call)
{
    return gyre_runtime_check_own(kernel->runtime, call);
}

gyre_status gyre_kernel_swap(gyre_kernel *kernel, const char *source, uint64_t deadline_ns)
{
    if (!kernel || !source || !source[0])
        return GYRE_ARGUMENTS("gyre_kernel_swap", {"kernel", kernel}, {"source", source && source[0]});
    const gyre_status status = check_own(kernel, "gyre_kernel_swap");
    return status == GYRE_OK ? gyre_change_swap(kernel, source, deadline_ns) : status;
}

gyre_status gyre_kernel_swap_back(gyre_kernel *kernel, uint64_t deadline_ns)
{
    if (!kernel)
        return GYRE_ARGUMENTS("gyre_kernel_swap_back", {"kernel", kernel});
    const gyre_status status = check_own(kernel, "gyre_kernel_swap_back");
    return status == GYRE_OK ? gyre_change_swap_back(kernel, deadline_ns) : status;
}

gyre_status gyre_kernel_move(gyre_kernel *kernel, const char *backend, uint32_t device, uint64_t deadline_ns)
{
    if (!kernel || !backend || !backend[0])
        return GYRE_ARGUMENTS("gyre_kernel_move", {"kernel", kernel}, {"backend", backend && backend[0]});
    const gyre_status status = check_own(kernel, "gyre_kernel_move");
    return status == GYRE_OK ? gyre_change_move(kernel, backend, device, deadline_ns) : status;
}
