/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of pools: the owner takes the newest message, thieves the oldest, and each message is taken once, and whole. */
#include "backends/cpu/links/cpu_jobs.h"
#include "backends/device/device_jobs.h"
#include "unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 32, STRIDE = 64, THIEVES = 3, MESSAGES = 100000, MOST = 3 };

/* What a message says. */
struct payload {
    uint64_t number, again;
};

static _Alignas(64) unsigned char slots[CAPACITY * STRIDE];
static unsigned char kept[STRIDE];
static gyre_link_ring ring;
static gyre_link_window windows[1 + THIEVES];
static struct cpu_worker owner, thieves[THIEVES];
static uint32_t busy[CAPACITY]; /* atomic: the place holds a message that nobody has read */

/* `first`: the index of the first message. */
static void make_ring(uint32_t pool, uint32_t first)
{
    memset(slots, 0, sizeof slots);
    memset(windows, 0, sizeof windows);
    memset(busy, 0, sizeof busy);
    ring = (gyre_link_ring){.slots = (uintptr_t)slots,
                            .capacity = CAPACITY,
                            .stride = STRIDE,
                            .pool = pool,
                            .claimed = first,
                            .ends = (uint64_t)first << 32 | first,
                            .head = first};
    owner.links.rings[0] = &ring;
    owner.links.port_count = 1;
    owner.links.kept.bytes = kept;
}

static gyre_link_slot *slot_at(uint64_t index)
{
    return (gyre_link_slot *)(void *)(slots + (index & (CAPACITY - 1)) * STRIDE);
}

/* Emits messages number `from` to `from` + `count` - 1, as cpu_ports.c does. */
static void emit(uint64_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gyre_link_slot *slot = slot_at(ring.head + i);
        const struct payload payload = {from + i, ~(from + i)};
        memcpy(slot + 1, &payload, sizeof payload);
        slot->origin = from + i;
        slot->length = sizeof payload;
        __atomic_store_n(&busy[(ring.head + i) & (CAPACITY - 1)], 1, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->sequence, (uint32_t)(ring.head + i + 1), __ATOMIC_RELEASE);
    }
    __atomic_store_n(&ring.head, ring.head + count, __ATOMIC_RELAXED);
    device_jobs_publish(&ring, count);
}

static struct payload read_job(const struct cpu_job *job)
{
    struct payload payload;
    memcpy(&payload, job->request, sizeof payload);
    ck_assert_uint_eq(job->length, sizeof payload);
    ck_assert_uint_eq(payload.number, job->origin);
    ck_assert_uint_eq(payload.again, ~payload.number);
    __atomic_store_n(&busy[job->index & (CAPACITY - 1)], 0, __ATOMIC_RELEASE);
    return payload;
}

static uint64_t take(struct cpu_worker *worker, gyre_link_window *window)
{
    struct cpu_job job;
    ck_assert(cpu_jobs_are_there(&ring));
    ck_assert(cpu_job_take(worker, &ring, window, &job));
    ck_assert_int_eq(job.in_ring, !(worker == &owner && ring.pool & GYRE_POOL_NEWEST));
    return read_job(&job).number;
}

/* ---- one after the other ---- */

static void check_order(uint32_t first)
{
    make_ring(4 | GYRE_POOL_OWN | GYRE_POOL_NEWEST, first);
    ck_assert(!cpu_jobs_are_there(&ring) && !cpu_jobs_of_own_wait(&owner, 0));
    emit(0, 3);
    ck_assert(cpu_jobs_of_own_wait(&owner, 0) && !cpu_jobs_of_own_wait(&thieves[0], 0));
    ck_assert(cpu_jobs_are_own(&owner, &ring) && !cpu_jobs_are_own(&thieves[0], &ring));
    ck_assert_uint_eq(take(&owner, &windows[0]), 2);
    ck_assert_uint_eq(take(&thieves[0], &windows[1]), 0);
    emit(3, 2);
    ck_assert_uint_eq(take(&owner, &windows[0]), 4);
    ck_assert_uint_eq(take(&owner, &windows[0]), 3);
    ck_assert_uint_eq(take(&thieves[0], &windows[1]), 1);
    struct cpu_job job;
    ck_assert(!cpu_jobs_are_there(&ring) && !cpu_job_take(&owner, &ring, &windows[0], &job));
    ck_assert(!cpu_job_take(&thieves[0], &ring, &windows[1], &job));
    ck_assert_uint_eq(windows[0].taken, 3);
    ck_assert_uint_eq(windows[0].stolen, 0);
    ck_assert_uint_eq(windows[1].taken, 2);
    ck_assert_uint_eq(windows[1].stolen, 2);
}

START_TEST(the_owner_takes_the_newest_and_thieves_the_oldest)
{
    check_order(0);
    for (uint32_t first = UINT32_MAX - 6; first != 3; first++) /* where halves of `ends` wrap */
        check_order(first);
}
END_TEST

START_TEST(in_order_everybody_takes_the_oldest)
{
    struct cpu_job job;
    make_ring(4 | GYRE_POOL_OWN, UINT32_MAX - 1);
    emit(0, 4);
    ck_assert_uint_eq(take(&owner, &windows[0]), 0);
    ck_assert_uint_eq(take(&thieves[0], &windows[1]), 1);
    ck_assert_uint_eq(take(&thieves[1], &windows[2]), 2);
    ck_assert_uint_eq(take(&owner, &windows[0]), 3);
    ck_assert(!cpu_jobs_are_there(&ring) && !cpu_job_take(&owner, &ring, &windows[0], &job));
    ck_assert_uint_eq(windows[1].stolen, 1);
    make_ring(4, 0); /* whose sender is no member: nothing is stolen */
    emit(0, 1);
    ck_assert_uint_eq(take(&thieves[0], &windows[1]), 0);
    ck_assert_uint_eq(windows[1].taken, 1);
    ck_assert_uint_eq(windows[1].stolen, 0);
}
END_TEST

/* ---- at once ---- */

static uint32_t seen[MESSAGES], stop; /* atomic */

static uint32_t see(struct cpu_worker *worker, gyre_link_window *window)
{
    struct cpu_job job;
    if (!cpu_job_take(worker, &ring, window, &job))
        return 0;
    __atomic_fetch_add(&seen[read_job(&job).number], 1, __ATOMIC_RELAXED);
    return 1;
}

static void *steal(void *argument)
{
    const size_t number = (size_t)((struct cpu_worker *)argument - thieves);
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        if (!see(argument, &windows[1 + number]))
            sched_yield();
    return NULL;
}

static bool has_room(void)
{
    for (uint32_t i = 0; i < MOST; i++)
        if (__atomic_load_n(&busy[(ring.head + i) & (CAPACITY - 1)], __ATOMIC_ACQUIRE))
            return false;
    return true;
}

static void run_at_once(uint32_t pool)
{
    pthread_t threads[THIEVES];
    uint64_t emitted = 0, taken = 0;
    unsigned seed = 1;
    memset(seen, 0, sizeof seen);
    make_ring(pool, UINT32_MAX - MESSAGES / 4);
    stop = 0;
    for (int i = 0; i < THIEVES; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, steal, &thieves[i]), 0);
    while (emitted < MESSAGES || cpu_jobs_of_own_wait(&owner, 0)) {
        const uint64_t left = MESSAGES - emitted;
        const uint32_t more = 1 + (uint32_t)rand_r(&seed) % MOST;
        if (left && has_room() && rand_r(&seed) % 3) {
            emit(emitted, more < left ? more : (uint32_t)left);
            emitted += more < left ? more : left;
        } else if (!see(&owner, &windows[0])) {
            sched_yield();
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i <= THIEVES; i++)
        taken += windows[i].taken;
    ck_assert_uint_eq(taken, MESSAGES);
    for (int i = 0; i < MESSAGES; i++)
        ck_assert_uint_eq(seen[i], 1);
}

START_TEST(each_message_is_taken_once)
{
    run_at_once((1 + THIEVES) | GYRE_POOL_OWN | GYRE_POOL_NEWEST);
    run_at_once((1 + THIEVES) | GYRE_POOL_OWN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_jobs");
    TCase *tests = tcase_create("jobs");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_owner_takes_the_newest_and_thieves_the_oldest);
    tcase_add_test(tests, in_order_everybody_takes_the_oldest);
    tcase_add_test(tests, each_message_is_taken_once);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
