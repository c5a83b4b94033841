/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps dead letters: copies of requests that no handler will handle any more, each with the reason. A letter stays until a
 * thread takes it. The sender of the request learns of the failure from the failed completion; the letter is for the people
 * or programs that look after the queue.
 *
 * Lock: letters->lock, innermost. Each letter is allocated by itself, because letters are rare.
 */
#include "core/stages/letters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/text.h"
#include "core/queue/label.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/queue/state.h"
#include "core/ring/ring_message.h"
#include "core/stages/expiry.h"
#include "core/stages/order.h"
#include "core/stages/spans.h"
#include "gyre/waiting.h"

struct letter {
    struct letter *next;
    gyre_dead_letter told;
    unsigned char request[];
};

struct gyre_queue_letters {
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* on the clock of deadlines */
    struct letter *first, **end;
    uint64_t count, limit;
    uint64_t total, lost; /* all letters so far; letters that were dropped for want of room or memory */
    bool closed;
};

static struct gyre_queue_letters *letters_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_LETTERS);
}

/* Removes the oldest letter from the list, which has at least one. Under the lock. */
static struct letter *letters_pop(struct gyre_queue_letters *letters)
{
    struct letter *first = letters->first;
    letters->first = first->next;
    if (!letters->first)
        letters->end = &letters->first;
    letters->count--;
    return first;
}

static void letters_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_letters *letters = state;
    (void)queue;
    while (letters->first)
        free(letters_pop(letters));
    pthread_cond_destroy(&letters->arrived);
    pthread_mutex_destroy(&letters->lock);
    free(letters);
}

/* Ends the wait of every thread that waits for a letter, because no letter comes any more. */
static void letters_close(gyre_queue *queue)
{
    struct gyre_queue_letters *letters = letters_of(queue);
    pthread_mutex_lock(&letters->lock);
    letters->closed = true;
    pthread_cond_broadcast(&letters->arrived);
    pthread_mutex_unlock(&letters->lock);
}

/* ---- burying ---- */

static bool is_dead(int32_t code)
{
    return code == GYRE_FAILURE_CRASH || code == GYRE_FAILURE_EXPIRED || code == GYRE_FAILURE_SEAL;
}

static struct letter *write_letter(gyre_queue *queue, uint64_t index, const gyre_failure *failure)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const gyre_slot *request = gyre_request_slot(ring, index);
    const bool spans = gyre_spans_has(queue);
    const uint32_t length = gyre_queue_request_length(queue, index);
    struct letter *letter = malloc(sizeof *letter + (spans ? ring->request_size : length));
    const uint32_t header_size = ring->slots.header_size;
    if (!letter)
        return NULL;
    *letter = (struct letter){.told = {.index = index,
                                       .code = failure->code,
                                       .length = length,
                                       .buried_ns = gyre_clock_ns(),
                                       .header_size = header_size}};
    if (header_size)
        memcpy(&letter->told.header, gyre_header_at(ring, index), header_size);
    memcpy(letter->told.reason, failure->text, sizeof failure->text - 1); /* the last byte is 0 already */
    gyre_text_end_whole(letter->told.reason);
    if (length)
        memcpy(letter->request, gyre_request_payload(ring, request), length);
    if (spans)
        letter->told.length = gyre_spans_bring_back(queue, letter->request, length);
    return letter;
}

static void letters_add(struct gyre_queue_letters *letters, struct letter *letter)
{
    struct letter *pushed_out = NULL;
    pthread_mutex_lock(&letters->lock);
    letters->total++;
    if (letter && letters->count == letters->limit)
        pushed_out = letters_pop(letters);
    letters->lost += !letter || pushed_out;
    if (letter) {
        *letters->end = letter;
        letters->end = &letter->next;
        letters->count++;
        /* wakes all, because one of them may have no room for this letter, and leave it */
        pthread_cond_broadcast(&letters->arrived);
    }
    pthread_mutex_unlock(&letters->lock);
    free(pushed_out);
}

static void letters_failed(gyre_queue *queue, uint64_t index, bool taken)
{
    gyre_failure failure;
    if (!taken)
        return;
    memcpy(&failure, gyre_reply_slot(gyre_ring_of(queue), index) + 1, sizeof failure);
    if (is_dead(failure.code))
        letters_add(letters_of(queue), write_letter(queue, index, &failure));
}

/* ---- reading ---- */

static void letters_count(const gyre_queue *queue, gyre_queue_stats *stats)
{
    struct gyre_queue_letters *letters = letters_of(queue);
    pthread_mutex_lock(&letters->lock);
    stats->dead_letters = letters->total;
    stats->dead_letters_lost = letters->lost;
    pthread_mutex_unlock(&letters->lock);
}

/* Under the lock: waits until the list has a letter. */
static gyre_status letters_await(struct gyre_queue_letters *letters, uint64_t deadline_ns)
{
    const struct timespec until = gyre_clock_timespec(deadline_ns);
    int error = 0;
    if (!letters->first && deadline_ns == GYRE_NO_WAIT)
        return gyre_error_set_text(GYRE_AGAIN, "the queue has no dead letter now");
    while (!letters->first && !letters->closed && error == 0)
        error = deadline_ns == GYRE_FOREVER
                    ? pthread_cond_wait(&letters->arrived, &letters->lock)
                    : pthread_cond_timedwait(&letters->arrived, &letters->lock, &until);
    if (letters->first)
        return GYRE_OK;
    if (letters->closed)
        return gyre_error_set_text(GYRE_CLOSED,
                                   "the queue is being closed, so no dead letter comes any more");
    gyre_error_set_text(GYRE_TIMEOUT, "the deadline passed before the queue had a dead letter");
    return gyre_error_add_overdue(GYRE_TIMEOUT, deadline_ns);
}

/* Under the lock: takes the first letter. After a failure the letter stays in the list. */
static gyre_status letters_take(struct gyre_queue_letters *letters, gyre_dead_letter *letter, void *request,
                                size_t size, uint64_t deadline_ns)
{
    gyre_status status = letters_await(letters, deadline_ns);
    if (status != GYRE_OK)
        return status;
    if (letters->first->told.length > size)
        return gyre_error_set(GYRE_INVALID,
                              "the dead letter has %u bytes and the caller's buffer %zu: pass a larger one",
                              letters->first->told.length, size);
    struct letter *first = letters_pop(letters);
    gyre_info_give(letter, &first->told, sizeof first->told);
    if (first->told.length)
        memcpy(request, first->request, first->told.length);
    free(first);
    return GYRE_OK;
}

gyre_status gyre_dead_letter_take(gyre_queue *queue, gyre_dead_letter *letter, void *request, size_t size,
                                  uint64_t deadline_ns)
{
    bool inside = false;
    char label[GYRE_LABEL_SIZE];
    if (!queue || !letter || letter->size < sizeof letter->size || (!request && size))
        return GYRE_ARGUMENTS("gyre_dead_letter_take", {"queue", queue}, GYRE_SIZED(letter),
                              {"request", request || !size});
    if (gyre_queue_refused(queue))
        return gyre_queue_tell_refused(queue);
    struct gyre_queue_letters *letters = letters_of(queue);
    if (!letters)
        return gyre_error_set(GYRE_INVALID, "%s keeps no dead letters: set dead_letters in its section",
                              gyre_queue_label(queue, label, sizeof label));
    gyre_queue_stay(queue, deadline_ns, &inside);
    pthread_mutex_lock(&letters->lock);
    gyre_status status = letters_take(letters, letter, request, size, deadline_ns);
    pthread_mutex_unlock(&letters->lock);
    gyre_queue_leave(queue, inside);
    return status;
}

/* ---- making ---- */

gyre_status gyre_letters_create(gyre_queue *queue, uint64_t limit)
{
    static const struct gyre_queue_stage stage = {.number = GYRE_STAGE_LETTERS,
                                                  .failed = letters_failed,
                                                  .count = letters_count,
                                                  .close = letters_close,
                                                  .destroy = letters_destroy};
    struct gyre_queue_letters *letters = calloc(1, sizeof *letters);
    if (!letters)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the dead letters of a queue");
    pthread_mutex_init(&letters->lock, NULL);
    gyre_clock_condition(&letters->arrived);
    letters->end = &letters->first;
    letters->limit = limit;
    gyre_stage_add(queue, &stage, letters);
    return GYRE_OK;
}
