/* SPDX-License-Identifier: Apache-2.0 */
/* Results of calls into the driver as statuses with sentences, and the first failure that lost a device. */
#ifndef GYRE_CUDA_CHECK_H
#define GYRE_CUDA_CHECK_H

#include "cuda_backend.h"

/**
 * GYRE_OK for CUDA_SUCCESS. Else a sentence with call, code, name and the driver's text, and
 *   EXHAUSTED    memory or another resource lacks, or the device is busy: later it may work
 *   INVALID      the values passed cannot work (a kernel that needs too much, a wrong image)
 *   LOST         the device does not work any more in this process; from then on cuda_lost tells the first
 *                cause
 *   UNAVAILABLE  the device or what was asked for is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status cuda_check(gyre_device *device, CUresult result, const char *call);
/**
 * As cuda_check, for the result that a kernel ended with: after any failure, also an unknown one, the device is
 * lost.
 */
gyre_status cuda_check_end(gyre_device *device, CUresult result, const char *call);
/**
 * For calls whose failure changes nothing for any caller: a fatal failure is kept as the first cause, others are
 * not told.
 */
void cuda_note(gyre_device *device, CUresult result, const char *call);
/** For failures that no caller can be told: logs a warning, with `what`, the consequence. */
void cuda_tell(gyre_device *device, CUresult result, const char *call, const char *what);
/** The same for calls that give a resource back. */
void cuda_check_gone(gyre_device *device, CUresult result, const char *call);
/** As cuda_check, before there is a device. */
gyre_status cuda_check_host(const gyre_host *host, const struct cuda_driver *driver, CUresult result,
                            const char *call);
/** GYRE_OK, or LOST with the first cause. Cheap. Threads: any. */
gyre_status cuda_lost(gyre_device *device);
/** UNAVAILABLE, with a sentence: this device only compiles, so `what` cannot be done. */
gyre_status cuda_compile_only(const gyre_device *device, const char *what);

#endif
