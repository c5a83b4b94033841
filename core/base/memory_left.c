/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how much memory is left (memory_left.h): of the machine from /proc/meminfo, of the control groups by cgroup.c. */
#include "core/base/memory_left.h"

#include <stdio.h>

#include "core/base/error.h"

uint64_t gyre_memory_available(void)
{
    unsigned long long kibibytes = 0;
    char line[128];
    int found = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return UINT64_MAX;
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "MemAvailable: %llu kB", &kibibytes) == 1;
    fclose(file);
    return found ? (uint64_t)kibibytes * 1024 : UINT64_MAX;
}

void gyre_memory_left_look(struct gyre_memory_left *left)
{
    left->machine = gyre_memory_available();
    gyre_cgroup_look("", &left->group);
    left->bytes = left->machine < left->group.left ? left->machine : left->group.left;
}

gyre_status gyre_memory_left_tell(const struct gyre_memory_left *left, const char *name, uint64_t size,
                                  const char *kind, const char *advice)
{
    if (left->machine <= left->group.left)
        return gyre_error_set(GYRE_EXHAUSTED, "%s needs %llu bytes of %s, the machine has %llu available; %s",
                              name, (unsigned long long)size, kind, (unsigned long long)left->machine,
                              advice);
    return gyre_error_set(
        GYRE_EXHAUSTED,
        "%s needs %llu bytes of %s, the control group of this process has %llu left of %llu (%s): raise "
        "the limit of the container or unit, or %s",
        name, (unsigned long long)size, kind, (unsigned long long)left->group.left,
        (unsigned long long)left->group.limit, left->group.file, advice);
}

gyre_status gyre_memory_left_check(const char *name, uint64_t size, const char *kind, const char *advice)
{
    struct gyre_memory_left left;
    if (size <= GYRE_MEMORY_SMALL)
        return GYRE_OK;
    gyre_memory_left_look(&left);
    return size <= left.bytes ? GYRE_OK : gyre_memory_left_tell(&left, name, size, kind, advice);
}
