/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the histogram that a kernel's blocks count in device memory into its control region, where the core reads it. What is
 * new since the last copy is added: the region also has what an earlier worker process counted there.
 *
 * Has no lock of its own: the caller is the monitor, which holds residents->lock. Must not wait for a kernel, nor for other
 * threads' transfers. The words in the region have one writer, so they are relaxed, without read-modify-writes.
 */
#include "backends/cuda/presence/cuda_service.h"
#include "backends/cuda/residents/cuda_times.h"

#include <stdlib.h>

#include "gyre/waiting.h"

#define COPY_NS UINT64_C(100000000) /* least time between two copies */

/*
 * A block's count of messages may arrive before its last additions to the histogram, which nothing orders. So a change of that
 * count is followed by two copies.
 */
enum { COPIES_DUE = 2 };

struct cuda_times {
    gyre_control_times seen, copy;
    uint64_t handled, copied_ns;
    uint32_t due; /* copies that are still to be made */
};

void cuda_times_prepare(gyre_resident *resident)
{
    const gyre_control_absences *wanted = &resident->control->absences;
    if (wanted->timed && wanted->has_times)
        resident->times = calloc(1, sizeof *resident->times);
    if (resident->times)
        __atomic_store_n(&GYRE_CONTROL_TIMES(resident->control, resident->blocks)->counts, GYRE_TIMES_ALL,
                         __ATOMIC_RELEASE); /* pairs with the core's acquire */
}

void cuda_times_finish(gyre_resident *resident)
{
    free(resident->times);
    resident->times = NULL;
}

uint32_t cuda_times_word(const gyre_resident *resident)
{
    return resident->times ? (uint32_t)(resident->times_offset - resident->log_offset) : 0;
}

static void add_new(gyre_u64 *told, gyre_u64 now, gyre_u64 before)
{
    if (now != before)
        __atomic_store_n(told, *told + (now - before), __ATOMIC_RELAXED);
}

static void tell(const gyre_resident *resident)
{
    struct cuda_times *times = resident->times;
    gyre_control_times *told = GYRE_CONTROL_TIMES(resident->control, resident->blocks);
    add_new(&told->sum_ns, times->copy.sum_ns, times->seen.sum_ns);
    for (uint32_t i = 0; i < GYRE_TIMES_BUCKETS; i++)
        add_new(&told->buckets[i], times->copy.buckets[i], times->seen.buckets[i]);
    times->seen = times->copy;
}

void cuda_times_look(gyre_resident *resident)
{
    struct cuda_times *times = resident->times;
    if (!times)
        return;
    const uint64_t handled = cuda_resident_handled(resident), now = gyre_clock_ns();
    if (handled != times->handled)
        times->due = COPIES_DUE;
    times->handled = handled;
    if (!times->due || now - times->copied_ns < COPY_NS)
        return;
    if (!cuda_service_try_read(resident->device, &times->copy, resident->memory + resident->times_offset,
                               sizeof times->copy, "how long handlers ran is looked at again in a moment"))
        return;
    times->copied_ns = now;
    times->due--;
    tell(resident);
}
