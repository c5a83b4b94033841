/* SPDX-License-Identifier: Apache-2.0 */
/* See fibers.h. The loop of fibers_run has a context of its own, to which each fiber returns when it sleeps. */
#include "fibers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/error.h"
#include "plain.h"
#include "tests/random.h"

enum { FIBERS_MAX = 512, PROCESSES_MAX = 4096, STACK_SIZE = 384 * 1024, TURNS_MAX = 30000000 };

enum state { RUNS, SLEEPS, ENDED };

struct fiber {
    ucontext_t context;
    void *stack, *errors;
    struct process *process;
    enum state state;
    const void *key;
    uint64_t until_ns, number;
    bool woken, is_detached;
    void *(*run)(void *);
    void (*run_process)(void *); /* of the first fiber of a process */
    void *argument;
};

static struct {
    uint64_t seed, random, now_ns, trace, turns, deaths, started;
    ucontext_t loop;
    struct fiber *current;
    size_t count, process_count;
    struct fiber *fibers[FIBERS_MAX];
    struct process *processes[PROCESSES_MAX];
    size_t spare_count;
    struct fiber *spare[FIBERS_MAX]; /* with their stacks */
    bool has_dead;
} world;

/* ---- chance and time ---- */

uint64_t fibers_draw(uint64_t below)
{
    return random_below(&world.random, below);
}

uint64_t fibers_now_ns(void)
{
    return world.now_ns;
}

void fibers_pass(uint64_t time_ns)
{
    world.now_ns += time_ns;
}

uint64_t fibers_trace(void)
{
    return world.trace;
}

uint64_t fibers_turns(void)
{
    return world.turns;
}

void violation(const char *rule, const char *format, ...)
{
    va_list arguments;
    printf("VIOLATION of %s, seed %llu, at %.3f ms: ", rule, (unsigned long long)world.seed,
           (double)(world.now_ns - UINT64_C(1000000000000)) / 1e6);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n    last error: %s\n    to see it again: simulation_cluster %llu 1\n", gyre_error_text(),
           (unsigned long long)world.seed);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

/* ---- fibers ---- */

static void to_loop(void)
{
    struct fiber *me = world.current;
    swapcontext(&me->context, &world.loop);
}

static void begin_fiber(void)
{
    struct fiber *me = world.current;
    if (me->run_process) {
        me->run_process(me->argument);
        me->process->is_alive = false;
        world.has_dead = true;
    } else
        me->run(me->argument);
    me->state = ENDED;
    fiber_wake(me);
    to_loop();
}

static struct fiber *take_spare(void)
{
    if (world.spare_count)
        return world.spare[--world.spare_count];
    struct fiber *fiber = plain_calloc(1, sizeof *fiber);
    fiber->stack =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fiber->errors = errors_make();
    if (fiber->stack == MAP_FAILED || !fiber->errors)
        violation("the machine", "no memory for a stack");
    return fiber;
}

static struct fiber *add_fiber(struct process *process)
{
    if (world.count == FIBERS_MAX)
        violation("the machine", "more than %d threads", FIBERS_MAX);
    struct fiber *fiber = world.fibers[world.count++] = take_spare();
    void *stack = fiber->stack, *errors = fiber->errors;
    memset(fiber, 0, sizeof *fiber);
    fiber->stack = stack;
    fiber->errors = errors;
    errors_reset(errors);
    fiber->process = process;
    fiber->number = ++world.started;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&fiber->context, begin_fiber, 0);
    return fiber;
}

static void remove_fiber(size_t index)
{
    world.spare[world.spare_count++] = world.fibers[index];
    world.fibers[index] = world.fibers[--world.count];
}

struct fiber *fiber_start(void *(*run)(void *), void *argument)
{
    struct fiber *fiber = add_fiber(process_current());
    fiber->run = run;
    fiber->argument = argument;
    return fiber;
}

bool fiber_has_ended(const struct fiber *fiber)
{
    return fiber->state == ENDED;
}

void fiber_join(struct fiber *fiber)
{
    for (size_t i = 0; i < world.count; i++)
        if (world.fibers[i] == fiber) {
            remove_fiber(i);
            return;
        }
}

void fiber_detach(struct fiber *fiber)
{
    fiber->is_detached = true;
    if (fiber->state == ENDED)
        fiber_join(fiber);
}

bool fiber_sleep(const void *key, uint64_t until_ns)
{
    struct fiber *me = world.current;
    me->key = key;
    me->until_ns = until_ns;
    me->woken = false;
    me->state = SLEEPS;
    to_loop();
    me->key = NULL;
    return me->woken;
}

void fiber_wake(const void *key)
{
    for (size_t i = 0; i < world.count; i++) {
        struct fiber *fiber = world.fibers[i];
        if (fiber->state != SLEEPS || fiber->key != key)
            continue;
        fiber->state = RUNS;
        fiber->woken = true;
    }
}

void fiber_yield(void)
{
    to_loop();
}

/* ---- processes ---- */

struct process *process_start(const char *name, void (*run)(void *context), void *context)
{
    if (world.process_count == PROCESSES_MAX)
        violation("the machine", "more than %d processes", PROCESSES_MAX);
    struct process *process = world.processes[world.process_count++] = plain_calloc(1, sizeof *process);
    snprintf(process->name, sizeof process->name, "%s", name);
    process->is_alive = true;
    struct fiber *fiber = add_fiber(process);
    fiber->run_process = run;
    fiber->argument = context;
    return process;
}

struct process *process_current(void)
{
    return world.current ? world.current->process : NULL;
}

uint64_t process_deaths(void)
{
    return world.deaths;
}

void process_kill(struct process *process)
{
    world.deaths += process->is_alive;
    process->is_alive = false;
    process->was_killed = true;
    world.has_dead = true;
    if (process_current() == process)
        to_loop();
}

void process_step(bool is_write)
{
    struct process *process = process_current();
    if (!process || !process->event_in || (process->event_is_of_writes && !is_write) || --process->event_in)
        return;
    if (process->event == PROCESS_DIES)
        process_kill(process);
    process->still_until_ns = world.now_ns + process->event_ns;
    to_loop();
}

/* What processes had that are dead, once none of their fibers runs. */
static void bury(void)
{
    for (size_t i = 0; i < world.count;)
        if (!world.fibers[i]->process->is_alive)
            remove_fiber(i);
        else
            i++;
    for (size_t i = 0; i < world.process_count; i++)
        while (!world.processes[i]->is_alive && world.processes[i]->blocks)
            plain_free_first(&world.processes[i]->blocks);
    world.has_dead = false;
}

/* ---- the loop ---- */

static uint64_t ready_ns(const struct fiber *fiber)
{
    const uint64_t own = fiber->state == RUNS ? 0 : fiber->state == SLEEPS ? fiber->until_ns : FIBERS_NEVER;
    return own > fiber->process->still_until_ns ? own : fiber->process->still_until_ns;
}

static size_t gather(struct fiber *ready[FIBERS_MAX], uint64_t *first_ns)
{
    size_t count = 0;
    *first_ns = FIBERS_NEVER;
    for (size_t i = 0; i < world.count; i++) {
        const uint64_t at = ready_ns(world.fibers[i]);
        if (at <= world.now_ns)
            ready[count++] = world.fibers[i];
        *first_ns = at < *first_ns ? at : *first_ns;
    }
    return count;
}

static struct fiber *choose(void)
{
    static struct fiber *ready[FIBERS_MAX];
    uint64_t first_ns;
    size_t count = gather(ready, &first_ns);
    if (!count) {
        if (first_ns == FIBERS_NEVER)
            violation("progress", "every thread waits for another one");
        world.now_ns = first_ns;
        count = gather(ready, &first_ns);
    }
    return ready[fibers_draw(count)];
}

void fibers_run(bool (*is_done)(void))
{
    static void *own_errors;
    own_errors = own_errors ? own_errors : errors_make();
    while (!is_done()) {
        if (world.has_dead)
            bury();
        struct fiber *fiber = choose();
        if (++world.turns > TURNS_MAX)
            violation("progress", "it does not come to an end");
        world.trace = (world.trace ^ fiber->number ^ world.now_ns << 16) * UINT64_C(0x100000001b3);
        fiber->state = RUNS;
        world.current = fiber;
        errors_use(fiber->errors);
        swapcontext(&world.loop, &fiber->context);
        world.current = NULL;
        errors_use(own_errors);
        if (fiber->state == ENDED && fiber->is_detached)
            fiber_join(fiber);
    }
}

void fibers_begin(uint64_t seed)
{
    world.seed = seed;
    world.random = random_begin(seed + 1);
    for (int i = 0; i < 4; i++)
        fibers_draw(2);
    world.now_ns = UINT64_C(1000000000000);
    world.trace = world.turns = world.deaths = world.started = 0;
}

void fibers_end(void)
{
    for (size_t i = 0; i < world.process_count; i++)
        world.processes[i]->is_alive = false;
    bury();
    for (size_t i = 0; i < world.process_count; i++)
        plain_free(world.processes[i]);
    world.process_count = 0;
}
