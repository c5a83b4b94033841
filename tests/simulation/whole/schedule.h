/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads under a seeded scheduler. One thread runs at a time. Each call that a thread makes to the system (calls.c)
 * is a step: there the scheduler may hand the turn to any other thread, and the whole program may die. Time is
 * virtual: it goes on a little with each step, and jumps when every thread sleeps. The same seed gives the same run.
 *
 * All functions are for the thread that has the turn.
 */
#ifndef GYRE_TESTS_SCHEDULE_H
#define GYRE_TESTS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_NEVER UINT64_MAX

/** How a child ended that died at its step. */
enum { SCHEDULE_DIED = 77 };

/** The calling thread becomes the first one. The program dies at step `die_at`; 0: never. */
void schedule_begin(uint64_t seed, uint64_t die_at);
/** A number below `below`, of the seed. */
uint64_t schedule_draw(uint64_t below);
uint64_t schedule_now_ns(void);
/** Steps so far, and a hash of who had which turn at what time. */
uint64_t schedule_steps(void);
uint64_t schedule_trace(void);

/** A step: others may run before it returns. */
void schedule_step(void);
/** A step at which the program may die: true when it is to die now, which the caller then does (schedule_die). */
bool schedule_step_dies(void);
_Noreturn void schedule_die(void);
/**
 * Sleeps until `key` is woken (true) or the deadline has passed (false). May wake early, as futexes do: true. No step
 * comes before: what the caller looked at still holds when it sleeps.
 */
bool schedule_sleep(const void *key, uint64_t deadline_ns);
/** Wakes up to `count` threads that sleep at `key`, any of them. Returns how many. */
int schedule_wake(const void *key, int count);

/** While held the calling thread keeps its turn. */
void schedule_hold(void);
void schedule_let_go(void);

struct schedule_thread;
struct schedule_thread *schedule_self(void);
/** Lists a new thread, which waits for its turn in schedule_enter. */
struct schedule_thread *schedule_add(void);
void schedule_enter(struct schedule_thread *thread);
/** The calling thread ends: another one has the turn. */
void schedule_leave(void);
bool schedule_has_left(const struct schedule_thread *thread);
/** The thread has no turn any more, as one of a process that died. The calling thread's own call does not return. */
void schedule_freeze(struct schedule_thread *thread);

/** The run is wrong: says so, with the seed, and ends the process. */
_Noreturn void schedule_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
