/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest backend that works: one thread a kernel, which answers every request with its own bytes.
 * Leaves both optional operations out. One kernel, "echo", whatever is compiled. Locks: none; the core
 * serialises what is not "threads: any", and the ring protocol is the rest.
 */
#include "gyre/backend.h"
#include "gyre/waiting.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gyre_device {
    const gyre_host *host;
    uint32_t ordinal;
};

struct gyre_module {
    gyre_device *device;
};

struct gyre_queue_memory {
    void *address;
};

struct gyre_memory {
    uint64_t byte_count;
    unsigned char bytes[];
};

/* A queue of the table, as of the last command, and how far it was served. */
struct progress {
    gyre_queue_region *queue;
    uint64_t serial, next;
};

struct gyre_resident {
    gyre_device *device;
    gyre_control_region *control;
    pthread_t thread;
    int joined;
    uint32_t left; /* futex word: 1 once the thread is done with the control region */
    struct progress progress[GYRE_QUEUES_MAX];
    uint32_t queue_count;
};

#define FAKE_ECHO(FIELD) FIELD(u64, words[6])
GYRE_MESSAGE(fake_echo, FAKE_ECHO)

/* ---- the device side ---- */

static gyre_slot *slot_at(void *region, uint64_t offset, uint32_t stride, uint64_t index, uint64_t capacity)
{
    return (gyre_slot *)((char *)region + offset + (index & (capacity - 1)) * stride);
}

/* Completes the request at `index` when it is there. */
static int serve_one(gyre_queue_region *queue, uint64_t index)
{
    const gyre_queue_shape *shape = &queue->shape;
    gyre_slot *request = slot_at(queue, shape->request_offset, shape->request_stride, index, shape->capacity);
    gyre_slot *reply = slot_at(queue, shape->reply_offset, shape->reply_stride, index, shape->capacity);
    /* acquire: pairs with the sender's release of the sequence, after the payload */
    if (__atomic_load_n(&request->sequence, __ATOMIC_ACQUIRE) != index + 1)
        return 0;
    int dropped = index < __atomic_load_n(&queue->host.drop_before, __ATOMIC_RELAXED);
    reply->length = dropped ? 0 : request->length;
    reply->info = dropped ? GYRE_OUTCOME_DROPPED : GYRE_OUTCOME_REPLY;
    memcpy(reply + 1, request + 1, reply->length);
    /* release: pairs with the receiver's acquire of the sequence */
    __atomic_store_n(&reply->sequence, index + 1, __ATOMIC_RELEASE);
    return 1;
}

static void read_table(gyre_resident *resident)
{
    const gyre_control_region *control = resident->control;
    resident->queue_count = __atomic_load_n(&control->command.queue_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < resident->queue_count; i++) {
        const gyre_control_queue *place = &control->queues[i];
        struct progress *progress = &resident->progress[i];
        uint64_t serial = __atomic_load_n(&place->serial, __ATOMIC_RELAXED);
        if (progress->serial != serial)
            progress->next = __atomic_load_n(&place->first, __ATOMIC_RELAXED);
        progress->serial = serial;
        progress->queue = (gyre_queue_region *)(uintptr_t)__atomic_load_n(&place->address, __ATOMIC_RELAXED);
    }
}

static int serve_queue(struct progress *progress)
{
    gyre_queue_region *queue = progress->queue;
    int served = 0;
    if (!queue)
        return 0;
    while (serve_one(queue, progress->next)) {
        progress->next++;
        served++;
    }
    /* between the replies and the look at who waits; pairs with the client's barrier between the reverse */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (served && __atomic_load_n(&queue->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&queue->device.bell, INT32_MAX);
    return served;
}

static void obey(gyre_resident *resident, gyre_control_block *block, uint64_t command)
{
    if (GYRE_COMMAND_VERB(command) == GYRE_VERB_RUN)
        read_table(resident);
    __atomic_store_n(&block->acknowledged, command, __ATOMIC_RELEASE); /* pairs with the host's acquire */
    gyre_bell_ring(&resident->control->device.acknowledge_bell, INT32_MAX);
}

static void *serve(void *argument)
{
    gyre_resident *resident = argument;
    gyre_control_region *control = resident->control;
    gyre_control_block *block = (gyre_control_block *)(control + 1);
    for (;;) {
        /* acquire: pairs with the host's release after the queue table was changed */
        uint64_t command = __atomic_load_n(&control->command.command, __ATOMIC_ACQUIRE);
        uint64_t verb = GYRE_COMMAND_VERB(command);
        int served = 0;
        if (block->acknowledged != command)
            obey(resident, block, command);
        for (uint32_t i = 0; verb == GYRE_VERB_RUN && i < resident->queue_count; i++)
            served += serve_queue(&resident->progress[i]);
        if (served)
            __atomic_store_n(&block->handled, block->handled + (uint64_t)served, __ATOMIC_RELAXED);
        if (verb == GYRE_VERB_STOP || verb == GYRE_VERB_YIELD) {
            gyre_bell_ring(&resident->left, INT32_MAX);
            return NULL;
        }
        if (!served)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

/* ---- the operations ---- */

static gyre_status fake_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    (void)desc;
    info->score = 5;
    info->device_count = 2;
    snprintf(info->summary, sizeof info->summary, "answers with what it was sent");
    return GYRE_OK;
}

static gyre_status fake_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    if (desc->ordinal > 1)
        return desc->host->error(GYRE_INVALID, "the fake backend has devices 0 and 1; found device %u",
                                 desc->ordinal);
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a fake device");
    device->host = desc->host;
    device->ordinal = desc->ordinal;
    *out = device;
    return GYRE_OK;
}

static void fake_device_close(gyre_device *device)
{
    free(device);
}

static gyre_status fake_device_info(gyre_device *device, gyre_device_info *info)
{
    snprintf(info->name, sizeof info->name, "fake %u", device->ordinal);
    snprintf(info->architecture, sizeof info->architecture, "fake");
    snprintf(info->compiler, sizeof info->compiler, "copies");
    info->unit_count = info->lanes_max = info->blocks_max = 1;
    if (device->ordinal == 1) { /* a large device */
        info->unit_count = 32;
        info->blocks_max = 8;
        info->blocks_default_large = 4;
    }
    info->can_wake = 1;
    info->memory_size = 1 << 20;
    return GYRE_OK;
}

static gyre_status fake_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    static const char artifact[] = "fake artifact\n";
    FILE *file = fopen(desc->artifact_path, "we");
    if (!file)
        return device->host->error(GYRE_FAILED, "cannot write '%s': %s", desc->artifact_path,
                                   strerror(errno));
    fwrite(artifact, 1, sizeof artifact - 1, file);
    if (fclose(file) != 0)
        return device->host->error(GYRE_EXHAUSTED, "cannot write '%s': %s", desc->artifact_path,
                                   strerror(errno));
    return GYRE_OK;
}

static gyre_status fake_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    *out = NULL;
    if (desc->artifact_size < 4 || memcmp(desc->artifact, "fake", 4) != 0)
        return device->host->error(GYRE_INCOMPATIBLE, "'%s' was not made by the fake backend",
                                   desc->artifact_path);
    gyre_module *module = calloc(1, sizeof *module);
    if (!module)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a fake module");
    module->device = device;
    *out = module;
    return GYRE_OK;
}

static gyre_status fake_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    static const gyre_type *const no_buffers[] = {NULL};
    if (index > 0)
        return module->device->host->error(GYRE_NOT_FOUND, "the fake module has one kernel");
    record->name = "echo";
    record->form = GYRE_FORM_ACTOR;
    record->request = record->reply = GYRE_TYPE(fake_echo);
    record->state = GYRE_TYPE(gyre_none);
    record->buffers = "";
    record->buffer_types = no_buffers;
    return GYRE_OK;
}

static void fake_module_release(gyre_module *module)
{
    free(module);
}

static gyre_status fake_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                                    gyre_queue_memory **out, uint64_t *device_address)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a fake queue");
    (*out)->address = desc->address;
    *device_address = (uint64_t)(uintptr_t)desc->address;
    return GYRE_OK;
}

static void fake_queue_release(gyre_queue_memory *memory)
{
    free(memory);
}

static gyre_status fake_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_memory *memory = byte_count > SIZE_MAX / 2 ? NULL : malloc(sizeof *memory + (size_t)byte_count);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for %llu bytes on the fake device",
                                   (unsigned long long)byte_count);
    memory->byte_count = byte_count;
    *out = memory;
    return GYRE_OK;
}

static void fake_memory_release(gyre_memory *memory)
{
    free(memory);
}

static gyre_status fake_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    unsigned char *bytes = desc->memory->bytes + desc->offset;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        memcpy(bytes, desc->source, (size_t)desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_DOWNLOAD:
        memcpy(desc->target, bytes, (size_t)desc->byte_count);
        return GYRE_OK;
    case GYRE_TRANSFER_FILL:
        memset(bytes, desc->fill, (size_t)desc->byte_count);
        return GYRE_OK;
    }
    return device->host->error(GYRE_INVALID, "transfer of unknown kind %d", (int)desc->kind);
}

static gyre_status fake_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    *out = NULL;
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory for a fake kernel");
    resident->device = module->device;
    resident->control = desc->control;
    if (pthread_create(&resident->thread, NULL, serve, resident) != 0) {
        free(resident);
        return module->device->host->error(GYRE_EXHAUSTED, "no thread for a fake kernel");
    }
    *out = resident;
    return GYRE_OK;
}

static gyre_status fake_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    while (!__atomic_load_n(&resident->left, __ATOMIC_ACQUIRE)) { /* pairs with the bell's release */
        if (gyre_clock_ns() >= deadline_ns)
            return resident->device->host->error(GYRE_TIMEOUT, "the fake kernel has not left yet");
        gyre_futex_wait(&resident->left, 0, deadline_ns);
    }
    if (!resident->joined)
        pthread_join(resident->thread, NULL);
    resident->joined = 1;
    return GYRE_OK;
}

static void fake_release(gyre_resident *resident)
{
    free(resident);
}

static const gyre_backend_ops fake_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = fake_probe,
    .device_open = fake_device_open,
    .device_close = fake_device_close,
    .device_info = fake_device_info,
    .compile = fake_compile,
    .module_load = fake_module_load,
    .module_kernel = fake_module_kernel,
    .module_release = fake_module_release,
    .queue_alloc = fake_queue_alloc,
    .queue_release = fake_queue_release,
    .memory_alloc = fake_memory_alloc,
    .memory_release = fake_memory_release,
    .transfer = fake_transfer,
    .launch = fake_launch,
    .wait = fake_wait,
    .release = fake_release,
};

GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {.magic = GYRE_ABI_MAGIC,
                                                             .abi_major = GYRE_ABI_MAJOR,
                                                             .abi_minor = GYRE_ABI_MINOR,
                                                             .size = sizeof(gyre_backend_plugin),
                                                             .name = "fake",
                                                             .build = "test 1",
                                                             .ops = &fake_ops};
