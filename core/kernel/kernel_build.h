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
enum { GYRE_STAGE_MOST = 33 };
/** What a stage whose flows are counted has besides: of a pipeline that asks; a member of a pool; of a pipeline with rounds; whose links have levels; one of whose types a
 * link leads to. */
enum gyre_stage_has {
    GYRE_STAGE_ASKS = 1,
    GYRE_STAGE_TAKES_WORK = 2,
    GYRE_STAGE_ROUNDS = 4,
    GYRE_STAGE_LEVELS = 8,
    GYRE_STAGE_CHOICES = 16
};
/** gyre_launch_desc.stage of a stage that has so much of it. */
static inline int gyre_stage_with(unsigned has)
{
    return 2 + (int)has;
}
/** Whether a gyre_launch_desc.stage has that. */
static inline bool gyre_stage_knows(int stage, enum gyre_stage_has what)
{
    return stage > 2 && ((unsigned)(stage - 2) & what);
}
/** The gyre_launch_desc.stage that a kernel like the one that was built is launched with. */
static inline int gyre_kernel_stage_of(const gyre_kernel_record *record)
{
    if (record->is_island || record->is_unlimited)
        return record->is_island ? 0 : 1;
    return gyre_stage_with(
        (record->is_unasked ? 0 : GYRE_STAGE_ASKS) | (record->is_poolless ? 0 : GYRE_STAGE_TAKES_WORK) |
        (record->is_roundless ? 0 : GYRE_STAGE_ROUNDS) | (record->is_flat ? 0 : GYRE_STAGE_LEVELS) |
        (record->is_choiceless ? 0 : GYRE_STAGE_CHOICES));
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
