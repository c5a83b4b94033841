/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a kernel from its source, with the settings of its name: for a launch, and for a handler that takes another one's place. */
#ifndef GYRE_CORE_KERNEL_KERNEL_BUILD_H
#define GYRE_CORE_KERNEL_KERNEL_BUILD_H

#include "core/kernel/kernel.h"

/**
 * Builds the source of the descriptor, or the configured one, for kernel->dispatch with the settings of kernel->name. Sets
 * kernel->build, also where the file has not the kernel that is asked for, and kernel->record.
 */
gyre_status gyre_kernel_build(gyre_kernel *kernel, const gyre_launch_desc *desc);
/** The largest gyre_launch_desc.stage. */
enum { GYRE_STAGE_MOST = 5 };
/** gyre_launch_desc.stage of a stage whose flows are counted, which is one of a pipeline that asks, a member of a pool, both or neither. */
static inline int gyre_stage_with(bool asks, bool takes_work)
{
    return 2 + (asks ? 1 : 0) + (takes_work ? 2 : 0);
}
static inline bool gyre_stage_asks(int stage)
{
    return stage > 2 && ((stage - 2) & 1);
}
static inline bool gyre_stage_takes_work(int stage)
{
    return stage > 2 && ((stage - 2) & 2);
}
/** The gyre_launch_desc.stage that a kernel like the one that was built is launched with. */
static inline int gyre_kernel_stage_of(const gyre_kernel_record *record)
{
    if (record->is_island || record->is_unlimited)
        return record->is_island ? 0 : 1;
    return gyre_stage_with(!record->is_unasked, !record->is_poolless);
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
