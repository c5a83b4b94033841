/* SPDX-License-Identifier: Apache-2.0 */
/* The server of a case that measures a client. */
#ifndef GYRE_CLI_BENCH_SERVING_H
#define GYRE_CLI_BENCH_SERVING_H

#include "cli/bench/session.h"

/** The part of bench_session_open for a client: starts `gyre serve` and attaches to the kernel of the case's kind, of which it notes
 * nothing. After a failure bench_serving_end is still to be called. */
gyre_status bench_serving_start(const bench_case *self, const bench_options *options, bench_session *session);
/** Detaches, and waits for the server's end. Accepts a session without. */
void bench_serving_end(bench_session *session);

#endif
