/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are compiled with GYRE_WATCHED = 1 (backend.cpu.check): the backend learns of each access of a handler
 * to shared memory before it happens. Included by c11_checked.h, whose ranges say what an address is.
 *
 * The compiler puts calls before accesses as for ThreadSanitizer. The called functions are defined here instead of in
 * that sanitizer's runtime, so a kernel file needs none. They refuse an access outside of all ranges first.
 */
#ifndef GYRE_DIALECT_C11_WATCHED_H
#define GYRE_DIALECT_C11_WATCHED_H

/* The backend's functions; NULL: nobody watches, and only the bounds are checked. */
static const gyre_cpu_watch *gyre_watcher_;

gyre_u32 gyre_cpu_watch_take(const gyre_cpu_watch *functions);
__attribute__((__visibility__("default"))) GYRE_UNCHECKED_ gyre_u32
gyre_cpu_watch_take(const gyre_cpu_watch *functions)
{
    gyre_watcher_ = functions;
    return GYRE_CPU_WATCH_VERSION;
}

/*
 * Tells the backend of an access. The backend may let other lanes run before it returns, so the call of this lane is
 * put aside meanwhile. Returns where an atomic load is to read.
 */
GYRE_UNCHECKED_ static const void *gyre_touched_(const void *at, gyre_u64 size, gyre_u32 how,
                                                 const void *code)
{
    gyre_call_ *const call = gyre_call_now_;
    const gyre_range_ *const range = gyre_reach_(at, size, code);
    if (!range || range->sort == GYRE_SORT_OWN || !gyre_watcher_)
        return at;
    gyre_call_now_ = 0;
    const void *const there = gyre_watcher_->touch(call->context, range, at, size, how, code);
    gyre_call_now_ = call;
    return there;
}

/* ---- what the compiler calls ---- */

#define GYRE_TSAN_ACCESS_(name_, size_, how_)                                                                \
    void name_(void *at);                                                                                    \
    GYRE_UNCHECKED_ void name_(void *at)                                                                     \
    {                                                                                                        \
        gyre_touched_(at, size_, how_, __builtin_return_address(0));                                         \
    }
#define GYRE_TSAN_ACCESSES_(size_)                                                                           \
    GYRE_TSAN_ACCESS_(__tsan_read##size_, size_, GYRE_TOUCH_READS)                                           \
    GYRE_TSAN_ACCESS_(__tsan_write##size_, size_, GYRE_TOUCH_WRITES)                                         \
    GYRE_TSAN_ACCESS_(__tsan_unaligned_read##size_, size_, GYRE_TOUCH_READS)                                 \
    GYRE_TSAN_ACCESS_(__tsan_unaligned_write##size_, size_, GYRE_TOUCH_WRITES)
GYRE_TSAN_ACCESSES_(1)
GYRE_TSAN_ACCESSES_(2)
GYRE_TSAN_ACCESSES_(4)
GYRE_TSAN_ACCESSES_(8)
GYRE_TSAN_ACCESSES_(16)

void __tsan_read_range(void *at, size_t size);
GYRE_UNCHECKED_ void __tsan_read_range(void *at, size_t size)
{
    gyre_touched_(at, size, GYRE_TOUCH_READS, __builtin_return_address(0));
}
void __tsan_write_range(void *at, size_t size);
GYRE_UNCHECKED_ void __tsan_write_range(void *at, size_t size)
{
    gyre_touched_(at, size, GYRE_TOUCH_WRITES, __builtin_return_address(0));
}

void __tsan_init(void);
GYRE_UNCHECKED_ void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller);
GYRE_UNCHECKED_ void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void *caller);
GYRE_UNCHECKED_ void __tsan_func_exit(void *caller)
{
    (void)caller;
}

/* Code without branches begins: with -fsanitize-coverage=trace-pc, for the check `traffic`. */
#if defined(__GNUC__) && !defined(__clang__)
#define GYRE_UNTRACED_ __attribute__((__no_sanitize_coverage__))
#else
#define GYRE_UNTRACED_ __attribute__((__no_sanitize__("coverage")))
#endif
#if GYRE_TRACED
void __sanitizer_cov_trace_pc(void);
GYRE_UNTRACED_ GYRE_UNCHECKED_ void __sanitizer_cov_trace_pc(void)
{
    const gyre_call_ *const call = gyre_call_now_;
    if (call && gyre_watcher_)
        gyre_watcher_->step(call->context, __builtin_return_address(0));
}
#endif

/* Copies of whole structs, where a compiler makes calls of them; clang from 16 on has names of its own for them. */
GYRE_UNCHECKED_ static void *gyre_copied_(void *to, const void *from, size_t size, const void *code)
{
    gyre_touched_(from, size, GYRE_TOUCH_READS, code);
    gyre_touched_(to, size, GYRE_TOUCH_WRITES, code);
    return gyre_move_(to, from, size);
}
GYRE_UNCHECKED_ static void *gyre_filled_(void *to, int byte, size_t size, const void *code)
{
    /* volatile: otherwise the loop becomes a call of memset */
    volatile gyre_u8 *at = (volatile gyre_u8 *)to;
    gyre_touched_(to, size, GYRE_TOUCH_WRITES, code);
    for (size_t i = 0; i < size; i++)
        at[i] = (gyre_u8)byte;
    return to;
}
#define GYRE_TSAN_COPY_(name_)                                                                               \
    void *name_(void *to, const void *from, size_t size);                                                    \
    GYRE_UNCHECKED_ void *name_(void *to, const void *from, size_t size)                                     \
    {                                                                                                        \
        return gyre_copied_(to, from, size, __builtin_return_address(0));                                    \
    }
#define GYRE_TSAN_FILL_(name_)                                                                               \
    void *name_(void *to, int byte, size_t size);                                                            \
    GYRE_UNCHECKED_ void *name_(void *to, int byte, size_t size)                                             \
    {                                                                                                        \
        return gyre_filled_(to, byte, size, __builtin_return_address(0));                                    \
    }
GYRE_TSAN_COPY_(memcpy)
GYRE_TSAN_COPY_(__tsan_memcpy)
GYRE_TSAN_FILL_(memset)
GYRE_TSAN_FILL_(__tsan_memset)

/*
 * Atomic operations of handlers, which compilers call instead of making them; the types are those that compilers
 * expect. The code that serves a ring may call them, too, so each is made in the strongest order.
 */
#define GYRE_CHANGES_ (GYRE_TOUCH_READS | GYRE_TOUCH_WRITES | GYRE_TOUCH_ATOMIC)
#define GYRE_TSAN_CHANGE_(type_, name_, builtin_)                                                            \
    type_ name_(volatile void *at, type_ value, int order);                                                  \
    GYRE_UNCHECKED_ type_ name_(volatile void *at, type_ value, int order)                                   \
    {                                                                                                        \
        (void)order;                                                                                         \
        gyre_touched_((const void *)at, sizeof value, GYRE_CHANGES_, __builtin_return_address(0));           \
        return builtin_((volatile type_ *)at, value, __ATOMIC_SEQ_CST);                                      \
    }
#define GYRE_TSAN_EXCHANGE_IF_(type_, name_)                                                                 \
    _Bool name_(volatile void *at, void *expected, type_ value, int order, int failed);                      \
    GYRE_UNCHECKED_ _Bool name_(volatile void *at, void *expected, type_ value, int order, int failed)       \
    {                                                                                                        \
        (void)order, (void)failed;                                                                           \
        gyre_touched_((const void *)at, sizeof value, GYRE_CHANGES_, __builtin_return_address(0));           \
        return __atomic_compare_exchange_n((volatile type_ *)at, (type_ *)expected, value, 0,                \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                              \
    }
#define GYRE_TSAN_ATOMICS_(type_, prefix_)                                                                   \
    type_ prefix_##_load(const volatile void *at, int order);                                                \
    GYRE_UNCHECKED_ type_ prefix_##_load(const volatile void *at, int order)                                 \
    {                                                                                                        \
        (void)order;                                                                                         \
        const volatile type_ *const there = (const volatile type_ *)gyre_touched_(                           \
            (const void *)at, sizeof(type_), GYRE_TOUCH_READS | GYRE_TOUCH_ATOMIC,                           \
            __builtin_return_address(0));                                                                    \
        return __atomic_load_n(there, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                        \
    void prefix_##_store(volatile void *at, type_ value, int order);                                         \
    GYRE_UNCHECKED_ void prefix_##_store(volatile void *at, type_ value, int order)                          \
    {                                                                                                        \
        (void)order;                                                                                         \
        gyre_touched_((const void *)at, sizeof value, GYRE_TOUCH_WRITES | GYRE_TOUCH_ATOMIC,                 \
                      __builtin_return_address(0));                                                          \
        __atomic_store_n((volatile type_ *)at, value, __ATOMIC_SEQ_CST);                                     \
    }                                                                                                        \
    GYRE_TSAN_CHANGE_(type_, prefix_##_exchange, __atomic_exchange_n)                                        \
    GYRE_TSAN_CHANGE_(type_, prefix_##_fetch_add, __atomic_fetch_add)                                        \
    GYRE_TSAN_CHANGE_(type_, prefix_##_fetch_sub, __atomic_fetch_sub)                                        \
    GYRE_TSAN_CHANGE_(type_, prefix_##_fetch_and, __atomic_fetch_and)                                        \
    GYRE_TSAN_CHANGE_(type_, prefix_##_fetch_or, __atomic_fetch_or)                                          \
    GYRE_TSAN_CHANGE_(type_, prefix_##_fetch_xor, __atomic_fetch_xor)                                        \
    GYRE_TSAN_EXCHANGE_IF_(type_, prefix_##_compare_exchange_strong)                                         \
    GYRE_TSAN_EXCHANGE_IF_(type_, prefix_##_compare_exchange_weak)
GYRE_TSAN_ATOMICS_(unsigned int, __tsan_atomic32)
GYRE_TSAN_ATOMICS_(unsigned long, __tsan_atomic64)

/* Atomic operations that are functions of the dialect tell of their address themselves. */
#define GYRE_ATOMIC_INLINE_ static __attribute__((__noinline__)) GYRE_UNCHECKED_
#define GYRE_TOUCH_(pointer)                                                                                 \
    gyre_touched_((pointer), sizeof *(pointer), GYRE_TOUCH_READS | GYRE_TOUCH_WRITES | GYRE_TOUCH_ATOMIC,    \
                  __builtin_return_address(0))
/* Tells of bytes that a function of the dialect writes for the handler. */
#define GYRE_STORES_(pointer, size)                                                                          \
    gyre_touched_((pointer), (size), GYRE_TOUCH_WRITES, __builtin_return_address(0))

/* The length of a message with a tail, which kernels of several types look for in any message: no access of the handler. */
GYRE_UNCHECKED_ static __attribute__((__noinline__)) gyre_u32 gyre_choice_word_(const void *message)
{
    return *(const gyre_u32 *)message;
}
#define GYRE_CHOICE_WORD_(message_) gyre_choice_word_(message_)

#define GYRE_WATCH_BEGIN_(context, request, end_)                                                            \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->begin((context), (request), (gyre_u64)((end_) - (const gyre_u8 *)(request)));     \
    } while (0)
#define GYRE_WATCH_END_(context)                                                                             \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->end(context);                                                                     \
    } while (0)
#define GYRE_WATCH_WAIT_(context)                                                                            \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->wait((context), __builtin_return_address(0));                                     \
    } while (0)
#define GYRE_WATCH_BLOCK_(context)                                                                           \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->block(context);                                                                   \
    } while (0)
#define GYRE_WATCH_EMIT_(context)                                                                            \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->emit((context), __builtin_return_address(0));                                     \
    } while (0)
#define GYRE_WATCH_MORE_(context)                                                                            \
    do {                                                                                                     \
        if (gyre_watcher_)                                                                                   \
            gyre_watcher_->more((context), __builtin_return_address(0));                                     \
    } while (0)

#endif
