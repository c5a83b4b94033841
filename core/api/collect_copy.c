/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the bytes of a collective chunk by chunk, so that a chunk is combined while it lies in the processor's cache. Large ones of
 * several devices are moved by a thread for each device's part, and combined behind the slowest of them. The calling thread alone combines,
 * part by part: the result does not depend on the number of threads.
 *
 * Lock: that of the crew, for how far each thread is.
 */
#include "core/api/collect_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "gyre/waiting.h"

#define CHUNK        ((uint64_t)GYRE_COLLECT_CHUNK)
#define THREADS_FROM (UINT64_C(1) << 20)

/* The threads that move the bytes of the parts in one direction. */
struct crew {
    struct gyre_collecting *all;
    gyre_transfer_kind kind;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t stop; /* atomic */
    struct member {
        struct crew *crew;
        struct gyre_collecting_part *part;
        pthread_t thread;
        bool runs;
    } members[GYRE_COLLECT_PARTS_MAX];
};

static uint64_t chunk_at(const struct gyre_collecting *all, uint64_t at)
{
    return all->bytes - at < CHUNK ? all->bytes - at : CHUNK;
}

static gyre_status move_chunk(const struct gyre_collecting *all, const struct gyre_collecting_part *part,
                              gyre_transfer_kind kind, uint64_t at)
{
    const gyre_transfer_desc desc = {.kind = kind,
                                     .offset = all->offset + at,
                                     .byte_count = chunk_at(all, at),
                                     .source = all->result ? all->result + at : NULL,
                                     .target = part->before + at};
    const gyre_status status = gyre_standing_transfer(&part->standing, part->named.buffer, &desc);
    return status == GYRE_OK ? GYRE_OK
                             : gyre_error_add(status, "%s: buffer '%s' of kernel '%s'", all->call,
                                              all->buffer, part->standing.name);
}

static gyre_status check_time(const struct gyre_collecting *all)
{
    if (gyre_clock_ns() < all->deadline_ns)
        return GYRE_OK;
    return gyre_error_set(GYRE_TIMEOUT,
                          "%s: the time was up before the %" PRIu64 " bytes of each part were read",
                          all->call, all->bytes);
}

/* ---- threads ---- */

static bool takes_part(const struct crew *crew, const struct gyre_collecting_part *part)
{
    return !part->place && (crew->kind == GYRE_TRANSFER_DOWNLOAD || part->gets);
}

static void tell(struct member *member, uint64_t moved, gyre_status status)
{
    struct gyre_collecting_part *part = member->part;
    pthread_mutex_lock(&member->crew->lock);
    part->moved = moved;
    part->status = status;
    if (status != GYRE_OK)
        snprintf(part->why, sizeof part->why, "%s", gyre_error_text());
    pthread_cond_broadcast(&member->crew->moved);
    pthread_mutex_unlock(&member->crew->lock);
}

static void *move_part(void *argument)
{
    struct member *member = argument;
    const struct gyre_collecting *all = member->crew->all;
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < all->bytes; at += CHUNK) {
        if (__atomic_load_n(&member->crew->stop, __ATOMIC_RELAXED))
            break; /* nobody waits for the rest */
        status = move_chunk(all, member->part, member->crew->kind, at);
        tell(member, at + (status == GYRE_OK ? chunk_at(all, at) : 0), status);
    }
    return NULL;
}

/* Without another thread this one moves the part's bytes, before it goes on. */
static void start_crew(struct crew *crew)
{
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->moved, NULL);
    for (uint32_t i = 0; i < crew->all->count; i++) {
        struct member *member = &crew->members[i];
        *member = (struct member){.crew = crew, .part = &crew->all->parts[i]};
        member->part->moved = 0;
        member->part->status = GYRE_OK;
        if (!takes_part(crew, member->part))
            continue;
        gyre_error_hold();
        member->runs =
            gyre_thread_need(&member->thread, move_part, member, "for a part of a collective") == GYRE_OK;
        gyre_error_let_go();
        if (!member->runs)
            move_part(member);
    }
}

static void end_crew(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->all->count; i++)
        if (crew->members[i].runs)
            pthread_join(crew->members[i].thread, NULL);
    pthread_cond_destroy(&crew->moved);
    pthread_mutex_destroy(&crew->lock);
}

/* Waits until a part's bytes below `end` are moved. */
static gyre_status await_part(struct crew *crew, const struct gyre_collecting_part *part, uint64_t end)
{
    pthread_mutex_lock(&crew->lock);
    while (part->moved < end && part->status == GYRE_OK)
        pthread_cond_wait(&crew->moved, &crew->lock);
    const gyre_status status = part->moved < end ? part->status : GYRE_OK;
    pthread_mutex_unlock(&crew->lock);
    return status == GYRE_OK ? GYRE_OK : gyre_error_set(status, "%s", part->why);
}

/* Threads pay for themselves where several devices have much to move. */
static bool wants_threads(const struct gyre_collecting *all)
{
    const struct gyre_dispatch *first = NULL;
    bool several = false;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct gyre_dispatch *device = all->parts[i].named.buffer->dispatch;
        several = several || (first && !all->parts[i].place && device != first);
        first = all->parts[i].place ? first : device;
    }
    return several && all->bytes >= THREADS_FROM;
}

/* ---- out of the devices ---- */

static const unsigned char *elements_of(const struct gyre_collecting_part *part)
{
    return part->place ? part->place : part->before;
}

/* In the order of the parts, which a sum of floats depends on. */
static void combine_chunk(const struct gyre_collecting *all, uint64_t at, unsigned char *result)
{
    const size_t count = (size_t)(chunk_at(all, at) / gyre_fold_size(all->scalar));
    for (uint32_t i = 1; i < all->count; i++)
        gyre_fold(all->scalar, all->rule, result, i == 1 ? elements_of(&all->parts[0]) + at : result,
                  elements_of(&all->parts[i]) + at, count);
}

/* Writes bytes of the result into the parts whose place is in this process. */
static void store_chunk(const struct gyre_collecting *all, uint64_t at, const unsigned char *result)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->parts[i].gets && all->parts[i].place)
            memcpy(all->parts[i].place + at, result, chunk_at(all, at));
}

/* `crew` NULL: this thread reads. */
static gyre_status read_chunk(struct gyre_collecting *all, struct crew *crew, uint64_t at)
{
    gyre_status status = check_time(all);
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        if (!all->parts[i].place)
            status = crew ? await_part(crew, &all->parts[i], at + chunk_at(all, at))
                          : move_chunk(all, &all->parts[i], GYRE_TRANSFER_DOWNLOAD, at);
    if (status == GYRE_OK && all->kind == GYRE_COLLECTING_REDUCE)
        combine_chunk(all, at, all->result + at);
    return status;
}

static gyre_status read_chunks(struct gyre_collecting *all, struct crew *crew)
{
    gyre_status status = GYRE_OK;
    fenv_t before;
    gyre_fold_enter(&before);
    for (uint64_t at = 0; status == GYRE_OK && at < all->bytes; at += CHUNK)
        status = read_chunk(all, crew, at);
    gyre_fold_leave(&before);
    return status;
}

gyre_status gyre_collect_read(struct gyre_collecting *all)
{
    struct crew crew = {.all = all, .kind = GYRE_TRANSFER_DOWNLOAD};
    if (all->in_place)
        return check_time(all); /* gyre_collect_store reads */
    if (!wants_threads(all))
        return read_chunks(all, NULL);
    start_crew(&crew);
    const gyre_status status = read_chunks(all, &crew);
    __atomic_store_n(&crew.stop, 1, __ATOMIC_RELAXED);
    end_crew(&crew);
    return status;
}

/* ---- into the devices ---- */

static gyre_status write_chunks(struct gyre_collecting *all)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < all->bytes; at += CHUNK)
        for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
            if (all->parts[i].gets && !all->parts[i].place)
                status = move_chunk(all, &all->parts[i], GYRE_TRANSFER_UPLOAD, at);
    return status;
}

static gyre_status write_by_threads(struct gyre_collecting *all)
{
    struct crew crew = {.all = all, .kind = GYRE_TRANSFER_UPLOAD};
    gyre_status status = GYRE_OK;
    start_crew(&crew);
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        if (all->parts[i].gets && !all->parts[i].place)
            status = await_part(&crew, &all->parts[i], all->bytes);
    __atomic_store_n(&crew.stop, 1, __ATOMIC_RELAXED);
    end_crew(&crew);
    return status;
}

gyre_status gyre_collect_write(struct gyre_collecting *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        all->parts[i].written = all->parts[i].gets && !all->parts[i].place;
    return wants_threads(all) ? write_by_threads(all) : write_chunks(all);
}

/* Where all parts have their place in this process, a chunk is combined and stored while it lies in the processor's cache. */
void gyre_collect_store(struct gyre_collecting *all)
{
    const bool combines = all->in_place && all->kind == GYRE_COLLECTING_REDUCE;
    fenv_t before;
    gyre_fold_enter(&before);
    for (uint64_t at = 0; at < all->bytes; at += CHUNK) {
        if (combines)
            combine_chunk(all, at, all->result);
        store_chunk(all, at, combines ? all->result : all->result + at);
    }
    gyre_fold_leave(&before);
}

/* ---- back ---- */

static gyre_status put_back_into(const struct gyre_collecting *all, const struct gyre_collecting_part *part)
{
    const gyre_buffer *buffer = part->named.buffer;
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_UPLOAD,
                                     .memory = buffer->memory,
                                     .offset = all->offset,
                                     .byte_count = all->bytes,
                                     .source = part->before};
    const gyre_status status = gyre_standing_transfer(&part->standing, buffer, &desc);
    if (part->covered)
        return status == GYRE_LOST ? GYRE_OK : status; /* recovery brings it back, behind a death alone */
    if (status == GYRE_OK || !gyre_dispatch_isolated(buffer->dispatch))
        return status;
    return gyre_dispatch_transfer(buffer->dispatch,
                                  &desc); /* to the next worker, whose buffer is filled with the result */
}

void gyre_collect_put_back(struct gyre_collecting *all)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < all->count; i++) {
        struct gyre_collecting_part *part = &all->parts[i];
        if (part->written && put_back_into(all, part) != GYRE_OK)
            gyre_runtime_log(
                part->standing.runtime, GYRE_LOG_ERROR,
                "%s failed, and buffer '%s' of kernel '%s' may hold a part of its result, because the "
                "device takes no bytes any more",
                all->call, all->buffer, part->standing.name);
        part->written = false;
    }
    gyre_error_let_go();
}
