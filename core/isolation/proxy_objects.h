/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and releases the objects of a device in a worker, and lists them, because every new worker makes them again
 * (proxy_objects.c). Threads: any. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_OBJECTS_H
#define GYRE_CORE_ISOLATION_PROXY_OBJECTS_H

#include "core/isolation/proxy_device.h"

/** Gives the object an id, makes it, and enters it into the list. */
gyre_status proxy_object_make(gyre_device *device, struct proxy_object *object,
                              gyre_status (*make)(struct proxy_object *object));
/** Takes the object out of the list and has the worker release it. */
void proxy_object_release(struct proxy_object *object);
/** Has the worker release the object with this id. The caller has called proxy_enter. */
void proxy_forget(gyre_device *device, uint64_t id);

#endif
