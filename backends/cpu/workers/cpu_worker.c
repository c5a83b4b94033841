/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers' loop: obey the control word, serve the queues, wait when there is nothing to do. A worker that
 * waits for long rests: it stays parked and gives its thread away until its bell is rung (cpu_pool.h).
 *
 * Takes no lock. A worker writes its own line of the control region, the reply slots of its requests and,
 * when a queue has several workers, the queue's ticket (the next request to claim). It looks at the control
 * word between messages and obeys it between batches. Requests that it claimed and did not handle stay
 * claimed across a pause.
 *
 * The worker of a stage holds its seat (cpu_seat.h) while it serves and while it looks for work: where threads outnumber
 * processors another worker's thread may run the stage. Its queues, and its commands, are its own thread's alone.
 */
#include <limits.h>
#include <stddef.h>

#include "backends/device/device_admission.h"
#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/handling/cpu_grid.h"
#include "backends/cpu/handling/cpu_handle.h"
#include "backends/cpu/workers/cpu_keyed.h"
#include "backends/cpu/links/cpu_links.h"
#include "backends/cpu/links/cpu_ports.h"
#include "backends/cpu/workers/cpu_queue.h"
#include "backends/cpu/cpu_ready.h"
#include "backends/cpu/threads/cpu_relief.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/handling/cpu_trace.h"
#include "backends/cpu/check/cpu_turns.h"
#include "backends/cpu/links/cpu_walk.h"
/*
 * the runner of block kernels is compiled in this file: it times messages of queues that have stamps (times),
 * and gives the handler headers in queues that have headers
 */
#define GYRE_TIMED  1
#define GYRE_HEADED 1
#define GYRE_SEALED 1
#include "gyre/kernel.h"
#include "gyre/waiting.h"

enum {
    BATCH = 256,        /* messages of one queue before the next queue has its turn */
    CLAIM_MAX = 64,     /* messages that a worker claims at once when several share a queue */
    YIELDS = 16,        /* turns of adaptive idling between spinning and parking */
    STREAM_MIN = 8,     /* messages in one turn by which a stream differs from a few calls */
    STAND_OFF_MAX = 64, /* pauses of a worker that has caught up with a stream */
    HELP_TURNS = 64,    /* turns that a thread of the core serves at most before the worker goes on */
    LINK_TURNS = 16,    /* turns with messages of links before queues have a turn, too */
    PARK_TURNS = 200,   /* looks of a parking strategy before it sleeps: a request may be on its way */
};

/*
 * A worker that was parked for this long gives its thread back. A worker that is called more often keeps its
 * thread.
 */
#define REST_AFTER_NS UINT64_C(10000000)

static struct cpu_worker *worker_of(struct cpu_task *task)
{
    return (struct cpu_worker *)(void *)((unsigned char *)task - offsetof(struct cpu_worker, task));
}

/* ---- queues ---- */

static void read_table(struct cpu_worker *worker)
{
    const gyre_control_region *control = worker->resident->control;
    worker->queue_count = __atomic_load_n(&control->command.queue_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < worker->queue_count && i < GYRE_QUEUES_MAX; i++) {
        const gyre_control_queue *entry = &control->queues[i];
        struct cpu_queue *queue = &worker->queues[i];
        gyre_u64 address =
            __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE); /* read first: pairs with its release */
        gyre_u64 serial = __atomic_load_n(&entry->serial, __ATOMIC_RELAXED);
        if (queue->serial == serial && queue->region == (gyre_queue_region *)(uintptr_t)address)
            continue;
        queue->region = (gyre_queue_region *)(uintptr_t)address;
        queue->serial = serial;
        if (address) {
            queue->slots = entry->slots;
            queue->layout = entry->bridge;
            cpu_queue_open(worker, queue);
        }
        queue->next = queue->end = __atomic_load_n(&entry->first, __ATOMIC_RELAXED);
    }
}

/* Takes a window of ready requests from a queue that several workers share. False when none is ready. */
static bool claim_requests(struct cpu_worker *worker, struct cpu_queue *queue)
{
    gyre_u64 *ticket = &queue->region->claim.next;
    gyre_u64 first = __atomic_load_n(ticket, __ATOMIC_RELAXED), ready = 0;
    gyre_u64 wanted = (gyre_u64)worker->resident->blocks * CLAIM_MAX;
    while (ready < wanted && cpu_request_ready(queue, first + ready))
        ready++;
    if (!ready)
        return false;
    /*
     * a share only, so that slow handlers spread over the workers; the ticket orders the claims of all
     * workers
     */
    const gyre_u64 share =
        cpu_turns_most(worker, (ready + worker->resident->blocks - 1) / worker->resident->blocks);
    if (!__atomic_compare_exchange_n(ticket, &first, first + share, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false; /* another worker was quicker; the next look finds the remaining requests */
    queue->next = first;
    queue->end = first + share;
    return true;
}

__attribute__((noinline)) static bool has_bridge_room(const struct cpu_worker *worker,
                                                      const struct cpu_queue *queue, gyre_u64 index)
{
    gyre_cpu_bridge bridge = queue->bridge;
    gyre_place place;
    return gyre_bridged_room_(&bridge, index, worker->resident->kernel->sizes.reply, &place) != NULL;
}

/*
 * Whether there is room for the reply to `index`. A claimed request without such room is handled once there
 * is room.
 */
static bool has_room(const struct cpu_worker *worker, const struct cpu_queue *queue, gyre_u64 index)
{
    if (__builtin_expect(!queue->layout.words_offset || !queue->bridge.replies, 1))
        return true;
    return has_bridge_room(worker, queue, index);
}

static bool queue_has_work(const struct cpu_worker *worker, const struct cpu_queue *queue)
{
    bool own;
    if (!queue->region)
        return false;
    if (cpu_is_keyed(worker))
        return cpu_keyed_can_go_on(worker, queue, &own) && (!own || has_room(worker, queue, queue->next));
    if (worker->resident->blocks == 1)
        return cpu_request_ready(queue, queue->next) && has_room(worker, queue, queue->next);
    if (queue->next != queue->end)
        return has_room(worker, queue, queue->next);
    return cpu_request_ready(queue, __atomic_load_n(&queue->region->claim.next, __ATOMIC_RELAXED));
}

/* ---- handlers ---- */

static gyre_u64 run_untraced(struct cpu_worker *worker, gyre_cpu_run *run)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    if (kernel->run && !kernel->flow_size && !worker->turn.turns)
        return kernel->run(run);
    if (kernel->port_count || kernel->flow_size)
        return cpu_links_run_alone(worker, run);
    if (run->bridge)
        return gyre_run_bridged_(run, &kernel->sizes, cpu_handle);
    return gyre_run_(run, &kernel->sizes, cpu_handle);
}

static gyre_u64 run_kernel(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run)
{
    if (queue->entry)
        return cpu_links_run(worker, queue, run);
    worker->turn.next_index = run->first;
    const gyre_u64 handled = __builtin_expect(worker->traced.ring != NULL, 0)
                                 ? cpu_trace_run(worker, queue, run, run_untraced)
                                 : run_untraced(worker, run);
    if (__builtin_expect(worker->turn.turns != NULL, 0))
        for (gyre_u64 i = 0; i < handled; i++)
            cpu_turns_note(worker, 0, run->first + i, 0);
    return handled;
}

static void count_messages(gyre_control_block *line, gyre_u64 handled, gyre_u64 failed)
{
    /* relaxed: statistics, written by this worker alone */
    __atomic_store_n(&line->handled, line->handled + handled, __ATOMIC_RELAXED);
    if (failed)
        __atomic_store_n(&line->failed, line->failed + failed, __ATOMIC_RELAXED);
    __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
}

/*
 * Says that the worker is at messages (not 0), or at none (0). Relaxed: only a person who wonders why no
 * reply comes reads it.
 */
static void tell_working(gyre_control_block *line, gyre_u64 working)
{
    __atomic_store_n(&line->working, working, __ATOMIC_RELAXED);
}

/* Whether its pipeline admits the next request of an entry, or that will not be handled. */
static bool may_begin(const struct cpu_queue *queue)
{
    return device_admission_is_open(queue->entry) ||
           queue->next < __atomic_load_n(&queue->region->host.drop_before, __ATOMIC_RELAXED);
}

/* Handles the ready requests of a queue, up to a batch. Returns how many it handled. */
static gyre_u64 serve_queue(struct cpu_worker *worker, struct cpu_queue *queue, gyre_u64 command)
{
    struct gyre_resident *resident = worker->resident;
    gyre_queue_region *region = queue->region;
    const bool keyed = cpu_is_keyed(worker), shared = resident->blocks > 1 && !keyed;
    bool own;
    if (queue->entry && queue->next == queue->end && !(cpu_ports_have_room(worker) && may_begin(queue)))
        return 0; /* another block may have room */
    if (shared && queue->next == queue->end && !claim_requests(worker, queue))
        return 0;
    gyre_cpu_run *const run = &queue->run;
    run->first = queue->next;
    run->limit = cpu_turns_most(worker, shared ? queue->end - queue->next : BATCH);
    run->expected = command;
    run->failed = 0;
    cpu_check_look(worker, queue);
    if (keyed ? !cpu_keyed_can_go_on(worker, queue, &own) : !shared && !cpu_request_ready(queue, queue->next))
        return 0; /* a request that comes later is handled in the next turn, after tell_working */
    cpu_trace_look(worker);
    tell_working(worker->line, worker->line->heartbeat + 1);
    gyre_u64 handled =
        keyed ? cpu_keyed_run(worker, queue, run->limit, run_kernel) : run_kernel(worker, queue, run);
    tell_working(worker->line, 0);
    cpu_check_looked(worker);
    if (!keyed)
        queue->next += handled;
    if (!handled)
        return 0;
    if (run->bridge && queue->bridge.replies) /* for the next worker of this queue */
        __atomic_store_n(&cpu_queue_track(queue, worker->block)->head, queue->bridge.head, __ATOMIC_RELEASE);
    count_messages(worker->line, handled, run->failed);
    gyre_barrier_light(resident->light_barriers &&
                       !region->host.parks); /* pairs with the heavy barrier of a client that parks */
    if (__atomic_load_n(&region->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&region->device.bell, INT_MAX);
    return handled;
}

/* ---- waiting ---- */

static bool is_let_in(const struct cpu_queue *queue, bool room)
{
    return !queue->region || !queue->entry || (room && may_begin(queue));
}

/* Whether a queue has requests; those of an entry count only when there is room for what they cause. */
static bool queues_have_work(const struct cpu_worker *worker, bool room)
{
    for (uint32_t i = 0; i < worker->queue_count; i++)
        if (is_let_in(&worker->queues[i], room) && queue_has_work(worker, &worker->queues[i]))
            return true;
    return false;
}

/*
 * A look at a stage, with its seat. One that sleeps, and whose room was used by a visitor, has to wake before it can wait for
 * room: it said when it fell asleep that it had some. When a visitor sits there, links are the visitor's business: it looks once
 * more because of the knock, and says so when it leaves messages behind.
 */
static bool stage_has_work(const struct cpu_worker *worker)
{
    struct cpu_seat *seat = worker->links.seat;
    if (__atomic_load_n(&seat->left, __ATOMIC_ACQUIRE))
        return true;
    if (!cpu_seat_try(seat))
        return queues_have_work(worker, true);
    const bool room = cpu_ports_have_room(worker) || (worker->parked && cpu_ports_have_untold(worker));
    const bool found = (room && cpu_links_have_messages(worker)) || cpu_links_have_full_rings(worker) ||
                       queues_have_work(worker, room);
    return cpu_seat_leave(seat) || found;
}

static uint64_t look_for_starved(const struct cpu_worker *worker, gyre_u64 command);

/*
 * A look at the queues of a worker that is helped, with its seat. Who sits there now looks once more because of the knock. News is also a
 * request that finds no room for its reply and that the worker has not told its client of yet.
 */
static bool helped_has_work(const struct cpu_worker *worker, gyre_u64 command)
{
    struct cpu_seat *seat = worker->resident->seat;
    if (!cpu_seat_try(seat))
        return false;
    const bool found = queues_have_work(worker, true) ||
                       (worker->parked && look_for_starved(worker, command) != worker->starved);
    return cpu_seat_leave(seat) || found;
}

static bool has_work(const struct cpu_worker *worker, gyre_u64 command)
{
    if (__atomic_load_n(&worker->resident->control->command.command, __ATOMIC_RELAXED) != command)
        return true;
    if (GYRE_COMMAND_VERB(command) != GYRE_VERB_RUN)
        return false;
    if (__builtin_expect(worker->resident->seat != NULL, 0))
        return helped_has_work(worker, command);
    if (cpu_keyed_is_due(worker))
        return true;
    if (__builtin_expect(worker->links.table != NULL, 0)) {
        if (worker->links.seat)
            return stage_has_work(worker);
        const bool room = cpu_ports_have_room(worker);
        return (room && cpu_links_have_messages(worker)) || cpu_links_have_full_rings(worker) ||
               queues_have_work(worker, room);
    }
    return queues_have_work(worker, true);
}

/* Does the core's errand (backend.h), if there is one. Whether anything was done. */
static int run_errand(const struct cpu_worker *worker)
{
    gyre_errand *errand = worker->resident->errand;
    return errand && __atomic_load_n(&errand->open, __ATOMIC_ACQUIRE) && errand->run(errand);
}

/* A worker that another thread took over looks already. */
static void begin_looking(struct cpu_worker *worker)
{
    gyre_errand *errand = worker->resident->errand;
    if (errand && !worker->looks)
        __atomic_fetch_add(&errand->looking, 1, __ATOMIC_SEQ_CST);
    worker->looks = true;
}

/* Seq_cst: either the core sees that nobody looks, or this thread sees that there is an errand, and gives it back. */
static void end_looking(struct cpu_worker *worker)
{
    gyre_errand *errand = worker->resident->errand;
    worker->looks = false;
    if (errand && __atomic_fetch_sub(&errand->looking, 1, __ATOMIC_SEQ_CST) == 1 &&
        __atomic_load_n(&errand->open, __ATOMIC_SEQ_CST))
        errand->leave(errand);
}

static int find_work(void *context)
{
    const struct cpu_worker *worker = context;
    return has_work(worker, worker->command) || run_errand(worker);
}

/* Whether the queue has requests for this worker whose replies find no room. */
static bool is_starved(const struct cpu_worker *worker, const struct cpu_queue *queue)
{
    bool own;
    if (!queue->region || has_room(worker, queue, queue->next))
        return false;
    if (cpu_is_keyed(worker))
        return cpu_keyed_can_go_on(worker, queue, &own) && own;
    return worker->resident->blocks == 1 ? cpu_request_ready(queue, queue->next) : queue->next != queue->end;
}

/*
 * Tells the clients of starved queues (without room for replies) to ring when there is room: `by` is 1 before
 * the worker parks, and all ones, which takes the 1 back, afterwards.
 */
static void tell_starved(const struct cpu_worker *worker, uint64_t starved, uint32_t by)
{
    for (uint32_t i = 0; i < worker->queue_count && starved; i++) {
        const struct cpu_queue *queue = &worker->queues[i];
        if (starved >> i & 1) /* adds 1, or takes it back by wrapping */
            __atomic_fetch_add(&cpu_queue_words(queue)->starved, by, __ATOMIC_SEQ_CST);
    }
}

/*
 * Returns a bit for each starved queue; none while the kernel is paused: queues may be closed then, and the
 * worker does not learn which.
 */
static uint64_t look_for_starved(const struct cpu_worker *worker, gyre_u64 command)
{
    uint64_t starved = 0;
    for (uint32_t i = 0; GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN && i < worker->queue_count; i++)
        starved |= (uint64_t)is_starved(worker, &worker->queues[i]) << i;
    return starved;
}

static uint64_t starved_queues(const struct cpu_worker *worker, gyre_u64 command)
{
    struct cpu_seat *seat = worker->resident->seat;
    if (seat && worker->parked)
        return worker->starved; /* helped_has_work looks */
    if (seat)
        cpu_seat_take(seat);
    const uint64_t starved = look_for_starved(worker, command);
    if (seat)
        cpu_seat_leave(seat); /* who knocked is found by the look before the worker sleeps */
    return starved;
}

/*
 * Whether the worker must wake. A request that came since the worker parked and finds no room for its reply
 * counts, too: its client must be told first.
 */
static int find_news(void *context)
{
    const struct cpu_worker *worker = context;
    return has_work(worker, worker->command) || starved_queues(worker, worker->command) != worker->starved;
}

static bool has_news(struct cpu_task *task)
{
    return find_news(worker_of(task));
}

/* Tells the targets which links have no room, so that they wake the worker when there is. */
static void tell_links_starved(const struct cpu_worker *worker)
{
    struct cpu_seat *seat = worker->links.seat;
    if (seat)
        cpu_seat_take(seat);
    cpu_ports_tell_starved(worker, GYRE_COMMAND_VERB(worker->command) == GYRE_VERB_RUN);
    if (seat)
        cpu_seat_leave(seat);
}

/* Takes back what the worker said when it parked. */
static void leave_park(struct cpu_worker *worker)
{
    cpu_seats_count_awake(worker->resident->device->seats, 1);
    __atomic_fetch_sub(&worker->resident->control->device.parked, 1, __ATOMIC_SEQ_CST);
    tell_starved(worker, worker->starved, UINT32_MAX);
    cpu_ports_tell_starved(worker, false);
    worker->parked = false;
    begin_looking(worker);
}

/* When a worker that parks looks again by itself. One that has to remind a key keeps its thread, whose sleep ends in time. */
static uint64_t wakes_at(const struct cpu_worker *worker, uint64_t parked_ns)
{
    const uint64_t due_ns =
        GYRE_COMMAND_VERB(worker->command) == GYRE_VERB_RUN ? cpu_keyed_sleeps_until(worker) : UINT64_MAX;
    if (due_ns != UINT64_MAX)
        return due_ns;
    return cpu_pool_can_watch(worker->resident->device->pool) ? parked_ns + REST_AFTER_NS : UINT64_MAX;
}

/* Parks. False when nothing came for long: the worker stays parked and rests (gives its thread away). */
static bool park_worker(struct cpu_worker *worker)
{
    const struct gyre_resident *resident = worker->resident;
    gyre_control_region *control = resident->control;
    end_looking(worker);
    worker->starved = starved_queues(worker, worker->command);
    tell_starved(worker, worker->starved, 1);
    tell_links_starved(worker);
    cpu_seats_count_awake(resident->device->seats, -1);
    __atomic_fetch_add(&control->device.parked, 1, __ATOMIC_SEQ_CST);
    worker->parked = true;
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(resident->light_barriers && resident->idle != GYRE_IDLE_PARK);
    const uint64_t until_ns = wakes_at(worker, parked_ns);
    if (!gyre_idle_sleep(find_news, worker, &control->doorbell.bell, parked_ns, until_ns, &worker->task.seen))
        return false;
    leave_park(worker);
    return true;
}

/* Waits for work. False when the worker rests. */
static bool wait_for_work(struct cpu_worker *worker)
{
    const struct gyre_resident *resident = worker->resident;
    bool found = false;
    if (GYRE_COMMAND_VERB(worker->command) != GYRE_VERB_RUN)
        return park_worker(worker); /* a paused kernel costs nothing */
    switch (resident->idle) {
    case GYRE_IDLE_SPIN:
        return gyre_idle_spin(find_work, worker, UINT64_MAX);
    case GYRE_IDLE_YIELD:
        return gyre_idle_yield(find_work, worker, UINT64_MAX);
    case GYRE_IDLE_PARK:
        found = gyre_idle_spin(find_work, worker, PARK_TURNS);
        break;
    default:
        if (cpu_links_are_followed(worker)) /* awake it would keep a processor from those who come here */
            found = gyre_idle_spin(find_work, worker, PARK_TURNS);
        else
            found = gyre_idle_spin_politely(find_work, worker, &worker->patience, resident->spin_turns) ||
                    gyre_idle_yield(find_work, worker, YIELDS);
    }
    return found || park_worker(worker);
}

/* ---- the loop ---- */

/* For how many blocks the worker speaks: block 0 of a grid kernel for all of them, which wait for its messages. */
static uint32_t blocks_of(const struct cpu_worker *worker)
{
    const struct gyre_resident *const resident = worker->resident;
    return resident->grid ? resident->block_count : resident->block_count / resident->worker_count;
}

static void obey_command(struct cpu_worker *worker, gyre_u64 command)
{
    gyre_control_region *control = worker->resident->control;
    if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN)
        read_table(worker);
    worker->context.next_due_ns = 0; /* the table may be another one: a look tells */
    cpu_ports_read(worker);          /* also while the kernel is paused: an old table of links may be freed */
    cpu_walk_open(worker);
    for (uint32_t i = 0; i < blocks_of(worker); i++) /* pairs with the core's acquire */
        __atomic_store_n(&worker->line[i].acknowledged, command, __ATOMIC_RELEASE);
    gyre_bell_ring(&control->device.acknowledge_bell, INT_MAX);
}

/* Serves each queue once. A new command cuts the turn short. Returns how many messages were handled. */
static gyre_u64 serve_queues(struct cpu_worker *worker, gyre_u64 command)
{
    const gyre_u64 *current = &worker->resident->control->command.command;
    const uint32_t begin = cpu_turns_pick(worker, worker->queue_count);
    gyre_u64 handled = 0;
    for (uint32_t i = 0; i < worker->queue_count && !(handled && worker->turn.turns); i++) {
        const uint32_t number = begin + i < worker->queue_count ? begin + i : begin + i - worker->queue_count;
        if (!worker->queues[number].region)
            continue;
        /* take_turn loads the word again, with acquire */
        if (__atomic_load_n(current, __ATOMIC_RELAXED) != command)
            break;
        handled += serve_queue(worker, &worker->queues[number], command);
    }
    return handled;
}

/*
 * Pauses in a stream of messages. Without a pause the worker catches up with the client and reads the very
 * cache line that the client fills, which takes the line away between two of the client's stores. The pause
 * lets the client get ahead. After a single message, or a few, there is no pause.
 */
static void stand_off(gyre_u64 handled)
{
    if (handled < STREAM_MIN)
        return;
    for (gyre_u64 turn = 0; turn < handled && turn < STAND_OFF_MAX; turn++)
        gyre_spin_pause();
}

static bool is_last(gyre_u64 command)
{
    return GYRE_COMMAND_VERB(command) == GYRE_VERB_STOP || GYRE_COMMAND_VERB(command) == GYRE_VERB_YIELD;
}

/* Serves links or queues, whichever the seed says, and the others when there was nothing. */
static gyre_u64 serve_one_source(struct cpu_worker *worker, gyre_u64 command)
{
    if (!worker->links.table)
        return serve_queues(worker, command);
    const bool queues_first = cpu_turns_pick(worker, 2) != 0;
    gyre_u64 handled = queues_first ? serve_queues(worker, command) : cpu_links_serve(worker, command);
    if (!handled)
        handled = queues_first ? cpu_links_serve(worker, command) : serve_queues(worker, command);
    return handled;
}

/*
 * Serves links, and queues unless links had messages: what is under way is finished before something new begins. Now and then
 * queues have their turn in any case, because they may be of another use of the kernel.
 */
static gyre_u64 serve_messages(struct cpu_worker *worker, gyre_u64 command)
{
    if (__builtin_expect(worker->turn.turns != NULL, 0))
        return serve_one_source(worker, command);
    const gyre_u64 handled = worker->links.table ? cpu_links_serve(worker, command) : 0;
    if (handled)
        worker->links.fed_by_links = true;
    if (handled && ++worker->links.turns % LINK_TURNS)
        return handled;
    const gyre_u64 taken = serve_queues(worker, command);
    if (taken)
        worker->links.fed_by_links = false;
    return handled + taken;
}

static gyre_u64 serve(struct cpu_worker *worker, gyre_u64 command)
{
    if (__builtin_expect(!worker->reminds, 1))
        return serve_messages(worker, command);
    const bool reminded = cpu_keyed_remind(worker);
    return serve_messages(worker, command) + reminded;
}

/* Serves a stage, with its seat, and follows what it sent to stages that sleep. False: another thread runs the worker by now. */
static bool serve_stage(struct cpu_worker *worker, gyre_u64 command, struct cpu_visitor *visitor,
                        gyre_u64 *handled)
{
    struct cpu_seat *seat = worker->links.seat;
    struct cpu_walk walk;
    walk.count = walk.visits = 0;
    walk.spent_ns = 0;
    cpu_seat_take(seat);
    __atomic_store_n(&seat->left, 0, __ATOMIC_RELAXED);
    *handled = serve(worker, command);
    if (worker->links.visits)
        cpu_walk_collect(&walk, worker);
    cpu_seat_leave(seat);
    return !walk.count || cpu_walk_go(&walk, worker, visitor);
}

enum turn { GOES_ON, RESTS, RELIEVED /* another thread runs the worker by now */ };

/* Obeys a new command, or serves links and queues once, or waits. */
static enum turn take_turn(struct cpu_worker *worker, struct cpu_visitor *visitor)
{
    const gyre_u64 *const wanted = &worker->resident->control->command.command;
    const gyre_u64 command = __atomic_load_n(wanted, __ATOMIC_ACQUIRE); /* pairs with the core's release */
    if (command != worker->command) {
        cpu_walk_shut(worker); /* a visitor goes by the old command */
        worker->command = command;
        obey_command(worker, command);
        return GOES_ON;
    }
    gyre_u64 handled = 0;
    if (worker->links.seat) { /* it runs */
        if (!serve_stage(worker, command, visitor, &handled))
            return RELIEVED;
    } else if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN) {
        handled = serve(worker, command);
    }
    if (!handled)
        return wait_for_work(worker) ? GOES_ON : RESTS;
    if (!run_errand(worker) && !worker->links.table)
        stand_off(handled);
    return GOES_ON;
}

/*
 * As take_turn, of a worker that is helped: its own thread has the seat while it obeys or serves, and sleeps otherwise, because mostly
 * requests are handled by those who send them.
 */
static enum turn take_helped_turn(struct cpu_worker *worker)
{
    struct cpu_seat *seat = worker->resident->seat;
    cpu_seat_take(seat);
    const gyre_u64 command = __atomic_load_n(&worker->resident->control->command.command, __ATOMIC_ACQUIRE);
    const bool is_new = command != worker->command;
    gyre_u64 handled = 0;
    if (is_new) {
        worker->command = command;
        obey_command(worker, command);
    } else if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN) {
        handled = serve_queues(worker, command);
    }
    if (cpu_seat_leave(seat) || is_new || handled || run_errand(worker))
        return GOES_ON;
    return park_worker(worker) ? GOES_ON : RESTS;
}

void cpu_worker_help(struct cpu_worker *worker)
{
    struct cpu_seat *seat = worker->resident->seat;
    gyre_control_region *control = worker->resident->control;
    uint32_t turns = 0, looks = 0;
    if (!cpu_seat_try(seat))
        return; /* who sits there looks once more */
    do {
        const gyre_u64 command = __atomic_load_n(&control->command.command, __ATOMIC_ACQUIRE);
        const bool runs = command == worker->command && GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN;
        while (runs && turns < HELP_TURNS && serve_queues(worker, command))
            turns++;
        looks++;
    } while (!cpu_seat_leave_quietly(seat));
    /* others send without end: the worker's own thread goes on; or it knocked, and has to tell whose replies find no room */
    if (turns == HELP_TURNS || looks > 1)
        gyre_bell_ring(&control->doorbell.bell, INT_MAX);
}

bool cpu_worker_has_work(const struct cpu_worker *worker)
{
    return has_work(worker, worker->command);
}

/* Obeys a new command, or serves a link or a queue. Returns whether there was anything to do. */
static bool use_turn(struct cpu_worker *worker)
{
    const gyre_u64 command = __atomic_load_n(&worker->resident->control->command.command, __ATOMIC_ACQUIRE);
    struct cpu_seat *const seat = worker->links.seat;
    if (command != worker->command) {
        const bool goes_on = GYRE_COMMAND_VERB(worker->command) != GYRE_VERB_RUN;
        if (goes_on && GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN)
            cpu_turns_resume(worker);
        cpu_walk_shut(worker);
        worker->command = command;
        obey_command(worker, command);
        return true;
    }
    if (!has_work(worker, command))
        return false;
    if (seat) {
        cpu_seat_take(seat);
        __atomic_store_n(&seat->left, 0, __ATOMIC_RELAXED);
    }
    const gyre_u64 handled = serve(worker, command);
    if (seat)
        cpu_seat_leave(seat);
    return handled != 0;
}

/* Finds out when the next reminder is due now, in this turn: a pause may come before the next one. */
static void look_at_reminders(struct cpu_worker *worker)
{
    if (!worker->reminds || cpu_keyed_has_ticks(worker) ||
        GYRE_COMMAND_VERB(worker->command) != GYRE_VERB_RUN)
        return;
    worker->context.next_due_ns = 0; /* else it may be too early: of a reminder that was put off */
    cpu_keyed_remind(worker);
    worker->turn.due_ns = worker->context.next_due_ns;
}

/* As run_worker, on a device where workers run one at a time. It never parks, and leaves errands to the core. */
static enum cpu_task_end run_in_turns(struct cpu_worker *worker)
{
    while (!is_last(worker->command)) {
        cpu_turns_await(worker);
        const bool did = use_turn(worker);
        if (did)
            look_at_reminders(worker);
        cpu_turns_did(worker, did);
    }
    cpu_turns_leave(worker);
    cpu_seats_count_awake(worker->resident->device->seats, -1);
    cpu_grid_close(worker->resident->grid);
    cpu_pool_leave(worker->resident->device->pool, &worker->resident->present);
    return CPU_TASK_ENDED;
}

static enum cpu_task_end run_worker(struct cpu_task *task)
{
    struct cpu_worker *worker = worker_of(task);
    if (worker->turn.turns)
        return run_in_turns(worker);
    struct cpu_relief *relief = worker->resident->device->relief;
    struct cpu_visitor visitor = {0};
    enum turn turn = GOES_ON;
    if (worker->parked)
        leave_park(worker);
    else
        begin_looking(worker);
    while (turn == GOES_ON && !is_last(worker->command))
        turn = worker->resident->seat ? take_helped_turn(worker) : take_turn(worker, &visitor);
    if (turn == RELIEVED)
        return CPU_TASK_ENDED; /* as far as this thread is concerned */
    cpu_relief_forget(relief, &visitor);
    if (turn == RESTS)
        return CPU_TASK_RESTS;
    end_looking(worker);
    cpu_seats_count_awake(worker->resident->device->seats, -1);
    cpu_grid_close(worker->resident->grid);
    cpu_pool_leave(worker->resident->device->pool, &worker->resident->present);
    return CPU_TASK_ENDED;
}

void cpu_worker_init(struct cpu_worker *worker)
{
    const struct cpu_settings *settings = &worker->resident->device->settings;
    worker->task = (struct cpu_task){
        .run = run_worker,
        .has_news = has_news,
        .bell = &worker->resident->control->doorbell.bell,
        .processor = settings->pin_count ? settings->pins[worker->block % settings->pin_count] : -1};
    worker->reminds = worker->resident->kernel->remind != NULL;
    __atomic_store_n(&worker->line->tells, 1, __ATOMIC_RELAXED);
}
