/* SPDX-License-Identifier: Apache-2.0 */
/* Handing out requests one by one, to find the one that kills workers. In the thread of the worker's keeper. */
#ifndef GYRE_CORE_RECOVERY_CAREFUL_H
#define GYRE_CORE_RECOVERY_CAREFUL_H

#include "core/recovery/recovery.h"

/**
 * Hands out the unanswered requests in small portions, the suspected one first and alone, until all of them are answered.
 * Then resumes every kernel. LOST when the worker died again; the portion tells which requests are suspected.
 */
gyre_status gyre_recovery_step_by_step(const struct gyre_recovery *recovery);

#endif
