/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries a change of a kernel's body out (change.h). The kernel stands at a message boundary, its device side leaves, the other
 * body is launched paused, and only when all its blocks report, the queues are shown to it. Until then a failure brings the old body
 * back in the same way.
 *
 * Lock: kernel->lock, given up while a backend works. turn.saving keeps other threads off the device side until the kernel stands,
 * as for a checkpoint, so that recovery may still take the kernel over; turn.starting and turn.changing do so from then on. Clients
 * send and receive meanwhile. buffer->place is held for the time of a move.
 */
#include "core/change/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/kernel/binding.h"
#include "core/change/carried_over.h"
#include "core/kernel/control.h"
#include "core/kernel/help.h"
#include "core/kernel/handles.h"
#include "core/kernel/keeper.h"
#include "core/kernel/keyed.h"
#include "core/kernel/node.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/spans.h"
#include "core/kernel/standstill.h"
#include "core/kernel/start.h"
#include "core/kernel/turn.h"
#include "core/pipeline/build.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"

enum { STARTS_MAX = 3, BODIES = 2 };
#define RETRY_NS UINT64_C(200000)
#define LOOK_NS  UINT64_C(5000000) /* between two looks whether a worker process still lives */

/* ---- whether it may be ---- */

/* Under the lock. */
static gyre_status check_running(const gyre_kernel *kernel)
{
    const gyre_kernel_state state = gyre_kernel_get_state(kernel);
    char why[64];
    if (kernel->end.leaving)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is being released", kernel->name);
    if (state == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST, "kernel '%s' is lost%s; launch it again", kernel->name,
                              gyre_kernel_why_lost(kernel, why, sizeof why));
    if ((state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE) || !kernel->resident)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it first", kernel->name,
                              gyre_kernel_state_word(state));
    return GYRE_OK;
}

/* The thread of a queue with `threads = one` takes no lock that a change could hold while it goes over the queue. Under the lock. */
static gyre_status check_threads(const gyre_kernel *kernel, const char *call)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (!gyre_ways_of(queue)->many_threads)
            return gyre_error_set(
                GYRE_INVALID,
                "%s: queue '%s' of kernel '%s' has threads = one, and a change of its kernel uses the queue from another "
                "thread: set threads = many for the queue and launch the kernel again",
                call, gyre_queue_name(queue)[0] ? gyre_queue_name(queue) : kernel->name, kernel->name);
    return GYRE_OK;
}

/* Under the lock. */
static gyre_status check_changeable(const gyre_kernel *kernel, bool moves)
{
    const char *const call = moves ? "gyre_kernel_move" : "gyre_kernel_swap";
    if (kernel->node.pipeline)
        return gyre_error_set(
            GYRE_INVALID,
            "%s: kernel '%s' is a stage of pipeline '%s', and kernels of a pipeline are not %s: close that first "
            "(gyre_pipeline_close), or end the server and start it with %s",
            call, kernel->name, kernel->node.pipeline_name, moves ? "moved" : "swapped",
            moves ? "the other device" : "the new file");
    if (moves && gyre_kernel_is_keyed(kernel))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "%s: kernel '%s' is a keyed actor, whose table of states is not carried to another device while it runs: end it "
            "in order and launch it again",
            call, kernel->name);
    const gyre_status status = check_threads(kernel, call);
    return status == GYRE_OK ? check_running(kernel) : status;
}

/* Under the lock. */
static gyre_status check_alone(const gyre_kernel *kernel)
{
    const struct gyre_kernel_canary *canary = &kernel->canary;
    if (!canary->active)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_AGAIN,
        "kernel '%s' has a canary, the handler of '%s' on %u/%u of its messages since %llu s: wait until it has ended, or end "
        "it with `gyre swap %s --rollback`",
        kernel->name, canary->file, canary->share, canary->of,
        (unsigned long long)((gyre_clock_ns() - canary->begun_ns) / 1000000000), kernel->name);
}

gyre_status gyre_change_check(gyre_kernel *kernel, bool moves)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    gyre_status status = check_alone(kernel);
    if (status == GYRE_OK)
        status = check_changeable(kernel, moves);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

/* ---- builds ---- */

/* Whether what `known` loaded is what `build` loaded. Only a file of the cache stays what it was, and one that includes headers that
 * changed since has another handler. */
static bool is_same_load(const struct gyre_build *known, const struct gyre_build *build)
{
    const char *artifact = gyre_build_report(build)->artifact;
    return artifact[0] && strcmp(gyre_build_report(known)->artifact, artifact) == 0 &&
           !gyre_build_is_compiled(known) && !gyre_build_is_compiled(build) &&
           gyre_build_device(known) == gyre_build_device(build) && gyre_build_handler(build) != 0 &&
           gyre_build_handler(known) == gyre_build_handler(build);
}

/* The build of the kernel that loaded the same, now or before a change; NULL: there is none. */
static struct gyre_build *find_known(gyre_kernel *kernel, const struct gyre_build *build)
{
    struct gyre_build *known = NULL;
    pthread_mutex_lock(&kernel->lock);
    if (is_same_load(kernel->build, build))
        known = kernel->build;
    for (size_t i = 0; i < kernel->past.count; i++)
        if (is_same_load(kernel->past.builds[i], build))
            known = kernel->past.builds[i];
    pthread_mutex_unlock(&kernel->lock);
    return known;
}

void gyre_change_adopt(struct gyre_kernel_change *change, gyre_kernel *successor)
{
    struct gyre_build *known = find_known(change->kernel, successor->build);
    const gyre_kernel_record *record = NULL;
    if (known && gyre_build_kernel(known, successor->record->name, &record) == GYRE_OK) {
        gyre_build_release(successor->build);
        successor->build = gyre_build_retain(known);
        successor->record = record;
    }
    change->other.build = gyre_build_retain(successor->build);
    change->other.record = successor->record;
}

/* Under the lock. There is room (reserve_past). */
static void keep_build(gyre_kernel *kernel, struct gyre_build *build)
{
    for (size_t i = 0; i < kernel->past.count; i++)
        if (kernel->past.builds[i] == build)
            return;
    kernel->past.builds[kernel->past.count++] = gyre_build_retain(build);
}

/* Room for both bodies' builds among those that stay until the kernel is released. Under the lock, so that changes of several threads
 * do not share the room: called again by each that has its turn. */
static gyre_status reserve_past(gyre_kernel *kernel)
{
    struct gyre_build **grown =
        realloc(kernel->past.builds, (kernel->past.count + BODIES) * sizeof(struct gyre_build *));
    if (!grown)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to change kernel '%s'", kernel->name);
    kernel->past.builds = grown;
    return GYRE_OK;
}

/* ---- the boundary ---- */

static bool is_isolated(const gyre_kernel *kernel)
{
    return gyre_dispatch_isolated(kernel->dispatch);
}

/* What has to be copied into this program: memory that another device, another type or a worker process cannot have. */
static unsigned what_to_carry(const struct gyre_kernel_change *change)
{
    unsigned what = GYRE_CARRY_NOTHING;
    if (change->moves)
        what |= GYRE_CARRY_STATE | GYRE_CARRY_BUFFERS;
    if (change->converts)
        what |= GYRE_CARRY_STATE;
    if (is_isolated(change->kernel))
        what |= GYRE_CARRY_STATE | GYRE_CARRY_WRITTEN;
    return what;
}

static void hold_buffers_still(const struct gyre_kernel_change *change)
{
    for (uint32_t i = 0; i < change->buffer_count; i++)
        pthread_rwlock_wrlock(&change->buffers[i].buffer->place);
}

static void let_buffers_move(const struct gyre_kernel_change *change)
{
    for (uint32_t i = 0; i < change->buffer_count; i++)
        pthread_rwlock_unlock(&change->buffers[i].buffer->place);
}

/* Copies what the kernel keeps. Under the lock, given up meanwhile. After a failure nothing is held and nothing carried. */
static gyre_status carry(struct gyre_kernel_change *change, uint64_t generation)
{
    gyre_kernel *kernel = change->kernel;
    kernel->turn.inside++;
    pthread_mutex_unlock(&kernel->lock);
    hold_buffers_still(change);
    /* what goes straight is then on both devices: the old one is not written before the change has ended */
    gyre_status status = gyre_carried_over_can(change)
                             ? gyre_carried_over(change)
                             : gyre_carried_take(kernel, what_to_carry(change), &change->carried);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    if (kernel->generation != generation || !gyre_dispatch_is_current(kernel->dispatch, kernel->resident))
        status = gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", kernel->name);
    if (status == GYRE_OK)
        return GYRE_OK;
    let_buffers_move(change);
    gyre_carried_finish(&change->carried);
    return status;
}

/* Answered requests behind an unanswered one are skipped, if the devices can. */
static gyre_status check_order(const struct gyre_kernel_change *change)
{
    const gyre_kernel *kernel = change->kernel;
    if (gyre_dispatch_device_info(change->other.dispatch)->can_skip &&
        gyre_dispatch_device_info(kernel->dispatch)->can_skip)
        return GYRE_OK;
    return gyre_queues_are_in_order(kernel)
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_AGAIN,
                     "kernel '%s' answers out of order, and its device cannot skip what was answered: use "
                     "blocks = 1 for it, or launch it anew",
                     kernel->name);
}

/* One attempt to stop the kernel with all that it keeps in a known place. OK: it is this thread's alone. AGAIN: other threads, or the
 * end of a worker process, came first. Under the lock, given up meanwhile. */
static gyre_status try_to_take(struct gyre_kernel_change *change, uint64_t deadline_ns)
{
    gyre_kernel *kernel = change->kernel;
    gyre_kernel_await_turn(kernel);
    const uint64_t generation = kernel->generation;
    gyre_status status = check_changeable(kernel, change->moves);
    if (status == GYRE_OK)
        status = reserve_past(kernel);
    if (status == GYRE_OK)
        status = gyre_standstill_check(kernel);
    if (status != GYRE_OK)
        return status;
    change->stood_ns = gyre_clock_ns();
    status = gyre_standstill_begin(kernel, deadline_ns);
    if (status == GYRE_OK)
        status = check_order(change);
    if (status == GYRE_OK)
        status = gyre_keeper_stand(kernel);
    if (status == GYRE_OK)
        status = carry(change, generation);
    if (status != GYRE_OK) {
        gyre_standstill_end(kernel, generation);
        return status;
    }
    kernel->turn.saving = kernel->paused_to_save = false;
    kernel->turn.starting = kernel->turn.changing = true;
    return GYRE_OK;
}

static void nap_without_lock(gyre_kernel *kernel)
{
    kernel->turn.inside++;
    pthread_mutex_unlock(&kernel->lock);
    nanosleep(&(struct timespec){0, RETRY_NS}, NULL);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
}

/* AGAIN, or LOST while the death of a worker process is not dealt with yet: recovery decides what becomes of the kernel. */
static bool is_worth_another_try(const gyre_kernel *kernel, gyre_status status)
{
    return status == GYRE_AGAIN ||
           (status == GYRE_LOST && is_isolated(kernel) && gyre_kernel_get_state(kernel) != GYRE_KERNEL_LOST);
}

/* A kernel that runs is not asked to stand still after the deadline. One that is paused stands already. Under the lock. */
static gyre_status check_time(const gyre_kernel *kernel, uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    if (deadline_ns == GYRE_NO_WAIT || now < deadline_ns ||
        gyre_kernel_get_state(kernel) != GYRE_KERNEL_ACTIVE)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_TIMEOUT,
        "the deadline passed %.1f s before kernel '%s' could be asked to stand still: its file was compiled "
        "first, or other threads had the kernel. It works on; call again with a later deadline",
        (double)(now - deadline_ns) / 1e9, kernel->name);
}

static gyre_status try_until(struct gyre_kernel_change *change, uint64_t deadline_ns)
{
    gyre_kernel *kernel = change->kernel;
    const gyre_status in_time = check_time(kernel, deadline_ns);
    if (in_time != GYRE_OK)
        return in_time;
    for (;;) {
        const gyre_status status = try_to_take(change, deadline_ns);
        if (!is_worth_another_try(kernel, status))
            return status;
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_add(GYRE_TIMEOUT, "kernel '%s' came to no message boundary in time",
                                  kernel->name);
        nap_without_lock(kernel);
    }
}

/* Lets a kernel run that recovery left paused for a change, which does not come. Under the lock, given up meanwhile. */
static void go_on_unchanged(gyre_kernel *kernel)
{
    gyre_error_hold(); /* a worker process that is told to go on would clear it */
    gyre_kernel_await_turn(kernel);
    if (gyre_kernel_get_state(kernel) == GYRE_KERNEL_ACTIVE && gyre_control_verb(kernel) == GYRE_VERB_PAUSE)
        gyre_control_order(kernel, GYRE_VERB_RUN);
    kernel->paused_to_save = false;
    gyre_error_let_go();
}

/*
 * Stops the kernel for the change. A handler that crashes with each message lets it come to no boundary: the next worker process after a death
 * gets no message before the change has been made. Under the lock, given up meanwhile.
 */
static gyre_status take_kernel(struct gyre_kernel_change *change, uint64_t deadline_ns)
{
    gyre_kernel *kernel = change->kernel;
    kernel->turn.change_waits = is_isolated(kernel);
    const gyre_status status = try_until(change, deadline_ns);
    kernel->turn.change_waits = false;
    if (status != GYRE_OK && is_isolated(kernel))
        go_on_unchanged(kernel);
    return status;
}

/* ---- the device side, down ---- */

/* Ends a device side that stands. Under the lock, given up meanwhile. Fails when the device does not let go, which it may do later. */
static gyre_status leave(gyre_kernel *kernel, gyre_resident *resident)
{
    gyre_control_order(kernel, GYRE_VERB_STOP);
    const uint64_t command = gyre_control_last(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_dispatch_notify(kernel->dispatch, resident);
    gyre_status status = gyre_control_left(kernel, resident, command);
    const bool has_left = status == GYRE_OK || status == GYRE_LOST;
    pthread_mutex_lock(&kernel->lock);
    if (!has_left)
        return gyre_error_add(status, "whether kernel '%s' has left its device is not known", kernel->name);
    if (kernel->resident == resident)
        kernel->resident = NULL; /* first: so that no thread notifies a device that is being released */
    gyre_kernel_await_helpers(kernel);
    pthread_mutex_unlock(&kernel->lock);
    gyre_dispatch_release(kernel->dispatch, resident);
    pthread_mutex_lock(&kernel->lock);
    gyre_control_settle_counts(kernel);
    return status == GYRE_LOST && !is_isolated(kernel) ? status : GYRE_OK;
}

/* ---- another body ---- */

static void exchange_buffers(struct gyre_kernel_change *change)
{
    struct gyre_dispatch *const device = change->buffer_device;
    for (uint32_t i = 0; i < change->buffer_count; i++) {
        struct gyre_buffer *buffer = change->buffers[i].buffer;
        gyre_memory *const memory = buffer->memory;
        change->buffer_device = buffer->dispatch;
        buffer->memory = change->buffers[i].memory;
        buffer->dispatch = device;
        change->buffers[i].memory = memory;
    }
}

/* Under runtime->lock, which whoever looks for the kernels of a device or of a buffer has. */
static void exchange_bodies(struct gyre_kernel_change *change)
{
    gyre_kernel *kernel = change->kernel;
    const struct gyre_kernel_body mine = {.dispatch = kernel->dispatch,
                                          .build = kernel->build,
                                          .record = kernel->record,
                                          .memory = kernel->memory};
    __atomic_store_n(&kernel->dispatch, change->other.dispatch, __ATOMIC_RELEASE); /* make_queue reads it */
    kernel->build = change->other.build;
    kernel->record = change->other.record;
    kernel->memory = change->other.memory;
    exchange_buffers(change);
    change->other = mine;
}

/* Marks the buffers that are to move, from the last look at who else uses them until one of the bodies stands: nobody binds or names
 * them meanwhile. Under runtime->lock. */
static gyre_status claim_buffers(struct gyre_kernel_change *change)
{
    for (uint32_t i = 0; i < change->buffer_count; i++)
        if (change->buffers[i].buffer->bound != 1 || change->buffers[i].buffer->held ||
            change->buffers[i].buffer->last_handle)
            return gyre_error_set(
                GYRE_INVALID,
                "a buffer of kernel '%s' is bound to another kernel, held in place or named in messages, since "
                "a moment ago: it cannot move",
                change->kernel->name);
    for (uint32_t i = 0; i < change->buffer_count; i++)
        change->buffers[i].buffer->moving = true;
    return GYRE_OK;
}

static void unclaim_buffers(const struct gyre_kernel_change *change)
{
    pthread_mutex_lock(&change->kernel->runtime->lock);
    for (uint32_t i = 0; i < change->buffer_count; i++)
        change->buffers[i].buffer->moving = false;
    pthread_mutex_unlock(&change->kernel->runtime->lock);
}

/* Puts the other body into the kernel, and the kernel's into the change. No device side is there. `claims`: the buffers are claimed
 * before; fails when that cannot be. Under the lock. */
static gyre_status exchange(struct gyre_kernel_change *change, bool claims)
{
    gyre_kernel *kernel = change->kernel;
    keep_build(kernel, kernel->build);
    keep_build(kernel, change->other.build);
    pthread_mutex_lock(&kernel->runtime->lock);
    const gyre_status status = claims ? claim_buffers(change) : GYRE_OK;
    if (status == GYRE_OK)
        exchange_bodies(change);
    pthread_mutex_unlock(&kernel->runtime->lock);
    if (status != GYRE_OK)
        return status;
    gyre_queue_homes_exchange(&change->homes);
    kernel->generation++; /* what is read of the device meanwhile is of two bodies */
    __atomic_fetch_add(&kernel->changes, 1, __ATOMIC_RELEASE);
    return GYRE_OK;
}

/* Waits until all blocks of a device side that was launched paused report. Without the lock. */
static gyre_status await_report(gyre_kernel *kernel, const gyre_resident *resident)
{
    const uint64_t limit = gyre_clock_ns() + gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL,
                                                            kernel->name, "launch_timeout_ms");
    gyre_status status;
    do {
        const uint64_t look = gyre_clock_ns() + LOOK_NS;
        pthread_mutex_lock(&kernel->lock);
        status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_NOTHING, look < limit ? look : limit);
        pthread_mutex_unlock(&kernel->lock);
        if (!gyre_dispatch_is_current(kernel->dispatch, resident))
            return gyre_error_set(GYRE_LOST, "the worker process died while kernel '%s' was launched",
                                  kernel->name);
    } while (status == GYRE_TIMEOUT && gyre_clock_ns() < limit);
    return status == GYRE_OK
               ? GYRE_OK
               : gyre_error_add(status, "kernel '%s' was launched and did not report", kernel->name);
}

/* Fills the memory of the kernel's present body, and its keeper's. Without the lock. */
static gyre_status fill_memory(const struct gyre_kernel_change *change)
{
    gyre_kernel *kernel = change->kernel;
    if (is_isolated(kernel)) { /* another worker process may have all at other addresses */
        gyre_handles_relocate(kernel->runtime, kernel->dispatch);
        gyre_handles_refresh(kernel);
        gyre_spans_relocate(kernel);
    } else if (change->moves) {
        gyre_handles_refresh(kernel); /* names are those of the device that the kernel is on now */
    }
    const gyre_status status = gyre_carried_put(kernel, &change->carried);
    return status == GYRE_OK ? gyre_keeper_adapt(kernel, change->goes_back) : status;
}

/* Launches the kernel's present body, which then stands and sees no queue. Without the lock. */
static gyre_status launch_paused(const struct gyre_kernel_change *change, gyre_resident **out)
{
    gyre_kernel *kernel = change->kernel;
    *out = NULL;
    gyre_status status = fill_memory(change);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    gyre_control_reset(kernel);
    gyre_kernel_clear_table(kernel);
    gyre_control_order(kernel, GYRE_VERB_PAUSE);
    pthread_mutex_unlock(&kernel->lock);
    if (GYRE_FAULT_POINT(CHANGE_LAUNCH))
        gyre_dispatch_kill(kernel->dispatch, "a fault point said so");
    status = gyre_kernel_launch_device(kernel, false, out);
    return status == GYRE_OK ? await_report(kernel, *out) : status;
}

/* Takes a device side down that was launched in vain. False: it does not leave. Without the lock. */
static bool take_back(gyre_kernel *kernel, gyre_resident **resident)
{
    bool has_left = true;
    if (!*resident)
        return true;
    gyre_error_hold();
    pthread_mutex_lock(&kernel->lock);
    has_left = leave(kernel, *resident) == GYRE_OK || !gyre_dispatch_is_current(kernel->dispatch, *resident);
    pthread_mutex_unlock(&kernel->lock);
    gyre_error_let_go();
    if (has_left)
        *resident = NULL;
    return has_left;
}

/* Launches the kernel's present body, again where a worker process dies meanwhile. *out is not NULL after a failure only when the
 * device side does not leave. Without the lock. */
static gyre_status bring_up(struct gyre_kernel_change *change, gyre_resident **out)
{
    gyre_status status = GYRE_LOST;
    for (int tries = 0; tries < STARTS_MAX && status == GYRE_LOST; tries++) {
        status = launch_paused(change, out);
        if (status != GYRE_OK && !take_back(change->kernel, out))
            return gyre_error_add(GYRE_FAILED, "and it does not leave the device");
    }
    change->stands = status == GYRE_OK;
    return status;
}

static gyre_status convert_state(struct gyre_kernel_change *change)
{
    gyre_kernel *kernel = change->kernel;
    const gyre_type *to = kernel->record->state;
    if (!change->converts || !to->size)
        return GYRE_OK;
    change->carried.grown = calloc(1, to->size + 1);
    if (!change->carried.grown)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the state of kernel '%s'", kernel->name);
    return change->carried.state ? kernel->keeper->convert(kernel, change->carried.type,
                                                           change->carried.state, change->carried.grown)
                                 : GYRE_OK; /* the old handler kept no state */
}

/* Launches the other body in the place of the kernel's. Without the lock. */
static gyre_status bring_other_up(struct gyre_kernel_change *change, gyre_resident **out)
{
    gyre_kernel *kernel = change->kernel;
    gyre_status status =
        change->moves ? gyre_queue_homes_create(kernel, change->other.dispatch, &change->homes) : GYRE_OK;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = exchange(change, true);
    pthread_mutex_unlock(&kernel->lock);
    if (status != GYRE_OK)
        return status;
    status = convert_state(change);
    if (status == GYRE_OK)
        status = bring_up(change, out);
    if (status == GYRE_OK || *out)
        return status;
    pthread_mutex_lock(&kernel->lock);
    (void)exchange(change, false);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

/* ---- the end ---- */

/* Neither body could be launched. Under the lock. */
static void give_up(gyre_kernel *kernel, gyre_status status, const char *why)
{
    const bool dead = status == GYRE_LOST && gyre_control_is_lost(kernel);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        gyre_queue_close_sends(queue);
        if (!kernel->resident)
            gyre_queue_complete_unhandled(queue);
    }
    if (kernel->resident) {
        gyre_kernel_set_state(kernel, GYRE_KERNEL_STOPPING);
    } else {
        gyre_kernel_tell_death(kernel, why);
        gyre_kernel_set_state(kernel,
                              is_isolated(kernel) || dead ? GYRE_KERNEL_LOST : GYRE_KERNEL_TERMINATED);
        gyre_kernel_let_buffers_go(kernel);
    }
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s' is %s: it was to be changed, and %s",
                     kernel->name, gyre_kernel_state_word(gyre_kernel_get_state(kernel)), why);
}

/* Shows the queues to a device side that stands, and lets it run if the kernel is active. Under the lock. */
static void go_on(gyre_kernel *kernel, gyre_resident *resident)
{
    kernel->resident = resident;
    gyre_kernel_write_table(kernel, true);
    gyre_control_order(kernel,
                       gyre_kernel_get_state(kernel) == GYRE_KERNEL_ACTIVE ? GYRE_VERB_RUN : GYRE_VERB_PAUSE);
}

static void end_turn(gyre_kernel *kernel)
{
    kernel->turn.starting = kernel->turn.changing = false;
    pthread_cond_broadcast(&kernel->changed);
}

/* Brings the old body back after `status`. Without the lock. */
static gyre_status bring_back(struct gyre_kernel_change *change, gyre_status status, gyre_resident **out)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", gyre_error_text());
    change->goes_back = true;
    const gyre_status back = bring_up(change, out);
    if (back == GYRE_OK)
        return gyre_error_set(status, "%s (kernel '%s' goes on as it was)", why, change->kernel->name);
    return gyre_error_add(GYRE_LOST,
                          "kernel '%s' could not be changed (%s), and not be launched again as it was",
                          change->kernel->name, why);
}

/* The kernel is this thread's. Under the lock, given up meanwhile. */
static gyre_status change_body(struct gyre_kernel_change *change)
{
    gyre_kernel *kernel = change->kernel;
    gyre_resident *resident = NULL;
    gyre_status status = leave(kernel, kernel->resident);
    if (status == GYRE_OK) {
        pthread_mutex_unlock(&kernel->lock);
        status = bring_other_up(change, &resident);
        if (status != GYRE_OK && !resident)
            status = bring_back(change, status, &resident);
        pthread_mutex_lock(&kernel->lock);
    }
    unclaim_buffers(change);
    gyre_error_hold(); /* a worker process that is told to go on would clear it */
    if (change->stands) {
        go_on(kernel, resident);
    } else {
        kernel->resident = resident ? resident : kernel->resident;
        give_up(kernel, status, gyre_error_text());
    }
    gyre_error_let_go();
    end_turn(kernel);
    return status;
}

gyre_status gyre_change_run(struct gyre_kernel_change *change, uint64_t deadline_ns)
{
    gyre_kernel *kernel = change->kernel;
    pthread_mutex_lock(&kernel->lock);
    gyre_status status = take_kernel(change, deadline_ns);
    if (status == GYRE_OK) {
        status = change_body(change);
        pthread_mutex_unlock(&kernel->lock);
        let_buffers_move(change);
        pthread_mutex_lock(&kernel->lock);
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

void gyre_change_finish(struct gyre_kernel_change *change)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < change->buffer_count; i++)
        gyre_dispatch_memory_release(change->buffer_device, change->buffers[i].memory);
    free(change->buffers);
    gyre_queue_homes_destroy(&change->homes);
    gyre_carried_finish(&change->carried);
    if (change->other.memory.state && change->other.memory.state != change->kernel->memory.state)
        gyre_dispatch_memory_release(change->other.dispatch, change->other.memory.state);
    if (change->other.memory.initial_state != change->kernel->memory.initial_state)
        free(change->other.memory.initial_state);
    if (change->other.memory.buffers != change->kernel->memory.buffers)
        free(change->other.memory.buffers);
    gyre_build_release(change->other.build);
    gyre_error_let_go();
}
