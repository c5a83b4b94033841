/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes requests into express lines and reads replies from them (express.h, which also says the lock of each function).
 *
 * A reader never sees half of one message and half of another in a line. The writer stores a line's words before its
 * sequence; the processor reads the sequence first; a device that knows express lines reads and writes a line as one
 * unit. No side writes lines that the other may still read: a request goes by express only once all requests before it
 * were received, and only such a request is answered by express.
 */
#include "core/ring/express.h"

#include <string.h>

#include "core/ring/publish.h"
#include "core/ring/ring.h"

/* Bytes of payload in a line, and in the first line, which begins with the payload's length. */
enum { LINE_BYTES = sizeof(gyre_u64[7]), FIRST_BYTES = sizeof(gyre_u64[6]) };

bool gyre_express_suits(const struct gyre_queue_options *options)
{
    return options->request_size <= GYRE_EXPRESS_MOST && !options->bridged_requests &&
           !options->bridged_replies && options->levels <= 1 && !options->dedup && !options->header_size &&
           !options->timed && !options->sealed;
}

/* ---- requests ---- */

static void publish_line(gyre_express_line *line, uint64_t index)
{
    /* pairs with the device, which reads the line at once */
    __atomic_store_n(&line->sequence, index + 1, __ATOMIC_RELEASE);
}

static void write_lines(gyre_express_line *line, uint64_t index, const unsigned char *payload,
                        uint32_t length, gyre_u32 info)
{
    const uint32_t first = length < FIRST_BYTES ? length : FIRST_BYTES;
    line->words[0] = (gyre_u64)info << 32 | length;
    memcpy(&line->words[1], payload, first);
    publish_line(line++, index);
    for (payload += first, length -= first; length >= LINE_BYTES;
         payload += LINE_BYTES, length -= LINE_BYTES) {
        memcpy(line->words, payload, LINE_BYTES);
        publish_line(line++, index);
    }
    if (length) {
        memcpy(line->words, payload, length);
        publish_line(line, index);
    }
}

/*
 * Writes the express lines before the slot's sequence, because a device that sees the sequence first reads the slot
 * instead. The device may answer before the sequence is stored, and another thread may then read the slot: it is complete
 * except for its sequence.
 */
void gyre_express_publish(const struct gyre_ring *ring, uint64_t index, size_t size, bool awaited)
{
    gyre_slot *slot = gyre_request_slot(ring, index);
    const uint32_t length = gyre_length_of(slot + 1, size, ring->request_least != 0);
    const gyre_u32 info = awaited && ring->express_replies ? GYRE_EXPRESS_AWAITED : 0;
    slot->length = length;
    slot->info = 0;
    if (gyre_ring_received(ring) == index) /* acquire: the earlier reads of the lines are over */
        write_lines(ring->express, index, (const unsigned char *)(slot + 1), length, info);
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the worker's acquire */
}

void gyre_express_withdraw(const struct gyre_ring *ring)
{
    if (ring->express)                                                   /* sequences are 1 and up */
        __atomic_store_n(&ring->express->sequence, 0, __ATOMIC_RELAXED); /* the next launch publishes it */
}

/* ---- replies ---- */

static uint32_t length_of(const struct gyre_ring *ring)
{
    gyre_u64 about;
    memcpy(&about, ring->express_replies->words, sizeof about);
    return (uint32_t)about <= ring->reply_size ? (uint32_t)about : ring->reply_size;
}

bool gyre_express_answers(const struct gyre_ring *ring, uint64_t index)
{
    const gyre_express_line *const lines = ring->express_replies;
    if (__atomic_load_n(&lines->sequence, __ATOMIC_ACQUIRE) !=
        index + 1) /* pairs with the device's stores of lines */
        return false;
    for (uint32_t line = 1, needed = GYRE_EXPRESS_LINES(length_of(ring)); line < needed; line++)
        if (__atomic_load_n(&lines[line].sequence, __ATOMIC_ACQUIRE) != index + 1) /* ... as above */
            return false;
    return true;
}

static void read_lines(const gyre_express_line *line, unsigned char *payload, uint32_t length)
{
    const uint32_t first = length < FIRST_BYTES ? length : FIRST_BYTES;
    memcpy(payload, &line++->words[1], first);
    for (payload += first, length -= first; length >= LINE_BYTES; payload += LINE_BYTES, length -= LINE_BYTES)
        memcpy(payload, line++->words, LINE_BYTES);
    memcpy(payload, line->words, length);
}

static void complete_slot(gyre_slot *slot, uint64_t index, uint32_t length)
{
    slot->length = length;
    slot->info = GYRE_OUTCOME_REPLY;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_in_slot */
}

bool gyre_express_take(const struct gyre_ring *ring, uint64_t index, void *reply, size_t size,
                       uint32_t *length)
{
    *length = length_of(ring);
    if (*length > size)
        return false;
    read_lines(ring->express_replies, reply, *length);
    complete_slot(gyre_reply_slot(ring, index), index, *length); /* nobody reads its payload */
    return true;
}

void gyre_express_settle(const struct gyre_ring *ring)
{
    if (!ring->express_replies)
        return;
    const uint64_t index = __atomic_load_n(&ring->express_replies->sequence, __ATOMIC_ACQUIRE) - 1;
    if (index - gyre_ring_received(ring) >= ring->capacity || gyre_reply_in_slot(ring, index) ||
        !gyre_express_answers(ring, index))
        return;
    gyre_slot *slot = gyre_reply_slot(ring, index);
    read_lines(ring->express_replies, (unsigned char *)(slot + 1), length_of(ring));
    complete_slot(slot, index, length_of(ring));
}
