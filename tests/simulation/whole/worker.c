/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See worker.h; contracts in core/isolation/proxy.h. One thread has the turn at a time (schedule.h), so nothing here
 * is locked: what is read between two steps belongs together. Threads sleep at the device's address.
 */
#include "worker.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/isolation/proxy.h"
#include "core/isolation/worker_return.h"
#include "gyre/waiting.h"
#include "handler.h"
#include "schedule.h"

enum state { UP, DOWN, GONE };

struct gyre_memory {
    gyre_memory *next;
    gyre_device *device;
    uint64_t size;
    bool given;                    /* the program wrote to it */
    unsigned char *bytes, *mirror; /* the device's, and what the program wrote last */
};

struct gyre_queue_memory {
    uint64_t address;
};

struct gyre_resident {
    gyre_resident *next;
    gyre_device *device;
    uint64_t incarnation;
    pthread_t thread;
    struct schedule_thread *scheduled; /* NULL before its first turn */
    gyre_control_region *control;
    gyre_memory *state;
    bool left, dead;
    /* of its thread */
    gyre_u64 command;
    uint32_t queue_count;
    struct served {
        gyre_control_queue entry;
        gyre_u64 next;
    } queues[GYRE_QUEUES_MAX];
};

struct gyre_device {
    enum state state;
    bool alive, quits;
    uint64_t incarnation; /* of the worker that is up, or comes up */
    uint32_t calls;       /* under way, in other threads than the keeper's */
    pthread_t thread;
    struct schedule_thread *keeper;
    bool (*lost)(void *context);
    void *lost_context;
    gyre_memory *memories;
    gyre_resident *residents;
    char reason[128];
};

static gyre_device *only;
static uint64_t frailty, deaths;

void whole_worker_frailty(uint64_t one_in)
{
    frailty = one_in;
}

uint64_t whole_worker_deaths(void)
{
    return deaths;
}

/* ---- death ---- */

static void scramble(gyre_memory *memory)
{
    for (uint64_t i = 0; i < memory->size; i++)
        memory->bytes[i] = (unsigned char)schedule_draw(256);
}

/* Does not return in a thread of the worker. */
static void die(gyre_device *device, const char *reason)
{
    gyre_resident *mine = NULL;
    if (!device->alive)
        return;
    device->alive = false;
    deaths++;
    frailty += frailty / 8; /* what lives to do more gets further, so that each run ends */
    snprintf(device->reason, sizeof device->reason, "%s", reason);
    if (device->state == UP)
        device->state = DOWN;
    for (gyre_memory *memory = device->memories; memory; memory = memory->next)
        scramble(memory);
    for (gyre_resident *resident = device->residents; resident; resident = resident->next) {
        if (resident->left || resident->dead)
            continue;
        resident->dead = true;
        if (resident->scheduled == schedule_self())
            mine = resident;
        else if (resident->scheduled)
            schedule_freeze(resident->scheduled);
    }
    schedule_wake(device, INT_MAX);
    if (mine)
        schedule_freeze(mine->scheduled);
}

void whole_worker_kill(void)
{
    if (only)
        die(only, "killed");
}

/* A step of the worker. */
static void work(gyre_device *device)
{
    schedule_step();
    if (frailty && schedule_draw(frailty) == 0)
        die(device, "signal 11");
}

/* ---- the resident kernel ---- */

static gyre_slot *slot_of(const struct served *queue, gyre_u64 offset, uint32_t stride)
{
    unsigned char *region = (unsigned char *)(uintptr_t)queue->entry.address;
    return (gyre_slot *)(void *)(region + offset +
                                 (queue->next & (queue->entry.slots.capacity - 1)) * stride);
}

static const gyre_slot *request_of(const struct served *queue)
{
    return slot_of(queue, queue->entry.slots.request_offset, queue->entry.slots.request_stride);
}

static gyre_slot *reply_of(const struct served *queue)
{
    return slot_of(queue, queue->entry.slots.reply_offset, queue->entry.slots.reply_stride);
}

static bool is_ready(const struct served *queue)
{
    return queue->entry.address &&
           __atomic_load_n(&request_of(queue)->sequence, __ATOMIC_ACQUIRE) == queue->next + 1;
}

static void publish(gyre_resident *resident, struct served *queue)
{
    gyre_queue_region *region = (gyre_queue_region *)(uintptr_t)queue->entry.address;
    gyre_control_block *line = (gyre_control_block *)(resident->control + 1);
    __atomic_store_n(&reply_of(queue)->sequence, queue->next + 1, __ATOMIC_RELEASE);
    queue->next++;
    line->handled++;
    line->heartbeat++;
    work(resident->device);
    if (__atomic_load_n(&region->host.waiting, __ATOMIC_ACQUIRE))
        gyre_bell_ring(&region->device.bell, INT_MAX);
}

static void handle(gyre_resident *resident, struct served *queue, uint64_t number)
{
    gyre_device *device = resident->device;
    whole_state *state = (whole_state *)(void *)resident->state->bytes;
    gyre_slot *reply = reply_of(queue);
    work(device);
    whole_handle_begin(state);
    work(device);
    if (whole_is_poison(number))
        die(device, "signal 11");
    whole_handle_end(state, number);
    work(device);
    memcpy(reply + 1, &state->count, sizeof state->count);
    reply->length = sizeof *state;
    work(device);
    memcpy(reply + 1, state, sizeof *state);
    reply->info = GYRE_OUTCOME_REPLY;
    work(device);
    publish(resident, queue);
}

static bool serve(gyre_resident *resident, struct served *queue)
{
    whole_request request;
    if (!is_ready(queue))
        return false;
    const gyre_queue_region *region = (const gyre_queue_region *)(uintptr_t)queue->entry.address;
    const gyre_slot *slot = request_of(queue);
    if (slot->info == GYRE_REQUEST_ANSWERED) {
        queue->next++;
    } else if (queue->next < __atomic_load_n(&region->host.drop_before, __ATOMIC_ACQUIRE)) {
        reply_of(queue)->length = 0;
        reply_of(queue)->info = GYRE_OUTCOME_DROPPED;
        publish(resident, queue);
    } else {
        memcpy(&request, slot + 1, sizeof request);
        handle(resident, queue, request.number);
    }
    return true;
}

static void read_table(gyre_resident *resident)
{
    gyre_control_region *control = resident->control;
    resident->queue_count = control->command.queue_count;
    for (uint32_t i = 0; i < resident->queue_count; i++) {
        struct served *queue = &resident->queues[i];
        const gyre_control_queue *entry = &control->queues[i];
        if (queue->entry.serial == entry->serial && queue->entry.address == entry->address)
            continue;
        queue->entry = *entry;
        queue->next = entry->first;
    }
}

static void obey(gyre_resident *resident)
{
    gyre_control_block *line = (gyre_control_block *)(resident->control + 1);
    if (GYRE_COMMAND_VERB(resident->command) == GYRE_VERB_RUN)
        read_table(resident);
    work(resident->device);
    __atomic_store_n(&line->acknowledged, resident->command, __ATOMIC_RELEASE);
    gyre_bell_ring(&resident->control->device.acknowledge_bell, INT_MAX);
}

static bool has_news(const gyre_resident *resident)
{
    bool ready = __atomic_load_n(&resident->control->command.command, __ATOMIC_ACQUIRE) != resident->command;
    for (uint32_t i = 0; GYRE_COMMAND_VERB(resident->command) == GYRE_VERB_RUN && i < resident->queue_count;
         i++)
        ready = ready || is_ready(&resident->queues[i]);
    return ready;
}

static void park(gyre_resident *resident)
{
    gyre_control_region *control = resident->control;
    __atomic_fetch_add(&control->device.parked, 1, __ATOMIC_SEQ_CST);
    work(resident->device);
    const uint32_t seen = __atomic_load_n(&control->doorbell.bell, __ATOMIC_ACQUIRE);
    work(resident->device);
    if (!has_news(resident))
        gyre_futex_wait(&control->doorbell.bell, seen, UINT64_MAX);
    __atomic_fetch_sub(&control->device.parked, 1, __ATOMIC_SEQ_CST);
}

static bool is_last(gyre_u64 command)
{
    return GYRE_COMMAND_VERB(command) == GYRE_VERB_STOP || GYRE_COMMAND_VERB(command) == GYRE_VERB_YIELD;
}

static void take_turn(gyre_resident *resident)
{
    bool served = false;
    const gyre_u64 command = __atomic_load_n(&resident->control->command.command, __ATOMIC_ACQUIRE);
    work(resident->device);
    if (command != resident->command) {
        resident->command = command;
        obey(resident);
        return;
    }
    for (uint32_t i = 0; GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN && i < resident->queue_count; i++)
        served = serve(resident, &resident->queues[i]) || served;
    if (!served)
        park(resident);
}

static void *run_resident(void *argument)
{
    gyre_resident *resident = argument;
    resident->scheduled = schedule_self();
    if (resident->dead)
        schedule_freeze(resident->scheduled);
    while (!is_last(resident->command))
        take_turn(resident);
    resident->left = true;
    schedule_wake(resident->device, INT_MAX);
    return NULL;
}

/* ---- calls ---- */

static bool is_keeper(const gyre_device *device)
{
    return schedule_self() == device->keeper;
}

static gyre_status is_lost(const gyre_device *device)
{
    return gyre_error_set(GYRE_LOST, "the worker died: %s", device->reason);
}

/* As proxy_enter: who wants a certain worker does not wait for another one. */
static gyre_status enter(gyre_device *device, uint64_t incarnation)
{
    schedule_step();
    if (is_keeper(device))
        return device->alive ? GYRE_OK : is_lost(device);
    while (device->state == DOWN && !incarnation)
        schedule_sleep(device, SCHEDULE_NEVER);
    if (device->state != UP || (incarnation && incarnation != device->incarnation))
        return is_lost(device);
    device->calls++;
    return GYRE_OK;
}

/* LOST when the worker died during the call. */
static gyre_status leave(gyre_device *device)
{
    schedule_step();
    const bool alive = device->alive;
    if (!is_keeper(device) && --device->calls == 0)
        schedule_wake(device, INT_MAX);
    return alive ? GYRE_OK : is_lost(device);
}

static void move_bytes(void *to, const void *from, uint64_t count)
{
    memcpy(to, from, count / 2);
    schedule_step();
    memcpy((unsigned char *)to + count / 2, (const unsigned char *)from + count / 2, count - count / 2);
}

static void transfer_once(const gyre_transfer_desc *desc)
{
    unsigned char *bytes = desc->memory->bytes + desc->offset;
    unsigned char *mirror = desc->memory->mirror + desc->offset;
    desc->memory->given = desc->memory->given || desc->kind != GYRE_TRANSFER_DOWNLOAD;
    if (desc->kind == GYRE_TRANSFER_DOWNLOAD) {
        move_bytes(desc->target, bytes, desc->byte_count);
        return;
    }
    if (desc->kind == GYRE_TRANSFER_UPLOAD)
        memcpy(mirror, desc->source, desc->byte_count);
    else
        memset(mirror, desc->fill, desc->byte_count);
    move_bytes(bytes, mirror, desc->byte_count);
}

static gyre_status transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    for (;;) {
        gyre_status status = enter(device, 0);
        if (status != GYRE_OK)
            return status;
        transfer_once(desc);
        status = leave(device);
        if (status == GYRE_OK || is_keeper(device))
            return status;
    }
}

uint64_t gyre_proxy_incarnation(gyre_device *device)
{
    return device->incarnation;
}

gyre_status gyre_proxy_transfer_in(gyre_device *device, const gyre_transfer_desc *desc, uint64_t incarnation)
{
    const gyre_status status = enter(device, incarnation);
    if (status != GYRE_OK)
        return status;
    transfer_once(desc);
    return leave(device);
}

static gyre_status memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    gyre_status status = enter(device, 0);
    if (status != GYRE_OK)
        return status;
    move_bytes(desc->target->bytes + desc->target_offset, desc->source->bytes + desc->source_offset,
               desc->byte_count);
    status = leave(device);
    return status == GYRE_OK || is_keeper(device) ? status : memory_copy(device, desc);
}

/* ---- objects ---- */

static gyre_status memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    gyre_memory *memory = calloc(1, sizeof *memory);
    *out = memory;
    if (!memory || !(memory->bytes = malloc(byte_count)) || !(memory->mirror = malloc(byte_count)))
        schedule_fail("no memory for a buffer of %llu bytes", (unsigned long long)byte_count);
    memory->size = byte_count;
    memory->device = device;
    memory->next = device->memories;
    device->memories = memory;
    scramble(memory);
    return GYRE_OK;
}

static void memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    gyre_memory **link = &memory->device->memories;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    free(memory->mirror);
    free(memory->bytes);
    free(memory);
}

static gyre_status queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                               gyre_queue_memory **out, uint64_t *device_address)
{
    (void)device;
    gyre_queue_memory *queue = calloc(1, sizeof *queue);
    if (!queue)
        schedule_fail("no memory for a queue");
    *device_address = queue->address = (uintptr_t)desc->address;
    *out = queue;
    return GYRE_OK;
}

static void queue_release(gyre_queue_memory *memory)
{
    free(memory);
}

uint64_t gyre_proxy_control_address(const gyre_resident *resident)
{
    return (uint64_t)(uintptr_t)resident->control;
}

uint64_t gyre_proxy_queue_address(const gyre_queue_memory *memory)
{
    return memory->address;
}

/* ---- launched kernels ---- */

static gyre_status launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = only;
    (void)module; /* there is one, and it needs no loading */
    *out = NULL;
    gyre_status status = enter(device, 0);
    if (status != GYRE_OK)
        return status;
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        schedule_fail("no memory for a kernel");
    resident->device = device;
    resident->incarnation = device->incarnation;
    resident->control = desc->control;
    resident->state = desc->state;
    resident->next = device->residents;
    device->residents = resident;
    if (pthread_create(&resident->thread, NULL, run_resident, resident) != 0)
        schedule_fail("no thread for a kernel");
    status = leave(device);
    *out = status == GYRE_OK ? resident : NULL; /* else its thread stands still, and it is left behind */
    return status;
}

static gyre_status await_resident(gyre_resident *resident, uint64_t deadline_ns)
{
    gyre_device *device = resident->device;
    gyre_status status = enter(device, resident->incarnation);
    if (status != GYRE_OK)
        return status;
    while (device->alive && !resident->left && schedule_now_ns() < deadline_ns)
        schedule_sleep(device, deadline_ns);
    const bool left = resident->left;
    status = leave(device);
    if (left || status != GYRE_OK)
        return left ? GYRE_OK : status;
    return gyre_error_set(GYRE_TIMEOUT, "the kernel has not left");
}

static void release(gyre_resident *resident)
{
    if (!resident)
        return;
    gyre_resident **link = &resident->device->residents;
    while (*link != resident)
        link = &(*link)->next;
    *link = resident->next;
    if (resident->left)
        pthread_join(resident->thread, NULL);
    else if (!resident->dead)
        schedule_fail("a kernel is released that runs");
    else if (resident->scheduled)
        free(resident);
}

bool gyre_proxy_is_current(const gyre_resident *resident)
{
    schedule_step();
    return resident->device->state == UP && resident->device->incarnation == resident->incarnation;
}

/* ---- the keeper ---- */

static void await_calls(gyre_device *device)
{
    if (device->state == UP)
        device->state = DOWN;
    while (device->calls)
        schedule_sleep(device, SCHEDULE_NEVER);
}

static void *keep(void *argument)
{
    gyre_device *device = argument;
    device->keeper = schedule_self();
    while (!device->quits) {
        if (device->alive) {
            schedule_sleep(device, SCHEDULE_NEVER);
            continue;
        }
        await_calls(device);
        if (device->lost && device->lost(device->lost_context))
            continue;
        die(device, "nobody brings it back");
        device->state = GONE;
        schedule_wake(device, INT_MAX);
        while (!device->quits)
            schedule_sleep(device, SCHEDULE_NEVER);
    }
    return NULL;
}

void gyre_proxy_bury(gyre_device *device)
{
    die(device, "buried");
    await_calls(device);
}

gyre_status gyre_proxy_revive(gyre_device *device)
{
    gyre_proxy_bury(device);
    if (device->quits)
        return gyre_error_set(GYRE_CLOSED, "the device is being closed");
    schedule_step();
    device->incarnation++;
    device->alive = true;
    for (gyre_memory *memory = device->memories; device->alive && memory; memory = memory->next)
        if (memory->given)
            move_bytes(memory->bytes, memory->mirror, memory->size);
    if (!device->alive)
        return is_lost(device);
    device->state = UP;
    schedule_wake(device, INT_MAX);
    return GYRE_OK;
}

bool gyre_proxy_pause(gyre_device *device, uint64_t length_ns)
{
    const uint64_t until_ns = schedule_now_ns() + length_ns;
    while (!device->quits && schedule_now_ns() < until_ns)
        schedule_sleep(device, until_ns);
    return !device->quits;
}

bool gyre_proxy_watch(gyre_device *device, uint64_t deadline_ns)
{
    while (device->alive && !device->quits && schedule_now_ns() < deadline_ns)
        schedule_sleep(device, deadline_ns);
    return device->alive && !device->quits;
}

void gyre_proxy_guard(gyre_device *device, bool (*lost)(void *context), void *context)
{
    device->lost = lost;
    device->lost_context = context;
}

void gyre_proxy_kill(gyre_device *device, const char *reason)
{
    die(device, reason ? reason : "killed");
}

void gyre_proxy_reason(gyre_device *device, char *text, size_t size)
{
    snprintf(text, size, "%s", device->reason);
}

bool gyre_proxy_can_copy(const gyre_device *device)
{
    (void)device;
    return true;
}

bool gyre_proxy_stands_by(gyre_device *device)
{
    (void)device;
    return false;
}

/* ---- the device ---- */

gyre_status gyre_proxy_open(const struct gyre_proxy_desc *desc, char *build, size_t build_size,
                            gyre_device **out)
{
    (void)desc;
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        schedule_fail("no memory for a device");
    snprintf(build, build_size, "simulated");
    device->alive = true;
    device->incarnation = 1;
    if (pthread_create(&device->thread, NULL, keep, device) != 0)
        schedule_fail("no thread for a device");
    *out = only = device;
    return GYRE_OK;
}

static void device_close(gyre_device *device)
{
    only = NULL;
    device->quits = true;
    schedule_wake(device, INT_MAX);
    pthread_join(device->thread, NULL);
    if (device->memories)
        schedule_fail("a device is closed that has buffers");
    free(device);
}

static gyre_status device_info(gyre_device *device, gyre_device_info *info)
{
    (void)device;
    const gyre_device_info told = {.size = sizeof told,
                                   .name = "simulated",
                                   .architecture = "simulated",
                                   .unit_count = 1,
                                   .lanes_max = 1,
                                   .blocks_max = 1,
                                   .lanes_default = 1,
                                   .blocks_default = 1,
                                   .can_wake = 1,
                                   .can_skip = 1};
    gyre_device_info_give(info, &told);
    return GYRE_OK;
}

const gyre_backend_ops gyre_proxy_ops = {
    .size = sizeof(gyre_backend_ops),
    .device_close = device_close,
    .device_info = device_info,
    .queue_alloc = queue_alloc,
    .queue_release = queue_release,
    .memory_alloc = memory_alloc,
    .memory_release = memory_release,
    .transfer = transfer,
    .launch = launch,
    .wait = await_resident,
    .release = release,
    .memory_copy = memory_copy,
};
