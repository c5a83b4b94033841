/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a test waits for what has to come: no machine is too slow for it.
 *
 * GYRE_TEST_PATIENCE says how many times longer than usual everything may take here. ctest measures and sets it
 * (tests/patience.cmake); without it the factor is 1. Times that are waited for in any case are not multiplied.
 */
#ifndef GYRE_TESTS_PATIENCE_H
#define GYRE_TESTS_PATIENCE_H

#include <stdint.h>
#include <stdlib.h>

/** That many milliseconds, or nanoseconds, of a usual machine. */
static inline uint64_t patiently(uint64_t time)
{
    const char *factor = getenv("GYRE_TEST_PATIENCE");
    const unsigned long times = factor ? strtoul(factor, NULL, 10) : 1;
    return time * (times ? times : 1);
}

#endif
