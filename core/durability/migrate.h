/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and runs migrations: functions in a kernel's file (GYRE_MIGRATE) that convert a state from one type to another. */
#ifndef GYRE_CORE_DURABILITY_MIGRATE_H
#define GYRE_CORE_DURABILITY_MIGRATE_H

#include "core/device/runtime.h"
#include "core/types/types.h"

/** The migration in the kernel's file whose old type has the layout `from`, or NULL. */
const gyre_kernel_record *gyre_migration_from(const gyre_kernel *kernel, const gyre_layout *from);

/**
 * Runs the migration on the device of the kernel, which is not launched yet. `before` is a value of the old type. `after`
 * is a value of the new type: the migration's starting point, and afterwards its result. FAILED when the migration
 * failed; else the errors of a launch.
 */
gyre_status gyre_migration_run(const gyre_kernel *kernel, const gyre_kernel_record *migration,
                               const void *before, void *after);

#endif
