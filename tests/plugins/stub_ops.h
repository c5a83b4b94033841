/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that do nothing, for plugins that are refused before one is called. Each including file makes
 * its own table from them.
 */
#ifndef GYRE_TESTS_PLUGINS_STUB_OPS_H
#define GYRE_TESTS_PLUGINS_STUB_OPS_H

#include "gyre/backend.h"

static inline gyre_status stub_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    (void)desc;
    info->score = 1;
    info->device_count = 1;
    return GYRE_OK;
}

static inline gyre_status stub_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    return desc->host->error(GYRE_UNIMPLEMENTED, "this test plugin opens no device");
}

static inline void stub_device_close(gyre_device *device)
{
    (void)device;
}

static inline gyre_status stub_device_info(gyre_device *device, gyre_device_info *info)
{
    (void)device;
    (void)info;
    return GYRE_UNIMPLEMENTED;
}

static inline gyre_status stub_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    (void)device;
    (void)desc;
    return GYRE_UNIMPLEMENTED;
}

static inline gyre_status stub_module_load(gyre_device *device, const gyre_module_desc *desc,
                                           gyre_module **out)
{
    (void)device;
    (void)desc;
    *out = NULL;
    return GYRE_UNIMPLEMENTED;
}

static inline gyre_status stub_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    (void)module;
    (void)index;
    (void)record;
    return GYRE_NOT_FOUND;
}

static inline void stub_module_release(gyre_module *module)
{
    (void)module;
}

static inline gyre_status stub_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                                           gyre_queue_memory **out, uint64_t *device_address)
{
    (void)device;
    (void)desc;
    *out = NULL;
    *device_address = 0;
    return GYRE_UNIMPLEMENTED;
}

static inline void stub_queue_release(gyre_queue_memory *memory)
{
    (void)memory;
}

static inline gyre_status stub_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    (void)device;
    (void)byte_count;
    *out = NULL;
    return GYRE_UNIMPLEMENTED;
}

static inline void stub_memory_release(gyre_memory *memory)
{
    (void)memory;
}

static inline gyre_status stub_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    (void)device;
    (void)desc;
    return GYRE_UNIMPLEMENTED;
}

static inline gyre_status stub_launch(gyre_module *module, const gyre_resident_desc *desc,
                                      gyre_resident **out)
{
    (void)module;
    (void)desc;
    *out = NULL;
    return GYRE_UNIMPLEMENTED;
}

static inline gyre_status stub_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    (void)resident;
    (void)deadline_ns;
    return GYRE_UNIMPLEMENTED;
}

static inline void stub_release(gyre_resident *resident)
{
    (void)resident;
}

#define STUB_OPS                                                                                             \
    .device_open = stub_device_open, .device_close = stub_device_close, .device_info = stub_device_info,     \
    .compile = stub_compile, .module_load = stub_module_load, .module_kernel = stub_module_kernel,           \
    .module_release = stub_module_release, .queue_alloc = stub_queue_alloc,                                  \
    .queue_release = stub_queue_release, .memory_alloc = stub_memory_alloc,                                  \
    .memory_release = stub_memory_release, .transfer = stub_transfer, .launch = stub_launch,                 \
    .wait = stub_wait, .release = stub_release

#endif
