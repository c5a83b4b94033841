/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the state and the buffers in a journal of earlier types, by migrations (migrate.h) and by the names of fields. Takes
 * no lock, because it runs before the journal's queue is made.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/checkpoint.h"
#include "core/durability/migrate.h"
#include "core/durability/upgrade.h"
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
        gyre_error_add(status, "a type that the journal describes");
    if (status == GYRE_OK)
        status = gyre_layout_create_message(to, GYRE_STATE_MAX, &step->to);
    if (status != GYRE_OK) {
        gyre_upgrade_step_finish(step);
        return status;
    }
    step->same = step->from->hash == step->to->hash && !strcmp(step->from->text, step->to->text);
    return GYRE_OK;
}

/* ---- parts of a checkpoint ---- */

static const struct gyre_journal_type *own_type(const struct gyre_durable *durable,
                                                const struct gyre_journal_type *was)
{
    for (size_t i = 0; i < durable->type_count; i++)
        if (durable->types[i].about.role == was->about.role && durable->types[i].about.size &&
            !strcmp(durable->types[i].about.name, was->about.name))
            return &durable->types[i];
    return NULL;
}

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to take over a state of another type");
}

static gyre_status refuse_part(const struct gyre_durable *durable, const struct gyre_journal_type *was)
{
    const bool state = was->about.role == GYRE_ROLE_STATE;
    return gyre_error_add(
        GYRE_INCOMPATIBLE,
        "the journal '%s' holds %s%s of an earlier type, which cannot become that of kernel '%s': %slaunch the handler "
        "that wrote it, or move the journal away",
        durable->file.path, state ? "a state" : "a buffer ", was->about.name, durable->kernel->name,
        state ? "say how with GYRE_MIGRATE(old, new) in its file, " : "");
}

/* Reads the initial content of a part (the state or a buffer). It stays in fields for which the journal has no value. */
static gyre_status read_given(const struct gyre_durable *durable, const struct gyre_journal_type *type,
                              unsigned char *out)
{
    const gyre_kernel *kernel = durable->kernel;
    const struct gyre_checkpoint_part *part = &kernel->checkpoints->parts[0];
    if (type->about.role == GYRE_ROLE_STATE) {
        if (kernel->memory.initial_state)
            memcpy(out, kernel->memory.initial_state, type->about.size);
        return GYRE_OK;
    }
    for (const struct gyre_journal_type *other = durable->types; other != type; other++)
        part += other->about.size != 0;
    const gyre_transfer_desc download = {.size = sizeof download,
                                         .kind = GYRE_TRANSFER_DOWNLOAD,
                                         .memory = part->memory,
                                         .byte_count = type->about.size,
                                         .target = out};
    return gyre_dispatch_transfer(kernel->dispatch, &download);
}

/* Converts the elements of a part: a state is one value of its type, a buffer is many values. */
static gyre_status adopt_elements(const struct gyre_upgrade_step *step, const unsigned char *from,
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

static gyre_status adopt_buffer(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                                const struct gyre_journal_type *is, unsigned char *out)
{
    struct gyre_upgrade_step step;
    gyre_status status = gyre_upgrade_step_begin(was->type, is->type, &step);
    if (status != GYRE_OK)
        return status;
    const uint64_t count = was->about.size / step.from->size, now = is->about.size / step.to->size;
    status = gyre_layout_check_adopt(step.from, step.to);
    if (status == GYRE_OK && now < count)
        status = gyre_error_set(GYRE_INCOMPATIBLE, "it had %llu elements and has %llu now",
                                (unsigned long long)count, (unsigned long long)now);
    if (status == GYRE_OK)
        status = adopt_elements(&step, durable->content.state + was->about.offset, count, out);
    gyre_upgrade_step_finish(&step);
    return status;
}

/* ---- migrations ---- */

static gyre_status run_migration(const struct gyre_durable *durable, const gyre_kernel_record *migration,
                                 const unsigned char *before, unsigned char *after)
{
    const char *from = migration->buffer_types[0]->name, *to = migration->buffer_types[1]->name;
    gyre_status status = gyre_migration_run(durable->kernel, migration, before, after);
    if (status == GYRE_OK)
        gyre_runtime_log(durable->kernel->runtime, GYRE_LOG_INFO,
                         "the state of kernel '%s' in the journal '%s' was migrated from '%s' to '%s'",
                         durable->kernel->name, durable->file.path, from, to);
    return status == GYRE_OK ? GYRE_OK
                             : gyre_error_add(status, "the migration of the state '%s' to '%s' in '%s'", from,
                                              to, gyre_build_report(durable->kernel->build)->file);
}

/* Migrates *value to the migration's new type. If that type is the kernel's own, the migration starts from the initial
 * content. */
static gyre_status migrate_once(const struct gyre_durable *durable, const gyre_kernel_record *migration,
                                const struct gyre_journal_type *is, const unsigned char *given,
                                unsigned char **value)
{
    const gyre_type *to = migration->buffer_types[1];
    struct gyre_upgrade_step rest;
    gyre_status status = gyre_upgrade_step_begin(to, is->type, &rest);
    if (status != GYRE_OK)
        return status;
    unsigned char *after = calloc(1, to->size + 1);
    if (after && rest.same)
        memcpy(after, given, to->size);
    gyre_upgrade_step_finish(&rest);
    status = after ? run_migration(durable, migration, *value, after) : no_memory();
    if (status != GYRE_OK) {
        free(after);
        return status;
    }
    free(*value);
    *value = after;
    return GYRE_OK;
}

/* Runs migrations as long as one starts from the value's type; `step` is the conversion that remains. */
static gyre_status migrate_state(const struct gyre_durable *durable, const struct gyre_journal_type *is,
                                 const unsigned char *given, unsigned char **value,
                                 struct gyre_upgrade_step *step)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; status == GYRE_OK && !step->same && i < MIGRATIONS_MAX; i++) {
        const gyre_kernel_record *migration = gyre_migration_from(durable->kernel, step->from);
        if (!migration)
            return GYRE_OK;
        status = migrate_once(durable, migration, is, given, value);
        gyre_upgrade_step_finish(step);
        if (status == GYRE_OK)
            status = gyre_upgrade_step_begin(migration->buffer_types[1], is->type, step);
    }
    return status;
}

/* Converts the state by migrations, then by the names of fields. `out` holds the initial content at first. */
static gyre_status adopt_state(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                               const struct gyre_journal_type *is, unsigned char *out)
{
    struct gyre_upgrade_step step;
    unsigned char *value = malloc(was->about.size + 1);
    if (!value)
        return no_memory();
    memcpy(value, durable->content.state + was->about.offset, was->about.size);
    gyre_status status = gyre_upgrade_step_begin(was->type, is->type, &step);
    if (status == GYRE_OK)
        status = migrate_state(durable, is, out, &value, &step);
    if (status == GYRE_OK)
        status = gyre_layout_check_adopt(step.from, step.to);
    if (status == GYRE_OK)
        status = adopt_elements(&step, value, 1, out);
    gyre_upgrade_step_finish(&step);
    free(value);
    return status;
}

/* ---- all parts ---- */

static gyre_status take_over_part(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                                  unsigned char *state)
{
    const struct gyre_journal_type *is = own_type(durable, was);
    gyre_status status;
    if (!is)
        status = gyre_error_set(GYRE_INCOMPATIBLE, "kernel '%s' has none now", durable->kernel->name);
    else if (was->about.role == GYRE_ROLE_STATE)
        status = adopt_state(durable, was, is, state + is->about.offset);
    else
        status = adopt_buffer(durable, was, is, state + is->about.offset);
    return status == GYRE_INCOMPATIBLE ? refuse_part(durable, was) : status;
}

/* Checks the place and size that the journal gives for a part: a state is one value, a buffer is many. */
static bool lies_within(const struct gyre_journal_type *type, uint64_t size)
{
    const uint64_t one = type->type->size;
    return type->about.offset <= size && type->about.size <= size - type->about.offset && one &&
           type->about.size % one == 0 && (type->about.role != GYRE_ROLE_STATE || type->about.size == one);
}

/* Checks that the parts follow each other to the end of the state. */
static bool parts_fit(const struct gyre_journal_content *content)
{
    uint64_t at = 0;
    for (size_t i = 0; i < content->types.count; i++) {
        const struct gyre_journal_type *part = &content->types.all[i];
        if (part->about.size == 0)
            continue;
        if (part->about.offset != at || !lies_within(part, content->open.state_size))
            return false;
        at += part->about.size;
    }
    return at == content->open.state_size;
}

static gyre_status take_over_parts(const struct gyre_durable *durable, unsigned char *state)
{
    const struct gyre_journal_content *content = &durable->content;
    gyre_status status =
        parts_fit(content)
            ? GYRE_OK
            : gyre_error_set(GYRE_INVALID,
                             "the journal '%s' describes a state that it does not hold; move it away "
                             "to begin without it",
                             durable->file.path);
    for (size_t i = 0; status == GYRE_OK && i < durable->type_count; i++)
        if (durable->types[i].about.size)
            status = read_given(durable, &durable->types[i], state + durable->types[i].about.offset);
    for (size_t i = 0; status == GYRE_OK && i < content->types.count; i++) {
        const struct gyre_journal_type *was = &content->types.all[i];
        if (was->about.size)
            status = take_over_part(durable, was, state);
    }
    return status;
}

gyre_status gyre_upgrade_state(struct gyre_durable *durable, uint64_t size)
{
    unsigned char *state = calloc(1, size + 1);
    gyre_status status = state ? take_over_parts(durable, state) : no_memory();
    if (status != GYRE_OK) {
        free(state);
        return status;
    }
    free(durable->content.state);
    durable->content.state = state;
    durable->content.open.state_size = size;
    return GYRE_OK;
}

gyre_status gyre_upgrade_compare_state(const struct gyre_durable *durable, bool *differ)
{
    const struct gyre_journal_content *content = &durable->content;
    gyre_status status = GYRE_OK;
    *differ = content->types.count != durable->type_count;
    for (size_t i = 0; status == GYRE_OK && !*differ && i < durable->type_count; i++) {
        const struct gyre_journal_type *was = &content->types.all[i], *is = &durable->types[i];
        struct gyre_upgrade_step step;
        if (is->about.size == 0 && was->about.size == 0)
            continue; /* a type of messages */
        status = gyre_upgrade_step_begin(was->type, is->type, &step);
        *differ = status == GYRE_OK && (!step.same || memcmp(&was->about, &is->about, sizeof is->about) != 0);
        gyre_upgrade_step_finish(&step);
    }
    return status;
}
