/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary folder of one compile. Private to one run, so no locks. */
#include "core/base/error.h"
#include "core/pipeline/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gyre_status gyre_workspace_create(struct gyre_workspace *workspace)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/')
        parent = "/tmp";
    memset(workspace, 0, sizeof *workspace);
    int length = snprintf(workspace->folder, sizeof workspace->folder, "%s/gyre-XXXXXX", parent);
    if (length < 0 || (size_t)length >= sizeof workspace->folder || !mkdtemp(workspace->folder)) {
        workspace->folder[0] = '\0';
        return gyre_error_set(errno == ENOSPC ? GYRE_EXHAUSTED : GYRE_FAILED,
                              "no temporary folder can be made in '%s' (%s): TMPDIR may name another", parent,
                              strerror(errno));
    }
    snprintf(workspace->unit, sizeof workspace->unit, "%s/unit.c", workspace->folder);
    snprintf(workspace->image, sizeof workspace->image, "%s/image", workspace->folder);
    snprintf(workspace->dependencies, sizeof workspace->dependencies, "%s/dependencies", workspace->folder);
    return GYRE_OK;
}

gyre_status gyre_workspace_write_unit(const struct gyre_workspace *workspace, const char *text)
{
    FILE *file = fopen(workspace->unit, "we");
    bool fine = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        fine = false;
    if (fine)
        return GYRE_OK;
    return gyre_error_set(errno == ENOSPC ? GYRE_EXHAUSTED : GYRE_FAILED,
                          "the generated unit '%s' cannot be written: %s", workspace->unit, strerror(errno));
}

void gyre_workspace_remove(struct gyre_workspace *workspace)
{
    struct dirent *entry;
    DIR *folder = workspace->folder[0] ? opendir(workspace->folder) : NULL;
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(workspace->folder);
    workspace->folder[0] = '\0';
}
