/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a kernel for the observation file of the process. */
#ifndef GYRE_CORE_API_OBSERVE_H
#define GYRE_CORE_API_OBSERVE_H

#include "gyre/gyre.h"

/** Copies what the kernel and its queues count into the file. Takes the kernel's lock. */
void gyre_api_observe(gyre_kernel *kernel);

#endif
