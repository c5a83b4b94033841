/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations of a kernel's file (GYRE_MIGRATE): states of one type made to states of another one. */
#ifndef GYRE_CORE_DURABILITY_MIGRATE_H
#define GYRE_CORE_DURABILITY_MIGRATE_H

#include "core/device/runtime.h"
#include "core/types/types.h"

/** The migration of the kernel's file whose old type has the layout `from`; NULL: there is none. */
const gyre_kernel_record *gyre_migration_from(const gyre_kernel *kernel, const gyre_layout *from);

/**
 * Runs it on the kernel's device, which is not launched yet: `before` is a value of its old type, `after` is what one of
 * its new type is to be, and then is. FAILED when it failed; else what launching a kernel says.
 */
gyre_status gyre_migration_run(const gyre_kernel *kernel, const gyre_kernel_record *migration,
                               const void *before, void *after);

#endif
