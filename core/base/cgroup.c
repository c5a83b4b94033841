/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/self/cgroup names this process's group in each hierarchy, /proc/self/mountinfo says where the hierarchies are. The groups above
 * have limits, too, as far as they are seen from here. What cannot be read limits nothing.
 */
#include "core/base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 4 * PATH_MAX };

static const struct hierarchy {
    const char *type, *controller; /* of the mount; "" is that of version 2, which has all */
    const char *limit, *used, *inactive, *active;
} hierarchies[] = {
    {"cgroup2", "", "memory.max", "memory.current", "inactive_file", "active_file"},
    {"cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
     "total_active_file"},
};

/* Whether `word` is one of those that commas separate. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",\n") == length && strncmp(at, word, length) == 0)
            return true;
    return *words == '\0' && length == 0;
}

/* A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH. */
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

/* A line of /proc/self/mountinfo: ID PARENT DEVICE ROOT PLACE OPTIONS... - TYPE SOURCE SUPER_OPTIONS */
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

/* The number in a file of a group, or behind a word at the beginning of one of its lines; UINT64_MAX when there is none. */
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

/* What the group leaves; its page cache goes when memory is wanted. */
static void look_at_group(const char *folder, const struct hierarchy *hierarchy,
                          struct gyre_cgroup_room *room)
{
    const uint64_t limit = read_number(folder, hierarchy->limit, ""),
                   used = read_number(folder, hierarchy->used, "");
    const uint64_t inactive = read_number(folder, "memory.stat", hierarchy->inactive);
    const uint64_t active = read_number(folder, "memory.stat", hierarchy->active);
    if (limit > INT64_MAX / 2 || used == UINT64_MAX) /* version 1 says "none" by such a number */
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
        strcmp(top, "/") == 0 ? 0 : strlen(top); /* of the path, what is not seen from here */
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
