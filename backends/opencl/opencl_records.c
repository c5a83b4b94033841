/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a file's items to descriptions of kernels and message types. The texts stay where they are, in a copy
 * of the items that the records own. No locks: a module is read by one thread and constant afterwards.
 */
#include "opencl_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

/* A message type; field_types and name are part of the same allocation. */
struct type {
    struct type *next;
    gyre_type type;
    const gyre_type *members[]; /* of the fields, then NULL; the name follows */
};

struct opencl_records {
    unsigned char *copy; /* of the items, what follows the list's head */
    size_t size;
    struct type *types;
    const gyre_type ***buffer_lists; /* one a kernel: element types, then NULL */
    size_t buffer_list_count;
};

/* One reading: what sentences are about. */
struct reader {
    const gyre_host *host;
    struct opencl_records *records;
    const char *path;
};

static gyre_status damaged(const struct reader *reader, const char *what, const char *name)
{
    return reader->host->error(
        GYRE_INCOMPATIBLE,
        "'%s' %s '%s': it is damaged, or was compiled with the kernel headers of another "
        "Gyre; compile it again",
        reader->path, what, name);
}

static gyre_status no_memory(const struct reader *reader)
{
    return reader->host->error(GYRE_EXHAUSTED, "no memory for the kernels of '%s'", reader->path);
}

/* ---- types ---- */

static const gyre_type *find_scalar(const char *name, size_t length)
{
    static const gyre_type *const scalars[] = {GYRE_BUILT_IN_TYPES_};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (strlen(scalars[i]->name) == length && memcmp(scalars[i]->name, name, length) == 0)
            return scalars[i];
    return NULL;
}

/* The item at *at, and *at moved to the next; NULL behind the last. */
static const gyre_item *next_item(const struct opencl_records *records, size_t *at)
{
    const size_t left = records->size - *at;
    if (left < sizeof(gyre_item))
        return NULL;
    const gyre_item *item = (const gyre_item *)(const void *)(records->copy + *at);
    const uint64_t whole = sizeof *item + ((uint64_t)item->size + 7) / 8 * 8;
    if (item->name_size == 0 || whole > left || !memchr(item->name, 0, sizeof item->name))
        return NULL;
    *at += whole;
    return item;
}

static const gyre_item *find_item(const struct opencl_records *records, const char *prefix, const char *name)
{
    char wanted[192];
    const gyre_item *item;
    size_t at = 0;
    snprintf(wanted, sizeof wanted, "%s%s", prefix, name);
    while ((item = next_item(records, &at)) && strcmp(item->name, wanted) != 0)
        ;
    return item;
}

/* The text in the item PREFIX NAME; NULL when there is none that ends. */
static const char *find_text(const struct reader *reader, const char *prefix, const char *name)
{
    const gyre_item *item = find_item(reader->records, prefix, name);
    const char *text = item ? (const char *)(item + 1) : NULL;
    return text && memchr(text, 0, item->size) ? text : NULL;
}

static bool find_layout(const struct reader *reader, const char *name, gyre_u64 layout[2])
{
    const gyre_item *item = find_item(reader->records, "gyre_layout_", name);
    if (item)
        memcpy(layout, item->layout, sizeof item->layout);
    return item != NULL;
}

static size_t count_fields(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == ';';
    return count;
}

/* The first word from `at` on: a type's name. */
static const char *first_word(const char *at, size_t *length)
{
    at += strspn(at, " \t");
    *length = strcspn(at, " \t*[;");
    return at;
}

static struct type *make_type(const char *name, size_t length, size_t field_count)
{
    const size_t members = (field_count + 1) * sizeof(const gyre_type *);
    struct type *made = calloc(1, sizeof *made + members + length + 1);
    if (!made)
        return NULL;
    char *copy = (char *)made->members + members;
    memcpy(copy, name, length);
    made->type.name = copy;
    made->type.field_types = made->members;
    return made;
}

static gyre_status find_type(const struct reader *reader, const char *name, size_t length, int depth,
                             const gyre_type **out);

static gyre_status find_members(const struct reader *reader, struct type *made, int depth)
{
    gyre_status status = GYRE_OK;
    size_t count = 0, length;
    for (const char *at = made->type.fields; status == GYRE_OK && strchr(at, ';'); at = strchr(at, ';') + 1) {
        const char *word = first_word(at, &length);
        status = find_type(reader, word, length, depth + 1, &made->members[count++]);
    }
    return status;
}

/* A type enters the list when it is complete, so none can be its own part. */
static gyre_status read_type(const struct reader *reader, const char *name, size_t length, int depth,
                             const gyre_type **out)
{
    char copy[128];
    gyre_u64 layout[2];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    const char *text = find_text(reader, "gyre_text_", copy);
    if (!text || length >= sizeof copy || depth > DEPTH_MAX || !find_layout(reader, copy, layout))
        return damaged(reader, "does not describe the message type", copy);
    struct type *made = make_type(name, length, count_fields(text));
    if (!made)
        return no_memory(reader);
    made->type.fields = text;
    made->type.size = layout[0];
    made->type.alignment = layout[1];
    gyre_status status = find_members(reader, made, depth);
    if (status != GYRE_OK) {
        free(made);
        return status;
    }
    made->next = reader->records->types;
    reader->records->types = made;
    *out = &made->type;
    return GYRE_OK;
}

static gyre_status find_type(const struct reader *reader, const char *name, size_t length, int depth,
                             const gyre_type **out)
{
    *out = find_scalar(name, length);
    for (const struct type *at = reader->records->types; at && !*out; at = at->next)
        if (strlen(at->type.name) == length && memcmp(at->type.name, name, length) == 0)
            *out = &at->type;
    return *out ? GYRE_OK : read_type(reader, name, length, depth, out);
}

/* ---- kernels ---- */

static gyre_status read_buffers(const struct reader *reader, struct opencl_kernel *kernel)
{
    static const gyre_type *const none[] = {NULL};
    struct opencl_records *records = reader->records;
    kernel->record.buffers = "";
    kernel->record.buffer_types = none;
    if (strcmp(kernel->seen.buffers, "gyre_none") == 0)
        return GYRE_OK;
    const char *text = find_text(reader, "gyre_buffers_text_", kernel->seen.buffers);
    if (!text)
        return damaged(reader, "does not describe the buffers", kernel->seen.buffers);
    const gyre_type **types = calloc(count_fields(text) + 1, sizeof *types);
    if (!types)
        return no_memory(reader);
    records->buffer_lists[records->buffer_list_count++] = types;
    kernel->record.buffers = text;
    kernel->record.buffer_types = types;
    gyre_status status = GYRE_OK;
    for (const char *at = text; status == GYRE_OK && strchr(at, ';'); at = strchr(at, ';') + 1) {
        size_t length;
        const char *word = first_word(at, &length); /* in, inout */
        word = first_word(word + length, &length);
        status = find_type(reader, word, length, 0, types++);
    }
    return status;
}

static gyre_status read_kernel_types(const struct reader *reader, struct opencl_kernel *kernel)
{
    const struct {
        const char *name;
        const gyre_type **type;
        gyre_u64 seen;
    } roles[] = {{kernel->seen.request, &kernel->record.request, kernel->seen.request_size},
                 {kernel->seen.reply, &kernel->record.reply, kernel->seen.reply_size},
                 {kernel->seen.state, &kernel->record.state, kernel->seen.state_size}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        gyre_status status = find_type(reader, roles[i].name, strlen(roles[i].name), 0, roles[i].type);
        if (status != GYRE_OK)
            return status;
        if ((*roles[i].type)->size != roles[i].seen)
            return damaged(reader, "tells two sizes of the message type", roles[i].name);
    }
    return read_buffers(reader, kernel);
}

static bool texts_end(const gyre_device_kernel *seen)
{
    return memchr(seen->name, 0, sizeof seen->name) && memchr(seen->request, 0, sizeof seen->request) &&
           memchr(seen->reply, 0, sizeof seen->reply) && memchr(seen->state, 0, sizeof seen->state) &&
           memchr(seen->buffers, 0, sizeof seen->buffers);
}

static gyre_status read_kernel(const struct reader *reader, gyre_module *module, const gyre_item *item)
{
    struct opencl_kernel *kernel = &module->kernels[module->kernel_count++];
    gyre_device_kernel *seen = &kernel->seen;
    if (item->size != sizeof *seen)
        return damaged(reader, "does not describe", item->name);
    memcpy(seen, item + 1, sizeof *seen);
    if (seen->version != GYRE_DEVICE_MODULE_VERSION)
        return reader->host->error(GYRE_INCOMPATIBLE,
                                   "'%s' was compiled with the kernel headers of another Gyre (kernel "
                                   "version %u, this one needs %u): "
                                   "compile it again",
                                   reader->path, seen->version, GYRE_DEVICE_MODULE_VERSION);
    if (!texts_end(seen))
        return damaged(reader, "does not describe", item->name);
    kernel->record.form = (gyre_form)seen->form;
    kernel->record.scratch_size = seen->form == GYRE_FORM_BLOCK ? seen->scratch_size : 0;
    return read_kernel_types(reader, kernel);
}

static bool is_kernel(const gyre_item *item)
{
    static const char prefix[] = "gyre_kernel_";
    return strncmp(item->name, prefix, sizeof prefix - 1) == 0;
}

static int compare_lines(const void *a, const void *b)
{
    const struct opencl_kernel *left = a, *right = b;
    return (left->seen.line > right->seen.line) - (left->seen.line < right->seen.line);
}

static gyre_status read_kernels(const struct reader *reader, gyre_module *module)
{
    struct opencl_records *records = reader->records;
    const gyre_item *item;
    size_t count = 0, at = 0;
    while ((item = next_item(records, &at)))
        count += is_kernel(item);
    module->kernels = calloc(count + 1, sizeof *module->kernels);
    records->buffer_lists = calloc(count + 1, sizeof *records->buffer_lists);
    if (!module->kernels || !records->buffer_lists)
        return no_memory(reader);
    gyre_status status = GYRE_OK;
    at = 0;
    while (status == GYRE_OK && (item = next_item(records, &at)))
        if (is_kernel(item))
            status = read_kernel(reader, module, item);
    qsort(module->kernels, module->kernel_count, sizeof *module->kernels, compare_lines);
    for (uint32_t i = 0; i < module->kernel_count; i++) /* sorting moved what names point to */
        module->kernels[i].record.name = module->kernels[i].seen.name;
    return status;
}

gyre_status opencl_records_read(gyre_module *module, const char *path, const struct opencl_part *items)
{
    struct reader reader = {.host = module->device->host, .path = path};
    struct opencl_records *records = calloc(1, sizeof *records);
    module->records = reader.records = records;
    if (!records)
        return no_memory(&reader);
    if (items->size < sizeof(gyre_item_list))
        return damaged(&reader, "does not describe", "its kernels");
    records->size = items->size - sizeof(gyre_item_list);
    records->copy = malloc(records->size + 1);
    if (!records->copy)
        return no_memory(&reader);
    memcpy(records->copy, (const char *)items->bytes + sizeof(gyre_item_list), records->size);
    return read_kernels(&reader, module);
}

void opencl_records_release(struct opencl_records *records)
{
    if (!records)
        return;
    while (records->types) {
        struct type *type = records->types;
        records->types = type->next;
        free(type);
    }
    for (size_t i = 0; i < records->buffer_list_count; i++)
        free(records->buffer_lists[i]);
    free(records->buffer_lists);
    free(records->copy);
    free(records);
}
