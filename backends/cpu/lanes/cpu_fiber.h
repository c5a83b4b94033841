/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: several stacks in one thread, and switching between them. Only cpu_lane.c uses them.
 *
 * A switch saves the registers that a function call must preserve (own code on x86-64 and aarch64, ucontext
 * elsewhere). It tells AddressSanitizer, ThreadSanitizer and valgrind, when the program runs under them, that
 * the stack changed. The floating-point environment is not switched: handlers cannot change it.
 */
#ifndef GYRE_CPU_FIBER_H
#define GYRE_CPU_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(GYRE_CPU_UCONTEXT)
#define GYRE_CPU_UCONTEXT 1
#endif
#ifdef GYRE_CPU_UCONTEXT
#include <ucontext.h>
#endif

/** A fiber's first function. It runs on the fiber's own stack and must end by calling cpu_fiber_leave. */
typedef void (*cpu_fiber_entry)(void *argument);

struct cpu_fiber {
    void *stack; /* lowest usable byte; NULL: the thread's own stack */
    size_t stack_size;
    cpu_fiber_entry entry;
    void *argument;
#ifdef GYRE_CPU_UCONTEXT
    ucontext_t registers;
#else
    void *stack_pointer; /* where the saved registers lie while the fiber does not run */
#endif
    struct cpu_fiber *came_from; /* the fiber that was left for this one */
    void *fake_stack;            /* AddressSanitizer's */
    void *tsan;                  /* ThreadSanitizer's */
    unsigned valgrind;
};

/** Makes `fiber` stand for the running thread's own stack, so that switches can come back to it. */
void cpu_fiber_adopt_thread(struct cpu_fiber *fiber);

/** Registers a stack with the sanitizers. The caller owns the memory and keeps it until cpu_fiber_finish. */
void cpu_fiber_init(struct cpu_fiber *fiber, void *stack, size_t stack_size);
void cpu_fiber_finish(struct cpu_fiber *fiber);

/** Makes the next switch to `fiber` call entry(argument) on its empty stack. `fiber` must not be running. */
void cpu_fiber_prepare(struct cpu_fiber *fiber, cpu_fiber_entry entry, void *argument);

/** Suspends `from`, which must be running, and continues `to`. Returns when something switches back. */
void cpu_fiber_switch(struct cpu_fiber *from, struct cpu_fiber *to);

/** Does what cpu_fiber_switch does, and never comes back: `from` may only be prepared again. */
void cpu_fiber_leave(struct cpu_fiber *from, struct cpu_fiber *to) __attribute__((noreturn));

#endif
