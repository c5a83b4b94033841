/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process of the whole simulation, linked in the place of core/isolation: threads of the scheduler, and memory
 * that is anything once the worker died. Its kernel is that of handler.h.
 */
#ifndef GYRE_TESTS_WHOLE_WORKER_H
#define GYRE_TESTS_WHOLE_WORKER_H

#include <stdint.h>

/** From now on a worker dies at one of so many of its steps; 0: of itself never. */
void whole_worker_frailty(uint64_t one_in);
/** Kills the worker that is up, if one is. */
void whole_worker_kill(void);
/** How many died. */
uint64_t whole_worker_deaths(void);

#endif
