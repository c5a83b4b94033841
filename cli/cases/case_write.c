/* SPDX-License-Identifier: Apache-2.0 */
/* Writes case files; paths and hashes in them (case_file.h). */
#include "cli/cases/case_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/json/json.h"
#include "cli/base/output_file.h"
#include "core/base/files.h"

enum { HANDLER_MAX = 16 << 20 }; /* bytes */

/* The length of the file's path in "FILE.gyre.c:KERNEL". */
static size_t path_length(const char *path)
{
    const char *colon = strrchr(path, ':'), *slash = strrchr(path, '/');
    return colon && (!slash || colon > slash) ? (size_t)(colon - path) : strlen(path);
}

/* The absolute path of the folder that a file is in, or will be in, with a slash at its end. False when there is none. */
static bool folder_of(const char *file, char folder[PATH_MAX])
{
    char name[PATH_MAX];
    const char *slash = strrchr(file, '/');
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
    if (!realpath(name, folder))
        return false;
    const size_t length = strlen(folder);
    if (length + 1 < PATH_MAX && folder[length - 1] != '/')
        memcpy(folder + length, "/", 2);
    return true;
}

/* How many bytes of two absolute paths are the same folders. */
static size_t common_folders(const char *one, const char *other)
{
    size_t common = 0;
    for (size_t i = 0; one[i] && one[i] == other[i]; i++)
        if (one[i] == '/')
            common = i + 1;
    return common;
}

char *case_path_from(const char *from, const char *path)
{
    char folder[PATH_MAX], whole[PATH_MAX], name[PATH_MAX];
    const size_t length = path_length(path);
    if (length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    if (!folder_of(from, folder) || !realpath(name, whole))
        return NULL;
    const size_t common = common_folders(folder, whole);
    if (common <= 1) { /* nothing in common but the root */
        const size_t room = strlen(whole) + strlen(path + length) + 1;
        char *absolute = malloc(room);
        if (absolute)
            snprintf(absolute, room, "%s%s", whole, path + length);
        return absolute;
    }
    size_t up = 0;
    for (const char *rest = folder + common; *rest; rest++)
        up += *rest == '/';
    const size_t size = 3 * up + strlen(whole + common) + strlen(path + length) + 3;
    char *relative = malloc(size), *at = relative;
    for (size_t i = 0; relative && i < up; i++, at += 3)
        memcpy(at, "../", 3);
    if (relative) /* "./" makes the difference between a file and the name of a configured kernel */
        snprintf(at, size - 3 * up, "%s%s%s", strpbrk(whole + common, "/.") || up ? "" : "./", whole + common,
                 path + length);
    return relative;
}

bool case_hash(const char *kernel, char hash[17])
{
    char path[PATH_MAX];
    size_t length;
    snprintf(path, sizeof path, "%.*s", (int)path_length(kernel), kernel);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = descriptor >= 0 ? gyre_file_text(descriptor, HANDLER_MAX, &length) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    if (text)
        snprintf(hash, 17, "%016" PRIx64, (uint64_t)XXH3_64bits(text, length));
    free(text);
    return text != NULL;
}

/* ---- writing ---- */

static void set_text(json_t *header, const char *key, const char *text)
{
    if (text)
        json_object_set_new(header, key, cli_json_text(text));
}

static void set_number(json_t *header, const char *key, uint64_t number)
{
    if (number)
        json_object_set_new(header, key, json_integer((json_int_t)number));
}

/* A path as it is seen from the case file; as it is where nothing is there. */
static void set_path(json_t *header, const char *key, const char *from, const char *prefix, const char *path)
{
    char text[PATH_MAX + 1];
    char *relative = path ? case_path_from(from, path) : NULL;
    snprintf(text, sizeof text, "%s%s", prefix, relative ? relative : path ? path : "");
    set_text(header, key, path ? text : NULL);
    free(relative);
}

static void set_list(json_t *header, const char *key, const cli_list *list)
{
    if (!list || !list->count)
        return;
    json_t *values = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(values, cli_json_text(list->items[i]));
    json_object_set_new(header, key, values);
}

/* "NAME=FILE" and "NAME=zeros:BYTES" as members of an object. */
static void set_buffers(json_t *header, const char *key, const char *from, const cli_list *specs)
{
    if (!specs || !specs->count)
        return;
    json_t *buffers = json_object();
    for (size_t i = 0; i < specs->count; i++) {
        char name[256];
        const char *equals = strchr(specs->items[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - specs->items[i]), specs->items[i]);
        if (strncmp(equals + 1, "zeros:", 6) == 0)
            set_text(buffers, name, equals + 1);
        else
            set_path(buffers, name, from, "", equals + 1);
    }
    json_object_set_new(header, key, buffers);
}

static json_t *make_header(const case_write_desc *desc)
{
    json_t *header = json_object();
    char hash[17];
    set_number(header, "gyre_case", 1);
    if (desc->pipeline)
        set_text(header, "pipeline", desc->pipeline);
    else if (strpbrk(desc->kernel, "/.:")) /* else it is the name of a configured kernel */
        set_path(header, "kernel", desc->path, "", desc->kernel);
    else
        set_text(header, "kernel", desc->kernel);
    set_text(header, "finding", desc->finding);
    set_text(header, "check", desc->check);
    set_number(header, "seed", desc->seed);
    set_number(header, "seeds", desc->seeds);
    set_number(header, "lanes", desc->lanes);
    set_number(header, "blocks", desc->blocks);
    set_number(header, "device", desc->device);
    set_list(header, "settings", desc->settings);
    set_path(header, "config", desc->path, "", desc->config);
    set_buffers(header, "buffers", desc->path, desc->buffers);
    set_buffers(header, "message_buffers", desc->path, desc->named_buffers);
    set_text(header, "hash", !desc->pipeline && case_hash(desc->kernel, hash) ? hash : NULL);
    if (desc->state && desc->state[0] == '@')
        set_path(header, "state", desc->path, "@", desc->state + 1);
    return header;
}

/* Writes the header, and the state behind its other members as it was given, because jansson would round large numbers. */
static void write_header(FILE *out, const case_write_desc *desc)
{
    json_t *header = make_header(desc);
    char *text = json_dumps(header, JSON_PRESERVE_ORDER | JSON_COMPACT);
    const size_t length = text ? strlen(text) : 0;
    if (length && desc->state && desc->state[0] != '@') {
        fprintf(out, "%.*s,\"state\":", (int)length - 1, text);
        for (const char *at = desc->state; *at; at++)
            fputc(*at == '\n' || *at == '\r' ? ' ' : *at, out);
        fputs("}\n", out);
    } else if (length) {
        fprintf(out, "%s\n", text);
    }
    free(text);
    json_decref(header);
}

int case_file_spare(const char *path)
{
    static const char begin[] = "{\"gyre_case\":";
    char found[sizeof begin - 1];
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0)
        return CLI_OK;
    FILE *file = fopen(path, "r");
    const size_t count = file ? fread(found, 1, sizeof found, file) : 0;
    if (file)
        fclose(file);
    if (count == sizeof found && memcmp(found, begin, count) == 0)
        return CLI_OK;
    return cli_error(CLI_FAILED,
                     "'%s' is there already and is no case that was written: remove it, or name another file",
                     path);
}

int case_file_write(const case_write_desc *desc)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        write_header(out, desc);
        fwrite(desc->pairs, 1, desc->length, out);
    }
    const bool whole = out && fclose(out) == 0 && size > desc->length;
    int code = whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory for '%s'", desc->path);
    if (whole && !output_file_write(desc->path, text, size))
        code = cli_error(CLI_FAILED, "cannot write the case file '%s': %s", desc->path, strerror(errno));
    free(text);
    return code;
}
