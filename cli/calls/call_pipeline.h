/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the pipeline that `gyre call --pipeline NAME[/ENTRY]` names. One thread. */
#ifndef GYRE_CLI_CALLS_CALL_PIPELINE_H
#define GYRE_CLI_CALLS_CALL_PIPELINE_H

#include "gyre/gyre.h"
#include "gyre/pipeline.h"

/** What a call uses of a pipeline. The runtime owns all of it. */
typedef struct call_pipeline {
    gyre_pipeline *pipeline;
    gyre_queue *queue;  /* gets the requests */
    gyre_kernel *entry; /* the kernel that handles them first */
} call_pipeline;

/** Opens "NAME", whose first entry gets the requests, or "NAME/ENTRY". */
gyre_status call_pipeline_open(gyre_runtime *runtime, const char *name_and_entry, call_pipeline *out);

#endif
