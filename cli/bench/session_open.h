/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the session of a case (session.h), and makes a checked call. */
#ifndef GYRE_CLI_BENCH_SESSION_OPEN_H
#define GYRE_CLI_BENCH_SESSION_OPEN_H

#include "cli/bench/session.h"

/** Opens, launches the kernel of the case's kind, opens a queue of its capacity, and notes backend and device
 * in the row. After a failure everything is closed. */
gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row);

void bench_session_close(bench_session *session);

/** Makes one call and checks the reply; adds 1 to *errors for a wrong reply. */
gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors);

#endif
