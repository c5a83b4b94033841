/* SPDX-License-Identifier: Apache-2.0 */
/* Hands out requests step by step, to find the request that kills workers. In the thread of the worker's keeper. How:
 * careful.c. */
#ifndef GYRE_CORE_RECOVERY_CAREFUL_H
#define GYRE_CORE_RECOVERY_CAREFUL_H

#include "core/recovery/recovery.h"

/**
 * Hands out the unanswered requests in small portions until all are answered. The suspected request goes first and alone. Then
 * resumes every kernel. LOST when the worker died again; then the requests of the last portion are suspected.
 */
gyre_status gyre_recovery_step_by_step(const struct gyre_recovery *recovery);

#endif
