/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a case: a queue into a kernel of a runtime here, or of a server's process. */
#ifndef GYRE_CLI_BENCH_SESSION_H
#define GYRE_CLI_BENCH_SESSION_H

#include "cli/bench/bench.h"

/** A runtime with one kernel of the benchmark's, and a queue into it; or a server, and a queue attached to it. */
typedef struct bench_session {
    gyre_runtime *runtime; /* NULL: attached */
    gyre_kernel *kernel;   /* the runtime's, as the queue is; NULL: attached */
    gyre_queue *queue;
    bench_shape shape; /* of the case */
    struct bench_serving *serving;
} bench_session;

/** Opens, launches the kernel of the case's kind, opens a queue of its capacity, and notes backend and device
 * in the row. After a failure everything is closed. */
gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row);
void bench_session_close(bench_session *session);

/** One call with the reply checked; adds to *errors. */
gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors);

#endif
