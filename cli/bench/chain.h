/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of kernels that are linked: client -> pass_48, four times -> last_48 -> client. */
#ifndef GYRE_CLI_BENCH_CHAIN_H
#define GYRE_CLI_BENCH_CHAIN_H

#include "cli/bench/session.h"

/** Launches the kernels in the session's runtime, and links them. The runtime owns the pipeline, its queue is the session's. */
gyre_status bench_chain_open(bench_session *session);

/** Opens another queue to the chain, of the case's capacity. */
gyre_status bench_chain_queue(const bench_session *session, gyre_queue **out);

#endif
