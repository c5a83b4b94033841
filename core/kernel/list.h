/* SPDX-License-Identifier: Apache-2.0 */
/* Puts kernels on their runtime's list, and takes them off. Reading the list: visit.h. */
#ifndef GYRE_CORE_KERNEL_LIST_H
#define GYRE_CORE_KERNEL_LIST_H

#include "core/kernel/kernel.h"

/** Lists the kernel and has it watched. INVALID when another kernel took the name meanwhile; EXHAUSTED. */
gyre_status gyre_kernel_list(gyre_kernel *kernel);
/** Shows the listed kernel to applications. */
void gyre_kernel_announce(gyre_kernel *kernel);
/** Takes the kernel off the list. No effect on a kernel that is not listed. */
void gyre_kernel_unlist(gyre_kernel *kernel);

#endif
