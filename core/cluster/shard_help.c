/* SPDX-License-Identifier: Apache-2.0 */
/* See helper.h. No lock: the word says whose the shard is. */
#include "core/cluster/helper.h"

#include "core/cluster/shard.h"
#include "core/kernel/help.h"
#include "core/queue/bells.h"
#include "core/queue/queue.h"

enum {
    AWAY = 0,   /* the helper is in no handler */
    INSIDE = 1, /* the helper is in a handler, or about to call one */
    LEFT = 2    /* the helper was in a handler for too long: the shard is the ender's */
};

void gyre_shard_begin_help(struct gyre_shard *shard)
{
    if (shard->cannot_help || !gyre_kernel_may_be_helped(shard->kernel))
        return;
    shard->helps = gyre_queue_set_quiet(shard->queue, !shard->follows && !shard->trial.careful_until);
}

static gyre_status handle_here(gyre_kernel *kernel, struct gyre_shard_helper *helper)
{
    uint32_t word = INSIDE;
    __atomic_store_n(&helper->since_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&helper->word, INSIDE, __ATOMIC_RELEASE);
    const gyre_status status = gyre_kernel_help(kernel);
    if (__atomic_compare_exchange_n(&helper->word, &word, AWAY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return status;
    longjmp(helper->home, 1); /* the shard and the member may be gone */
}

void gyre_shard_help(struct gyre_shard *shard, uint64_t count)
{
    const gyre_status status = shard->helps ? handle_here(shard->kernel, shard->helper) : GYRE_OK;
    if (status == GYRE_OK)
        return;
    shard->helps = gyre_queue_set_quiet(shard->queue, false);
    shard->cannot_help = status == GYRE_UNIMPLEMENTED;
    gyre_queue_ring_doorbell(shard->queue, count);
}

bool gyre_shard_leave_thread(struct gyre_shard *shard)
{
    uint32_t word = INSIDE;
    if (!__atomic_compare_exchange_n(&shard->helper->word, &word, LEFT, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    shard->helper = NULL; /* the helper frees it when its handler returns */
    pthread_detach(shard->thread);
    return true;
}

uint64_t gyre_shard_helps_since(struct gyre_shard *shard)
{
    struct gyre_shard_helper *helper = shard->helper;
    return __atomic_load_n(&helper->word, __ATOMIC_ACQUIRE) == INSIDE
               ? __atomic_load_n(&helper->since_ns, __ATOMIC_RELAXED)
               : 0;
}
