/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a case: a queue to a kernel, either in a runtime of this process or in a server's process. */
#ifndef GYRE_CLI_BENCH_SESSION_H
#define GYRE_CLI_BENCH_SESSION_H

#include "cli/bench/bench.h"
#include "gyre/pipeline.h"

/** A runtime with one of the benchmark's kernels and a queue to it; or a server and a queue attached to its kernel. */
typedef struct bench_session {
    gyre_runtime *runtime;   /* NULL when the queue is attached to a server */
    gyre_kernel *kernel;     /* owned by the runtime, like the queue; NULL when attached */
    gyre_pipeline *pipeline; /* of linked kernels, of which `kernel` is the entry; NULL: there are none */
    gyre_queue *queue;
    bench_shape shape; /* the case's */
    struct bench_serving *serving;
} bench_session;

#endif
