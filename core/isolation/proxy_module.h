/* SPDX-License-Identifier: Apache-2.0 */
/* Loads modules in a device's worker, and again in the next worker (proxy_module.c). Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_MODULE_H
#define GYRE_CORE_ISOLATION_PROXY_MODULE_H

#include "core/isolation/proxy_device.h"

/** Copies what a worker needs to load the module; the copy outlives the module. False: the object is no module, or
 * memory is short. */
bool proxy_module_lend(const struct proxy_object *object, struct gyre_module *copy);
/** Loads the copy in the worker of that connection. */
gyre_status proxy_module_load_again(gyre_device *device, struct gyre_module *copy,
                                    struct proxy_connection *connection);
/** Frees the copy. */
void proxy_module_give_back(struct gyre_module *copy);

/* The operations, each implemented by the function of its slot's name. */

gyre_status proxy_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status proxy_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void proxy_module_release(gyre_module *module);

#endif
