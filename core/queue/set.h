/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a queue with the sets of queues (gyre_queue_set_* in gyre.h) that contain it. The sets are in set.c. */
#ifndef GYRE_CORE_QUEUE_SET_H
#define GYRE_CORE_QUEUE_SET_H

#include "gyre/gyre.h"

/** Removes a queue from all sets, before it is freed. The sets report nothing about it any more. */
void gyre_queue_leave_sets(gyre_queue *queue);

#endif
