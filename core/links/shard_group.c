/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes shards: several queues ("rings") of a kernel behind one name. Sending and receiving: shards_flow.c.
 *
 * Locks: kernel->lock for the kernel's list of shards. `inside` counts the receivers that wait, and the shards are freed only
 * after these have left. A send does not touch the shards once it is inside a queue, and queues count their senders.
 */
#include "core/links/shard_group.h"
#include "core/links/shards_join.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/sections.h"
#include "core/kernel/shard_key.h"
#include "core/plan/queue_plan.h"
#include "core/queue/queue.h"

_Static_assert(GYRE_QUEUES_MAX < UINT8_MAX, "ring + 1 fits ring_of");

static gyre_status adopt_desc(gyre_shards *shards, gyre_kernel *kernel, const gyre_shards_desc *desc)
{
    const char *name = desc->name ? desc->name : "";
    shards->kernel = kernel;
    if (strlen(name) + sizeof "/63" > sizeof shards->name)
        return gyre_error_set(GYRE_INVALID, "the name of shards '%s' is longer than %zu characters", name,
                              sizeof shards->name - sizeof "/63");
    snprintf(shards->name, sizeof shards->name, "%s", name);
    shards->count = desc->rings ? desc->rings : (uint32_t)gyre_kernel_queue_setting(kernel, name, "rings");
    shards->rule = desc->rule ? desc->rule
                              : (gyre_shard_rule)gyre_queue_plan_word(kernel->runtime->config, name, "shard");
    if (shards->count > GYRE_QUEUES_MAX || (unsigned)shards->rule > GYRE_SHARD_ROUND_ROBIN)
        return gyre_error_set(GYRE_INVALID,
                              "shards '%s' of kernel '%s': expected 1 to %d rings "
                              "and a rule from 1 to %d, found %u rings and rule %d",
                              name, kernel->name, GYRE_QUEUES_MAX, GYRE_SHARD_ROUND_ROBIN, shards->count,
                              (int)shards->rule);
    if (shards->rule != GYRE_SHARD_KEY)
        return GYRE_OK;
    return gyre_kernel_shard_key(
        kernel, &(struct gyre_shard_key_wish){name, desc->key, .rule_is_given = desc->rule != 0},
        &shards->key);
}

static void close_rings(gyre_shards *shards, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gyre_kernel_close_queue(shards->queues[i]);
}

/* Opens the rings NAME/0, NAME/1, ..., each configured by [queue.NAME]. */
static gyre_status open_rings(gyre_shards *shards, const gyre_shards_desc *desc)
{
    char name[sizeof shards->name +
              16]; /* room for names longer than a queue's may be: the opening of the queue refuses these */
    gyre_queue_desc queue = {.size = sizeof queue,
                             .name = desc->name ? name : NULL,
                             .capacity = desc->capacity,
                             .policy = desc->policy,
                             .idle = desc->idle,
                             .request = desc->request,
                             .reply = desc->reply};
    for (uint32_t i = 0; i < shards->count; i++) {
        snprintf(name, sizeof name, "%s/%u", shards->name, i);
        gyre_status status = gyre_kernel_add_ring(shards->kernel, &queue, shards->name, &shards->queues[i]);
        if (status != GYRE_OK) {
            gyre_error_hold();
            close_rings(shards, i);
            gyre_error_let_go();
            return gyre_error_add(status, "ring %u of %u of shards '%s'", i, shards->count, shards->name);
        }
        gyre_view_for(shards->queues[i])->of_shards = true;
    }
    return GYRE_OK;
}

/* Makes waiting receivers return: sets `closing` and rings the bells of the rings, at which receivers look at `closing`. */
static void send_away(gyre_shards *shards)
{
    __atomic_store_n(&shards->closing, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&shards->inside, __ATOMIC_SEQ_CST)) {
        for (uint32_t i = 0; i < shards->count; i++)
            gyre_bell_ring(&gyre_ring_of(shards->queues[i])->shared->device.bell, INT_MAX);
        sched_yield();
    }
}

/* Frees the shards of a kernel whose device has left. Does not free the rings: they are queues of the kernel, which frees
 * them. */
static void free_shards(gyre_kernel *kernel)
{
    while (kernel->shards.first) {
        gyre_shards *shards = kernel->shards.first;
        kernel->shards.first = shards->next;
        send_away(shards);
        free(shards);
    }
}

gyre_status gyre_shards_open(gyre_kernel *kernel, const gyre_shards_desc *desc, gyre_shards **out)
{
    gyre_shards_desc given = {.size = sizeof given};
    if (!kernel || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_shards_open", {"kernel", kernel}, {"out", out}, GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_shards_open");
    if (status != GYRE_OK)
        return status;
    gyre_shards *shards = aligned_alloc(GYRE_LINE_SIZE, sizeof *shards);
    if (!shards)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for shards of kernel '%s'", kernel->name);
    memset(shards, 0, sizeof *shards);
    status = adopt_desc(shards, kernel, &given);
    if (status == GYRE_OK)
        status = gyre_sections_look(kernel->runtime, GYRE_SECTION_QUEUE, shards->name, kernel->build);
    if (status == GYRE_OK)
        status = open_rings(shards, &given);
    if (status != GYRE_OK) {
        free(shards);
        return status;
    }
    pthread_mutex_lock(&kernel->lock);
    shards->next = kernel->shards.first;
    kernel->shards.first = shards;
    kernel->shards.free = free_shards;
    pthread_mutex_unlock(&kernel->lock);
    *out = shards;
    return GYRE_OK;
}

static void close_joined(gyre_shards *shards)
{
    send_away(shards);
    for (uint32_t i = 0; i < shards->count; i++)
        gyre_queue_close(shards->queues[i]);
    free(shards);
}

void gyre_shards_close(gyre_shards *shards)
{
    if (shards && shards->joined) {
        if (shards->owns_queues)
            close_joined(shards);
        return;
    }
    if (!shards || shards->kernel->runtime->foreign)
        return;
    gyre_kernel *kernel = shards->kernel;
    pthread_mutex_lock(&kernel->lock);
    struct gyre_shards **link = &kernel->shards.first;
    while (*link != shards)
        link = &(*link)->next;
    *link = shards->next;
    pthread_mutex_unlock(&kernel->lock);
    send_away(shards);
    close_rings(shards, shards->count);
    free(shards);
}

gyre_status gyre_shards_join(const struct gyre_shards_joined *joined, gyre_shards **out)
{
    gyre_shards *shards = aligned_alloc(GYRE_LINE_SIZE, sizeof *shards);
    *out = NULL;
    if (!shards)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for shards '%s'", joined->name);
    memset(shards, 0, sizeof *shards);
    snprintf(shards->name, sizeof shards->name, "%s", joined->name);
    shards->joined = true;
    shards->owns_queues = joined->owned;
    shards->count = joined->count;
    shards->rule = joined->rule;
    shards->key = *joined->key;
    memcpy(shards->queues, joined->queues, joined->count * sizeof joined->queues[0]);
    *out = shards;
    return GYRE_OK;
}

void gyre_shards_part(gyre_shards *shards)
{
    if (!shards)
        return;
    send_away(shards);
    free(shards);
}

uint32_t gyre_shards_count(const gyre_shards *shards)
{
    return shards ? shards->count : 0;
}

gyre_queue *gyre_shards_queue(gyre_shards *shards, uint32_t ring)
{
    return shards && ring < shards->count ? shards->queues[ring] : NULL;
}

static void add_up(gyre_queue_stats *sum, const gyre_queue_stats *one)
{
    sum->capacity += one->capacity;
    sum->request_size = one->request_size;
    sum->reply_size = one->reply_size;
    sum->region_size += one->region_size;
    sum->sent += one->sent;
    sum->received += one->received;
    sum->rejected += one->rejected;
    sum->dropped += one->dropped;
    sum->abandoned += one->abandoned;
    sum->high_water = one->high_water > sum->high_water ? one->high_water : sum->high_water;
    sum->send_waits += one->send_waits;
    sum->receive_waits += one->receive_waits;
    sum->timed += one->timed;
    sum->waited_ns += one->waited_ns;
    sum->handled_ns += one->handled_ns;
    sum->returned_ns += one->returned_ns;
    sum->duplicates += one->duplicates;
    sum->waiting += one->waiting;
    sum->dead_letters += one->dead_letters;
    sum->dead_letters_lost += one->dead_letters_lost;
    sum->spans_moved += one->spans_moved;
    sum->spans_bytes += one->spans_bytes;
}

gyre_status gyre_shards_stats_get(const gyre_shards *shards, gyre_queue_stats *stats)
{
    gyre_queue_stats sum = {0};
    if (!shards || !stats || stats->size < sizeof stats->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_shards_stats_get needs shards and statistics with their size set");
    for (uint32_t i = 0; i < shards->count; i++) {
        gyre_queue_stats one = {.size = sizeof one};
        gyre_status status = gyre_queue_stats_get(shards->queues[i], &one);
        if (status != GYRE_OK)
            return status;
        add_up(&sum, &one);
    }
    gyre_info_give(stats, &sum, sizeof sum);
    return GYRE_OK;
}
