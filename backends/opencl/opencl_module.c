/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernel files: loading the device's binary, or compiling again what the driver refuses, and the
 * description of the kernels. A module is constant once loaded; no locks.
 */
#include "../device/device_records.h"
#include "opencl_artifact.h"
#include "opencl_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True when the driver takes the binary. Its refusal is no error: there is the source. */
static bool load_binary(gyre_module *module, const struct opencl_artifact *artifact)
{
    const gyre_device *device = module->device;
    const struct opencl_loader *cl = device->cl;
    const struct opencl_part *binary = &artifact->parts[OPENCL_PART_BINARY];
    const unsigned char *bytes = binary->bytes;
    const size_t size = binary->size;
    cl_int accepted = CL_SUCCESS, code = CL_SUCCESS;
    if (size == 0)
        return false;
    module->program =
        cl->clCreateProgramWithBinary(device->context, 1, &device->id, &size, &bytes, &accepted, &code);
    if (module->program && code == CL_SUCCESS && accepted == CL_SUCCESS)
        code = cl->clBuildProgram(module->program, 1, &device->id, artifact->parts[OPENCL_PART_OPTIONS].bytes,
                                  NULL, NULL);
    if (module->program && code == CL_SUCCESS && accepted == CL_SUCCESS)
        return true;
    if (module->program)
        cl->clReleaseProgram(module->program);
    module->program = NULL;
    return false;
}

static gyre_status build_again(gyre_module *module, const struct opencl_artifact *artifact, const char *path)
{
    gyre_device *device = module->device;
    const char *text = artifact->parts[OPENCL_PART_SOURCE].bytes;
    char line[512];
    cl_int code;
    snprintf(line, sizeof line,
             "device '%s' refuses the binary in '%s': compiled again from the source in it", device->name,
             path);
    device->host->log(device->host->context, GYRE_LOG_INFO, line);
    module->program = device->cl->clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateProgramWithSource");
    if (status != GYRE_OK)
        return status;
    return opencl_build(device,
                        &(struct opencl_build_desc){.program = module->program,
                                                    .source = text,
                                                    .options = artifact->parts[OPENCL_PART_OPTIONS].bytes});
}

gyre_status opencl_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    struct opencl_artifact artifact;
    *out = NULL;
    gyre_status status = opencl_lost(device);
    if (status == GYRE_OK)
        status = opencl_artifact_read(device->host, desc->artifact_path, desc->artifact, desc->artifact_size,
                                      &artifact);
    if (status != GYRE_OK)
        return status;
    gyre_module *module = calloc(1, sizeof *module);
    if (!module)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a kernel module");
    module->device = device;
    status = opencl_records_read(module, desc->artifact_path, &artifact.parts[OPENCL_PART_ITEMS]);
    if (status == GYRE_OK && !load_binary(module, &artifact))
        status = build_again(module, &artifact, desc->artifact_path);
    if (status != GYRE_OK) {
        opencl_module_release(module);
        return status;
    }
    *out = module;
    return GYRE_OK;
}

gyre_status opencl_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    const gyre_kernel_record *own = index < module->kernel_count ? &module->kernels[index].record : NULL;
    return device_record_tell(module->device->host, own, module->kernel_count, index, record);
}

const struct opencl_kernel *opencl_module_find(const gyre_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].record.name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

void opencl_module_release(gyre_module *module)
{
    if (!module)
        return;
    if (module->program)
        module->device->cl->clReleaseProgram(module->program);
    opencl_records_release(module->records);
    free(module->kernels);
    free(module);
}
