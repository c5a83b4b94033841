/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a state from an earlier type to a kernel's (state_adopt.h): that of a journal, before its kernel runs, or that of a
 * handler which another one replaces. Takes no lock.
 */
#include "core/durability/state_adopt.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/durability/migrate.h"
#include "core/kernel/kernel.h"
#include "core/pipeline/build.h"
#include "core/types/adopt.h"
#include "core/types/message.h"

enum { MIGRATIONS_MAX = 32 /* migrations in a row */ };

/* ---- two layouts ---- */

void gyre_upgrade_step_finish(struct gyre_upgrade_step *step)
{
    gyre_layout_destroy(step->from);
    gyre_layout_destroy(step->to);
    *step = (struct gyre_upgrade_step){NULL, NULL, false};
}

gyre_status gyre_upgrade_step_begin(const gyre_type *from, const gyre_type *to,
                                    struct gyre_upgrade_step *step)
{
    *step = (struct gyre_upgrade_step){NULL, NULL, false};
    gyre_status status = gyre_layout_create_message(from, GYRE_STATE_MAX, &step->from);
    if (status != GYRE_OK)
        gyre_error_add(status, "the earlier type");
    if (status == GYRE_OK)
        status = gyre_layout_create_message(to, GYRE_STATE_MAX, &step->to);
    if (status != GYRE_OK) {
        gyre_upgrade_step_finish(step);
        return status;
    }
    step->same = step->from->hash == step->to->hash && !strcmp(step->from->text, step->to->text);
    return GYRE_OK;
}

gyre_status gyre_upgrade_elements(const struct gyre_upgrade_step *step, const unsigned char *from,
                                  uint64_t count, unsigned char *out)
{
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; status == GYRE_OK && i < count; i++) {
        uint64_t length;
        const unsigned char *value = from + i * step->from->size;
        status = gyre_layout_adopt(step->from, value, gyre_layout_length(step->from, value), step->to,
                                   out + i * step->to->size, &length);
    }
    return status;
}

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to take over a state of another type");
}

/* ---- migrations ---- */

static gyre_status run_migration(const struct gyre_state_change *change, const gyre_kernel_record *migration,
                                 const unsigned char *before, unsigned char *after)
{
    const gyre_kernel *kernel = change->kernel;
    const char *from = migration->buffer_types[0]->name, *to = migration->buffer_types[1]->name;
    gyre_status status = gyre_migration_run(kernel, migration, before, after);
    if (status == GYRE_OK)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                         "the state of kernel '%s'%s was migrated from '%s' to '%s'", kernel->name,
                         change->where, from, to);
    return status == GYRE_OK ? GYRE_OK
                             : gyre_error_add(status, "the migration of the state '%s' to '%s' in '%s'", from,
                                              to, gyre_build_report(kernel->build)->file);
}

/* Migrates *value to the migration's new type. If that type is the kernel's own, the migration starts from the initial
 * content. */
static gyre_status migrate_once(const struct gyre_state_change *change, const gyre_kernel_record *migration,
                                const unsigned char *given, unsigned char **value)
{
    const gyre_type *to = migration->buffer_types[1];
    struct gyre_upgrade_step rest;
    gyre_status status = gyre_upgrade_step_begin(to, change->to, &rest);
    if (status != GYRE_OK)
        return status;
    unsigned char *after = calloc(1, to->size + 1);
    if (after && rest.same)
        memcpy(after, given, to->size);
    gyre_upgrade_step_finish(&rest);
    status = after ? run_migration(change, migration, *value, after) : no_memory();
    if (status != GYRE_OK) {
        free(after);
        return status;
    }
    free(*value);
    *value = after;
    return GYRE_OK;
}

/* Goes on with each migration that starts from the present type, and runs it unless `value` is NULL; `step` is the conversion that
 * remains. */
static gyre_status migrate_state(const struct gyre_state_change *change, const unsigned char *given,
                                 unsigned char **value, struct gyre_upgrade_step *step)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; status == GYRE_OK && !step->same && i < MIGRATIONS_MAX; i++) {
        const gyre_kernel_record *migration = gyre_migration_from(change->kernel, step->from);
        if (!migration)
            return GYRE_OK;
        status = value ? migrate_once(change, migration, given, value) : GYRE_OK;
        gyre_upgrade_step_finish(step);
        if (status == GYRE_OK)
            status = gyre_upgrade_step_begin(migration->buffer_types[1], change->to, step);
    }
    return status;
}

/* ---- states ---- */

gyre_status gyre_state_check_adopt(const struct gyre_state_change *change)
{
    struct gyre_upgrade_step step;
    gyre_status status = gyre_upgrade_step_begin(change->from, change->to, &step);
    if (status == GYRE_OK)
        status = migrate_state(change, NULL, NULL, &step);
    if (status == GYRE_OK)
        status = gyre_layout_check_adopt(step.from, step.to);
    gyre_upgrade_step_finish(&step);
    return status;
}

gyre_status gyre_state_adopt(const struct gyre_state_change *change, const unsigned char *value,
                             unsigned char *out)
{
    struct gyre_upgrade_step step = {NULL, NULL, false};
    unsigned char *present = malloc(change->from->size + 1);
    if (!present)
        return no_memory();
    memcpy(present, value, change->from->size);
    gyre_status status = gyre_upgrade_step_begin(change->from, change->to, &step);
    if (status == GYRE_OK)
        status = migrate_state(change, out, &present, &step);
    if (status == GYRE_OK)
        status = gyre_layout_check_adopt(step.from, step.to);
    if (status == GYRE_OK)
        status = gyre_upgrade_elements(&step, present, 1, out);
    gyre_upgrade_step_finish(&step);
    free(present);
    return status;
}
