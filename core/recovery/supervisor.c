/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the supervisor: a thread of the runtime that launches lost kernels again, alone or with other kernels of their group.
 * The first kernel with `on_loss` starts the thread.
 *
 * The supervisor calls gyre_kernel_terminate and gyre_kernel_relaunch like an application, and gives way to the application: it
 * leaves a kernel alone that is not lost any more, or that the application terminated.
 *
 * Locks: supervisor.lock for the thread's own members. Kernels are visited, so none is freed meanwhile.
 */
#include "core/recovery/supervisor.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/kernel/control.h"
#include "core/kernel/node.h"
#include "core/kernel/visit.h"
#include "core/recovery/care.h"

#define MEMORY_AGAIN_NS UINT64_C(10000000) /* pause between two attempts to allocate */
#define BY_HAND_NS                                                                                           \
    UINT64_C(1000000000) /* an application launches a lost kernel again by itself within this time */

enum on_loss { ON_LOSS_LEAVE = 0, ON_LOSS_ONE = 1, ON_LOSS_ALL = 2, ON_LOSS_REST = 3 };

/* All kernels, in order of launch. */
struct family {
    gyre_kernel **kernels;
    gyre_kernel_state *states; /* for each kernel: the state to return to after a loss */
    size_t count;
};

static enum on_loss policy_of(const gyre_kernel *kernel)
{
    return (enum on_loss)gyre_kernel_setting(kernel, "on_loss");
}

static const char *group_of(const gyre_kernel *kernel)
{
    return gyre_config_text(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "group");
}

/* ---- one loss ---- */

/* Counts a loss. False when the kernel was lost too often. */
static bool count_loss(gyre_kernel *kernel)
{
    struct gyre_kernel_losses *losses = &kernel->care->losses;
    uint64_t now = gyre_clock_ns();
    uint64_t period =
        gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "loss_period_ms");
    if (now - losses->since_ns > period) {
        losses->since_ns = now;
        losses->count = 0;
    }
    losses->count++;
    const bool too_often = losses->count > (uint64_t)gyre_kernel_setting(kernel, "loss_limit");
    __atomic_store_n(&losses->given_up, too_often, __ATOMIC_RELAXED);
    if (too_often)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_ERROR,
            "kernel '%s' was lost %u times within loss_period_ms and is left as it is (loss_limit)",
            kernel->name, losses->count);
    return !too_often;
}

/* Whether both kernels are stages of one pipeline, which are lost and launched together. */
static bool are_together(gyre_kernel *one, gyre_kernel *other)
{
    const void *const pipeline = gyre_node_pipeline(one);
    return pipeline && gyre_node_pipeline(other) == pipeline;
}

/* True when kernel number `other` has to be launched again because of the loss of number `place`. */
static bool shares_fate(const struct family *family, size_t place, size_t other)
{
    gyre_kernel *lost = family->kernels[place];
    enum on_loss policy = policy_of(lost);
    if (other == place || are_together(lost, family->kernels[other]))
        return true;
    if (policy == ON_LOSS_ONE || (policy == ON_LOSS_REST && other < place))
        return false;
    return strcmp(group_of(lost), group_of(family->kernels[other])) == 0;
}

/* Ends a kernel. Returns the state that the kernel has to return to; TERMINATED when the application has ended the kernel. */
static gyre_kernel_state take_down(gyre_kernel *kernel)
{
    gyre_kernel_state state = gyre_kernel_get_state(kernel);
    if (state == GYRE_KERNEL_LOST)
        return GYRE_KERNEL_ACTIVE;
    if (state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE)
        return GYRE_KERNEL_TERMINATED;
    return gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL) == GYRE_OK ? state : GYRE_KERNEL_TERMINATED;
}

static void bring_up(gyre_kernel *kernel, gyre_kernel_state state)
{
    struct gyre_kernel_losses *losses = &kernel->care->losses;
    gyre_status status = gyre_kernel_relaunch(kernel);
    if (status == GYRE_OK && state == GYRE_KERNEL_INACTIVE)
        status = gyre_kernel_deactivate(kernel, GYRE_FOREVER);
    if (status == GYRE_OK) {
        __atomic_fetch_add(&losses->relaunches, 1, __ATOMIC_RELAXED);
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "kernel '%s' was launched again (on_loss)",
                         kernel->name);
    } else if (status != GYRE_INVALID && status != GYRE_CLOSED) { /* else the application was quicker */
        gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' could not be launched again: %s",
                         kernel->name, gyre_error_text());
        losses->owed = state;
        gyre_supervisor_notice(kernel->runtime); /* a failed launch counts as one more loss */
    }
}

static void care_for(const struct family *family, size_t place)
{
    gyre_kernel_state *states = family->states;
    for (size_t i = family->count; i-- > 0;) /* in reverse order of launch */
        states[i] = shares_fate(family, place, i) ? take_down(family->kernels[i]) : GYRE_KERNEL_TERMINATED;
    for (size_t i = 0; i < family->count; i++)
        if (states[i] != GYRE_KERNEL_TERMINATED)
            bring_up(family->kernels[i], states[i]);
}

/* Looks at a kernel, and launches it again if it is lost, or was ended with another one and could not be launched then. */
static void look_at(const struct family *family, size_t place)
{
    gyre_kernel *kernel = family->kernels[place];
    struct gyre_kernel_losses *losses = &kernel->care->losses;
    const gyre_kernel_state state = gyre_kernel_get_state(kernel), owed = losses->owed;
    const bool lost = state == GYRE_KERNEL_LOST;
    losses->owed = 0;
    if (!lost)
        __atomic_store_n(&losses->given_up, false, __ATOMIC_RELAXED);
    if (lost && policy_of(kernel) != ON_LOSS_LEAVE) {
        if (!losses->given_up && count_loss(kernel))
            care_for(family, place);
    } else if (owed && (lost || state == GYRE_KERNEL_TERMINATED) && count_loss(kernel)) {
        bring_up(kernel, owed);
    }
}

/* Looks at all kernels. False without memory. */
static bool look_at_all(gyre_runtime *runtime)
{
    struct family family = {NULL, NULL, 0};
    family.kernels = gyre_kernels_visit(runtime, NULL, &family.count);
    family.states = calloc(family.count + 1, sizeof *family.states);
    bool able = family.kernels && family.states;
    for (size_t i = 0; able && i < family.count; i++)
        look_at(&family, i);
    for (size_t i = 0; family.kernels && i < family.count; i++)
        gyre_kernel_leave(family.kernels[i]);
    free(family.kernels);
    free(family.states);
    return able;
}

/* ---- a loss for good ---- */

static bool is_gone(const gyre_kernel *kernel)
{
    if (gyre_kernel_get_state(kernel) != GYRE_KERNEL_LOST)
        return false;
    const uint64_t lost_ns = gyre_kernel_lost_ns(kernel);
    return (policy_of(kernel) == ON_LOSS_LEAVE ||
            __atomic_load_n(&kernel->care->losses.given_up, __ATOMIC_RELAXED)) &&
           gyre_clock_ns() - lost_ns >= BY_HAND_NS;
}

/* The setting that would have kept the kernel. */
static const char *remedy_of(const gyre_kernel *kernel)
{
    if (policy_of(kernel) != ON_LOSS_LEAVE)
        return "on_loss launched it again, and gave it up (loss_limit)";
    return kernel->checkpoints
               ? "on_loss = one launches a kernel again, with its initial state"
               : "checkpoints = true keeps its state when a worker process dies, and on_loss = one "
                 "launches it again, with its initial state";
}

gyre_status gyre_supervisor_check_gone(gyre_kernel *kernel)
{
    char why[sizeof kernel->care->losses.why], device[64];
    if (!is_gone(kernel))
        return GYRE_OK;
    pthread_mutex_lock(&kernel->lock);
    memcpy(why, kernel->care->losses.why, sizeof why);
    pthread_mutex_unlock(&kernel->lock);
    gyre_kernel_why_lost(kernel, device, sizeof device);
    return gyre_error_set(GYRE_LOST,
                          "kernel '%s' is lost for good%s%s%s: start its server again, then attach anew; in "
                          "[kernel.%s] %s",
                          kernel->name, why[0] ? ", because " : "", why, device, kernel->name,
                          remedy_of(kernel));
}

/* ---- the thread ---- */

/* Under the lock: pauses before the next look, because the last look lacked memory. */
static void try_again_later(struct gyre_supervisor *supervisor)
{
    const struct timespec until = gyre_clock_timespec(gyre_clock_ns() + MEMORY_AGAIN_NS);
    supervisor->noticed = true;
    while (!supervisor->stop && pthread_cond_timedwait(&supervisor->changed, &supervisor->lock, &until) == 0)
        ;
}

static void *supervise(void *argument)
{
    gyre_runtime *runtime = argument;
    struct gyre_supervisor *supervisor = runtime->supervisor;
    pthread_mutex_lock(&supervisor->lock);
    for (;;) {
        while (!supervisor->stop && !supervisor->noticed)
            pthread_cond_wait(&supervisor->changed, &supervisor->lock);
        if (supervisor->stop)
            break;
        supervisor->noticed = false;
        pthread_mutex_unlock(&supervisor->lock);
        bool able = look_at_all(runtime);
        pthread_mutex_lock(&supervisor->lock);
        if (!able)
            try_again_later(supervisor);
    }
    pthread_mutex_unlock(&supervisor->lock);
    return NULL;
}

gyre_status gyre_supervisor_create(struct gyre_supervisor **out)
{
    struct gyre_supervisor *supervisor = *out = calloc(1, sizeof *supervisor);
    if (!supervisor)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a runtime");
    pthread_mutex_init(&supervisor->lock, NULL);
    gyre_clock_condition(&supervisor->changed);
    return GYRE_OK;
}

gyre_status gyre_supervisor_need(const gyre_kernel *kernel)
{
    struct gyre_supervisor *supervisor = kernel->runtime->supervisor;
    gyre_status status = GYRE_OK;
    if (policy_of(kernel) == ON_LOSS_LEAVE)
        return GYRE_OK;
    pthread_mutex_lock(&supervisor->lock);
    if (!supervisor->runs)
        status = gyre_thread_need(&supervisor->thread, supervise, kernel->runtime,
                                  "for the supervisor of kernel '%s'", kernel->name);
    supervisor->runs = status == GYRE_OK;
    pthread_mutex_unlock(&supervisor->lock);
    return status;
}

void gyre_supervisor_notice(gyre_runtime *runtime)
{
    struct gyre_supervisor *supervisor = runtime->supervisor;
    pthread_mutex_lock(&supervisor->lock);
    supervisor->noticed = true;
    pthread_cond_broadcast(&supervisor->changed);
    pthread_mutex_unlock(&supervisor->lock);
}

void gyre_supervisor_stop(struct gyre_supervisor *supervisor)
{
    if (!supervisor)
        return;
    pthread_mutex_lock(&supervisor->lock);
    supervisor->stop = true;
    bool runs = supervisor->runs;
    pthread_cond_broadcast(&supervisor->changed);
    pthread_mutex_unlock(&supervisor->lock);
    if (runs)
        pthread_join(supervisor->thread, NULL);
}

void gyre_supervisor_destroy(struct gyre_supervisor *supervisor)
{
    if (!supervisor)
        return;
    pthread_cond_destroy(&supervisor->changed);
    pthread_mutex_destroy(&supervisor->lock);
    free(supervisor);
}
