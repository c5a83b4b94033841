/* SPDX-License-Identifier: Apache-2.0 */
/* The real loader's functions, as the fake one finds them when it is loaded. Private to this folder. */
#ifndef FAKE_LOADER_H
#define FAKE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/opencl/platforms/opencl_loader.h"

/** What the fake loader itself needs beside the backend's. */
#define FAKE_FUNCTIONS(F)                                                                                    \
    F(clGetKernelInfo)                                                                                       \
    F(clGetCommandQueueInfo)                                                                                 \
    F(clCreateUserEvent)                                                                                     \
    F(clSetUserEventStatus)

#define FAKE_DECLARE_(name) extern __attribute__((visibility("hidden"))) void *fake_real_##name;
OPENCL_FUNCTIONS(FAKE_DECLARE_)
OPENCL_OPTIONAL_FUNCTIONS(FAKE_DECLARE_)
FAKE_FUNCTIONS(FAKE_DECLARE_)

/** The real function of that name. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)fake_real_##name)

#define EXPORTED __attribute__((visibility("default")))

/** Whether FAKE_OPENCL names it. */
__attribute__((visibility("hidden"))) bool fake_lacks(const char *what);
/** Whether kernels reach memory of the host that the driver made. */
__attribute__((visibility("hidden"))) bool fake_is_reaching(void);
/** Puts what a device with memory of its own tells into the place of what it told; fake_far.c. */
__attribute__((visibility("hidden"))) void fake_tell_far(cl_device_info what, void *value);
/** Puts what a slow driver tells into the place of what it told. */
__attribute__((visibility("hidden"))) void fake_tell_late(cl_int *state);

#endif
