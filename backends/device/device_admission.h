/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many flows of a pipeline are under way, where that is limited (gyre_link_admission) and threads of this process count them:
 * blocks of the CPU backend, pumps of the OpenCL backend. Each asks before it takes a request of an entry, and whoever settles a flow
 * gives its place back. Without a limit these functions read one constant word.
 *
 * Takes no lock. Who finds no place and sleeps is woken by whoever gives the first one back: who parks looks once more after it said
 * that it is parked, so either it sees the place, or the other one sees that it is parked.
 */
#ifndef GYRE_DEVICE_ADMISSION_H
#define GYRE_DEVICE_ADMISSION_H

#include <stdbool.h>

#include "gyre/link_layout.h"

/** What all flows of the entry have in common. */
const gyre_flow_head *device_flow_head(const gyre_link_entry *entry);
/** Whether a request of the entry may be taken now. */
bool device_admission_is_open(const gyre_link_entry *entry);
/** Counts a flow that begins. False when as many are under way as may be. */
bool device_admission_take(const gyre_link_entry *entry);
/** Counts a flow that has ended, and wakes who serves entries that may have waited for that. */
void device_admission_give(const gyre_link_entry *entry);

#endif
