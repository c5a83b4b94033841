/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns results of driver calls into statuses with sentences, and keeps the first failure that lost a device.
 * The classes of the driver's answers are in cuda_failure.h.
 */
#ifndef GYRE_CUDA_CHECK_H
#define GYRE_CUDA_CHECK_H

#include "backends/cuda/cuda_backend.h"

/**
 * Returns GYRE_OK for CUDA_SUCCESS. Otherwise it sets an error sentence with the call, its code, name and the
 * driver's text, and returns
 *   EXHAUSTED    memory or another resource is short, or the device is busy: the call may work later
 *   INVALID      the values passed cannot work (a kernel that needs too much, a wrong image)
 *   LOST         the device works no more in this process; from then on cuda_lost reports the first cause
 *   UNAVAILABLE  the device, or what the call asked for, is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status cuda_check(gyre_device *device, CUresult result, const char *call);
/**
 * Does what cuda_check does, for the result that a kernel ended with. The device is lost after any failure,
 * even an unknown one.
 */
gyre_status cuda_check_end(gyre_device *device, CUresult result, const char *call);
/**
 * For a call whose failure changes nothing for any caller. Keeps a fatal failure as the device's first cause;
 * ignores any other failure.
 */
void cuda_note(gyre_device *device, CUresult result, const char *call);
/**
 * For a failure that no caller can be told about: logs a warning. `what` is the consequence, for the reader
 * of the log.
 */
void cuda_tell(gyre_device *device, CUresult result, const char *call, const char *what);
/** Does what cuda_tell does, for a call that frees a resource. */
void cuda_check_gone(gyre_device *device, CUresult result, const char *call);
/** Does what cuda_check does, before there is a device. */
gyre_status cuda_check_host(const gyre_host *host, const struct cuda_driver *driver, CUresult result,
                            const char *call);
/** Returns GYRE_OK, or LOST with the first cause when the device is lost. Cheap. Any thread may call it. */
gyre_status cuda_lost(gyre_device *device);
/** Returns UNAVAILABLE with a sentence: this device only compiles, so it cannot do `what`. */
gyre_status cuda_compile_only(const gyre_device *device, const char *what);

#endif
