/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A header declares types and no kernel, so a kernel file is written around it, in a folder of its own under
 * TMPDIR: for each declaration a kernel with a buffer of that type, which is never launched.
 */
#include "cli/type_list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/runtime/runtime.h"

enum { NAMES_MAX = 256, TEMPORARY_SIZE = 200 };

/* ---- collecting ---- */

static gyre_status add_type(type_list *list, const gyre_type *type);

static bool known(const type_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->layouts[i]->name, name))
            return true;
    return false;
}

static gyre_status add_layout(type_list *list, gyre_layout *layout)
{
    gyre_layout **more = realloc(list->layouts, (list->count + 1) * sizeof *more);
    if (!more) {
        gyre_layout_destroy(layout);
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory for the types of a file");
    }
    list->layouts = more;
    list->layouts[list->count++] = layout;
    return GYRE_OK;
}

/* The messages inside first, so that a list reads from the small to the large. */
static gyre_status add_type(type_list *list, const gyre_type *type)
{
    gyre_layout *layout = NULL;
    gyre_status status = GYRE_OK;
    if (!type->field_types || known(list, type->name))
        return GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && type->field_types[i]; i++)
        status = add_type(list, type->field_types[i]);
    if (status == GYRE_OK)
        status = gyre_layout_create(type, GYRE_STATE_MAX, &layout);
    if (status != GYRE_OK)
        return status;
    if (!layout->element && layout->shape == GYRE_SHAPE_PLAIN && strncmp(type->name, "gyre_", 5) != 0)
        return add_layout(list, layout);
    gyre_layout_destroy(layout); /* a part is no message */
    return GYRE_OK;
}

static gyre_status add_kernel(type_list *list, const gyre_kernel_record *record)
{
    gyre_status status = add_type(list, record->request);
    if (status == GYRE_OK)
        status = add_type(list, record->reply);
    if (status == GYRE_OK)
        status = add_type(list, record->state);
    for (size_t i = 0; status == GYRE_OK && record->buffer_types[i]; i++)
        status = add_type(list, record->buffer_types[i]);
    return status;
}

/* ---- a kernel file around a header ---- */

/* The name in "GYRE_MESSAGE(name, ...)" or "GYRE_MESSAGE_TAIL(name, ...)" at the start of a line; 0 when
 * there is none. */
static size_t declared_name(const char *line, const char **name)
{
    static const char *const words[] = {"GYRE_MESSAGE(", "GYRE_MESSAGE_TAIL("};
    size_t length = 0;
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strncmp(line, words[i], strlen(words[i]))) {
            *name = line + strlen(words[i]) + strspn(line + strlen(words[i]), " \t");
            while (isalnum((unsigned char)(*name)[length]) || (*name)[length] == '_')
                length++;
        }
    return length;
}

static size_t write_kernels(FILE *in, FILE *out)
{
    char *line = NULL;
    size_t size = 0, count = 0;
    while (count < NAMES_MAX && getline(&line, &size, in) >= 0) {
        const char *name = NULL;
        int length = (int)declared_name(line, &name);
        if (length > 0)
            fprintf(out,
                    "#define LIST_%zu(IN, INOUT) IN(%.*s, one)\nGYRE_BUFFERS(list_%zu, LIST_%zu)\n"
                    "GYRE_KERNEL_WITH(type_%zu, gyre_none, gyre_none, gyre_none, list_%zu)\n"
                    "{\n    return buffers->one_count ? GYRE_NO_REPLY : gyre_fail(gyre, 0, \"\");\n}\n",
                    count, length, name, count, count, count, count);
        count += length > 0;
    }
    free(line);
    return count;
}

static gyre_status write_around(const char *header, const char *path)
{
    char absolute[PATH_MAX];
    FILE *in = realpath(header, absolute) ? fopen(absolute, "re") : NULL;
    if (!in)
        return gyre_error_set(GYRE_NOT_FOUND, "cannot read '%s': %s", header, strerror(errno));
    FILE *out = fopen(path, "we");
    if (!out) {
        fclose(in);
        return gyre_error_set(GYRE_FAILED, "cannot write '%s': %s", path, strerror(errno));
    }
    fprintf(out, "#include <gyre/kernel.h>\n#include \"%s\"\n", absolute);
    size_t count = write_kernels(in, out);
    fclose(in);
    if (fclose(out) != 0)
        return gyre_error_set(GYRE_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return count ? GYRE_OK
                 : gyre_error_set(GYRE_INVALID,
                                  "'%s' declares no message: expected GYRE_MESSAGE(...) or "
                                  "GYRE_MESSAGE_TAIL(...) at the start of a line",
                                  header);
}

/* ---- compiling ---- */

static gyre_status compile(gyre_runtime *runtime, struct gyre_dispatch *device, const char *source,
                           type_list *list)
{
    struct gyre_pipeline_report *report = calloc(1, sizeof *report);
    struct gyre_build *build = NULL;
    if (!report)
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory");
    const struct gyre_pipeline_desc desc = {
        .config = runtime->config, .device = device, .source = source, .report = report};
    gyre_status status = gyre_pipeline_run_desc(&desc, &build);
    fputs(report->messages, stderr);
    for (size_t i = 0; status == GYRE_OK && i < gyre_build_count(build); i++)
        status = add_kernel(list, gyre_build_at(build, i));
    gyre_build_release(build);
    free(report);
    return status;
}

static bool is_header(const char *file)
{
    size_t length = strlen(file);
    return length > 2 && !strcmp(file + length - 2, ".h");
}

static gyre_status compile_header(gyre_runtime *runtime, struct gyre_dispatch *device, const char *header,
                                  type_list *list)
{
    const char *parent = getenv("TMPDIR");
    char folder[TEMPORARY_SIZE], path[TEMPORARY_SIZE + 20];
    int length = snprintf(folder, sizeof folder, "%s/gyre-types-XXXXXX", parent && *parent ? parent : "/tmp");
    if (length >= (int)sizeof folder || !mkdtemp(folder))
        return gyre_error_set(GYRE_FAILED, "cannot make a folder in TMPDIR: %s", strerror(errno));
    snprintf(path, sizeof path, "%s/types.gyre.c", folder);
    gyre_status status = write_around(header, path);
    if (status == GYRE_OK)
        status = compile(runtime, device, path, list);
    unlink(path);
    rmdir(folder);
    return status;
}

int type_list_load(const cli_context *cli, const char *file, type_list *list)
{
    gyre_runtime *runtime = NULL;
    struct gyre_dispatch *device;
    *list = (type_list){0};
    int code = cli_fail_unless_ok(cli_open(cli, &runtime));
    if (code == CLI_OK)
        code = cli_fail_unless_device(runtime, gyre_runtime_device(runtime, cli->backend, 0, &device));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(is_header(file) ? compile_header(runtime, device, file, list)
                                                  : compile(runtime, device, file, list));
    gyre_close(runtime);
    return code;
}

void type_list_finish(type_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        gyre_layout_destroy(list->layouts[i]);
    free(list->layouts);
    *list = (type_list){0};
}

const gyre_layout *type_list_find(const type_list *list, const char *name)
{
    const char *names[NAMES_MAX];
    size_t count = list->count < NAMES_MAX ? list->count : NAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        names[i] = list->layouts[i]->name;
        if (!strcmp(names[i], name))
            return list->layouts[i];
    }
    const char *nearest = gyre_text_nearest(name, names, count);
    if (nearest)
        gyre_error_set(GYRE_NOT_FOUND, "the file has no message type '%s'; did you mean '%s'?", name,
                       nearest);
    else
        gyre_error_set(GYRE_NOT_FOUND, "the file has no message type '%s'; 'gyre messages FILE' lists them",
                       name);
    return NULL;
}
