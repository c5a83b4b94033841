/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control groups of this process, a container's or a systemd unit's, leave it of memory. Linux refuses no memory beyond
 * such a limit: it kills a process of the group. Versions 1 and 2. No state; threads: any.
 */
#ifndef GYRE_CORE_BASE_CGROUP_H
#define GYRE_CORE_BASE_CGROUP_H

#include <limits.h>
#include <stdint.h>

struct gyre_cgroup_room {
    uint64_t left;       /* bytes, what the page cache holds among them; UINT64_MAX: no group has a limit */
    uint64_t limit;      /* of the group that leaves the least */
    char file[PATH_MAX]; /* that says so */
};

/** `root` stands before the paths of all files that are read: "" for this machine's. */
void gyre_cgroup_look(const char *root, struct gyre_cgroup_room *room);

#endif
