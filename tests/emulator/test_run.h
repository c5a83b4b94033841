/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the machine share: running a text of PTX on memory of the test. */
#ifndef GYRE_TESTS_EMULATOR_TEST_RUN_H
#define GYRE_TESTS_EMULATOR_TEST_RUN_H

#include "machine.h"
#include "unit/unit.h"

/** The kernel "k" of a text, with one argument: the address of `memory`, which it may touch. */
struct run {
    const char *ptx; /* behind the header of a module */
    uint32_t blocks, threads, dynamic_shared;
    void *memory;
    size_t size;
};

/** Starts it. The test ends when that fails. */
struct machine_grid *run_start(const struct run *run, struct machine_module **module);
/** Ends it, after at most ten seconds; the test ends when it then still runs. */
struct machine_fault run_end(const struct run *run, struct machine_grid *grid, struct machine_module *module);
/** Both. */
struct machine_fault run_whole(const struct run *run);

TCase *arithmetic_cases(void);
TCase *warp_cases(void);
TCase *block_cases(void);
TCase *memory_cases(void);

#endif
