/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines of `gyre call` (call_pipeline.h). No state. */
#include "cli/calls/call_pipeline.h"

#include <stdio.h>
#include <string.h>

#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/links/wiring_config.h"

enum { NAME_SIZE = 160 };

/* The name of the pipeline's first entry, whose queue is open already. */
static gyre_status first_entry(gyre_runtime *runtime, const gyre_pipeline_desc *desc, char name[NAME_SIZE])
{
    struct gyre_wiring_config *wiring;
    const gyre_status status =
        gyre_wiring_config_create(gyre_runtime_config(runtime), runtime, desc, &wiring);
    if (status != GYRE_OK)
        return status;
    snprintf(name, NAME_SIZE, "%s", wiring->desc.entries[0]);
    gyre_wiring_config_destroy(wiring);
    return GYRE_OK;
}

static gyre_status find_queue(gyre_runtime *runtime, const gyre_pipeline_desc *desc, const char *entry,
                              call_pipeline *out)
{
    char first[NAME_SIZE];
    const gyre_queue_desc queue = {.size = sizeof queue, .name = desc->name};
    out->queue = gyre_pipeline_queue(out->pipeline);
    gyre_status status = first_entry(runtime, desc, first);
    if (status == GYRE_OK && entry && strcmp(entry, first) != 0)
        status = gyre_pipeline_queue_open(out->pipeline, entry, &queue, &out->queue);
    if (status == GYRE_OK)
        out->entry = gyre_kernel_find(runtime, entry ? entry : first);
    return status;
}

gyre_status call_pipeline_open(gyre_runtime *runtime, const char *name_and_entry, call_pipeline *out)
{
    char name[NAME_SIZE];
    const char *slash = strchr(name_and_entry, '/');
    const size_t length = slash ? (size_t)(slash - name_and_entry) : strlen(name_and_entry);
    snprintf(name, sizeof name, "%.*s", (int)length, name_and_entry);
    const gyre_pipeline_desc desc = {.size = sizeof desc, .name = name};
    *out = (call_pipeline){.pipeline = NULL};
    const gyre_status status = gyre_pipeline_open(runtime, &desc, &out->pipeline);
    return status == GYRE_OK ? find_queue(runtime, &desc, slash ? slash + 1 : NULL, out) : status;
}
