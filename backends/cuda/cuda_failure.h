/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the driver's answers by one table: the class of each answer, the status that it becomes, and
 * whether calling again can help.
 *
 *   success
 *   transient   passes by itself: something is starting, or another process has the device for a moment.
 *               The call did nothing, so it is made again, for a quarter of a second (CUDA_PATIENTLY).
 *   resource    memory or another resource is short. Calling again helps only after something was freed (cuda_reclaim).
 *   programmer  the call cannot work as it was made, here or with these values: never call again.
 *   fatal       the context of the process is gone, and every later call fails: never call again, the device is lost.
 */
#ifndef GYRE_CUDA_FAILURE_H
#define GYRE_CUDA_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "gyre/status.h"

enum cuda_class {
    CUDA_CLASS_SUCCESS,
    CUDA_CLASS_TRANSIENT,
    CUDA_CLASS_RESOURCE,
    CUDA_CLASS_PROGRAMMER,
    CUDA_CLASS_FATAL
};

enum cuda_class cuda_class_of(CUresult result);
/**
 * Returns LOST for every fatal answer, and INTERNAL for an answer that no call of this backend should get.
 */
gyre_status cuda_status_of(CUresult result);
/** The remedy for an answer, to be appended to an error sentence: "; ...", or "". */
const char *cuda_advice_for(CUresult result);

/** The tries of one call. The caller zeroes it before the first try. */
struct cuda_retry {
    uint32_t tries;
};

/**
 * Returns true, after a pause that doubles each time, when the call that got `result` is to be made once
 * more.
 */
bool cuda_again(struct cuda_retry *retry, CUresult result);

/**
 * Makes `call` and assigns its answer to `result`. Repeats the call while the answer is transient and
 * cuda_again allows it.
 */
#define CUDA_PATIENTLY(result, call)                                                                         \
    for (struct cuda_retry retry_ = {0}; (result) = (call), cuda_again(&retry_, (result));) {                \
    }

#endif
