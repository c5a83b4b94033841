/* SPDX-License-Identifier: Apache-2.0 */
/* PoCL: its needs before it is asked for its devices, and its ways to run work-groups. Private to this folder. */
#ifndef GYRE_OPENCL_POCL_H
#define GYRE_OPENCL_POCL_H

#include "opencl_backend.h"

/** Whether the platform is PoCL, for which the backend does some things in another way. */
bool opencl_is_pocl(const struct opencl_loader *cl, cl_platform_id platform);

/**
 * Before the platform is asked for its devices, if it is PoCL: chooses how work-groups are taken, in the environment, where
 * the user has not. UNAVAILABLE with the reason when it would not get its threads now and, unless this process may end
 * (`expendable`), would end it.
 */
gyre_status opencl_pocl_prepare(const gyre_host *host, const struct opencl_loader *cl,
                                cl_platform_id platform, bool expendable);

/** The way in which it runs work-groups, on which its binaries depend; "" before a PoCL was prepared. */
const char *opencl_pocl_method(void);
/** Which kernels whose lanes meet at barriers a platform compiles right. */
enum opencl_meeting {
    OPENCL_MEETS_OPTIMIZED, /* all: another platform, or a PoCL and a way in which nothing wrong was seen */
    OPENCL_MEETS_PLAIN,     /* the kernels that are compiled without its optimizer */
    OPENCL_MEETS_BADLY      /* some are wrong in any case */
};
enum opencl_meeting opencl_pocl_meeting(const struct opencl_loader *cl, cl_platform_id platform);

#endif
