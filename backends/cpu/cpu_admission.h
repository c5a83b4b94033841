/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many flows of a pipeline are under way, where that is limited (gyre_link_admission). A block asks before it takes a
 * request of an entry, and whoever settles a flow gives its place back. Without a limit these functions read one constant word.
 *
 * Takes no lock. Who finds no place and sleeps is woken by whoever gives the first one back: the blocks of an entry look once more
 * after they said that they are parked, so either they see the place, or the other one sees that they are parked.
 */
#ifndef GYRE_CPU_ADMISSION_H
#define GYRE_CPU_ADMISSION_H

#include <stdbool.h>

#include "gyre/link_layout.h"

/** What all flows of the entry have in common. */
const gyre_flow_head *cpu_flow_head(const gyre_link_entry *entry);
/** Whether a request of the entry may be taken now. */
bool cpu_admission_is_open(const gyre_link_entry *entry);
/** Counts a flow that begins. False when as many are under way as may be. */
bool cpu_admission_take(const gyre_link_entry *entry);
/** Counts a flow that has ended, and wakes blocks of entries that may have waited for that. */
void cpu_admission_give(const gyre_link_entry *entry);

#endif
