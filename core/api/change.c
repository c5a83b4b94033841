/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of gyre.h that change a kernel while it is used (core/change/change.h). */
#include "core/change/change.h"

#include <string.h>

#include "core/base/error.h"
#include "core/change/canary.h"
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
    if (status != GYRE_OK)
        return status;
    bool had_canary = false;
    const gyre_status ended = gyre_canary_end(kernel, deadline_ns, &had_canary);
    if (had_canary)
        return ended;
    const gyre_status back = gyre_change_swap_back(kernel, deadline_ns);
    if (back != GYRE_AGAIN)
        return back;
    /* a canary that was being compiled began to work while this waited for its turn */
    const gyre_status begun_ended = gyre_canary_end(kernel, deadline_ns, &had_canary);
    return had_canary ? begun_ended : back;
}

gyre_status gyre_kernel_swap_canary(gyre_kernel *kernel, const char *source, const gyre_canary_desc *desc,
                                    uint64_t deadline_ns, gyre_canary_report *report)
{
    gyre_canary_report made = {.size = sizeof made};
    gyre_canary_desc how = {.size = sizeof how};
    if (!kernel || !source || !source[0] || !desc || desc->size < sizeof desc->size ||
        (report && report->size < sizeof report->size))
        return GYRE_ARGUMENTS("gyre_kernel_swap_canary", {"kernel", kernel}, {"source", source && source[0]},
                              GYRE_SIZED(desc), GYRE_SIZED_OR_NULL(report));
    memcpy(&how, desc, desc->size < sizeof how ? desc->size : sizeof how);
    gyre_status status = check_own(kernel, "gyre_kernel_swap_canary");
    if (status == GYRE_OK)
        status = gyre_change_canary(kernel, source, &how, NULL, NULL, deadline_ns, &made);
    if (report) {
        made.size = report->size;
        memcpy(report, &made, made.size < sizeof made ? made.size : sizeof made);
    }
    return status;
}

gyre_status gyre_kernel_move(gyre_kernel *kernel, const char *backend, uint32_t device, uint64_t deadline_ns)
{
    if (!kernel || !backend || !backend[0])
        return GYRE_ARGUMENTS("gyre_kernel_move", {"kernel", kernel}, {"backend", backend && backend[0]});
    const gyre_status status = check_own(kernel, "gyre_kernel_move");
    return status == GYRE_OK ? gyre_change_move(kernel, backend, device, deadline_ns) : status;
}
