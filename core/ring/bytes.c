/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the memory of bridged queues (bytes.h), and gives the bytes of replies back to the device. Requests are put into
 * their ring of bytes in bytes_put.c.
 *
 * Locks: the functions for replies run under consumer.lock. Places and lengths that a device wrote are checked before they
 * are used; GYRE_BRIDGE_AT cuts each position to the ring, so that no position leads out of it.
 */
#include "core/ring/bytes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/ring/ready.h"
#include "core/ring/slot.h"
#include "gyre/waiting.h"

enum {
    TYPICAL_SIZE = 256, /* assumed bytes of a message, when the setting `bytes` is 0 */
    LARGEST_COUNT = 32, /* messages of the largest size that a ring holds at least ... */
    TRACK_LARGEST = 4,  /* ... and a track, where there are several */
    RING_MAX = 1 << 30,
};

/* ---- memory ---- */

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t power_of_two(uint64_t size)
{
    uint64_t power = 1024;
    while (power < size && power < RING_MAX)
        power *= 2;
    return power;
}

/* The bytes of one ring: never more than slots for messages of the largest size would take. */
static uint64_t ring_size(const struct gyre_queue_options *options, uint32_t largest)
{
    const uint64_t slots = options->capacity * GYRE_BRIDGE_UNITS(largest);
    uint64_t size = at_least(options->capacity * TYPICAL_SIZE, LARGEST_COUNT * GYRE_BRIDGE_UNITS(largest));
    size = options->bytes ? options->bytes : size < slots ? size : slots;
    return power_of_two(at_least(size, 2 * GYRE_BRIDGE_UNITS(largest)));
}

static uint64_t region_append(gyre_queue_shape *shape, uint64_t size)
{
    const uint64_t offset = shape->region_size;
    shape->region_size += gyre_whole_lines(size);
    return offset;
}

void gyre_bytes_plan(const struct gyre_queue_options *options, gyre_queue_shape *shape, gyre_bridge *layout)
{
    memset(layout, 0, sizeof *layout);
    if (!options->bridged_requests && !options->bridged_replies)
        return;
    layout->tracks = options->bridged_replies ? options->tracks : 0;
    layout->words_offset =
        region_append(shape, sizeof(gyre_bridge_words) + layout->tracks * sizeof(gyre_bridge_track));
    if (options->bridged_requests) {
        layout->request_bytes = (uint32_t)ring_size(options, options->request_size);
        layout->request_offset =
            region_append(shape, layout->request_bytes + GYRE_BRIDGE_UNITS(options->request_size));
    }
    if (options->bridged_replies) {
        const uint64_t largest = GYRE_BRIDGE_UNITS(options->reply_size);
        const uint64_t share = ring_size(options, options->reply_size) / layout->tracks;
        layout->reply_bytes =
            (uint32_t)power_of_two(layout->tracks > 1 ? at_least(share, TRACK_LARGEST * largest) : share);
        layout->reply_stride = (uint32_t)gyre_whole_lines(layout->reply_bytes + largest);
        layout->reply_offset = region_append(shape, (uint64_t)layout->tracks * layout->reply_stride);
        layout->spare_offset = region_append(shape, largest);
    }
}

gyre_status gyre_bytes_create(struct gyre_ring *ring, const gyre_bridge *layout)
{
    unsigned char *base = ring->region.address;
    struct gyre_ring_bytes *bytes = gyre_lines_alloc(sizeof *bytes);
    ring->bytes = bytes;
    if (bytes) {
        bytes->producer.starts = gyre_lines_alloc(ring->capacity * sizeof *bytes->producer.starts);
        bytes->returns = gyre_lines_alloc((layout->tracks + 1) * sizeof *bytes->returns);
    }
    if (!bytes || !bytes->producer.starts || !bytes->returns)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a queue of %llu messages",
                              (unsigned long long)ring->capacity);
    bytes->layout = *layout;
    bytes->words = (gyre_bridge_words *)(void *)(base + layout->words_offset);
    bytes->words->received = ring->first_sequence;
    bytes->tracks = (gyre_bridge_track *)(void *)(bytes->words + 1);
    bytes->requests = layout->request_bytes ? base + layout->request_offset : NULL;
    bytes->replies = layout->reply_bytes ? base + layout->reply_offset : NULL;
    bytes->spare = base + layout->spare_offset;
    return GYRE_OK;
}

void gyre_bytes_destroy(struct gyre_ring_bytes *bytes)
{
    if (!bytes)
        return;
    for (uint32_t i = 0; bytes->returns && i < bytes->layout.tracks; i++)
        free(bytes->returns[i].pending);
    free(bytes->returns);
    free(bytes->producer.starts);
    free(bytes);
}

const gyre_bridge *gyre_bytes_layout(const struct gyre_ring *ring)
{
    static const gyre_bridge none;
    return ring->bytes ? &ring->bytes->layout : &none;
}

/* ---- replies ---- */

/* Whether the bytes of a completion lie in a track (a ring of reply bytes). *place, *size: where, and how many. False also
 * when the device wrote wrong values into the slot. */
static bool in_track(const struct gyre_ring *ring, const gyre_slot *slot, gyre_place *place, uint64_t *size)
{
    const uint32_t length =
        __atomic_load_n(&slot->length, __ATOMIC_RELAXED); /* once: a worker may write there */
    *size = GYRE_BRIDGE_UNITS(length);
    if (slot->info != GYRE_OUTCOME_REPLY || length <= GYRE_SLOT_SMALL_PAYLOAD || length > ring->reply_size)
        return false;
    memcpy(place, slot + 1, sizeof *place);
    return place->track < ring->bytes->layout.tracks;
}

const void *gyre_bytes_request(const struct gyre_ring_bytes *bytes, const gyre_slot *slot)
{
    gyre_place place;
    memcpy(&place, slot + 1, sizeof place);
    return bytes->requests + GYRE_BRIDGE_AT(place.position, bytes->layout.request_bytes);
}

const void *gyre_bytes_reply(const struct gyre_ring_bytes *bytes, const gyre_slot *slot)
{
    gyre_place place;
    memcpy(&place, slot + 1, sizeof place);
    if (place.track == GYRE_TRACK_SPARE)
        return bytes->spare;
    if (place.track >= bytes->layout.tracks)
        return NULL;
    return bytes->replies + (uint64_t)place.track * bytes->layout.reply_stride +
           GYRE_BRIDGE_AT(place.position, bytes->layout.reply_bytes);
}

/* The table of pieces that came back out of turn. It is made when the track first needs it. NULL: there is no memory, and
 * the track loses these bytes. */
static uint32_t *pending_of(struct gyre_bytes_return *track, const gyre_bridge *layout)
{
    if (!track->pending)
        track->pending = calloc(layout->reply_bytes / 16, sizeof *track->pending);
    return track->pending;
}

static void keep_pending(struct gyre_bytes_return *track, const gyre_bridge *layout, uint64_t position,
                         uint64_t size)
{
    uint32_t *pending = pending_of(track, layout);
    if (!pending || position - track->tail >= layout->reply_bytes) /* a device that writes nonsense */
        return;
    uint32_t *entry = &pending[GYRE_BRIDGE_AT(position, layout->reply_bytes) / 16];
    track->pending_count += *entry == 0;
    *entry = (uint32_t)size;
}

/* Moves the tail over pieces that were given back out of turn, once they have become the oldest. */
static void settle_pending(struct gyre_bytes_return *track, const gyre_bridge *layout)
{
    while (track->pending_count) {
        uint32_t *entry = &track->pending[GYRE_BRIDGE_AT(track->tail, layout->reply_bytes) / 16];
        if (*entry == 0)
            break;
        track->tail += *entry;
        *entry = 0;
        track->pending_count--;
    }
}

/* Release: the bytes were read; pairs with the device's acquire of the tail. */
static void publish_tail(struct gyre_ring_bytes *bytes, uint32_t track)
{
    __atomic_store_n(&bytes->tracks[track].tail, bytes->returns[track].tail, __ATOMIC_RELEASE);
}

/* A piece: neighbouring bytes of a track that are given back at once. A worker puts the replies to successive requests
 * one after the other into its track. */
struct piece {
    uint32_t track;
    uint64_t position, size;
};

static void give_piece(struct gyre_ring_bytes *bytes, const struct piece *piece)
{
    struct gyre_bytes_return *track = &bytes->returns[piece->track];
    if (piece->size == 0)
        return;
    if (piece->position == track->tail)
        track->tail += piece->size;
    else
        keep_pending(track, &bytes->layout, piece->position, piece->size);
    if (track->pending_count)
        settle_pending(track, &bytes->layout);
    publish_tail(bytes, piece->track);
}

void gyre_bytes_give_back(const struct gyre_ring *ring, uint64_t first, uint64_t end)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    const uint64_t most = bytes->layout.reply_bytes;
    struct piece piece = {0, 0, 0};
    gyre_place place;
    if (!bytes->replies)
        return;
    for (uint64_t index = first; index != end; index++) {
        const gyre_slot *slot = gyre_reply_slot(ring, index);
        uint64_t size;
        if (!in_track(ring, slot, &place, &size))
            continue;
        if (place.position != piece.position + piece.size || place.track != piece.track ||
            piece.size + size > most) {
            give_piece(bytes, &piece);
            piece = (struct piece){place.track, place.position, 0};
        }
        piece.size += size;
    }
    give_piece(bytes, &piece);
    /* release: the spare place was read; pairs with the device's acquire */
    __atomic_store_n(&bytes->words->received, end, __ATOMIC_RELEASE);
    gyre_barrier_light(ring->light_sends); /* pairs with the worker's heavy barrier before it parks */
    if (__builtin_expect(__atomic_load_n(&bytes->words->starved, __ATOMIC_RELAXED) != 0, 0))
        gyre_bell_ring(&ring->control->doorbell.bell, INT_MAX);
}

/* ---- between two devices ---- */

/*
 * Sets one track up for the next device. The device that died had allotted bytes to replies that it never completed. These
 * bytes are the gaps between the completed replies; they are given back here. The next device begins behind the last
 * completed reply.
 */
static void resume_track(const struct gyre_ring *ring, uint32_t number)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    const gyre_bridge *layout = &bytes->layout;
    struct gyre_bytes_return *track = &bytes->returns[number];
    const uint64_t first = gyre_ring_received(ring);
    uint64_t end = track->tail;
    gyre_place place;
    uint32_t *alive = calloc(layout->reply_bytes / 16, sizeof *alive);
    for (uint64_t index = first; index < first + ring->capacity; index++) {
        const gyre_slot *slot = gyre_reply_slot(ring, index);
        uint64_t size;
        if (!gyre_reply_ready(ring, index) || !in_track(ring, slot, &place, &size) || place.track != number ||
            place.position - track->tail >= layout->reply_bytes)
            continue;
        end = at_least(end, place.position + size);
        if (alive)
            alive[GYRE_BRIDGE_AT(place.position, layout->reply_bytes) / 16] = (uint32_t)size;
    }
    for (uint64_t at = track->tail; alive && at < end;) {
        const uint64_t gap = at;
        while (at < end && alive[GYRE_BRIDGE_AT(at, layout->reply_bytes) / 16] == 0)
            at += 16;
        if (at > gap)
            keep_pending(track, layout, gap, at - gap);
        if (at < end)
            at += alive[GYRE_BRIDGE_AT(at, layout->reply_bytes) / 16];
    }
    free(alive);
    settle_pending(track, layout);
    publish_tail(bytes, number);
    __atomic_store_n(&bytes->tracks[number].head, GYRE_BRIDGE_UNITS(end),
                     __ATOMIC_RELEASE); /* the next launch publishes it */
}

void gyre_bytes_resume(const struct gyre_ring *ring)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    __atomic_store_n(&bytes->words->starved, 0, __ATOMIC_RELAXED); /* a dead worker waits no more */
    for (uint32_t i = 0; i < bytes->layout.tracks; i++) {
        struct gyre_bytes_return *track = &bytes->returns[i];
        if (track->pending)
            memset(track->pending, 0, bytes->layout.reply_bytes / 16 * sizeof *track->pending);
        track->pending_count = 0;
        resume_track(ring, i);
    }
}
