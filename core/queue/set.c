/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements sets of queues (gyre_queue_set_* in gyre.h) for event loops: one file descriptor and one watcher thread for any
 * number of queues. The thread waits as gyre_wait_any does and makes an eventfd readable. Then it rests until a caller of
 * gyre.h finds nothing in the set and makes the eventfd unreadable again.
 *
 * Locks: members_lock while a queue enters or leaves a set, and after it the set's lock to change the set's list. The set's
 * lock alone suffices to look at its queues, because a queue leaves its sets before it is freed. No lock is held across a
 * wait; gyre_wishes_stay keeps the awaited queues from being freed.
 */
#include "core/queue/set.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/queue/label.h"
#include "core/queue/state.h"
#include "core/queue/wishes.h"

struct gyre_set_member {
    gyre_queue_set *set;
    gyre_wish wish;
    struct gyre_set_member *next;          /* the set's next member */
    struct gyre_set_member *next_of_queue; /* under members_lock */
};

struct gyre_queue_set {
    pid_t owner;
    pthread_mutex_t lock;
    struct gyre_set_member *first; /* this member and all below: under the lock */
    size_t count;
    uint32_t changed; /* futex word, also read without the lock: a change makes waits begin anew */
    bool signalled;   /* the descriptor is readable */
    bool leave;
    int descriptor; /* -1: no caller asked for it */
    pthread_t watcher;
};

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&members_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&members_lock);
}

static void fork_prepare(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static gyre_status check_own(const gyre_queue_set *set, const char *call)
{
    if (set->owner == getpid())
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "%s: this set belongs to the process that forked this one; create another one here",
                          call);
}

static void set_change(gyre_queue_set *set)
{
    __atomic_fetch_add(&set->changed, 1, __ATOMIC_RELEASE); /* pairs with the acquire of waiting threads */
    gyre_futex_wake(&set->changed, INT_MAX);
}

/* ---- waiting ---- */

/* A copy of the set's wishes, so that a thread can wait for them without the lock. */
struct copy {
    struct gyre_wishes wishes;
    size_t room;
};

/* Copies the wishes of all members. Under the lock. False: there is no memory. */
static bool copy_members(gyre_queue_set *set, struct copy *copy)
{
    if (copy->room < set->count) {
        gyre_wish *larger = realloc(copy->wishes.wishes, set->count * sizeof *larger);
        if (!larger)
            return false;
        copy->wishes.wishes = larger;
        copy->room = set->count;
    }
    copy->wishes.count = 0;
    for (const struct gyre_set_member *member = set->first; member; member = member->next)
        copy->wishes.wishes[copy->wishes.count++] = member->wish;
    copy->wishes.interrupt = &set->changed;
    copy->wishes.seen = __atomic_load_n(&set->changed, __ATOMIC_ACQUIRE);
    return true;
}

/* Waits until a wish of a member may hold, or the set has changed; sets the error of any other end. The caller holds the lock;
 * the wait gives it up. */
static gyre_status wait_for_members(gyre_queue_set *set, struct copy *copy, uint64_t deadline_ns)
{
    if (!copy_members(set, copy))
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to wait for the %zu queues of a set", set->count);
    gyre_wishes_stay(&copy->wishes);
    pthread_mutex_unlock(&set->lock);
    const gyre_status status = gyre_wishes_wait(&copy->wishes, deadline_ns);
    if (status == GYRE_TIMEOUT)
        gyre_wishes_tell_timeout(&copy->wishes, "a set of queues", deadline_ns);
    gyre_wishes_leave(&copy->wishes);
    pthread_mutex_lock(&set->lock);
    return status;
}

/* Whether a wish of a member holds now. Under the lock. */
static bool something_holds(const gyre_queue_set *set)
{
    for (const struct gyre_set_member *member = set->first; member; member = member->next)
        if (gyre_wish_look(member->wish.queue, member->wish.wants))
            return true;
    return false;
}

static void set_signal(gyre_queue_set *set)
{
    const uint64_t one = 1;
    set->signalled = true;
    ssize_t written = write(set->descriptor, &one, sizeof one);
    (void)written; /* an eventfd at 0 takes a write */
}

/* Makes the descriptor unreadable, because a caller looked at all queues and found nothing. */
static void set_settle(gyre_queue_set *set)
{
    uint64_t count;
    if (!set->signalled)
        return;
    set->signalled = false;
    ssize_t cleared = read(set->descriptor, &count, sizeof count);
    (void)cleared;
    set_change(set);
}

static void *watch_set(void *argument)
{
    gyre_queue_set *set = argument;
    struct copy copy = {.wishes.sleeps = true};
    const struct timespec pause = {0, 10000000};
    pthread_mutex_lock(&set->lock);
    while (!set->leave) {
        if (set->signalled) {
            const uint32_t seen = __atomic_load_n(&set->changed, __ATOMIC_ACQUIRE);
            pthread_mutex_unlock(&set->lock);
            gyre_futex_wait(&set->changed, seen, UINT64_MAX);
            pthread_mutex_lock(&set->lock);
        } else if (something_holds(set)) {
            set_signal(set);
        } else if (wait_for_members(set, &copy, GYRE_FOREVER) == GYRE_EXHAUSTED) {
            pthread_mutex_unlock(&set->lock);
            nanosleep(&pause, NULL); /* then tries again for memory */
            pthread_mutex_lock(&set->lock);
        }
    }
    pthread_mutex_unlock(&set->lock);
    free(copy.wishes.wishes);
    return NULL;
}

/* ---- members ---- */

static struct gyre_set_member **find_member(gyre_queue_set *set, const gyre_queue *queue)
{
    struct gyre_set_member **link = &set->first;
    while (*link && (*link)->wish.queue != queue)
        link = &(*link)->next;
    return link;
}

/* Takes a member out of its set's list. Under members_lock. */
static void unlink_member(struct gyre_set_member *member)
{
    gyre_queue_set *set = member->set;
    pthread_mutex_lock(&set->lock);
    *find_member(set, member->wish.queue) = member->next;
    set->count--;
    set_change(set);
    pthread_mutex_unlock(&set->lock);
}

/* Takes a member out of its queue's list and frees it. Under members_lock. */
static void forget_member(struct gyre_set_member *member)
{
    struct gyre_set_member **link = &member->wish.queue->sets;
    while (*link != member)
        link = &(*link)->next_of_queue;
    *link = member->next_of_queue;
    free(member);
}

void gyre_queue_leave_sets(gyre_queue *queue)
{
    pthread_mutex_lock(&members_lock);
    while (queue->sets) {
        struct gyre_set_member *member = queue->sets;
        unlink_member(member);
        forget_member(member);
    }
    pthread_mutex_unlock(&members_lock);
}

/* Adds a wish to a set. Under members_lock. */
static gyre_status set_enter(gyre_queue_set *set, const gyre_wish *wish)
{
    struct gyre_set_member *member = calloc(1, sizeof *member);
    if (!member)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for one more queue of a set");
    *member = (struct gyre_set_member){.set = set, .wish = *wish, .next_of_queue = wish->queue->sets};
    wish->queue->sets = member;
    pthread_mutex_lock(&set->lock);
    member->next = set->first;
    set->first = member;
    set->count++;
    set_change(set);
    pthread_mutex_unlock(&set->lock);
    return GYRE_OK;
}

gyre_status gyre_queue_set_add(gyre_queue_set *set, const gyre_wish *wish)
{
    gyre_status status;
    if (!set || !wish)
        return gyre_error_set(GYRE_INVALID, "gyre_queue_set_add needs a set and a wish");
    if ((status = gyre_wish_check(wish)) != GYRE_OK ||
        (status = check_own(set, "gyre_queue_set_add")) != GYRE_OK)
        return status;
    if (gyre_queue_refused(wish->queue))
        return gyre_queue_tell_refused(wish->queue);
    pthread_mutex_lock(&members_lock);
    pthread_mutex_lock(&set->lock);
    struct gyre_set_member *member = *find_member(set, wish->queue);
    if (member) {
        member->wish = *wish;
        set_change(set);
    }
    pthread_mutex_unlock(&set->lock);
    if (!member)
        status = set_enter(set, wish);
    pthread_mutex_unlock(&members_lock);
    return status;
}

gyre_status gyre_queue_set_remove(gyre_queue_set *set, gyre_queue *queue)
{
    gyre_status status;
    if (!set || !queue)
        return gyre_error_set(GYRE_INVALID, "gyre_queue_set_remove needs a set and a queue");
    if ((status = check_own(set, "gyre_queue_set_remove")) != GYRE_OK)
        return status;
    pthread_mutex_lock(&members_lock);
    pthread_mutex_lock(&set->lock);
    struct gyre_set_member *member = *find_member(set, queue);
    pthread_mutex_unlock(&set->lock);
    if (member) {
        unlink_member(member);
        forget_member(member);
    }
    pthread_mutex_unlock(&members_lock);
    return member ? GYRE_OK : gyre_error_set(GYRE_NOT_FOUND, "the queue is not in this set");
}

/* ---- the set ---- */

gyre_status gyre_queue_set_create(gyre_queue_set **out)
{
    if (!out)
        return gyre_error_set(GYRE_INVALID, "gyre_queue_set_create needs a place for the set");
    pthread_once(&prepared, fork_prepare);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a set of queues");
    (*out)->owner = getpid();
    (*out)->descriptor = -1;
    pthread_mutex_init(&(*out)->lock, NULL);
    return GYRE_OK;
}

void gyre_queue_set_destroy(gyre_queue_set *set)
{
    if (!set || set->owner != getpid())
        return;
    pthread_mutex_lock(&set->lock);
    set->leave = true;
    set_change(set);
    pthread_mutex_unlock(&set->lock);
    if (set->descriptor >= 0) {
        pthread_join(set->watcher, NULL);
        close(set->descriptor);
    }
    pthread_mutex_lock(&members_lock);
    while (set->first) {
        struct gyre_set_member *member = set->first;
        unlink_member(member);
        forget_member(member);
    }
    pthread_mutex_unlock(&members_lock);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* Writes the wishes that hold now into `wishes`, at most `capacity`. Under the lock. Members whose wishes were written go to the
 * end of the list, so that other members come first the next time. */
static size_t tell_members(gyre_queue_set *set, gyre_wish *wishes, size_t capacity)
{
    struct gyre_set_member **link = &set->first, *told = NULL, **told_end = &told;
    size_t count = 0;
    while (*link) {
        struct gyre_set_member *member = *link;
        const uint32_t ready = count < capacity ? gyre_wish_look(member->wish.queue, member->wish.wants) : 0;
        if (!ready) {
            link = &member->next;
            continue;
        }
        wishes[count] = member->wish;
        wishes[count++].ready = ready;
        *link = member->next;
        member->next = NULL;
        *told_end = member;
        told_end = &member->next;
    }
    *link = told;
    return count;
}

gyre_status gyre_queue_set_wait(gyre_queue_set *set, gyre_wish *wishes, size_t capacity, size_t *count,
                                uint64_t deadline_ns)
{
    struct copy copy = {0};
    if (!set || !wishes || !count || capacity == 0)
        return gyre_error_set(
            GYRE_INVALID, "gyre_queue_set_wait needs a set, room for wishes and a place for their number");
    *count = 0;
    gyre_status status = check_own(set, "gyre_queue_set_wait");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&set->lock);
    while (status == GYRE_OK && (*count = tell_members(set, wishes, capacity)) == 0) {
        set_settle(set);
        status = deadline_ns == GYRE_NO_WAIT ? GYRE_AGAIN : wait_for_members(set, &copy, deadline_ns);
    }
    pthread_mutex_unlock(&set->lock);
    free(copy.wishes.wishes);
    return status == GYRE_AGAIN
               ? gyre_error_set_text(status, "no queue of the set has what its wish waits for")
               : status;
}

static gyre_status start_watcher(gyre_queue_set *set)
{
    set->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (set->descriptor < 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no descriptor for a set of queues: %s", strerror(errno));
    gyre_status status = gyre_thread_need(&set->watcher, watch_set, set, "to watch a set of queues");
    if (status != GYRE_OK) {
        close(set->descriptor);
        set->descriptor = -1;
    }
    return status;
}

gyre_status gyre_queue_set_descriptor(gyre_queue_set *set, int *descriptor)
{
    if (!set || !descriptor)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_queue_set_descriptor needs a set and a place for the descriptor");
    *descriptor = -1;
    gyre_status status = check_own(set, "gyre_queue_set_descriptor");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&set->lock);
    if (set->descriptor < 0)
        status = start_watcher(set);
    if (status == GYRE_OK)
        *descriptor = set->descriptor;
    pthread_mutex_unlock(&set->lock);
    return status;
}
