/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a worker another thread when its own does not come back from a walk (cpu_relief.h). */
#include "backends/cpu/threads/cpu_relief.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "gyre/waiting.h"

enum { QUIET_TURNS = 4 }; /* looks that find no walk before the relief rests */

/* Between two looks. Who is away in the same walk at both is relieved. */
#define TURN_NS UINT64_C(500000)

#define RELIEVED UINT64_MAX

struct cpu_relief {
    struct cpu_pool *pool;
    int light_barriers;
    struct cpu_task task;
    uint32_t bell; /* futex word */
    uint32_t asleep, closing;
    uint32_t present; /* futex word: 1 while the task has not ended */
    pthread_mutex_t lock;
    bool started;
    struct cpu_visitor *visitors;
};

static struct cpu_relief *relief_of(struct cpu_task *task)
{
    return (struct cpu_relief *)(void *)((unsigned char *)task - offsetof(struct cpu_relief, task));
}

static bool is_away(const struct cpu_visitor *visitor)
{
    return __atomic_load_n(&visitor->walks, __ATOMIC_ACQUIRE) & 1;
}

bool cpu_relief_came(const struct cpu_visitor *visitor)
{
    return __atomic_load_n(&visitor->walks, __ATOMIC_RELAXED) == RELIEVED;
}

/* ---- the task ---- */

/* Whether the visitor is in the same walk as at the last look. */
static bool is_late(struct cpu_visitor *visitor, bool *walked)
{
    const uint64_t walks = __atomic_load_n(&visitor->walks, __ATOMIC_ACQUIRE);
    const bool same = walks == visitor->seen;
    visitor->seen = walks;
    *walked |= !same || walks & 1;
    return same && walks & 1;
}

/* Looks at all visitors, and gives the tasks of those who are late to other threads. Returns whether there were walks. */
static bool look(struct cpu_relief *relief)
{
    bool walked = false;
    pthread_mutex_lock(&relief->lock);
    for (struct cpu_visitor **link = &relief->visitors; *link;) {
        struct cpu_visitor *visitor = *link;
        uint64_t walks = visitor->seen;
        if (!is_late(visitor, &walked) ||
            /* pairs with the visitor's: what the worker did until the walk is there for the next thread */
            !__atomic_compare_exchange_n(&visitor->walks, &walks, RELIEVED, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED)) {
            link = &visitor->next;
            continue;
        }
        *link = visitor->next;
        cpu_pool_hand_over(relief->pool, visitor->task);
    }
    pthread_mutex_unlock(&relief->lock);
    return walked;
}

static bool anybody_away(struct cpu_relief *relief)
{
    pthread_mutex_lock(&relief->lock);
    const struct cpu_visitor *visitor = relief->visitors;
    while (visitor && !is_away(visitor))
        visitor = visitor->next;
    pthread_mutex_unlock(&relief->lock);
    return visitor != NULL;
}

static bool is_closing(const struct cpu_relief *relief)
{
    return __atomic_load_n(&relief->closing, __ATOMIC_ACQUIRE);
}

static bool has_news(struct cpu_task *task)
{
    const struct cpu_relief *relief = relief_of(task);
    return !__atomic_load_n(&relief->asleep, __ATOMIC_ACQUIRE) || is_closing(relief);
}

/* Says that the relief sleeps. False when somebody went away just before, and may not have seen that. */
static bool fall_asleep(struct cpu_relief *relief)
{
    relief->task.seen = __atomic_load_n(&relief->bell, __ATOMIC_ACQUIRE);
    __atomic_store_n(&relief->asleep, 1, __ATOMIC_SEQ_CST);
    gyre_barrier_heavy(relief->light_barriers); /* pairs with the light one of who goes away */
    if (!anybody_away(relief) && !is_closing(relief))
        return true;
    __atomic_store_n(&relief->asleep, 0, __ATOMIC_RELAXED);
    return false;
}

static enum cpu_task_end run(struct cpu_task *task)
{
    struct cpu_relief *relief = relief_of(task);
    for (uint32_t quiet = 0; !is_closing(relief);) {
        const uint32_t bell = __atomic_load_n(&relief->bell, __ATOMIC_ACQUIRE);
        if (!is_closing(relief))
            gyre_futex_wait(&relief->bell, bell, gyre_clock_ns() + TURN_NS);
        quiet = look(relief) ? 0 : quiet + 1;
        if (quiet < QUIET_TURNS || !fall_asleep(relief))
            continue;
        if (cpu_pool_can_watch(relief->pool))
            return CPU_TASK_RESTS;
        while (!has_news(task))
            gyre_futex_wait(&relief->bell, task->seen, UINT64_MAX);
        quiet = 0;
    }
    cpu_pool_leave(relief->pool, &relief->present);
    return CPU_TASK_ENDED;
}

/* ---- visitors ---- */

/* Puts the visitor into the list, and starts the task before the first one. False: no thread. */
static bool meet(struct cpu_relief *relief, struct cpu_visitor *visitor)
{
    pthread_mutex_lock(&relief->lock);
    if (!relief->started) {
        relief->present = 1;
        relief->started = cpu_pool_start(relief->pool, &relief->task) == 0;
    }
    if (relief->started) {
        visitor->next = relief->visitors;
        relief->visitors = visitor;
        visitor->known = true;
    }
    pthread_mutex_unlock(&relief->lock);
    return visitor->known;
}

bool cpu_relief_leave(struct cpu_relief *relief, struct cpu_visitor *visitor, struct cpu_task *task)
{
    visitor->task = task;
    if (!visitor->known && !meet(relief, visitor))
        return false;
    __atomic_store_n(&visitor->walks, visitor->walks + 1, __ATOMIC_RELEASE);
    gyre_barrier_light(relief->light_barriers); /* pairs with the heavy one in fall_asleep */
    if (__atomic_load_n(&relief->asleep, __ATOMIC_RELAXED)) {
        __atomic_store_n(&relief->asleep, 0, __ATOMIC_RELEASE);
        gyre_bell_ring(&relief->bell, INT_MAX);
    }
    return true;
}

bool cpu_relief_return(struct cpu_relief *relief, struct cpu_visitor *visitor)
{
    uint64_t walks = __atomic_load_n(&visitor->walks, __ATOMIC_RELAXED);
    if (walks != RELIEVED && __atomic_compare_exchange_n(&visitor->walks, &walks, walks + 1, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true;
    pthread_mutex_lock(
        &relief->lock); /* the relief has taken the visitor out of its list when this returns */
    pthread_mutex_unlock(&relief->lock);
    return false;
}

void cpu_relief_forget(struct cpu_relief *relief, struct cpu_visitor *visitor)
{
    if (!visitor->known || cpu_relief_came(visitor))
        return;
    pthread_mutex_lock(&relief->lock);
    struct cpu_visitor **link = &relief->visitors;
    while (*link != visitor)
        link = &(*link)->next;
    *link = visitor->next;
    pthread_mutex_unlock(&relief->lock);
}

/* ---- its life ---- */

struct cpu_relief *cpu_relief_create(struct cpu_pool *pool, int light_barriers)
{
    struct cpu_relief *relief = calloc(1, sizeof *relief);
    if (!relief)
        return NULL;
    relief->pool = pool;
    relief->light_barriers = light_barriers;
    relief->task =
        (struct cpu_task){.run = run, .has_news = has_news, .bell = &relief->bell, .processor = -1};
    pthread_mutex_init(&relief->lock, NULL);
    return relief;
}

void cpu_relief_close(struct cpu_relief *relief)
{
    if (!relief || !relief->started)
        return;
    __atomic_store_n(&relief->closing, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&relief->bell, INT_MAX);
    while (__atomic_load_n(&relief->present, __ATOMIC_ACQUIRE))
        gyre_futex_wait(&relief->present, 1, UINT64_MAX);
    cpu_pool_settle(relief->pool);
}

void cpu_relief_destroy(struct cpu_relief *relief)
{
    if (!relief)
        return;
    pthread_mutex_destroy(&relief->lock);
    free(relief);
}
