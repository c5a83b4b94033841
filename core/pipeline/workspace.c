/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the temporary folder of one compile (workspace.h). Takes no lock: the folder belongs to one run. */
#include "core/base/error.h"
#include "core/pipeline/workspace.h"
#include "gyre/lack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

gyre_status gyre_workspace_create(struct gyre_workspace *workspace)
{
    memset(workspace, 0, sizeof *workspace);
    /* a compile that was killed, or whose compiler crashed in its process, left its folder */
    gyre_temporary_sweep();
    gyre_status status = gyre_temporary_make(&workspace->folder, "/tmp");
    const char *folder = workspace->folder.path;
    snprintf(workspace->unit, sizeof workspace->unit, "%s/unit.c", folder);
    snprintf(workspace->image, sizeof workspace->image, "%s/image", folder);
    snprintf(workspace->dependencies, sizeof workspace->dependencies, "%s/dependencies", folder);
    return status;
}

gyre_status gyre_workspace_write_unit(const struct gyre_workspace *workspace, const char *text)
{
    FILE *file = fopen(workspace->unit, "we");
    int error = file ? 0 : errno;
    if (file && fputs(text, file) < 0)
        error = errno;
    if (file && fclose(file) != 0 && !error)
        error = errno;
    if (!error)
        return GYRE_OK;
    return gyre_error_set(gyre_lack_status(error, GYRE_FAILED),
                          "the generated unit '%s' cannot be written: %s%s", workspace->unit, strerror(error),
                          gyre_lack_remedy(error));
}

void gyre_workspace_remove(struct gyre_workspace *workspace)
{
    gyre_temporary_remove(&workspace->folder);
}
