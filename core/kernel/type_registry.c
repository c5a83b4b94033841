/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the message types that a runtime knows from its kernels, from loaded files, and from the program. A type stays listed
 * until the runtime is closed. Lock: runtime->lock for the list; a listed type is constant.
 */
#include "core/kernel/type_registry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/text.h"
#include "core/kernel/type_source.h"
#include "core/ring/slot.h"

enum { LISTED_MAX = 512 };

struct gyre_known_type {
    struct gyre_known_type *next;
    gyre_layout *layout;
};

/* Under the lock: the link to the type of that name and hash, or the end of the list. */
static struct gyre_known_type **find_link(gyre_runtime *runtime, const gyre_layout *layout)
{
    struct gyre_known_type **link = &runtime->types;
    while (*link &&
           (strcmp((*link)->layout->name, layout->name) != 0 || (*link)->layout->hash != layout->hash))
        link = &(*link)->next;
    return link;
}

static gyre_status keep_layout(gyre_runtime *runtime, gyre_layout *layout)
{
    struct gyre_known_type *known = calloc(1, sizeof *known);
    if (!known) {
        gyre_error_set(GYRE_EXHAUSTED, "no memory for the type '%s'", layout->name);
        gyre_layout_destroy(layout);
        return GYRE_EXHAUSTED;
    }
    known->layout = layout;
    pthread_mutex_lock(&runtime->lock);
    struct gyre_known_type **link = find_link(runtime, layout);
    bool is_new = *link == NULL;
    if (is_new)
        *link = known;
    pthread_mutex_unlock(&runtime->lock);
    if (!is_new) {
        gyre_layout_destroy(layout);
        free(known);
    }
    return GYRE_OK;
}

/* True for a type that is listed. Parts, scalars and types that Gyre declares are not listed. */
static bool is_message(const gyre_layout *layout)
{
    return !layout->element && layout->scalar == GYRE_SCALAR_NO && strncmp(layout->name, "gyre_", 5) != 0 &&
           (layout->shape == GYRE_SHAPE_PLAIN || layout->shape == GYRE_SHAPE_CHOICE);
}

/* Adds a type and the types inside it, unless they are known. `context` is the runtime. Inner types come first, so that the
 * list reads from small to large. */
static gyre_status keep_all(void *context, const gyre_type *type)
{
    gyre_runtime *runtime = context;
    gyre_layout *layout = NULL;
    gyre_status status = GYRE_OK;
    if (!type->field_types)
        return GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && type->field_types[i]; i++)
        status = keep_all(runtime, type->field_types[i]);
    if (status == GYRE_OK)
        status = gyre_layout_create(type, GYRE_STATE_MAX, &layout);
    if (status != GYRE_OK)
        return status;
    if (is_message(layout))
        return keep_layout(runtime, layout);
    gyre_layout_destroy(layout);
    return GYRE_OK;
}

void gyre_types_forget(gyre_runtime *runtime)
{
    while (runtime->types) {
        struct gyre_known_type *known = runtime->types;
        runtime->types = known->next;
        gyre_layout_destroy(known->layout);
        free(known);
    }
}

gyre_status gyre_types_of_kernel(const gyre_kernel *kernel)
{
    gyre_status status = keep_all(kernel->runtime, kernel->record->request);
    return status == GYRE_OK ? keep_all(kernel->runtime, kernel->record->reply) : status;
}

gyre_status gyre_type_add(gyre_runtime *runtime, const gyre_type *type)
{
    if (!runtime || !type || !type->name || !type->fields)
        return gyre_error_set(GYRE_INVALID, "gyre_type_add needs a runtime and a type");
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_type_add");
    return status == GYRE_OK ? keep_all(runtime, type) : status;
}

gyre_status gyre_types_load(gyre_runtime *runtime, const char *backend, const char *file)
{
    if (!runtime || !file)
        return gyre_error_set(GYRE_INVALID, "gyre_types_load needs a runtime and a file");
    if (!file[0])
        return gyre_error_set(GYRE_INVALID,
                              "no file was named; expected a header (*.h), a kernel file (*.gyre.c) "
                              "or a file that `gyre compile -o` wrote");
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_types_load");
    return status == GYRE_OK ? gyre_type_source_read(runtime, backend, file, keep_all, runtime) : status;
}

size_t gyre_types(gyre_runtime *runtime, const gyre_type **out, size_t capacity)
{
    size_t count = 0;
    if (!runtime)
        return 0;
    pthread_mutex_lock(&runtime->lock);
    for (const struct gyre_known_type *known = runtime->types; known; known = known->next, count++)
        if (out && count < capacity)
            out[count] = known->layout->type;
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

static gyre_status not_found(gyre_runtime *runtime, const char *name)
{
    const gyre_type *types[LISTED_MAX];
    const char *names[LISTED_MAX];
    char hint[GYRE_TEXT_HINT_SIZE];
    size_t count = gyre_types(runtime, types, LISTED_MAX);
    count = count < LISTED_MAX ? count : LISTED_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = types[i]->name;
    return gyre_error_set(GYRE_NOT_FOUND, "no type '%s' is known%s; launch its kernel, or load its file",
                          name, gyre_text_hint(name, names, count, hint));
}

/* Finds a type by name if one is given, else by id. The type that was added last is found first. */
static const gyre_type *look_up(gyre_runtime *runtime, const char *name, uint64_t id)
{
    const gyre_type *found = NULL;
    pthread_mutex_lock(&runtime->lock);
    for (const struct gyre_known_type *known = runtime->types; known; known = known->next)
        if (name ? strcmp(known->layout->name, name) == 0 : known->layout->hash == id)
            found = known->layout->type;
    pthread_mutex_unlock(&runtime->lock);
    return found;
}

const gyre_type *gyre_type_find(gyre_runtime *runtime, const char *name)
{
    const gyre_type *found = runtime && name ? look_up(runtime, name, 0) : NULL;
    if (!found && runtime && name)
        not_found(runtime, name);
    else if (!found)
        gyre_error_set(GYRE_INVALID, "gyre_type_find needs a runtime and a name");
    return found;
}

const gyre_type *gyre_type_find_id(gyre_runtime *runtime, uint64_t id)
{
    const gyre_type *found = runtime ? look_up(runtime, NULL, id) : NULL;
    if (!found)
        gyre_error_set(GYRE_NOT_FOUND, "no type with the id %016" PRIx64 " is known", id);
    return found;
}

gyre_status gyre_type_info_get(const gyre_type *type, gyre_type_info *info)
{
    gyre_layout *layout = NULL;
    gyre_type_info told = {0};
    if (!type || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_type_info_get", {"type", type}, GYRE_SIZED(info));
    gyre_status status = gyre_layout_create(type, GYRE_STATE_MAX, &layout);
    if (status != GYRE_OK)
        return status;
    told = (gyre_type_info){.id = layout->hash,
                            .bytes = layout->size,
                            .least = layout->least,
                            .fields = layout->field_count,
                            .choices = layout->choice_count};
    if (layout->size <= GYRE_PAYLOAD_MAX && (layout->tail || !layout->has_parts))
        told.slot_bytes = gyre_slot_stride((uint32_t)layout->size);
    gyre_info_give(info, &told, sizeof told);
    gyre_layout_destroy(layout);
    return GYRE_OK;
}
