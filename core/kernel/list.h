/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a runtime's kernels. */
#ifndef GYRE_CORE_KERNEL_LIST_H
#define GYRE_CORE_KERNEL_LIST_H

#include "core/kernel/kernel.h"

/** Into the runtime's list, from where on it is watched. INVALID when another one has its name, which may have come since that was checked. */
gyre_status gyre_kernel_list(gyre_kernel *kernel);
/** From now on it is in the list that applications see. */
void gyre_kernel_announce(gyre_kernel *kernel);
/** Out of the list, if it is there. */
void gyre_kernel_unlist(gyre_kernel *kernel);

#endif
