/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the object of a kernel, and reads and writes its lifecycle state (gyre_kernel_state). Takes no lock. */
#include "core/kernel/kernel.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/observation/observation.h"
#include "core/pipeline/build.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/ring/region.h"

/* Tells the observation file. A kernel that no look found yet has no record there. */
static void show_state(const gyre_kernel *kernel, gyre_kernel_state state)
{
    struct gyre_observation *observation = gyre_runtime_observation(kernel->runtime);
    const uint32_t record = __atomic_load_n(&kernel->observed, __ATOMIC_ACQUIRE);
    if (record && gyre_observation_state(observation, record, state))
        gyre_observation_event(observation, GYRE_OBSERVE_STATE, record, "kernel '%s' is %s", kernel->name,
                               gyre_kernel_state_word(state));
}

void gyre_kernel_set_state(gyre_kernel *kernel, gyre_kernel_state state)
{
    if (state == GYRE_KERNEL_LOST) /* first: a thread that sees the state sees the time */
        __atomic_store_n(&kernel->lost_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->kernel_state, state, __ATOMIC_RELEASE);
    show_state(kernel, state);
}

gyre_kernel_state gyre_kernel_get_state(const gyre_kernel *kernel)
{
    return __atomic_load_n(&kernel->kernel_state, __ATOMIC_ACQUIRE);
}

const char *gyre_kernel_state_word(gyre_kernel_state state)
{
    static const char *const words[] = {"not launched", "active",     "inactive",
                                        "stopping",     "terminated", "lost"};
    size_t index = (size_t)state;
    return index < sizeof words / sizeof words[0] ? words[index] : "unknown";
}

gyre_kernel *gyre_kernel_create(gyre_runtime *runtime)
{
    gyre_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->runtime = runtime;
    kernel->region = GYRE_REGION_NONE;
    kernel->launched_ns = gyre_clock_ns();
    kernel->kernel_state = GYRE_KERNEL_TERMINATED; /* until it is started */
    pthread_mutex_init(&kernel->changer, NULL);
    pthread_mutex_init(&kernel->lock, NULL);
    pthread_mutex_init(&kernel->log.lock, NULL);
    gyre_errand_init(&kernel->errand);
    gyre_clock_condition(&kernel->changed);
    return kernel;
}
