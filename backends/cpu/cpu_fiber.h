/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: stacks and switching between them in one thread. Used by cpu_lane.c alone.
 *
 * A switch saves what a function call has to keep (x86-64 and aarch64 by hand, elsewhere ucontext) and tells
 * AddressSanitizer, ThreadSanitizer and valgrind, when the program runs under them, that the stack changed.
 * The floating-point environment is not switched: handlers cannot change it.
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

/** Entered on the fiber's own stack; must end by cpu_fiber_leave. */
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

/** Makes `fiber` stand for the running thread, so that switches can come back to it. */
void cpu_fiber_adopt_thread(struct cpu_fiber *fiber);

/** Registers a stack with the tools. The memory is the caller's and stays valid until cpu_fiber_finish. */
void cpu_fiber_init(struct cpu_fiber *fiber, void *stack, size_t stack_size);
void cpu_fiber_finish(struct cpu_fiber *fiber);

/** The next switch to `fiber` calls entry(argument) on its empty stack. Not while it runs. */
void cpu_fiber_prepare(struct cpu_fiber *fiber, cpu_fiber_entry entry, void *argument);

/** Suspends `from`, which must be running, and continues `to`. Returns when something switches back. */
void cpu_fiber_switch(struct cpu_fiber *from, struct cpu_fiber *to);

/** As cpu_fiber_switch, for good: `from` may only be prepared again. */
void cpu_fiber_leave(struct cpu_fiber *from, struct cpu_fiber *to) __attribute__((noreturn));

#endif
