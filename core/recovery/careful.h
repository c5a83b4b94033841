/* SPDX-License-Identifier: Apache-2.0 */
/* Handing out requests one by one, after deaths of worker processes. In the thread of a device's keeper. */
#ifndef GYRE_CORE_RECOVERY_CAREFUL_H
#define GYRE_CORE_RECOVERY_CAREFUL_H

#include "core/recovery/recovery.h"

/**
 * Hands out the unanswered requests in small portions, the suspected one first and alone, until all that were
 * there are answered. Then every kernel is resumed. LOST when the worker died; what it saw tells why.
 */
gyre_status gyre_recovery_step_by_step(const struct gyre_recovery *recovery);

#endif
