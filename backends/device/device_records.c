/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the texts in a device's compiled file into message types, and its record of a kernel into the core's
 * record. The file answers through functions, so this code does not know the file's form. Takes no lock: one
 * thread reads a module, and afterwards it is constant.
 */
#include "backends/device/device_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

/* A message type; its field_types and name are part of the same allocation. */
struct type {
    struct type *next;
    gyre_type type;
    const gyre_type *members[]; /* the types of the fields, then NULL; the name follows */
};

/* The types of a kernel's buffers, then NULL. */
struct buffer_list {
    struct buffer_list *next;
    const gyre_type *types[];
};

/* "ask;look;": the types, among a kernel's message types, that GYRE_QUERY handles. */
struct query_list {
    struct query_list *next;
    char names[];
};

/* The ports of a kernel; their names are copies behind them. */
struct port_list {
    struct port_list *next;
    gyre_port_record ports[GYRE_PORTS_MAX];
    const gyre_type *answers[GYRE_PORTS_MAX]; /* NULL of a port that does not ask */
    char names[];
};

struct device_types {
    struct type *types;
    struct buffer_list *buffers;
    struct query_list *queries;
    struct port_list *ports;
};

gyre_status device_file_damaged(const struct device_file *file, const char *what, const char *name)
{
    return file->host->error(GYRE_INCOMPATIBLE,
                             "'%s' %s '%s': it is damaged, or was compiled with "
                             "the kernel headers of another Gyre; compile it again",
                             file->path, what, name);
}

gyre_status device_file_no_memory(const struct device_file *file)
{
    return file->host->error(GYRE_EXHAUSTED, "no memory for the kernels of '%s'", file->path);
}

/* ---- types ---- */

/* One reading of a file. */
struct reader {
    const struct device_file *file;
    struct device_types *types;
};

static const gyre_type *find_scalar(const char *name, size_t length)
{
    static const gyre_type *const scalars[] = {GYRE_BUILT_IN_TYPES_};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (strlen(scalars[i]->name) == length && memcmp(scalars[i]->name, name, length) == 0)
            return scalars[i];
    return NULL;
}

static size_t count_fields(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == ';';
    return count;
}

/* Returns the first word from `at` on: a type's name. */
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

/* Reads a type. It enters the list when it is complete, so no type can be its own part. */
static gyre_status read_type(const struct reader *reader, const char *name, size_t length, int depth,
                             const gyre_type **out)
{
    char copy[128];
    gyre_u64 layout[2];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    const char *text = reader->file->find_text(reader->file->self, "gyre_text_", copy);
    if (!text || length >= sizeof copy || depth > DEPTH_MAX ||
        !reader->file->find_layout(reader->file->self, copy, layout))
        return device_file_damaged(reader->file, "does not describe the message type", copy);
    struct type *made = make_type(name, length, count_fields(text));
    if (!made)
        return device_file_no_memory(reader->file);
    made->type.fields = text;
    made->type.size = layout[0];
    made->type.alignment = layout[1];
    gyre_status status = find_members(reader, made, depth);
    if (status != GYRE_OK) {
        free(made);
        return status;
    }
    made->next = reader->types->types;
    reader->types->types = made;
    *out = &made->type;
    return GYRE_OK;
}

static gyre_status find_type(const struct reader *reader, const char *name, size_t length, int depth,
                             const gyre_type **out)
{
    *out = find_scalar(name, length);
    for (const struct type *at = reader->types->types; at && !*out; at = at->next)
        if (strlen(at->type.name) == length && memcmp(at->type.name, name, length) == 0)
            *out = &at->type;
    return *out ? GYRE_OK : read_type(reader, name, length, depth, out);
}

/* ---- kernels ---- */

static gyre_status read_buffers(const struct reader *reader, const gyre_device_kernel *seen,
                                gyre_kernel_record *record)
{
    static const gyre_type *const none[] = {NULL};
    record->buffers = "";
    record->buffer_types = none;
    if (strcmp(seen->buffers, "gyre_none") == 0)
        return GYRE_OK;
    const char *text = reader->file->find_text(reader->file->self, "gyre_buffers_text_", seen->buffers);
    if (!text)
        return device_file_damaged(reader->file, "does not describe the buffers", seen->buffers);
    struct buffer_list *list = calloc(1, sizeof *list + (count_fields(text) + 1) * sizeof list->types[0]);
    if (!list)
        return device_file_no_memory(reader->file);
    list->next = reader->types->buffers;
    reader->types->buffers = list;
    record->buffers = text;
    record->buffer_types = list->types;
    gyre_status status = GYRE_OK;
    size_t count = 0;
    for (const char *at = text; status == GYRE_OK && strchr(at, ';'); at = strchr(at, ';') + 1) {
        size_t length;
        const char *word = first_word(at, &length); /* in, inout */
        word = first_word(word + length, &length);
        status = find_type(reader, word, length, 0, &list->types[count++]);
    }
    return status;
}

/* Reads the types of a kernel with several types, which the file marks. */
static gyre_status read_queries(const struct reader *reader, gyre_kernel_record *record)
{
    size_t size = 1, used = 0;
    const gyre_type *const *members = record->request->field_types;
    record->queries = "";
    for (size_t i = 0; members && members[i]; i++)
        size += strlen(members[i]->name) + 1;
    if (size == 1)
        return GYRE_OK;
    struct query_list *list = calloc(1, sizeof *list + size);
    if (!list)
        return device_file_no_memory(reader->file);
    list->next = reader->types->queries;
    reader->types->queries = list;
    record->queries = list->names;
    for (size_t i = 0; members[i]; i++)
        if (reader->file->find_text(reader->file->self, "gyre_query_", members[i]->name))
            used += (size_t)snprintf(list->names + used, size - used, "%s;", members[i]->name);
    return GYRE_OK;
}

/* Reads one port, "TYPE NAME;", or "TYPE NAME ANSWER;" of one that asks. */
static gyre_status read_port(const struct reader *reader, const char *text, gyre_port_record *port,
                             const gyre_type **answer, char **names)
{
    size_t length;
    const char *word = first_word(text, &length);
    const gyre_status status = find_type(reader, word, length, 0, &port->type);
    if (status != GYRE_OK)
        return status;
    word = first_word(word + length, &length);
    memcpy(*names, word, length); /* zeroed before */
    port->name = *names;
    *names += length + 1;
    word = first_word(word + length, &length);
    return length ? find_type(reader, word, length, 0, answer) : GYRE_OK;
}

/* Reads the ports that the file says the kernel has, and whether it can be a stage. */
static gyre_status read_ports(const struct reader *reader, gyre_kernel_record *record)
{
    const struct device_file *file = reader->file;
    const char *group = file->find_most ? file->find_text(file->self, "gyre_leads_", record->name) : NULL;
    gyre_u32 most[GYRE_PORTS_MAX];
    record->is_island = !file->find_text(file->self, "gyre_stage_", record->name);
    if (!group)
        return GYRE_OK;
    const char *text = file->find_text(file->self, "gyre_ports_text_", group);
    const size_t count = text ? count_fields(text) : 0;
    if (count < 1 || count > GYRE_PORTS_MAX || !file->find_most(file->self, group, most, (uint32_t)count))
        return device_file_damaged(file, "does not describe the ports", group);
    struct port_list *list = calloc(1, sizeof *list + strlen(text) + 1);
    if (!list)
        return device_file_no_memory(file);
    list->next = reader->types->ports;
    reader->types->ports = list;
    char *names = list->names;
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < count && status == GYRE_OK; i++, text = strchr(text, ';') + 1) {
        status = read_port(reader, text, &list->ports[i], &list->answers[i], &names);
        list->ports[i].most = most[i];
        if (list->answers[i])
            record->asks = list->answers;
    }
    record->ports = list->ports;
    record->port_count = (uint32_t)count;
    return status;
}

static gyre_status read_kernel_types(const struct reader *reader, const gyre_device_kernel *seen,
                                     gyre_kernel_record *record)
{
    const struct {
        const char *name;
        const gyre_type **type;
        gyre_u64 seen;
    } roles[] = {{seen->request, &record->request, seen->request_size},
                 {seen->reply, &record->reply, seen->reply_size},
                 {seen->state, &record->state, seen->state_size}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        gyre_status status = find_type(reader, roles[i].name, strlen(roles[i].name), 0, roles[i].type);
        if (status != GYRE_OK)
            return status;
        if ((*roles[i].type)->size != roles[i].seen)
            return device_file_damaged(reader->file, "tells two sizes of the message type", roles[i].name);
    }
    gyre_status status = read_buffers(reader, seen, record);
    if (status == GYRE_OK)
        status = read_queries(reader, record);
    return status == GYRE_OK ? read_ports(reader, record) : status;
}

static bool texts_end(const gyre_device_kernel *seen)
{
    return memchr(seen->name, 0, sizeof seen->name) && memchr(seen->request, 0, sizeof seen->request) &&
           memchr(seen->reply, 0, sizeof seen->reply) && memchr(seen->state, 0, sizeof seen->state) &&
           memchr(seen->buffers, 0, sizeof seen->buffers);
}

gyre_status device_record_read(const struct device_file *file, struct device_types *types,
                               const struct device_bytes *bytes, gyre_device_kernel *seen,
                               gyre_kernel_record *record)
{
    const struct reader reader = {.file = file, .types = types};
    if (!bytes->start || bytes->size != sizeof *seen)
        return device_file_damaged(file, "does not describe", bytes->name);
    memcpy(seen, bytes->start, sizeof *seen);
    if (seen->version != GYRE_DEVICE_MODULE_VERSION)
        return file->host->error(GYRE_INCOMPATIBLE,
                                 "'%s' was compiled with the kernel headers of another Gyre (module version "
                                 "%u, this one needs %u): compile it again",
                                 file->path, seen->version, GYRE_DEVICE_MODULE_VERSION);
    if (!texts_end(seen))
        return device_file_damaged(file, "does not describe", bytes->name);
    record->name = seen->name;
    record->form = (gyre_form)seen->form;
    record->scratch_size = gyre_form_shares((gyre_form)seen->form) ? seen->scratch_size : 0;
    if (record->form == GYRE_FORM_KEYED) { /* the core checks what the key names */
        record->key = file->find_text(file->self, "gyre_key_", record->name);
        record->reminds = file->find_text(file->self, "gyre_reminds_", record->name) != NULL;
    }
    return read_kernel_types(&reader, seen, record);
}

bool device_record_named(const char *name)
{
    static const char prefix[] = "gyre_kernel_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

struct device_types *device_types_create(void)
{
    return calloc(1, sizeof(struct device_types));
}

void device_types_release(struct device_types *types)
{
    if (!types)
        return;
    while (types->types) {
        struct type *type = types->types;
        types->types = type->next;
        free(type);
    }
    while (types->buffers) {
        struct buffer_list *list = types->buffers;
        types->buffers = list->next;
        free(list);
    }
    while (types->queries) {
        struct query_list *list = types->queries;
        types->queries = list->next;
        free(list);
    }
    while (types->ports) {
        struct port_list *list = types->ports;
        types->ports = list->next;
        free(list);
    }
    free(types);
}

gyre_status device_record_tell(const gyre_host *host, const gyre_kernel_record *own, uint32_t count,
                               uint32_t index, gyre_kernel_record *out)
{
    const size_t size = out->size;
    if (!own)
        return host->error(GYRE_NOT_FOUND, "the file has %u kernels, there is none with index %u", count,
                           index);
    memcpy(out, own, size < sizeof *own ? size : sizeof *own);
    out->size = size;
    return GYRE_OK;
}
