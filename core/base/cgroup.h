/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads how much memory the control groups of this process (a container's or a systemd unit's) leave it. Linux does not
 * refuse memory beyond the limit of a group: it kills a process of the group. Knows versions 1 and 2. No state; any thread.
 */
#ifndef GYRE_CORE_BASE_CGROUP_H
#define GYRE_CORE_BASE_CGROUP_H

#include <limits.h>
#include <stdint.h>

struct gyre_cgroup_room {
    uint64_t left;       /* bytes, including the page cache's; UINT64_MAX: no group has a limit */
    uint64_t limit;      /* the limit of the group that leaves the least */
    char file[PATH_MAX]; /* the file that holds this limit */
};

/** Fills in *room. `root` is put in front of the paths of all files that are read; it is "" except in tests. */
void gyre_cgroup_look(const char *root, struct gyre_cgroup_room *room);

#endif
