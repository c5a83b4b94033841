/* SPDX-License-Identifier: Apache-2.0 */
/* The real loader's functions, as the fake one finds them when it is loaded. Private to this folder. */
#ifndef FAKE_LOADER_H
#define FAKE_LOADER_H

#include <stdint.h>

#include "opencl_loader.h"

/** What the fake loader itself needs beside the backend's. */
#define FAKE_FUNCTIONS(F)                                                                                    \
    F(clGetCommandQueueInfo)                                                                                 \
    F(clCreateUserEvent)                                                                                     \
    F(clSetUserEventStatus)

#define FAKE_DECLARE_(name) extern __attribute__((visibility("hidden"))) void *fake_real_##name;
OPENCL_FUNCTIONS(FAKE_DECLARE_)
OPENCL_OPTIONAL_FUNCTIONS(FAKE_DECLARE_)
FAKE_FUNCTIONS(FAKE_DECLARE_)

/** The real function of that name. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)fake_real_##name)

#endif
