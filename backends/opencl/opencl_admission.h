/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many flows of a pipeline are under way, where that is limited (gyre_link_admission). A pump asks before it takes a request
 * of an entry, and whichever pump settles a flow gives its place back. Without a limit these functions read one constant word.
 *
 * Takes no lock. A pump that finds no place and sleeps is woken by the pump that gives the first place back: a pump looks once more
 * after it said that it is parked, so either it sees the place, or the other pump sees that it is parked.
 */
#ifndef GYRE_OPENCL_ADMISSION_H
#define GYRE_OPENCL_ADMISSION_H

#include <stdbool.h>

#include "gyre/link_layout.h"

/** What all flows of the entry have in common. */
const gyre_flow_head *opencl_flow_head(const gyre_link_entry *entry);
/** Whether a request of the entry may be taken now. */
bool opencl_admission_is_open(const gyre_link_entry *entry);
/** Counts a flow that begins. False when as many are under way as may be. */
bool opencl_admission_take(const gyre_link_entry *entry);
/** Counts a flow that has ended, and wakes pumps of entries that may have waited for that. */
void opencl_admission_give(const gyre_link_entry *entry);

#endif
