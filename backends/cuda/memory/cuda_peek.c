/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps copies of pieces of device memory, which the monitor makes anew while somebody asks for them. So nobody who looks waits for the
 * device: where a copy hangs, the monitor does.
 *
 * Locks: `copying` while the monitor copies, and while pieces are forgotten, so that no memory is freed under a copy; `lock` for the
 * list and what is known of a piece, never during a call into the driver. Order: residents->lock (the monitor's), copying, lock.
 */
#include "backends/cuda/memory/cuda_peek.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cuda/presence/cuda_service.h"
#include "gyre/waiting.h"

#define COPY_NS UINT64_C(100000000) /* least time between two copies */

/** A piece that somebody asked for. Removed under both locks. */
struct cuda_piece {
    struct cuda_piece *next;
    const gyre_memory *memory;
    uint64_t offset, size;
    bool asked; /* since the last copy */
    bool there; /* there is a copy */
    /* the last copy; behind it the room for the next one, which is the monitor's */
    gyre_u64 words[];
};

/* ---- asking ---- */

/* Under `lock`. NULL: nobody asked for it. */
static struct cuda_piece *find_piece(const struct cuda_peeks *peeks, const gyre_memory *memory,
                                     uint64_t offset, uint64_t size)
{
    struct cuda_piece *piece = peeks->first;
    while (piece && (piece->memory != memory || piece->offset != offset || piece->size != size))
        piece = piece->next;
    return piece;
}

/* Under `lock`. NULL: there is no memory for it. */
static struct cuda_piece *add_piece(struct cuda_peeks *peeks, const gyre_memory *memory, uint64_t offset,
                                    uint64_t size)
{
    struct cuda_piece *piece = calloc(1, sizeof *piece + 2 * size);
    if (!piece)
        return NULL;
    piece->next = peeks->first;
    piece->memory = memory;
    piece->offset = offset;
    piece->size = size;
    __atomic_store_n(&peeks->first, piece, __ATOMIC_RELEASE); /* pairs with cuda_peek_look */
    return piece;
}

gyre_status cuda_peek(gyre_device *device, gyre_memory *memory, uint64_t offset, gyre_u64 *words,
                      uint64_t byte_count)
{
    struct cuda_peeks *peeks = &device->peeks;
    pthread_mutex_lock(&peeks->lock);
    struct cuda_piece *piece = find_piece(peeks, memory, offset, byte_count);
    if (!piece)
        piece = add_piece(peeks, memory, offset, byte_count);
    if (piece)
        piece->asked = true;
    const bool there = piece && piece->there;
    if (there)
        memcpy(words, piece->words, byte_count);
    pthread_mutex_unlock(&peeks->lock);
    if (there)
        return GYRE_OK;
    return piece ? device->host->error(GYRE_AGAIN, "the GPU's memory is copied in a moment: look again")
                 : device->host->error(GYRE_EXHAUSTED, "no memory for a copy of %llu bytes of the GPU's",
                                       (unsigned long long)byte_count);
}

/* ---- copying ---- */

/* Whether somebody asked for the piece since it was copied. From now on it counts as asked for when somebody does so again. */
static bool take_asked(struct cuda_peeks *peeks, struct cuda_piece *piece)
{
    pthread_mutex_lock(&peeks->lock);
    const bool asked = piece->asked;
    piece->asked = false;
    pthread_mutex_unlock(&peeks->lock);
    return asked;
}

/* Under `copying`. A copy that was not made is asked for again by who looks next. */
static void copy_piece(gyre_device *device, struct cuda_piece *piece)
{
    gyre_u64 *room = piece->words + piece->size / sizeof *room;
    if (!cuda_service_try_read(device, room, piece->memory->address + piece->offset, piece->size,
                               "what links carry is looked at again in a moment"))
        return;
    pthread_mutex_lock(&device->peeks.lock);
    memcpy(piece->words, room, piece->size);
    piece->there = true;
    pthread_mutex_unlock(&device->peeks.lock);
}

void cuda_peek_look(gyre_device *device)
{
    struct cuda_peeks *peeks = &device->peeks;
    const uint64_t now = gyre_clock_ns();
    if (!__atomic_load_n(&peeks->first, __ATOMIC_ACQUIRE) || now - peeks->looked_ns < COPY_NS)
        return;
    if (pthread_mutex_trylock(&peeks->copying) != 0)
        return; /* memory is being freed, and the next look comes soon */
    peeks->looked_ns = now;
    /* pieces that are added meanwhile come before the first one of now */
    for (struct cuda_piece *piece = __atomic_load_n(&peeks->first, __ATOMIC_ACQUIRE); piece;
         piece = piece->next)
        if (take_asked(peeks, piece))
            copy_piece(device, piece);
    pthread_mutex_unlock(&peeks->copying);
}

void cuda_peek_forget(gyre_device *device, const gyre_memory *memory)
{
    struct cuda_peeks *peeks = &device->peeks;
    pthread_mutex_lock(&peeks->copying);
    pthread_mutex_lock(&peeks->lock);
    struct cuda_piece **at = &peeks->first;
    while (*at) {
        struct cuda_piece *piece = *at;
        if (piece->memory != memory) {
            at = &piece->next;
            continue;
        }
        *at = piece->next;
        free(piece);
    }
    pthread_mutex_unlock(&peeks->lock);
    pthread_mutex_unlock(&peeks->copying);
}
