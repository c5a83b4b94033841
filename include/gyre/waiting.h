/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting on shared memory: futexes, spinning, and the asymmetric barrier that parking needs. For the core and for
 * backends whose workers are threads; header-only, Linux, C11 and C++17.
 *
 * Parking (sleeping until the other side rings) needs no fence on the fast path. The side that parks announces itself
 * (an atomic addition), calls gyre_barrier_heavy, looks once more, and only then sleeps on its futex word. The other
 * side publishes, calls gyre_barrier_light, and looks whether a sleeper announced itself. The heavy barrier runs a
 * full barrier on every core that runs a thread of this process. So either the sleeper sees the published message or
 * the publisher sees the sleeper. If the kernel has no membarrier, gyre_barrier_light becomes a real fence. If the
 * kernel refuses a membarrier later, gyre_barrier_heavy waits until the earlier stores of other threads have arrived
 * by themselves.
 *
 * Between processes the barrier does not reach the publisher, whose store may still be on its way when the sleeper
 * looks. So a sleeper that shares memory with another process bounds its sleeps by gyre_park_until, and looks a second
 * time when the store has long arrived. (membarrier's GLOBAL_EXPEDITED is no help: Linux 6.18 was seen to miss cores
 * on which registered processes ran; docs/adr/rings.md.)
 *
 * Stability: like backend.h.
 */
#ifndef GYRE_WAITING_H
#define GYRE_WAITING_H

/* Strict ISO C (-std=c11) hides clocks and system calls, unless a file asks for them before its first header. */
#if defined(__STRICT_ANSI__) && !defined(_GNU_SOURCE) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC
#error "gyre/waiting.h needs system calls, which -std=c11 hides: include it first, or define _DEFAULT_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline uint64_t gyre_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/** Tells the core that this is a spin loop. */
static inline void gyre_spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/**
 * How patient a spinning wait is: after how many looks it lets other threads run, because the thread that it waits for
 * may want this very processor. The usual number takes some microseconds, more than a round trip between two
 * processors. Two threads that share one processor would pay that on each way. So if wait after wait ends with the
 * first look after others ran, the next waits let others run much sooner (they are hasty). One wait in
 * GYRE_PATIENCE_PROBE stays patient all the same, and so notices when the two threads have come apart. Belongs to one
 * thread; zeroed at first.
 */
typedef struct gyre_patience {
    uint32_t waits, shared;
    int hasty; /* the present wait lets others run soon */
} gyre_patience;

enum { GYRE_PATIENCE_TURNS = 128, GYRE_PATIENCE_PROBE = 32, GYRE_HASTY_TURNS = 4, GYRE_HASTY_YIELDS = 4 };

/** Whether the thread seems to share its processor with the thread that it waits for. */
static inline int gyre_patience_shares(const gyre_patience *patience)
{
    return patience->shared >= 2;
}

/** Called at the begin of a wait. */
static inline void gyre_patience_begin(gyre_patience *patience)
{
    patience->hasty = gyre_patience_shares(patience) && ++patience->waits % GYRE_PATIENCE_PROBE != 0;
}

/** Called after a look that found nothing; `turn` is the number of looks so far. Returns 1 when it let others run. */
static inline int gyre_patience_pause(const gyre_patience *patience, uint64_t turn)
{
    const int soon =
        patience->hasty && turn % GYRE_HASTY_TURNS == 0 && turn <= GYRE_HASTY_TURNS * GYRE_HASTY_YIELDS;
    if (soon || turn % GYRE_PATIENCE_TURNS == 0)
        return sched_yield() == 0;
    gyre_spin_pause();
    return 0;
}

/** Called after a look that found something. `ran` is what gyre_patience_pause returned before that look. */
static inline void gyre_patience_end(gyre_patience *patience, int ran)
{
    if (!patience->hasty)
        patience->shared = ran ? patience->shared + 1 : 0;
}

/**
 * Registers the process for heavy barriers. Called before either side uses a barrier. Returns 1 when light barriers
 * cost nothing, 0 when they have to be fences: the caller hands this value to gyre_barrier_light.
 */
static inline int gyre_barrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/** The publisher's barrier, between "publish" and "is anybody parked?". */
static inline void gyre_barrier_light(int heavy_works)
{
    if (heavy_works)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/**
 * The time after which a store has reached every processor: it may wait for the cache lines of some earlier stores.
 */
#define GYRE_STORES_ARRIVE_NS UINT64_C(1000000)

/**
 * The sleeper's barrier, between "announce" and "look once more". A filter of system calls (seccomp) that the program
 * sets up after it registered may refuse the barrier, and the publishers do not know. Then the sleeper waits for a
 * time that has the same effect.
 */
static inline void gyre_barrier_heavy(int heavy_works)
{
    const struct timespec nap = {0, (long)GYRE_STORES_ARRIVE_NS};
    if (heavy_works && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const uint64_t arrived_ns = gyre_clock_ns() + GYRE_STORES_ARRIVE_NS;
    while (heavy_works && gyre_clock_ns() < arrived_ns)
        nanosleep(&nap, NULL);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/**
 * Returns the time until which a side may sleep. `parked_ns` is a time (gyre_clock_ns) after the side announced itself
 * as parked; `looked_ns` is a time before its last look began. If the stores of the other side had arrived before that
 * look (GYRE_STORES_ARRIVE_NS after the announcement), the side may sleep until the deadline. If not, it sleeps only
 * until they have arrived, and then looks a second time. A sleeper whose memory belongs to one process does not need
 * the second look, which costs one wake-up for each parking. It follows the same rule all the same, because two rules
 * would be easier to get wrong than one.
 */
static inline uint64_t gyre_park_until(uint64_t parked_ns, uint64_t looked_ns, uint64_t deadline_ns)
{
    const uint64_t arrived_ns = parked_ns + GYRE_STORES_ARRIVE_NS;
    return looked_ns < arrived_ns && arrived_ns < deadline_ns ? arrived_ns : deadline_ns;
}

/**
 * Sleeps while *word == expected, until somebody wakes it or until the deadline (absolute CLOCK_MONOTONIC; UINT64_MAX:
 * none). Works between processes. May return early; the caller looks again.
 */
static inline void gyre_futex_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    struct timespec until, *timeout = NULL;
    if (deadline_ns != UINT64_MAX) {
        until.tv_sec = (time_t)(deadline_ns / UINT64_C(1000000000));
        until.tv_nsec = (long)(deadline_ns % UINT64_C(1000000000));
        timeout = &until;
    }
    /* the BITSET form takes an absolute time */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, timeout, NULL, FUTEX_BITSET_MATCH_ANY);
}

/** Wakes up to `count` sleepers. */
static inline void gyre_futex_wake(const uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/** Increments a bell and wakes up to `count` of its sleepers. */
static inline void gyre_bell_ring(uint32_t *bell, int count)
{
    __atomic_fetch_add(bell, 1, __ATOMIC_RELEASE); /* pairs with the sleeper's load before its last look */
    gyre_futex_wake(bell, count);
}

/* ---- workers without work ---- */

/**
 * A look for work. It returns not 0 when the worker has something to do. The loops below are compiled with the look
 * inlined when it is a function known there.
 */
typedef int (*gyre_look)(void *context);

#define GYRE_IDLE_LOOP static inline __attribute__((always_inline))

/** Looks at most `turns` times. Returns 1 when a look found something. */
GYRE_IDLE_LOOP int gyre_idle_spin(gyre_look look, void *context, uint64_t turns)
{
    for (uint64_t turn = 0; turn < turns; turn++) {
        if (look(context))
            return 1;
        gyre_spin_pause();
    }
    return 0;
}

/**
 * Looks as gyre_idle_spin does, and lets other threads run now and then, because the client may be waiting for this
 * very processor.
 */
GYRE_IDLE_LOOP int gyre_idle_spin_politely(gyre_look look, void *context, gyre_patience *patience,
                                           uint64_t turns)
{
    int ran = 0;
    gyre_patience_begin(patience);
    for (uint64_t turn = 1; turn <= turns; turn++) {
        if (look(context)) {
            gyre_patience_end(patience, ran);
            return 1;
        }
        ran = gyre_patience_pause(patience, turn);
    }
    return 0;
}

/** Looks as gyre_idle_spin does, and lets other threads run before each look. */
GYRE_IDLE_LOOP int gyre_idle_yield(gyre_look look, void *context, uint64_t turns)
{
    for (uint64_t turn = 0; turn < turns; turn++) {
        sched_yield();
        if (look(context))
            return 1;
    }
    return 0;
}

/**
 * Sleeps at `bell` until a look finds something and returns 1, or until `until_ns` (UINT64_MAX: without end) and
 * returns 0. `*seen` receives the bell's value before the last look. Before the call the caller has announced itself
 * as parked, then read the time `parked_ns`, then made a heavy barrier.
 */
GYRE_IDLE_LOOP int gyre_idle_sleep(gyre_look look, void *context, const uint32_t *bell, uint64_t parked_ns,
                                   uint64_t until_ns, uint32_t *seen)
{
    for (;;) {
        const uint64_t looked_ns = gyre_clock_ns();
        *seen = __atomic_load_n(bell, __ATOMIC_ACQUIRE); /* before the look */
        if (look(context))
            return 1;
        if (looked_ns >= until_ns)
            return 0;
        gyre_futex_wait(bell, *seen, gyre_park_until(parked_ns, looked_ns, until_ns));
    }
}

/**
 * Parks, as a whole: announces the caller in the counter `parked`, and sleeps at `bell` until a look finds something.
 */
GYRE_IDLE_LOOP void gyre_idle_park(gyre_look look, void *context, uint32_t *parked, const uint32_t *bell,
                                   int heavy_works)
{
    uint32_t seen;
    __atomic_fetch_add(parked, 1, __ATOMIC_SEQ_CST);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(heavy_works);
    gyre_idle_sleep(look, context, bell, parked_ns, UINT64_MAX, &seen);
    __atomic_fetch_sub(parked, 1, __ATOMIC_SEQ_CST);
}

#undef GYRE_IDLE_LOOP

#ifdef __cplusplus
}
#endif
#endif
