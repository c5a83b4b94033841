/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The courier: a second thread of a kernel whose replies can be read while it runs. It hands out the replies
 * of large gathered epochs (batches whose messages are packed into a stage). Meanwhile the pump (the kernel's
 * first thread) enqueues the next epoch; a stream of small messages gains by that. The courier is parked
 * while there are no such epochs. On a machine with few processors there is no courier: the pump hands out
 * all replies.
 *
 * Takes no lock. An epoch's `carried` says which thread has its replies: the courier from GIVEN until DONE.
 */
#include "opencl_courier.h"
#include "opencl_replies.h"

#include <limits.h>
#include <sched.h>

#include "gyre/thread.h"
#include "gyre/waiting.h"

enum {
    LEAST = 64,      /* an epoch of fewer messages stays with the pump */
    PROCESSORS = 4,  /* setting auto: with fewer processors there is no courier */
    LOOKS = 20000,   /* looks without an epoch before the courier parks: some 100 us */
    RECALL_SPIN = 64 /* turns of a pump that waits for the courier, between two yields */
};

static bool is_wanted(const gyre_device *device)
{
    cpu_set_t set;
    if (!device->create_reachable || device->settings.courier != OPENCL_AUTO)
        return device->create_reachable && device->settings.courier == OPENCL_YES;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= PROCESSORS;
}

/*
 * Goes over the epochs once and hands out the replies of the courier's epochs. Acquire: pairs with the pump's
 * release. Returns whether the courier had an epoch.
 */
static bool carry_replies(gyre_resident *resident)
{
    bool found = false;
    for (uint32_t i = 0; i < resident->device->settings.epochs; i++) {
        struct opencl_epoch *epoch = &resident->epochs[i];
        const uint32_t state = __atomic_load_n(&epoch->carried, __ATOMIC_ACQUIRE);
        if (state != OPENCL_CARRY_GIVEN && state != OPENCL_CARRY_RECALLED)
            continue;
        found = true;
        while (opencl_hand_out(resident, epoch))
            ;
        if (state == OPENCL_CARRY_RECALLED || epoch->handed_out == epoch->count)
            __atomic_store_n(&epoch->carried, OPENCL_CARRY_DONE, __ATOMIC_RELEASE);
    }
    return found;
}

/*
 * Sleeps until the pump rings. seq_cst between `asleep` and the last look, because the pump first gives an
 * epoch and then looks at `asleep`.
 */
static void park_courier(gyre_resident *resident)
{
    struct opencl_courier *courier = &resident->courier;
    const uint32_t seen = __atomic_load_n(&courier->bell, __ATOMIC_ACQUIRE);
    __atomic_store_n(&courier->asleep, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!carry_replies(resident) && !__atomic_load_n(&courier->over, __ATOMIC_ACQUIRE))
        gyre_futex_wait(&courier->bell, seen, UINT64_MAX);
    __atomic_store_n(&courier->asleep, 0, __ATOMIC_RELEASE);
}

static void *courier_main(void *argument)
{
    gyre_resident *resident = argument;
    uint32_t looks = 0;
    while (!__atomic_load_n(&resident->courier.over, __ATOMIC_ACQUIRE)) {
        looks = carry_replies(resident) ? 0 : looks + 1;
        gyre_spin_pause();
        if (looks < LOOKS)
            continue;
        park_courier(resident);
        looks = 0;
    }
    return NULL;
}

static void ring_courier(struct opencl_courier *courier)
{
    __atomic_fetch_add(&courier->bell, 1, __ATOMIC_SEQ_CST);
    gyre_futex_wake(&courier->bell, INT_MAX);
}

void opencl_courier_start(gyre_resident *resident)
{
    struct opencl_courier *courier = &resident->courier;
    if (is_wanted(resident->device))
        courier->present = gyre_thread_start(&courier->thread, NULL, courier_main, resident) == 0;
}

void opencl_courier_end(gyre_resident *resident)
{
    struct opencl_courier *courier = &resident->courier;
    if (!courier->present)
        return;
    __atomic_store_n(&courier->over, 1, __ATOMIC_RELEASE);
    ring_courier(courier);
    pthread_join(courier->thread, NULL);
    courier->present = false;
}

void opencl_courier_give(gyre_resident *resident, struct opencl_epoch *epoch)
{
    struct opencl_courier *courier = &resident->courier;
    if (!courier->present || epoch->count < LEAST || epoch->queue->bridge.reply_bytes)
        return;
    __atomic_store_n(&epoch->carried, OPENCL_CARRY_GIVEN, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&courier->asleep, __ATOMIC_RELAXED))
        ring_courier(courier);
}

bool opencl_courier_has(const struct opencl_epoch *epoch)
{
    const uint32_t state = __atomic_load_n(&epoch->carried, __ATOMIC_ACQUIRE);
    return state == OPENCL_CARRY_GIVEN || state == OPENCL_CARRY_RECALLED;
}

void opencl_courier_recall(struct opencl_epoch *epoch)
{
    uint32_t given = OPENCL_CARRY_GIVEN;
    __atomic_compare_exchange_n(&epoch->carried, &given, OPENCL_CARRY_RECALLED, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    for (uint32_t turn = 1; opencl_courier_has(epoch); turn++) {
        if (turn % RECALL_SPIN == 0)
            sched_yield();
        gyre_spin_pause();
    }
}
