/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of [backend.cuda], parsed. */
#ifndef GYRE_CUDA_SETTINGS_H
#define GYRE_CUDA_SETTINGS_H

#include <limits.h>
#include <stdbool.h>

#include "gyre/backend.h"

/* a kernel stays on the device as long as the device and the process allow */
#define CUDA_RESIDENCY_AUTO UINT32_MAX

/** Who combines buffers of several GPUs. */
enum cuda_collectives {
    CUDA_COLLECTIVES_AUTO,
    CUDA_COLLECTIVES_DIRECT,
    CUDA_COLLECTIVES_NCCL,
    CUDA_COLLECTIVES_HOST
};

/** The keys of [backend.cuda], parsed. */
struct cuda_settings {
    uint32_t sms;      /* multiprocessors that all kernels together may use; 0: all */
    uint32_t pause_ns; /* an idle block's pause between two polls */
    /* the longest stay of a kernel at a stretch; 0: unbounded; or CUDA_RESIDENCY_AUTO */
    uint32_t residency_ms;
    /* "0,1" or UUIDs: the driver's devices that are 0, 1, ... here; "": all, in the driver's order */
    char devices[512];
    char compile_for[32];  /* "sm_90": a device that only compiles; "": a device of the driver */
    bool emulate;          /* `driver` is a GPU made of software */
    char driver[PATH_MAX]; /* path of the driver's library; "": the loader's */
    char nvrtc[PATH_MAX];  /* path of the compiler's library; "": by its known names */
    enum cuda_collectives collectives;
    char nccl[PATH_MAX];  /* path of NCCL's library; "": the loader's */
    char parts[PATH_MAX]; /* the folder of the files of cuda_parts.h; "": beside this plugin */
};

/** Reads the parameters. CONFIG when one is wrong, with its origin and what was expected. */
gyre_status cuda_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                               struct cuda_settings *settings);

#endif
