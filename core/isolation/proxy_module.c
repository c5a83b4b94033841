/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of a device in a worker (proxy_module.h). The compiled file is kept in shared memory, so that a new worker
 * loads the same bytes as the first worker, whatever became of the file. The worker is asked once for a module's
 * kernel records.
 */
#include "core/isolation/proxy_module.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_objects.h"
#include "core/isolation/standby_state.h"

enum { RECORDS_MAX = 4096 };

static void put_module(struct gyre_parcel *parcel, void *argument)
{
    const struct gyre_module *module = argument;
    gyre_parcel_put_u64(parcel, module->object.id);
    gyre_parcel_put_text(parcel, module->path);
    gyre_parcel_put_u64(parcel, module->artifact_size);
    gyre_parcel_put_descriptor(parcel, module->artifact.descriptor);
}

static gyre_status make_module(struct proxy_object *object)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_MODULE_LOAD, .put = put_module};
    return proxy_call_once(object->device, &call, object);
}

bool proxy_module_lend(const struct proxy_object *object, struct gyre_module *copy)
{
    const struct gyre_module *module = (const struct gyre_module *)(const void *)object;
    if (object->make != make_module)
        return false;
    *copy = (struct gyre_module){.object.id = object->id, .artifact_size = module->artifact_size};
    copy->path = strdup(module->path);
    copy->artifact.descriptor = fcntl(module->artifact.descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy->path && copy->artifact.descriptor >= 0)
        return true;
    proxy_module_give_back(copy);
    return false;
}

gyre_status proxy_module_load_again(gyre_device *device, struct gyre_module *copy,
                                    struct proxy_connection *connection)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_MODULE_LOAD, .put = put_module};
    bool broken = false;
    return proxy_exchange(device, &call, connection, copy, &broken);
}

void proxy_module_give_back(struct gyre_module *copy)
{
    if (copy->artifact.descriptor >= 0)
        close(copy->artifact.descriptor);
    free(copy->path);
}

struct record_request {
    uint64_t id, index;
    struct gyre_kept_record *record;
};

static void put_record_request(struct gyre_parcel *parcel, void *argument)
{
    const struct record_request *request = argument;
    gyre_parcel_put_u64(parcel, request->id);
    gyre_parcel_put_u64(parcel, request->index);
}

static gyre_status get_record(struct gyre_parcel *parcel, void *argument)
{
    const struct record_request *request = argument;
    return gyre_record_get(parcel, request->record);
}

/* Asks the worker for all kernel records, by index until NOT_FOUND, as the core does. */
static gyre_status read_records(struct gyre_module *module)
{
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_MODULE_KERNEL, .put = put_record_request, .get = get_record};
    while (module->record_count < RECORDS_MAX) {
        struct gyre_kept_record *grown = realloc(module->records, (module->record_count + 1) * sizeof *grown);
        if (!grown)
            return gyre_error_set(GYRE_EXHAUSTED, "no memory for the kernels of '%s'", module->path);
        module->records = grown;
        struct record_request request = {module->object.id, module->record_count,
                                         &grown[module->record_count]};
        gyre_status status = proxy_call(module->object.device, &call, &request);
        if (status == GYRE_NOT_FOUND)
            return GYRE_OK;
        if (status != GYRE_OK)
            return status;
        module->record_count++;
    }
    return GYRE_OK;
}

static void free_module(struct gyre_module *module)
{
    for (uint32_t i = 0; i < module->record_count; i++)
        gyre_record_release(&module->records[i]);
    free(module->records);
    if (module->artifact.address)
        gyre_region_destroy(&module->artifact);
    free(module->path);
    free(module);
}

gyre_status proxy_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    *out = NULL;
    gyre_module *module = calloc(1, sizeof *module);
    if (!module || !(module->path = strdup(desc->artifact_path))) {
        free(module);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a kernel module");
    }
    module->artifact_size = desc->artifact_size;
    gyre_status status = gyre_region_create("a compiled kernel",
                                            desc->artifact_size ? desc->artifact_size : 1, &module->artifact);
    if (status == GYRE_OK) {
        memcpy(module->artifact.address, desc->artifact, desc->artifact_size);
        status = proxy_object_make(device, &module->object, make_module);
    }
    if (status != GYRE_OK) {
        free_module(module);
        return status;
    }
    status = read_records(module);
    if (status != GYRE_OK) {
        proxy_module_release(module);
        return status;
    }
    proxy_standby_notice(device);
    *out = module;
    return GYRE_OK;
}

gyre_status proxy_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    if (index >= module->record_count)
        return gyre_error_set(GYRE_NOT_FOUND, "the file has %u kernels, there is none with index %u",
                              module->record_count, index);
    *record = module->records[index].record;
    return GYRE_OK;
}

void proxy_module_release(gyre_module *module)
{
    if (!module)
        return;
    proxy_object_release(&module->object);
    free_module(module);
}
