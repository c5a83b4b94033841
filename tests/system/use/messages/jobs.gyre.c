/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that looks at the header of its message. */
#include <gyre/kernel.h>

#include "jobs.h"

GYRE_KERNEL(jobs, job, job_done)
{
    reply->square = request->number * request->number;
    reply->for_whom = gyre_header_sender(gyre);
    return GYRE_REPLY;
}
