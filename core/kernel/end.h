/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the device side of a kernel down, for gyre_kernel_terminate and for the release of a kernel. */
#ifndef GYRE_CORE_KERNEL_END_H
#define GYRE_CORE_KERNEL_END_H

#include "core/kernel/kernel.h"

/** Does what gyre_kernel_terminate promises. Under kernel->lock, given up meanwhile. */
gyre_status gyre_kernel_end(gyre_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled);

#endif
