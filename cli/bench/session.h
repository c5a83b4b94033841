/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a case: a queue to a kernel, either in a runtime of this process or in a server's process. */
#ifndef GYRE_CLI_BENCH_SESSION_H
#define GYRE_CLI_BENCH_SESSION_H

#include "cli/bench/bench.h"

/** A runtime with one of the benchmark's kernels and a queue to it; or a server and a queue attached to its kernel. */
typedef struct bench_session {
    gyre_runtime *runtime; /* NULL when the queue is attached to a server */
    gyre_kernel *kernel;   /* owned by the runtime, like the queue; NULL when attached */
    gyre_queue *queue;
    bench_shape shape; /* the case's */
    struct bench_serving *serving;
} bench_session;

/** Opens, launches the kernel of the case's kind, opens a queue of its capacity, and notes backend and device
 * in the row. After a failure everything is closed. */
gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row);
void bench_session_close(bench_session *session);

/** Makes one call and checks the reply; adds 1 to *errors for a wrong reply. */
gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors);

#endif
