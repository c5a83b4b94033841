/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the memory limits of this process's control groups (cgroup.h). /proc/self/cgroup names the process's group in each
 * hierarchy, /proc/self/mountinfo says where the hierarchies are mounted. The groups above have limits, too, as far as they
 * are visible from here. A limit that cannot be read counts as none.
 */
#include "core/base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 4 * PATH_MAX };

static const struct hierarchy {
    const char *type, *controller; /* of the mount; controller "": version 2, which has all controllers */
    const char *limit, *used, *inactive, *active;
} hierarchies[] = {
    {"cgroup2", "", "memory.max", "memory.current", "inactive_file", "active_file"},
    {"cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
     "total_active_file"},
};

/* Whether `word` is one of the comma-separated `words`. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",\n") == length && strncmp(at, word, length) == 0)
            return true;
    return *words == '\0' && length == 0;
}

/* Finds the path of this process's group in a hierarchy. A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH. */
static bool find_group(const char *root, const struct hierarchy *hierarchy, char path[PATH_MAX])
{
    char file[PATH_MAX], line[LINE_SIZE];
    bool found = false;
    snprintf(file, sizeof file, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(file, "re");
    while (stream && !found && fgets(line, sizeof line, stream)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = has_word(controllers + 1, hierarchy->controller);
        snprintf(path, PATH_MAX, "%s", group);
    }
    if (stream)
        fclose(stream);
    return found;
}

/* Whether a line of /proc/self/mountinfo describes the mount of the hierarchy. The line is:
 * ID PARENT DEVICE ROOT PLACE OPTIONS... - TYPE SOURCE SUPER_OPTIONS */
static bool is_mount(const char *line, const struct hierarchy *hierarchy, char top[PATH_MAX],
                     char place[PATH_MAX])
{
    char type[32] = "", options[1024] = "";
    const char *about = strstr(line, " - ");
    _Static_assert(PATH_MAX == 4096, "the widths below");
    return about && sscanf(about, " - %31s %*s %1023s", type, options) == 2 &&
           strcmp(type, hierarchy->type) == 0 &&
           (!hierarchy->controller[0] || has_word(options, hierarchy->controller)) &&
           sscanf(line, "%*d %*d %*s %4095s %4095s", top, place) == 2;
}

static bool find_mount(const char *root, const struct hierarchy *hierarchy, char top[PATH_MAX],
                       char place[PATH_MAX])
{
    char file[PATH_MAX], line[LINE_SIZE];
    bool found = false;
    snprintf(file, sizeof file, "%s/proc/self/mountinfo", root);
    FILE *stream = fopen(file, "re");
    while (stream && !found && fgets(line, sizeof line, stream))
        found = is_mount(line, hierarchy, top, place);
    if (stream)
        fclose(stream);
    return found;
}

/* Reads a number from a file of a group. `word` "": the number stands at the beginning of a line; else `word` stands
 * there, and the number follows it. UINT64_MAX when there is none. */
static uint64_t read_number(const char *folder, const char *name, const char *word)
{
    char file[2 * PATH_MAX], line[256];
    unsigned long long number;
    uint64_t found = UINT64_MAX;
    const size_t length = strlen(word);
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *stream = fopen(file, "re");
    while (stream && found == UINT64_MAX && fgets(line, sizeof line, stream))
        if (strncmp(line, word, length) == 0 && sscanf(line + length, " %llu", &number) == 1)
            found = number;
    if (stream)
        fclose(stream);
    return found;
}

/* Computes how much memory one group leaves. Its page cache counts as free, because Linux drops it when memory is needed. */
static void look_at_group(const char *folder, const struct hierarchy *hierarchy,
                          struct gyre_cgroup_room *room)
{
    const uint64_t limit = read_number(folder, hierarchy->limit, ""),
                   used = read_number(folder, hierarchy->used, "");
    const uint64_t inactive = read_number(folder, "memory.stat", hierarchy->inactive);
    const uint64_t active = read_number(folder, "memory.stat", hierarchy->active);
    if (limit > INT64_MAX / 2 || used == UINT64_MAX) /* version 1 writes "no limit" as a huge number */
        return;
    const uint64_t cache = (inactive == UINT64_MAX ? 0 : inactive) + (active == UINT64_MAX ? 0 : active);
    const uint64_t held = used > cache ? used - cache : 0, left = limit > held ? limit - held : 0;
    if (left >= room->left)
        return;
    room->left = left;
    room->limit = limit;
    snprintf(room->file, sizeof room->file, "%.*s/%s", PATH_MAX - 32, folder, hierarchy->limit);
}

static void look_at_hierarchy(const char *root, const struct hierarchy *hierarchy,
                              struct gyre_cgroup_room *room)
{
    char group[PATH_MAX], top[PATH_MAX], place[PATH_MAX], folder[3 * PATH_MAX];
    if (!find_group(root, hierarchy, group) || !find_mount(root, hierarchy, top, place))
        return;
    const size_t above =
        strcmp(top, "/") == 0 ? 0 : strlen(top); /* the part of the path that is not visible */
    const bool below = above < strlen(group) && strncmp(group, top, above) == 0 && !strstr(group, "/..");
    snprintf(folder, sizeof folder, "%s%s%s", root, place, below ? group + above : "");
    for (size_t least = strlen(root) + strlen(place); strlen(folder) >= least;) {
        look_at_group(folder, hierarchy, room);
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

void gyre_cgroup_look(const char *root, struct gyre_cgroup_room *room)
{
    *room = (struct gyre_cgroup_room){.left = UINT64_MAX, .limit = UINT64_MAX};
    for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; i++)
        look_at_hierarchy(root, &hierarchies[i], room);
}
