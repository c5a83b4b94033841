/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the lanes of a block as fibers (stacks of their own) of the worker's thread. Takes no lock: a
 * cpu_lanes belongs to one thread at a time.
 *
 * A message runs in rounds. In each round every lane, in order, runs until it reaches a barrier or ends, and
 * then switches to the next lane itself. In the first round a lane that ended leaves its stack to the next
 * lane without a switch. So a handler without barriers runs as a plain loop on one stack. A later round
 * starts only when all lanes wait at the same barrier, so the only bookkeeping is the number of waiting
 * lanes.
 *
 * A lane's fiber outlives its message: it waits in lane_loop for the next message.
 *
 * With a seed (cpu_lanes_schedule) the next lane is any of those that can run, and a lane can be left at an access to
 * memory as well. Then `runnable` lists the lanes of the round that neither wait nor ended.
 *
 * The lanes of several blocks (cpu_lanes_split) run in the same way. A round then ends for those blocks whose lanes all wait at one
 * barrier of the block, and when there is none, for all blocks, if all lanes wait at one barrier of the grid.
 */
#include "backends/cpu/lanes/cpu_lane.h"
#include "backends/cpu/lanes/cpu_fiber.h"
#include "backends/cpu/cpu_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Larger than a page, because a function with a large frame steps over a single page. */
#define GUARD_SIZE ((size_t)64 * 1024)
/* After so many accesses a lane is left even beyond the limit of switches, because it may wait for another one. */
#define QUIET_MAX 100000

struct lane {
    gyre_context context;
    struct cpu_lanes *owner;
    struct cpu_fiber *fiber; /* the fiber that the lane runs on; valid while the lane waits */
    const char *place; /* the source place of the barrier where the lane waits; NULL: it does not wait */
    int started;       /* with a seed: the lane has a fiber */
    int left;          /* with a seed: the lane was left at an access, and goes on there */
    int meets_all;     /* the barrier is one of the grid */
    size_t scratch;    /* where the scratch of the lane's block begins, behind that of the first one */
    int result;
};

/* The argument of lane_loop: a fiber and its owner. */
struct stack {
    struct cpu_fiber fiber;
    struct cpu_lanes *owner;
};

struct cpu_lanes {
    uint32_t lane_count;
    uint32_t current;      /* the running lane */
    uint32_t waiting;      /* lanes that met a barrier in this round */
    uint32_t phase;        /* barriers that were passed */
    uint32_t block_lanes;  /* lanes of a block; `lane_count`, where all are of one block */
    uint32_t grid_phase;   /* with several blocks: barriers of the grid that were passed in this message */
    uint32_t *block_phase; /* and each block's own since then */
    uint32_t stacks_taken; /* stacks that lanes of this message use */
    uint32_t stacks_ready; /* stacks that are accessible and have a fiber */
    int first_round;
    int diverged;  /* this round's barriers differ */
    int exhausted; /* no memory for another stack */
    int abandoned; /* a lane left the message */
    int failed;    /* some handler failed */
    int cancelled; /* fibers leave instead of going on */
    uint64_t seed; /* 0: lanes run in their order */
    uint64_t chance;
    uint64_t switches_most; /* how often a lane is left at an access; 0: any number of times */
    uint32_t quiet;         /* accesses since a lane was left, waited or ended, beyond that number */
    struct cpu_switches switches;
    uint32_t *runnable, runnable_count;
    const char **places; /* for `tell` */
    cpu_lanes_tell tell;
    const char *place;
    const struct cpu_lanes_message *message;
    unsigned char *region; /* a guard and a stack for each lane */
    size_t region_size, stack_size;
    gyre_u64 *cells;
    struct cpu_fiber thread; /* the caller of cpu_lanes_run */
    struct stack *stacks;
    char text[160];
    struct lane lanes[];
};

static struct lane *lane_of(gyre_context *context)
{
    return (struct lane *)(void *)((char *)context - offsetof(struct lane, context));
}

static const struct lane *lane_of_const(const gyre_context *context)
{
    return (const struct lane *)(const void *)((const char *)context - offsetof(struct lane, context));
}

static int has_blocks(const struct cpu_lanes *lanes)
{
    return lanes->block_lanes != lanes->lane_count;
}

/* Whether lanes take turns as chance says, also where no lane is left at an access. */
static int by_chance(const struct cpu_lanes *lanes)
{
    return lanes->seed || has_blocks(lanes);
}

static unsigned char *stack_of(const struct cpu_lanes *lanes, uint32_t index)
{
    return lanes->region + index * (GUARD_SIZE + lanes->stack_size) + GUARD_SIZE;
}

/*
 * The distance between the end of a stack and the place where its fiber starts. Stacks lie a multiple of a
 * page apart; without this distance the hot frames of all lanes would compete for the same few sets of the
 * first-level cache.
 */
static size_t colour_of(uint32_t index)
{
    return index % 16 * 256;
}

static void lane_loop(void *argument);

/* Returns the stack for the next lane of the first round; NULL when there is no memory for it. */
static struct cpu_fiber *take_stack(struct cpu_lanes *lanes)
{
    const uint32_t index = lanes->stacks_taken;
    if (index == lanes->stacks_ready) {
        if (mprotect(stack_of(lanes, index), lanes->stack_size, PROT_READ | PROT_WRITE) != 0)
            return NULL;
        lanes->stacks[index].owner = lanes;
        cpu_fiber_init(&lanes->stacks[index].fiber, stack_of(lanes, index),
                       lanes->stack_size - colour_of(index));
        cpu_fiber_prepare(&lanes->stacks[index].fiber, lane_loop, &lanes->stacks[index]);
        lanes->stacks_ready++;
    }
    lanes->stacks_taken++;
    return &lanes->stacks[index].fiber;
}

/* ---- by chance ---- */

/* A number below `below` (xorshift64*). */
static uint32_t choose(struct cpu_lanes *lanes, uint32_t below)
{
    lanes->chance ^= lanes->chance >> 12;
    lanes->chance ^= lanes->chance << 25;
    lanes->chance ^= lanes->chance >> 27;
    return (uint32_t)((lanes->chance * UINT64_C(0x2545f4914f6cdd1d) >> 32) % below);
}

static void begin_schedule(struct cpu_lanes *lanes)
{
    lanes->chance = (lanes->seed + UINT64_C(0x632be59bd9b4e019)) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    lanes->switches.count = 0;
    lanes->quiet = 0;
    lanes->runnable_count = lanes->lane_count;
    for (uint32_t i = 0; i < lanes->lane_count; i++) {
        lanes->runnable[i] = i;
        lanes->lanes[i].started = lanes->lanes[i].left = 0;
    }
    lanes->current = choose(lanes, lanes->lane_count);
    lanes->lanes[lanes->current].started = 1;
}

/* Takes the running lane off the list, because it waits or ended. */
static void stop_running(struct cpu_lanes *lanes)
{
    uint32_t i = 0;
    while (lanes->runnable[i] != lanes->current)
        i++;
    lanes->runnable[i] = lanes->runnable[--lanes->runnable_count];
}

/*
 * Makes one of the lanes that can run the current one, and returns its fiber. `self`: the fiber of a lane that ended, which
 * a fresh lane takes over; NULL: there is none. NULL: there is no memory for a stack, and the current lane is the same.
 */
static struct cpu_fiber *choose_fiber(struct cpu_lanes *lanes, struct cpu_fiber *self)
{
    const uint32_t chosen = lanes->runnable[choose(lanes, lanes->runnable_count)];
    struct lane *const lane = &lanes->lanes[chosen];
    struct cpu_fiber *const fiber = lane->started ? lane->fiber : self ? self : take_stack(lanes);
    if (fiber) {
        lane->started = 1;
        lanes->current = chosen;
    }
    return fiber;
}

/* ---- several blocks ---- */

/* Whether these lanes all wait, at one barrier: of the grid, or of their block. */
static int have_met(const struct lane *lanes, uint32_t count, int all)
{
    for (uint32_t i = 0; i < count; i++)
        if (!lanes[i].place || lanes[i].meets_all != all || strcmp(lanes[i].place, lanes[0].place) != 0)
            return 0;
    return 1;
}

static void let_go(struct cpu_lanes *lanes, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        lanes->runnable[lanes->runnable_count++] = i;
}

/* As end_seeded_round. */
static struct cpu_fiber *end_round_of_blocks(struct cpu_lanes *lanes)
{
    const uint32_t each = lanes->block_lanes;
    if (lanes->waiting == 0)
        return &lanes->thread;
    for (uint32_t first = 0; first < lanes->lane_count; first += each)
        if (have_met(&lanes->lanes[first], each, 0)) {
            let_go(lanes, first, each);
            lanes->block_phase[first / each]++;
        }
    if (!lanes->runnable_count && have_met(lanes->lanes, lanes->lane_count, 1)) {
        let_go(lanes, 0, lanes->lane_count);
        lanes->grid_phase++;
        memset(lanes->block_phase, 0, lanes->lane_count / each * sizeof *lanes->block_phase);
    }
    lanes->waiting -= lanes->runnable_count;
    lanes->diverged = !lanes->runnable_count;
    return lanes->diverged ? &lanes->thread : choose_fiber(lanes, NULL);
}

void cpu_lanes_split(struct cpu_lanes *lanes, uint32_t blocks, size_t scratch)
{
    lanes->block_lanes = lanes->lane_count / blocks;
    for (uint32_t i = 0; i < lanes->lane_count; i++)
        lanes->lanes[i].scratch = i / lanes->block_lanes * scratch;
}

/* ---- with a seed ---- */

/* Of a round whose lanes all wait or ended: the fiber that goes on. */
static struct cpu_fiber *end_seeded_round(struct cpu_lanes *lanes)
{
    if (has_blocks(lanes))
        return end_round_of_blocks(lanes);
    if (lanes->waiting == 0)
        return &lanes->thread;
    if (lanes->waiting != lanes->lane_count)
        lanes->diverged = 1;
    if (lanes->diverged)
        return &lanes->thread;
    lanes->waiting = 0;
    lanes->phase++;
    lanes->runnable_count = lanes->lane_count;
    for (uint32_t i = 0; i < lanes->lane_count; i++)
        lanes->runnable[i] = i;
    return choose_fiber(lanes, NULL);
}

/* As next_fiber. */
static struct cpu_fiber *next_seeded_fiber(struct cpu_lanes *lanes, struct cpu_fiber *self, int ended)
{
    lanes->quiet = 0; /* whoever runs next has waited for nobody yet */
    stop_running(lanes);
    if (lanes->runnable_count == 0)
        return end_seeded_round(lanes);
    struct cpu_fiber *const next = choose_fiber(lanes, ended ? self : NULL);
    if (!next)
        lanes->exhausted = 1;
    return next ? next : &lanes->thread;
}

/* Whether the limit of switches keeps the lane where it is. */
static int is_limited(struct cpu_lanes *lanes)
{
    return lanes->switches_most && lanes->switches.count >= lanes->switches_most &&
           ++lanes->quiet < QUIET_MAX;
}

static void note_switch(struct cpu_lanes *lanes, const void *code, uint32_t from)
{
    lanes->quiet = 0;
    if (lanes->switches.count++ < CPU_SWITCHES_KEPT)
        lanes->switches.first[lanes->switches.count - 1] = (struct cpu_switch){code, from, lanes->current};
}

void cpu_lanes_yield(gyre_context *context, const void *code)
{
    struct lane *const lane = lane_of(context);
    struct cpu_lanes *const lanes = lane->owner;
    /* some seeds switch often, some rarely: a mistake may need either */
    if (!lanes->seed || lanes->runnable_count < 2 || is_limited(lanes) ||
        choose(lanes, 2u << lanes->seed % 4 * 2) != 0)
        return;
    struct cpu_fiber *const next = choose_fiber(lanes, NULL);
    if (!next || next == lane->fiber)
        return;
    note_switch(lanes, code, cpu_lanes_number(context));
    lane->left = 1;
    cpu_fiber_switch(lane->fiber, next);
    lane->left = 0;
    if (lanes->cancelled)
        cpu_fiber_leave(lane->fiber, &lanes->thread);
}

void cpu_lanes_abandon(gyre_context *context)
{
    struct lane *const lane = lane_of(context);
    struct cpu_lanes *const lanes = lane->owner;
    lanes->abandoned = 1;
    lane->left = 1;
    cpu_fiber_switch(lane->fiber, &lanes->thread);
    cpu_fiber_leave(lane->fiber, &lanes->thread); /* as one that is cancelled */
}

bool cpu_lanes_runs(const gyre_context *context, uint32_t lane)
{
    const struct cpu_lanes *const lanes = lane_of_const(context)->owner;
    for (uint32_t i = 0; i < lanes->runnable_count; i++)
        if (lanes->runnable[i] == lane)
            return true;
    return false;
}

const char *cpu_lanes_place(const gyre_context *context, uint32_t lane)
{
    return lane_of_const(context)->owner->lanes[lane].place;
}

void cpu_lanes_schedule(struct cpu_lanes *lanes, uint64_t seed)
{
    lanes->seed = seed;
}

void cpu_lanes_limit(struct cpu_lanes *lanes, uint64_t most)
{
    lanes->switches_most = most;
}

const struct cpu_switches *cpu_lanes_switches(const struct cpu_lanes *lanes)
{
    return &lanes->switches;
}

void cpu_lanes_on_divergence(struct cpu_lanes *lanes, cpu_lanes_tell tell)
{
    lanes->tell = tell;
}

/* ---- in order ---- */

/* Ends a round, after all lanes had their turn, and returns the fiber that goes on. */
static struct cpu_fiber *end_round(struct cpu_lanes *lanes)
{
    if (lanes->waiting == 0)
        return &lanes->thread;
    if (lanes->waiting != lanes->lane_count)
        lanes->diverged = 1;
    if (lanes->diverged)
        return &lanes->thread;
    lanes->waiting = 0;
    lanes->phase++;
    lanes->first_round = 0;
    lanes->current = 0;
    return lanes->lanes[0].fiber;
}

/*
 * Called when the running lane, on the fiber `self`, has stopped. `ended`: the lane returned, so its stack is
 * free. Returns the fiber that runs next.
 */
static struct cpu_fiber *next_fiber(struct cpu_lanes *lanes, struct cpu_fiber *self, int ended)
{
    if (++lanes->current == lanes->lane_count)
        return end_round(lanes);
    if (!lanes->first_round)
        return lanes->lanes[lanes->current].fiber;
    if (ended)
        return self;
    struct cpu_fiber *fresh = take_stack(lanes);
    if (!fresh)
        lanes->exhausted = 1;
    return fresh ? fresh : &lanes->thread;
}

/* Switches to the fiber that runs next, and returns when it is this fiber's turn again. */
static void hand_over(struct cpu_lanes *lanes, struct cpu_fiber *self, int ended)
{
    struct cpu_fiber *next =
        by_chance(lanes) ? next_seeded_fiber(lanes, self, ended) : next_fiber(lanes, self, ended);
    if (next == self)
        return;
    cpu_fiber_switch(self, next);
    if (lanes->cancelled)
        cpu_fiber_leave(self, &lanes->thread);
}

/* The function of each fiber: runs lanes until the fiber is cancelled. */
static void lane_loop(void *argument)
{
    struct cpu_fiber *self = &((struct stack *)argument)->fiber;
    struct cpu_lanes *lanes = ((struct stack *)argument)->owner;
    if (lanes->cancelled)
        cpu_fiber_leave(self, &lanes->thread);
    for (;;) {
        struct lane *lane = &lanes->lanes[lanes->current];
        const struct cpu_lanes_message *message = lanes->message;
        lane->fiber = self;
        lane->result = message->handle(message->request, message->reply, message->state,
                                       (unsigned char *)message->scratch + lane->scratch, message->buffers,
                                       &lane->context);
        lanes->failed |= (int)lane->context.failed;
        hand_over(lanes, self, 1);
    }
}

void cpu_lanes_barrier(gyre_context *context, const char *place)
{
    struct lane *lane = lane_of(context);
    struct cpu_lanes *lanes = lane->owner;
    lane->place = place;
    if (lanes->waiting++ == 0)
        lanes->place = place;
    else if (place != lanes->place && strcmp(place, lanes->place) != 0 && !has_blocks(lanes))
        lanes->diverged = 1;
    hand_over(lanes, lane->fiber, 0);
    lane->place = NULL;
}

void cpu_lanes_meet_all(gyre_context *context, const char *place)
{
    struct lane *lane = lane_of(context);
    lane->meets_all = 1;
    cpu_lanes_barrier(context, place);
    lane->meets_all = 0;
}

uint32_t cpu_lanes_phase(const struct cpu_lanes *lanes)
{
    return lanes->phase;
}

uint32_t cpu_lanes_phase_of(const gyre_context *context)
{
    const struct cpu_lanes *lanes = lane_of_const(context)->owner;
    if (!has_blocks(lanes))
        return lanes->phase;
    const uint32_t own = lanes->block_phase[context->block];
    if (lanes->grid_phase >= CPU_PHASES_MAX || own >= CPU_PHASES_MAX)
        return CPU_NO_PHASE;
    return lanes->grid_phase * CPU_PHASES_MAX + own;
}

uint32_t cpu_lanes_number(const gyre_context *context)
{
    return (uint32_t)(lane_of_const(context) - lane_of_const(context)->owner->lanes);
}

/* Each block has one cell more than lanes. */
gyre_u64 *cpu_lanes_cells(gyre_context *context)
{
    struct cpu_lanes *lanes = lane_of(context)->owner;
    return has_blocks(lanes) ? lanes->cells + (size_t)context->block * (lanes->block_lanes + 1)
                             : lanes->cells;
}

void cpu_lanes_refuse_barrier(gyre_context *context, const char *place)
{
    (void)place;
    if (context->failed)
        return;
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_BARRIER;
    context->fail_text = "barriers are for block kernels";
}

/* Where a block function stores in a lane kernel or an actor, before its barrier is refused. */
gyre_u64 *cpu_lanes_refuse_cells(gyre_context *context)
{
    static _Thread_local gyre_u64 cells[2];
    (void)context;
    return cells;
}

/* Ends a fiber that waits in hand_over, and makes its stack usable again. */
static void cancel_fiber(struct cpu_lanes *lanes, struct cpu_fiber *fiber)
{
    lanes->cancelled = 1;
    cpu_fiber_switch(&lanes->thread, fiber);
    lanes->cancelled = 0;
    cpu_fiber_prepare(fiber, lane_loop, fiber->argument);
}

static const char *file_and_line(const char *place)
{
    const char *slash = strrchr(place, '/');
    return slash ? slash + 1 : place;
}

/* Names the first waiting lane and the first lane that does something else. */
static void describe_divergence(struct cpu_lanes *lanes)
{
    uint32_t first = 0, other = 0;
    while (!lanes->lanes[first].place)
        first++;
    const char *place = lanes->lanes[first].place;
    while (lanes->lanes[other].place && strcmp(lanes->lanes[other].place, place) == 0)
        other++;
    if (lanes->lanes[other].place)
        snprintf(lanes->text, sizeof lanes->text, "lane %u waits at %s, lane %u at %s", first,
                 file_and_line(place), other, file_and_line(lanes->lanes[other].place));
    else
        snprintf(lanes->text, sizeof lanes->text, "lane %u ended, lane %u waits: %s", other, first,
                 file_and_line(place));
}

/* Fails a message that cannot go on: writes the reason, and gets the waiting lanes off their stacks. */
static void give_up(struct cpu_lanes *lanes, gyre_context *context)
{
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_MEMORY;
    if (lanes->diverged && !lanes->abandoned) {
        context->fail_code = GYRE_FAILURE_BARRIER;
        describe_divergence(lanes);
    } else if (lanes->abandoned) {
        context->fail_code = GYRE_FAILURE_BARRIER;
        snprintf(lanes->text, sizeof lanes->text, "lane %u left the message", lanes->current);
    } else {
        snprintf(lanes->text, sizeof lanes->text, "no memory for the stack of lane %u", lanes->current);
    }
    context->fail_text = lanes->text;
    if (lanes->diverged && !lanes->abandoned && lanes->tell) {
        for (uint32_t i = 0; i < lanes->lane_count; i++)
            lanes->places[i] = lanes->lanes[i].place;
        lanes->tell(context, lanes->places, lanes->lane_count);
    }
    for (uint32_t i = 0; i < lanes->lane_count; i++) {
        if (lanes->lanes[i].place || lanes->lanes[i].left)
            cancel_fiber(lanes, lanes->lanes[i].fiber);
        lanes->lanes[i].place = NULL;
        lanes->lanes[i].left = 0;
    }
}

/*
 * Takes over the failure of the lowest lane whose handler failed. It counts as the cause even if other lanes
 * then waited in vain.
 */
static void collect_failure(struct cpu_lanes *lanes, gyre_context *context)
{
    for (uint32_t i = lanes->lane_count; i-- > 0;) {
        gyre_context *lane = &lanes->lanes[i].context;
        if (!lane->failed)
            continue;
        context->failed = 1;
        context->fail_code = lane->fail_code;
        context->fail_text = lane->fail_text;
        lane->failed = 0;
    }
}

/* Gives all lanes the message's context, if it differs from the last message's context, which is rare. */
static void adopt_context(struct cpu_lanes *lanes, const gyre_context *from)
{
    const gyre_context *first = &lanes->lanes[0].context;
    if (first->services == from->services && first->owner == from->owner && first->block == from->block &&
        first->block_count == from->block_count && first->foreign == from->foreign)
        return;
    for (uint32_t i = 0; i < lanes->lane_count; i++) {
        gyre_context *context = &lanes->lanes[i].context;
        *context = *from;
        context->lane = i % lanes->block_lanes;
        context->lane_count = lanes->block_lanes;
        context->block = from->block + i / lanes->block_lanes;
        context->failed = 0;
    }
}

/* Gives all lanes the flow of the message, which differs for every message. */
static void adopt_flow(struct cpu_lanes *lanes, const gyre_context *from)
{
    const gyre_context *first = &lanes->lanes[0].context;
    if (first->origin == from->origin && first->flow == from->flow && first->turn == from->turn &&
        first->memory == from->memory && first->token == from->token)
        return;
    for (uint32_t i = 0; i < lanes->lane_count; i++) {
        lanes->lanes[i].context.origin = from->origin;
        lanes->lanes[i].context.flow = from->flow;
        lanes->lanes[i].context.turn = from->turn;
        lanes->lanes[i].context.memory = from->memory;
        lanes->lanes[i].context.token = from->token;
    }
}

/* Gives all lanes the message's header, which differs for every message. */
static void adopt_header(struct cpu_lanes *lanes, const gyre_context *from)
{
    if (from->header_size == lanes->lanes[0].context.header_size && from->header_size == 0)
        return;
    for (uint32_t i = 0; i < lanes->lane_count; i++) {
        lanes->lanes[i].context.header = from->header;
        lanes->lanes[i].context.header_size = from->header_size;
    }
}

static void begin_blocks(struct cpu_lanes *lanes)
{
    lanes->grid_phase = 0;
    memset(lanes->block_phase, 0, lanes->lane_count / lanes->block_lanes * sizeof *lanes->block_phase);
    for (uint32_t i = 0; i < lanes->lane_count; i++)
        lanes->lanes[i].meets_all = 0;
}

int cpu_lanes_run(struct cpu_lanes *lanes, const struct cpu_lanes_message *message, gyre_context *context)
{
    adopt_context(lanes, context);
    adopt_header(lanes, context);
    adopt_flow(lanes, context);
    lanes->message = message;
    lanes->current = 0;
    lanes->waiting = 0;
    lanes->phase++;
    lanes->stacks_taken = 0;
    lanes->first_round = 1;
    lanes->diverged = 0;
    lanes->exhausted = 0;
    lanes->abandoned = 0;
    lanes->failed = 0;
    if (by_chance(lanes))
        begin_schedule(lanes);
    if (has_blocks(lanes))
        begin_blocks(lanes);
    cpu_fiber_adopt_thread(&lanes->thread);
    struct cpu_fiber *first = take_stack(lanes);
    if (first)
        cpu_fiber_switch(&lanes->thread, first);
    else
        lanes->exhausted = 1;
    const int stopped = lanes->diverged || lanes->exhausted || lanes->abandoned;
    if (!stopped && !lanes->failed)
        return lanes->lanes[0].result;
    if (stopped)
        give_up(lanes, context);
    collect_failure(lanes, context);
    return GYRE_OUTCOME_FAILED;
}

static size_t whole_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

static int allocate_lanes(struct cpu_lanes *lanes)
{
    lanes->stacks = cpu_lines_alloc(lanes->lane_count, sizeof *lanes->stacks);
    lanes->cells = cpu_lines_alloc((size_t)lanes->lane_count * 2, sizeof *lanes->cells);
    lanes->block_phase = cpu_lines_alloc(lanes->lane_count, sizeof *lanes->block_phase);
    lanes->region_size = lanes->lane_count * (GUARD_SIZE + lanes->stack_size);
    lanes->runnable = cpu_lines_alloc(lanes->lane_count, sizeof *lanes->runnable);
    lanes->places = cpu_lines_alloc(lanes->lane_count, sizeof *lanes->places);
    void *region =
        mmap(NULL, lanes->region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    lanes->region = region == MAP_FAILED ? NULL : region;
    return lanes->stacks && lanes->cells && lanes->block_phase && lanes->runnable && lanes->places &&
           lanes->region;
}

struct cpu_lanes *cpu_lanes_create(uint32_t lane_count, size_t stack_size)
{
    if (stack_size == 0)
        stack_size = CPU_LANES_STACK_DEFAULT;
    if (lane_count < 1 || lane_count > CPU_LANES_MAX || stack_size < CPU_LANES_STACK_MIN ||
        stack_size > CPU_LANES_STACK_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct cpu_lanes *lanes = cpu_lines_alloc(1, sizeof *lanes + lane_count * sizeof lanes->lanes[0]);
    if (!lanes)
        return NULL;
    lanes->lane_count = lanes->block_lanes = lane_count;
    lanes->stack_size = whole_pages(stack_size);
    for (uint32_t i = 0; i < lane_count; i++)
        lanes->lanes[i].owner = lanes;
    if (!allocate_lanes(lanes)) {
        cpu_lanes_destroy(lanes);
        errno = ENOMEM;
        return NULL;
    }
    return lanes;
}

void cpu_lanes_destroy(struct cpu_lanes *lanes)
{
    if (!lanes)
        return;
    cpu_fiber_adopt_thread(&lanes->thread);
    for (uint32_t i = 0; i < lanes->stacks_ready; i++) {
        cancel_fiber(lanes, &lanes->stacks[i].fiber);
        cpu_fiber_finish(&lanes->stacks[i].fiber);
    }
    if (lanes->region)
        munmap(lanes->region, lanes->region_size);
    free(lanes->places);
    free(lanes->runnable);
    free(lanes->cells);
    free(lanes->block_phase);
    free(lanes->stacks);
    free(lanes);
}
