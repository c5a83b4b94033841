/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PoCL, a platform that runs on processors: what it needs before it is asked for its devices, and its methods
 * to run work-groups. Private to this folder.
 */
#ifndef GYRE_OPENCL_POCL_H
#define GYRE_OPENCL_POCL_H

#include "backends/opencl/opencl_backend.h"

/** Whether the platform is PoCL, which the backend treats differently in some things. */
bool opencl_is_pocl(const struct opencl_loader *cl, cl_platform_id platform);

/**
 * Called before a platform is asked for its devices; does nothing unless it is PoCL. Chooses the method to
 * run work-groups, in the environment, unless the user has chosen one. UNAVAILABLE with the reason when PoCL
 * would not get its threads now and would end this process, unless the process may end (`expendable`).
 */
gyre_status opencl_pocl_prepare(const gyre_host *host, const struct opencl_loader *cl,
                                cl_platform_id platform, bool expendable);

/** The method by which PoCL runs work-groups, on which its binaries depend; "" before a PoCL was prepared. */
const char *opencl_pocl_method(void);
/** Which kernels a platform compiles right, of those whose lanes meet at barriers. */
enum opencl_meeting {
    OPENCL_MEETS_OPTIMIZED, /* all: another platform, or a version and method of PoCL without known errors */
    OPENCL_MEETS_PLAIN,     /* kernels that are compiled without the optimizer */
    OPENCL_MEETS_BADLY      /* some kernels are wrong in any case */
};
enum opencl_meeting opencl_pocl_meeting(const struct opencl_loader *cl, cl_platform_id platform);

/**
 * Called before a text, or a binary of it, is built. On PoCL, waits until no other process builds the same text: PoCL writes
 * both into one folder of its cache, and may fail, make a torn binary or end the process. The wait is bounded. Returns what
 * opencl_pocl_end_build takes.
 */
int opencl_pocl_begin_build(const gyre_device *device, const char *text);
/** Called after the last look at what was built. */
void opencl_pocl_end_build(int lock);

#endif
