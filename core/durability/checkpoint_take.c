/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes checkpoints. The kernel is paused at a message boundary (no handler runs), its state is copied, and the kernel goes on
 * while the copy is fetched, hashed and committed. A thread of the kernel takes a checkpoint when one is due. Locks and flags:
 * checkpoint.h.
 */
#include "core/durability/checkpoint_take.h"

#include "core/base/clock.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/snapshot.h"

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/threads.h"
#include "core/durability/checkpoint_draw.h"
#include "core/durability/durable.h"
#include "core/durability/durable_thread.h"
#include "core/durability/lead.h"
#include "core/kernel/node_keep.h"
#include "core/kernel/standstill.h"
#include "core/kernel/turn.h"
#include "core/kernel/keyed.h"
#include "core/kernel/kernel_queue.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"
#include "core/stages/log.h"

#define RETRY_NS UINT64_C(200000)
#define TICK_NS  UINT64_C(10000000) /* until the next look whether a key has to be reminded */

/* ---- taking one ---- */

/* Under the lock: an error when no checkpoint of the kernel can be taken now. */
static gyre_status check_takeable(const gyre_kernel *kernel)
{
    if (!kernel->resident)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s: there is nothing to take a checkpoint of",
                              kernel->name, gyre_kernel_state_word(gyre_kernel_get_state(kernel)));
    if (gyre_node_saves_together(kernel))
        return gyre_error_set(GYRE_AGAIN, "it became a stage of a pipeline meanwhile");
    return gyre_standstill_check(kernel);
}

/* Pauses the kernel and copies its state. Under the lock, given up while bytes are copied. */
static gyre_status copy_at_boundary(gyre_kernel *kernel, uint64_t deadline_ns)
{
    uint64_t begun = gyre_clock_ns(), generation = kernel->generation;
    gyre_status status = gyre_standstill_begin(kernel, deadline_ns);
    if (status == GYRE_OK) {
        gyre_checkpoint_look(kernel);
        pthread_mutex_unlock(&kernel->lock);
        status =
            GYRE_FAULT_POINT(CHECKPOINT_COPY)
                ? gyre_error_set(GYRE_EXHAUSTED, "no memory to copy what kernel '%s' keeps", kernel->name)
                : gyre_snapshot_take(kernel);
        pthread_mutex_lock(&kernel->lock);
    }
    gyre_standstill_end(kernel, generation);
    if (status == GYRE_OK)
        gyre_checkpoint_note_pause(kernel->checkpoints, begun);
    return status;
}

/* Under the lock: AGAIN when the copy does not come from the kernel's present device and present run. */
static gyre_status check_same_life(const gyre_kernel *kernel, uint64_t generation)
{
    const gyre_resident *resident = kernel->resident;
    if (kernel->generation != generation ||
        (resident && !gyre_dispatch_is_current(kernel->dispatch, resident)))
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", kernel->name);
    if (!resident)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' ended before its checkpoint was whole", kernel->name);
    return GYRE_OK;
}

/* Makes the stored copy the last checkpoint, also in the journal. `last`: no request was handled behind it. Under the lock, given
 * up while the journal is written. */
static gyre_status commit_checkpoint(gyre_kernel *kernel, uint64_t generation, bool last)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    gyre_status status = check_same_life(kernel, generation);
    if (status != GYRE_OK)
        return status;
    gyre_checkpoint_count(kernel, checkpoints);
    pthread_mutex_unlock(&kernel->lock);
    gyre_durable_checkpoint(kernel, last);
    pthread_mutex_lock(&kernel->lock);
    return GYRE_OK;
}

/* Stores and commits the copy. Under the lock, given up while the copy is fetched. */
static gyre_status store_copy(gyre_kernel *kernel, uint64_t generation)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_snapshot_fetch(kernel);
    if (status == GYRE_OK && checkpoints->part_count)
        gyre_store_seal(&checkpoints->store);
    pthread_mutex_lock(&kernel->lock);
    return status == GYRE_OK ? commit_checkpoint(kernel, generation, false) : status;
}

/*
 * Takes a checkpoint. AGAIN: the kernel was changed meanwhile, or is being revived; TIMEOUT: a handler does not return; CLOSED:
 * the kernel does not run. Without locks.
 */
static gyre_status take_checkpoint(gyre_kernel *kernel, uint64_t deadline_ns)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (gyre_node_is_saved_together(kernel))
        return gyre_node_save_pipeline(kernel, deadline_ns);
    pthread_mutex_lock(&checkpoints->taking);
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    uint64_t generation = kernel->generation;
    gyre_status status = check_takeable(kernel);
    if (status == GYRE_OK) {
        checkpoints->writing = true;
        kernel->turn.inside++;
        status = copy_at_boundary(kernel, deadline_ns);
        if (status == GYRE_OK)
            status = store_copy(kernel, generation);
        kernel->turn.inside--;
        checkpoints->writing = false;
        pthread_cond_broadcast(&kernel->changed);
    }
    pthread_mutex_unlock(&kernel->lock);
    pthread_mutex_unlock(&checkpoints->taking);
    return status;
}

static uint64_t stop_deadline(const gyre_kernel *kernel)
{
    return gyre_clock_ns() +
           gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms");
}

static bool is_worth_another_try(gyre_status status, uint64_t deadline_ns)
{
    bool again = status == GYRE_AGAIN || status == GYRE_LOST || status == GYRE_TIMEOUT;
    return again && gyre_clock_ns() < deadline_ns;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, RETRY_NS}, NULL);
}

static gyre_status take_until(gyre_kernel *kernel, uint64_t deadline_ns)
{
    gyre_status status;
    for (;;) {
        uint64_t boundary = stop_deadline(kernel);
        status = take_checkpoint(kernel, boundary < deadline_ns ? boundary : deadline_ns);
        if (!is_worth_another_try(status, deadline_ns))
            return status == GYRE_AGAIN ? gyre_error_add(GYRE_TIMEOUT, "no checkpoint could be taken")
                                        : status;
        nap();
    }
}

gyre_status gyre_kernel_checkpoint(gyre_kernel *kernel, uint64_t deadline_ns)
{
    if (!kernel)
        return gyre_error_set(GYRE_INVALID, "gyre_kernel_checkpoint needs a kernel");
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_kernel_checkpoint");
    if (status == GYRE_OK && !kernel->checkpoints)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' has no checkpoints: set checkpoints = true for it, and give its "
                              "handler something to keep",
                              kernel->name);
    return status == GYRE_OK ? take_until(kernel, deadline_ns) : status;
}

/*
 * Takes one more checkpoint before the queue is freed, because its requests since the last checkpoint could not be handled
 * again without the queue. Takes none when a handler does not return.
 */
void gyre_checkpoints_settle(gyre_kernel *kernel, gyre_queue *queue)
{
    if (!gyre_log_of(queue) || gyre_view_of(queue)->of_pipeline)
        return;
    gyre_error_hold();
    gyre_status status = take_until(kernel, stop_deadline(kernel));
    gyre_error_let_go();
    if (status != GYRE_OK && status != GYRE_CLOSED)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                         "queue '%s' of kernel '%s' is closed without a checkpoint, because a handler does "
                         "not come back; what it did cannot be repeated after a crash",
                         gyre_queue_name(queue), kernel->name);
}

/* ---- the last one ---- */

/* Under the lock, given up meanwhile. The caller has set `writing`. */
static gyre_status take_still(gyre_kernel *kernel, uint64_t generation, bool last)
{
    gyre_status status = check_same_life(kernel, generation);
    if (status != GYRE_OK)
        return status;
    gyre_checkpoint_look(kernel);
    pthread_mutex_unlock(&kernel->lock);
    status = gyre_checkpoint_read(kernel);
    pthread_mutex_lock(&kernel->lock);
    return status == GYRE_OK ? commit_checkpoint(kernel, generation, last) : status;
}

/* Waits for another thread that takes a checkpoint, because that thread made its copy before and will finish. Then takes one of a
 * state that does not change any more; AGAIN when a worker process died while this thread waited, because the kernel that was brought back
 * since may run. */
static gyre_status take_after_others(gyre_kernel *kernel, bool last)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    const uint64_t generation = kernel->generation;
    kernel->turn.inside++;
    while (checkpoints->writing)
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    checkpoints->writing = true;
    const gyre_status status = take_still(kernel, generation, last);
    checkpoints->writing = false;
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
    return status;
}

gyre_status gyre_checkpoints_stand(gyre_kernel *kernel)
{
    return kernel->checkpoints ? take_after_others(kernel, false) : GYRE_OK;
}

void gyre_checkpoints_finish(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints || !gyre_durable_has(kernel))
        return;
    gyre_error_hold();
    const gyre_status status = take_after_others(kernel, true);
    if (status != GYRE_OK)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_WARNING,
            "kernel '%s' ends without a last checkpoint, so the next run handles again what came since "
            "the one before: %s",
            kernel->name, gyre_error_text());
    gyre_error_let_go();
}

/* ---- the thread ---- */

/* Under the lock: the number of requests since the last checkpoint. *soon: look again shortly; *now: a checkpoint is due at
 * any age. */
static uint64_t look_behind(const gyre_kernel *kernel, bool *soon, bool *now)
{
    const struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    uint64_t behind = 0, every = checkpoints->every_messages;
    *soon =
        kernel->turn.starting; /* look again later, since a thread that asks meanwhile does not ask twice */
    for (gyre_queue *queue = gyre_lead_first(checkpoints, kernel); kernel->resident && queue;
         queue = gyre_lead_next(checkpoints, queue)) {
        uint64_t here = gyre_queue_log_behind(queue);
        uint64_t half = (gyre_ring_of(queue)->capacity + gyre_log_of(queue)->count) / 2;
        *soon = gyre_queue_log_asks(queue) || *soon;
        *now = *now || here >= (every < half ? every : half) ||
               (here && !gyre_queue_log_has_room(queue, gyre_queue_next_index(queue)));
        behind += here;
    }
    return behind;
}

/* True when a checkpoint is due. Else *pause_ns is the time until the next look, unless the bell rings. */
static bool is_due(gyre_kernel *kernel, uint64_t last_ns, uint64_t *pause_ns)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    uint64_t every = checkpoints->every_ns, age = gyre_clock_ns() - last_ns;
    bool soon = false, now = __atomic_exchange_n(&checkpoints->wanted, 0, __ATOMIC_ACQUIRE) != 0;
    pthread_mutex_lock(&kernel->lock);
    uint64_t behind = look_behind(kernel, &soon, &now);
    pthread_mutex_unlock(&kernel->lock);
    *pause_ns = soon ? RETRY_NS : every == UINT64_MAX ? UINT64_MAX : age < every ? every - age : every;
    return now || (behind && age >= every);
}

static void *take_when_due(void *argument)
{
    gyre_kernel *kernel = argument;
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    uint64_t last = gyre_clock_ns(), rest_until = 0, pause = 0;
    while (!__atomic_load_n(&checkpoints->stop, __ATOMIC_ACQUIRE)) {
        uint32_t seen = __atomic_load_n(&checkpoints->bell, __ATOMIC_ACQUIRE); /* before the look */
        const uint64_t now = gyre_clock_ns();
        if (now < rest_until) {
            pause = rest_until - now;
        } else if (is_due(kernel, last, &pause)) {
            const gyre_status status = take_checkpoint(kernel, stop_deadline(kernel));
            const uint64_t ended = gyre_clock_ns();
            if (status == GYRE_OK)
                last = ended;
            if (status == GYRE_TIMEOUT) /* messages get as much time as it held them up in vain */
                rest_until = ended + (ended - now);
            pause = RETRY_NS;
        }
        if (gyre_keyed_tick(kernel) && pause > TICK_NS)
            pause = TICK_NS;
        if (!__atomic_load_n(&checkpoints->stop, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&checkpoints->bell, seen, pause == UINT64_MAX ? pause : gyre_clock_ns() + pause);
    }
    return NULL;
}

gyre_status gyre_checkpoints_start(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints)
        return GYRE_OK;
    gyre_status status = gyre_thread_need(&checkpoints->thread, take_when_due, kernel,
                                          "for the checkpoints of kernel '%s'", kernel->name);
    checkpoints->runs = status == GYRE_OK;
    return status;
}

void gyre_checkpoints_stop(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints || !checkpoints->runs)
        return;
    __atomic_store_n(&checkpoints->stop, 1, __ATOMIC_RELEASE);
    gyre_checkpoints_ring(checkpoints);
    pthread_join(checkpoints->thread, NULL);
    checkpoints->runs = false;
}
