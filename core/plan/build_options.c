/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works out a kernel's name, source and compiler options from the configuration (build_options.h). A launch and a
 * compilation ahead of it use the same options. No state.
 */
#include "core/plan/build_options.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/pipeline/pipeline.h"
#include "core/plan/queue_plan.h"
#include "core/plan/queue_types.h"

enum { HINT_SIZE = PATH_MAX + GYRE_TEXT_HINT_SIZE };

/* The length of the name in "GYRE_KERNEL(name, ...)" and its kin at the start of a line; 0: none. */
static int declared_name(const char *line, const char **name)
{
    static const char *const words[] = {"GYRE_KERNEL", "GYRE_BLOCK_KERNEL", "GYRE_GRID_KERNEL", "GYRE_ACTOR"};
    int length = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0) {
            *name = line + strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
            *name += **name == '(';
            while (isalnum((unsigned char)(*name)[length]) || (*name)[length] == '_')
                length++;
        }
    return length;
}

/* The text of a kernel's source file. NULL when the path leads to no regular file, or the file is too long. */
static char *read_text(const char *path, size_t *length)
{
    struct stat about;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe does not block */
    const bool regular = descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    char *text = regular ? gyre_file_text(descriptor, GYRE_SOURCE_SIZE_MAX, length) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    return text;
}

/* Copies the name of the only kernel that the file declares. False: the file declares none, or several. */
static bool read_name(const char *path, char *name, size_t size)
{
    size_t length = 0, found = 0;
    char *text = read_text(path, &length);
    for (const char *line = text; line;) {
        const char *at = NULL;
        const int known = declared_name(line, &at);
        if (known > 0 && found++ == 0)
            snprintf(name, size, "%.*s", known, at);
        line = memchr(line, '\n', length - (size_t)(line - text));
        line = line ? line + 1 : NULL;
    }
    free(text);
    return found == 1;
}

void gyre_kernel_guess_name(const char *source, char *name, size_t size)
{
    if (!source)
        source = "";
    const char *base = strrchr(source, '/');
    const char *colon = strrchr(source, ':');
    base = base ? base + 1 : source;
    if (colon && colon > base)
        snprintf(name, size, "%s", colon + 1);
    else if (!read_name(source, name, size))
        snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}

const char *gyre_kernel_backend(const struct gyre_config *config, const char *name, const char *given)
{
    return given ? given : gyre_config_text(config, GYRE_SECTION_KERNEL, name, "backend");
}

/* "; did you mean the file 'NAME.gyre.c'?" where such a file is, else the nearest name that is configured. */
static const char *hint_of_source(const struct gyre_config *config, const char *name, char hint[HINT_SIZE])
{
    char path[PATH_MAX];
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_KERNEL, &count);
    const int length = snprintf(path, sizeof path, "%s.gyre.c", name);
    if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0)
        snprintf(hint, HINT_SIZE, "; did you mean the file '%s'?", path);
    else
        gyre_text_hint(name, names, count, hint);
    return hint;
}

gyre_status gyre_kernel_source(const struct gyre_config *config, const char *name, const char **source)
{
    char hint[HINT_SIZE];
    *source = gyre_config_text(config, GYRE_SECTION_KERNEL, name, "source");
    if ((*source)[0])
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID, "kernel '%s' has no source: name a file, or set source in the section [kernel.%s]%s",
        name, name, hint_of_source(config, name, hint));
}

/* Whether one of the words of a list is `name`. */
static bool list_has(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at[0]; at += at[0] != '\0') {
        at += strspn(at, ", \t");
        const size_t word = strcspn(at, ", \t");
        if (word >= length && memcmp(at, name, length) == 0 && (word == length || at[length] == ':'))
            return true;
        at += word;
        if (!at[0])
            break;
    }
    return false;
}

/* Whether the kernel takes work from a pool. */
static bool is_member(const struct gyre_config *config, const char *name)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_POOL, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has(gyre_config_text(config, GYRE_SECTION_POOL, names[i], "members"), name))
            return true;
    return false;
}

/* Whether a section of the wiring names the kernel. */
static bool is_wired(const struct gyre_config *config, const char *name)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_LINK, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has(gyre_config_text(config, GYRE_SECTION_LINK, names[i], "to"), name))
            return true;
    names = gyre_config_names(config, GYRE_SECTION_TOPIC, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has(gyre_config_text(config, GYRE_SECTION_TOPIC, names[i], "to"), name) ||
            list_has(gyre_config_text(config, GYRE_SECTION_TOPIC, names[i], "taps"), name))
            return true;
    names = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has(gyre_config_text(config, GYRE_SECTION_PIPELINE, names[i], "entry"), name))
            return true;
    return false;
}

/* Whether a pipeline that is configured limits its flows: its kernels are compiled for that. */
static bool is_limited(const struct gyre_config *config)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    for (size_t i = 0; i < count; i++)
        if (gyre_config_int(config, GYRE_SECTION_PIPELINE, names[i], "window") ||
            gyre_config_int(config, GYRE_SECTION_PIPELINE, names[i], "quota"))
            return true;
    return false;
}

/* Whether a pipeline that is configured has rounds. Any of its kernels may handle the last message of one. */
static bool has_rounds(const struct gyre_config *config)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    for (size_t i = 0; i < count; i++)
        if (gyre_config_text(config, GYRE_SECTION_PIPELINE, names[i], "rounds")[0])
            return true;
    return false;
}

/* Whether links with levels lead to the kernel. */
static bool has_levels(const struct gyre_config *config, const char *name)
{
    static const enum gyre_section_kind kinds[] = {GYRE_SECTION_LINK, GYRE_SECTION_TOPIC};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        size_t count;
        const char *const *names = gyre_config_names(config, kinds[kind], &count);
        for (size_t i = 0; i < count; i++)
            if (gyre_config_int(config, kinds[kind], names[i], "level") &&
                list_has(gyre_config_text(config, kinds[kind], names[i], "to"), name))
                return true;
    }
    return false;
}

/* Whether a link leads to one of the types that the kernel takes: "NAME:TYPE". */
static bool has_choices(const struct gyre_config *config, const char *name)
{
    size_t count;
    const size_t length = strlen(name);
    const char *const *names = gyre_config_names(config, GYRE_SECTION_LINK, &count);
    for (size_t i = 0; i < count; i++) {
        const char *to = gyre_config_text(config, GYRE_SECTION_LINK, names[i], "to");
        if (strncmp(to, name, length) == 0 && to[length] == ':')
            return true;
    }
    return false;
}

/* Whether a kernel's source, "FILE" or "FILE:KERNEL", has the word. */
static bool source_has(const char *source, const char *word)
{
    char path[PATH_MAX];
    size_t length = 0;
    const char *colon = strrchr(source, ':');
    char *text = read_text(source, &length);
    if (!text && colon && (size_t)(colon - source) < sizeof path) {
        snprintf(path, sizeof path, "%.*s", (int)(colon - source), source);
        text = read_text(path, &length);
    }
    const bool has = text && memmem(text, length, word, strlen(word));
    free(text);
    return has;
}

bool gyre_kernels_ask(const struct gyre_config *config)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_KERNEL, &count);
    for (size_t i = 0; i < count; i++)
        if (source_has(gyre_config_text(config, GYRE_SECTION_KERNEL, names[i], "source"),
                       "GYRE_PORTS_WITH_ASKS"))
            return true;
    return false;
}

/* Whether one of the words of a list is a port of the kernel: "NAME.PORT". */
static bool list_has_port(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list + strspn(list, ", \t"); at[0]; at += strspn(at, ", \t")) {
        if (strncmp(at, name, length) == 0 && at[length] == '.')
            return true;
        at += strcspn(at, ", \t");
    }
    return false;
}

/* Whether programs may subscribe to what the kernel sends: it is compiled for that. */
static bool is_heard(const struct gyre_config *config, const char *name)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_TOPIC, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has_port(gyre_config_text(config, GYRE_SECTION_TOPIC, names[i], "from"), name))
            return true;
    names = gyre_config_names(config, GYRE_SECTION_LINK, &count);
    for (size_t i = 0; i < count; i++)
        if (list_has(gyre_config_text(config, GYRE_SECTION_LINK, names[i], "to"), "host") &&
            list_has_port(gyre_config_text(config, GYRE_SECTION_LINK, names[i], "from"), name))
            return true;
    return false;
}

void gyre_kernel_options(const struct gyre_config *config, const char *name, char *text, size_t size)
{
    const struct gyre_header_plan plan = gyre_queue_plan_all(config);
    static const char *const wires[] = {"", " -DGYRE_WIRED=1", " -DGYRE_WIRED=2"};
    char timed[32] = "";
    if (plan.times)
        snprintf(timed, sizeof timed, " -DGYRE_TIMED=1");
    else if (gyre_config_int(config, GYRE_SECTION_KERNEL, name, "timing"))
        snprintf(timed, sizeof timed, " -DGYRE_TIMED=%d",
                 (int)gyre_config_int(config, GYRE_SECTION_KERNEL, name, "timing_every"));
    const bool member = is_member(config, name), heard = is_heard(config, name),
               wired = member || heard || is_wired(config, name);
    const bool limited = wired && is_limited(config), levels = has_levels(config, name),
               choices = has_choices(config, name);
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s%s%s%s%s",
             gyre_config_text(config, GYRE_SECTION_KERNEL, name, "options"), timed,
             gyre_config_bool(config, GYRE_SECTION_KERNEL, name, "stands_soon") ? " -DGYRE_STANDS_SOON=1"
                                                                                : "",
             plan.size ? " -DGYRE_HEADED=1" : "", plan.sealed ? " -DGYRE_SEALED=1" : "",
             wires[gyre_kernel_wire(config, name)], wired ? GYRE_KERNEL_STAGE_OPTION : "",
             member || heard || limited || levels || choices ? GYRE_KERNEL_LIMITS_OPTION : "",
             limited && gyre_kernels_ask(config) ? GYRE_KERNEL_ASKS_OPTION : "",
             member ? GYRE_KERNEL_POOLS_OPTION : "",
             limited && has_rounds(config) ? GYRE_KERNEL_ROUNDS_OPTION : "",
             levels ? GYRE_KERNEL_LEVELS_OPTION : "", choices ? GYRE_KERNEL_CHOICES_OPTION : "");
}

bool gyre_kernel_same_options(const struct gyre_config *config, const char *one, const char *other)
{
    char options[2][GYRE_KERNEL_OPTIONS_SIZE];
    gyre_kernel_options(config, one, options[0], sizeof options[0]);
    gyre_kernel_options(config, other, options[1], sizeof options[1]);
    return strcmp(options[0], options[1]) == 0;
}
