/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects a queue with two stages (options of a queue) in front of its ring: a line, in which messages wait for their turn
 * by priority (stages/levels.c), and the ids of messages that were sent before (stages/known.c).
 *
 * In a queue with a line, an index of gyre.h is a ticket: the number of the message in the order of the sends, which says
 * nothing about the slot of the message.
 */
#ifndef GYRE_CORE_QUEUE_LINE_H
#define GYRE_CORE_QUEUE_LINE_H

#include "core/queue/queue.h"

struct gyre_outgoing;

struct gyre_line {
    /* ---- under the producer lock ---- */

    /* Puts a request into the line and gives it a ticket. If `request` describes several, takes the first. False: the
     * line is full. */
    bool (*push)(gyre_queue *queue, const struct gyre_outgoing *request, enum gyre_mark mark,
                 uint64_t *ticket);
    /* Moves messages from the line into the ring, as far as the ring's window allows; returns how many. */
    uint64_t (*pump)(gyre_queue *queue);
    /* Notes that the caller with this ticket gave up, so no thread waits for the reply if the request is still in the line. */
    void (*abandon)(gyre_queue *queue, uint64_t ticket);
    /* Notes that a device will handle messages that enter the ring from now on. */
    void (*begin)(gyre_queue *queue);
    /* Makes all messages in the line unhandled, because no device handles messages any more and sends are closed. They stay
     * unhandled even if another device comes. Returns how many became unhandled now. */
    uint64_t (*end)(gyre_queue *queue);

    /* ---- any thread, without a lock ---- */

    /* As pump, but takes the producer lock itself, and rings the bells. */
    void (*move)(gyre_queue *queue);
    /* How many messages are in the line. Acquire: the caller finds a message that has left the line in the ring. */
    uint64_t (*waiting)(const gyre_queue *queue);
    /* How many messages in the line a device will still handle. */
    uint64_t (*outstanding)(const gyre_queue *queue);
    /* The ticket that the next message gets. */
    uint64_t (*next)(const gyre_queue *queue);
    /* Finds the lowest ticket in the line of a message with this correlation that receivers may take. Takes the producer
     * lock. A message leaves the line only for the ring, so a later look at the ring finds a message that has left. */
    bool (*find)(gyre_queue *queue, uint64_t correlation, uint64_t *ticket);
    /* The ticket of the message in a slot of the ring. */
    uint64_t (*ticket)(const gyre_queue *queue, uint64_t index);
    /* Whether the message in this slot of the ring had already ended as unhandled while it was in the line. */
    bool (*over)(const gyre_queue *queue, uint64_t index);
};

struct gyre_known_ids {
    /* Under the producer lock. knows: whether a message with this id was sent before; note: remembers the id. */
    bool (*knows)(const gyre_queue *queue, uint64_t id);
    void (*note)(gyre_queue *queue, uint64_t id);
};

/* Gives a queue a line, or known ids. Called while the queue is made. */
static inline void gyre_queue_set_line(gyre_queue *queue, const struct gyre_line *line)
{
    queue->line = line;
}

static inline void gyre_queue_set_known(gyre_queue *queue, const struct gyre_known_ids *known)
{
    queue->known = known;
}

/** Whether indices of gyre.h are tickets. */
static inline bool gyre_queue_has_line(const gyre_queue *queue)
{
    return queue->line != NULL;
}

/** Whether messages wait in the line, in front of the ring. */
static inline bool gyre_line_waits(const gyre_queue *queue)
{
    return queue->line && queue->line->waiting(queue);
}

/** The number by which gyre.h names the message in this slot of the ring: its ticket in a queue with a line, else its
 * index. */
static inline uint64_t gyre_line_index(const gyre_queue *queue, uint64_t index)
{
    return __builtin_expect(queue->line != NULL, 0) ? queue->line->ticket(queue, index) : index;
}

#endif
