/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch, wait and release: a thread is started, leaves when the control word says so, and is joined. No
 * locks: the core serialises launch and release, and wait only reads a word. What the thread does is in
 * solo_worker.c.
 */
#include "solo.h"

#include <stdlib.h>
#include <string.h>

#include <gyre/thread.h>
#include <gyre/waiting.h>

static const gyre_cpu_kernel *find_kernel(const gyre_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i]->name, name))
            return module->kernels[i];
    return NULL;
}

static void free_resident(gyre_resident *resident)
{
    free(resident->scratch);
    free(resident->stage.request);
    free(resident->stage.reply);
    free(resident->bindings);
    free(resident);
}

/* The descriptor is borrowed: what the thread needs of it is copied. */
static bool copy_descriptor(gyre_resident *resident, const gyre_resident_desc *desc)
{
    const gyre_cpu_kernel *kernel = resident->kernel;
    resident->control = desc->control;
    resident->blocks = desc->blocks;
    resident->idle = desc->idle;
    resident->spin_turns = desc->spin_turns;
    resident->kernel_log = desc->kernel_log;
    resident->kernel_log_context = desc->kernel_log_context;
    resident->state = desc->state ? desc->state->data : NULL;
    size_t alignment = kernel->scratch_alignment > 64 ? kernel->scratch_alignment : 64;
    if (posix_memalign(&resident->scratch, alignment, kernel->scratch_size) != 0)
        resident->scratch = NULL;
    resident->bindings = calloc(desc->binding_count + 1, sizeof *resident->bindings);
    /* where messages of other programs are handled; a line of 48 bytes needs none, and a spare one does no harm */
    resident->stage.request = calloc(1, kernel->sizes.request + 1);
    resident->stage.reply = calloc(1, kernel->sizes.reply + 1);
    if (!resident->scratch || !resident->bindings || !resident->stage.request || !resident->stage.reply)
        return false;
    for (uint32_t i = 0; i < desc->binding_count; i++) {
        resident->bindings[i].data =
            (unsigned char *)desc->bindings[i].memory->data + desc->bindings[i].offset;
        resident->bindings[i].count = desc->bindings[i].element_count;
    }
    return true;
}

static gyre_status start(gyre_resident *resident)
{
    resident->light_barriers = gyre_barrier_register();
    resident->context = (gyre_context){.lane_count = 1,
                                       .block_count = resident->blocks,
                                       .services = solo_services(resident->kernel),
                                       .owner = resident,
                                       .handles = GYRE_CONTROL_HANDLES(resident->control, resident->blocks)};
    int error = gyre_thread_start(&resident->thread, NULL, solo_main, resident);
    if (error)
        return resident->device->host->error(GYRE_EXHAUSTED, "no thread for kernel '%s': %s",
                                             resident->kernel->name, strerror(error));
    return GYRE_OK;
}

/* The core waits for the acknowledgement of the first command, so there is nothing to wait for here. */
gyre_status solo_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    const gyre_host *host = module->device->host;
    const gyre_cpu_kernel *kernel = find_kernel(module, desc->kernel_name);
    *out = NULL;
    if (!kernel)
        return host->error(GYRE_NOT_FOUND, "the module has no kernel '%s'", desc->kernel_name);
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        return host->error(GYRE_EXHAUSTED, "no memory to launch kernel '%s'", desc->kernel_name);
    resident->device = module->device;
    resident->kernel = kernel;
    gyre_status status = GYRE_OK;
    if (!copy_descriptor(resident, desc))
        status = host->error(GYRE_EXHAUSTED, "no memory to launch kernel '%s'", desc->kernel_name);
    if (status == GYRE_OK)
        status = start(resident);
    if (status != GYRE_OK) {
        free_resident(resident);
        return status;
    }
    *out = resident;
    return GYRE_OK;
}

/* Any number of threads may wait, so none of them joins. */
gyre_status solo_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    while (!__atomic_load_n(&resident->left, __ATOMIC_ACQUIRE)) { /* pairs with the release of the bell */
        if (gyre_clock_ns() >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "kernel '%s' is still inside a handler",
                                                 resident->kernel->name);
        gyre_futex_wait(&resident->left, 0, deadline_ns);
    }
    return GYRE_OK;
}

void solo_release(gyre_resident *resident)
{
    if (!resident)
        return;
    pthread_join(resident->thread, NULL);
    free_resident(resident);
}
