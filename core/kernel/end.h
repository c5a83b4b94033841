/* SPDX-License-Identifier: Apache-2.0 */
/* Ending the device side of a kernel. */
#ifndef GYRE_CORE_KERNEL_END_H
#define GYRE_CORE_KERNEL_END_H

#include "core/kernel/kernel.h"

/** As gyre_kernel_terminate, under the lock, which is given up meanwhile. */
gyre_status gyre_kernel_end(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled);

#endif
