/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a case: the kernel's types from its module, the rest from JSON. Test code: dies with a sentence. */
#include "kernel_case.h"

#include "cli/json/message_json.h"
#include "core/base/error.h"
#include "core/types/buffers.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void case_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);
    if (!memory)
        case_die("no memory for %zu bytes", size);
    return memory;
}

static const gyre_cpu_kernel *load_kernel(const char *path)
{
    const gyre_cpu_module *(*table)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, GYRE_CPU_MODULE_SYMBOL) : NULL;
    if (!symbol)
        case_die("cannot load %s: %s", path, dlerror());
    memcpy(&table, &symbol, sizeof table);
    const gyre_cpu_module *module = table();
    if (module->version != GYRE_CPU_MODULE_VERSION || module->end - module->first != 1)
        case_die("%s: expected one kernel of module version %d", path, GYRE_CPU_MODULE_VERSION);
    return module->first[0];
}

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout = NULL;
    if (gyre_layout_create(type, GYRE_STATE_MAX, &layout) != GYRE_OK)
        case_die("layout of %s: %s", type->name, gyre_error_text());
    return layout;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void read_message(const gyre_layout *layout, const char *text, size_t length, void *message)
{
    if (message_json_read(layout, text, length, message) != GYRE_OK)
        case_die("%s: %s\n%.*s", layout->name, gyre_error_text(), (int)length, text);
}

static void read_value(const gyre_layout *layout, const json_t *value, void *message)
{
    char *text = json_dumps(value, JSON_REAL_PRECISION(17));
    read_message(layout, text, strlen(text), message);
    free(text);
}

/* Calls `take` for each line of a file; returns how many there were. */
static size_t each_line(const char *path, void (*take)(struct kernel_case *, size_t, const char *, size_t),
                        struct kernel_case *test)
{
    char *line = NULL;
    size_t size = 0, count = 0;
    ssize_t length;
    FILE *file = fopen(path, "r");
    if (!file)
        case_die("cannot open %s", path);
    while ((length = getline(&line, &size, file)) > 0)
        take(test, count++, line, (size_t)length - (line[length - 1] == '\n'));
    free(line);
    fclose(file);
    return count;
}

static void take_request(struct kernel_case *test, size_t index, const char *line, size_t length)
{
    test->requests = realloc(test->requests, (index + 1) * sizeof *test->requests);
    if (!test->requests)
        case_die("no memory for %zu requests", index + 1);
    test->requests[index] = allocate(test->request->size);
    read_message(test->request, line, length, test->requests[index]);
}

static void take_expected(struct kernel_case *test, size_t index, const char *line, size_t length)
{
    json_error_t error;
    int code = 0;
    const char *text = "";
    json_t *object = json_loadb(line, length, 0, &error);
    test->expected = realloc(test->expected, (index + 1) * sizeof *test->expected);
    if (!test->expected)
        case_die("no memory for %zu replies", index + 1);
    struct case_expected *expected = &test->expected[index];
    *expected = (struct case_expected){.outcome = GYRE_OUTCOME_REPLY};
    if (object && json_is_true(json_object_get(object, "no_reply"))) {
        expected->outcome = GYRE_OUTCOME_NO_REPLY;
    } else if (object && json_unpack(object, "{s:{s:i,s:s}}", "failed", "code", &code, "text", &text) == 0) {
        expected->outcome = GYRE_OUTCOME_FAILED;
        expected->code = code;
        snprintf(expected->text, sizeof expected->text, "%s", text);
    } else {
        expected->reply = allocate(test->reply->size);
        read_message(test->reply, line, length, expected->reply);
    }
    json_decref(object);
}

/* ---- state and buffers --------------------------------------------------------------------------------- */

/* An array of `count` elements as a type of its own, so that one reader serves messages and buffers. */
static gyre_layout *array_layout(const gyre_type *element, uint64_t count)
{
    const gyre_type *types[] = {element, NULL};
    char fields[128];
    snprintf(fields, sizeof fields, "%s values[%llu];", element->name, (unsigned long long)count);
    gyre_type array = {"buffer", fields, element->size * count, element->alignment, types};
    return layout_of(&array);
}

static void *read_array(const gyre_layout *layout, json_t *values)
{
    json_t *object = json_pack("{s:O}", "values", values);
    void *bytes = allocate(layout->size);
    read_value(layout, object, bytes);
    json_decref(object);
    return bytes;
}

static void load_state(struct kernel_case *test, json_t *document)
{
    struct case_memory *state = &test->state;
    json_t *before = json_object_get(document, "state");
    json_t *after = json_object_get(json_object_get(document, "after"), "state");
    if (test->kernel->state->size == 0)
        return;
    *state = (struct case_memory){.name = "state", .layout = layout_of(test->kernel->state), .count = 1};
    state->bytes = allocate(state->layout->size);
    if (before)
        read_value(state->layout, before, state->bytes);
    if (!after)
        return;
    state->expected = allocate(state->layout->size);
    read_value(state->layout, after, state->expected);
}

static void load_buffers(struct kernel_case *test, json_t *document)
{
    gyre_buffer_list list;
    json_t *before = json_object_get(document, "buffers");
    json_t *after = json_object_get(json_object_get(document, "after"), "buffers");
    if (gyre_buffer_list_init(&list, test->kernel->buffers, test->kernel->buffer_types) != GYRE_OK)
        case_die("buffers of %s: %s", test->name, gyre_error_text());
    if (list.count > CASE_BUFFERS_MAX || list.count != json_object_size(before))
        case_die("%s: the kernel has %u buffers, the case %zu", test->name, list.count,
                 json_object_size(before));
    for (uint32_t i = 0; i < list.count; i++) {
        json_t *values = json_object_get(before, list.slots[i].name);
        json_t *expected = json_object_get(after, list.slots[i].name);
        struct case_memory *buffer = &test->buffers[i];
        buffer->name = list.slots[i].name;
        buffer->count = json_array_size(values);
        buffer->layout = array_layout(test->kernel->buffer_types[i], buffer->count);
        buffer->bytes = read_array(buffer->layout, values);
        buffer->expected = expected ? read_array(buffer->layout, expected) : NULL;
    }
    test->buffer_count = list.count; /* the list's names live as long as the case */
}

static json_t *load_document(const char *folder, const char *name)
{
    char path[4096];
    json_error_t error;
    snprintf(path, sizeof path, "%s/cases/%s.case.json", folder, name);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        case_die("%s:%d: %s", path, error.line, error.text);
    return document;
}

static uint32_t number_of(const json_t *document, const char *key, uint32_t otherwise)
{
    const json_t *value = json_object_get(document, key);
    return value ? (uint32_t)json_integer_value(value) : otherwise;
}

struct kernel_case *case_load(const char *module_path, const char *folder, const char *name)
{
    char path[4096];
    struct kernel_case *test = allocate(sizeof *test);
    json_t *document = load_document(folder, name);
    snprintf(test->name, sizeof test->name, "%s", name);
    test->kernel = load_kernel(module_path);
    test->request = layout_of(test->kernel->request);
    test->reply = layout_of(test->kernel->reply);
    test->lanes = number_of(document, "lanes", 1);
    test->blocks = number_of(document, "blocks", 1);
    test->ulp = number_of(document, "ulp", 0);
    test->any_text = json_is_true(json_object_get(document, "any_text"));
    load_state(test, document);
    load_buffers(test, document);
    json_decref(document);
    snprintf(path, sizeof path, "%s/cases/%s.requests.jsonl", folder, name);
    test->count = each_line(path, take_request, test);
    snprintf(path, sizeof path, "%s/cases/%s.replies.jsonl", folder, name);
    if (each_line(path, take_expected, test) != test->count || test->count == 0)
        case_die("%s: not as many replies as requests, or none", path);
    return test;
}
