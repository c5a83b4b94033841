/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces that are kept lie in wait as guests of the runtime, which end before its devices do. Lock: runtime->lock for the list of guests. */
#include "core/api/collect_aside.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/device/runtime.h"

/* What is larger is not kept: it would be missed elsewhere. */
#define KEPT_MAX (UINT64_C(256) << 20)

struct gyre_collect_aside {
    struct gyre_runtime_guest guest; /* must be first */
    struct gyre_dispatch *device;
    gyre_memory *memory;
    uint64_t size;
};

static void free_aside(struct gyre_collect_aside *aside)
{
    if (aside)
        gyre_dispatch_memory_release(aside->device, aside->memory);
    free(aside);
}

static void end_aside(struct gyre_runtime_guest *guest)
{
    free_aside((struct gyre_collect_aside *)(void *)guest);
}

/* Takes the kept piece of a device out of the list; NULL: there is none. */
static struct gyre_collect_aside *take_kept(gyre_runtime *runtime, const struct gyre_dispatch *device)
{
    struct gyre_collect_aside *found = NULL;
    pthread_mutex_lock(&runtime->lock);
    for (struct gyre_runtime_guest **at = &runtime->guests; *at && !found; at = &(*at)->next) {
        struct gyre_collect_aside *const kept = (struct gyre_collect_aside *)(void *)*at;
        if ((*at)->end == end_aside && kept->device == device) {
            found = kept;
            *at = found->guest.next;
            break;
        }
    }
    pthread_mutex_unlock(&runtime->lock);
    return found;
}

gyre_status gyre_collect_aside_take(gyre_runtime *runtime, struct gyre_dispatch *device, uint64_t size,
                                    struct gyre_collect_aside **out)
{
    struct gyre_collect_aside *aside = take_kept(runtime, device);
    *out = aside;
    if (aside && aside->size >= size)
        return GYRE_OK;
    free_aside(aside);
    *out = NULL;
    aside = calloc(1, sizeof *aside);
    if (!aside)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a collective");
    *aside = (struct gyre_collect_aside){.guest.end = end_aside, .device = device, .size = size};
    const gyre_status status = gyre_dispatch_memory_alloc(device, size, &aside->memory);
    if (status == GYRE_OK)
        *out = aside;
    else
        free(aside);
    return status;
}

gyre_memory *gyre_collect_aside_memory(const struct gyre_collect_aside *aside)
{
    return aside->memory;
}

void gyre_collect_aside_give(gyre_runtime *runtime, struct gyre_collect_aside *aside)
{
    if (!aside)
        return;
    struct gyre_collect_aside *kept = take_kept(runtime, aside->device),
                              *better = kept && kept->size > aside->size ? kept : aside;
    free_aside(better == aside ? kept : aside);
    if (better->size <= KEPT_MAX)
        gyre_runtime_add_guest(runtime, &better->guest);
    else
        free_aside(better);
}
