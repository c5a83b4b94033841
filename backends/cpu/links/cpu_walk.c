/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that follow their messages to the next stages (cpu_walk.h). */
#include "backends/cpu/links/cpu_walk.h"

#include <limits.h>

#include "backends/cpu/links/cpu_link_ring.h"
#include "backends/cpu/links/cpu_links.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/threads/cpu_relief.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "gyre/waiting.h"

enum { VISITS_MAX = 64 };

#define WALK_NS_MAX 200000

/* ---- who may be visited ---- */

void cpu_walk_shut(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    struct cpu_seats *seats = worker->resident->device->seats;
    if (!links->seat)
        return;
    cpu_seat_take(links->seat);
    __atomic_store_n(&links->seat->open, 0, __ATOMIC_RELAXED);
    links->seat->worker = NULL;
    cpu_seat_leave(links->seat);
    for (uint32_t i = 0; i < GYRE_PORTS_MAX; i++) {
        cpu_seat_drop(seats, links->targets[i]);
        links->targets[i] = NULL;
    }
    cpu_seat_drop(seats, links->seat);
    links->seat = NULL;
}

static void find_targets(struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    for (uint32_t i = 0; i < links->table->port_count; i++)
        if (links->table->ports[i].use == GYRE_PORT_LINKED)
            links->targets[i] =
                cpu_seat_find(worker->resident->device->seats, at(links->table->ports[i].control), 0);
}

void cpu_walk_open(struct cpu_worker *worker)
{
    const struct gyre_resident *resident = worker->resident;
    struct cpu_links *links = &worker->links;
    if (!links->table || GYRE_COMMAND_VERB(worker->command) != GYRE_VERB_RUN)
        return;
    links->seat = cpu_seat_find(resident->device->seats, resident->control, worker->block);
    if (!links->seat)
        return; /* without memory it is woken, as where there are processors enough */
    find_targets(worker);
    cpu_seat_take(links->seat);
    links->seat->worker = worker;
    __atomic_store_n(&links->seat->left, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&links->seat->processor, worker->task.processor, __ATOMIC_RELAXED);
    __atomic_store_n(&links->seat->cost_ns, links->cost_ns, __ATOMIC_RELAXED);
    /* several blocks are there to work at the same time, and one that reminds keys sleeps only until it has to */
    __atomic_store_n(&links->seat->open, resident->blocks == 1 && !resident->kernel->remind,
                     __ATOMIC_RELAXED);
    cpu_seat_leave(links->seat);
}

/* ---- walking ---- */

static bool is_over(const struct cpu_walk *walk)
{
    return walk->visits >= VISITS_MAX || walk->spent_ns >= WALK_NS_MAX;
}

static bool is_listed(const struct cpu_walk *walk, const struct cpu_seat *seat)
{
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->seats[i] == seat)
            return true;
    return false;
}

void cpu_walk_collect(struct cpu_walk *walk, struct cpu_worker *worker)
{
    struct cpu_links *links = &worker->links;
    for (uint32_t left = links->visits; left; left &= left - 1) {
        const uint32_t port = (uint32_t)__builtin_ctz(left);
        if (is_listed(walk, links->targets[port]))
            continue;
        if (walk->count < CPU_WALK_MAX)
            walk->seats[walk->count++] = links->targets[port];
        else
            gyre_bell_ring(&((gyre_control_region *)at(links->table->ports[port].control))->doorbell.bell,
                           INT_MAX);
    }
    links->visits = 0;
}

/* Leaves the messages that there are to the worker's own thread. The caller holds its seat. */
static void leave_behind(const struct cpu_worker *worker)
{
    __atomic_store_n(&worker->links.seat->left, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&worker->resident->control->doorbell.bell, INT_MAX);
}

/* Runs the worker, whose seat the caller holds, until it has no messages, or no room for what they cause. */
static void serve(struct cpu_walk *walk, struct cpu_worker *worker, const struct cpu_visitor *visitor)
{
    uint64_t handled;
    do {
        handled = cpu_links_serve(worker, worker->command);
        walk->spent_ns += handled * worker->links.cost_ns;
        if (cpu_relief_came(visitor)) {
            cpu_links_are_slow(worker);
            walk->spent_ns = WALK_NS_MAX;
        }
    } while (handled && !is_over(walk));
    if (cpu_links_have_messages(worker)) {
        /* there may be room when those have been visited that it has sent to: they come first */
        if (worker->links.visits && !is_over(walk) && walk->count < CPU_WALK_MAX)
            walk->seats[walk->count++] = worker->links.seat;
        else
            leave_behind(worker);
    }
    /* else its targets would ring for every run that they take, until its own thread wakes */
    if (cpu_ports_untell_starved(worker))
        gyre_bell_ring(&worker->resident->control->doorbell.bell, INT_MAX);
    cpu_walk_collect(walk, worker);
}

static void visit(struct cpu_walk *walk, struct cpu_seat *seat, const struct cpu_visitor *visitor)
{
    walk->visits++;
    if (!cpu_seat_try(seat))
        return; /* whoever sits there looks once more */
    do {
        struct cpu_worker *worker = seat->worker;
        if (!worker) /* its own thread is awake: it obeys a command, and looks afterwards */
            continue;
        if (is_over(walk))
            leave_behind(worker);
        else
            serve(walk, worker, visitor);
    } while (!cpu_seat_leave_quietly(seat));
}

bool cpu_walk_go(struct cpu_walk *walk, struct cpu_worker *worker, struct cpu_visitor *visitor)
{
    struct cpu_relief *relief = worker->resident->device->relief;
    const bool supervised = cpu_relief_leave(relief, visitor, &worker->task);
    if (!supervised)
        walk->spent_ns = WALK_NS_MAX; /* the stages are woken */
    while (walk->count) {
        struct cpu_seat *seat = walk->seats[--walk->count];
        visit(walk, seat, visitor);
    }
    return !supervised || cpu_relief_return(relief, visitor);
}
