/* SPDX-License-Identifier: Apache-2.0 */
/* How many flows of a pipeline are under way (device_admission.h). */
#include "backends/device/device_admission.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/waiting.h"

static void *at(gyre_u64 address)
{
    return (void *)(uintptr_t)address;
}

const gyre_flow_head *device_flow_head(const gyre_link_entry *entry)
{
    return (const gyre_flow_head *)at(entry->flows) - 1;
}

static gyre_link_admission *admission_of(const gyre_link_entry *entry)
{
    return at(device_flow_head(entry)->admission);
}

bool device_admission_is_open(const gyre_link_entry *entry)
{
    const gyre_link_admission *admission = admission_of(entry);
    /* seq_cst: who parks looks here after its word that it is parked */
    return !admission || __atomic_load_n(&admission->under_way, __ATOMIC_SEQ_CST) < admission->window;
}

bool device_admission_take(const gyre_link_entry *entry)
{
    gyre_link_admission *admission = admission_of(entry);
    if (!admission)
        return true;
    gyre_u32 count = __atomic_load_n(&admission->under_way, __ATOMIC_RELAXED);
    while (count < admission->window)
        if (__atomic_compare_exchange_n(&admission->under_way, &count, count + 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

void device_admission_give(const gyre_link_entry *entry)
{
    gyre_link_admission *admission = admission_of(entry);
    /* only who gave the first place back wakes: before that, who looks finds none */
    if (!admission || __atomic_fetch_sub(&admission->under_way, 1, __ATOMIC_SEQ_CST) != admission->window)
        return;
    for (gyre_u32 i = 0; i < admission->control_count; i++) {
        gyre_control_region *control = at(admission->controls[i]);
        if (__atomic_load_n(&control->device.parked, __ATOMIC_SEQ_CST))
            gyre_bell_ring(&control->doorbell.bell, INT_MAX);
    }
}
