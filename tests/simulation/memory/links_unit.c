/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_links.c, with a door to what a sender that is no worker needs of it. */
#include <backends/cpu/cpu_links.c>

#include "links_unit.h"

void links_unit_ring_bells(struct cpu_worker *worker)
{
    ring_bells(worker);
}
