/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the message types of a file by compiling it. A header declares types and no kernel, so this file writes a kernel file
 * around the header, in a folder of its own under TMPDIR. That kernel file has a kernel for each declaration, with a buffer of
 * the declared type; no such kernel is ever launched. Takes no lock.
 */
#include "core/kernel/type_source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_write.h"
#include "core/base/files.h"
#include "core/base/temporary.h"
#include "core/device/devices.h"
#include "core/pipeline/build.h"
#include "core/pipeline/pipeline.h"
#include "gyre/lack.h"

enum { NAMES_MAX = 256 };

/* ---- a kernel file around a header ---- */

/* Finds NAME in "GYRE_MESSAGE(NAME, ...)", "GYRE_MESSAGE_TAIL(NAME, ...)" or "GYRE_PROTOCOL(NAME, ...)" at the start of a line.
 * Returns the length of NAME; 0 when the line declares nothing. */
static size_t declared_name(const char *line, const char **name, bool *protocol)
{
    static const char *const words[] = {"GYRE_MESSAGE(", "GYRE_MESSAGE_TAIL(", "GYRE_PROTOCOL("};
    size_t length = 0;
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strncmp(line, words[i], strlen(words[i]))) {
            *protocol = i == 2;
            *name = line + strlen(words[i]) + strspn(line + strlen(words[i]), " \t");
            while (isalnum((unsigned char)(*name)[length]) || (*name)[length] == '_')
                length++;
        }
    return length;
}

/* Writes a kernel with a buffer of message type `name`; for a protocol, a kernel with its requests and replies. */
static void write_kernel(FILE *out, size_t number, const char *name, int length, bool protocol)
{
    if (protocol)
        fprintf(out, "GYRE_KERNEL(type_%zu, %.*s_request, %.*s_reply)\n{\n    return GYRE_NO_REPLY;\n}\n",
                number, length, name, length, name);
    else
        fprintf(out,
                "#define LIST_%zu(IN, INOUT) IN(%.*s, one)\nGYRE_BUFFERS(list_%zu, LIST_%zu)\n"
                "GYRE_KERNEL_WITH(type_%zu, gyre_none, gyre_none, gyre_none, list_%zu)\n"
                "{\n    return buffers->one_count ? GYRE_NO_REPLY : gyre_fail(gyre, 0, \"\");\n}\n",
                number, length, name, number, number, number, number);
}

static size_t write_kernels(const char *text, size_t length, FILE *out)
{
    const char *const end = text + length;
    size_t count = 0;
    for (const char *line = text; line && count < NAMES_MAX;) {
        const char *name = NULL;
        bool protocol = false;
        const int known = (int)declared_name(line, &name, &protocol);
        if (known > 0)
            write_kernel(out, count++, name, known, protocol);
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return count;
}

static gyre_status cannot(const char *verb, const char *path, gyre_status status)
{
    return gyre_error_set(gyre_lack_status(errno, status), "cannot %s '%s': %s%s", verb, path,
                          strerror(errno), gyre_lack_remedy(errno));
}

static gyre_status read_text(const char *path, const char *header, char **text, size_t *length)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *text = descriptor >= 0 ? gyre_file_text(descriptor, GYRE_SOURCE_SIZE_MAX, length) : NULL;
    gyre_status status = GYRE_OK;
    if (!*text && errno == EFBIG)
        status = gyre_error_set(GYRE_INVALID, "header '%s' is longer than %d bytes, which are the limit",
                                header, GYRE_SOURCE_SIZE_MAX);
    else if (!*text)
        status = cannot("read", header, GYRE_NOT_FOUND);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

/* Reads a header, and finds its absolute path. The caller frees *text with free(). */
static gyre_status read_header(const char *header, char absolute[PATH_MAX], char **text, size_t *length)
{
    struct stat about;
    if (!realpath(header, absolute) || stat(absolute, &about) != 0)
        return cannot("read", header, GYRE_NOT_FOUND);
    if (!S_ISREG(about.st_mode))
        return gyre_error_set(GYRE_INVALID, "'%s' is %s; expected a header that declares messages", header,
                              S_ISDIR(about.st_mode) ? "a folder" : "no regular file");
    return read_text(absolute, header, text, length);
}

static gyre_status write_file(const char *header, const char *path, char absolute[PATH_MAX])
{
    char *text = NULL;
    size_t length = 0;
    gyre_status status = read_header(header, absolute, &text, &length);
    if (status != GYRE_OK)
        return status;
    FILE *out = fopen(path, "we");
    if (!out) {
        free(text);
        return cannot("write", path, GYRE_FAILED);
    }
    fprintf(out, "#include <gyre/kernel.h>\n#include \"%s\"\n", absolute);
    size_t count = write_kernels(text, length, out);
    free(text);
    if (fclose(out) != 0)
        return cannot("write", path, GYRE_FAILED);
    return count ? GYRE_OK
                 : gyre_error_set(GYRE_INVALID,
                                  "'%s' declares no message: expected GYRE_MESSAGE(...) or "
                                  "GYRE_MESSAGE_TAIL(...) at the start of a line",
                                  header);
}

/* Writes the kernel file `path`; `absolute` becomes the header's own path. */
static gyre_status write_around(const char *header, const char *path, char absolute[PATH_MAX])
{
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    gyre_status status = write_file(header, path, absolute);
    gyre_file_hush_end(&hush);
    return status;
}

/* ---- compiling ---- */

static gyre_status take_kernel(const gyre_kernel_record *record, gyre_type_taker take, void *context)
{
    gyre_status status = take(context, record->request);
    if (status == GYRE_OK)
        status = take(context, record->reply);
    if (status == GYRE_OK)
        status = take(context, record->state);
    for (size_t i = 0; status == GYRE_OK && record->buffer_types[i]; i++)
        status = take(context, record->buffer_types[i]);
    return status;
}

/* `header`: the absolute path of the header that the source was written around, for the cache; or NULL. */
static gyre_status compile_types(gyre_runtime *runtime, struct gyre_dispatch *device, const char *source,
                                 const char *header, gyre_type_taker take, void *context)
{
    struct gyre_build_report *report = calloc(1, sizeof *report);
    struct gyre_build *build = NULL;
    if (!report)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read the types of '%s'", source);
    const struct gyre_build_desc desc = {.config = runtime->config,
                                         .device = device,
                                         .source = source,
                                         .written_for = header,
                                         .report = report};
    gyre_status status = gyre_build_run(&desc, &build);
    if (report->messages[0])
        gyre_runtime_log(runtime, GYRE_LOG_INFO, "%s", report->messages);
    for (size_t i = 0; status == GYRE_OK && i < gyre_build_count(build); i++)
        status = take_kernel(gyre_build_at(build, i), take, context);
    gyre_build_release(build);
    free(report);
    return status;
}

static bool is_header(const char *file)
{
    size_t length = strlen(file);
    return length > 2 && !strcmp(file + length - 2, ".h");
}

/* Words the error for the header, since the user does not know the kernels that were written around it. */
static gyre_status tell_header(gyre_status status, const char *header, const char *path)
{
    char cause[1024];
    const size_t length = strlen(path);
    snprintf(cause, sizeof cause, "%s", gyre_error_cause());
    if (strncmp(cause, path, length) == 0)
        return gyre_error_set(
            status,
            "'%s' declares a message at the start of a line where the compiler sees none (is "
            "it inside #if?): %s",
            header, cause + length + 1 + strcspn(cause + length + 1, ":") + 2);
    if (strstr(gyre_error_text(), "kernel 'type_"))
        return gyre_error_set(status, "'%s': %s", header, cause);
    return status;
}

static gyre_status compile_header(gyre_runtime *runtime, struct gyre_dispatch *device, const char *header,
                                  gyre_type_taker take, void *context)
{
    struct gyre_temporary folder = {.path = ""};
    char path[PATH_MAX], absolute[PATH_MAX];
    gyre_status status = gyre_temporary_make(&folder, "/tmp");
    if (status != GYRE_OK)
        return status;
    snprintf(path, sizeof path, "%s/types.gyre.c", folder.path);
    status = write_around(header, path, absolute);
    if (status == GYRE_OK)
        status = compile_types(runtime, device, path, absolute, take, context);
    if (status != GYRE_OK)
        status = tell_header(status, header, path);
    gyre_temporary_remove(&folder);
    return status;
}

gyre_status gyre_type_source_read(gyre_runtime *runtime, const char *backend, const char *file,
                                  gyre_type_taker take, void *context)
{
    struct gyre_dispatch *device = NULL;
    gyre_status status = gyre_runtime_device(runtime, backend, 0, &device);
    if (status != GYRE_OK)
        return status;
    return is_header(file) ? compile_header(runtime, device, file, take, context)
                           : compile_types(runtime, device, file, NULL, take, context);
}
