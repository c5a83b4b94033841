/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that takes its time in the operation which the parameter `slow` names, probe or device_open: it
 * appends a byte to the file `reached`, and goes on when there is a file `gate`; after WAIT_MS without one it
 * fails. With `refuses`, the first device_open of the process fails then. Its device has memory, and no more.
 */
#include "stub_ops.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 100000 };

struct gyre_device {
    const gyre_host *host;
};

static const char *parameter(const gyre_parameter *parameters, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(parameters[i].key, key) == 0)
            return parameters[i].value;
    return "";
}

static void reach(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0 || write(descriptor, "x", 1) != 1)
        abort(); /* the test would wait for it in vain */
    close(descriptor);
}

static gyre_status wait_in(const char *operation, const gyre_host *host, const gyre_parameter *parameters,
                           size_t count)
{
    const char *gate = parameter(parameters, count, "gate");
    if (strcmp(parameter(parameters, count, "slow"), operation) != 0)
        return GYRE_OK;
    reach(parameter(parameters, count, "reached"));
    for (int waited = 0; waited < WAIT_MS; waited++) {
        if (access(gate, F_OK) == 0)
            return GYRE_OK;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return host->error(GYRE_TIMEOUT, "%s: nobody made '%s' in %d ms", operation, gate, WAIT_MS);
}

static gyre_status slow_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    stub_probe(desc, info);
    return wait_in("probe", desc->host, desc->parameters, desc->parameter_count);
}

static gyre_status slow_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    static atomic_int opened;
    *out = NULL;
    gyre_status status = wait_in("device_open", desc->host, desc->parameters, desc->parameter_count);
    if (status != GYRE_OK)
        return status;
    if (parameter(desc->parameters, desc->parameter_count, "refuses")[0] && atomic_fetch_add(&opened, 1) == 0)
        return desc->host->error(GYRE_UNAVAILABLE, "the first device_open is refused");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a slow device");
    (*out)->host = desc->host;
    return GYRE_OK;
}

static void slow_device_close(gyre_device *device)
{
    free(device);
}

static gyre_status slow_device_info(gyre_device *device, gyre_device_info *info)
{
    (void)device;
    info->unit_count = info->lanes_max = info->blocks_max = 1;
    return GYRE_OK;
}

static gyre_status slow_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = malloc((size_t)byte_count);
    return *out ? GYRE_OK : device->host->error(GYRE_EXHAUSTED, "no memory on the slow device");
}

static void slow_memory_release(gyre_memory *memory)
{
    free(memory);
}

/* A new buffer is filled with zero bytes, which nobody looks at. */
static gyre_status slow_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    (void)device;
    (void)desc;
    return GYRE_OK;
}

static const gyre_backend_ops slow_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = slow_probe,
    .device_open = slow_device_open,
    .device_close = slow_device_close,
    .device_info = slow_device_info,
    .compile = stub_compile,
    .module_load = stub_module_load,
    .module_kernel = stub_module_kernel,
    .module_release = stub_module_release,
    .queue_alloc = stub_queue_alloc,
    .queue_release = stub_queue_release,
    .memory_alloc = slow_memory_alloc,
    .memory_release = slow_memory_release,
    .transfer = slow_transfer,
    .launch = stub_launch,
    .wait = stub_wait,
    .release = stub_release,
};

GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {.magic = GYRE_ABI_MAGIC,
                                                             .abi_major = GYRE_ABI_MAJOR,
                                                             .abi_minor = GYRE_ABI_MINOR,
                                                             .size = sizeof(gyre_backend_plugin),
                                                             .name = "slow",
                                                             .build = "test 1",
                                                             .ops = &slow_ops};
