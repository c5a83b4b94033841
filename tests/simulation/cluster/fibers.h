/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes with their threads, in one thread under a seed: each thread is a fiber with a stack of its own, and one of them runs at a time,
 * until it sleeps. Time is virtual: it goes on when it is looked at, and jumps when everybody sleeps. A process can be killed, which frees
 * what it had, and can stand still for a while. The same seed gives the same run.
 *
 * "The current process" is that of the fiber that runs; outside of fibers_run there is none.
 */
#ifndef GYRE_TESTS_CLUSTER_FIBERS_H
#define GYRE_TESTS_CLUSTER_FIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIBERS_NEVER UINT64_MAX
#define FIBERS_MS    UINT64_C(1000000)

struct fiber;

/** What happens to a process at one of its next steps. */
enum process_event { PROCESS_DIES = 1, PROCESS_STANDS_STILL = 2 };

struct process {
    char name[24];
    bool is_alive, was_killed;
    uint64_t still_until_ns; /* it stands still until then */
    enum process_event event;
    bool event_is_of_writes; /* the steps that count are those of writes to the transport */
    uint64_t event_in;       /* so many steps from now; 0: nothing happens */
    uint64_t event_ns;       /* how long it stands still then */
    void *user;              /* the owner's */
    struct kept_block *blocks;
};

/** Begins a run: no process is there, and it is the beginning of time. */
void fibers_begin(uint64_t seed);
/** Ends the run: every process is killed. */
void fibers_end(void);
/** Runs all fibers until `is_done` says so, which is asked before each turn. */
void fibers_run(bool (*is_done)(void));
/** A hash of who had which turn at what time, and how many turns there were. */
uint64_t fibers_trace(void);
uint64_t fibers_turns(void);

/** A number below `below`, of the seed. */
uint64_t fibers_draw(uint64_t below);
uint64_t fibers_now_ns(void);
void fibers_pass(uint64_t time_ns);

/** Starts a process with one fiber; the process ends when `run` returns. Its memory is valid until fibers_end. */
struct process *process_start(const char *name, void (*run)(void *context), void *context);
/** NULL: none. */
struct process *process_current(void);
/** Kills a process; if it is the current one, does not return. */
void process_kill(struct process *process);
/** A step of the current process, at which its event may happen. */
void process_step(bool is_write);
/** The processes that were killed so far. */
uint64_t process_deaths(void);

/** Starts a fiber of the current process. */
struct fiber *fiber_start(void *(*run)(void *), void *argument);
bool fiber_has_ended(const struct fiber *fiber);
/** Forgets a fiber that has ended. */
void fiber_join(struct fiber *fiber);
/** Nobody joins it: it is forgotten when it ends. */
void fiber_detach(struct fiber *fiber);
/** Sleeps until `key` is woken (true) or the time has come (false). */
bool fiber_sleep(const void *key, uint64_t until_ns);
void fiber_wake(const void *key);
/** Lets others run. */
void fiber_yield(void);

/** Memory of the current process, which is freed with it. */
void *process_alloc(size_t size);
void *process_resize(void *memory, size_t size);
void process_free(void *memory);

/** The error stack that the core uses from now on (errors.c): that of the fiber that runs. */
void errors_use(void *stack);
void *errors_make(void);
void errors_reset(void *stack);

/** The run is wrong: says so, with the seed and the name of the rule that does not hold, and ends the program. */
_Noreturn void violation(const char *rule, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
