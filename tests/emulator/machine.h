/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU made of software: modules of PTX, and grids of threads that run on them. For tests alone: with it the CUDA
 * backend and its device code run on a machine without a GPU (driver.c gives it the shape of libcuda.so.1). It is
 * made to find mistakes, not to be quick: what a device may do with a program, it does at the worst moment.
 *
 * A device address is an address of this process, mapped host memory has one address on both sides. Kernels may
 * touch only what was added below; anything else is a fault, as on a device.
 *
 * What is modelled, and nothing else is promised:
 * - Threads of a warp run in lockstep as long as they are together, and may part and meet anywhere; operations that
 *   name lanes or threads wait until these are there. No warp waits for ever for another that could run.
 * - A whole line that neighbouring lanes move by one instruction appears whole on the other side of the bus: loads go
 *   from the first lane to the last, stores from the last to the first.
 * - A block's first-level cache keeps what weak loads brought, until something acquires; it never hears of what
 *   others store.
 *
 * Threads: any, unless said otherwise. The functions take their own locks.
 */
#ifndef GYRE_TESTS_EMULATOR_MACHINE_H
#define GYRE_TESTS_EMULATOR_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MACHINE_WARP = 32,
    MACHINE_SHARED_MAX = 227 * 1024, /* bytes of shared memory of a block */
    MACHINE_UNITS = 8,               /* "multiprocessors" */
    MACHINE_CAPABILITY = 130         /* newer than compilers know, so that they give PTX */
};

/** Bytes that kernels may touch from now on; ranges do not overlap. */
void machine_memory_add(void *from, size_t size);
/** Takes back what was added from there. */
void machine_memory_remove(void *from);

struct machine_module;
struct machine_function;

/**
 * Reads PTX. NULL with a sentence in `error` (what, which line) when it is wrong or uses what is not modelled. Its
 * variables belong to it and need not be added.
 */
struct machine_module *machine_module_load(const char *ptx, char *error, size_t error_size);
/** No grid of it may run. */
void machine_module_unload(struct machine_module *module);

struct machine_function_info {
    uint32_t registers;    /* that a thread may be thought to take: 255 at most */
    uint32_t shared_bytes; /* static */
    uint32_t local_bytes;  /* of a thread */
    uint32_t threads_max;  /* of a block */
    uint32_t argument_count;
    const uint32_t *argument_sizes; /* bytes of each; lives as long as the module */
};

/** A kernel by its name; NULL when there is none. Lives as long as the module. */
const struct machine_function *machine_function_find(const struct machine_module *module, const char *name);
struct machine_function_info machine_function_describe(const struct machine_function *function);

enum machine_fault_kind {
    MACHINE_NO_FAULT,
    MACHINE_ILLEGAL_ADDRESS,
    MACHINE_MISALIGNED,
    MACHINE_TRAP,
    MACHINE_ASSERT,
    MACHINE_DEADLOCK /* threads wait for each other for ever: what a device would do by hanging */
};

struct machine_fault {
    enum machine_fault_kind kind;
    uint64_t address;
    char where[160]; /* kernel, block, thread, line of the PTX */
};

struct machine_launch {
    const struct machine_function *function;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared; /* bytes */
    void *const *arguments;  /* one pointer each; the values are copied */
};

struct machine_grid;

/** Starts all blocks, each on a thread of its own. NULL with a sentence when it cannot. */
struct machine_grid *machine_grid_start(const struct machine_launch *launch, char *error, size_t error_size);
/** True when it ended, with what ended it. A block that faults ends all others of its grid. */
bool machine_grid_ended(struct machine_grid *grid, struct machine_fault *fault);
/** Waits for that until `deadline_ns` (CLOCK_MONOTONIC). */
bool machine_grid_wait(struct machine_grid *grid, uint64_t deadline_ns, struct machine_fault *fault);
/** Ends it, as the driver does when its process goes, and frees it. */
void machine_grid_destroy(struct machine_grid *grid);

#endif
