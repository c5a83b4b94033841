/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a build, a loaded kernel file (stages load and verify, loading.h), and answers questions about it (build.h).
 * Takes no lock, because nobody changes a build after the pipeline returned it; its owners are counted by atomics.
 */
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pipeline/build.h"
#include "core/pipeline/loading.h"
#include "core/types/buffers.h"
#include "core/types/key.h"
#include "core/types/types.h"
#include "gyre/keyed_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 4096 };

const char *gyre_form_word(gyre_form form)
{
    switch (form) {
    case GYRE_FORM_LANE:
        return "lane";
    case GYRE_FORM_BLOCK:
        return "block";
    case GYRE_FORM_ACTOR:
        return "actor";
    case GYRE_FORM_KEYED:
        return "keyed";
    case GYRE_FORM_GRID:
        return "grid";
    }
    return "unknown";
}

gyre_status gyre_build_create(struct gyre_dispatch *device, const struct gyre_source *source,
                              struct gyre_build **out)
{
    struct gyre_build *build = calloc(1, sizeof *build);
    *out = build;
    if (!build)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a compiled kernel");
    build->owners = 1;
    build->device = gyre_dispatch_retain(device);
    memcpy(build->kernel, source->kernel, sizeof build->kernel);
    memcpy(build->file, source->path, sizeof build->file);
    build->compiled_before = source->is_artifact;
    build->text = source->text ? strdup(source->text) : NULL;
    return GYRE_OK;
}

struct gyre_build *gyre_build_retain(struct gyre_build *build)
{
    __atomic_fetch_add(&build->owners, 1, __ATOMIC_RELAXED);
    return build;
}

void gyre_build_release(struct gyre_build *build)
{
    if (!build || __atomic_sub_fetch(&build->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    gyre_dispatch_module_release(build->device, build->module);
    gyre_dispatch_close(build->device);
    free(build->records);
    free(build->text);
    free(build);
}

/* ---- load ---- */

static gyre_status add_record(struct gyre_build *build, const gyre_kernel_record *record)
{
    gyre_kernel_record *grown = realloc(build->records, (build->count + 1) * sizeof *grown);
    if (!grown)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the kernels of '%s'", build->file);
    build->records = grown;
    build->records[build->count++] = *record;
    return GYRE_OK;
}

static bool is_migration(const gyre_kernel_record *record)
{
    static const char prefix[] = "gyre_migrate_"; /* dialect/forms.h */
    return strncmp(record->name, prefix, sizeof prefix - 1) == 0;
}

/*
 * Sorts the records: the kernels first, in the order of the file; behind them the migrations, which `count` does not
 * count.
 */
static void part_records(struct gyre_build *build)
{
    const size_t all = build->count;
    for (size_t i = 0, kernels = 0; i < all; i++) {
        const gyre_kernel_record record = build->records[i];
        if (is_migration(&record))
            continue;
        memmove(&build->records[kernels + 1], &build->records[kernels], (i - kernels) * sizeof record);
        build->records[kernels++] = record;
        build->count = kernels;
    }
    if (all && is_migration(&build->records[0]))
        build->count = 0;
    build->migrations = all - build->count;
}

static gyre_status read_records(struct gyre_build *build)
{
    for (uint32_t index = 0; index < KERNELS_MAX; index++) {
        gyre_kernel_record record;
        gyre_status status = gyre_dispatch_module_kernel(build->device, build->module, index, &record);
        if (status == GYRE_NOT_FOUND) {
            gyre_error_clear();
            part_records(build);
            return GYRE_OK;
        }
        if (status == GYRE_OK)
            status = add_record(build, &record);
        if (status != GYRE_OK)
            return status;
    }
    return gyre_error_set(GYRE_INVALID, "'%s' has more than %d kernels", build->file, KERNELS_MAX);
}

gyre_status gyre_build_load(struct gyre_build *build, const char *path, const struct gyre_artifact *artifact)
{
    gyre_module_desc desc = {.size = sizeof desc,
                             .artifact_path = path,
                             .artifact = artifact->map,
                             .artifact_size = artifact->image_size};
    if (build->compiled_before)
        gyre_artifact_note(artifact, "options", build->options, sizeof build->options);
    gyre_status status = gyre_dispatch_module_load(build->device, &desc, &build->module);
    if (status == GYRE_OK)
        status = read_records(build);
    if (status == GYRE_OK && build->count == 0)
        return gyre_error_set(GYRE_INVALID,
                              "no kernel in '%s': a kernel file declares at least one with GYRE_KERNEL, "
                              "GYRE_BLOCK_KERNEL, GYRE_ACTOR or GYRE_KEYED_ACTOR",
                              build->file);
    return status;
}

/* ---- verify ---- */

static gyre_status verify_type(const gyre_kernel_record *record, const char *role, const gyre_type *type,
                               uint64_t size_max, bool may_have_tail)
{
    gyre_layout *layout;
    gyre_status status = gyre_layout_create_message(type, size_max, &layout);
    if (status == GYRE_OK && layout->tail > 0 && !may_have_tail)
        status =
            gyre_error_set(GYRE_INVALID,
                           "'%s' has a tail, which only a request or a reply has: declare the state with "
                           "GYRE_MESSAGE",
                           layout->name);
    gyre_layout_destroy(layout);
    if (status == GYRE_OK)
        return GYRE_OK;
    return gyre_error_add(status, "the %s of kernel '%s'", role, record->name);
}

static gyre_status verify_buffers(const gyre_kernel_record *record)
{
    gyre_buffer_list list;
    gyre_status status = gyre_buffer_list_init(&list, record->buffers, record->buffer_types);
    gyre_buffer_list_finish(&list);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "the buffers of kernel '%s'", record->name);
}

static gyre_status verify_port(const gyre_kernel_record *record, uint32_t index)
{
    const gyre_port_record *port = &record->ports[index];
    char role[GYRE_KERNEL_NAME_SIZE + 32];
    if (!gyre_is_kernel_name(port->name))
        return gyre_error_set(GYRE_INVALID, "port %u of kernel '%s' is named '%s', which is no C identifier",
                              index, record->name, port->name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(record->ports[i].name, port->name) == 0)
            return gyre_error_set(GYRE_INVALID, "two ports of kernel '%s' are named '%s': rename one",
                                  record->name, port->name);
    if (port->most < 1 || port->most > GYRE_PORT_MOST_MAX)
        return gyre_error_set(
            GYRE_INVALID,
            "one call of kernel '%s' may emit %u messages to port '%s': expected 1 to %d, as in PORT(%s, "
            "%s, 8)",
            record->name, port->most, port->name, GYRE_PORT_MOST_MAX, port->type->name, port->name);
    snprintf(role, sizeof role, "message of port '%.*s'", GYRE_KERNEL_NAME_SIZE, port->name);
    const gyre_status status = verify_type(record, role, port->type, GYRE_MESSAGE_MAX, true);
    if (status != GYRE_OK || !record->asks || !record->asks[index])
        return status;
    snprintf(role, sizeof role, "answer to port '%.*s'", GYRE_KERNEL_NAME_SIZE, port->name);
    return verify_type(record, role, record->asks[index], GYRE_MESSAGE_MAX, true);
}

static gyre_status verify_ports(const struct gyre_build *build, const gyre_kernel_record *record)
{
    gyre_status status = GYRE_OK;
    if (record->port_count > 0 && gyre_dispatch_device_info(build->device)->knows_links == 0)
        return gyre_error_set(GYRE_UNIMPLEMENTED, GYRE_PORTS_REFUSED, record->name,
                              gyre_dispatch_backend(build->device));
    for (uint32_t i = 0; status == GYRE_OK && i < record->port_count; i++)
        status = verify_port(record, i);
    return status;
}

static gyre_status verify_key(const struct gyre_build *build, const gyre_kernel_record *record)
{
    struct gyre_message_key key;
    if (record->form != GYRE_FORM_KEYED)
        return GYRE_OK;
    if (!record->key)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is a keyed actor, and backend '%s' keeps no states by key yet: launch it on "
            "backend 'cpu'",
            record->name, gyre_dispatch_backend(build->device));
    gyre_status status = gyre_message_key_find(record->request, record->key, &key);
    if (status == GYRE_OK)
        status = gyre_message_key_check_fixed(&key, GYRE_KEYED_KEY_MAX);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "kernel '%s'", record->name);
}

static gyre_status verify_limits(const struct gyre_build *build, const gyre_kernel_record *record)
{
    const gyre_device_info *device = gyre_dispatch_device_info(build->device);
    if (record->scratch_size > device->scratch_max)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' of '%s' needs %llu bytes of block scratch memory; the device '%s' has %llu",
            record->name, build->file, (unsigned long long)record->scratch_size, device->name,
            (unsigned long long)device->scratch_max);
    if (strlen(record->name) >= GYRE_KERNEL_NAME_SIZE)
        return gyre_error_set(GYRE_INVALID, "the kernel's name '%s' is longer than %d bytes", record->name,
                              GYRE_KERNEL_NAME_SIZE - 1);
    if (!gyre_is_kernel_name(record->name))
        return gyre_error_set(
            GYRE_INVALID,
            "the kernel's name '%s' is no C identifier: letters, digits and '_', no digit first",
            record->name);
    return GYRE_OK;
}

static gyre_status verify_kernel(const struct gyre_build *build, size_t index)
{
    const gyre_kernel_record *record = &build->records[index];
    for (size_t i = 0; i < index; i++)
        if (strcmp(build->records[i].name, record->name) == 0)
            return gyre_error_set(GYRE_INVALID, "two kernels of '%s' are named '%s': rename one", build->file,
                                  record->name);
    gyre_status status = verify_limits(build, record);
    if (status == GYRE_OK)
        status = verify_type(record, "request", record->request, GYRE_MESSAGE_MAX, true);
    if (status == GYRE_OK)
        status = verify_type(record, "reply", record->reply, GYRE_MESSAGE_MAX, true);
    if (status == GYRE_OK)
        status = verify_type(record, "state", record->state, GYRE_STATE_MAX, false);
    if (status == GYRE_OK)
        status = verify_buffers(record);
    if (status == GYRE_OK)
        status = verify_key(build, record);
    return status == GYRE_OK ? verify_ports(build, record) : status;
}

gyre_status gyre_build_verify(const struct gyre_build *build, char *text, size_t size)
{
    for (size_t i = 0; i < build->count + build->migrations; i++) {
        gyre_status status = verify_kernel(build, i);
        if (status != GYRE_OK)
            return status;
    }
    snprintf(text, size, "the sizes that the compiler saw are those of the declarations");
    return GYRE_OK;
}

/* ---- questions ---- */

gyre_module *gyre_build_module(const struct gyre_build *build)
{
    return build->module;
}

const struct gyre_build_report *gyre_build_report(const struct gyre_build *build)
{
    return &build->report;
}

const struct gyre_dispatch *gyre_build_device(const struct gyre_build *build)
{
    return build->device;
}

const char *gyre_build_text(const struct gyre_build *build)
{
    return build->text;
}

bool gyre_build_is_compiled(const struct gyre_build *build)
{
    return build->compiled_before;
}

uint64_t gyre_build_handler(const struct gyre_build *build)
{
    return build->handler;
}

/* Whether `words`, separated by blanks, has the word. */
static bool has_word(const char *words, const char *word, size_t length)
{
    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t")) {
        size_t found = strcspn(words, " \t");
        if (found == length && memcmp(words, word, length) == 0)
            return true;
        words += found;
    }
    return false;
}

bool gyre_build_lacks(const struct gyre_build *build, const char *options, char *lacking, size_t size)
{
    size_t used = 0;
    lacking[0] = '\0';
    if (!build->compiled_before)
        return false;
    for (options += strspn(options, " \t"); *options; options += strspn(options, " \t")) {
        size_t length = strcspn(options, " \t");
        if (!has_word(build->options, options, length) && used + length + 2 < size)
            used += (size_t)snprintf(lacking + used, size - used, "%s%.*s", used ? " " : "", (int)length,
                                     options);
        options += length;
    }
    return used > 0;
}

size_t gyre_build_count(const struct gyre_build *build)
{
    return build->count;
}

const gyre_kernel_record *gyre_build_at(const struct gyre_build *build, size_t index)
{
    return index < build->count ? &build->records[index] : NULL;
}

const gyre_kernel_record *gyre_build_migration(const struct gyre_build *build, size_t index)
{
    return index < build->migrations ? &build->records[build->count + index] : NULL;
}

/* Makes the error about a kernel that the file does not have. `name`: the name that was asked for; "": none was. */
static gyre_status no_such_kernel(const struct gyre_build *build, const char *name)
{
    char list[512], hint[GYRE_TEXT_HINT_SIZE];
    const char **names = calloc(build->count + 1, sizeof *names);
    if (!names)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the kernels of '%s'", build->file);
    for (size_t i = 0; i < build->count; i++)
        names[i] = build->records[i].name;
    gyre_text_list(names, build->count, list, sizeof list);
    gyre_text_hint(name, names, build->count, hint);
    free(names);
    if (!name[0])
        return gyre_error_set(GYRE_INVALID, "'%s' has %zu kernels (%s): say which one, as in %s:%s",
                              build->file, build->count, list, build->file, build->records[0].name);
    return gyre_error_set(GYRE_NOT_FOUND, "there is no kernel '%s' in '%s', which has: %s%s", name,
                          build->file, list, hint);
}

gyre_status gyre_build_kernel(const struct gyre_build *build, const char *name,
                              const gyre_kernel_record **out)
{
    *out = NULL;
    if (!name || !name[0])
        name = build->kernel;
    if (build->kernel[0] && strcmp(build->kernel, name) != 0)
        return gyre_error_set(
            GYRE_INVALID,
            "the launch names the kernel '%s', and its source, '%s:%s', the kernel '%s': name one", name,
            build->file, build->kernel, build->kernel);
    for (size_t i = 0; i < build->count; i++)
        if (strcmp(build->records[i].name, name) == 0)
            *out = &build->records[i];
    if (!name[0] && build->count == 1)
        *out = &build->records[0];
    return *out ? GYRE_OK : no_such_kernel(build, name);
}
