/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a kernel from its source, with the settings of its name: for a launch, and for a handler that takes another one's place. */
#ifndef GYRE_CORE_KERNEL_KERNEL_BUILD_H
#define GYRE_CORE_KERNEL_KERNEL_BUILD_H

#include "core/kernel/kernel.h"
#include "gyre/pipeline.h"

/**
 * Builds the source of the descriptor, or the configured one, for kernel->dispatch with the settings of kernel->name. Sets
 * kernel->build, also where the file has not the kernel that is asked for, and kernel->record.
 */
gyre_status gyre_kernel_build(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** The largest gyre_launch_desc.stage. */
enum {
    GYRE_STAGE_MOST = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ASKS + GYRE_STAGE_WITH_POOL +
                      GYRE_STAGE_WITH_ROUNDS + GYRE_STAGE_WITH_LEVELS + GYRE_STAGE_WITH_CHOICES
};
/** Whether a gyre_launch_desc.stage has `what`, a GYRE_STAGE_WITH_... */
static inline bool gyre_stage_knows(int stage, int what)
{
    return stage > GYRE_STAGE_COUNTED && ((stage - GYRE_STAGE_COUNTED) & what);
}
/** The gyre_launch_desc.stage that a kernel like the one that was built is launched with. */
static inline int gyre_kernel_stage_of(const gyre_kernel_record *record)
{
    if (record->is_island || record->is_unlimited)
        return record->is_island ? 0 : GYRE_STAGE_LINKED;
    return GYRE_STAGE_COUNTED + (record->is_unasked ? 0 : GYRE_STAGE_WITH_ASKS) +
           (record->is_poolless ? 0 : GYRE_STAGE_WITH_POOL) +
           (record->is_roundless ? 0 : GYRE_STAGE_WITH_ROUNDS) +
           (record->is_flat ? 0 : GYRE_STAGE_WITH_LEVELS) +
           (record->is_choiceless ? 0 : GYRE_STAGE_WITH_CHOICES);
}
/**
 * Opens the device and builds a kernel whose name the descriptor may leave out. Then only the build tells the name of the file's
 * only kernel. If the section of that name asks for another build, the kernel is built again.
 */
gyre_status gyre_kernel_build_by_name(gyre_kernel *kernel, const gyre_launch_desc *desc);
/**
 * Checks the options of a file that `gyre compile` made, because a launch cannot change them. A file without the kernel's own
 * options is refused, because its handler might answer something else. A file without a switch for headers, seals, times or
 * wires only lacks these, so a warning is logged.
 */
gyre_status gyre_kernel_check_compiled(const gyre_kernel *kernel);

#endif
