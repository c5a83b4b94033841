/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps another plugin (parameter `wraps`; one per process) and breaks one promise of backend.h, which the parameter
 * `way` names:
 *   mute       launch succeeds, and nothing that was launched ever acknowledges a command
 *   strange    the first wait returns what is no status, while the kernel runs
 *   nowhere    queue_alloc succeeds with the address 0
 *   paperless  compile succeeds and writes no file
 *   ports-...  the kernels have ports that no kernel has: more than 8, no list, no name, and so on
 *   stuck      (no promise is broken) an upload of one `stuck` (stuck.h) ends when the test says so
 *   portless   (no promise is broken) the device's kernels are no stages of pipelines
 *   fragile    (no promise is broken) compile ends the process, which check_first tells of
 * A release of a kernel of which wait has not said that it left ends the process.
 */
#include "stuck.h"
#include "wrapped.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { STRANGE = -7 };

static struct {
    const gyre_backend_ops *ops;
    const char *way;
    bool has_left, was_strange;
} wrapped;

/* Of no kernel: a place whose address stands for one. */
static char mute_place;

static bool is(const char *way)
{
    return wrapped.way && strcmp(wrapped.way, way) == 0;
}

static gyre_status unruly_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    const gyre_backend_ops *ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "wraps");
    return ops ? ops->probe(desc, info) : GYRE_UNAVAILABLE;
}

static gyre_status unruly_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    static char way[32];
    const char *wanted = wrapped_parameter(desc->parameters, desc->parameter_count, "way");
    *out = NULL;
    wrapped.ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "wraps");
    if (!wrapped.ops)
        return GYRE_UNAVAILABLE;
    strncpy(way, wanted ? wanted : "", sizeof way - 1);
    wrapped.way = way;
    wrapped.has_left = wrapped.was_strange = false;
    return wrapped.ops->device_open(desc, out);
}

static void unruly_device_close(gyre_device *device)
{
    wrapped.ops->device_close(device);
}

static gyre_status unruly_device_info(gyre_device *device, gyre_device_info *info)
{
    gyre_status status = wrapped.ops->device_info(device, info);
    info->check_first = is("fragile");
    if (is("portless"))
        info->knows_links = 0;
    return status;
}

static gyre_status unruly_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    if (is("fragile"))
        abort();
    return is("paperless") ? GYRE_OK : wrapped.ops->compile(device, desc);
}

static gyre_status unruly_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    return wrapped.ops->module_load(device, desc, out);
}

/* Ports that no kernel has. Their type is the kernel's request. */
static const struct {
    const char *way;
    uint32_t count;
    gyre_port_record ports[2];
} bad_ports[] = {
    {"ports-many", 9, {{.name = "a", .most = 1}}},
    {"ports-nameless", 1, {{.most = 1}}},
    {"ports-misnamed", 1, {{.name = "1st", .most = 1}}},
    {"ports-twice", 2, {{.name = "a", .most = 1}, {.name = "a", .most = 1}}},
    {"ports-silent", 1, {{.name = "a"}}},
    {"ports-endless", 1, {{.name = "a", .most = 4097}}},
};

static gyre_status unruly_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    static gyre_port_record ports[2];
    gyre_status status = wrapped.ops->module_kernel(module, index, record);
    if (status == GYRE_OK && is("ports-unlisted"))
        record->port_count = 1;
    for (size_t i = 0; status == GYRE_OK && i < sizeof bad_ports / sizeof bad_ports[0]; i++) {
        if (!is(bad_ports[i].way))
            continue;
        memcpy(ports, bad_ports[i].ports, sizeof ports);
        ports[0].type = ports[1].type = record->request;
        record->ports = ports;
        record->port_count = bad_ports[i].count;
    }
    return status;
}

static void unruly_module_release(gyre_module *module)
{
    wrapped.ops->module_release(module);
}

static gyre_status unruly_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                                      gyre_queue_memory **out, uint64_t *device_address)
{
    gyre_status status = wrapped.ops->queue_alloc(device, desc, out, device_address);
    if (is("nowhere"))
        *device_address = 0;
    return status;
}

static void unruly_queue_release(gyre_queue_memory *memory)
{
    wrapped.ops->queue_release(memory);
}

static gyre_status unruly_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    return wrapped.ops->memory_alloc(device, byte_count, out);
}

static void unruly_memory_release(gyre_memory *memory)
{
    wrapped.ops->memory_release(memory);
}

static gyre_status unruly_memory_address(gyre_memory *memory, uint64_t *address)
{
    return wrapped.ops->memory_address(memory, address);
}

static void be_stuck(struct stuck *stuck)
{
    if (stuck->magic != STUCK_MAGIC)
        return;
    atomic_store(&stuck->entered, 1);
    while (!atomic_load(&stuck->may_go))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static gyre_status unruly_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    if (is("stuck") && desc->kind == GYRE_TRANSFER_UPLOAD && desc->byte_count == sizeof(struct stuck))
        be_stuck((struct stuck *)(uintptr_t)desc->source);
    return wrapped.ops->transfer(device, desc);
}

static gyre_status unruly_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    wrapped.has_left = false;
    if (!is("mute"))
        return wrapped.ops->launch(module, desc, out);
    *out = (gyre_resident *)(void *)&mute_place;
    return GYRE_OK;
}

static gyre_status unruly_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    if (is("strange") && !wrapped.was_strange) {
        wrapped.was_strange = true;
        return (gyre_status)STRANGE;
    }
    gyre_status status = is("mute") ? GYRE_OK : wrapped.ops->wait(resident, deadline_ns);
    wrapped.has_left |= status == GYRE_OK || status == GYRE_LOST;
    return status;
}

static void unruly_release(gyre_resident *resident)
{
    if (!wrapped.has_left)
        abort();
    if (!is("mute"))
        wrapped.ops->release(resident);
}

static const gyre_backend_ops unruly_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = unruly_probe,
    .device_open = unruly_device_open,
    .device_close = unruly_device_close,
    .device_info = unruly_device_info,
    .compile = unruly_compile,
    .module_load = unruly_module_load,
    .module_kernel = unruly_module_kernel,
    .module_release = unruly_module_release,
    .queue_alloc = unruly_queue_alloc,
    .queue_release = unruly_queue_release,
    .memory_alloc = unruly_memory_alloc,
    .memory_release = unruly_memory_release,
    .transfer = unruly_transfer,
    .memory_address = unruly_memory_address,
    .launch = unruly_launch,
    .wait = unruly_wait,
    .release = unruly_release,
};

WRAPPER_PLUGIN("unruly", unruly_ops);
