/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into a library that may never come back, with a deadline. */
#ifndef GYRE_CUDA_BOUNDED_H
#define GYRE_CUDA_BOUNDED_H

#include <stdbool.h>
#include <stdint.h>

struct cuda_bounded_call;

/** Runs `work` in a thread of its own. `argument` is of malloc. NULL: there is no thread or no memory. */
struct cuda_bounded_call *cuda_bounded_start(void (*work)(void *argument), void *argument);
/** Waits until `deadline_ns`, as often as it is called. Returns whether the work is over. */
bool cuda_bounded_await(struct cuda_bounded_call *call, uint64_t deadline_ns);
/** From here on work that has not begun does not begin. */
void cuda_bounded_stop(struct cuda_bounded_call *call);
/**
 * Ends the call. True: the work is over, and `argument` is the caller's. False: it is not, and the thread frees `argument` when it is
 * through with it.
 */
bool cuda_bounded_end(struct cuda_bounded_call *call);

enum cuda_bounded {
    CUDA_BOUNDED_DONE,
    CUDA_BOUNDED_LATE,     /* the work is not over; `argument` belongs to its thread */
    CUDA_BOUNDED_NO_THREAD /* it was not begun */
};

/** All of these: waits for the work until `deadline_ns`. */
enum cuda_bounded cuda_bounded_run(void (*work)(void *argument), void *argument, uint64_t deadline_ns);

#endif
