/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links between kernels: see cpu_links.h. A message goes through these steps: there is room for all that its handler may
 * emit (cpu_ports.c); the handler runs, its outcome is noted in the flow, and the flow ends or goes on (cpu_flow.c); what was
 * emitted is published (cpu_ports.c). This file takes messages, and wakes those who wait for something.
 */
#include "backends/cpu/links/cpu_links.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/device/device_admission.h"
#include "backends/device/device_link_times.h"
#include "backends/cpu/links/cpu_flow.h"
#include "backends/cpu/handling/cpu_handle.h"
#include "backends/cpu/links/cpu_link_key.h"
#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/links/cpu_stash.h"
#include "backends/cpu/links/cpu_jobs.h"
#include "backends/cpu/handling/cpu_trace.h"
#include "backends/cpu/check/cpu_turns.h"
/* as cpu_worker.c: for queues of a kernel with ports that enter no pipeline */
#define GYRE_TIMED  1
#define GYRE_HEADED 1
#define GYRE_SEALED 1
#include "gyre/kernel.h"
#include "gyre/waiting.h"

enum {
    RUN_MAX = 64,           /* messages that a worker claims at once from a ring */
    RING_AGAIN_NS = 100000, /* before one who was woken, and still sleeps, is woken again */
    MEASURED = 16           /* each so manieth run is measured */
};

/* From here on messages are visited one by one, so that the first of a run does not wait for the others. */
#define HURRY_NS 2000

/* ---- what messages cost ---- */

static bool is_slow(const struct cpu_worker *worker)
{
    /* relaxed: the worker's own thread asks without its seat, too */
    return __atomic_load_n(&worker->links.cost_ns, __ATOMIC_RELAXED) > CPU_SEAT_COST_MAX_NS;
}

static void set_cost(struct cpu_worker *worker, uint32_t cost_ns)
{
    __atomic_store_n(&worker->links.cost_ns, cost_ns, __ATOMIC_RELAXED);
    if (worker->links.seat)
        __atomic_store_n(&worker->links.seat->cost_ns, cost_ns, __ATOMIC_RELAXED);
}

void cpu_links_are_slow(struct cpu_worker *worker)
{
    set_cost(worker, 4 * CPU_SEAT_COST_MAX_NS);
}

/* Returns the time, unless this run is not measured. */
static uint64_t begin_cost(struct cpu_worker *worker)
{
    return worker->links.seat && (worker->links.runs++ % MEASURED == 0 || is_slow(worker)) ? gyre_clock_ns()
                                                                                           : 0;
}

/* A thread that lost its processor for a while does not make its stage a slow one: it takes two runs that are slow. */
static void end_cost(struct cpu_worker *worker, uint64_t began_ns, uint64_t handled)
{
    if (!began_ns || !handled)
        return;
    const uint64_t each_ns = (gyre_clock_ns() - began_ns) / handled, most_ns = 4 * CPU_SEAT_COST_MAX_NS;
    const uint32_t cost_ns = worker->links.cost_ns;
    set_cost(worker, cost_ns - cost_ns / 4 + (uint32_t)(each_ns < most_ns ? each_ns : most_ns) / 4);
}

/* ---- bells ---- */

static bool is_parked(const gyre_control_region *control)
{
    return __atomic_load_n(&control->device.parked, __ATOMIC_RELAXED) != 0;
}

static bool client_waits(const gyre_link_entry *entry)
{
    const gyre_queue_region *region = at(entry->region);
    return __atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED) != 0;
}

/* Whether the thread goes to the port's target, which sleeps, in place of waking it. */
static bool is_visited(const struct cpu_worker *worker, uint32_t port)
{
    const struct gyre_device *device = worker->resident->device;
    const struct cpu_seat *seat = worker->links.targets[port];
    if (!worker->links.seat || !seat || device->settings.follow == CPU_FOLLOW_NEVER ||
        !__atomic_load_n(&seat->open, __ATOMIC_RELAXED) ||
        __atomic_load_n(&seat->cost_ns, __ATOMIC_RELAXED) > CPU_SEAT_COST_MAX_NS)
        return false;
    const int32_t processor = __atomic_load_n(&seat->processor, __ATOMIC_RELAXED);
    return (processor < 0 || processor == worker->task.processor) &&
           (device->settings.follow == CPU_FOLLOW_ALWAYS || cpu_seats_are_crowded(device->seats));
}

bool cpu_links_are_followed(const struct cpu_worker *worker)
{
    const struct gyre_device *device = worker->resident->device;
    return worker->links.seat && worker->links.fed_by_links && !is_slow(worker) &&
           worker->resident->blocks == 1 && device->settings.follow != CPU_FOLLOW_NEVER &&
           (device->settings.follow == CPU_FOLLOW_ALWAYS || cpu_seats_are_exceeded(device->seats));
}

/* `address`: of the control region of who got something. */
static void wake_target(gyre_u64 address)
{
    gyre_control_region *control = at(address);
    if (is_parked(control))
        gyre_bell_ring(&control->doorbell.bell, INT_MAX);
}

/* Wakes the port's target, or notes that it is visited. */
static void wake_port(struct cpu_worker *worker, uint32_t port)
{
    const gyre_u64 control = worker->links.table->ports[port].control;
    if (is_parked(at(control)) && is_visited(worker, port))
        worker->links.visits |= 1u << port;
    else
        wake_target(control);
}

static void wake_client(const gyre_link_entry *entry)
{
    gyre_queue_region *region = at(entry->region);
    if (client_waits(entry))
        gyre_bell_ring(&region->device.bell, INT_MAX);
}

/* Whether who was woken before in this run, and still says that it sleeps, is woken again: after a while it does sleep. */
static bool is_due(struct cpu_links *links, bool was_rung)
{
    const uint64_t now = gyre_clock_ns();
    if (was_rung && now - links->rung_ns < RING_AGAIN_NS)
        return false;
    links->rung_ns = now;
    return true;
}

/*
 * Wakes those who sleep and got something, while the run goes on. One who was woken says that it sleeps until it runs, so it is
 * woken again after a while only. Without a barrier: ring_bells finds whom this look misses.
 */
static void ring_early(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    for (uint32_t i = 0; links->sent >> i; i++) {
        if (!(links->sent >> i & 1) || !is_parked(at(links->table->ports[i].control)))
            continue;
        if (is_visited(worker, i)) {
            links->visits |= 1u << i;
            continue;
        }
        if (!is_due(links, links->rung_ports >> i & 1))
            continue;
        wake_port(worker, i);
        links->rung_ports |= 1u << i;
    }
    for (uint64_t left = links->sent_branches; left; left &= left - 1) {
        const uint32_t number = (uint32_t)__builtin_ctzll(left);
        const gyre_u64 control = links->branches[number].branch->control;
        if (!is_parked(at(control)) || !is_due(links, links->rung_branches >> number & 1))
            continue;
        wake_target(control);
        links->rung_branches |= (uint64_t)1 << number;
    }
    for (uint64_t left = links->completed; left; left &= left - 1) {
        const uint32_t number = (uint32_t)__builtin_ctzll(left);
        const gyre_link_entry *entry = &links->table->entries[number];
        if (!client_waits(entry) || !is_due(links, links->rung_entries >> number & 1))
            continue;
        wake_client(entry);
        links->rung_entries |= (uint64_t)1 << number;
    }
}

/*
 * Wakes the workers and clients that sleep and got something in this run. Each barrier pairs with the heavy barrier of those who
 * are about to sleep; who parks without one gets a fence.
 */
static void ring_bells(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    const int light = worker->resident->light_barriers;
    for (uint32_t i = 0; links->sent >> i; i++) {
        if (!(links->sent >> i & 1))
            continue;
        const gyre_control_region *control = at(links->table->ports[i].control);
        gyre_barrier_light(light && !control->command.parks);
        wake_port(worker, i);
    }
    for (uint64_t left = links->sent_branches; left; left &= left - 1) {
        const gyre_u64 address = links->branches[__builtin_ctzll(left)].branch->control;
        const gyre_control_region *control = at(address);
        gyre_barrier_light(light && !control->command.parks);
        wake_target(address);
    }
    for (uint64_t left = links->completed; left; left &= left - 1) {
        const gyre_link_entry *entry = &links->table->entries[__builtin_ctzll(left)];
        const gyre_queue_region *region = at(entry->region);
        gyre_barrier_light(light && !region->host.parks);
        wake_client(entry);
    }
    links->sent = links->rung_ports = 0;
    links->sent_branches = links->rung_branches = 0;
    links->completed = links->rung_entries = 0;
}

/* ---- links ---- */

bool cpu_links_have_messages(const struct cpu_worker *worker)
{
    const gyre_link_table *table = worker->links.table;
    if (worker->links.kept.waits || worker->links.stash.count)
        return true;
    for (uint32_t i = 0; table && i < table->inlet_count; i++) {
        const gyre_link_inlet *inlet = &inlets_of(table)[i];
        const gyre_link_window *window = window_of(worker, inlet);
        const gyre_link_ring *ring = at(inlet->ring);
        if (cpu_link_has_keys(ring)) {
            if (cpu_link_key_can_go_on(ring, window))
                return true;
            continue;
        }
        if (ring->pool) {
            if (cpu_jobs_are_there(ring))
                return true;
            continue;
        }
        if (window->next != window->end || is_filled(ring, __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED)))
            return true;
    }
    return false;
}

bool cpu_links_have_full_rings(const struct cpu_worker *worker)
{
    const gyre_link_table *table = worker->links.table;
    for (uint32_t i = 0; worker->links.drains && i < table->inlet_count; i++) {
        const gyre_link_inlet *inlet = &inlets_of(table)[i];
        const gyre_link_ring *ring = at(inlet->ring);
        if (cpu_link_is_drained(ring) && cpu_link_key_can_go_on(ring, window_of(worker, inlet)))
            return true;
    }
    return false;
}

/* Takes a run of messages from a ring. False when none is there. */
static bool claim_run(const struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window)
{
    const uint32_t blocks = worker->resident->blocks;
    const gyre_u64 most = ring->run ? ring->run : RUN_MAX;
    const gyre_u64 wanted = (gyre_u64)blocks * most;
    gyre_u64 first = __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED), ready = 0;
    while (ready < wanted && is_filled(ring, first + ready))
        ready++;
    if (!ready)
        return false;
    /* a share only, so that slow handlers spread over the blocks */
    const gyre_u64 share = cpu_turns_most(worker, blocks == 1 ? ready : (ready + blocks - 1) / blocks);
    const gyre_u64 end = first + share, next = first;
    if (blocks == 1)
        __atomic_store_n(&ring->claimed, end, __ATOMIC_RELAXED);
    else if (!__atomic_compare_exchange_n(&ring->claimed, &first, end, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED))
        return false; /* another block was quicker */
    window->next = next;
    window->end = end;
    return true;
}

/* Counts messages [first, end) of one ring as fetched: their places may be written again. */
static void give_back(const struct cpu_worker *worker, gyre_link_ring *ring, gyre_u64 first, gyre_u64 end)
{
    const gyre_u64 section = ring->capacity / GYRE_LINK_SECTIONS;
    while (first != end) {
        const gyre_u64 border = (first | (section - 1)) + 1;
        const gyre_u64 stop = border < end ? border : end;
        gyre_u64 *fetched = &ring->fetched[section_of(ring, first)];
        if (worker->resident->blocks == 1 && !ring->pool) /* pairs with the acquire in find_tail */
            __atomic_store_n(fetched, *fetched + (stop - first), __ATOMIC_RELEASE);
        else
            __atomic_fetch_add(fetched, stop - first, __ATOMIC_RELEASE);
        first = stop;
    }
}

/* Wakes the sender if it sleeps until there is room. */
static void wake_sender(const struct cpu_worker *worker, const gyre_link_inlet *inlet)
{
    const gyre_link_ring *ring = at(inlet->ring);
    gyre_control_region *sender = at(inlet->control);
    gyre_barrier_light(worker->resident->light_barriers && !sender->command.parks);
    if (__atomic_load_n(&ring->starved, __ATOMIC_RELAXED))
        gyre_bell_ring(&sender->doorbell.bell, INT_MAX);
}

/* Counts a message at once, because those behind it in its run may take long. Relaxed: statistics, written by this worker alone. */
static void count_message(struct cpu_worker *worker)
{
    gyre_control_block *line = worker->line;
    __atomic_store_n(&line->handled, line->handled + 1, __ATOMIC_RELAXED);
}

/* Counts a run, whose messages were counted. */
static void count_run(struct cpu_worker *worker, gyre_u64 failed)
{
    gyre_control_block *line = worker->line;
    /* relaxed: as in count_message */
    __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/* Whether the run ends here, because there is another command, or because what was emitted should not wait for the rest. */
static bool is_interrupted(const struct cpu_worker *worker, gyre_u64 command)
{
    return __atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command ||
           (worker->links.visits && worker->links.cost_ns > HURRY_NS);
}

/*
 * Calls the handler again as long as it asks for that, there is room, and no other command came. Returns how many calls failed.
 * links.kept says whether it asks still.
 */
static gyre_u64 handle_again(struct cpu_worker *worker, gyre_u64 command)
{
    gyre_u64 failed = 0;
    while (worker->links.kept.waits && !is_interrupted(worker, command) && cpu_ports_make_room(worker)) {
        failed += cpu_flow_handle_again(worker);
        ring_early(worker);
    }
    return failed;
}

/* Goes on with the message that was kept. Returns how often its handler was called. */
static gyre_u64 serve_kept(struct cpu_worker *worker, gyre_u64 command)
{
    const gyre_u32 before = worker->links.kept.turns;
    if (!worker->links.kept.waits)
        return 0;
    cpu_trace_look(worker);
    __atomic_store_n(&worker->line->working, worker->line->heartbeat + 1, __ATOMIC_RELAXED);
    const gyre_u64 failed = handle_again(worker, command);
    __atomic_store_n(&worker->line->working, 0, __ATOMIC_RELAXED);
    cpu_flow_forget(worker);
    ring_bells(worker);
    count_run(worker, failed); /* the message was counted when it was taken */
    return worker->links.kept.waits ? worker->links.kept.turns - before : 1;
}

/* Whether the block has a message of the ring to handle, of those that it claimed or that are its own by their keys. */
static bool has_message(const struct cpu_worker *worker, const gyre_link_ring *ring, gyre_link_window *window,
                        bool by_key)
{
    return __builtin_expect(by_key, 0) ? cpu_link_key_find(worker, ring, window)
                                       : window->next != window->end;
}

/* As give_back, where messages of other blocks lie in between: out of the way of those that are claimed, which are neighbours. */
__attribute__((noinline)) static void give_back_apart(const struct cpu_worker *worker, gyre_link_ring *ring,
                                                      gyre_u64 first, gyre_u64 end)
{
    give_back(worker, ring, first, end);
}

/*
 * Handles messages of the ring, and gives their places back: neighbours together. Returns how many; *failed: calls of the handler
 * that failed.
 */
static gyre_u64 handle_messages(struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window,
                                gyre_u64 command, gyre_u64 *failed)
{
    const bool by_key = cpu_link_has_keys(ring);
    gyre_link_times *const times = at(ring->times);
    gyre_u64 first = window->next, end = first, handled = 0; /* [first, end): not given back yet */
    const gyre_u64 most = cpu_turns_most(worker, RUN_MAX);
    while (handled < most && has_message(worker, ring, window, by_key) && cpu_ports_make_room(worker)) {
        const gyre_link_slot *slot = slot_of(ring, window->next);
        if (__builtin_expect(window->next != end, 0)) {
            give_back_apart(worker, ring, first, end);
            first = window->next;
        }
        const gyre_link_ask *ask = ring->talk ? (const gyre_link_ask *)(const void *)(slot + 1) : NULL;
        if (__builtin_expect(worker->traced.ring != NULL, 0))
            cpu_trace_arrival(worker, ring, window->next);
        device_link_times_begun(times, window->next);
        *failed += cpu_flow_handle(worker, slot->origin, ask, payload_of(ring, slot), slot->length);
        end = ++window->next;
        handled++;
        count_message(worker);
        ring_early(worker);
        *failed += handle_again(worker, command);
        if (worker->links.kept.waits || is_interrupted(worker, command))
            break;
    }
    give_back(worker, ring, first, end);
    return handled;
}

/* ---- links of cycles that are by key ---- */

/* Handles messages that waited for room, as many as there is room for. Returns how many. */
static gyre_u64 serve_stash(struct cpu_worker *worker, gyre_u64 command)
{
    const gyre_u64 most = cpu_turns_most(worker, RUN_MAX);
    const struct cpu_stashed *stashed;
    gyre_u64 handled = 0, failed = 0;
    if (__builtin_expect(worker->links.stash.count == 0, 1) || worker->links.kept.waits)
        return 0;
    cpu_trace_look(worker);
    __atomic_store_n(&worker->line->working, worker->line->heartbeat + 1, __ATOMIC_RELAXED);
    while (handled < most && (stashed = cpu_stash_first(worker)) != NULL && cpu_ports_make_room(worker)) {
        failed += cpu_flow_handle(worker, stashed->origin, stashed->has_ask ? &stashed->ask : NULL,
                                  stashed + 1, stashed->length);
        cpu_stash_pass(worker);
        handled++;
        count_message(worker);
        ring_early(worker);
        failed += handle_again(worker, command);
        if (worker->links.kept.waits || is_interrupted(worker, command))
            break;
    }
    __atomic_store_n(&worker->line->working, 0, __ATOMIC_RELAXED);
    cpu_flow_forget(worker);
    if (!handled)
        return 0;
    ring_bells(worker);
    count_run(worker, failed);
    return handled;
}

/* Takes the block's own messages out of a ring, without a call of the handler. Returns how many. */
static gyre_u64 drain_inlet(struct cpu_worker *worker, const gyre_link_inlet *inlet)
{
    gyre_link_ring *ring = at(inlet->ring);
    gyre_link_window *window = window_of(worker, inlet);
    gyre_u64 first = window->next, end = first, taken = 0; /* [first, end): not given back yet */
    while (cpu_link_key_find(worker, ring, window) &&
           cpu_stash_add(worker, ring, slot_of(ring, window->next))) {
        if (window->next != end) {
            give_back(worker, ring, first, end);
            first = window->next;
        }
        device_link_times_begun(at(ring->times),
                                window->next); /* what it waits from here on is not in the ring */
        end = ++window->next;
        taken++;
    }
    give_back(worker, ring, first, end);
    if (taken)
        wake_sender(worker, inlet);
    return taken;
}

/* While the block cannot handle what it gets: so its senders get room, and one of them is whom it waits for. */
static gyre_u64 drain(struct cpu_worker *worker)
{
    const gyre_link_table *table = worker->links.table;
    gyre_u64 taken = 0;
    if (__builtin_expect(!worker->links.drains, 1) ||
        !(worker->links.kept.waits || worker->links.stash.count || !cpu_ports_have_room(worker)))
        return 0;
    for (uint32_t i = 0; i < table->inlet_count; i++)
        if (cpu_link_is_drained(at(inlets_of(table)[i].ring)))
            taken += drain_inlet(worker, &inlets_of(table)[i]);
    return taken;
}

/* Whether what the block took before goes first. */
static bool holds_messages(const struct cpu_worker *worker)
{
    return worker->links.kept.waits || worker->links.stash.count;
}

/* ---- pools ---- */

/*
 * Handles messages of a ring of a pool, each of which is taken when the one before was handled. What the worker emitted itself goes
 * first. As handle_messages.
 */
static gyre_u64 handle_jobs(struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window,
                            gyre_u64 command, gyre_u64 *failed)
{
    const bool own = cpu_jobs_are_own(worker, ring);
    gyre_link_times *const times = at(ring->times);
    const gyre_u64 most = cpu_turns_most(worker, RUN_MAX);
    struct cpu_job job;
    gyre_u64 handled = 0;
    while (handled < most && (own || !cpu_jobs_of_own_wait(worker, ring->level)) &&
           cpu_ports_have_room(worker) && cpu_job_take(worker, ring, window, &job)) {
        cpu_ports_make_room(worker); /* there is room, also in the ring, which has a message less at most */
        if (__builtin_expect(worker->traced.ring != NULL, 0))
            cpu_trace_arrival(worker, ring, job.index);
        device_link_times_begun(times, job.index);
        *failed += cpu_flow_handle(worker, job.origin, NULL, job.request, job.length);
        if (job.in_ring)
            give_back(worker, ring, job.index, job.index + 1);
        handled++;
        count_message(worker);
        ring_early(worker);
        *failed += handle_again(worker, command);
        if (worker->links.kept.waits || is_interrupted(worker, command) ||
            __atomic_load_n(&ring->starved, __ATOMIC_RELAXED))
            break;
    }
    return handled;
}

/* Whether there may be something to handle. Room first: a block without room leaves the messages to others. */
static bool take_messages(const struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window)
{
    if (ring->pool)
        return cpu_jobs_are_there(ring);
    if (cpu_link_has_keys(ring))
        return cpu_link_key_can_go_on(ring, window);
    return window->next != window->end || (cpu_ports_have_room(worker) && claim_run(worker, ring, window));
}

static gyre_u64 serve_inlet(struct cpu_worker *worker, const gyre_link_inlet *inlet, gyre_u64 command)
{
    gyre_link_ring *ring = at(inlet->ring);
    gyre_link_window *window = window_of(worker, inlet);
    gyre_u64 failed = 0;
    if (!take_messages(worker, ring, window))
        return 0;
    cpu_trace_look(worker);
    worker->turn.from = inlet->control;
    __atomic_store_n(&worker->line->working, worker->line->heartbeat + 1, __ATOMIC_RELAXED);
    const gyre_u64 handled = ring->pool ? handle_jobs(worker, ring, window, command, &failed)
                                        : handle_messages(worker, ring, window, command, &failed);
    __atomic_store_n(&worker->line->working, 0, __ATOMIC_RELAXED);
    worker->turn.from = 0;
    cpu_flow_forget(worker);
    if (!handled)
        return 0;
    wake_sender(worker, inlet);
    ring_bells(worker);
    count_run(worker, failed);
    return handled;
}

/* Under `check = order` the seed decides. Where else a member of a pool begins: each time, and each block, at another ring, so that thieves do not all meet at one. */
static uint32_t first_inlet(struct cpu_worker *worker)
{
    const uint32_t count = worker->links.table->inlet_count;
    if (!worker->links.pools || worker->turn.turns)
        return cpu_turns_pick(worker, count);
    return (worker->block + worker->links.begin++) % count;
}

/* The same of links with levels. */
static uint32_t first_inlet_of_levels(struct cpu_worker *worker, uint32_t count)
{
    if (worker->turn.turns)
        return cpu_turns_pick(worker, count);
    return (worker->links.begin++ + (worker->links.pools ? worker->block : 0)) % count;
}

/* Serves the rings of pools that the worker emits into itself, of those in `levels`. */
static uint64_t serve_own(struct cpu_worker *worker, uint64_t command, uint32_t levels)
{
    const gyre_link_table *table = worker->links.table;
    uint64_t handled = 0;
    for (uint32_t i = 0; i < table->inlet_count && worker->links.pools && !worker->links.kept.waits; i++) {
        const gyre_link_ring *ring = at(inlets_of(table)[i].ring);
        if (handled && worker->turn.turns)
            break;
        if (ring->pool & GYRE_POOL_OWN && levels >> ring->level & 1 && cpu_jobs_are_own(worker, ring))
            handled += serve_inlet(worker, &inlets_of(table)[i], command);
    }
    return handled;
}

/* Takes a run of messages of the first inlet that has some, of those in `levels`. */
static uint64_t serve_first(struct cpu_worker *worker, uint64_t command, uint32_t begin, uint32_t levels)
{
    const gyre_link_table *table = worker->links.table;
    uint64_t handled = 0;
    for (uint32_t i = 0; i < table->inlet_count && !handled; i++) {
        const gyre_link_inlet *inlet = &inlets_of(table)[(begin + i) % table->inlet_count];
        if (levels >> ((const gyre_link_ring *)at(inlet->ring))->level & 1)
            handled = serve_inlet(worker, inlet, command);
    }
    return handled;
}

/*
 * Takes a run of the highest level that has messages. One of GYRE_LEVEL_TURNS runs begins at the inlet whose turn it is, whatever its
 * level: the arithmetic of cycles, and whoever waits for a message, counts on that.
 */
static uint64_t serve_by_level(struct cpu_worker *worker, uint64_t command)
{
    const uint32_t count = worker->links.table->inlet_count, turn = worker->links.level_turns;
    uint64_t handled = 0;
    if (turn % GYRE_LEVEL_TURNS == GYRE_LEVEL_TURNS - 1)
        handled = serve_first(worker, command, turn / GYRE_LEVEL_TURNS % count, ~0u);
    const uint32_t begin = first_inlet_of_levels(worker, count);
    for (uint32_t level = GYRE_LEVEL_MAX + 1; level > 0 && !handled && !worker->links.kept.waits; level--) {
        if (!(worker->links.levels >> (level - 1) & 1))
            continue;
        handled = serve_own(worker, command, 1u << (level - 1));
        if (!handled)
            handled = serve_first(worker, command, begin, 1u << (level - 1));
    }
    worker->links.level_turns += handled > 0;
    return handled;
}

/* As many runs as the kernel has inlets, until there is nothing more: queues come behind them. */
static uint64_t serve_levels(struct cpu_worker *worker, uint64_t command)
{
    uint64_t handled = 0, last = 1;
    for (uint32_t i = 0; i < worker->links.table->inlet_count && last && !holds_messages(worker); i++) {
        if (__atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command ||
            (handled && worker->turn.turns))
            break;
        last = serve_by_level(worker, command);
        handled += last;
    }
    return handled;
}

uint64_t cpu_links_serve(struct cpu_worker *worker, uint64_t command)
{
    const gyre_link_table *table = worker->links.table;
    const uint64_t began_ns = begin_cost(worker);
    uint64_t handled = serve_kept(worker, command);
    handled += serve_stash(worker, command);
    handled += worker->links.levels ? serve_levels(worker, command) : serve_own(worker, command, ~0u);
    const uint32_t begin = first_inlet(worker), count = worker->links.levels ? 0 : table->inlet_count;
    for (uint32_t i = 0; i < count && !holds_messages(worker); i++) {
        const uint32_t number = begin + i < table->inlet_count ? begin + i : begin + i - table->inlet_count;
        if (__atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command ||
            (handled && worker->turn.turns))
            break;
        handled += serve_inlet(worker, &inlets_of(table)[number], command);
    }
    end_cost(worker, began_ns, handled);
    return handled + drain(worker);
}

/* ---- queues ---- */

static void drop(gyre_slot *out, gyre_u64 index)
{
    out->length = 0;
    out->info = GYRE_OUTCOME_DROPPED;
    __atomic_store_n(&out->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the client's acquire */
}

/* Whether the request, as it was taken, has its sender's checksum. */
static bool seal_holds(const struct cpu_queue *queue, const gyre_cpu_run *run, gyre_u64 index,
                       const void *request, gyre_u32 length, const gyre_cpu_sizes *sizes)
{
    const gyre_u32 place = (gyre_u32)(index & run->mask);
    const unsigned char *header = run->headers ? run->headers + (gyre_u64)place * run->header_size : NULL;
    if (header && run->foreign & GYRE_FOREIGN_RING)
        header = cpu_flow_header(queue->entry, place);
    return gyre_seal_holds_(run, index, header, request, length, sizes);
}

/* Returns the request for the handler: a copy, with a copy of its header, when another program can write the ring. */
static const void *take_request(const struct cpu_queue *queue, const gyre_cpu_run *run, const gyre_slot *in,
                                gyre_u32 place, const gyre_cpu_sizes *sizes, gyre_small_ *small,
                                gyre_u32 *length)
{
    *length = __atomic_load_n(&in->length, __ATOMIC_RELAXED);
    if (!(run->foreign & GYRE_FOREIGN_RING))
        return in + 1;
    if (run->headers)
        memcpy(cpu_flow_header(queue->entry, place), run->headers + (gyre_u64)place * run->header_size,
               run->header_size);
    return gyre_take_request_(run->stage, in, *length, sizes, small);
}

/* Handles a request of an entry queue, which was admitted, unless its place is busy. */
static void handle_request(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run,
                           gyre_u64 index)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    const gyre_u32 place = (gyre_u32)(index & run->mask);
    const gyre_slot *in =
        (const gyre_slot *)(const void *)(run->requests + (gyre_u64)place * run->request_stride);
    const gyre_u32 table = (gyre_u32)(queue->entry - worker->links.table->entries);
    const gyre_u64 origin = GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(table, place);
    gyre_small_ small;
    gyre_u32 length;
    if (!cpu_flow_begin(worker, queue->entry, (gyre_flow *)at(queue->entry->flows) + place, index)) {
        device_admission_give(queue->entry);
        return;
    }
    const void *request = take_request(queue, run, in, place, sizes, &small, &length);
    if (seal_holds(queue, run, index, request, length, sizes)) {
        run->failed += cpu_flow_handle(worker, origin, NULL, request, length);
        return;
    }
    cpu_flow_refuse(worker, origin, GYRE_FAILURE_SEAL, "the CRC-32C of the request is wrong");
    run->failed++;
}

/*
 * Whether somebody waits for the queue, or for its counts. Asked only in runs that are measured, as all are of slow handlers: others
 * are not cut short because a client sleeps.
 */
static bool counts_soon(const gyre_cpu_run *run)
{
    return __atomic_load_n(&run->host->waiting, __ATOMIC_RELAXED) != 0;
}

uint64_t cpu_links_run(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run)
{
    const gyre_u64 end = run->first + run->limit;
    const uint64_t began_ns = begin_cost(worker);
    gyre_u64 index = run->first;
    while (index != end && !worker->links.kept.waits) {
        const gyre_u32 place = (gyre_u32)(index & run->mask);
        const gyre_slot *in =
            (const gyre_slot *)(const void *)(run->requests + (gyre_u64)place * run->request_stride);
        /* pairs with the client's release of the request's sequence */
        if (__atomic_load_n(&in->sequence, __ATOMIC_ACQUIRE) != index + 1 || !cpu_ports_make_room(worker))
            break;
        if (__builtin_expect(in->info == GYRE_REQUEST_ANSWERED && in->length == GYRE_LENGTH_ANSWERED, 0))
            ; /* by a worker process that died since */
        else if (index < __atomic_load_n(&run->host->drop_before, __ATOMIC_RELAXED))
            drop((gyre_slot *)(void *)(run->replies + (gyre_u64)place * run->reply_stride), index);
        else if (device_admission_take(queue->entry))
            handle_request(worker, queue, run, index);
        else
            break; /* device_admission_give wakes it */
        index++;
        ring_early(worker);
        run->failed += handle_again(worker, run->expected);
        if (is_interrupted(worker, run->expected) || (began_ns && counts_soon(run)))
            break;
    }
    cpu_flow_forget(worker);
    ring_bells(worker);
    end_cost(worker, began_ns, index - run->first);
    return index - run->first;
}

/* Handles a message of a queue that is no entry: what it emits has nowhere to go, and it belongs to no flow. */
static int handle_alone(const void *request, void *reply, void *state, void *scratch,
                        const gyre_binding *buffers, gyre_context *context)
{
    struct cpu_worker *worker = context->owner;
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    cpu_ports_take_back(worker);
    cpu_flow_alone(worker, worker->links.outside);
    (void)scratch;
    const int result = cpu_handle(request, reply, state, worker->scratch, buffers, context);
    for (uint32_t i = 0; i < kernel->port_count && !context->failed; i++)
        if (worker->links.ports[i].emitted || worker->links.ports[i].again) {
            context->failed = 1;
            context->fail_code = GYRE_FAILURE_PORT;
            context->fail_text = worker->links.ports[i].emitted
                                     ? "emitted, and the queue enters no pipeline"
                                     : "GYRE_MORE, and the queue enters no pipeline";
        }
    return result;
}

uint64_t cpu_links_run_alone(struct cpu_worker *worker, gyre_cpu_run *run)
{
    const gyre_cpu_sizes *sizes = &worker->resident->kernel->sizes;
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++) {
        gyre_cpu_port *port = &worker->links.ports[i];
        port->slots = worker->links.thrown + cpu_port_front(&worker->resident->kernel->ports[i]);
        port->mask = cpu_port_places(port->most) - 1;
        port->stride = cpu_port_stride(&worker->resident->kernel->ports[i]);
    }
    const uint64_t handled =
        run->bridge ? gyre_run_bridged_(run, sizes, handle_alone) : gyre_run_(run, sizes, handle_alone);
    for (uint32_t i = 0; i < worker->resident->kernel->port_count; i++)
        cpu_port_open(worker, i);
    return handled;
}
