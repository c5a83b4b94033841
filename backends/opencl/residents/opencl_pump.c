/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pump's loop: obey the control word, send ready requests to the device, complete epochs (batches of
 * requests) that came back, wait when there is nothing to do. Each kernel has its own thread for it, so that
 * a slow handler of one kernel keeps no other kernel waiting.
 *
 * Takes no lock. The pump obeys a command when no epoch is under way: while the kernel is paused, the pump
 * touches only its own memory.
 */
#include "backends/opencl/epochs/opencl_bridge.h"
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/epochs/opencl_epoch.h"
#include "backends/opencl/links/opencl_links.h"
#include "backends/opencl/links/opencl_ports.h"
#include "backends/opencl/residents/opencl_pump.h"
#include "backends/opencl/residents/opencl_reminders.h"
#include "backends/opencl/epochs/opencl_report.h"
#include "backends/opencl/epochs/opencl_tell.h"
#include "backends/opencl/opencl_memory.h"
#include "backends/opencl/opencl_wait.h"

#include <limits.h>

#include "gyre/waiting.h"

enum {
    YIELDS = 16,           /* turns of adaptive idling between spinning and parking */
    PARK_TURNS = 200,      /* looks of a parking strategy before it sleeps: a request may be on its way */
    TURNS_PER_LOG = 65536, /* strategies that never park: looks at queues between two looks at the log */
    YIELDS_PER_LOG = 512
};

/* ---- queues ---- */

static void read_table(gyre_resident *resident)
{
    const gyre_control_region *control = resident->control;
    resident->queue_count = __atomic_load_n(&control->command.queue_count, __ATOMIC_ACQUIRE);
    resident->bound_queue = NULL; /* the queue's memory may be gone, and another queue may get its address */
    for (uint32_t i = 0; i < resident->queue_count && i < GYRE_QUEUES_MAX; i++) {
        const gyre_control_queue *entry = &control->queues[i];
        struct opencl_queue *queue = &resident->queues[i];
        gyre_u64 address =
            __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE); /* read first: pairs with its release */
        gyre_u64 serial = __atomic_load_n(&entry->serial, __ATOMIC_RELAXED);
        if (queue->serial == serial && queue->address == address)
            continue;
        *queue = (struct opencl_queue){.address = address,
                                       .memory = opencl_queue_find(resident->device, address),
                                       .serial = serial,
                                       .next = __atomic_load_n(&entry->first, __ATOMIC_RELAXED)};
        if (queue->memory) {
            queue->slots = entry->slots;
            queue->bridge = entry->bridge;
        }
    }
}

static bool has_work(gyre_resident *resident, gyre_u64 command)
{
    if (__atomic_load_n(&resident->control->command.command, __ATOMIC_RELAXED) != command)
        return true;
    if (GYRE_COMMAND_VERB(command) != GYRE_VERB_RUN)
        return false;
    if (opencl_reminders_are_due(resident))
        return true;
    if (resident->links)
        return opencl_links_have_work(resident);
    for (uint32_t i = 0; i < resident->queue_count; i++)
        if (resident->queues[i].memory && opencl_ready(resident, &resident->queues[i], 1))
            return true;
    return false;
}

/* ---- waiting ---- */

/* A wait of the pump, with the state that it compares for news. */
struct wait {
    gyre_resident *resident;
    gyre_u64 command;
    uint64_t starved; /* while the pump parks: a bit for each queue without room for replies */
};

static int find_work(void *context)
{
    const struct wait *wait = context;
    return has_work(wait->resident, wait->command);
}

/*
 * Returns a bit for each queue without room for replies; none while the kernel is paused: queues may be
 * closed then, and the pump does not learn which.
 */
static uint64_t starved_queues(gyre_resident *resident, gyre_u64 command)
{
    return GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN ? opencl_bridge_starved(resident) : 0;
}

/*
 * Whether the pump must wake. A request that came since the pump parked and finds no room for its reply
 * counts, too: its client must be told first.
 */
static int find_news(void *context)
{
    const struct wait *wait = context;
    return has_work(wait->resident, wait->command) ||
           starved_queues(wait->resident, wait->command) != wait->starved;
}

/* As gyre_idle_park, until a time at most. */
static void sleep_parked(struct wait *wait, uint64_t until_ns)
{
    const gyre_resident *resident = wait->resident;
    gyre_control_region *control = resident->control;
    uint32_t seen;
    __atomic_fetch_add(&control->device.parked, 1, __ATOMIC_SEQ_CST);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(resident->light_barriers && resident->idle != GYRE_IDLE_PARK);
    gyre_idle_sleep(find_news, wait, &control->doorbell.bell, parked_ns, until_ns, &seen);
    __atomic_fetch_sub(&control->device.parked, 1, __ATOMIC_SEQ_CST);
}

static void park_pump(struct wait *wait)
{
    gyre_resident *resident = wait->resident;
    opencl_log_drain(resident, true);
    wait->starved = starved_queues(resident, wait->command);
    opencl_bridge_tell(resident, wait->starved, 1);
    if (resident->links)
        opencl_ports_tell_starved(resident, GYRE_COMMAND_VERB(wait->command) == GYRE_VERB_RUN);
    sleep_parked(wait, GYRE_COMMAND_VERB(wait->command) == GYRE_VERB_RUN ? opencl_reminders_wake_ns(resident)
                                                                         : UINT64_MAX);
    opencl_bridge_tell(resident, wait->starved, UINT32_MAX);
    if (resident->links)
        opencl_ports_tell_starved(resident, false);
}

static void wait_for_work(gyre_resident *resident, gyre_u64 command)
{
    struct wait wait = {.resident = resident, .command = command};
    bool found = false;
    if (GYRE_COMMAND_VERB(command) != GYRE_VERB_RUN) {
        park_pump(&wait); /* a paused kernel costs nothing */
        return;
    }
    opencl_reminders_look(resident);
    switch (resident->idle) {
    case GYRE_IDLE_SPIN:
        gyre_idle_spin(find_work, &wait, TURNS_PER_LOG);
        opencl_log_drain(resident, false);
        return;
    case GYRE_IDLE_YIELD:
        gyre_idle_yield(find_work, &wait, YIELDS_PER_LOG);
        opencl_log_drain(resident, false);
        return;
    case GYRE_IDLE_PARK:
        found = gyre_idle_spin(find_work, &wait, PARK_TURNS);
        break;
    default:
        found = gyre_idle_spin_politely(find_work, &wait, &resident->patience, resident->spin_turns) ||
                gyre_idle_yield(find_work, &wait, YIELDS);
    }
    if (!found)
        park_pump(&wait);
}

/* ---- the loop ---- */

static gyre_status collect_all(gyre_resident *resident)
{
    gyre_status status = GYRE_OK;
    while (resident->in_flight > 0 && status == GYRE_OK)
        status = opencl_collect(resident);
    return status;
}

/* Obeys a command. No epoch is under way. The acknowledgement's release pairs with the core's acquire. */
static void obey_command(gyre_resident *resident, gyre_u64 command)
{
    gyre_control_region *control = resident->control;
    gyre_control_block *lines = (gyre_control_block *)(control + 1);
    if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN)
        read_table(resident);
    opencl_reminders_forget(resident);
    if (resident->links)
        opencl_links_obey(resident, command);
    for (uint32_t i = 0; i < resident->blocks; i++)
        __atomic_store_n(&lines[i].acknowledged, command, __ATOMIC_RELEASE);
    gyre_bell_ring(&control->device.acknowledge_bell, INT_MAX);
}

static uint32_t count_to_send(const gyre_resident *resident, struct opencl_queue *queue)
{
    const uint32_t ready = queue->memory ? opencl_ready(resident, queue, resident->limit) : 0;
    return ready ? opencl_share(resident, queue, ready) : 0;
}

/*
 * Sends an epoch for each queue that has enough requests, as long as there are places for epochs. Sets *sent
 * if it sent any.
 */
static gyre_status submit_round(gyre_resident *resident, gyre_u64 command, bool *sent)
{
    gyre_status status = GYRE_OK;
    const uint32_t places = resident->device->settings.epochs, count = resident->queue_count;
    for (uint32_t i = 0; i < count && status == GYRE_OK && resident->in_flight < places; i++) {
        struct opencl_queue *queue = &resident->queues[resident->turn++ % count];
        const uint32_t wanted = count_to_send(resident, queue);
        if (!wanted)
            continue;
        status = opencl_submit(resident, queue, wanted, command);
        *sent = true;
    }
    return status;
}

static bool may_submit(gyre_resident *resident)
{
    for (uint32_t i = 0; i < resident->queue_count; i++)
        if (count_to_send(resident, &resident->queues[i]))
            return true;
    return false;
}

/*
 * Waits until the oldest epoch is complete, or until a queue has enough requests for an epoch. Called while
 * epochs are under way and no queue is worth an epoch. The replies of a direct device are there before their
 * epoch ends, and new requests make the next epoch.
 */
static gyre_status await_change(gyre_resident *resident)
{
    const gyre_device *device = resident->device;
    struct opencl_patience patience = {0};
    if (device->direct || resident->in_flight == device->settings.epochs)
        return opencl_collect(resident);
    while (!opencl_oldest_is_done(resident) && !may_submit(resident))
        opencl_pause(device, &patience);
    return GYRE_OK;
}

/* Serves the queues of a running kernel once. GYRE_OK or LOST. */
static gyre_status serve_queues(gyre_resident *resident, gyre_u64 command)
{
    gyre_status status = GYRE_OK;
    bool sent = false;
    while (status == GYRE_OK && resident->in_flight > 0 && opencl_oldest_is_done(resident))
        status = opencl_collect(resident);
    if (status == GYRE_OK)
        status = submit_round(resident, command, &sent);
    if (status != GYRE_OK)
        return status;
    if (!sent && resident->in_flight > 0)
        status = await_change(resident);
    else if (!sent)
        wait_for_work(resident, command);
    opencl_log_drain(resident, false);
    return status;
}

/* Serves the links and queues of a kernel that can be a stage of a pipeline, once. GYRE_OK or LOST. */
static gyre_status serve_links(gyre_resident *resident, gyre_u64 command)
{
    bool served = false;
    const gyre_status status = opencl_links_serve(resident, command, &served);
    if (status == GYRE_OK && !served)
        wait_for_work(resident, command);
    opencl_log_drain(resident, false);
    return status;
}

/* Reminds keys that are due, and serves links and queues once. */
static gyre_status serve(gyre_resident *resident, gyre_u64 command)
{
    gyre_status status = GYRE_OK;
    if (opencl_reminders_are_due(resident)) {
        status = collect_all(resident);
        if (status == GYRE_OK)
            status = opencl_remind(resident);
    }
    if (status == GYRE_OK)
        status = resident->links ? serve_links(resident, command) : serve_queues(resident, command);
    if (status == GYRE_OK)
        opencl_reminders_look(resident);
    return status;
}

/*
 * Wakes all waiters of the dead device, which then give up. Reads the table of queues anew, because a queue
 * may have come since.
 */
static void ring_all(const gyre_resident *resident)
{
    const gyre_control_region *control = resident->control;
    const uint32_t count = __atomic_load_n(&control->command.queue_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < GYRE_QUEUES_MAX; i++) {
        const gyre_u64 address = __atomic_load_n(&control->queues[i].address, __ATOMIC_ACQUIRE);
        if (address)
            gyre_bell_ring(&((gyre_queue_region *)(uintptr_t)address)->device.bell, INT_MAX);
    }
}

/*
 * Reports that the device is lost. Holds the lock, so that no queue is freed before its bell was rung: a
 * release no longer waits for this thread.
 */
static void tell_lost(gyre_resident *resident)
{
    const gyre_host *host = resident->device->host;
    if (resident->links) /* before the core may take the links apart */
        opencl_links_alarm(resident);
    pthread_mutex_lock(&resident->device->lost_lock);
    __atomic_store_n(&resident->control->device.lost, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&resident->control->device.acknowledge_bell, INT_MAX);
    ring_all(resident);
    pthread_mutex_unlock(&resident->device->lost_lock);
    host->log(host->context, GYRE_LOG_ERROR, resident->device->lost_text);
}

static bool is_last(gyre_u64 command)
{
    return GYRE_COMMAND_VERB(command) == GYRE_VERB_STOP || GYRE_COMMAND_VERB(command) == GYRE_VERB_YIELD;
}

void *opencl_pump_main(void *argument)
{
    gyre_resident *resident = argument;
    gyre_status status = GYRE_OK;
    gyre_u64 command = 0;
    opencl_tell_present(resident);
    while (!is_last(command) && status == GYRE_OK) {
        gyre_u64 wanted = __atomic_load_n(&resident->control->command.command, __ATOMIC_ACQUIRE);
        if (wanted != command) {
            status = collect_all(resident);
            command = wanted;
            if (status == GYRE_OK)
                obey_command(resident, command);
        } else if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN) {
            status = serve(resident, command);
        } else {
            wait_for_work(resident, command);
        }
    }
    if (status == GYRE_OK)
        opencl_log_drain(resident, true);
    else
        tell_lost(resident);
    __atomic_store_n(&resident->present, 0, __ATOMIC_RELEASE); /* pairs with opencl_wait */
    gyre_futex_wake(&resident->present, INT_MAX);
    return NULL;
}
