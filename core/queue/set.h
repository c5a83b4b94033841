/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of queues: gyre_queue_set_* in gyre.h. */
#ifndef GYRE_CORE_QUEUE_SET_H
#define GYRE_CORE_QUEUE_SET_H

#include "gyre/gyre.h"

/** The queue leaves the sets that it is in: nobody is told of it any more. */
void gyre_queue_leave_sets(gyre_queue *queue);

#endif
