/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One room of a runtime lies in wait as a guest of it; threads that collect at the same time make further ones, of which the largest
 * stays. Lock: runtime->lock for the list of guests.
 */
#include "core/api/collect_room.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/error.h"
#include "core/base/memory_left.h"

/* What is larger is not kept: it would be missed elsewhere. */
#define KEPT_MAX ((size_t)256 << 20)

struct gyre_collect_room {
    struct gyre_runtime_guest guest; /* must be first */
    unsigned char *bytes;
    size_t size;
};

static void free_room(struct gyre_collect_room *room)
{
    if (room && room->bytes)
        munmap(room->bytes, room->size);
    free(room);
}

static void end_room(struct gyre_runtime_guest *guest)
{
    free_room((struct gyre_collect_room *)(void *)guest);
}

/* Takes the kept room out of the list; NULL: there is none. */
static struct gyre_collect_room *take_kept(gyre_runtime *runtime)
{
    struct gyre_runtime_guest *found = NULL;
    pthread_mutex_lock(&runtime->lock);
    for (struct gyre_runtime_guest **at = &runtime->guests; *at && !found; at = &(*at)->next)
        if ((*at)->end == end_room) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&runtime->lock);
    return (struct gyre_collect_room *)(void *)found;
}

static gyre_status make_room(size_t size, struct gyre_collect_room **out)
{
    gyre_status status = gyre_memory_left_check("the copy of the buffers of a collective", size, "memory",
                                                "let fewer elements take part at once (`first` and `count`)");
    if (status != GYRE_OK)
        return status;
    struct gyre_collect_room *room = calloc(1, sizeof *room);
    void *bytes =
        room ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        free(room);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the %zu bytes of a collective", size);
    }
    (void)madvise(bytes, size, MADV_HUGEPAGE);
    room->guest.end = end_room;
    room->bytes = bytes;
    room->size = size;
    *out = room;
    return GYRE_OK;
}

gyre_status gyre_collect_room_take(gyre_runtime *runtime, size_t size, struct gyre_collect_room **out)
{
    struct gyre_collect_room *kept = take_kept(runtime);
    *out = kept;
    if (kept && kept->size >= size)
        return GYRE_OK;
    free_room(kept);
    *out = NULL;
    return make_room(size, out);
}

unsigned char *gyre_collect_room_bytes(const struct gyre_collect_room *room)
{
    return room->bytes;
}

void gyre_collect_room_give(gyre_runtime *runtime, struct gyre_collect_room *room)
{
    if (!room)
        return;
    struct gyre_collect_room *kept = take_kept(runtime),
                             *better = kept && kept->size > room->size ? kept : room;
    free_room(better == room ? kept : room);
    if (better->size <= KEPT_MAX)
        gyre_runtime_add_guest(runtime, &better->guest);
    else
        free_room(better);
}
