/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the message types of a file. Loads the file into a runtime, and takes all types that this runtime knows then. */
#include "cli/wire/type_list.h"
#include "cli/open.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "gyre/gyre.h"

enum { NAMES_MAX = 256 };

static gyre_status copy_layouts(gyre_runtime *runtime, type_list *list)
{
    const size_t count = gyre_types(runtime, NULL, 0);
    const gyre_type **types = calloc(count + 1, sizeof *types);
    list->layouts = calloc(count + 1, sizeof *list->layouts);
    gyre_status status = GYRE_OK;
    if (!types || !list->layouts)
        status = gyre_error_set(GYRE_EXHAUSTED, "out of memory for the types of a file");
    else
        gyre_types(runtime, types, count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        status = gyre_layout_create(types[i], GYRE_STATE_MAX, &list->layouts[i]);
        list->count += status == GYRE_OK;
    }
    free(types);
    return status;
}

int type_list_load(const cli_context *cli, const char *file, type_list *list)
{
    gyre_runtime *runtime = NULL;
    *list = (type_list){0};
    int code = cli_fail_unless_ok(cli_open(cli, &runtime));
    if (code == CLI_OK)
        code = cli_fail_unless_device(runtime, gyre_types_load(runtime, cli->backend, file));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(copy_layouts(runtime, list));
    gyre_close(runtime);
    return code;
}

void type_list_finish(type_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        gyre_layout_destroy(list->layouts[i]);
    free(list->layouts);
    *list = (type_list){0};
}

const gyre_layout *type_list_find(const type_list *list, const char *name)
{
    const char *names[NAMES_MAX];
    size_t count = list->count < NAMES_MAX ? list->count : NAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        names[i] = list->layouts[i]->name;
        if (!strcmp(names[i], name))
            return list->layouts[i];
    }
    const char *nearest = gyre_text_nearest(name, names, count);
    if (nearest)
        gyre_error_set(GYRE_NOT_FOUND, "the file has no message type '%s'; did you mean '%s'?", name,
                       nearest);
    else
        gyre_error_set(GYRE_NOT_FOUND, "the file has no message type '%s'; 'gyre messages FILE' lists them",
                       name);
    return NULL;
}
