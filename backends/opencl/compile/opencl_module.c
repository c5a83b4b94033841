/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads compiled kernel files: the device's binary or, if the driver refuses it, the source, which is
 * compiled again. Describes their kernels. Takes no lock: a loaded module is constant, except its program for
 * lanes that meet at barriers, for which launches ask one at a time.
 */
#include "backends/device/device_records.h"
#include "backends/opencl/compile/opencl_artifact.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/compile/opencl_compile.h"
#include "backends/opencl/compile/opencl_module.h"
#include "backends/opencl/platforms/opencl_pocl.h"
#include "backends/opencl/compile/opencl_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

/* Returns true when the driver takes the binary. A refusal is no error, because the source is there. */
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
    const int lock = opencl_pocl_begin_build(device, (const char *)artifact->parts[OPENCL_PART_SOURCE].bytes);
    module->program =
        cl->clCreateProgramWithBinary(device->context, 1, &device->id, &size, &bytes, &accepted, &code);
    if (module->program && code == CL_SUCCESS && accepted == CL_SUCCESS)
        code = opencl_build_program(device, module->program, OPENCL_LANES_ALONE,
                                    artifact->parts[OPENCL_PART_OPTIONS].bytes);
    opencl_pocl_end_build(lock);
    if (module->program && code == CL_SUCCESS && accepted == CL_SUCCESS)
        return true;
    if (module->program)
        cl->clReleaseProgram(module->program);
    module->program = NULL;
    return false;
}

static gyre_status build_text(gyre_device *device, enum opencl_lanes lanes, const char *text,
                              const char *options, cl_program *program)
{
    cl_int code;
    const int lock = opencl_pocl_begin_build(device, text);
    *program = device->cl->clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateProgramWithSource");
    if (status == GYRE_OK)
        status = opencl_build(device,
                              &(struct opencl_build_desc){
                                  .program = *program, .lanes = lanes, .source = text, .options = options});
    opencl_pocl_end_build(lock);
    if (status != GYRE_OK && *program) {
        device->cl->clReleaseProgram(*program);
        *program = NULL;
    }
    return status;
}

static gyre_status build_again(gyre_module *module, const struct opencl_artifact *artifact, const char *path)
{
    const gyre_device *device = module->device;
    char line[512];
    snprintf(line, sizeof line,
             "device '%s' refuses the binary in '%s': compiled again from the source in it", device->name,
             path);
    device->host->log(device->host->context, GYRE_LOG_INFO, line);
    return build_text(module->device, OPENCL_LANES_ALONE, artifact->parts[OPENCL_PART_SOURCE].bytes,
                      artifact->parts[OPENCL_PART_OPTIONS].bytes, &module->program);
}

/* Keeps the source and options of the program for lanes that meet, if a launch may need that program. */
static gyre_status keep_text(gyre_module *module, const struct opencl_artifact *artifact)
{
    bool blocks = false;
    for (uint32_t i = 0; i < module->kernel_count; i++)
        blocks = blocks || gyre_form_shares(module->kernels[i].record.form);
    if (!blocks || !module->device->solo)
        return GYRE_OK;
    module->source = strdup(artifact->parts[OPENCL_PART_SOURCE].bytes);
    module->options = strdup(artifact->parts[OPENCL_PART_OPTIONS].bytes);
    return module->source && module->options
               ? GYRE_OK
               : module->device->host->error(GYRE_EXHAUSTED, "no memory for a kernel module");
}

gyre_status opencl_module_program(gyre_module *module, enum opencl_lanes lanes, cl_program *program)
{
    gyre_status status = GYRE_OK;
    if (!module->source || lanes == OPENCL_LANES_ALONE) {
        *program = module->program;
        return GYRE_OK;
    }
    if (!module->meeting) {
        if (module->device->plain_blocks)
            module->device->host->log(
                module->device->host->context, GYRE_LOG_INFO,
                "a block kernel of several lanes is compiled without the optimizer of this "
                "platform, which makes some of them wrong; with lanes = 1 it is faster");
        status = build_text(module->device, lanes, module->source, module->options, &module->meeting);
    }
    *program = module->meeting;
    return status;
}

/* ---- the operations ---- */

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
    if (status == GYRE_OK)
        status = keep_text(module, &artifact);
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
    if (module->meeting)
        module->device->cl->clReleaseProgram(module->meeting);
    free(module->source);
    free(module->options);
    opencl_records_release(module->records);
    free(module->kernels);
    free(module);
}
