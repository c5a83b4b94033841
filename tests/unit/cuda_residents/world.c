/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the test's driver, and kernels that are launched on it. */
#include "world.h"
#include "backends/cuda/residents/cuda_launch.h"
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/residents/cuda_residents.h"
#include "backends/cuda/memory/cuda_transfer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

static void keep_log(void *context, int level, const char *text)
{
    struct world *world = context;
    size_t used = strlen(world->log);
    snprintf(world->log + used, sizeof world->log - used, "%d %s\n", level, text);
}

void make_world(struct world *world, uint32_t residency_ms)
{
    static const gyre_type none = {"gyre_none", "", 0, 1, NULL};
    memset(world, 0, sizeof *world);
    gyre_host_init(&world->host, keep_log, world);
    world->device = (gyre_device){.host = &world->host.table,
                                  .driver = &gpu_driver,
                                  .context = (CUcontext)(void *)&world->device,
                                  .name = "GPU of threads",
                                  .sm_count = 132,
                                  .shared_size_max = 227 * 1024,
                                  .residency_ms = residency_ms};
    pthread_mutex_init(&world->device.lost_lock, NULL);
    world->kernel.record = (gyre_kernel_record){
        .name = "k", .form = GYRE_FORM_LANE, .request = &none, .reply = &none, .state = &none, .buffers = ""};
    world->module = (gyre_module){.device = &world->device, .kernels = &world->kernel, .kernel_count = 1};
}

void open_world(struct world *world, uint32_t residency_ms)
{
    make_world(world, residency_ms);
    ck_assert_int_eq(cuda_residents_open(&world->device), GYRE_OK);
}

void order(struct world *world, int i, uint64_t epoch, uint64_t verb)
{
    __atomic_store_n(&world->controls[i]->command.command, epoch << 8 | verb, __ATOMIC_RELEASE);
    if (world->residents[i])
        cuda_notify(world->residents[i]);
}

gyre_status try_start(struct world *world, int i)
{
    world->controls[i] = calloc(1, GYRE_CONTROL_SIZE(BLOCKS));
    world->controls[i]->absences.timed = world->timed;
    order(world, i, 1, GYRE_VERB_RUN);
    gyre_resident_desc desc = {.size = sizeof desc,
                               .control = world->controls[i],
                               .control_size = GYRE_CONTROL_SIZE(BLOCKS),
                               .kernel_name = "k",
                               .lanes = 32,
                               .blocks = BLOCKS};
    return cuda_launch(&world->module, &desc, &world->residents[i]);
}

void start(struct world *world, int i)
{
    ck_assert_msg(try_start(world, i) == GYRE_OK, "%s", gyre_error_text());
}

uint64_t in_ms(const struct world *world, uint64_t ms)
{
    return world->host.table.now_ns() + ms * 1000000;
}

void close_world(struct world *world)
{
    cuda_carriers_destroy(&world->device);
    cuda_residents_close(&world->device);
    ck_assert_uint_eq(gpu_present, 0);
    pthread_mutex_destroy(&world->device.lost_lock);
}
