/* SPDX-License-Identifier: Apache-2.0 */
/* A child that the process forked, and what it knows of the runtimes of its parent. */
#ifndef GYRE_CORE_KERNEL_FORKED_H
#define GYRE_CORE_KERNEL_FORKED_H

#include "core/device/runtime.h"

/** From now on a forked child knows that it is not its own. */
void gyre_runtime_enlist(gyre_runtime *runtime);
/** No effect on one that is not listed. */
void gyre_runtime_unlist(gyre_runtime *runtime);

#endif
