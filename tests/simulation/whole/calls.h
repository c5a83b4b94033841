/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulation's calls to the system can be told: see calls.c. */
#ifndef GYRE_TESTS_WHOLE_CALLS_H
#define GYRE_TESTS_WHOLE_CALLS_H

#include <stdint.h>

/** From now on the disk refuses one in so many writes, syncs and renames, and cuts as many writes short; 0: none. */
void calls_refuse(uint64_t one_in);

#endif
