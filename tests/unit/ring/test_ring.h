/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of test_ring_threads.c, test_levels.c and test_drops.c, for the suite in test_ring.c. */
#ifndef GYRE_TESTS_TEST_RING_H
#define GYRE_TESTS_TEST_RING_H

#include "unit/unit.h"

TCase *ring_thread_cases(void);
TCase *ring_level_cases(void);
TCase *ring_drop_cases(void);

#endif
