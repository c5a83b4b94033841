/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `gyre serve` for a case that measures a client of another process. */
#ifndef GYRE_CLI_BENCH_SERVING_H
#define GYRE_CLI_BENCH_SERVING_H

#include "cli/bench/session.h"

/** The part of bench_session_open for a client: starts `gyre serve`, and attaches to the kernel of the case's kind. Call
 * bench_serving_end also after a failure. */
gyre_status bench_serving_start(const bench_case *self, const bench_options *options, bench_session *session);
/** Detaches, and waits for the server's end. Accepts a session without a server. */
void bench_serving_end(bench_session *session);

#endif
