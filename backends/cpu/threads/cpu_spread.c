/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders the processors for `pin = spread`: which processor the first worker gets, which the second, and so
 * on. The library hwloc knows the machine. It is opened only while it is asked, so that only a program that
 * uses the setting pays for it. No state.
 */
#include "backends/cpu/threads/cpu_spread.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The order by number, for when nothing is known about the machine. */
static size_t spread_by_number(const cpu_set_t *allowed, uint16_t *processors, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < CPU_SETSIZE && count < room; i++)
        if (CPU_ISSET(i, allowed))
            processors[count++] = (uint16_t)i;
    return count;
}

#ifdef GYRE_HAVE_HWLOC
#include <hwloc.h>

/* A processor, its place in the order of its part of the machine, and where it was found. */
struct place {
    uint16_t processor;
    uint32_t rank, found;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->found > right->found) - (left->found < right->found);
}

/*
 * Orders the processors below an object: takes the first processor of each child, then the second of each
 * child, and so on. Each child's own order is made the same way, so processors that share a part come as far
 * from each other as possible.
 */
static size_t order_below(hwloc_obj_t object, const cpu_set_t *allowed, struct place *places, size_t room)
{
    size_t count = 0;
    if (object->type == HWLOC_OBJ_PU) {
        if (!room || object->os_index >= CPU_SETSIZE || !CPU_ISSET(object->os_index, allowed))
            return 0;
        *places = (struct place){.processor = (uint16_t)object->os_index};
        return 1;
    }
    for (unsigned i = 0; i < object->arity; i++)
        count += order_below(object->children[i], allowed, places + count, room - count);
    for (size_t i = 0; i < count; i++)
        places[i].found = (uint32_t)i;
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++)
        places[i].rank = (uint32_t)i;
    return count;
}

size_t cpu_spread_below(const struct hwloc_obj *object, const cpu_set_t *allowed, uint16_t *processors,
                        size_t room)
{
    struct place *places = calloc(room, sizeof *places);
    size_t count = places ? order_below((hwloc_obj_t)(uintptr_t)object, allowed, places, room) : 0;
    for (size_t i = 0; i < count; i++)
        processors[i] = places[i].processor;
    free(places);
    return count;
}

struct hwloc {
    void *library;
    unsigned (*version)(void);
    int (*init)(hwloc_topology_t *topology);
    int (*load)(hwloc_topology_t topology);
    hwloc_obj_t (*object)(hwloc_topology_t topology, int depth, unsigned index);
    void (*destroy)(hwloc_topology_t topology);
};

static bool find_function(const gyre_host *host, void *library, const char *name, void *function)
{
    void *symbol = NULL;
    if (host->library_symbol(library, name, &symbol) != GYRE_OK)
        return false;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from an object to a function */
    return true;
}

/* Opens hwloc of the same major version as the header that the structs come from. */
static bool open_hwloc(const gyre_host *host, struct hwloc *hwloc)
{
    if (host->library_open("libhwloc.so.15", &hwloc->library) != GYRE_OK)
        return false;
    if (find_function(host, hwloc->library, "hwloc_get_api_version", &hwloc->version) &&
        hwloc->version() >> 16 == HWLOC_API_VERSION >> 16 &&
        find_function(host, hwloc->library, "hwloc_topology_init", &hwloc->init) &&
        find_function(host, hwloc->library, "hwloc_topology_load", &hwloc->load) &&
        find_function(host, hwloc->library, "hwloc_get_obj_by_depth", &hwloc->object) &&
        find_function(host, hwloc->library, "hwloc_topology_destroy", &hwloc->destroy))
        return true;
    host->library_close(hwloc->library);
    return false;
}

static size_t ask_hwloc(const gyre_host *host, const cpu_set_t *allowed, uint16_t *processors, size_t room)
{
    struct hwloc hwloc;
    hwloc_topology_t topology;
    size_t count = 0;
    if (!open_hwloc(host, &hwloc))
        return 0;
    if (hwloc.init(&topology) == 0) {
        if (hwloc.load(topology) == 0)
            count = cpu_spread_below(hwloc.object(topology, 0, 0), allowed, processors, room);
        hwloc.destroy(topology);
    }
    host->library_close(hwloc.library);
    return count;
}
#else
static size_t ask_hwloc(const gyre_host *host, const cpu_set_t *allowed, uint16_t *processors, size_t room)
{
    (void)host;
    (void)allowed;
    (void)processors;
    (void)room;
    return 0;
}
#endif

size_t cpu_spread(const gyre_host *host, uint16_t *processors, size_t room)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0; /* the machine has more processors than a set has room for: the system places the threads */
    size_t count = ask_hwloc(host, &allowed, processors, room);
    if (count)
        return count;
    host->log(host->context, GYRE_LOG_INFO,
              "pin = spread: hwloc is not there, so worker threads go by processor number");
    return spread_by_number(&allowed, processors, room);
}
