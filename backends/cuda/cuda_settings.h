/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of [backend.cuda]. */
#ifndef GYRE_CUDA_SETTINGS_H
#define GYRE_CUDA_SETTINGS_H

#include <limits.h>

#include "gyre/backend.h"

#define CUDA_RESIDENCY_AUTO UINT32_MAX /* as the device and the process need it */

/** The keys of [backend.cuda], parsed. */
struct cuda_settings {
    uint32_t sms;          /* multiprocessors that kernels may use together; 0: all */
    uint32_t pause_ns;     /* between two polls of an idle block */
    uint32_t residency_ms; /* how long a kernel stays at a stretch; 0: unbounded; CUDA_RESIDENCY_AUTO */
    /* "0,1" or UUIDs: which of the driver's devices are 0, 1, ... here; "": all, in its order */
    char devices[512];
    char compile_for[32]; /* "sm_90": a device that only compiles; "" for one of the driver */
    char nvrtc[PATH_MAX]; /* the compiler's library; "": by its known names */
    char parts[PATH_MAX]; /* the folder of cuda_parts.h's files; "": beside this plugin's */
};

/** Reads the parameters; CONFIG with origin and expectation when one is wrong. */
gyre_status cuda_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                               struct cuda_settings *settings);

#endif
