/* SPDX-License-Identifier: Apache-2.0 */
/* See opencl_reminders.h. Takes no lock. */
#include "backends/opencl/residents/opencl_reminders.h"

#include "gyre/keyed_layout.h"
#include "gyre/waiting.h"
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/epochs/opencl_report.h"

/* By ticks: no time was announced yet. Before all that an earlier start of the machine left. */
#define NO_TIME INT64_MIN
#define LOOK_NS 10000000

static bool has_ticks(const gyre_resident *resident)
{
    return resident->control->command.by_ticks;
}

gyre_status opencl_reminders_check(const gyre_resident *resident)
{
    const struct opencl_kernel *kernel = resident->kernel;
    const gyre_host *host = resident->device->host;
    if (!kernel->record.reminds)
        return GYRE_OK;
    if (resident->device->settings.stay)
        return host->error(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is a keyed actor with GYRE_REMINDED, and one that stays reminds no keys "
            "yet: launch it on backend 'cpu' or 'cuda', or leave mode = resident out",
            kernel->record.name);
    if (kernel->record.flow_size)
        return host->error(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is a keyed actor with GYRE_REMINDED and GYRE_FLOW, and here reminders have no "
            "memory of flows yet: launch it on backend 'cpu'",
            kernel->record.name);
    return GYRE_OK;
}

void opencl_reminders_forget(gyre_resident *resident)
{
    resident->due_ns = 0;
}

/* Tells the core when it has to announce a time. Relaxed: it looks again and again. */
static void tell_due(const gyre_resident *resident)
{
    gyre_control_block *line = (gyre_control_block *)(resident->control + 1);
    const int64_t due_ns = resident->due_ns == GYRE_KEYED_NO_DUE ? 0
                           : resident->due_ns == 0               ? -1 /* 0 means that no key has a reminder */
                                                                 : resident->due_ns;
    __atomic_store_n(&line->due_ns, due_ns, __ATOMIC_RELAXED);
}

/* In a stream some epoch is always under way, and a look at a device's own memory takes as long as one. */
static bool may_look(const gyre_resident *resident)
{
    return resident->in_flight == 0 || resident->device->direct ||
           gyre_clock_ns() - resident->looked_ns > LOOK_NS;
}

/* What the device said at the end of its last epoch, as a time. */
static int64_t told_due(const gyre_resident *resident)
{
    const gyre_u32 *words = &resident->log->head.reserved[GYRE_EPOCH_LEFT_WORD];
    const int64_t left_ns = (int64_t)((uint64_t)words[1] << 32 | words[0]);
    if (left_ns == GYRE_KEYED_NO_DUE || has_ticks(resident))
        return left_ns;
    const int64_t now_ns = (int64_t)gyre_clock_ns(), last_ns = GYRE_KEYED_NO_DUE - 1;
    return left_ns > last_ns - now_ns ? last_ns : now_ns + left_ns; /* the last time never comes */
}

/*
 * While an epoch is under way, what is told may be of one long ago: then it only makes the time earlier, which does no harm, since the
 * device knows better.
 */
void opencl_reminders_look(gyre_resident *resident)
{
    if (!resident->kernel->record.reminds || !resident->due_stale || !may_look(resident) ||
        !opencl_log_read_head(resident))
        return;
    const int64_t due_ns = told_due(resident);
    const bool ended = resident->in_flight == 0;
    resident->looked_ns = gyre_clock_ns();
    resident->due_stale = !ended;
    if (ended || due_ns < resident->due_ns)
        resident->due_ns = due_ns;
    if (has_ticks(resident))
        tell_due(resident);
}

/*
 * By ticks: the time up to which keys may be reminded, which is that of the last tick, once no request is left that may have been sent
 * before it.
 */
static int64_t time_of_ticks(const gyre_resident *resident)
{
    int64_t time_ns = NO_TIME;
    for (uint32_t i = 0; i < resident->queue_count; i++) {
        const struct opencl_queue *queue = &resident->queues[i];
        if (!queue->memory || queue->slots.foreign & GYRE_FOREIGN_RING)
            continue;
        const gyre_queue_host *host = &queue->memory->region->host;
        /* pairs with the host's release: the index is that of this tick, or a later one's */
        const uint64_t tick_ns = __atomic_load_n(&host->tick_ns, __ATOMIC_ACQUIRE);
        const uint64_t index = __atomic_load_n(&host->tick_index, __ATOMIC_RELAXED);
        if (tick_ns && (gyre_i64)(queue->next - index) >= 0)
            time_ns = (int64_t)tick_ns;
    }
    return time_ns;
}

bool opencl_reminders_are_due(const gyre_resident *resident)
{
    const int64_t due_ns = resident->due_ns;
    if (!resident->kernel->record.reminds || due_ns == GYRE_KEYED_NO_DUE)
        return false;
    return due_ns == 0 ||
           (has_ticks(resident) ? time_of_ticks(resident) : (int64_t)gyre_clock_ns()) >= due_ns;
}

uint64_t opencl_reminders_wake_ns(const gyre_resident *resident)
{
    if (!resident->kernel->record.reminds || resident->due_ns == GYRE_KEYED_NO_DUE || has_ticks(resident))
        return UINT64_MAX;
    return resident->due_ns < 0 ? 0 : (uint64_t)resident->due_ns;
}

gyre_status opencl_remind(gyre_resident *resident)
{
    struct opencl_epoch nothing = {.reminds = true,
                                   .remind_ns = has_ticks(resident) ? time_of_ticks(resident) : 0};
    const gyre_status status = opencl_run_nothing(resident, &nothing);
    resident->log_stale = true; /* a reminder may have logged */
    if (status == GYRE_OK)
        opencl_reminders_look(resident);
    return status;
}
