/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what is shown of a pipeline (pipeline_view.h). The links say which kernels there are, the configuration says which of
 * them are entries and answers.
 */
#include "cli/views/pipeline_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/hush.h"
#include "cli/open.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/links/wiring_config.h"

const char *pipeline_size_words(uint64_t bytes, char *text, size_t size)
{
    if (bytes < 1024)
        snprintf(text, size, "%" PRIu64 " bytes", bytes);
    else if (bytes < 1 << 20)
        snprintf(text, size, "%.1f KiB", (double)bytes / 1024);
    else
        snprintf(text, size, "%.1f MiB", (double)bytes / (1 << 20));
    return text;
}

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "out of memory to describe a pipeline");
}

/* ---- links and kernels ---- */

static gyre_status read_links(const gyre_pipeline *pipeline, pipeline_view *view)
{
    gyre_link_info info = {.size = sizeof info};
    while (gyre_pipeline_link(pipeline, view->link_count, &info) == GYRE_OK) {
        gyre_link_info *grown = realloc(view->links, (view->link_count + 1) * sizeof *grown);
        if (!grown)
            return no_memory();
        view->links = grown;
        view->links[view->link_count++] = info;
        view->bytes += info.bytes;
    }
    gyre_error_clear(); /* NOT_FOUND past the last one */
    return GYRE_OK;
}

static pipeline_node *find_node(const pipeline_view *view, const char *kernel)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (strcmp(view->nodes[i].info.name, kernel) == 0)
            return &view->nodes[i];
    return NULL;
}

static gyre_status add_node(gyre_runtime *runtime, pipeline_view *view, const char *name)
{
    gyre_kernel *kernel = gyre_kernel_find(runtime, name);
    if (!kernel || find_node(view, name)) /* "nowhere" is no kernel */
        return GYRE_OK;
    pipeline_node *grown = realloc(view->nodes, (view->node_count + 1) * sizeof *grown);
    if (!grown)
        return no_memory();
    view->nodes = grown;
    pipeline_node *node = &view->nodes[view->node_count++];
    *node = (pipeline_node){.info = {.size = sizeof node->info}, .form = gyre_kernel_form(kernel)};
    return gyre_kernel_info_get(kernel, &node->info);
}

static gyre_status add_nodes(gyre_runtime *runtime, const gyre_pipeline_desc *desc, pipeline_view *view)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < desc->entry_count && status == GYRE_OK; i++)
        status = add_node(runtime, view, desc->entries[i]);
    for (size_t i = 0; i < view->link_count && status == GYRE_OK; i++) {
        status = add_node(runtime, view, view->links[i].from);
        if (status == GYRE_OK)
            status = add_node(runtime, view, view->links[i].to);
    }
    for (size_t i = 0; i < view->node_count; i++) {
        pipeline_node *node = &view->nodes[i];
        for (size_t n = 0; n < desc->entry_count; n++)
            node->enters |= strcmp(desc->entries[n], node->info.name) == 0;
        for (size_t n = 0; n < desc->answer_count; n++)
            node->answers |= strcmp(desc->answers[n], node->info.name) == 0;
    }
    return status;
}

/* ---- the order of the flow ---- */

/* True when every kernel that sends to the node number `node` is among the first `placed` nodes. */
static bool is_next(const pipeline_view *view, size_t node, size_t placed)
{
    for (size_t i = 0; i < view->link_count; i++) {
        if (strcmp(view->links[i].to, view->nodes[node].info.name) != 0)
            continue;
        const pipeline_node *from = find_node(view, view->links[i].from);
        if (from >= view->nodes + placed && from != view->nodes + node)
            return false;
    }
    return true;
}

/* Puts each node behind the nodes that send to it; else the order stays. A cycle begins at that of its nodes that comes first. */
static void order_nodes(pipeline_view *view)
{
    for (size_t placed = 0; placed < view->node_count; placed++) {
        size_t next = placed;
        while (next < view->node_count && !is_next(view, next, placed))
            next++;
        if (next == view->node_count)
            next = placed;
        const pipeline_node node = view->nodes[next];
        memmove(view->nodes + placed + 1, view->nodes + placed, (next - placed) * sizeof node);
        view->nodes[placed] = node;
    }
}

static gyre_status order_links(pipeline_view *view)
{
    size_t count = 0;
    gyre_link_info *ordered = calloc(view->link_count + 1, sizeof *ordered);
    if (!ordered)
        return no_memory();
    for (size_t node = 0; node < view->node_count; node++)
        for (size_t i = 0; i < view->link_count; i++)
            if (strcmp(view->links[i].from, view->nodes[node].info.name) == 0)
                ordered[count++] = view->links[i];
    free(view->links);
    view->links = ordered;
    view->link_count = count;
    return GYRE_OK;
}

static gyre_status read_limits(const gyre_pipeline *pipeline, pipeline_view *view)
{
    view->info.size = sizeof view->info;
    const gyre_status status = gyre_pipeline_info_get(pipeline, &view->info);
    if (status == GYRE_OK && view->info.window_most)
        snprintf(view->narrowest, sizeof view->narrowest, "%s", view->links[view->info.narrowest].name);
    return status;
}

/* ---- opening ---- */

static gyre_status fill_view(gyre_runtime *runtime, const gyre_pipeline_desc *desc, pipeline_view *view)
{
    const gyre_pipeline *pipeline = gyre_pipeline_find(runtime, desc->name);
    gyre_status status = read_links(pipeline, view);
    if (status == GYRE_OK)
        status = read_limits(pipeline, view);
    if (status == GYRE_OK)
        status = add_nodes(runtime, desc, view);
    if (status != GYRE_OK)
        return status;
    order_nodes(view);
    return order_links(view);
}

static gyre_status open_pipeline(gyre_runtime *runtime, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline;
    struct cli_hush hush;
    cli_hush_begin(&hush);
    const gyre_status status = gyre_pipeline_open(runtime, desc, &pipeline);
    cli_hush_end(&hush);
    return status;
}

int pipeline_view_open(const cli_context *cli, const char *name, gyre_runtime **runtime, pipeline_view *view)
{
    struct gyre_wiring_config *wiring = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc, .name = name};
    *view = (pipeline_view){.name = name};
    *runtime = NULL;
    int code = cli_fail_unless_ok(cli_open(cli, runtime));
    if (code == CLI_OK)
        code = cli_fail_unless_device(*runtime, open_pipeline(*runtime, &desc));
    if (code != CLI_OK)
        return code;
    gyre_status status = gyre_wiring_config_create(gyre_runtime_config(*runtime), *runtime, &desc, &wiring);
    if (status == GYRE_OK)
        status = fill_view(*runtime, &wiring->desc, view);
    gyre_wiring_config_destroy(wiring);
    return cli_fail_unless_ok(status);
}

void pipeline_view_finish(pipeline_view *view)
{
    free(view->nodes);
    free(view->links);
    *view = (pipeline_view){0};
}
