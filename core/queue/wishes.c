/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for wishes of several queues (wishes.h), which may belong to different kernels. Each queue has two bells. The device's
 * bell rings for completions; the bell of this side rings for room, and for callers that took their replies. One system
 * call sleeps at all bells. If there are more bells than it takes, or a device rings none, the sleep is short, and the wait
 * looks again.
 *
 * Takes no lock of a queue.
 */
#include "core/queue/wishes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/queue/wait_any.h"
#include "core/queue/label.h"
#include "core/queue/match.h"
#include "core/queue/room.h"
#include "core/queue/state.h"
#include "core/queue/strategy.h"
#include "core/queue/wait.h"

enum { QUEUES_MAX = 63, BELLS_MAX = 2 * QUEUES_MAX + 1 }; /* Linux waits for at most 128 words at once */
#define SHORT_SLEEP_NS UINT64_C(1000000)
/* How long a sleep may be at most: a device that dies in this process rings no bell. */
#define LOST_LOOK_NS UINT64_C(100000000)

struct bell {
    const uint32_t *word;
    uint32_t seen;
};

static uint32_t look_for_completion(const gyre_queue *queue)
{
    if (queue->ways.any_order) {
        const int answer = gyre_wait_whichever(queue, 0);
        if (answer)
            return answer > 0 ? GYRE_WISH_COMPLETION : GYRE_WISH_ENDED;
    }
    switch (gyre_queue_ask(queue)) {
    case GYRE_ANSWER_READY:
        return GYRE_WISH_COMPLETION;
    case GYRE_ANSWER_CLOSED:
    case GYRE_ANSWER_LOST:
        return GYRE_WISH_ENDED;
    default:
        return 0;
    }
}

static uint32_t look_for_room(const gyre_queue *queue)
{
    if (gyre_queue_closed(queue) || gyre_queue_lost(queue))
        return GYRE_WISH_ENDED;
    return gyre_queue_has_room(queue) ? GYRE_WISH_ROOM : 0;
}

uint32_t gyre_wish_look(const gyre_queue *queue, uint32_t wants)
{
    uint32_t ready = 0;
    if (gyre_queue_refused(queue))
        return GYRE_WISH_ENDED;
    if (wants & GYRE_WISH_COMPLETION)
        ready |= look_for_completion(queue);
    if (wants & GYRE_WISH_ROOM)
        ready |= look_for_room(queue);
    return ready;
}

gyre_status gyre_wish_check(const gyre_wish *wish)
{
    char label[GYRE_LABEL_SIZE];
    const uint32_t known = GYRE_WISH_COMPLETION | GYRE_WISH_ROOM;
    if (!wish->queue)
        return gyre_error_set(GYRE_INVALID, "a wish names no queue");
    if (wish->wants == 0 || wish->wants & ~known)
        return gyre_error_set(
            GYRE_INVALID, "a wish of %s: .wants is %u, expected GYRE_WISH_COMPLETION, GYRE_WISH_ROOM or both",
            gyre_queue_label(wish->queue, label, sizeof label), wish->wants);
    return GYRE_OK;
}

static bool is_interrupted(const struct gyre_wishes *all)
{
    return all->interrupt && __atomic_load_n(all->interrupt, __ATOMIC_ACQUIRE) != all->seen;
}

static gyre_status wishes_look(const void *context)
{
    const struct gyre_wishes *all = context;
    size_t ready = 0;
    for (size_t i = 0; i < all->count; i++) {
        gyre_wish *wish = &all->wishes[i];
        wish->ready = wish->queue ? gyre_wish_look(wish->queue, wish->wants) : 0;
        ready += wish->ready != 0;
    }
    return ready || is_interrupted(all) ? GYRE_OK : GYRE_AGAIN;
}

/* Collects both bells of each queue, as many as fit; returns how many. *longest: how long a sleep at them may be. */
static uint32_t read_bells(const struct gyre_wishes *all, struct bell *bells, uint64_t *longest)
{
    uint32_t count = 0;
    *longest = UINT64_MAX;
    if (all->interrupt)
        bells[count++] = (struct bell){all->interrupt, all->seen};
    for (size_t i = 0; i < all->count; i++) {
        const gyre_queue *queue = all->wishes[i].queue;
        if (!queue)
            continue;
        const bool waits_for_device = all->wishes[i].wants & GYRE_WISH_COMPLETION;
        const uint64_t most = count + 2 > BELLS_MAX                           ? SHORT_SLEEP_NS
                              : waits_for_device && !queue->ways.device_wakes ? GYRE_NAP_NS
                              : queue->ways.device_returns                    ? UINT64_MAX
                                                                              : LOST_LOOK_NS;
        *longest = most < *longest ? most : *longest;
        if (count + 2 > BELLS_MAX)
            continue;
        bells[count++].word = &queue->ring.shared->device.bell;
        bells[count++].word = &queue->state.credit_bell;
    }
    for (uint32_t i = all->interrupt != NULL; i < count; i++) /* before the look: pairs with the ringers */
        bells[i].seen = __atomic_load_n(bells[i].word, __ATOMIC_ACQUIRE);
    return count;
}

/* Sleeps until a bell differs from its `seen` value, or until `until_ns`. May return earlier without a reason. */
static void sleep_at(const struct bell *bells, uint32_t count, uint64_t until_ns)
{
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
    struct futex_waitv words[BELLS_MAX];
    struct timespec until = gyre_clock_timespec(until_ns);
    for (uint32_t i = 0; i < count; i++)
        words[i] =
            (struct futex_waitv){.val = bells[i].seen, .uaddr = (uintptr_t)bells[i].word, .flags = FUTEX_32};
    if (count && (syscall(SYS_futex_waitv, words, count, 0, until_ns == UINT64_MAX ? NULL : &until,
                          CLOCK_MONOTONIC) >= 0 ||
                  (errno != ENOSYS && errno != EPERM && errno != EINVAL)))
        return;
#else
    (void)bells, (void)count;
#endif
    gyre_nap(until_ns);
}

static void wishes_announce(const struct gyre_wishes *all, uint32_t by)
{
    /* `by` is 1, or UINT32_MAX, which wraps and so takes the 1 back */
    for (size_t i = 0; i < all->count; i++) {
        gyre_queue *queue = all->wishes[i].queue;
        if (!queue)
            continue;
        __atomic_fetch_add(&queue->ring.shared->host.waiting, by, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&queue->state.credit_waiters, by, __ATOMIC_SEQ_CST);
    }
}

static gyre_status wishes_park(const void *context, uint64_t deadline_ns)
{
    const struct gyre_wishes *all = context;
    struct bell bells[BELLS_MAX];
    gyre_status status = GYRE_AGAIN;
    int light = 0;
    for (size_t i = 0; i < all->count; i++)
        light |= all->wishes[i].queue && all->wishes[i].queue->ways.light_waits;
    wishes_announce(all, 1);
    const uint64_t parked_ns = gyre_clock_ns();
    gyre_barrier_heavy(light); /* pairs with the light barriers of devices and receivers */
    while (status == GYRE_AGAIN) {
        uint64_t longest;
        const uint64_t looked_ns = gyre_clock_ns();
        const uint32_t count = read_bells(all, bells, &longest);
        status = wishes_look(all);
        if (status != GYRE_AGAIN)
            break;
        if (looked_ns >= deadline_ns) {
            status = GYRE_TIMEOUT;
            break;
        }
        uint64_t until_ns = gyre_park_until(parked_ns, looked_ns, deadline_ns);
        if (longest < until_ns - looked_ns)
            until_ns = looked_ns + longest;
        sleep_at(bells, count, until_ns);
    }
    wishes_announce(all, UINT32_MAX);
    return status;
}

static const gyre_queue *first_queue(const struct gyre_wishes *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->wishes[i].queue)
            return all->wishes[i].queue;
    return NULL;
}

gyre_status gyre_wishes_wait(const struct gyre_wishes *all, uint64_t deadline_ns)
{
    const gyre_queue *first = first_queue(all);
    gyre_status status = wishes_look(all);
    if (status != GYRE_AGAIN || deadline_ns == GYRE_NO_WAIT)
        return status;
    if (!first || all->sleeps)
        return wishes_park(all, deadline_ns);
    const struct gyre_strategy strategy = {.idle = first->ways.idle,
                                           .spin_turns = first->ways.spin_turns / (uint32_t)(all->count + 1),
                                           .deadline_ns = deadline_ns,
                                           .look = wishes_look,
                                           .park = wishes_park,
                                           .context = all};
    return gyre_strategy_wait(&strategy);
}

void gyre_wishes_stay(const struct gyre_wishes *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->wishes[i].queue)
            __atomic_fetch_add(&all->wishes[i].queue->state.inside, 1, __ATOMIC_ACQ_REL);
}

void gyre_wishes_leave(const struct gyre_wishes *all)
{
    for (size_t i = 0; i < all->count; i++) /* each queue may be freed after this */
        if (all->wishes[i].queue)
            gyre_queue_leave(all->wishes[i].queue, true);
}

/* Appends ": queue 'orders', whose server is gone ..." for a queue whose server is away, unless the text says it already. */
static void append_away(char *text, size_t size, const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE], away[GYRE_AWAY_SIZE], said[GYRE_LABEL_SIZE + GYRE_AWAY_SIZE];
    const size_t used = strlen(text);
    if (!gyre_queue_away_text(queue, away)[0])
        return;
    snprintf(said, sizeof said, "%s%s", gyre_queue_label(queue, label, sizeof label), away);
    if (!strstr(text, said))
        snprintf(text + used, size - used, "%s%s", used ? "; " : ": ", said);
}

gyre_status gyre_wishes_tell_timeout(const struct gyre_wishes *all, const char *awaited, uint64_t deadline_ns)
{
    char away[2 * GYRE_AWAY_SIZE] = "";
    for (size_t i = 0; i < all->count; i++)
        if (all->wishes[i].queue)
            append_away(away, sizeof away, all->wishes[i].queue);
    gyre_error_set(GYRE_TIMEOUT, "the deadline passed while waiting for %s%s", awaited, away);
    return gyre_error_add_overdue(GYRE_TIMEOUT, deadline_ns);
}

gyre_status gyre_wait_any(gyre_wish *wishes, size_t count, size_t *ready, uint64_t deadline_ns)
{
    const struct gyre_wishes all = {.wishes = wishes, .count = count};
    gyre_status status = GYRE_OK;
    char awaited[48];
    if (ready)
        *ready = 0;
    if (!wishes || !first_queue(&all))
        return gyre_error_set(GYRE_INVALID, "gyre_wait_any needs at least one wish that names a queue");
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        if (wishes[i].queue)
            status = gyre_wish_check(&wishes[i]);
    if (status != GYRE_OK)
        return status;
    gyre_wishes_stay(&all);
    status = gyre_wishes_wait(&all, deadline_ns);
    if (status == GYRE_TIMEOUT) {
        snprintf(awaited, sizeof awaited, "one of %zu queues", count);
        gyre_wishes_tell_timeout(&all, awaited, deadline_ns);
    }
    gyre_wishes_leave(&all);
    for (size_t i = 0; ready && i < count; i++)
        *ready += wishes[i].ready != 0;
    return status == GYRE_AGAIN ? gyre_error_set_text(status, "no queue has what its wish waits for")
                                : status;
}
