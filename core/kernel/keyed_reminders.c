/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reminders of a keyed actor with checkpoints, seen from the host (keyed.h): time that passes for its blocks, and times that are
 * kept over a start of the machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/kernel/control.h"
#include "core/kernel/keyed.h"
#include "core/queue/header_words.h"
#include "core/queue/queue.h"
#include "core/ring/ring_options.h"
#include "core/stages/headers.h"

/* ---- time ---- */

gyre_status gyre_keyed_plan_queue(const gyre_kernel *kernel, const char *section,
                                  struct gyre_queue_options *options)
{
    const struct gyre_config *config = kernel->runtime->config;
    const char *const shown = section && section[0] ? section : "default";
    if (!gyre_keyed_has_ticks(kernel))
        return GYRE_OK;
    options->many_threads = true; /* the thread that announces times is one */
    if (options->header_size < gyre_header_needed("sent"))
        return gyre_config_blame(
            config, GYRE_SECTION_QUEUE, section, "header",
            gyre_error_set(
                GYRE_CONFIG,
                "kernel '%s' reminds its keys and has checkpoints, so its messages have to say when "
                "they were sent: set header = sent in [queue.%s]",
                kernel->name, shown));
    if (options->levels > 1)
        return gyre_config_blame(
            config, GYRE_SECTION_QUEUE, section, "levels",
            gyre_error_set(GYRE_CONFIG,
                           "kernel '%s' reminds its keys and has checkpoints, so it handles messages in the "
                           "order in which they were sent: leave levels out of [queue.%s]",
                           kernel->name, shown));
    return GYRE_OK;
}

/* Whether a block said that it has a key to remind. */
static bool has_due(const gyre_kernel *kernel)
{
    const gyre_control_block *lines = gyre_control_blocks(kernel);
    const int64_t now_ns = (int64_t)gyre_clock_ns();
    for (uint32_t i = 0; i < kernel->blocks; i++) {
        const int64_t due_ns = __atomic_load_n(&lines[i].due_ns, __ATOMIC_RELAXED);
        if (due_ns && due_ns <= now_ns)
            return true;
    }
    return false;
}

/* Under the lock: the one queue that a kernel with checkpoints has; NULL between two of them. */
static gyre_queue *queue_to_tick(const gyre_kernel *kernel)
{
    gyre_queue *queue = kernel->queues.first;
    while (queue && gyre_view_of(queue)->withdrawn)
        queue = gyre_view_of(queue)->next;
    return queue;
}

bool gyre_keyed_tick(gyre_kernel *kernel)
{
    if (!gyre_keyed_has_ticks(kernel))
        return false;
    pthread_mutex_lock(
        &kernel->lock); /* all the time: who closes the queue takes it off the list under the lock */
    /* a kernel that is paused reminds nobody, and would be woken in vain again and again */
    if (kernel->resident && gyre_control_verb(kernel) == GYRE_VERB_RUN && has_due(kernel)) {
        gyre_queue *queue = queue_to_tick(kernel);
        if (queue)
            gyre_headers_tick(queue);
    }
    pthread_mutex_unlock(&kernel->lock);
    return true;
}

/* ---- another start of the machine ---- */

/* A hash of the kernel's own name for this start. */
static uint64_t boot_of_machine(void)
{
    static const gyre_u64 seed[2] = {0, 0};
    char id[64] = "";
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, id, sizeof id);
    if (file >= 0)
        close(file);
    return gyre_keyed_hash_bytes(seed, id, size > 0 ? (gyre_u32)size : 0);
}

void gyre_keyed_clock(gyre_keyed_table *table)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    table->boot = boot_of_machine();
    table->clock_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec - gyre_clock_ns();
}

uint64_t gyre_keyed_clock_shift(const gyre_kernel *kernel, const unsigned char *saved)
{
    gyre_keyed_table head;
    if (!kernel->memory.keyed || !kernel->record->reminds || !saved)
        return 0;
    memcpy(&head, saved, sizeof head);
    const gyre_keyed_table *now = &kernel->memory.keyed->table;
    return head.boot == now->boot ? 0 : head.clock_ns - now->clock_ns;
}

/*
 * A time of the earlier start, counted from the present one. It is below 0 when it was before that, so that what is long due and what
 * was sent then keep their order.
 */
static int64_t shifted(int64_t due_ns, int64_t shift)
{
    const int64_t last_ns = GYRE_KEYED_NO_DUE - 1; /* such a reminder never comes */
    int64_t moved_ns;
    if (due_ns >= last_ns)
        return last_ns;
    if (__builtin_add_overflow(due_ns, shift, &moved_ns))
        return shift < 0 ? -last_ns : last_ns;
    return moved_ns < last_ns ? moved_ns : last_ns;
}

/* Moves the reminders of a part. */
static void shift_part(const gyre_keyed_table *table, gyre_keyed_part *part, uint64_t shift)
{
    for (uint32_t i = 0; i < part->reminders; i++) {
        const uint32_t number = gyre_keyed_heap(table, part)[i];
        gyre_keyed_due *due = gyre_keyed_due_of(table, gyre_keyed_entry_at(table, part, number));
        due->due_ns = shifted(due->due_ns, (int64_t)shift);
    }
}

/* Written to by those alone whose table may be written. */
static gyre_keyed_part *saved_part(const gyre_keyed_table *table, const unsigned char *saved, uint32_t number)
{
    return (gyre_keyed_part *)(uintptr_t)(saved + table->parts_offset + number * table->part_size);
}

void gyre_keyed_shift(const gyre_kernel *kernel, unsigned char *saved)
{
    const uint64_t shift = gyre_keyed_clock_shift(kernel, saved);
    if (!shift)
        return;
    const gyre_keyed_table *now = &kernel->memory.keyed->table;
    for (uint32_t i = 0; i < 1u << now->parts_log2; i++)
        shift_part(now, saved_part(now, saved, i), shift);
    memcpy(saved + offsetof(gyre_keyed_table, boot), &now->boot, sizeof now->boot);
    memcpy(saved + offsetof(gyre_keyed_table, clock_ns), &now->clock_ns, sizeof now->clock_ns);
}

/* ---- what was kept ---- */

/* Whether the heap has entries that have a key, each at the place that it knows. */
static bool is_heap_whole(const gyre_keyed_table *table, gyre_keyed_part *part)
{
    if (part->fresh > table->capacity || part->reminders > part->fresh)
        return false;
    for (uint32_t i = 0; i < part->reminders; i++) {
        const uint32_t number = gyre_keyed_heap(table, part)[i];
        if (number >= part->fresh)
            return false;
        gyre_keyed_entry *entry = gyre_keyed_entry_at(table, part, number);
        if (entry->is_free || gyre_keyed_due_of(table, entry)->place != i + 1)
            return false;
    }
    return true;
}

/* How many entries say that they are in the heap. */
static uint32_t count_placed(const gyre_keyed_table *table, gyre_keyed_part *part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->fresh; i++)
        count += gyre_keyed_due_of(table, gyre_keyed_entry_at(table, part, i))->place != 0;
    return count;
}

gyre_status gyre_keyed_check_reminders(const gyre_kernel *kernel, const unsigned char *saved)
{
    const gyre_keyed_table *table = &kernel->memory.keyed->table;
    for (uint32_t i = 0; table->due_offset && i < 1u << table->parts_log2; i++) {
        gyre_keyed_part *part = saved_part(table, saved, i);
        if (!is_heap_whole(table, part) || count_placed(table, part) != part->reminders)
            return gyre_error_set(
                GYRE_INCOMPATIBLE,
                "the reminders that kernel '%s' kept are damaged: move its journal away to begin "
                "without them",
                kernel->name);
    }
    return GYRE_OK;
}
