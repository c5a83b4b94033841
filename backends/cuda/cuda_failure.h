/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's answers, by one table: the class of each, the status that it becomes, and whether to make the call
 * again can help.
 *
 *   success
 *   transient   passes by itself: something is starting, or another process has the device for a moment.
 *               The call did nothing, so it is made again, a quarter of a second long (CUDA_PATIENTLY).
 *   resource    memory or the like lacks. Again only after something was given back (cuda_reclaim).
 *   programmer  the call cannot work as it was made, here or with these values: never again.
 *   fatal       the process's context is gone, and every call from now on fails: never again, the device is
 * lost.
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
/** LOST for every fatal answer; INTERNAL for an answer that no call of this backend should get. */
gyre_status cuda_status_of(CUresult result);
/** The remedy, to be put behind a sentence: "; ...", or "". */
const char *cuda_advice_for(CUresult result);

/** Zero before the first try. */
struct cuda_retry {
    uint32_t tries;
};

/** True, after a pause that doubles, when the call that answered so is to be made once more. */
bool cuda_again(struct cuda_retry *retry, CUresult result);

/** Makes `call` and assigns its answer; again while that is transient, as long as cuda_again allows. */
#define CUDA_PATIENTLY(result, call)                                                                         \
    for (struct cuda_retry retry_ = {0}; (result) = (call), cuda_again(&retry_, (result));) {                \
    }

#endif
