/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a case as the slots of a queue, and its completions from slots: what batch entries work on.
 * The queue is as short as the case allows and starts just below the 32-bit wrap, so that indices wrap in
 * both.
 */
#ifndef GYRE_KERNELS_SLOTS_H
#define GYRE_KERNELS_SLOTS_H

#include "gyre/dialect/device_module.h"
#include "kernel_case.h"

struct slots {
    gyre_batch batch; /* all requests of the case */
    unsigned char *requests, *replies;
    size_t requests_size, replies_size;
};

void slots_fill(struct slots *slots, const struct kernel_case *test);

/** Compares every completion; 1 when all are right. */
int slots_check(const struct slots *slots, const struct kernel_case *test);

/** Compares the record of a device compiler with what the C compiler saw; 1 when equal. */
int slots_check_record(const gyre_device_kernel *record, const gyre_cpu_kernel *kernel);

/** Compares the blocks' counts with the case. */
int slots_check_counts(const gyre_device_block *blocks, uint32_t count, const struct kernel_case *test);

/** Prints the lines of a device's log, oldest first; 1 when each carries its number. */
int slots_print_log(const gyre_device_log *log);

#endif
