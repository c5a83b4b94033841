/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs of the kernels node0, node1, ... of links.gyre.c, and what becomes of flows through them, worked out without
 * kernels.
 */
#ifndef GYRE_CONFORMANCE_GRAPHS_H
#define GYRE_CONFORMANCE_GRAPHS_H

#include "conformance.h"

#include <gyre/pipeline.h>

enum { GRAPH_NODES = 12, GRAPH_TARGETS_MAX = 4 };

/** To which nodes each message of a node's two ports goes. Node 0 is the entry; targets are nodes of higher numbers. */
struct graph {
    uint32_t targets[GRAPH_NODES][2][GRAPH_TARGETS_MAX];
    uint32_t counts[GRAPH_NODES][2];
};

/** A number from 0 to `below` - 1. */
uint64_t graph_draw(uint64_t *random, uint64_t below);

/**
 * Sends flows (GYRE_TEST_FLOWS in place of `flows`) through a pipeline of the graph, checks what becomes of each, closes the pipeline,
 * and releases its kernels. With GYRE_TEST_KILLS the worker process is killed at one of so many completions.
 */
void graph_run(struct conformance *test, const struct graph *graph, gyre_pipeline *pipeline, uint64_t seed,
               uint64_t flows);

/** Runs `run` with GYRE_TEST_SEEDS seeds (`usual` of them) from GYRE_TEST_SEED (1) on. */
void graph_for_seeds(struct conformance *test, uint64_t usual,
                     void (*run)(struct conformance *test, uint64_t seed));

#endif
