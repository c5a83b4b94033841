/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that launch a kernel, wait for its end, and free it. */
#ifndef GYRE_CPU_LAUNCH_H
#define GYRE_CPU_LAUNCH_H

#include "backends/cpu/cpu_backend.h"

gyre_status cpu_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status cpu_wait(gyre_resident *resident, uint64_t deadline_ns);
/** Handles what waits in the queues of a resident in the calling thread; UNIMPLEMENTED: it has no seat for that thread. */
gyre_status cpu_help(gyre_resident *resident);
void cpu_release(gyre_resident *resident);

#endif
