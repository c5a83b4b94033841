/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how long handlers of stages ran (opencl_times.h). Takes no lock: the counts have one writer, which the core reads. */
#include "backends/opencl/epochs/opencl_times.h"

#include "gyre/observe.h"

void opencl_times_prepare(struct opencl_timed *timed, gyre_control_region *control, gyre_u32 blocks)
{
    gyre_control_times *times = GYRE_CONTROL_TIMES(control, blocks);
    if (!control->absences.timed || !control->absences.has_times)
        return;
    *timed = (struct opencl_timed){.times = times, .mask = control->absences.timed - 1};
    __atomic_store_n(&times->counts, GYRE_TIMES_LINKS, __ATOMIC_RELEASE); /* pairs with the core's acquire */
}

static void add(gyre_u64 *count, gyre_u64 more)
{
    __atomic_store_n(count, *count + more, __ATOMIC_RELAXED);
}

void opencl_times_count(struct opencl_timed *timed, gyre_u32 messages, gyre_u64 epoch_ns)
{
    gyre_u64 timed_now = 0;
    if (!timed->times)
        return;
    for (gyre_u32 i = 0; i < messages; i++)
        timed_now += (timed->turn++ & timed->mask) == 0;
    if (!timed_now)
        return;
    add(&timed->times->sum_ns, timed_now * epoch_ns);
    add(&timed->times->buckets[gyre_observe_bucket(epoch_ns)], timed_now);
}
