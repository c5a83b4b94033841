/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine whose memory is as weak as C11 allows, nearly: real code runs on it, a seed decides everything. The code is compiled with
 * -fsanitize=thread, whose calls hooks.c defines: no line of it is changed. Threads are fibers of one thread, which change places at atomic
 * operations, system calls and waits.
 *
 * What it knows: an atomic load gives any store that the thread has not seen a later one of, until a release, an acquire or a fence orders
 * the two; a plain access that nothing orders behind another thread's is a race; a thread that sleeps while everybody else sleeps or has
 * ended was forgotten, also where it would wake up by itself later. What it does not know: a load that sees a store which is made
 * later (load buffering), and orders of one location other than that in which the stores were made.
 *
 * Docs: docs/adr/simulation.md.
 */
#ifndef GYRE_SIMULATION_MACHINE_H
#define GYRE_SIMULATION_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MACHINE_THREADS = 6 };

/** Begins a run: no threads, an empty history. */
void machine_begin(uint64_t seed);
/** Adds a thread, which runs `body(argument)`. Before machine_run. */
void machine_thread(const char *name, void (*body)(void *argument), void *argument);
/** Runs all threads until they end. False: something is wrong, and standard output has a sentence. */
bool machine_run(void);

/** For threads: ends the run as wrong unless the condition holds. */
#define machine_require(condition)                                                                           \
    ((condition) ? (void)0 : machine_fail("%s:%d: %s", __FILE__, __LINE__, #condition))
__attribute__((format(printf, 1, 2))) void machine_fail(const char *format, ...);

/** A number below `below` that follows from the seed. */
uint64_t machine_draw(uint64_t below);
/** Another thread goes on. For loops that wait. */
void machine_yield(void);
/** The present thread, from 1 on; 0: none runs. */
unsigned machine_self(void);

/* ---- for hooks.c ---- */

/** Orders of C11, by the numbers that compilers pass. */
enum machine_order { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

enum machine_change { CHANGE_SET, CHANGE_ADD, CHANGE_SUB, CHANGE_AND, CHANGE_OR, CHANGE_XOR };

/** What a change makes of a value. */
uint64_t machine_changed(enum machine_change what, uint64_t old, uint64_t value);
uint64_t machine_load(const volatile void *at, unsigned size, int order);
void machine_store(volatile void *at, unsigned size, uint64_t value, int order);
/** Returns the old value. */
uint64_t machine_change(volatile void *at, unsigned size, enum machine_change what, uint64_t value,
                        int order);
/** Compares the latest value. Returns whether it was changed; *expected gets what was there. */
bool machine_swap(volatile void *at, unsigned size, uint64_t *expected, uint64_t value, int order,
                  int otherwise);
void machine_fence(int order);
void machine_plain(const volatile void *at, size_t size, bool writes);

/** The heavy barrier: each thread sees all that was stored before, and is seen. */
void machine_barrier_of_all(void);
/** Sleeps while the latest value of the word is `expected`. */
void machine_sleep(const volatile uint32_t *word, uint32_t expected);
void machine_wake(const volatile uint32_t *word, int count);
uint64_t machine_clock_ns(void);

#endif
