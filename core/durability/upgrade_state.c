/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the state and the buffers in a journal of earlier types, by migrations (migrate.h) and by the names of fields. Takes
 * no lock, because it runs before the journal's queue is made.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/durability/checkpoint.h"
#include "core/durability/state_adopt.h"
#include "core/durability/upgrade.h"
#include "core/types/adopt.h"
#include "core/types/message.h"

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
        status = gyre_upgrade_elements(&step, durable->content.state + was->about.offset, count, out);
    gyre_upgrade_step_finish(&step);
    return status;
}

/* Converts the state by migrations, then by the names of fields. `out` holds the initial content at first. */
static gyre_status adopt_state(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                               const struct gyre_journal_type *is, unsigned char *out)
{
    char where[PATH_MAX + 32];
    snprintf(where, sizeof where, " in the journal '%s'", durable->file.path);
    const struct gyre_state_change change = {
        .kernel = durable->kernel, .from = was->type, .to = is->type, .where = where};
    return gyre_state_adopt(&change, durable->content.state + was->about.offset, out);
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
