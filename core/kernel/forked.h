/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes in a child that the process forked, which may not use them. */
#ifndef GYRE_CORE_KERNEL_FORKED_H
#define GYRE_CORE_KERNEL_FORKED_H

#include "core/device/runtime.h"

/** From now on the runtime is marked as foreign in a forked child. */
void gyre_runtime_enlist(gyre_runtime *runtime);
/** Undoes gyre_runtime_enlist. No effect on a runtime that is not enlisted. */
void gyre_runtime_unlist(gyre_runtime *runtime);

#endif
