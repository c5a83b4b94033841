/* SPDX-License-Identifier: Apache-2.0 */
/* How far a request can come (gyre_acknowledgement). */
#ifndef GYRE_CORE_STAGES_AWAIT_H
#define GYRE_CORE_STAGES_AWAIT_H

#include "gyre/gyre.h"

/** Whether requests of the queue can ever come as far as `level`. INVALID with the reason. */
gyre_status gyre_queue_can_reach(const gyre_queue *queue, gyre_acknowledgement level);

#endif
