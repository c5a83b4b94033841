/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches stacks. Takes no lock: a fiber belongs to one thread.
 *
 * The sanitizers' functions are weak symbols: they are there when the process runs under a sanitizer, even if
 * only the kernel was compiled with it. No code here may keep a value in a thread-local across a switch.
 */
#include "backends/cpu/lanes/cpu_fiber.h"

#include <stdint.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(start, end) 0u
#define VALGRIND_STACK_DEREGISTER(id)       ((void)(id))
#endif

#define WEAK __attribute__((weak))
WEAK void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
WEAK void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom_old, size_t *size_old);
WEAK void __asan_unpoison_memory_region(const volatile void *address, size_t size);
WEAK void *__tsan_get_current_fiber(void);
WEAK void *__tsan_create_fiber(unsigned flags);
WEAK void __tsan_destroy_fiber(void *fiber);
WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);

#ifdef GYRE_CPU_UCONTEXT

static void raw_switch(struct cpu_fiber *from, struct cpu_fiber *to)
{
    swapcontext(&from->registers, &to->registers);
}

#else

/* Pushes the registers that a callee preserves by the ABI, stores the stack pointer in *save, continues from `load`. */
void gyre_cpu_fiber_switch(void **save, void *load);
/* The first code of a prepared fiber: calls the function with the argument that cpu_fiber_prepare stored. */
void gyre_cpu_fiber_start(void);

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden gyre_cpu_fiber_switch\n"
        ".globl gyre_cpu_fiber_switch\n"
        ".type gyre_cpu_fiber_switch, @function\n"
        "gyre_cpu_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size gyre_cpu_fiber_switch, . - gyre_cpu_fiber_switch\n"
        ".p2align 4\n"
        ".hidden gyre_cpu_fiber_start\n"
        ".globl gyre_cpu_fiber_start\n"
        ".type gyre_cpu_fiber_start, @function\n"
        "gyre_cpu_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n" /* debuggers: nothing above */
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size gyre_cpu_fiber_start, . - gyre_cpu_fiber_start\n");

/*
 * r15 r14 r13 r12 rbx rbp and the return address: when they are popped, the started function finds the stack
 * aligned
 */
enum { FRAME_WORDS = 7, FRAME_FUNCTION = 3, FRAME_ARGUMENT = 2, FRAME_RETURN = 6 };
#else
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden gyre_cpu_fiber_switch\n"
        ".globl gyre_cpu_fiber_switch\n"
        ".type gyre_cpu_fiber_switch, %function\n"
        "gyre_cpu_fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size gyre_cpu_fiber_switch, . - gyre_cpu_fiber_switch\n"
        ".p2align 4\n"
        ".hidden gyre_cpu_fiber_start\n"
        ".globl gyre_cpu_fiber_start\n"
        ".type gyre_cpu_fiber_start, %function\n"
        "gyre_cpu_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n" /* debuggers: nothing above */
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size gyre_cpu_fiber_start, . - gyre_cpu_fiber_start\n");

enum { FRAME_WORDS = 20, FRAME_FUNCTION = 0, FRAME_ARGUMENT = 1, FRAME_RETURN = 11 };
#endif

static void raw_switch(struct cpu_fiber *from, struct cpu_fiber *to)
{
    gyre_cpu_fiber_switch(&from->stack_pointer, to->stack_pointer);
}

#endif

/*
 * Tells the sanitizers of a switch, on the new stack. Only now does AddressSanitizer tell where the thread's
 * own stack lies.
 */
static void fiber_arrived(struct cpu_fiber *fiber)
{
    if (__sanitizer_finish_switch_fiber) {
        const void *bottom;
        size_t size;
        __sanitizer_finish_switch_fiber(fiber->fake_stack, &bottom, &size);
        fiber->came_from->stack = (void *)(uintptr_t)bottom;
        fiber->came_from->stack_size = size;
    }
}

static void enter_fiber(void *fiber_pointer)
{
    struct cpu_fiber *fiber = fiber_pointer;
    fiber_arrived(fiber);
    fiber->entry(fiber->argument);
}

#ifdef GYRE_CPU_UCONTEXT
/*
 * The first function of a fiber under ucontext, which gets the pointer in two halves: makecontext passes ints
 * only.
 */
static void enter_split(unsigned high, unsigned low)
{
    enter_fiber((void *)(uintptr_t)((uint64_t)high << 32 | low));
}
#endif

void cpu_fiber_adopt_thread(struct cpu_fiber *fiber)
{
    *fiber = (struct cpu_fiber){0};
    if (__tsan_get_current_fiber)
        fiber->tsan = __tsan_get_current_fiber();
}

void cpu_fiber_init(struct cpu_fiber *fiber, void *stack, size_t stack_size)
{
    *fiber = (struct cpu_fiber){.stack = stack, .stack_size = stack_size};
    fiber->valgrind = VALGRIND_STACK_REGISTER(stack, (char *)stack + stack_size);
    if (__tsan_create_fiber)
        fiber->tsan = __tsan_create_fiber(0);
}

void cpu_fiber_finish(struct cpu_fiber *fiber)
{
    VALGRIND_STACK_DEREGISTER(fiber->valgrind);
    if (fiber->tsan && __tsan_destroy_fiber)
        __tsan_destroy_fiber(fiber->tsan);
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
}

void cpu_fiber_prepare(struct cpu_fiber *fiber, cpu_fiber_entry entry, void *argument)
{
    fiber->entry = entry;
    fiber->argument = argument;
    fiber->fake_stack = NULL;
    if (__tsan_create_fiber) { /* ThreadSanitizer's view of the call stack cannot be rewound */
        __tsan_destroy_fiber(fiber->tsan);
        fiber->tsan = __tsan_create_fiber(0);
    }
    if (__asan_unpoison_memory_region) /* the stack may hold frames that were left without returning */
        __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
#ifdef GYRE_CPU_UCONTEXT
    getcontext(&fiber->registers);
    fiber->registers.uc_stack.ss_sp = fiber->stack;
    fiber->registers.uc_stack.ss_size = fiber->stack_size;
    fiber->registers.uc_link = NULL;
    const uint64_t address = (uintptr_t)fiber;
    makecontext(&fiber->registers, (void (*)(void))enter_split, 2, (unsigned)(address >> 32),
                (unsigned)address);
#else
    void **frame = (void **)((char *)fiber->stack + fiber->stack_size) - FRAME_WORDS;
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = NULL;
    frame[FRAME_FUNCTION] = (void *)(uintptr_t)enter_fiber;
    frame[FRAME_ARGUMENT] = fiber;
    frame[FRAME_RETURN] = (void *)(uintptr_t)gyre_cpu_fiber_start;
    fiber->stack_pointer = frame;
#endif
}

static void switch_away(struct cpu_fiber *from, struct cpu_fiber *to, void **fake_stack_save)
{
    to->came_from = from;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(fake_stack_save, to->stack, to->stack_size);
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(to->tsan, 0);
    raw_switch(from, to);
}

void cpu_fiber_switch(struct cpu_fiber *from, struct cpu_fiber *to)
{
    switch_away(from, to, &from->fake_stack);
    fiber_arrived(from);
}

void cpu_fiber_leave(struct cpu_fiber *from, struct cpu_fiber *to)
{
    switch_away(from, to, NULL);
    __builtin_unreachable();
}
