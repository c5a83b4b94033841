/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads compiled kernel files into the context and describes their kernels. Loading and unloading block while
 * a kernel is resident, so they happen in quiet moments (cuda_quiet_begin). Takes no lock of its own: a
 * loaded module is constant. On a device that only compiles, a module is the description alone. No kernel is
 * launched here (cuda_launch.c).
 */
#include "backends/device/device_records.h"
#include "backends/cuda/compile/cuda_artifact.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/compile/cuda_module.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/compile/cuda_records.h"
#include "backends/cuda/compile/cuda_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Finds the PTX behind the cubin of an artifact, and tells the size of the cubin; NULL when there is no PTX.
 */
static const char *find_ptx(const gyre_module_desc *desc, size_t *cubin_size)
{
    struct cuda_artifact_end end;
    const char *bytes = desc->artifact;
    *cubin_size = desc->artifact_size;
    if (desc->artifact_size < sizeof end)
        return NULL;
    const size_t before = desc->artifact_size - sizeof end;
    memcpy(&end, bytes + before, sizeof end);
    if (memcmp(end.magic, CUDA_ARTIFACT_MAGIC, sizeof end.magic) != 0 || end.ptx_size == 0 ||
        end.ptx_size > before || bytes[before - 1] != '\0')
        return NULL;
    *cubin_size = before - (size_t)end.ptx_size;
    return bytes + *cubin_size;
}

static gyre_status read_attribute(gyre_device *device, CUfunction function, CUfunction_attribute which,
                                  uint32_t *value)
{
    int found = 0;
    gyre_status status =
        cuda_check(device, device->driver->cuFuncGetAttribute(&found, which, function), "cuFuncGetAttribute");
    if (status == GYRE_OK)
        *value = (uint32_t)found;
    return status;
}

/*
 * Asks the driver for a kernel's figures, which replace those of the file: where the driver compiled PTX,
 * also its spilled registers. The question makes the driver finish loading a function that it loads lazily.
 * Otherwise the first launch would block.
 */
static gyre_status ask_driver(gyre_module *module, struct cuda_kernel *kernel, bool from_ptx)
{
    gyre_device *device = module->device;
    CUfunction function;
    char entry[160];
    snprintf(entry, sizeof entry, "gyre_resident_%s", kernel->seen.name);
    gyre_status status = cuda_check(
        device, device->driver->cuModuleGetFunction(&function, module->handle, entry), "cuModuleGetFunction");
    if (status == GYRE_OK && device->driver->cuFuncLoad)
        status = cuda_check(device, device->driver->cuFuncLoad(function), "cuFuncLoad");
    if (status == GYRE_OK)
        status = read_attribute(device, function, CU_FUNC_ATTRIBUTE_NUM_REGS, &kernel->record.registers);
    if (status == GYRE_OK)
        status = read_attribute(device, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel->shared_size);
    uint32_t local_size = 0;
    if (status == GYRE_OK)
        status = read_attribute(device, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local_size);
    if (status == GYRE_OK && from_ptx) {
        kernel->record.spill_bytes = local_size;
        kernel->stack_size = 0; /* of a cubin that was compiled otherwise */
    }
    if (kernel->stack_size < local_size)
        kernel->stack_size = local_size;
    return status;
}

static gyre_status load_image(gyre_module *module, const void *image, bool is_ptx)
{
    gyre_device *device = module->device;
    CUresult result;
    CUDA_PATIENTLY(result, device->driver->cuModuleLoadData(&module->handle, image))
    gyre_status status = cuda_check(device, result, "cuModuleLoadData");
    if (status != GYRE_OK)
        module->handle = NULL;
    for (uint32_t i = 0; i < module->kernel_count && status == GYRE_OK; i++)
        status = ask_driver(module, &module->kernels[i], is_ptx);
    return status;
}

static gyre_status load_quietly(gyre_module *module, const void *image, bool is_ptx)
{
    gyre_device *device = module->device;
    gyre_status status = cuda_lost(device);
    if (status == GYRE_OK)
        status = cuda_quiet_begin(device);
    if (status != GYRE_OK)
        return status;
    cuda_range_begin(device->host, "gyre: load");
    status = load_image(module, image, is_ptx);
    cuda_range_end();
    gyre_status ended = cuda_quiet_end(device);
    return status == GYRE_OK ? ended : status;
}

/* Fills in what a block needs of a launch of the default shape with several. An actor runs in one block of its own shape. */
static void measure_kernel(gyre_module *module, struct cuda_kernel *kernel)
{
    uint32_t threads = 0, shared_size = 0;
    const uint32_t lanes = gyre_lanes_default(&kernel->record, CUDA_LANES_DEFAULT_LEAST, CUDA_LANES_DEFAULT);
    cuda_block_shape(module->device, kernel, lanes, 2, false, &threads, &shared_size);
    kernel->record.shared_bytes = kernel->shared_size + shared_size;
    kernel->record.blocks_per_unit = cuda_blocks_per_sm(module->device, kernel, threads, shared_size);
}

gyre_status cuda_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    size_t cubin_size = 0;
    *out = NULL;
    if (!desc->artifact)
        return device->host->error(GYRE_INVALID, "the compiled file '%s' was not mapped",
                                   desc->artifact_path);
    gyre_module *module = calloc(1, sizeof *module);
    if (!module)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a kernel module");
    module->device = device;
    const char *ptx = find_ptx(desc, &cubin_size);
    gyre_status status = cuda_records_read(module, desc->artifact_path, desc->artifact, cubin_size);
    if (status == GYRE_OK && device->driver)
        status = load_quietly(module, ptx ? (const void *)ptx : desc->artifact, ptx != NULL);
    if (status != GYRE_OK) {
        cuda_module_release(module);
        return status;
    }
    for (uint32_t i = 0; i < module->kernel_count; i++)
        measure_kernel(module, &module->kernels[i]);
    *out = module;
    return GYRE_OK;
}

gyre_status cuda_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    const gyre_kernel_record *own = index < module->kernel_count ? &module->kernels[index].record : NULL;
    return device_record_tell(module->device->host, own, module->kernel_count, index, record);
}

const struct cuda_kernel *cuda_module_find(const gyre_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].record.name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

/* Unloads a module. When the device died, its loaded modules are gone already. */
void cuda_module_release(gyre_module *module)
{
    if (!module)
        return;
    gyre_device *device = module->device;
    if (module->handle && !atomic_load(&device->lost) && cuda_quiet_begin(device) == GYRE_OK) {
        CUresult result;
        CUDA_PATIENTLY(result, device->driver->cuModuleUnload(module->handle))
        cuda_check_gone(device, result, "cuModuleUnload");
        cuda_quiet_end(device);
    }
    cuda_records_release(module->records);
    free(module->kernels);
    free(module);
}
