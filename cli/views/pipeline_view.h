/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline as the commands `gyre pipeline` and `gyre links` show it: its kernels in the order of the flow, and its links.
 * One thread.
 */
#ifndef GYRE_CLI_VIEWS_PIPELINE_VIEW_H
#define GYRE_CLI_VIEWS_PIPELINE_VIEW_H

#include <stdbool.h>

#include "cli/cli.h"
#include "gyre/backend.h"
#include "gyre/pipeline.h"

typedef struct pipeline_node {
    gyre_kernel_info info;
    gyre_form form;
    bool enters, answers;
} pipeline_node;

typedef struct pipeline_view {
    const char *name;     /* borrowed */
    pipeline_node *nodes; /* each behind the kernels that send to it */
    size_t node_count;
    gyre_link_info *links; /* ordered by their kernels, then as the pipeline has them */
    size_t link_count;
    uint64_t bytes; /* memory of all links */
    gyre_pipeline_info info;
    char narrowest
        [128]; /* the link of that number, which is another one in `links`; "": no links form a cycle */
} pipeline_view;

/**
 * Opens a runtime and the pipeline of that name, and fills the view. Returns an exit code, and prints why when it is not CLI_OK.
 * Call pipeline_view_finish and gyre_close(*runtime) afterwards, also after a failure.
 */
int pipeline_view_open(const cli_context *cli, const char *name, gyre_runtime **runtime, pipeline_view *view);
void pipeline_view_finish(pipeline_view *view);

/** Writes bytes as people read them: "512 bytes", "64.3 KiB", "1.5 MiB". Returns `text`. */
const char *pipeline_size_words(uint64_t bytes, char *text, size_t size);

/* pipeline_print.c */
int pipeline_print(const pipeline_view *view);
int pipeline_print_json(const pipeline_view *view);
/** Writes the graph for Graphviz. */
int pipeline_write_dot(const pipeline_view *view, FILE *out);
int pipeline_print_links(const pipeline_view *view);
int pipeline_print_links_json(const pipeline_view *view);

#endif
