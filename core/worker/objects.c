/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the worker's objects by the numbers that the core gave them (objects.h). One lock, for the list. It is not
 * held while the backend is called, except for a look at launched kernels. The core releases no object that it still
 * uses.
 */

#include "core/worker/objects.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/ring/region.h"
#include "core/worker/device.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker_object *objects;

gyre_status worker_map(int descriptor, uint64_t size, void **mapping)
{
    *mapping = GYRE_FAULT_POINT(WORKER_MAP) ? NULL : gyre_region_map(descriptor, size);
    int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (*mapping)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED, "%llu bytes of shared memory cannot be mapped: %s",
                          (unsigned long long)size, strerror(error));
}

gyre_status worker_keep(const struct worker_object *object)
{
    struct worker_object *kept = malloc(sizeof *kept);
    if (!kept)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for an object of the device");
    *kept = *object;
    pthread_mutex_lock(&lock);
    kept->next = objects;
    objects = kept;
    pthread_mutex_unlock(&lock);
    return GYRE_OK;
}

gyre_status worker_find(uint64_t id, enum worker_kind kind, struct worker_object *out)
{
    pthread_mutex_lock(&lock);
    const struct worker_object *object = objects;
    while (object && (object->id != id || object->kind != kind))
        object = object->next;
    if (object)
        *out = *object;
    pthread_mutex_unlock(&lock);
    return object ? GYRE_OK
                  : gyre_error_set(GYRE_INTERNAL, "the core names object %llu, which is not there",
                                   (unsigned long long)id);
}

gyre_status worker_look_at_residents(void)
{
    gyre_status status = GYRE_OK;
    /* held, so that no object is released meanwhile; gyre_dispatch_wait with 0 does not wait */
    pthread_mutex_lock(&lock);
    for (const struct worker_object *object = objects; object && status != GYRE_LOST; object = object->next)
        if (object->kind == WORKER_RESIDENT)
            status = gyre_dispatch_wait(worker_device(), object->handle, 0);
    pthread_mutex_unlock(&lock);
    return status;
}

static void free_object(struct worker_object *object)
{
    switch (object->kind) {
    case WORKER_MODULE:
        gyre_dispatch_module_release(worker_device(), object->handle);
        break;
    case WORKER_QUEUE:
        gyre_dispatch_queue_release(worker_device(), object->handle);
        break;
    case WORKER_MEMORY:
        gyre_dispatch_memory_release(worker_device(), object->handle);
        break;
    case WORKER_RESIDENT:
        gyre_dispatch_release(worker_device(), object->handle);
        break;
    }
    if (object->mapping)
        munmap(object->mapping, object->size);
    free(object);
}

gyre_status worker_release(uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct worker_object **link = &objects;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    struct worker_object *object = *link;
    if (object)
        *link = object->next;
    pthread_mutex_unlock(&lock);
    if (!object)
        return gyre_error_set(GYRE_INTERNAL, "the core releases object %llu, which is not there",
                              (unsigned long long)id);
    free_object(object);
    return GYRE_OK;
}
