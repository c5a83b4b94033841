/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the simulation: a process that sends requests with gyre_cluster_send_batch, and compares what it receives with the model. */
#ifndef GYRE_TESTS_CLUSTER_CLIENTS_H
#define GYRE_TESTS_CLUSTER_CLIENTS_H

#include "core/device/runtime.h"
#include "fibers.h"
#include "memory_transport.h"

enum { CLIENT_REQUESTS_MAX = 1024 };

struct client {
    struct process *process;
    struct gyre_runtime *runtime;
    struct link_cut cut;
    uint64_t begin_ns;       /* when it comes */
    uint64_t quota, rest_ns; /* how many requests it sends, and most of the time between two calls */
    uint64_t *next_serial;
    uint32_t poison; /* one of so many requests is poison; 0: none */
    bool goes_ahead; /* its blocks may be under way when sending returns */
    bool hurries;    /* it goes ahead, and mostly sends: as many blocks are under way as there may be */
    bool is_done;
    bool is_deaf; /* it was told that replies are lost to it */

    /* its own */
    struct gyre_cluster *cluster;
    uint64_t sent, waiting;
    uint64_t amounts[CLIENT_REQUESTS_MAX]; /* by index */
    enum { UNSENT = 0, PERHAPS, SENT, COMPLETED } states[CLIENT_REQUESTS_MAX];
};

/** The process of a client: `context` is a struct client. It ends when everything that it sent was completed. */
void client_run(void *context);

#endif
