/* SPDX-License-Identifier: Apache-2.0 */
/* The check `memory`: reads of bytes of the reply and the scratch that no lane wrote for this message. */
#ifndef GYRE_CPU_WRITTEN_H
#define GYRE_CPU_WRITTEN_H

#include <stdbool.h>

#include "gyre/dialect/cpu_module.h"

struct cpu_touch;
struct cpu_watched;
struct cpu_worker;

/** Makes the memory for it, with a scratch for each of the blocks; false when there is none. */
bool cpu_written_prepare(struct cpu_watched *watched, const gyre_cpu_kernel *kernel, uint32_t blocks);

/** The lanes begin with a message, or once more with the same one: nothing was written yet, and nothing was touched. */
void cpu_written_begin(struct cpu_worker *worker);

void cpu_written_check(gyre_context *context, const struct cpu_touch *touch);

#endif
