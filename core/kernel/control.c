/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes commands for the device into a kernel's control region, and waits until every block of the device obeyed.
 *
 * A worker process can overwrite the whole region. So the program decides by values outside the region (kernel->order,
 * kernel->queues, each queue's table_first), and writes the region's constants anew for each device. Only the device knows
 * which commands its blocks obeyed, and what the blocks counted. The program compares these values or adds them up, and never
 * uses them as an address or an index.
 *
 * Under kernel->lock, except the wait itself, which reads atomics only. turn.inside keeps the kernel from being freed during a
 * wait.
 */
#include "core/kernel/control.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/keyed.h"
#include "core/kernel/queue_table.h"
#include "core/plan/queue_plan.h"
#include "core/queue/label.h"

/* Length of the sleep between two looks at a device that rings no bell. */
#define POLL_NS 20000
/* A device that rings no bell obeys within some tens of microseconds, and the shortest nap takes seventy: so long there is none. */
#define SPIN_NS UINT64_C(150000)
/* With more shards of a cluster each one has a message so rarely that it would spin in vain. */
enum { SHARDS_A_PROCESSOR = 64 };
/*
 * Longest sleep at the device's bell. The device owns the bell: the host may wake threads that sleep at it, and must not change
 * its value, so a thread can miss the host's wake. Only a wait that another thread ends early takes this long.
 */
#define OVERTAKEN_NS UINT64_C(1000000)
/* Between two looks whether a block that has not left is inside a handler. */
#define LOOK_NS UINT64_C(5000000)

uint64_t gyre_control_timed_every(const gyre_kernel *kernel)
{
    if (!gyre_kernel_setting(kernel, "timing"))
        return 0;
    /* as the kernel is compiled (plan/build_options.h) */
    return gyre_queue_plan_all(kernel->runtime->config).times
               ? 1
               : (uint64_t)gyre_kernel_setting(kernel, "timing_every");
}

uint64_t gyre_control_times_add(const gyre_kernel *kernel, gyre_observe_histogram *sum)
{
    const gyre_control_times *times = GYRE_CONTROL_TIMES(kernel->control, kernel->blocks);
    const uint64_t counts = __atomic_load_n(&times->counts, __ATOMIC_ACQUIRE); /* pairs with the backend */
    if (!counts)
        return 0;
    sum->sum_ns += __atomic_load_n(&times->sum_ns, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        sum->buckets[i] += __atomic_load_n(&times->buckets[i], __ATOMIC_RELAXED);
    return counts;
}

static int processors; /* that this process may run on, as it was first asked */

static void count_processors(void)
{
    cpu_set_t allowed;
    processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : CPU_SETSIZE;
}

/* The same for a kernel each time: its queues and its device count on what was said before, whatever thread asks. */
static bool is_one_of_many(const gyre_kernel *kernel)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int64_t shards = gyre_config_int(kernel->runtime->config, GYRE_SECTION_CLUSTER, NULL, "shards");
    const bool is_shard = strchr(kernel->name, '#') != NULL; /* no other kernel's name has it */
    (void)pthread_once(&once, count_processors);
    return is_shard && shards > (int64_t)SHARDS_A_PROCESSOR * processors;
}

gyre_idle gyre_control_idle(const gyre_kernel *kernel)
{
    const struct gyre_config_value *idle =
        gyre_config_find(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "idle");
    const bool is_set = idle && strcmp(idle->origin, "default") != 0;
    return !is_set && is_one_of_many(kernel) ? GYRE_IDLE_PARK
                                             : (gyre_idle)gyre_kernel_setting(kernel, "idle");
}

/* Writes the constants, over anything that a worker process may have written there. */
static void write_constants(const gyre_kernel *kernel)
{
    gyre_control_region *control = kernel->control;
    control->command.parks = gyre_control_idle(kernel) == GYRE_IDLE_PARK;
    control->command.by_ticks = gyre_keyed_has_ticks(kernel);
    control->command.queue_count = kernel->queues.entries;
    control->absences.timed = gyre_control_timed_every(kernel);
    control->absences.has_times = 1;
}

gyre_status gyre_control_create(gyre_kernel *kernel)
{
    gyre_status status =
        gyre_region_create("a kernel's control region", GYRE_CONTROL_SIZE(kernel->blocks), &kernel->region);
    if (status != GYRE_OK)
        return status;
    kernel->control = kernel->region.address;
    write_constants(kernel);
    return GYRE_OK;
}

/* Writes with atomics, because other threads may read the counts, or wait in a call on a queue, meanwhile. */
void gyre_control_reset(gyre_kernel *kernel)
{
    gyre_control_device *device = &kernel->control->device;
    gyre_control_block *blocks = (gyre_control_block *)(kernel->control + 1);
    if (gyre_dispatch_isolated(kernel->dispatch)) { /* the last worker process may have overwritten them */
        write_constants(kernel);
        gyre_kernel_clear_table(kernel);
        __atomic_store_n(&kernel->control->command.links, 0,
                         __ATOMIC_RELAXED); /* nor were they of this worker */
        kernel->node.unwired = kernel->node.pipeline != NULL;
        kernel->node.behind = kernel->node.saved_together;
    }
    __atomic_store_n(&device->parked, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&device->acknowledge_bell, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&device->lost, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.total_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.longest_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.stays, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.stayed_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->control->absences.longest_stay_ns, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        __atomic_store_n(&blocks[i].acknowledged, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].handled, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].failed, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].heartbeat, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].working, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].tells, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].working_ns, 0, __ATOMIC_RELAXED);
    }
}

const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel)
{
    return (const gyre_control_block *)(kernel->control + 1);
}

void gyre_control_settle_counts(gyre_kernel *kernel)
{
    gyre_control_block *blocks = (gyre_control_block *)(kernel->control + 1);
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        kernel->tally.handled += __atomic_load_n(&blocks[i].handled, __ATOMIC_RELAXED);
        kernel->tally.failed += __atomic_load_n(&blocks[i].failed, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].handled, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&blocks[i].failed, 0, __ATOMIC_RELAXED);
    }
}

uint64_t gyre_control_verb(const gyre_kernel *kernel)
{
    /* relaxed: written under the lock. Not from the region, which a dying worker may have overwritten */
    return __atomic_load_n(&kernel->order.verb, __ATOMIC_RELAXED);
}

/* The last command, in the form of the region. Taken from kernel->order, because a worker can overwrite the region. */
uint64_t gyre_control_last(const gyre_kernel *kernel)
{
    return kernel->order.epoch << 8 | gyre_control_verb(kernel);
}

void gyre_control_order(gyre_kernel *kernel, uint64_t verb)
{
    gyre_control_region *control = kernel->control;
    kernel->order.epoch++;
    __atomic_store_n(&kernel->order.verb, verb, __ATOMIC_RELAXED);
    __atomic_store_n(&control->command.command, gyre_control_last(kernel),
                     __ATOMIC_RELEASE); /* pairs with the workers' acquire */
    gyre_bell_ring(&control->doorbell.bell, INT_MAX);
    if (kernel->resident)
        gyre_dispatch_notify(kernel->dispatch, kernel->resident);
}

bool gyre_control_is_lost(const gyre_kernel *kernel)
{
    if (gyre_dispatch_isolated(kernel->dispatch)) /* the region's word of a worker process is not believed */
        return gyre_kernel_get_state(kernel) == GYRE_KERNEL_LOST;
    return __atomic_load_n(&kernel->control->device.lost, __ATOMIC_ACQUIRE) != 0;
}

/* Blocks that have not obeyed `command`. Commands grow, so a block that obeyed a later one has obeyed this one. */
static uint32_t blocks_behind(const gyre_kernel *kernel, uint64_t command)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    uint32_t behind = 0;
    for (uint32_t i = 0; i < kernel->blocks; i++)
        behind += __atomic_load_n(&blocks[i].acknowledged, __ATOMIC_ACQUIRE) < command;
    return behind;
}

bool gyre_control_obeyed(const gyre_kernel *kernel, uint64_t command)
{
    return blocks_behind(kernel, command) == 0;
}

bool gyre_control_is_starved(const gyre_kernel *kernel, uint64_t command)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    bool is_any_behind = false;
    if (gyre_dispatch_isolated(kernel->dispatch)) /* what a worker process wrote is not believed */
        return false;
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        if (__atomic_load_n(&blocks[i].acknowledged, __ATOMIC_ACQUIRE) >= command)
            continue;
        if (!__atomic_load_n(&blocks[i].tells, __ATOMIC_RELAXED) ||
            __atomic_load_n(&blocks[i].working, __ATOMIC_RELAXED))
            return false;
        is_any_behind = true;
    }
    return is_any_behind;
}

/* A wait for blocks. */
struct wait {
    uint64_t command, since_ns, deadline_ns;
    uint64_t starved_ns; /* the deadline while all blocks that are behind are at no message */
    enum gyre_control_yield yield;
};

/* What a block that has not obeyed says of itself. */
static const char *excuse_of(const gyre_kernel *kernel, const gyre_control_block *block)
{
    if (gyre_dispatch_isolated(kernel->dispatch))
        return "is in a worker process, which is not believed what it says of itself";
    if (!__atomic_load_n(&block->tells, __ATOMIC_RELAXED))
        return "does not say whether it is inside a handler";
    return __atomic_load_n(&block->working, __ATOMIC_RELAXED)
               ? "is inside a handler"
               : "is inside no handler, so its device has not let it run since";
}

gyre_status gyre_control_tell_timeout(const gyre_kernel *kernel, uint64_t command, uint64_t since_ns)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    uint32_t first = 0;
    while (first + 1 < kernel->blocks &&
           __atomic_load_n(&blocks[first].acknowledged, __ATOMIC_RELAXED) >= command)
        first++;
    return gyre_error_set(
        GYRE_TIMEOUT,
        "%u of %u blocks of kernel '%s', which is %s, did not come to a message boundary in %llu ms: "
        "block %u %s",
        blocks_behind(kernel, command), kernel->blocks, kernel->name,
        gyre_kernel_state_word(gyre_kernel_get_state(kernel)),
        (unsigned long long)((gyre_clock_ns() - since_ns) / 1000000), first,
        excuse_of(kernel, &blocks[first]));
}

static bool is_over(const gyre_kernel *kernel, const struct wait *wait)
{
    const uint64_t now = gyre_clock_ns();
    return now >= wait->deadline_ns &&
           (now >= wait->starved_ns || !gyre_control_is_starved(kernel, wait->command));
}

/* OK: every block obeyed. AGAIN: go on waiting. */
static gyre_status look_at_blocks(const gyre_kernel *kernel, const struct wait *wait)
{
    char why[64];
    const enum gyre_control_yield yield = wait->yield;
    uint32_t behind = blocks_behind(kernel, wait->command);
    gyre_kernel_state state = gyre_kernel_get_state(kernel);
    if (yield == GYRE_YIELD_TO_TURN && __atomic_load_n(&kernel->turn.wanted, __ATOMIC_ACQUIRE))
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is wanted by another thread", kernel->name);
    if (yield != GYRE_YIELD_TO_NOTHING && (state == GYRE_KERNEL_STOPPING || state == GYRE_KERNEL_TERMINATED))
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' was terminated meanwhile", kernel->name);
    if (behind == 0 && (state != GYRE_KERNEL_LOST || yield == GYRE_YIELD_TO_NOTHING))
        return GYRE_OK;
    if (state ==
        GYRE_KERNEL_TERMINATED) /* the blocks obeyed an earlier stop, and had left when this command repeated it */
        return GYRE_OK;
    if (gyre_control_is_lost(kernel))
        return gyre_error_set(GYRE_LOST, "the device of kernel '%s' died%s", kernel->name,
                              gyre_kernel_why_lost(kernel, why, sizeof why));
    return is_over(kernel, wait) ? gyre_control_tell_timeout(kernel, wait->command, wait->since_ns)
                                 : GYRE_AGAIN;
}

const char *gyre_kernel_why_lost(const gyre_kernel *kernel, char *text, size_t size)
{
    return gyre_control_why_lost(kernel->control, text, size);
}

static void sleep_until_bell(const gyre_kernel *kernel, uint32_t seen, const struct wait *wait)
{
    const uint64_t now = gyre_clock_ns(), limit = now + OVERTAKEN_NS;
    const bool ends_soon = wait->deadline_ns > now && wait->deadline_ns < limit;
    if (gyre_dispatch_device_info(kernel->dispatch)->can_wake)
        gyre_futex_wait(&kernel->control->device.acknowledge_bell, seen,
                        ends_soon ? wait->deadline_ns : limit);
    else if (now - wait->since_ns >= SPIN_NS)
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

static gyre_status await_blocks(gyre_kernel *kernel, const struct wait *wait)
{
    const uint32_t *bell = &kernel->control->device.acknowledge_bell;
    gyre_status status;
    kernel->turn.inside++;
    pthread_mutex_unlock(&kernel->lock);
    (void)GYRE_FAULT_POINT(CONTROL_LOOK);
    for (;;) {
        uint32_t seen = __atomic_load_n(bell, __ATOMIC_ACQUIRE); /* before the look */
        status = look_at_blocks(kernel, wait);
        if (status != GYRE_AGAIN)
            break;
        sleep_until_bell(kernel, seen, wait);
    }
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed); /* for a thread that frees the kernel */
    return status;
}

gyre_status gyre_control_acknowledged(gyre_kernel *kernel, enum gyre_control_yield yield,
                                      uint64_t deadline_ns)
{
    return await_blocks(kernel, &(struct wait){.command = gyre_control_last(kernel),
                                               .since_ns = gyre_clock_ns(),
                                               .deadline_ns = deadline_ns,
                                               .yield = yield});
}

struct gyre_control_limits gyre_control_limits_of(const gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    const uint64_t now = gyre_clock_ns();
    return (struct gyre_control_limits){
        .handler_ns = now + gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms"),
        .starved_ns = now + gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "launch_timeout_ms")};
}

gyre_status gyre_control_came_back(gyre_kernel *kernel, enum gyre_control_yield yield)
{
    const struct gyre_control_limits limits = gyre_control_limits_of(kernel);
    return await_blocks(kernel, &(struct wait){.command = gyre_control_last(kernel),
                                               .since_ns = gyre_clock_ns(),
                                               .deadline_ns = limits.handler_ns,
                                               .starved_ns = limits.starved_ns,
                                               .yield = yield});
}

gyre_status gyre_control_left(gyre_kernel *kernel, gyre_resident *resident, uint64_t command)
{
    const struct gyre_control_limits limits = gyre_control_limits_of(kernel);
    gyre_status status = gyre_dispatch_wait(kernel->dispatch, resident, limits.handler_ns);
    while (status == GYRE_TIMEOUT && gyre_control_is_starved(kernel, command) &&
           gyre_clock_ns() < limits.starved_ns)
        status = gyre_dispatch_wait(kernel->dispatch, resident, gyre_clock_ns() + LOOK_NS);
    return status;
}

void gyre_kernel_tell_death(const gyre_kernel *kernel, const char *reason)
{
    gyre_u8 *why = kernel->control->device.lost_why;
    if (!why[0])
        snprintf((char *)why, sizeof kernel->control->device.lost_why, "%s", reason);
}
