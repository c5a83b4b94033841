/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a handler's state for the application. A running kernel stands at a message boundary (no handler runs) while its state
 * is copied, as for a checkpoint.
 *
 * Under kernel->lock, given up while bytes are copied. A reader must not count in turn.wanted: a reader gives up when a thread
 * wants its turn, so two readers would make each other give up.
 */
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/keyed.h"
#include "core/kernel/keyed_table.h"
#include "core/kernel/standstill.h"
#include "core/kernel/turn.h"

#define RETRY_NS UINT64_C(200000)
/* A read tries for this many times stop_timeout_ms; one try waits for stop_timeout_ms at most. */
enum { TRIES_TIMEOUTS = 10 };
/* A state of this many bytes or more is copied on the device if the device can, so that the kernel goes on during the fetch. */
#define COPIED_FROM (UINT64_C(1) << 20)

/* A read that is under way. */
struct reading {
    gyre_kernel *kernel;
    void *state;
    size_t size;
    struct gyre_dispatch *device; /* the device of `copy`, which the kernel may have left since */
    gyre_memory *copy;            /* room for a copy on the device; NULL: none */
    const void *key;              /* of a keyed actor: whose state is read; else NULL */
    bool whole;                   /* of a keyed actor: all of its table is read */
};

static gyre_status check_readable(const struct reading *reading)
{
    const gyre_kernel *kernel = reading->kernel;
    const size_t size = reading->size;
    char why[64];
    if (gyre_kernel_get_state(kernel) == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST,
                              "the state of kernel '%s' was lost with its device%s; launch it again",
                              kernel->name, gyre_kernel_why_lost(kernel, why, sizeof why));
    if (!kernel->memory.state)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' keeps no state between messages", kernel->name);
    if (reading->whole && size == gyre_kernel_state_size(kernel))
        return GYRE_OK;
    if (kernel->memory.keyed && !reading->key)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is a keyed actor, which keeps a state for each '%s': name the key, with "
            "gyre_kernel_key_read or `gyre state %s --key KEY`",
            kernel->name, kernel->record->key, kernel->name);
    if (size != kernel->record->state->size)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' has a state of %llu bytes, found room for %zu",
                              kernel->name, (unsigned long long)kernel->record->state->size, size);
    return GYRE_OK;
}

static gyre_status download_memory(const struct reading *reading, gyre_memory *memory)
{
    const gyre_transfer_desc download = {.size = sizeof download,
                                         .kind = GYRE_TRANSFER_DOWNLOAD,
                                         .memory = memory,
                                         .byte_count = reading->size,
                                         .target = reading->state};
    return gyre_dispatch_transfer(reading->kernel->dispatch, &download);
}

/* Allocates memory on the device for a copy of the state. Without it the state is fetched while the kernel stands. */
static void make_copy_room(struct reading *reading)
{
    struct gyre_dispatch *dispatch = reading->device;
    if (reading->size < COPIED_FROM || reading->size != reading->kernel->record->state->size ||
        reading->kernel->memory.keyed || !gyre_dispatch_can_copy(dispatch))
        return;
    gyre_error_hold();
    if (gyre_dispatch_memory_alloc(dispatch, reading->size, &reading->copy) != GYRE_OK)
        reading->copy = NULL;
    gyre_error_let_go();
}

static gyre_status copy_on_device(const struct reading *reading)
{
    const gyre_copy_desc copy = {.size = sizeof copy,
                                 .source = reading->kernel->memory.state,
                                 .target = reading->copy,
                                 .byte_count = reading->size};
    return gyre_dispatch_memory_copy(reading->kernel->dispatch, &copy);
}

static bool has_copy(const struct reading *reading)
{
    return reading->copy && reading->device == reading->kernel->dispatch;
}

static gyre_status copy_standing(const struct reading *reading)
{
    if (reading->key)
        return gyre_keyed_read(reading->kernel, reading->key, reading->state);
    return has_copy(reading) ? copy_on_device(reading)
                             : download_memory(reading, reading->kernel->memory.state);
}

/* Runs a part of the read without the lock, which the revival of a device needs. */
static gyre_status without_lock(const struct reading *reading, gyre_status (*part)(const struct reading *))
{
    gyre_kernel *kernel = reading->kernel;
    kernel->turn.inside++;
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = part(reading);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
    return status;
}

static gyre_status fetch_copy(const struct reading *reading)
{
    return has_copy(reading) ? download_memory(reading, reading->copy) : GYRE_OK;
}

static void nap_without_lock(gyre_kernel *kernel, uint64_t time_ns)
{
    const struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
    kernel->turn.inside++;
    pthread_mutex_unlock(&kernel->lock);
    nanosleep(&time, NULL);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
}

/*
 * Lets the kernel run between two reads for as long as it stood for the last read, counted from when it obeyed the command to
 * run. Otherwise programs that only read would keep messages waiting for ever. AGAIN after a wait, because other threads may
 * have come first.
 */
static gyre_status let_it_run(gyre_kernel *kernel, uint64_t deadline_ns)
{
    const uint64_t since = gyre_clock_ns() - kernel->look.over_ns, stood = kernel->look.stood_ns;
    if (since >= stood)
        return GYRE_OK;
    gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, deadline_ns);
    if (status == GYRE_OK)
        nap_without_lock(kernel, stood - since);
    return status == GYRE_OK || status == GYRE_CLOSED ? GYRE_AGAIN : status;
}

static void note_end(gyre_kernel *kernel, uint64_t begun_ns)
{
    kernel->look.over_ns = gyre_clock_ns();
    kernel->look.stood_ns = kernel->look.over_ns - begun_ns;
}

static gyre_status read_running(const struct reading *reading, uint64_t deadline_ns)
{
    gyre_kernel *kernel = reading->kernel;
    const uint64_t generation = kernel->generation;
    gyre_status status = gyre_standstill_check(kernel);
    if (status == GYRE_OK)
        status = let_it_run(kernel, deadline_ns);
    if (status != GYRE_OK)
        return status;
    const uint64_t begun = gyre_clock_ns();
    status = gyre_standstill_begin(kernel, deadline_ns);
    if (status == GYRE_OK)
        status = without_lock(reading, copy_standing);
    gyre_standstill_end(kernel, generation);
    note_end(kernel, begun);
    return status == GYRE_OK ? without_lock(reading, fetch_copy) : status;
}

static gyre_status read_still(const struct reading *reading)
{
    gyre_kernel *kernel = reading->kernel;
    gyre_status status = GYRE_OK;
    if (gyre_kernel_get_state(kernel) == GYRE_KERNEL_INACTIVE)
        status = gyre_kernel_await_obeyed(kernel, gyre_in_ms(1000));
    if (status != GYRE_OK)
        return status;
    if (gyre_kernel_is_taken(kernel) || kernel->node.behind)
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being changed by another thread", kernel->name);
    kernel->turn.saving = true; /* a swap or a move frees the memory that is copied here */
    status = without_lock(reading, copy_standing);
    kernel->turn.saving = false;
    pthread_cond_broadcast(&kernel->changed);
    return status;
}

static void await_others(gyre_kernel *kernel)
{
    kernel->turn.inside++;
    while (gyre_kernel_is_taken(kernel))
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed); /* for a thread that frees the kernel */
}

/* Reads the state once. AGAIN when the kernel was revived meanwhile, because the bytes may come from a half-restored state. */
static gyre_status read_once(const struct reading *reading, uint64_t limit_ns)
{
    gyre_kernel *kernel = reading->kernel;
    await_others(kernel);
    const uint64_t generation = kernel->generation;
    gyre_status status = check_readable(reading);
    if (status != GYRE_OK)
        return status;
    const bool runs = gyre_kernel_get_state(kernel) == GYRE_KERNEL_ACTIVE;
    status = runs ? read_running(reading, gyre_clock_ns() + limit_ns) : read_still(reading);
    if (status == GYRE_LOST && gyre_dispatch_isolated(kernel->dispatch))
        return GYRE_AGAIN; /* until the worker's keeper has seen the death */
    const bool of_its_worker = status == GYRE_OK || status == GYRE_TIMEOUT; /* the worker may have died */
    return of_its_worker && kernel->generation != generation ? GYRE_AGAIN : status;
}

static gyre_status read_until_copied(const struct reading *reading)
{
    gyre_kernel *kernel = reading->kernel;
    const uint64_t limit_ns =
        gyre_config_ns(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "stop_timeout_ms");
    const uint64_t deadline = gyre_clock_ns() + TRIES_TIMEOUTS * limit_ns;
    gyre_status status;
    pthread_mutex_lock(&kernel->lock);
    for (;;) {
        status = read_once(reading, limit_ns);
        if (status != GYRE_AGAIN || gyre_clock_ns() >= deadline)
            break;
        nap_without_lock(kernel, RETRY_NS);
    }
    pthread_mutex_unlock(&kernel->lock);
    if (status == GYRE_AGAIN)
        return gyre_error_set(
            GYRE_TIMEOUT,
            "the state of kernel '%s' could not be read: it was being brought back, or other threads "
            "read or changed it all the time",
            kernel->name);
    return status;
}

gyre_status gyre_kernel_state_read(gyre_kernel *kernel, void *state, size_t size)
{
    if (!kernel || !state)
        return GYRE_ARGUMENTS("gyre_kernel_state_read", {"kernel", kernel}, {"state", state});
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_kernel_state_read");
    if (status != GYRE_OK)
        return status;
    struct reading reading = {.kernel = kernel, .state = state, .size = size, .device = kernel->dispatch};
    make_copy_room(&reading);
    status = read_until_copied(&reading);
    gyre_dispatch_memory_release(reading.device, reading.copy);
    return status;
}

gyre_status gyre_keyed_table_read(gyre_kernel *kernel, void *table, size_t size)
{
    const gyre_status status = gyre_keyed_table_supported(kernel);
    const struct reading reading = {.kernel = kernel, .state = table, .size = size, .whole = true};
    return status == GYRE_OK ? read_until_copied(&reading) : status;
}

gyre_status gyre_kernel_key_read(gyre_kernel *kernel, const void *key, size_t key_size, void *state,
                                 size_t size)
{
    if (!kernel || !key || !state)
        return GYRE_ARGUMENTS("gyre_kernel_key_read", {"kernel", kernel}, {"key", key}, {"state", state});
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_kernel_key_read");
    if (status == GYRE_OK)
        status = gyre_keyed_check_key(kernel, key_size);
    const struct reading reading = {.kernel = kernel, .state = state, .size = size, .key = key};
    return status == GYRE_OK ? read_until_copied(&reading) : status;
}

gyre_status gyre_kernel_key_read_text(gyre_kernel *kernel, const char *key, void *state, size_t size)
{
    unsigned char bytes[GYRE_KEYED_KEY_MAX];
    size_t key_size = 0;
    if (!kernel || !key || !state)
        return GYRE_ARGUMENTS("gyre_kernel_key_read_text", {"kernel", kernel}, {"key", key},
                              {"state", state});
    const gyre_status status = gyre_keyed_parse(kernel, key, bytes, &key_size);
    return status == GYRE_OK ? gyre_kernel_key_read(kernel, bytes, key_size, state, size) : status;
}
