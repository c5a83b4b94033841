/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that breaks the rules of backend.h in ways that the core's wrappers must contain. The parameter
 * `sin` of device_open chooses: silent (fails without a sentence), dangling (fails and leaves *out set),
 * empty (succeeds without a result), strange (returns no status), boundless (device_info with no limits).
 * Its memory_release complains always. None of the objects it hands out is real memory.
 */
#include "stub_ops.h"
#include "wrapped.h"

static const gyre_host *host;
static char sin_word[32];
static char device_place;

static int does(const char *word)
{
    return strcmp(sin_word, word) == 0;
}

static gyre_status sloppy_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    const char *word = wrapped_parameter(desc->parameters, desc->parameter_count, "sin");
    host = desc->host;
    strncpy(sin_word, word ? word : "", sizeof sin_word - 1);
    *out = (gyre_device *)(void *)&device_place;
    return GYRE_OK;
}

static gyre_status sloppy_device_info(gyre_device *device, gyre_device_info *info)
{
    (void)device;
    info->lanes_max = info->blocks_max = does("boundless") ? 0 : 1;
    memset(info->name, 'x', sizeof info->name);
    return GYRE_OK;
}

static gyre_status sloppy_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    (void)device;
    (void)byte_count;
    *out = does("dangling") || does("") ? (gyre_memory *)(void *)&device_place : NULL;
    if (does("dangling"))
        return host->error(GYRE_EXHAUSTED, "out of sloppy memory");
    if (does("strange"))
        return (gyre_status)-5;
    return does("silent") ? GYRE_EXHAUSTED : GYRE_OK;
}

static void sloppy_memory_release(gyre_memory *memory)
{
    (void)memory;
    host->error(GYRE_INTERNAL, "a release that complains");
}

static gyre_status sloppy_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    (void)module;
    (void)index;
    record->name = "nothing else";
    return GYRE_OK;
}

static gyre_status sloppy_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    (void)device;
    (void)desc;
    *out = (gyre_module *)(void *)&device_place;
    return GYRE_OK;
}

static const gyre_backend_ops sloppy_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = stub_probe,
    .device_open = sloppy_device_open,
    .device_close = stub_device_close,
    .device_info = sloppy_device_info,
    .compile = stub_compile,
    .module_load = sloppy_module_load,
    .module_kernel = sloppy_module_kernel,
    .module_release = stub_module_release,
    .queue_alloc = stub_queue_alloc,
    .queue_release = stub_queue_release,
    .memory_alloc = sloppy_memory_alloc,
    .memory_release = sloppy_memory_release,
    .transfer = stub_transfer,
    .launch = stub_launch,
    .wait = stub_wait,
    .release = stub_release,
};

WRAPPER_PLUGIN("sloppy", sloppy_ops);
