/* SPDX-License-Identifier: Apache-2.0 */
/* The control region of a kernel: its word, and waiting until every block obeyed. Under kernel->lock. */
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/runtime/runtime.h"

/* How long a wait for a device that rings no bell sleeps between two looks. */
#define POLL_NS 20000

gyre_status gyre_control_create(gyre_kernel *kernel)
{
    gyre_status status =
        gyre_region_create("a kernel's control region", GYRE_CONTROL_SIZE(kernel->blocks), &kernel->region);
    if (status != GYRE_OK)
        return status;
    kernel->control = kernel->region.address;
    kernel->control->command.parks = gyre_kernel_setting(kernel, "idle") == GYRE_IDLE_PARK;
    return GYRE_OK;
}

void gyre_control_reset(gyre_kernel *kernel)
{
    memset(&kernel->control->device, 0, sizeof kernel->control->device);
    memset(kernel->control + 1, 0, kernel->blocks * sizeof(gyre_control_block));
}

const gyre_control_block *gyre_control_blocks(const gyre_kernel *kernel)
{
    return (const gyre_control_block *)(kernel->control + 1);
}

uint64_t gyre_control_verb(const gyre_kernel *kernel)
{
    return GYRE_COMMAND_VERB(kernel->control->command.command);
}

void gyre_control_order(gyre_kernel *kernel, uint64_t verb)
{
    gyre_control_region *control = kernel->control;
    uint64_t command = ++kernel->epoch << 8 | verb;
    __atomic_store_n(&control->command.command, command,
                     __ATOMIC_RELEASE); /* pairs with the workers' acquire */
    gyre_bell_ring(&control->doorbell.bell, INT_MAX);
    if (kernel->resident)
        gyre_dispatch_notify(kernel->dispatch, kernel->resident);
}

static uint32_t blocks_behind(const gyre_kernel *kernel)
{
    const gyre_control_block *blocks = gyre_control_blocks(kernel);
    uint64_t command = kernel->control->command.command;
    uint32_t behind = 0;
    for (uint32_t i = 0; i < kernel->blocks; i++)
        behind += __atomic_load_n(&blocks[i].acknowledged, __ATOMIC_ACQUIRE) != command;
    return behind;
}

gyre_status gyre_control_acknowledged(gyre_kernel *kernel, uint64_t deadline_ns)
{
    gyre_control_device *device = &kernel->control->device;
    bool wakes = gyre_dispatch_device_info(kernel->dispatch)->can_wake;
    for (;;) {
        uint32_t seen = __atomic_load_n(&device->acknowledge_bell, __ATOMIC_ACQUIRE); /* before the look */
        uint32_t behind = blocks_behind(kernel);
        if (behind == 0)
            return GYRE_OK;
        if (__atomic_load_n(&device->lost, __ATOMIC_ACQUIRE))
            return gyre_error_set(GYRE_LOST, "the device of kernel '%s' died", kernel->name);
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT, "%u of %u blocks of kernel '%s' are still inside a handler",
                                  behind, kernel->blocks, kernel->name);
        if (wakes)
            gyre_futex_wait(&device->acknowledge_bell, seen, deadline_ns);
        else
            nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
}
