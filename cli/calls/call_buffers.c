/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies raw files into device buffers and back. Does not compare a file's size with an element type: the launch does, which
 * knows the kernel. Reads files whole, because a buffer has to fit the device's memory anyway. A pipe cannot be read twice, so
 * names are checked before a pipe is read, and the device's memory bounds what is read.
 */
#include "cli/calls/call_buffers.h"
#include "cli/open.h"
#include "cli/base/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/build_options.h"
#include "core/device/devices.h"
#include "core/api/tools.h"

static const char ZEROS[] = "zeros:";
enum { PIPE_MAX = 1 << 30 }; /* bytes; a pipe without an end must not take all memory */

/* The '=' of "NAME=FILE", or NULL when there is no name or no file. */
static const char *spec_separator(const char *spec)
{
    const char *equals = strchr(spec, '=');
    return equals && equals != spec && equals[1] ? equals : NULL;
}

static const gyre_binding_name *binding_find(const call_buffers *buffers, const char *name, size_t length)
{
    for (size_t i = 0; i < buffers->count; i++)
        if (strlen(buffers->names[i]) == length && memcmp(buffers->names[i], name, length) == 0)
            return &buffers->bindings[i];
    return NULL;
}

static int refuse_empty(const char *path)
{
    return cli_error(CLI_FAILED, "buffer file '%s': expected raw elements, found a file of 0 bytes", path);
}

/* The device on which the run's kernel will be launched. */
static gyre_status find_device(gyre_runtime *runtime, const cli_context *cli, uint32_t device,
                               struct gyre_dispatch **kernels)
{
    char name[GYRE_KERNEL_NAME_MAX];
    gyre_kernel_guess_name(cli->operands.items[0], name, sizeof name);
    return gyre_kernel_device(runtime, name, cli->backend, device, kernels);
}

static int buffer_allocate(gyre_runtime *runtime, const cli_context *cli, uint32_t device, uint64_t size,
                           gyre_buffer **out)
{
    struct gyre_dispatch *kernels;
    gyre_status status = find_device(runtime, cli, device, &kernels);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(runtime, gyre_dispatch_backend(kernels), device, size, out);
    return cli_fail_unless_device(runtime, status);
}

/* Loads a regular file. Allocates on the device first, because the file may be larger than the memory of any device. */
static int load_regular(gyre_runtime *runtime, const cli_context *cli, uint32_t device,
                        const input_file *file, const input_wait *wait, gyre_buffer **out)
{
    char *bytes = NULL;
    uint64_t size = 0;
    int code = buffer_allocate(runtime, cli, device, file->size, out);
    if (code == CLI_OK)
        code = input_file_read(file, file->size, wait, &bytes, &size);
    if (code == CLI_OK && size != file->size)
        code = cli_error(CLI_FAILED, "buffer file '%s': could not read all of its %" PRIu64 " bytes",
                         file->path, file->size);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_buffer_upload(*out, 0, bytes, size));
    free(bytes);
    return code;
}

/* Sets *most to the most bytes that a pipe may have. */
static int bound_pipe(gyre_runtime *runtime, const cli_context *cli, uint32_t device, uint64_t *most)
{
    struct gyre_dispatch *kernels;
    const gyre_status status = find_device(runtime, cli, device, &kernels);
    const uint64_t memory = status == GYRE_OK ? gyre_dispatch_device_info(kernels)->memory_size : 0;
    *most = memory && memory < PIPE_MAX ? memory : PIPE_MAX; /* 0: the device does not tell */
    return cli_fail_unless_device(runtime, status);
}

static int refuse_long(const char *path, uint64_t most)
{
    return cli_error(CLI_FAILED, "buffer file '%s': a pipe of more than %" PRIu64 " bytes; %s", path, most,
                     most < PIPE_MAX ? "the device has no more memory" : "name a regular file");
}

/* Loads a pipe. Its size is known only at its end, so the buffer is allocated after the pipe is read. */
static int load_pipe(gyre_runtime *runtime, const cli_context *cli, uint32_t device, const input_file *file,
                     const input_wait *wait, gyre_buffer **out)
{
    char *bytes = NULL;
    uint64_t size = 0, most = 0;
    int code = bound_pipe(runtime, cli, device, &most);
    if (code == CLI_OK)
        code = input_file_read(file, most + 1, wait, &bytes, &size);
    if (code == CLI_OK && size > most)
        code = refuse_long(file->path, most);
    else if (code == CLI_OK && size == 0)
        code = refuse_empty(file->path);
    if (code == CLI_OK)
        code = buffer_allocate(runtime, cli, device, size, out);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_buffer_upload(*out, 0, bytes, size));
    free(bytes);
    return code;
}

static int load_file(gyre_runtime *runtime, const cli_context *cli, uint32_t device, const char *path,
                     const input_wait *wait, gyre_buffer **out)
{
    input_file file;
    int code = input_file_open(&file, "buffer", path);
    if (code == CLI_OK && file.is_pipe)
        code = load_pipe(runtime, cli, device, &file, wait, out);
    else if (code == CLI_OK)
        code = file.size ? load_regular(runtime, cli, device, &file, wait, out) : refuse_empty(path);
    input_file_close(&file);
    return code;
}

static int load_zeros(gyre_runtime *runtime, const cli_context *cli, uint32_t device, const char *option,
                      const char *spec, const char *digits, gyre_buffer **out)
{
    char *end;
    errno = 0;
    uint64_t size = strtoull(digits, &end, 10);
    if (!*digits || strspn(digits, "0123456789") != strlen(digits) || errno || size == 0)
        return cli_usage_error(cli, "%s: expected NAME=zeros:BYTES with at least 1 byte, found '%s'", option,
                               spec);
    return buffer_allocate(runtime, cli, device, size, out);
}

static int name_one(call_buffers *buffers, const cli_context *cli, const char *option, const char *spec)
{
    const char *equals = spec_separator(spec);
    if (!equals)
        return cli_usage_error(cli, "%s: expected NAME=FILE, found '%s'", option, spec);
    if (binding_find(buffers, spec, (size_t)(equals - spec)))
        return cli_usage_error(cli, "%s: '%.*s' is given twice", option, (int)(equals - spec), spec);
    char *name = strndup(spec, (size_t)(equals - spec));
    if (!name)
        return cli_error(CLI_FAILED, "out of memory");
    buffers->bindings[buffers->count].name = name;
    buffers->names[buffers->count++] = name;
    return CLI_OK;
}

int call_buffers_name(call_buffers *buffers, const cli_context *cli, const cli_list *bound,
                      const cli_list *named)
{
    size_t room = bound->count + named->count + 1;
    *buffers = (call_buffers){.bindings = calloc(room, sizeof *buffers->bindings),
                              .names = calloc(room, sizeof *buffers->names)};
    if (!buffers->bindings || !buffers->names)
        return cli_error(CLI_FAILED, "out of memory");
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < bound->count; i++)
        code = name_one(buffers, cli, "--buffer", bound->items[i]);
    buffers->bound_count = buffers->count;
    for (size_t i = 0; code == CLI_OK && i < named->count; i++)
        code = name_one(buffers, cli, "--message-buffer", named->items[i]);
    return code;
}

static bool has_pipe(const cli_list *specs)
{
    bool found = false;
    for (size_t i = 0; i < specs->count && !found; i++) {
        struct stat info;
        found = stat(spec_separator(specs->items[i]) + 1, &info) == 0 && S_ISFIFO(info.st_mode);
    }
    return found;
}

/* Builds the kernel and checks the bound names. Call before a pipe is read. For regular files only the launch checks the names,
 * because a second build costs more than reading the files in vain. */
static int check_names(const call_buffers *buffers, const cli_context *cli, gyre_runtime *runtime,
                       uint32_t device)
{
    gyre_launch_desc desc = cli_launch(cli, cli->operands.items[0]);
    desc.device = device;
    desc.bindings = buffers->bindings;
    desc.binding_count = buffers->bound_count;
    return cli_fail_unless_device(runtime, gyre_launch_check_names(runtime, &desc));
}

static int buffer_load(const cli_context *cli, gyre_runtime *runtime, uint32_t device, const input_wait *wait,
                       const char *option, const char *spec, gyre_buffer **out)
{
    const char *equals = spec_separator(spec);
    if (strncmp(equals + 1, ZEROS, sizeof ZEROS - 1) == 0)
        return load_zeros(runtime, cli, device, option, spec, equals + sizeof ZEROS, out);
    return load_file(runtime, cli, device, equals + 1, wait, out);
}

int call_buffers_load(call_buffers *buffers, const cli_context *cli, gyre_runtime *runtime, uint32_t device,
                      const input_wait *wait, const cli_list *bound, const cli_list *named)
{
    gyre_binding_name *binding = buffers->bindings;
    int code = CLI_OK;
    if (bound->count && (has_pipe(bound) || has_pipe(named)))
        code = check_names(buffers, cli, runtime, device);
    for (size_t i = 0; code == CLI_OK && i < bound->count; i++, binding++)
        code = buffer_load(cli, runtime, device, wait, "--buffer", bound->items[i], &binding->buffer);
    for (size_t i = 0; code == CLI_OK && i < named->count; i++, binding++)
        code = buffer_load(cli, runtime, device, wait, "--message-buffer", named->items[i], &binding->buffer);
    return code;
}

gyre_status call_buffers_resolve(const void *context, const char *name, uint64_t offset, uint64_t size,
                                 gyre_handle *out)
{
    const call_buffers *buffers = context;
    const gyre_binding_name *binding = binding_find(buffers, name, strlen(name));
    if (binding)
        return gyre_buffer_handle(binding->buffer, offset, size, out);
    char hint[GYRE_TEXT_HINT_SIZE];
    return gyre_error_set(GYRE_INVALID, "there is no buffer '%.60s'%s: --message-buffer NAME=FILE makes one",
                          name,
                          gyre_text_hint(name, (const char *const *)buffers->names, buffers->count, hint));
}

/* Checks that a file at `path` could be written. Makes and changes no file, because the run may still fail. */
static int check_output(const char *path)
{
    struct stat info;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int reason = 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (stat(path, &info) == 0)
        reason = S_ISDIR(info.st_mode) ? EISDIR : access(path, W_OK) == 0 ? 0 : errno;
    else if (errno != ENOENT || access(folder, W_OK | X_OK) != 0)
        reason = errno;
    return reason ? cli_error(CLI_FAILED, "buffer file '%s': %s", path, strerror(reason)) : CLI_OK;
}

int call_buffers_check_outputs(const call_buffers *buffers, const cli_context *cli, const cli_list *specs)
{
    for (size_t i = 0; i < specs->count; i++) {
        const char *spec = specs->items[i], *equals = spec_separator(spec);
        if (!equals)
            return cli_usage_error(cli, "--output-buffer: expected NAME=FILE, found '%s'", spec);
        if (!binding_find(buffers, spec, (size_t)(equals - spec)))
            return cli_usage_error(cli, "--output-buffer: there is no buffer '%.*s'", (int)(equals - spec),
                                   spec);
        int code = check_output(equals + 1);
        if (code != CLI_OK)
            return code;
    }
    return CLI_OK;
}

static int buffer_save(const gyre_buffer *buffer, const char *path)
{
    uint64_t size = gyre_buffer_size(buffer);
    void *bytes = malloc(size);
    if (!bytes)
        return cli_error(CLI_FAILED, "buffer file '%s': no memory for its %" PRIu64 " bytes", path, size);
    int code = cli_fail_unless_ok(gyre_buffer_download(buffer, 0, bytes, size));
    if (code == CLI_OK && !output_file_write(path, bytes, size))
        code = cli_error(CLI_FAILED, "buffer file '%s': %s", path, strerror(errno));
    free(bytes);
    return code;
}

int call_buffers_save(const call_buffers *buffers, const cli_list *specs)
{
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < specs->count; i++) {
        const char *spec = specs->items[i], *equals = spec_separator(spec);
        code = buffer_save(binding_find(buffers, spec, (size_t)(equals - spec))->buffer, equals + 1);
    }
    return code;
}

void call_buffers_finish(call_buffers *buffers)
{
    for (size_t i = 0; i < buffers->count; i++)
        free(buffers->names[i]);
    free(buffers->names);
    free(buffers->bindings);
    *buffers = (call_buffers){0};
}
