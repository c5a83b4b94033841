/* SPDX-License-Identifier: Apache-2.0 */
/* Marks runtimes as foreign in a forked child, because the child may not use its parent's runtimes. Why: forked.c. */
#ifndef GYRE_CORE_KERNEL_FORKED_H
#define GYRE_CORE_KERNEL_FORKED_H

#include "core/device/runtime.h"

/** From now on a fork marks the runtime as foreign in the child. */
void gyre_runtime_enlist(gyre_runtime *runtime);
/** Undoes gyre_runtime_enlist. No effect on a runtime that is not enlisted. */
void gyre_runtime_unlist(gyre_runtime *runtime);

#endif
