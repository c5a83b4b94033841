/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and runs migrations (GYRE_MIGRATE). A migration is a kernel of its own in the file of the migrated kernel. It is
 * launched on the same device for one message, with the old and the new state as its buffers, before the migrated kernel is
 * launched. So it is compiled and isolated like the handlers of its file. No locks of its own; applications do not see the
 * migration.
 */
#include "core/durability/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/device/buffer.h"
#include "core/kernel/binding.h"
#include "core/kernel/control.h"
#include "core/kernel/kernel_queue.h"
#include "core/kernel/list.h"
#include "core/kernel/protocol.h"
#include "core/kernel/start.h"
#include "core/pipeline/build.h"
#include "core/queue/label.h"

/* ---- finding one ---- */

static bool has_layout(const gyre_type *type, const gyre_layout *layout)
{
    gyre_layout *its = NULL;
    gyre_error_hold();
    const bool same = gyre_layout_create(type, GYRE_STATE_MAX, &its) == GYRE_OK &&
                      its->hash == layout->hash && strcmp(its->text, layout->text) == 0;
    gyre_layout_destroy(its);
    gyre_error_let_go();
    return same;
}

const gyre_kernel_record *gyre_migration_from(const gyre_kernel *kernel, const gyre_layout *from)
{
    const gyre_kernel_record *migration;
    for (size_t i = 0; (migration = gyre_build_migration(kernel->build, i)); i++)
        if (has_layout(migration->buffer_types[0], from))
            return migration;
    return NULL;
}

/* ---- running it ---- */

enum { BEFORE, AFTER, BUFFERS };

struct migrator {
    gyre_kernel *kernel;
    gyre_buffer *buffers[BUFFERS];
    gyre_queue *queue;
};

static gyre_status make_buffers(struct migrator *migrator, const gyre_kernel_record *migration,
                                const void *before, const void *after)
{
    const void *const values[BUFFERS] = {before, after};
    gyre_kernel *kernel = migrator->kernel;
    gyre_status status = GYRE_OK;
    for (int i = 0; status == GYRE_OK && i < BUFFERS; i++) {
        const uint64_t size = migration->buffer_types[i]->size;
        status = gyre_buffer_alloc_on(kernel->runtime, kernel->dispatch, size, &migrator->buffers[i]);
        if (status == GYRE_OK)
            status = gyre_buffer_upload(migrator->buffers[i], 0, values[i], size);
    }
    return status;
}

/* The part of gyre_launch that follows the build. */
static gyre_status start_migrator(struct migrator *migrator)
{
    gyre_kernel *kernel = migrator->kernel;
    const gyre_binding_name bindings[BUFFERS] = {{"gyre_before_", migrator->buffers[BEFORE]},
                                                 {"gyre_after_", migrator->buffers[AFTER]}};
    const gyre_launch_desc desc = {.size = sizeof desc, .bindings = bindings, .binding_count = BUFFERS};
    const gyre_queue_desc queue = {
        .size = sizeof queue, .name = kernel->name, .capacity = 1, .policy = GYRE_FULL_BLOCK};
    gyre_status status = gyre_kernel_types_create(kernel->name, kernel->record->request,
                                                  kernel->record->reply, &kernel->types);
    if (status == GYRE_OK)
        status = gyre_kernel_bind(kernel, &desc);
    if (status == GYRE_OK)
        status = gyre_control_create(kernel);
    if (status == GYRE_OK)
        status = gyre_kernel_add_queue(kernel, &queue, &migrator->queue);
    if (status == GYRE_OK)
        status = gyre_kernel_list(kernel);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    status = gyre_kernel_start(kernel, true);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

/* `kernel`: whose state is migrated. */
static gyre_status call_migrator(struct migrator *migrator, const gyre_kernel *kernel)
{
    char why[64];
    gyre_completion completion = {0};
    const int64_t limit_ms = gyre_kernel_setting(kernel, "launch_timeout_ms");
    gyre_status status =
        gyre_call(migrator->queue, NULL, 0, NULL, 0, &completion, gyre_in_ms((uint64_t)limit_ms));
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(GYRE_FAILED, "it did not return within launch_timeout_ms = %lld",
                              (long long)limit_ms);
    if (status != GYRE_OK || completion.outcome == GYRE_NOT_REPLIED)
        return status;
    if (completion.failure_text[0])
        return gyre_error_set(GYRE_FAILED, "%s", completion.failure_text);
    return gyre_error_set(GYRE_FAILED, "its worker process died%s",
                          gyre_control_why_lost(gyre_ring_of(migrator->queue)->control, why, sizeof why));
}

static void finish_migrator(struct migrator *migrator)
{
    gyre_error_hold();
    (void)gyre_kernel_terminate(migrator->kernel, GYRE_NO_WAIT,
                                NULL); /* the watcher does not revive it from here on */
    gyre_kernel_release(migrator->kernel);
    for (int i = 0; i < BUFFERS; i++)
        gyre_buffer_free(migrator->buffers[i]);
    gyre_error_let_go();
}

gyre_status gyre_migration_run(const gyre_kernel *kernel, const gyre_kernel_record *migration,
                               const void *before, void *after)
{
    char of[41]; /* so much of the name has room beside the ending */
    struct migrator migrator = {.kernel = gyre_kernel_create(kernel->runtime)};
    if (!migrator.kernel)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a migration");
    migrator.kernel->migrates = true;
    migrator.kernel->dispatch = kernel->dispatch;
    migrator.kernel->build = gyre_build_retain(kernel->build); /* also if it does not end */
    migrator.kernel->record = migration;
    migrator.kernel->lanes = migrator.kernel->blocks = 1;
    snprintf(of, sizeof of, "%s", kernel->name);
    gyre_text_end_whole(of);
    snprintf(migrator.kernel->name, sizeof migrator.kernel->name, "%s.migration", of);
    gyre_status status = make_buffers(&migrator, migration, before, after);
    if (status == GYRE_OK)
        status = start_migrator(&migrator);
    if (status == GYRE_OK)
        status = call_migrator(&migrator, kernel);
    if (status == GYRE_OK)
        status =
            gyre_buffer_download(migrator.buffers[AFTER], 0, after, migration->buffer_types[AFTER]->size);
    finish_migrator(&migrator);
    return status;
}
