/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until a request has reached a level of acknowledgement (gyre_acknowledgement). Takes no lock: a waiting thread looks
 * at atomics only.
 */
#include "core/stages/await.h"
#include "core/base/error.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/state.h"
#include "core/queue/wait.h"
#include "core/stages/log.h"

/* 1 when *word has passed `argument`, -1 when the queue is closed. Looks for the close first, so that what was told before the
 * close counts. For a relayed queue the server writes the word. Pairs with the release in relay_ring.c. */
static int wait_word(const gyre_queue *queue, const uint64_t *word, uint64_t argument)
{
    const bool closed = gyre_queue_closed(queue);
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) > argument)
        return 1;
    return closed ? -1 : 0;
}

static int wait_covered(const gyre_queue *queue, uint64_t argument)
{
    return wait_word(queue,
                     gyre_foreign_of(queue)->tells_covered ? &gyre_promises_of(queue)->covered
                                                           : &gyre_log_of(queue)->base.first,
                     argument);
}

static int wait_durable(const gyre_queue *queue, uint64_t argument)
{
    return wait_word(queue,
                     gyre_foreign_of(queue)->tells_durable ? &gyre_promises_of(queue)->durable
                                                           : &gyre_log_of(queue)->durable,
                     argument);
}

gyre_status gyre_queue_can_reach(const gyre_queue *queue, gyre_acknowledgement level)
{
    char label[GYRE_LABEL_SIZE];
    gyre_queue_label(queue, label, sizeof label);
    if ((unsigned)level < GYRE_ACCEPTED || (unsigned)level > GYRE_DURABLE)
        return gyre_error_set(GYRE_INVALID,
                              "there is no acknowledgement %d: pass one of GYRE_ACCEPTED to GYRE_DURABLE",
                              (int)level);
    if (gyre_queue_has_line(queue) && level != GYRE_ACCEPTED)
        return gyre_error_set(GYRE_INVALID,
                              "%s has levels, where an index is no place in the ring; receive its completion",
                              label);
    if (level == GYRE_CHECKPOINTED && !gyre_foreign_of(queue)->tells_covered &&
        !(gyre_log_of(queue) && gyre_log_of(queue)->keeps))
        return gyre_error_set(GYRE_INVALID,
                              "%s: its kernel has no checkpoints (checkpoints = true), "
                              "so no request is ever covered by one",
                              label);
    if (level == GYRE_DURABLE && !gyre_foreign_of(queue)->tells_durable && !gyre_view_of(queue)->durable)
        return gyre_error_set(
            GYRE_INVALID, "%s has no journal (durability = journal), so no request is ever durable", label);
    return GYRE_OK;
}

static gyre_status await_check(gyre_queue *queue, uint64_t index, gyre_acknowledgement level)
{
    char label[GYRE_LABEL_SIZE];
    const gyre_status status = gyre_queue_can_reach(queue, level);
    if (status != GYRE_OK || index < gyre_queue_next_number(queue))
        return status;
    return gyre_error_set(GYRE_INVALID, "%s: request %llu was not sent yet",
                          gyre_queue_label(queue, label, sizeof label), (unsigned long long)index);
}

/* The bell that announces `level`. A server that relays requests rings its client's bell as a device does. */
static enum gyre_wait_bell bell_of(const gyre_queue *queue, gyre_acknowledgement level)
{
    bool told = gyre_foreign_of(queue)->tells_covered || gyre_foreign_of(queue)->tells_durable;
    return level == GYRE_PROCESSED || told ? GYRE_BELL_DEVICE : GYRE_BELL_CREDIT;
}

gyre_status gyre_await(gyre_queue *queue, uint64_t index, gyre_acknowledgement level, uint64_t deadline_ns)
{
    static const gyre_wait_condition conditions[] = {[GYRE_PROCESSED] = gyre_wait_reply,
                                                     [GYRE_CHECKPOINTED] = wait_covered,
                                                     [GYRE_DURABLE] = wait_durable};
    char label[GYRE_LABEL_SIZE];
    bool inside = false;
    if (!queue)
        return gyre_error_set(GYRE_INVALID, "gyre_await needs a queue");
    gyre_status status = await_check(queue, index, level);
    if (status != GYRE_OK || level == GYRE_ACCEPTED || conditions[level](queue, index) > 0)
        return status;
    if (deadline_ns == GYRE_NO_WAIT) {
        status = gyre_queue_look(queue, conditions[level], index);
        return status != GYRE_AGAIN
                   ? status
                   : gyre_error_set(
                         GYRE_AGAIN,
                         "%s: request %llu has not come as far as the acknowledgement that was asked for",
                         gyre_queue_label(queue, label, sizeof label), (unsigned long long)index);
    }
    gyre_queue_stay(queue, deadline_ns, &inside);
    status = gyre_queue_wait(queue, conditions[level], index, bell_of(queue, level), deadline_ns);
    gyre_queue_leave(queue, inside);
    return status;
}

gyre_status gyre_send_until(gyre_queue *queue, const void *request, size_t size, uint64_t *index,
                            gyre_acknowledgement level, uint64_t deadline_ns)
{
    uint64_t sent = 0;
    gyre_status status = queue ? gyre_queue_can_reach(queue, level) : GYRE_OK; /* nothing is sent in vain */
    if (status != GYRE_OK)
        return status;
    status = gyre_send(queue, request, size, &sent, deadline_ns);
    if (index)
        *index = sent;
    return status == GYRE_OK ? gyre_await(queue, sent, level, deadline_ns) : status;
}
