/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into a library that may never come back, with a deadline. */
#ifndef GYRE_CUDA_BOUNDED_H
#define GYRE_CUDA_BOUNDED_H

#include <stdint.h>

enum cuda_bounded {
    CUDA_BOUNDED_DONE,
    CUDA_BOUNDED_LATE,     /* the call is not over */
    CUDA_BOUNDED_NO_THREAD /* it was not begun */
};

/**
 * Runs `work` in a thread of its own, and waits for its end until `deadline_ns`. `argument` is of malloc. After LATE it belongs to
 * that thread, which frees it when the call ends after all; else it is the caller's as before.
 */
enum cuda_bounded cuda_bounded_run(void (*work)(void *argument), void *argument, uint64_t deadline_ns);

#endif
