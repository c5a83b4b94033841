/* SPDX-License-Identifier: Apache-2.0 */
/* What PoCL needs before it is asked for its devices, and how it takes work-groups. Private to this folder. */
#ifndef GYRE_OPENCL_POCL_H
#define GYRE_OPENCL_POCL_H

#include "opencl_backend.h"

/** Whether it is PoCL, in whose way some things are done. */
bool opencl_is_pocl(const struct opencl_loader *cl, cl_platform_id platform);

/**
 * Before the platform is asked for its devices, if it is PoCL: chooses how work-groups are taken, in the environment, where
 * the user has not. UNAVAILABLE with the reason when it would not get its threads now and, unless this process may end
 * (`expendable`), would end it.
 */
gyre_status opencl_pocl_prepare(const gyre_host *host, const struct opencl_loader *cl,
                                cl_platform_id platform, bool expendable);

/** How it takes work-groups, which what it compiles depends on; "" before a PoCL was prepared. */
const char *opencl_pocl_method(void);
/** What a platform makes right of the kernels whose lanes meet at barriers. */
enum opencl_meeting {
    OPENCL_MEETS_OPTIMIZED, /* all: another platform, or a PoCL and a way in which nothing wrong was seen */
    OPENCL_MEETS_PLAIN,     /* those that its optimizer did not see */
    OPENCL_MEETS_BADLY      /* some are wrong in any case */
};
enum opencl_meeting opencl_pocl_meeting(const struct opencl_loader *cl, cl_platform_id platform);

#endif
