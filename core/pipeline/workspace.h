/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the temporary folder that a compiler works in (workspace.c). */
#ifndef GYRE_CORE_PIPELINE_WORKSPACE_H
#define GYRE_CORE_PIPELINE_WORKSPACE_H

#include <limits.h>

#include "core/base/temporary.h"
#include "gyre/status.h"

/** The folder of one run of a compiler. */
struct gyre_workspace {
    struct gyre_temporary folder;
    char unit[PATH_MAX], image[PATH_MAX], dependencies[PATH_MAX];
};

gyre_status gyre_workspace_create(struct gyre_workspace *workspace);
/** Writes the translation unit (unit.h) into the folder. */
gyre_status gyre_workspace_write_unit(const struct gyre_workspace *workspace, const char *text);
/** Removes the folder and all in it. Accepts a workspace that was never created (zeroed). */
void gyre_workspace_remove(struct gyre_workspace *workspace);

#endif
