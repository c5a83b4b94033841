/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of a pipeline keep, in the journal of its entry (together.h). */
#include "core/durability/together.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/durability/change.h"
#include "core/durability/checkpoint.h"
#include "core/durability/durable_thread.h"
#include "core/durability/durable_types.h"
#include "core/durability/state_adopt.h"
#include "core/kernel/keyed.h"

/* ---- the stages ---- */

static uint64_t size_of(const struct gyre_kept_stage *stage)
{
    return stage->checkpoints ? stage->checkpoints->store.size : 0;
}

static const struct gyre_kept_stage *find_stage(const struct gyre_kept_stages *stages,
                                                const gyre_kernel *kernel)
{
    const struct gyre_kept_stage *stage = stages->all;
    while (stage->kernel != kernel)
        stage++;
    return stage;
}

/* Where the stage's part begins in the state of the journal; without a stage: the bytes of all parts. */
static uint64_t offset_of(const struct gyre_kept_stages *stages, const struct gyre_kept_stage *stage)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < stages->count && &stages->all[i] != stage; i++)
        offset += size_of(&stages->all[i]);
    return offset;
}

/* ---- describing ---- */

/* All handlers, and how their kernels are linked: any of them may change what a request does. 0: one of them is unknown. */
static uint64_t hash_handlers(const struct gyre_kept_stages *stages)
{
    uint64_t hash = stages->wiring;
    for (uint32_t i = 0; i < stages->count; i++) {
        const uint64_t one = stages->all[i].handler;
        if (!one)
            return 0;
        hash = (hash ^ one) * UINT64_C(0x100000001b3);
    }
    return hash ? hash : 1;
}

/* The parts of a stage have its name, and behind it that of their buffer. */
static gyre_status describe_stage(struct gyre_durable *durable, const struct gyre_kept_stage *stage)
{
    struct gyre_journal_type *types = durable->types;
    const size_t first = durable->type_count;
    gyre_status status = gyre_durable_describe_kept(durable, stage->kernel);
    for (size_t i = first; status == GYRE_OK && i < durable->type_count; i++) {
        char name[sizeof types->about.name] = ""; /* to its end: names are compared as bytes */
        const char *const buffer = types[i].about.name;
        const int length = snprintf(name, sizeof name, "%s%s%s", stage->name, buffer[0] ? "/" : "", buffer);
        if (length >= (int)sizeof name)
            return gyre_error_set(GYRE_INVALID,
                                  "the names of kernel '%s' and its buffer '%s' are too long together for a "
                                  "journal of their pipeline: %d characters at most",
                                  stage->name, buffer, (int)sizeof name - 2);
        memcpy(types[i].about.name, name, sizeof name);
    }
    return status;
}

static gyre_status describe_stages(struct gyre_durable *durable)
{
    const struct gyre_kept_stages *stages = &durable->together->stages;
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < stages->count; i++) {
        const struct gyre_kept_stage *stage = &stages->all[i];
        if (!stage->checkpoints)
            continue;
        status =
            gyre_keyed_has_ticks(stage->kernel)
                ? gyre_error_set(GYRE_INVALID,
                                 "kernel '%s' has reminders, and a journal of its pipeline could not say "
                                 "when they were due: leave durability out",
                                 stage->name)
                : describe_stage(durable, stage);
    }
    return status;
}

static gyre_status describe(struct gyre_durable *durable, const gyre_kernel *kernel,
                            const struct gyre_kernel_face *face, const char *queue)
{
    struct gyre_durable_together *together = durable->together;
    struct gyre_record_open *open = &together->open;
    gyre_status status = gyre_durable_describe_messages(durable, face->record, open);
    if (status == GYRE_OK)
        status = describe_stages(durable);
    if (status != GYRE_OK)
        return status;
    open->version = GYRE_JOURNAL_VERSION;
    open->state_size = offset_of(&together->stages, NULL);
    open->handler = hash_handlers(&together->stages);
    snprintf(open->kernel, sizeof open->kernel, "%s", find_stage(&together->stages, kernel)->name);
    snprintf(open->queue, sizeof open->queue, "%s", queue);
    return open->state_size ? gyre_store_create(open->state_size, &together->store) : GYRE_OK;
}

gyre_status gyre_together_describe(struct gyre_durable *durable, const gyre_kernel *kernel,
                                   const struct gyre_kernel_face *face, const char *queue)
{
    struct gyre_durable_together *together = durable->together = calloc(1, sizeof *together);
    if (!together)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a journal");
    together->stages = *face->kept;
    together->store.region = GYRE_REGION_NONE;
    snprintf(together->pipeline, sizeof together->pipeline, "%s", together->stages.pipeline);
    return describe(durable, kernel, face, queue);
}

/* ---- the pipeline that wrote a journal ---- */

static gyre_status refuse(const struct gyre_durable *durable, const char *what, const char *name)
{
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "the journal '%s' is not of pipeline '%s' as it is now: %s%s%s. Open the pipeline that wrote it, or move the "
        "journal away to begin without the state and the requests that it keeps",
        durable->file.path, durable->together->pipeline, what, name[0] ? " " : "", name);
}

static const struct gyre_journal_type *find_part(const struct gyre_journal_type *types, size_t count,
                                                 const struct gyre_journal_type *like)
{
    for (size_t i = 0; i < count; i++)
        if (types[i].about.size && strcmp(types[i].about.name, like->about.name) == 0)
            return &types[i];
    return NULL;
}

/* Whether two parts, or two types of messages, are the same, wherever they lie. */
static gyre_status compare_types(const struct gyre_journal_type *was, const struct gyre_journal_type *is,
                                 bool *same)
{
    struct gyre_upgrade_step step;
    const gyre_status status = gyre_upgrade_step_begin(was->type, is->type, &step);
    *same = status == GYRE_OK && step.same && was->about.role == is->about.role &&
            was->about.size == is->about.size;
    gyre_upgrade_step_finish(&step);
    return status;
}

/* What one side has and the other one has not is told by its name; then what differs. */
static gyre_status check_parts(const struct gyre_durable *durable)
{
    const struct gyre_journal_types *its = &durable->content.types;
    for (size_t i = 0; i < durable->type_count; i++)
        if (durable->types[i].about.size && !find_part(its->all, its->count, &durable->types[i]))
            return refuse(durable, "it holds nothing of what is kept by stage", durable->types[i].about.name);
    for (size_t i = 0; i < its->count; i++)
        if (its->all[i].about.size && !find_part(durable->types, durable->type_count, &its->all[i]))
            return refuse(durable, "it holds what was kept by stage", its->all[i].about.name);
    return GYRE_OK;
}

/* The type in the journal that stands for type `index` of the pipeline; behind check_parts. NULL: it has too few. */
static const struct gyre_journal_type *find_its(const struct gyre_durable *durable, size_t index)
{
    const struct gyre_journal_types *its = &durable->content.types;
    if (durable->types[index].about.size)
        return find_part(its->all, its->count, &durable->types[index]);
    return index < its->count ? &its->all[index] : NULL;
}

static gyre_status check_types(const struct gyre_durable *durable)
{
    static const char *const messages[] = {"its requests are of another type",
                                           "its replies are of another type"};
    gyre_status status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && i < durable->type_count; i++) {
        const struct gyre_journal_type *was = find_its(durable, i);
        bool same = true;
        if (was)
            status = compare_types(was, &durable->types[i], &same);
        if (status == GYRE_OK && !same)
            status = i < 2 ? refuse(durable, messages[i], "")
                           : refuse(durable, "of another type, or of another size, is what is kept by stage",
                                    durable->types[i].about.name);
    }
    return status;
}

/* Behind check_types. Each part has its place in the state. */
static gyre_status check_places(const struct gyre_durable *durable)
{
    if (durable->content.types.count != durable->type_count ||
        durable->content.open.state_size != durable->together->open.state_size)
        return refuse(durable, "it holds something else than what its stages keep", "");
    for (size_t i = 0; i < durable->type_count; i++)
        if (find_its(durable, i)->about.offset != durable->types[i].about.offset)
            return refuse(durable, "at another place is what is kept by stage", durable->types[i].about.name);
    return GYRE_OK;
}

gyre_status gyre_together_check(struct gyre_durable *durable)
{
    const struct gyre_durable_together *together = durable->together;
    char whose[GYRE_NAME_MAX + 32];
    gyre_status status = check_parts(durable);
    if (status == GYRE_OK)
        status = check_types(durable);
    if (status == GYRE_OK)
        status = check_places(durable);
    if (status != GYRE_OK)
        return status;
    snprintf(whose, sizeof whose, "a stage of pipeline '%s'", together->pipeline);
    return gyre_change_judge(durable->kernel, whose, together->open.handler, durable->file.path,
                             &durable->content);
}

/* ---- checkpoints ---- */

static struct gyre_durable *durable_of(const gyre_queue *entry)
{
    return gyre_view_of(entry)->durable;
}

bool gyre_together_has_kept(const gyre_queue *entry)
{
    return durable_of(entry)->content.state != NULL;
}

gyre_status gyre_together_draw(gyre_kernel *kernel, const gyre_queue *entry)
{
    const struct gyre_durable *durable = durable_of(entry);
    const struct gyre_kept_stages *stages = &durable->together->stages;
    const struct gyre_kept_stage *stage = find_stage(stages, kernel);
    struct gyre_store *store = &stage->checkpoints->store;
    if (!size_of(stage))
        return GYRE_OK;
    const unsigned char *kept = durable->content.state + offset_of(stages, stage);
    const gyre_status status = gyre_keyed_check_saved(kernel, kept);
    if (status != GYRE_OK)
        return status;
    memcpy(gyre_store_next(store), kept, store->size);
    gyre_store_seal(store);
    return GYRE_OK;
}

gyre_status gyre_together_gather(const gyre_queue *entry)
{
    struct gyre_durable_together *together = durable_of(entry)->together;
    const struct gyre_kept_stages *stages = &together->stages;
    if (!together->store.size)
        return GYRE_OK;
    unsigned char *to = gyre_store_next(&together->store);
    for (uint32_t i = 0; i < stages->count; i++) {
        const uint64_t size = size_of(&stages->all[i]);
        const unsigned char *from = size ? gyre_store_last(&stages->all[i].checkpoints->store) : NULL;
        if (size && !from)
            return gyre_error_set(
                GYRE_INTERNAL, "the last checkpoint of kernel '%s' is damaged: its hash is not what it was",
                stages->all[i].name);
        if (size)
            memcpy(to, from, size);
        to += size;
    }
    gyre_store_seal(&together->store);
    gyre_store_commit(&together->store);
    return GYRE_OK;
}

gyre_status gyre_together_begin(gyre_queue *entry)
{
    const gyre_status status = gyre_durable_begin_queue(entry);
    if (status == GYRE_OK)
        gyre_durable_forget_queue(durable_of(entry));
    return status;
}

void gyre_together_write(const gyre_queue *entry, bool last)
{
    gyre_durable_write(durable_of(entry), last);
}
