/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernel files: here shared objects whose exported function describes their kernels. A backend with
 * a device hands desc->artifact to its driver and reads the description from the loaded module instead. A
 * module does not change once it is loaded; no locks.
 */
#include "solo.h"

#include <stdlib.h>
#include <string.h>

static gyre_status read_table(gyre_module *module, const char *path)
{
    const gyre_host *host = module->device->host;
    const gyre_cpu_module *(*table_function)(void);
    void *symbol = NULL;
    if (host->library_symbol(module->library, GYRE_CPU_MODULE_SYMBOL, &symbol) != GYRE_OK)
        return host->error(GYRE_INCOMPATIBLE, "'%s' is no compiled kernel file: it has no symbol %s", path,
                           GYRE_CPU_MODULE_SYMBOL);
    memcpy(&table_function, &symbol, sizeof table_function); /* ISO C has no cast from object to function */
    const gyre_cpu_module *table = table_function();
    if (table->version != GYRE_CPU_MODULE_VERSION)
        return host->error(
            GYRE_INCOMPATIBLE,
            "'%s' was compiled with the headers of another Gyre (module version %u, this plugin "
            "needs %u): compile it again",
            path, table->version, GYRE_CPU_MODULE_VERSION);
    module->kernels = table->first;
    module->kernel_count = (uint32_t)(table->end - table->first);
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (module->kernels[i]->port_count >
            0) /* knows_links is 0, so the core has refused the file where it was checked */
            return host->error(GYRE_UNIMPLEMENTED,
                               "kernel '%s' of '%s' has ports, which this backend does not run",
                               module->kernels[i]->name, path);
    return GYRE_OK;
}

gyre_status solo_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    *out = NULL;
    gyre_module *module = calloc(1, sizeof *module);
    if (!module)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a kernel module");
    module->device = device;
    gyre_status status = device->host->library_open(desc->artifact_path, &module->library);
    if (status == GYRE_OK)
        status = read_table(module, desc->artifact_path);
    if (status != GYRE_OK) {
        solo_module_release(module);
        return status;
    }
    *out = module;
    return GYRE_OK;
}

/* The core counts kernels by asking until NOT_FOUND. */
gyre_status solo_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    if (index >= module->kernel_count)
        return module->device->host->error(GYRE_NOT_FOUND,
                                           "the file has %u kernels, there is none with index %u",
                                           module->kernel_count, index);
    const gyre_cpu_kernel *kernel = module->kernels[index];
    record->name = kernel->name;
    record->form = (gyre_form)kernel->form;
    record->request = kernel->request;
    record->reply = kernel->reply;
    record->state = kernel->state;
    record->scratch_size = gyre_form_shares(record->form) ? kernel->scratch_size : 0;
    record->grid_blocks_most = record->form == GYRE_FORM_GRID; /* its blocks do not meet */
    record->buffers = kernel->buffers;
    record->buffer_types = kernel->buffer_types;
    return GYRE_OK;
}

void solo_module_release(gyre_module *module)
{
    if (!module)
        return;
    if (module->library)
        module->device->host->library_close(module->library);
    free(module);
}
