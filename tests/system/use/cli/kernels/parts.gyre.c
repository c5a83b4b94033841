/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of pipelines with a part on another device (test_mixed_cuda.sh). */
#include <gyre/kernel.h>

#define JOB(FIELD) FIELD(u32, number) FIELD(u32, fill)
GYRE_MESSAGE(job, JOB)
#define SUM(FIELD) FIELD(u64, number) FIELD(u64, secret)
GYRE_MESSAGE(sum, SUM)

#define JOBS(PORT) PORT(job, jobs, 1)
GYRE_PORTS(split_ports, JOBS)
#define SUMS(PORT) PORT(sum, sums, 1)
GYRE_PORTS(middle_ports, SUMS)
#define SEEN(PORT) PORT(sum, seen, 1)
GYRE_PORTS(tap_ports, SEEN)

GYRE_KERNEL_TO(split, job, gyre_none, split_ports)
{
    *gyre_emit(gyre, jobs) = *request;
    return GYRE_NO_REPLY;
}

/* Leaves bytes of what it emits as they are, unless it is told to fill them. */
GYRE_KERNEL_TO(middle, job, gyre_none, middle_ports)
{
    GYRE_GLOBAL sum *out = gyre_emit(gyre, sums);
    out->number = request->number;
    if (request->fill)
        out->secret = 777000;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(tap, sum, gyre_none, tap_ports)
{
    *gyre_emit(gyre, seen) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(last, sum, sum)
{
    *reply = *request;
    return GYRE_REPLY;
}
