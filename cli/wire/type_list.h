/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the message types of a file: the types that its kernels use, or all types that a header declares. The backend that
 * would run the file compiles it to find them. One thread.
 */
#ifndef GYRE_CLI_WIRE_TYPE_LIST_H
#define GYRE_CLI_WIRE_TYPE_LIST_H

#include "cli/cli.h"
#include "core/types/types.h"

typedef struct type_list {
    gyre_layout **layouts; /* ordered by name, each once, with the types of inner messages */
    size_t count;
} type_list;

/**
 * Fills the list from "FILE.gyre.c", a file that `gyre compile -o` wrote, or a header. Returns an exit code; prints why when it
 * is not CLI_OK. Call type_list_finish afterwards, also after a failure.
 */
int type_list_load(const cli_context *cli, const char *file, type_list *list);
void type_list_finish(type_list *list);

/** The type of that name, or NULL with a sentence that names the nearest one. */
const gyre_layout *type_list_find(const type_list *list, const char *name);

#endif
