/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking checkpoints: the kernel is paused at a message boundary, what its handler keeps is copied, and it
 * goes on; the copy is fetched, hashed and committed while it does. Locks and flags: checkpoint.h.
 */
#include "core/runtime/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/ring/behaviours.h"
#include "core/ring/log.h"
#include "core/runtime/durable.h"

#define RETRY_NS UINT64_C(200000)

/* ---- making ---- */

bool gyre_kernel_keeps_something(const gyre_kernel *kernel)
{
    return kernel->record->state->size > 0 || strstr(kernel->record->buffers, "inout ") != NULL;
}

static void add_part(struct gyre_checkpoints *checkpoints, gyre_memory *memory, uint64_t size)
{
    checkpoints->parts[checkpoints->part_count++] =
        (struct gyre_checkpoint_part){.memory = memory, .size = size};
}

static gyre_status find_parts(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    checkpoints->parts = calloc((size_t)list.count + 1, sizeof *checkpoints->parts);
    if (status == GYRE_OK && !checkpoints->parts)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    if (status == GYRE_OK && kernel->state)
        add_part(checkpoints, kernel->state, kernel->record->state->size);
    for (uint32_t i = 0; status == GYRE_OK && i < list.count; i++)
        if (list.slots[i].writable && gyre_kernel_setting(kernel, "checkpoint_buffers")) {
            add_part(checkpoints, kernel->buffers[i]->memory, kernel->buffers[i]->size);
            __atomic_store_n(&kernel->buffers[i]->in_checkpoints, true, __ATOMIC_RELAXED);
        }
    gyre_buffer_list_finish(&list);
    return status;
}

static uint64_t size_of_parts(const struct gyre_checkpoints *checkpoints)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < checkpoints->part_count; i++)
        size += checkpoints->parts[i].size;
    return size;
}

/* Blocks that share a queue leave holes behind, which only a device that skips can be told of. */
static gyre_status check_shape(const gyre_kernel *kernel)
{
    if (kernel->blocks == 1 || gyre_dispatch_device_info(kernel->dispatch)->can_skip)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "kernel '%s' has checkpoints and %u blocks, "
                          "which backend '%s' cannot resume: use blocks = 1",
                          kernel->name, kernel->blocks, gyre_dispatch_backend(kernel->dispatch));
}

static gyre_status make_replay_queue(gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    enum { BYTES = 1 << 20 };
    uint64_t stride = gyre_slot_stride((uint32_t)kernel->record->request->size);
    gyre_queue_desc desc = {
        .size = sizeof desc, .name = kernel->name, .capacity = 1, .policy = GYRE_FULL_REJECT};
    while (desc.capacity < REPLAY_SLOTS_MAX && desc.capacity * 2 * stride <= BYTES)
        desc.capacity *= 2;
    checkpoints->request = malloc(kernel->record->request->size + 1);
    if (!checkpoints->request)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    gyre_status status = gyre_kernel_make_queue(kernel, &desc, kernel->name, &checkpoints->replay);
    if (status == GYRE_OK)
        gyre_queue_expiry_never(checkpoints->replay); /* what was in time then is in time again */
    return status;
}

static void read_settings(const gyre_kernel *kernel, struct gyre_checkpoints *checkpoints)
{
    uint64_t ns = gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "checkpoint_ms");
    uint64_t messages = (uint64_t)gyre_kernel_setting(kernel, "checkpoint_messages");
    checkpoints->every_ns = ns ? ns : UINT64_MAX;
    checkpoints->every_messages = messages ? messages : UINT64_MAX;
}

void gyre_checkpoints_judge(const gyre_kernel *kernel)
{
    const gyre_queue *queue = kernel->main_queue;
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    if (!gyre_kernel_setting(kernel, "checkpoints"))
        return;
    if (!kernel->checkpoints)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                         "kernel '%s' has checkpoints = true, and nothing is kept: its handler keeps nothing",
                         kernel->name);
    else if (!isolated && !(queue && queue->durable) && gyre_config_may_put_back(kernel->runtime->config))
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                         "checkpoints = true of kernel '%s' has no effect: nothing puts them back without "
                         "backend.%s.isolation = process, or queue.%s.durability = journal",
                         kernel->name, gyre_dispatch_backend(kernel->dispatch), kernel->name);
    else if (!isolated && queue && queue->durable)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_INFO,
            "checkpoints of kernel '%s' are put back when the program starts again, and not when a "
            "handler crashes, which takes the program with it (backend.%s.isolation = none)",
            kernel->name, gyre_dispatch_backend(kernel->dispatch));
}

gyre_status gyre_checkpoints_create(gyre_kernel *kernel)
{
    if (!gyre_kernel_setting(kernel, "checkpoints") || !gyre_kernel_keeps_something(kernel))
        return GYRE_OK;
    struct gyre_checkpoints *checkpoints = calloc(1, sizeof *checkpoints);
    if (!checkpoints)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints");
    checkpoints->store.region = GYRE_REGION_NONE;
    pthread_mutex_init(&checkpoints->taking, NULL);
    kernel->checkpoints = checkpoints; /* what is there of it is freed with the kernel */
    gyre_witness_prepare(kernel);
    read_settings(kernel, checkpoints);
    gyre_status status = check_shape(kernel);
    if (status == GYRE_OK)
        status = find_parts(kernel, checkpoints);
    if (status == GYRE_OK && checkpoints->part_count)
        status = gyre_store_create(size_of_parts(checkpoints), &checkpoints->store);
    if (status == GYRE_OK)
        gyre_snapshot_prepare(kernel);
    return status == GYRE_OK ? make_replay_queue(kernel, checkpoints) : status;
}

void gyre_checkpoints_destroy(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints)
        return;
    if (checkpoints->replay)
        gyre_kernel_free_queue(kernel, checkpoints->replay);
    gyre_snapshot_release(kernel);
    gyre_store_destroy(&checkpoints->store);
    pthread_mutex_destroy(&checkpoints->taking);
    free(checkpoints->parts);
    free(checkpoints->request);
    gyre_layout_destroy(checkpoints->reply);
    free(checkpoints);
    kernel->checkpoints = NULL;
}

/* ---- queues ---- */

static void ring(void *context)
{
    struct gyre_checkpoints *checkpoints = context;
    gyre_bell_ring(&checkpoints->bell, INT_MAX);
}

/* Whether the kernel can have this queue as well. */
static gyre_status check_company(const gyre_kernel *kernel, const gyre_queue *queue)
{
    const gyre_queue *replay = kernel->checkpoints->replay;
    bool alone = kernel->record->form == GYRE_FORM_ACTOR || (kernel->queues && kernel->queues->durable);
    if (alone && kernel->queues)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' is an actor with checkpoints, "
                              "or has a queue with a journal, and has one queue: "
                              "in which order it took requests from several could not be repeated",
                              kernel->name);
    if (queue->header_size != replay->header_size)
        return gyre_error_set(
            GYRE_INVALID,
            "queue '%s' of kernel '%s' has headers of %u bytes, and with checkpoints all its "
            "queues have headers of one size, which is %u",
            queue->name, kernel->name, queue->header_size, replay->header_size);
    return GYRE_OK;
}

static gyre_status make_log(const gyre_kernel *kernel, gyre_queue *queue, const struct gyre_durable *durable)
{
    uint64_t bytes = kernel->checkpoints ? (uint64_t)gyre_kernel_setting(kernel, "replay_log") : 0;
    uint64_t least = durable ? gyre_queue_log_bytes(queue, gyre_durable_log_count(durable)) : 0;
    gyre_status status = gyre_queue_log_create(queue, kernel->checkpoints && bytes < least ? least : bytes);
    if (status != GYRE_OK || !kernel->checkpoints)
        return status;
    queue->log->ask = ring;
    queue->log->ask_context = kernel->checkpoints;
    gyre_queue_log_restart(queue, kernel->checkpoints->every_messages);
    return GYRE_OK;
}

gyre_status gyre_checkpoints_equip(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable)
{
    gyre_status status = GYRE_OK;
    queue->durable = durable;
    if (kernel->checkpoints)
        status = check_company(kernel, queue);
    if (status == GYRE_OK && (kernel->checkpoints || durable))
        status = make_log(kernel, queue, durable);
    if (status == GYRE_OK && durable)
        status = gyre_durable_attach(durable, queue);
    return status;
}

void gyre_checkpoints_rewind(gyre_kernel *kernel, gyre_queue *queue)
{
    if (queue->log)
        gyre_queue_log_restart(queue, kernel->checkpoints->every_messages);
}

static bool has_part(const struct gyre_checkpoints *checkpoints, const gyre_memory *memory)
{
    for (uint32_t i = 0; i < checkpoints->part_count; i++)
        if (checkpoints->parts[i].memory == memory)
            return true;
    return false;
}

uint64_t gyre_checkpoints_generation(const gyre_buffer *buffer)
{
    uint64_t generation = 0;
    size_t count = 0;
    if (!__atomic_load_n(&buffer->in_checkpoints, __ATOMIC_RELAXED))
        return 0;
    gyre_kernel **kernels = gyre_kernels_visit(buffer->runtime, buffer->dispatch, &count);
    for (size_t i = 0; kernels && i < count; i++) {
        gyre_kernel *kernel = kernels[i];
        pthread_mutex_lock(&kernel->lock);
        if (kernel->checkpoints && has_part(kernel->checkpoints, buffer->memory)) {
            while (kernel->starting)
                pthread_cond_wait(&kernel->changed, &kernel->lock);
            generation += kernel->generation;
        }
        pthread_mutex_unlock(&kernel->lock);
        gyre_kernel_leave(kernel);
    }
    free(kernels);
    return generation;
}

/* ---- the first one ---- */

/* One of an earlier run may still be on its way into the store.
 * None is begun, since the kernel is not there. */
static void await_writer(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    while (kernel->checkpoints->writing)
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_checkpoints_begin(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints || !checkpoints->part_count)
        return GYRE_OK;
    const unsigned char *earlier = gyre_durable_state(kernel);
    gyre_status status = GYRE_OK;
    await_writer(kernel);
    gyre_store_clear(&checkpoints->store);
    if (earlier)
        memcpy(gyre_store_next(&checkpoints->store), earlier, checkpoints->store.size);
    else
        status = gyre_snapshot_read(kernel);
    if (status != GYRE_OK)
        return gyre_error_add(status, "while the first checkpoint of kernel '%s' was taken", kernel->name);
    gyre_store_seal(&checkpoints->store);
    gyre_store_commit(&checkpoints->store);
    return earlier ? gyre_replay_restore(kernel) : GYRE_OK;
}

/* ---- taking one ---- */

/* Under the lock. Requests behind a gate are being handed out one by one, which a pause would disturb. */
static gyre_status check_takeable(const gyre_kernel *kernel)
{
    if (!kernel->resident)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s: there is nothing to take a checkpoint of",
                              kernel->name, gyre_kernel_state_word(gyre_kernel_get_state(kernel)));
    for (const gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        if (queue->gate != UINT64_MAX)
            return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being brought back", kernel->name);
    return GYRE_OK;
}

static gyre_status pause_kernel(gyre_kernel *kernel, uint64_t deadline_ns)
{
    if (gyre_control_verb(kernel) == GYRE_VERB_RUN) {
        kernel->paused_to_save = true;
        gyre_control_order(kernel, GYRE_VERB_PAUSE);
    }
    gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_TURN, deadline_ns);
    return status == GYRE_CLOSED
               ? gyre_error_set(GYRE_AGAIN, "kernel '%s' is being changed by another thread", kernel->name)
               : status;
}

/* Whoever brought the kernel back meanwhile has let it run as well. */
static void go_on(gyre_kernel *kernel, uint64_t generation)
{
    if (kernel->generation != generation || !kernel->paused_to_save)
        return;
    kernel->paused_to_save = false;
    gyre_control_order(kernel, GYRE_VERB_RUN);
}

static void note_pause(struct gyre_checkpoints *checkpoints, uint64_t begun_ns)
{
    checkpoints->pause_ns = gyre_clock_ns() - begun_ns;
    if (checkpoints->pause_ns > checkpoints->longest_pause_ns)
        checkpoints->longest_pause_ns = checkpoints->pause_ns;
}

/* Under the lock, which is given up while bytes are copied. */
static gyre_status copy_at_boundary(gyre_kernel *kernel, uint64_t deadline_ns)
{
    uint64_t begun = gyre_clock_ns(), generation = kernel->generation;
    kernel->saving = true;
    gyre_status status = pause_kernel(kernel, deadline_ns);
    if (status == GYRE_OK && kernel->generation != generation)
        status = gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", kernel->name);
    for (gyre_queue *queue = kernel->queues; status == GYRE_OK && queue; queue = queue->next)
        gyre_queue_log_look(queue);
    if (status == GYRE_OK) {
        pthread_mutex_unlock(&kernel->lock);
        status =
            GYRE_FAULT_POINT(CHECKPOINT_COPY)
                ? gyre_error_set(GYRE_EXHAUSTED, "no memory to copy what kernel '%s' keeps", kernel->name)
                : gyre_snapshot_take(kernel);
        pthread_mutex_lock(&kernel->lock);
    }
    go_on(kernel, generation);
    if (status == GYRE_OK)
        note_pause(kernel->checkpoints, begun);
    kernel->saving = false;
    pthread_cond_broadcast(&kernel->changed);
    return status;
}

/* Under the lock: what was fetched is of the device that made it, and of this life of the kernel. */
static gyre_status check_same_life(const gyre_kernel *kernel, uint64_t generation)
{
    if (kernel->generation != generation ||
        (kernel->resident && !gyre_dispatch_is_current(kernel->dispatch, kernel->resident)))
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", kernel->name);
    if (!kernel->resident)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' ended before its checkpoint was whole", kernel->name);
    return GYRE_OK;
}

/* Under the lock. */
static gyre_status commit(gyre_kernel *kernel, uint64_t generation)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    gyre_status status = check_same_life(kernel, generation);
    if (status != GYRE_OK)
        return status;
    (void)GYRE_FAULT_POINT(CHECKPOINT_COMMIT);
    if (checkpoints->part_count)
        gyre_store_commit(&checkpoints->store);
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next)
        gyre_queue_log_commit(queue, checkpoints->every_messages);
    checkpoints->taken++;
    return GYRE_OK;
}

/* Under the lock, which is given up while the kernel runs and its copy is stored. */
static gyre_status store(gyre_kernel *kernel, uint64_t generation)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_snapshot_fetch(kernel);
    if (status == GYRE_OK && checkpoints->part_count)
        gyre_store_seal(&checkpoints->store);
    pthread_mutex_lock(&kernel->lock);
    if (status == GYRE_OK)
        status = commit(kernel, generation);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_unlock(&kernel->lock);
    gyre_durable_checkpoint(kernel);
    pthread_mutex_lock(&kernel->lock);
    return GYRE_OK;
}

gyre_status gyre_checkpoint_take(gyre_kernel *kernel, uint64_t deadline_ns)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    pthread_mutex_lock(&checkpoints->taking);
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    uint64_t generation = kernel->generation;
    gyre_status status = check_takeable(kernel);
    if (status == GYRE_OK) {
        checkpoints->writing = true;
        kernel->inside++;
        status = copy_at_boundary(kernel, deadline_ns);
        if (status == GYRE_OK)
            status = store(kernel, generation);
        kernel->inside--;
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
        status = gyre_checkpoint_take(kernel, boundary < deadline_ns ? boundary : deadline_ns);
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
 * What a queue did to the state since the last checkpoint could not be repeated without it. A handler that
 * does not come back makes that impossible.
 */
void gyre_checkpoints_settle(gyre_kernel *kernel, gyre_queue *queue)
{
    if (!queue->log)
        return;
    gyre_error_hold();
    gyre_status status = take_until(kernel, stop_deadline(kernel));
    gyre_error_let_go();
    if (status != GYRE_OK && status != GYRE_CLOSED)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                         "queue '%s' of kernel '%s' is closed without a checkpoint, because a handler does "
                         "not come back; what it did cannot be repeated after a crash",
                         queue->name, kernel->name);
}

/* ---- the thread ---- */

/* Under the lock: what there is to save. *soon: look again shortly; *now: it is due whatever its age. */
static uint64_t look_behind(const gyre_kernel *kernel, bool *soon, bool *now)
{
    uint64_t behind = 0, every = kernel->checkpoints->every_messages;
    *soon = kernel->starting; /* also again: who asks meanwhile does not ask once more */
    for (gyre_queue *queue = kernel->queues; kernel->resident && queue; queue = queue->next) {
        uint64_t here = gyre_queue_log_behind(queue);
        uint64_t half = (queue->capacity + queue->log->count) / 2;
        *soon = gyre_queue_log_asks(queue) || *soon;
        *now = *now || here >= (every < half ? every : half) ||
               (here && !gyre_queue_log_has_room(queue, gyre_queue_next_index(queue)));
        behind += here;
    }
    return behind;
}

/* Whether one is due, and else how long nobody needs to look, unless the bell rings. */
static bool is_due(gyre_kernel *kernel, uint64_t last_ns, uint64_t *pause_ns)
{
    uint64_t every = kernel->checkpoints->every_ns, age = gyre_clock_ns() - last_ns;
    bool soon = false, now = __atomic_exchange_n(&kernel->checkpoints->wanted, 0, __ATOMIC_ACQUIRE) != 0;
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
    uint64_t last = gyre_clock_ns(), pause = 0;
    while (!__atomic_load_n(&checkpoints->stop, __ATOMIC_ACQUIRE)) {
        uint32_t seen = __atomic_load_n(&checkpoints->bell, __ATOMIC_ACQUIRE); /* before the look */
        if (is_due(kernel, last, &pause)) {
            if (gyre_checkpoint_take(kernel, stop_deadline(kernel)) == GYRE_OK)
                last = gyre_clock_ns();
            pause = RETRY_NS;
        }
        if (!__atomic_load_n(&checkpoints->stop, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&checkpoints->bell, seen, pause == UINT64_MAX ? pause : gyre_clock_ns() + pause);
    }
    return NULL;
}

void gyre_checkpoints_want(gyre_kernel *kernel)
{
    __atomic_store_n(&kernel->checkpoints->wanted, 1, __ATOMIC_RELEASE);
    ring(kernel->checkpoints);
}

gyre_status gyre_checkpoints_start(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints)
        return GYRE_OK;
    checkpoints->runs = pthread_create(&checkpoints->thread, NULL, take_when_due, kernel) == 0;
    return checkpoints->runs
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no thread for the checkpoints of kernel '%s'", kernel->name);
}

void gyre_checkpoints_stop(gyre_kernel *kernel)
{
    struct gyre_checkpoints *checkpoints = kernel->checkpoints;
    if (!checkpoints || !checkpoints->runs)
        return;
    __atomic_store_n(&checkpoints->stop, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&checkpoints->bell, INT_MAX);
    pthread_join(checkpoints->thread, NULL);
    checkpoints->runs = false;
}
