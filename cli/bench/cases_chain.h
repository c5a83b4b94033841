/* SPDX-License-Identifier: Apache-2.0 */
/* Cases and floors of messages that go through several kernels, or threads, one after the other. */
#ifndef GYRE_CLI_BENCH_CASES_CHAIN_H
#define GYRE_CLI_BENCH_CASES_CHAIN_H

#include "cli/bench/bench.h"

/** What links replace: the client takes each kernel's reply, and sends it to the next kernel. */
gyre_status bench_run_chain_by_host(const bench_case *self, const bench_options *options, bench_row *row);

/**
 * Floors: a thread a kernel, with a bare ring of slots between each two. Threads that find nothing for a while give their
 * processor away, because there may be more of them than processors.
 */
bool bench_floor_chain_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_chain_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
