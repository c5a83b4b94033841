/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a kernel for the observation file (observe.h): the counts are those of gyre_kernel_info. */
#include "core/api/observe.h"

#include "core/kernel/observed.h"

void gyre_api_observe(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) == GYRE_OK)
        gyre_kernel_observe(kernel, &info);
}
