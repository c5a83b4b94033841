/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps another plugin (parameter `wraps`; one per process) and fails one of its operations: the n-th call
 * that can fail, counted from 1 since the device was opened, n being the parameter `fail_call` (0: none). It
 * fails as a real device would: nothing was made, except for `wait`, which fails with LOST after the kernel
 * has really left.
 */
#include "wrapped.h"

#include <stdatomic.h>
#include <stdlib.h>

static struct {
    const gyre_host *host;
    const gyre_backend_ops *ops;
    atomic_ulong calls;
    unsigned long fail_at;
} wrapped;

static int is_turn(void)
{
    return atomic_fetch_add(&wrapped.calls, 1) + 1 == wrapped.fail_at;
}

static gyre_status fail(gyre_status status, const char *operation)
{
    return wrapped.host->error(status, "call %lu, of %s, fails on purpose", wrapped.fail_at, operation);
}

static gyre_status fail_nth_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    const gyre_backend_ops *ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "wraps");
    return ops ? ops->probe(desc, info) : GYRE_UNAVAILABLE;
}

static gyre_status fail_nth_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    const char *fail_call = wrapped_parameter(desc->parameters, desc->parameter_count, "fail_call");
    *out = NULL;
    wrapped.host = desc->host;
    wrapped.ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "wraps");
    if (!wrapped.ops)
        return GYRE_UNAVAILABLE;
    wrapped.fail_at = fail_call ? strtoul(fail_call, NULL, 10) : 0;
    atomic_store(&wrapped.calls, 0);
    return is_turn() ? fail(GYRE_EXHAUSTED, "device_open") : wrapped.ops->device_open(desc, out);
}

static void fail_nth_device_close(gyre_device *device)
{
    wrapped.ops->device_close(device);
}

static gyre_status fail_nth_device_info(gyre_device *device, gyre_device_info *info)
{
    return is_turn() ? fail(GYRE_LOST, "device_info") : wrapped.ops->device_info(device, info);
}

static gyre_status fail_nth_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    return is_turn() ? fail(GYRE_FAILED, "compile") : wrapped.ops->compile(device, desc);
}

static gyre_status fail_nth_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    *out = NULL;
    return is_turn() ? fail(GYRE_EXHAUSTED, "module_load") : wrapped.ops->module_load(device, desc, out);
}

static gyre_status fail_nth_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    return is_turn() ? fail(GYRE_EXHAUSTED, "module_kernel")
                     : wrapped.ops->module_kernel(module, index, record);
}

static void fail_nth_module_release(gyre_module *module)
{
    wrapped.ops->module_release(module);
}

static gyre_status fail_nth_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                                        gyre_queue_memory **out, uint64_t *device_address)
{
    *out = NULL;
    return is_turn() ? fail(GYRE_EXHAUSTED, "queue_alloc")
                     : wrapped.ops->queue_alloc(device, desc, out, device_address);
}

static void fail_nth_queue_release(gyre_queue_memory *memory)
{
    wrapped.ops->queue_release(memory);
}

static gyre_status fail_nth_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    return is_turn() ? fail(GYRE_EXHAUSTED, "memory_alloc")
                     : wrapped.ops->memory_alloc(device, byte_count, out);
}

static void fail_nth_memory_release(gyre_memory *memory)
{
    wrapped.ops->memory_release(memory);
}

static gyre_status fail_nth_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    return is_turn() ? fail(GYRE_LOST, "transfer") : wrapped.ops->transfer(device, desc);
}

static gyre_status fail_nth_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    *out = NULL;
    return is_turn() ? fail(GYRE_EXHAUSTED, "launch") : wrapped.ops->launch(module, desc, out);
}

static gyre_status fail_nth_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    int turn = is_turn();
    gyre_status status = wrapped.ops->wait(resident, deadline_ns);
    return turn && status == GYRE_OK ? fail(GYRE_LOST, "wait") : status;
}

static gyre_status fail_nth_notify(gyre_resident *resident)
{
    if (is_turn())
        return fail(GYRE_LOST, "notify");
    return wrapped.ops->notify ? wrapped.ops->notify(resident) : GYRE_OK;
}

static void fail_nth_release(gyre_resident *resident)
{
    wrapped.ops->release(resident);
}

static gyre_status fail_nth_memory_address(gyre_memory *memory, uint64_t *address)
{
    return is_turn() ? fail(GYRE_LOST, "memory_address") : wrapped.ops->memory_address(memory, address);
}

static gyre_status fail_nth_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    if (!wrapped.ops->memory_copy)
        return wrapped.host->error(GYRE_UNIMPLEMENTED, "the plugin behind this one copies nothing");
    return is_turn() ? fail(GYRE_LOST, "memory_copy") : wrapped.ops->memory_copy(device, desc);
}

static const gyre_backend_ops fail_nth_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = fail_nth_probe,
    .device_open = fail_nth_device_open,
    .device_close = fail_nth_device_close,
    .device_info = fail_nth_device_info,
    .compile = fail_nth_compile,
    .module_load = fail_nth_module_load,
    .module_kernel = fail_nth_module_kernel,
    .module_release = fail_nth_module_release,
    .queue_alloc = fail_nth_queue_alloc,
    .queue_release = fail_nth_queue_release,
    .memory_alloc = fail_nth_memory_alloc,
    .memory_release = fail_nth_memory_release,
    .transfer = fail_nth_transfer,
    .launch = fail_nth_launch,
    .wait = fail_nth_wait,
    .notify = fail_nth_notify,
    .release = fail_nth_release,
    .memory_address = fail_nth_memory_address,
    .memory_copy = fail_nth_memory_copy,
};

WRAPPER_PLUGIN("fail-nth", fail_nth_ops);
